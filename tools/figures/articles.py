"""Write docs/experiments: the founding articles' experiments on this machine, compared with the published results.

All pages are measured by default; TMPDIR selects the file system to measure. Takes more than an hour on an otherwise
idle machine.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

from msgspec.structs import replace

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

import loops
from papers import PAPERS, Paper, PublishedEffect, Run
from real_servers import provisioned

from advisor.collect.host import open_root, read_host
from advisor.facts.probes import ANSWER, ProbeResult
from advisor.report import output
from advisor.report.evidence import series_head
from advisor.report.probe.result import CLAIMS, render
from probes.conclusion import conclude, format_interval
from probes.experiment import Environment, ProbeRequest
from probes.registry import load
from probes.rounds import run_experiment
from probes.stop import StopSignal
from rules.core.areas import Table
from rules.core.areas import find_evidence as source

FOLDER = os.path.join(TOP, "docs", "experiments")
FILE_SYSTEMS = ("ext4", "xfs")
CONFIDENCE = "95 %"


def main() -> int:
    """Run and write the requested pages."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="articles", description=__doc__, formatter_class=form)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"of {', '.join(PAPERS)}")
    pages = parser.parse_args().pages or list(PAPERS)
    if unknown := [page for page in pages if page not in PAPERS]:
        parser.error(f"no such page: {', '.join(unknown)} (there are {', '.join(PAPERS)})")
    os.makedirs(FOLDER, exist_ok=True)
    for name in pages:
        paper = PAPERS[name]
        parts: list[str] = []
        verdicts: list[str] = []
        head = [*_head(paper)]
        for order, run_ in enumerate(paper.runs):
            result, prepared, took = _measure_run(run_)
            parts += _part(f"{name}-{order + 1}.svg", run_, result, prepared, took)
            verdicts += (f"- {run_.words}: {_verdict(result, effect)}" for effect in paper.effects)
        parts = [*head, *_verdicts(verdicts), *parts, *_published_section(paper)]
        with open(os.path.join(FOLDER, f"{name}.md"), "w", encoding="utf-8") as page:
            page.write("\n".join(parts).rstrip() + "\n")
        print(f"wrote docs/experiments/{name}.md", flush=True)
    return 0


class Difference(NamedTuple):
    """An interval of a ratio, and whether the run claims that it differs from 1.

    A run with several variants claims less than their single intervals would. `kind` says what the interval is.
    """

    low: float
    high: float
    is_claimed: bool
    kind: str = CONFIDENCE


def _head(paper: Paper) -> Iterator[str]:
    yield f"# {paper.title}\n"
    yield f"{paper.words}\n"
    yield "Measured on one small virtual machine."
    yield "Written by `python tools/figures/articles.py`; run it to have the page of your own machine.\n"


def _verdicts(verdicts: list[str]) -> Iterator[str]:
    if verdicts:
        yield "## Compared with the published result\n"
        yield from verdicts
        yield ""


def _verdict(result: ProbeResult, effect: PublishedEffect) -> str:
    """Whether the run reproduced the published difference, in a sentence for each variant compared with it."""
    if result.is_void:
        return f"{effect.statement}. **No result**: too many blocks did not exercise what the probe measures."
    found = (f"`{name}` {judge_difference(effect, _difference(result, effect, name))}" for name in effect.names)
    return f"{effect.statement}. Here: {'; '.join(found)}."


def judge_difference(effect: PublishedEffect, difference: Difference | None) -> str:
    """How a measured difference compares with the published one, with its interval."""
    if difference is None:
        return "**not measured**"
    low, high, is_claimed, kind = difference
    published = effect.ratio
    measured = f"{format_interval(low, high)} ({kind})"
    if is_claimed:
        agrees = (low > 1.0) == (published > 1.0)
        size = "" if low <= published <= high else ", in another size"
        return f"{measured}: **{'reproduced' + size if agrees else 'contradicted'}**"
    if not low <= published <= high:
        return f"{measured}: **not reproduced**, an effect of the published size would have been seen"
    times = (math.log(high / low) / abs(math.log(published))) ** 2
    longer = f"a run about {max(2.0, times):.0f} times as long would tell"
    return f"{measured}: **not distinguishable** from no effect; {longer}"


