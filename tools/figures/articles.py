"""Write docs/experiments: the founding articles' experiments on this machine, compared with the published results.

All pages are measured by default; TMPDIR selects the file system to measure. Takes about half an hour on an otherwise
idle machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack

from msgspec.structs import replace

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

import loops
from papers import PAPERS, Paper, Run
from real_servers import provisioned

from advisor.collect.host import open_root, read_host
from advisor.facts.probes import ProbeResult
from advisor.report import paper
from advisor.report.probe.result import render
from probes.experiment import Environment, ProbeRequest
from probes.registry import load
from probes.rounds import run_experiment
from probes.stop import StopSignal
from rules.core.areas import Table
from rules.core.areas import find_evidence as source

FOLDER = os.path.join(TOP, "docs", "experiments")
FILE_SYSTEMS = ("ext4", "xfs")


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
        parts = [*_head(paper)]
        for order, run_ in enumerate(paper.runs):
            parts += _part(name, order, run_)
        parts += _published(paper)
        with open(os.path.join(FOLDER, f"{name}.md"), "w", encoding="utf-8") as page:
            page.write("\n".join(parts).rstrip() + "\n")
        print(f"wrote docs/experiments/{name}.md", flush=True)
    return 0


def _head(paper: Paper) -> Iterator[str]:
    yield f"# {paper.title}\n"
    yield f"{paper.words}\n"
    yield f"Measured on one small virtual machine (load average {os.getloadavg()[0]:.1f} at the start)."
    yield "Written by `python tools/figures/articles.py`; run it to have the page of your own machine.\n"


def _part(page: str, order: int, what: Run) -> Iterator[str]:
    result, prepared, took = _measured(what)
    yield f"`{what.command}`\n"
    yield f"Measuring took {took:.0f} s, preparing {prepared:.0f} s before it.\n"
    yield render(result, "markdown", paper.Paper(100, colour=False))
    name = f"{page}-{order + 1}.svg"
    drawing = render(result, "svg", paper.Paper(100, colour=False))
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
        file.write(drawing)
    yield f"![{what.command}]({name})\n"


def _measured(what: Run) -> tuple[ProbeResult, float, float]:
    """The result, and the seconds of preparation and of measuring."""
    base = tempfile.gettempdir()
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="articles-", dir=base))
        choices = dict(what.choices)
        place = directory
        if what.probe == "file-system":
            if reason := loops.lacking(FILE_SYSTEMS):
                sys.exit(f"articles: {reason}")
            places = stack.enter_context(loops.mounted(directory, FILE_SYSTEMS))
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

    def plain(text: str) -> str:
        return text.replace(directory + "/", "").replace(directory, "a new directory")

    place = replace(result.place, path=plain(result.place.path or ""))
    arms = tuple(replace(arm, name=plain(arm.name)) for arm in result.arms)
    return replace(
        result,
        place=place,
        arms=arms,
        baseline=plain(result.baseline),
        facts={plain(name): value for name, value in result.facts.items()},
        notes=tuple(map(plain, result.notes)),
    )


def _published(paper: Paper) -> Iterator[str]:
    known = [found for id_ in load(paper.runs[0].probe).evidence if (found := source(id_)) is not None]
    tabled = [e for e in known if e.table]
    if tabled:
        yield "# What was published\n"
    for evidence in tabled:
        yield f"## {evidence.id}, {evidence.date[:4]}: {evidence.title}\n"
        yield f"{evidence.conclusion} On {evidence.hardware or 'unknown hardware'}, {evidence.versions}.\n"
        if evidence.table:
            yield from _table(evidence.table)
        yield f"\n{evidence.caveats}\n" if evidence.caveats else ""


def _table(table: Table) -> Iterator[str]:
    yield f"| {table.x} | " + " | ".join(f"{name}, {table.unit}" for name in table.series) + " |"
    yield "|:--|" + "--:|" * len(table.series)
    for place, label in enumerate(table.labels):
        numbers = (series[place] for series in table.series.values())
        yield f"| {label} | " + " | ".join("" if n is None else f"{n:,g}" for n in numbers) + " |"


if __name__ == "__main__":
    sys.exit(main())
