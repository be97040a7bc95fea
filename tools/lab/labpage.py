"""The results of the labs, saved as JSON and written as the page docs/experiments/lab.md."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from labadvice import Advice
from labfolder import FEWEST_ROUNDS, Lab
from labrounds import AFTER, BEFORE

from advisor.core.model import format_percent, format_size
from advisor.facts.probes import ProbeResult, RunPlace
from probes.conclusion import INCONCLUSIVE_BOUND, conclude, format_ratio
from probes.stats import VariantComparison

VERDICTS = {
    "better": "better",
    "worse": "worse",
    "none": "without a difference seen",
    "unknown": "too noisy, or too few rounds, to tell",
    "skipped": "not measured",
}


class Row(NamedTuple):
    """One server's result.

    `ratio`, `low` and `high` are after divided by before with the 95 % interval, `bound` the largest relative
    difference that is compatible with the run. `verdict` is one of VERDICTS; `blocks` are both variants' values in
    order. `skipped` is the reason if there is no result.
    """

    name: str
    server: str
    fault: str
    metric: str
    unit: str
    better: str
    workload: str
    driver: str = ""
    place: str = ""
    began_at: str = ""
    rounds: int = 0
    before: float = 0.0
    after: float = 0.0
    ratio: float = 1.0
    low: float = 0.0
    high: float = 0.0
    bound: float = 0.0
    verdict: str = "skipped"
    applied: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    blocks: dict[str, list[float]] = {}  # noqa: RUF012 - a tuple's default, never changed
    skipped: str = ""


def blank(lab: Lab, skipped: str = "") -> Row:
    """A lab's row without results."""
    metric = lab.metric
    return Row(
        lab.name, lab.server, lab.fault, metric.name, metric.unit, metric.better, lab.workload.name, skipped=skipped
    )


def row_of(lab: Lab, advice: Advice, result: ProbeResult) -> Row:
    """The row of a measured lab, with a verdict by the probes' own statistics."""
    conclusion = conclude(result)
    comparison = conclusion.of(AFTER)
    row = blank(lab)._replace(
        server=result.server or lab.server,
        driver=result.driver,
        place=_place(result.place),
        began_at=result.began_at,
        rounds=result.rounds,
        applied=advice.lines,
        left=advice.left,
        notes=(*result.notes, *conclusion.limits),
        blocks={arm.name: [block.metrics[lab.metric.name] for block in arm.blocks] for arm in result.arms},
    )
    if comparison is None:
        return row._replace(skipped=f"{lab.metric.name} was zero or not measured before the advice")
    return row._replace(
        before=comparison.baseline_median,
        after=comparison.median,
        ratio=comparison.ratio,
        low=comparison.low,
        high=comparison.high,
        bound=comparison.bound,
        verdict="unknown" if result.rounds < FEWEST_ROUNDS else _verdict(comparison, lab.metric.better),
    )


def _verdict(comparison: VariantComparison, better: str) -> str:
    if comparison.claim != "none":
        return "better" if comparison.claim == better else "worse"
    return "none" if comparison.bound <= INCONCLUSIVE_BOUND else "unknown"


def _place(place: RunPlace) -> str:
    memory = format_size(place.memory) if place.memory else "unknown memory"
    disk = f"{place.file_system or 'an unknown file system'} on {place.device or 'an unknown disk'}"
    return f"{place.cpu or 'unknown processors'} x {place.cpus or '?'}, {memory}, {disk}, kernel {place.kernel or '?'}"


def keep(path: str, rows: dict[str, Row]) -> None:
    """Save the rows by lab name."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump({name: rows[name]._asdict() for name in sorted(rows)}, file, indent=1)
        file.write("\n")


def saved_rows(path: str) -> dict[str, Row]:
    """The saved rows of earlier runs; empty without any."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        report: dict[str, dict[str, Any]] = json.load(file)
    return {name: Row(**row) for name, row in report.items()}


def page(rows: Iterable[Row]) -> str:
    """The page, in Markdown."""
    return "\n".join(_page(list(rows))).rstrip() + "\n"


def _page(rows: list[Row]) -> Iterator[str]:
    yield "# Ten misconfigured servers, before and after the advice\n"
    yield "Each folder of [examples/lab](../../examples/lab/README.md) holds a server with one fault, its load and its"
    yield "metric, written down before the first run. `mycnf audit --format json` looked at each under its load; all"
    yield "option lines that it advised were put into the file by a script, and nothing else was changed. Before and"
    yield "after were measured in turns, with a restart and an empty page cache before every block. Where other work on"
    yield "the host made intervals wide, the row says that it can't tell, and is worth another run: `--only NAME`.\n"
    counted = Counter(row.verdict for row in rows)
    counts = (f"{counted[verdict]} {words}" for verdict, words in VERDICTS.items() if counted[verdict])
    yield f"**{', '.join(counts)}.**\n"
    yield "| server | fault | metric | before | after | difference (95 %) | verdict | advice applied |"
    yield "|:--|:--|:--|--:|--:|:--|:--|:--|"
    yield from map(line, rows)
    yield ""
    for row in rows:
        yield from _details(row)
    yield "Written by `python tools/lab`; run it to have the page of your own machine."


def line(row: Row) -> str:
    """A lab's row of the table."""
    start = f"| {row.name} ({row.server}) | {row.fault} | {row.metric} of {row.workload}, {row.better} is better |"
    if row.skipped:
        return f"{start} | | | not measured: {row.skipped} | |"
    difference = f"{format_ratio(row.ratio)} ({format_ratio(row.low)} to {format_ratio(row.high)})"
    verdict = (
        f"no difference larger than {format_percent(row.bound)}" if row.verdict == "none" else VERDICTS[row.verdict]
    )
    applied = "<br>".join(f"`{advised}`" for advised in row.applied) or "none"
    return f"{start} {row.before:,.4g} | {row.after:,.4g} | {difference} | {verdict} | {applied} |"


def _details(row: Row) -> Iterator[str]:
    if row.skipped:
        return
    yield f"## {row.name}\n"
    for name in (BEFORE, AFTER):
        yield f"- {name}, {row.unit} by round: {', '.join(f'{value:,.4g}' for value in row.blocks.get(name, []))}"
    yield f"- load by {row.driver}, {row.rounds} rounds, begun at {row.began_at}, on {row.place}"
    yield f"- findings without a line to apply: {', '.join(row.left) or 'none'}"
    yield from (f"- {note}" for note in row.notes)
    yield ""
