"""The sentences that every form of a result shares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from advisor.report.probefigures import Row, change, median, number, span
from advisor.report.words import plural
from advisor.sizes import about, lasted
from probes.stats import compare

if TYPE_CHECKING:
    from advisor.facts.probes import Metric, ProbeResult
    from probes.stats import Comparison

ENDS = {
    "finished": "",
    "precise": "ended early, as further rounds would have added nothing",
    "time": "ended when its time was up",
    "cancelled": "cancelled, whole rounds kept",
    "neighbour": "stopped, as another server of this host became slower",
    "broken": "broke off, whole rounds kept",
}


def headline(result: ProbeResult) -> str:
    """`read-buffer · mariadb-10.11.19 · 2026-11-21 10:12 UTC`."""
    stamp = result.began_at[:16].replace("T", " ")
    return " · ".join(part for part in (result.probe, result.server, f"{stamp} UTC") if part)


def ended(result: ProbeResult) -> str:
    """`5 rounds in 98 s; ended when its time was up`."""
    rounds = f"{plural(result.rounds, 'round')} in {lasted(result.seconds)}"
    return "; ".join(part for part in (rounds, ENDS.get(result.ended, result.ended)) if part)


def relation(result: ProbeResult) -> str:
    """What the chart's numbers are."""
    metric = result.metrics[0]
    better = {"more": "higher is better", "less": "lower is better"}.get(metric.better, "")
    return f"{metric.name} relative to {result.baseline}" + (f" ({better})" if better else "")


def unseen(result: ProbeResult) -> list[str]:
    """What the run could not have seen: effects too small for its noise, and what the experiment never shows."""
    found = compare(result.arms, result.metrics[0], result.baseline)
    least = max((c.detectable for c in found), default=0.0)
    lines = []
    if math.isinf(least):
        lines.append("One round shows no noise, so no difference can be told from it; run several rounds.")
    elif least:
        lines.append(f"Differences below {least:.1%} were too small for this run; more rounds would show smaller ones.")
    return [*lines, *result.limits]


def where(result: ProbeResult) -> list[str]:
    """The host, the place on it, and how it was measured."""
    place = result.place
    machine = [
        place.cpu,
        plural(place.cpus, "processor") if place.cpus else None,
        f"{about(place.memory)} of memory" if place.memory else None,
        f"Linux {place.kernel}" if place.kernel else None,
    ]
    disk = [place.path, place.file_system, f"on {place.device}" if place.device else None]
    chosen = ", ".join(f"{name} {value}" for name, value in result.parameters.items() if value)
    return [
        ", ".join(part for part in machine if part),
        " ".join(part for part in disk if part),
        f"load by {result.driver}" + (f": {chosen}" if chosen else ""),
    ]


def answer(result: ProbeResult) -> str:
    """The answer to the experiment's question, one sentence or two."""
    metric = result.metrics[0]
    found = compare(result.arms, metric, result.baseline)
    if not found:
        return f"{metric.name}: {number(median(result.arms[0], metric.name))} {metric.unit}".rstrip()
    claimed = sorted((c for c in found if c.claim != "none"), key=lambda c: c.ratio, reverse=metric.better != "less")
    if not claimed:
        least = max(c.bound for c in found)
        return "One round shows no difference." if math.isinf(least) else f"No difference larger than {least:.1%}."
    ends = dict.fromkeys((claimed[0], claimed[-1]))
    return "; ".join(_told(c, metric) for c in ends) + f", compared with {result.baseline}."


def _told(c: Comparison, metric: Metric) -> str:
    """`8M: 11 % less MB/s (95 %: -15 … -7 %)`."""
    row = Row(c.arm, None, c.median, c.ratio, c.low, c.high, c.claim)
    return f"{c.arm}: {change(c.ratio)} {metric.name} (95 %: {span(row)})"
