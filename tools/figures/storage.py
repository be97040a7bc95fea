"""Write docs/experiments/storage.md: the storage probes on this machine, and their driver compared with fio.

usage: python tools/figures/storage.py [DIRECTORY]      (the file system to measure; default: temporary files)

Takes about fifteen minutes on an otherwise idle machine.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Iterator

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP]

import disk

from advisor.collect.host import open_root, read_host
from advisor.core.model import format_size
from advisor.facts.probes import Arm, Metric, ProbeResult
from probes.experiment import Environment, ProbeRequest
from probes.registry import load
from probes.rounds import run_experiment
from probes.stop import StopSignal

PAGE = os.path.join(TOP, "docs", "experiments", "storage.md")
NAMES = ("commit-latency", "random-read", "random-write", "sequential-read")
HEAD = """# Storage, measured

What the storage probes found on one machine, and how far their driver agrees with fio on the same file in the same run.
Written by `python tools/figures/storage.py`; run it to have the page of your own machine.
The figures are those of the project's own driver; fio is there to compare.
This is one run; [storage-agreement.md](storage-agreement.md) keeps those before it, and what noise alone makes.
"""


def main() -> int:
    """Measure and write the page."""
    directory = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("TMPDIR", "/var/tmp")  # noqa: S108
    if reason := disk.lacking(directory):
        sys.exit(f"storage: {reason}")
    busy = os.getloadavg()[0]
    host = read_host(open_root("/"), datadir=directory)
    wanted = ProbeRequest(directory, force=frozenset({"busy", "neighbour"}))
    results = [run_experiment(load(name), Environment(host, "here"), wanted, StopSignal()) for name in NAMES]
    pairs = list(disk.beside_fio(directory))
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write("\n".join([HEAD, *_machine(results[0], busy), *_beside(pairs)]))
        page.writelines("\n\n" + "\n".join(_result(result)) for result in results)
        page.write("\n")
    return int(any(pair.off > disk.WITHIN for pair in pairs))


def _machine(result: ProbeResult, busy: float) -> Iterator[str]:
    place = result.place
    yield (
        f"Machine: {place.cpu}, {place.cpus} processors, {format_size(place.memory or 0)} of "
        f"memory, Linux {place.kernel};"
    )
    yield f"{place.file_system} on {place.device}; {result.began_at[:10]}; load average {busy:.1f} when it began."
    yield ""


def _beside(pairs: list[disk.Pairs]) -> Iterator[str]:
    yield "## Beside fio"
    yield ""
    yield f"{disk.PAIRS} pairs on one file, each of {disk.TURNS} turns of {disk.SECONDS:g} s of ours and fio's."
    yield "The ratio is the median of the pairs' ratios; the last column says how far single pairs lie apart."
    yield "Both read into ordinary memory. How scattered that is decides in how many parts a request of"
    yield "128K or more is sent, which made the same read up to twice as fast or slow here, for fio as for us."
    yield "The same comparison of fio with fio shows how far noise alone separates two equal drivers."
    yield ""
    yield "| request | ours | fio | | ours / fio | pairs | fio / fio | pairs |"
    yield "|---|--:|--:|---|--:|---|--:|---|"
    for pair in pairs:
        ratios = [own / beside for own, beside in zip(pair.ours, pair.fio, strict=True)]
        ours, fio = (f"{statistics.median(values):,.0f}" for values in (pair.ours, pair.fio))
        both = f"{_ratio_words(ratios)} | {_ratio_words(pair.itself)}"
        yield f"| {pair.case.name} | {ours} | {fio} | {pair.case.unit} | {both} |"


def _ratio_words(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f} | {min(ratios):.2f} to {max(ratios):.2f}"


def _result(result: ProbeResult) -> Iterator[str]:
    experiment = load(result.probe)
    yield f"## {experiment.title}"
    yield ""
    yield f"`mycnf probe {result.probe}`: {experiment.question}"
    yield f"Driver: {result.driver}. {result.rounds} rounds in {result.seconds:.0f} s. Medians of the rounds."
    yield ""
    yield from _curves(result) if result.probe == "sequential-read" else _rows(result)
    yield ""
    for name, value in result.facts.items():
        yield f"- {name}: {_fact(name, value)}"
    for sentence in (*result.notes, *result.limits):
        yield f"- {sentence}"


def _fact(name: str, value: float | str) -> str:
    sizes = ("enough", "falls", "read_ahead", "largest", "stripe", "chunk")
    return format_size(float(value)) if name.startswith(sizes) else f"{value:,g}" if isinstance(value, float) else value


def _rows(result: ProbeResult) -> Iterator[str]:
    yield "| | " + " | ".join(f"{metric.name}, {metric.unit}" for metric in result.metrics) + " |"
    yield "|---|" + "--:|" * len(result.metrics)
    for arm in result.arms:
        yield f"| {arm.name} | " + " | ".join(_metric_cell(arm, metric) for metric in result.metrics) + " |"


def _curves(result: ProbeResult) -> Iterator[str]:
    """Throughput by block size, with a column for each method and number of readers."""
    columns = list(dict.fromkeys((arm.settings["from"], arm.settings["readers"]) for arm in result.arms))
    yield "| MB/s | " + " | ".join(f"{way}, {readers}" for way, readers in columns) + " |"
    yield "|---|" + "--:|" * len(columns)
    for block in dict.fromkeys(arm.settings[result.axis] for arm in result.arms):
        cells = {
            (a.settings["from"], a.settings["readers"]): a for a in result.arms if a.settings[result.axis] == block
        }
        shown = (_metric_cell(cells[column], result.metrics[0]) if column in cells else "" for column in columns)
        yield f"| {block} | " + " | ".join(shown) + " |"


def _metric_cell(arm: Arm, metric: Metric) -> str:
    value = statistics.median(block.metrics[metric.name] for block in arm.blocks)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004 - three digits


if __name__ == "__main__":
    sys.exit(main())