def _difference(result: ProbeResult, effect: PublishedEffect, name: str) -> Difference | None:
    """A variant's ratio to its baseline, or the one that a fact of the run states in words."""
    concluded = conclude(result)
    compared = concluded.varied if effect.of_variation else concluded.comparisons
    comparison = next((c for c in compared if c.arm == name), None)
    if comparison is not None:
        return Difference(comparison.low, comparison.high, comparison.claim in CLAIMS)
    stated = re.search(r"([\d.]+) to ([\d.]+)\)", str(result.facts.get(name, "")))
    stated = stated or re.search(rf"in {name} \(([\d.]+) to ([\d.]+) times", str(result.facts.get(ANSWER, "")))
    if not stated:
        return None
    low, high = float(stated[1]), float(stated[2])
    kind = CONFIDENCE if "95 %" in stated.string else "between two of the tested numbers"
    return Difference(low, high, not low <= 1.0 <= high, kind)


def _part(picture: str, what: Run, result: ProbeResult, prepared: float, took: float) -> Iterator[str]:
    yield f"`{what.command}`\n"
    blocks = [block for arm in result.arms for block in arm.blocks]
    valid = sum(not block.invalid for block in blocks)
    yield f"Measuring took {took:.0f} s, preparing {prepared:.0f} s before it."
    yield f"{valid} of {len(blocks)} blocks are valid: they exercised what the probe measures.\n"
    yield render(result, "markdown", output.Paper(100, colour=False))
    drawing = render(result, "svg", output.Paper(100, colour=False))
    with open(os.path.join(FOLDER, picture), "w", encoding="utf-8") as file:
        file.write(drawing)
    yield f"![{what.command}]({picture})\n"


def _measure_run(what: Run) -> tuple[ProbeResult, float, float]:
    """The result, and the seconds of preparation and of measuring."""
    base = tempfile.gettempdir()
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="articles-", dir=base))
        choices = dict(what.choices)
        place = directory
        if what.probe == "file-system":
            if reason := loops.lacking(FILE_SYSTEMS):
                sys.exit(f"articles: {reason}")
            places = stack.enter_context(loops.mount_loops(directory, FILE_SYSTEMS))
            place, choices["against"] = places["ext4"], places["xfs"]
        host = read_host(open_root("/"), datadir=place)
        ground = Environment(host, "here", tuple(map(provisioned, what.servers)))
        if len(what.servers) > 1:
            choices["servers"] = ",".join(what.servers)
        wanted = ProbeRequest(
            place, what.seconds, choices=choices, force=frozenset({"busy"}), seed=time.time_ns() % 1000
        )
        began = time.monotonic()
        result = run_experiment(load(what.probe), ground, wanted, StopSignal())
        spent = time.monotonic() - began
    return _nameless(result, directory), spent - result.seconds, result.seconds


def _nameless(result: ProbeResult, directory: str) -> ProbeResult:
    """The result without the name of the temporary directory."""

    def plain_text(text: str) -> str:
        return text.replace(directory + "/", "").replace(directory, "a new directory")

    place = replace(result.place, path=plain_text(result.place.path or ""))
    arms = tuple(replace(arm, name=plain_text(arm.name)) for arm in result.arms)
    return replace(
        result,
        place=place,
        arms=arms,
        baseline=plain_text(result.baseline),
        facts={plain_text(name): value for name, value in result.facts.items()},
        notes=tuple(map(plain_text, result.notes)),
    )


def _published_section(paper: Paper) -> Iterator[str]:
    known = [found for id_ in load(paper.runs[0].probe).evidence if (found := source(id_)) is not None]
    tabled = [e for e in known if e.table]
    if tabled:
        yield "# What was published\n"
    for evidence in tabled:
        yield f"## {evidence.id}, {evidence.date[:4]}: {evidence.title}\n"
        hardware = evidence.hardware or "unknown"
        yield f"{evidence.conclusion} Hardware: {hardware}. Version: {evidence.versions}.\n"
        if evidence.table:
            yield from _table(evidence.table)
        yield f"\n{evidence.caveats}\n" if evidence.caveats else ""


def _table(table: Table) -> Iterator[str]:
    yield f"| {table.x} | " + " | ".join(series_head(name, table) for name in table.series) + " |"
    yield "|:--|" + "--:|" * len(table.series)
    for place, label in enumerate(table.labels):
        numbers = (series[place] for series in table.series.values())
        yield f"| {label} | " + " | ".join("" if n is None else f"{n:,g}" for n in numbers) + " |"


if __name__ == "__main__":
    sys.exit(main())
