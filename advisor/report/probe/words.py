"""The sentences that every form of a result shares."""

from __future__ import annotations

import statistics
from contextlib import suppress
from typing import TYPE_CHECKING

from advisor.core.sizes import exact_size, format_duration, format_size
from advisor.facts.probes import ANSWER, OTHER_PROCESSES, baselines
from advisor.facts.server import DIGITS
from advisor.report.probe.figures import number
from advisor.report.probe.names import curve_of, short
from advisor.report.probe.published import curves, evidence, is_grouped
from advisor.report.words import plural
from probes.conclusion import conclude

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.facts.probes import ProbeResult
    from advisor.report.render.curves import Curve

SHORT = 600  # seconds up to which a run's time is told in seconds
MANY = 3  # claims that are read one by one
SIZE = 1 << 20  # a parameter that is a whole number of units from here on is a size
ENDS = {
    "finished": "",
    "precise": "ended early, as further rounds would have added nothing",
    "time": "ended when its time was up",
    "cancelled": "cancelled; complete rounds are saved",
    "neighbour": "stopped, as another server of this host became slower",
    "broken": "broke off; complete rounds are saved",
}


def question(result: ProbeResult) -> str:
    """The question of the experiment; empty for a result of a probe that this version does not have."""
    from probes.experiment import ProbeError
    from probes.registry import load

    with suppress(ProbeError):
        return load(result.probe).question
    return ""


def headline(result: ProbeResult) -> str:
    """`read-buffer · mariadb-10.11.19 · 2026-11-21 10:12 UTC`."""
    stamp = result.began_at[:16].replace("T", " ")
    return " · ".join(part for part in (result.probe, result.server, f"{stamp} UTC") if part)


def ended(result: ProbeResult) -> str:
    """`5 rounds in 98 s; ended when its time was up`."""
    took = f"{result.seconds:.0f} s" if result.seconds < SHORT else format_duration(result.seconds)
    rounds = f"{plural(result.rounds, 'round')} in {took}"
    return "; ".join(part for part in (rounds, ENDS.get(result.ended, result.ended)) if part)


def relation(result: ProbeResult, shown: Sequence[Curve] | None = None) -> str:
    """What the chart's numbers are, the chart being of the curves `shown`, or of all."""
    metric = result.metrics[0]
    words = [{"more": "higher is better", "less": "lower is better"}.get(metric.better, "")]
    shown = curves(result) if shown is None else shown
    if any(curve.turned for curve in shown):
        words.append("published numbers run the other way and are turned round")
    if any(not p.bounded and p.low < p.high for curve in shown for p in curve.points):
        words.append("intervals too wide for the paper are left out")
    told = "; ".join(word for word in words if word)
    return f"{metric.name} relative to {beside(result)}" + (f" ({told})" if told else "")


def beside(result: ProbeResult) -> str:
    """What the changes are relative to: the baseline, or that of each group by what all of them have in common."""
    if not is_grouped(result):
        return short(result, result.baseline)
    found = curve_of(result)
    names = {found.get(name, "") for name in baselines(result.arms, result.baseline).values()}
    if len(names) == 1 and (name := names.pop()):
        return f"{name} at the same {result.axis}" if result.axis else name
    return "the first of each group"


def unseen(result: ProbeResult) -> tuple[str, ...]:
    """What the run could not have seen: effects too small for its noise, and what the experiment never shows."""
    return conclude(result).limits


def published(result: ProbeResult) -> list[str]:
    """What others found, with the conditions and the place to read it."""
    told = []
    for e in evidence(result):
        conditions = ", ".join(part for part in (e.versions, e.date[:4], e.hardware) if part)
        told.append(f"{e.id} ({conditions}): {e.conclusion} {e.url}".rstrip())
    return told


def where(result: ProbeResult) -> list[str]:
    """The host, the place on it, and how it was measured."""
    place = result.place
    machine = [
        place.cpu,
        plural(place.cpus, "processor") if place.cpus else None,
        f"{format_size(place.memory)} of memory" if place.memory else None,
        f"Linux {place.kernel}" if place.kernel else None,
    ]
    disk = [place.path, place.file_system, f"on {place.device}" if place.device else None]
    chosen = ", ".join(f"{name} {_size(value)}" for name, value in result.parameters.items() if value)
    return [
        ", ".join(part for part in machine if part),
        " ".join(part for part in disk if part),
        f"load by {result.driver}" + (f": {chosen}" if chosen else ""),
        *_others(result),
    ]


def _others(result: ProbeResult) -> Iterator[str]:
    """How much of the processors other processes used while blocks ran; nothing where the kernel doesn't tell."""
    shares = [
        block.counters[OTHER_PROCESSES]
        for arm in result.arms
        for block in arm.blocks
        if OTHER_PROCESSES in block.counters
    ]
    if shares:
        yield (
            f"other processes used {statistics.median(shares):.0%} of the processors in the median block, "
            f"{max(shares):.0%} at most"
        )


def _size(value: str) -> str:
    """A parameter as people write it: 128M for 134217728."""
    return exact_size(int(value)) if value.isdecimal() and len(value) <= DIGITS and int(value) >= SIZE else value


def answer(result: ProbeResult) -> str:
    """The answer to the experiment's question in one sentence or two."""
    told = result.facts.get(ANSWER)
    return told if isinstance(told, str) else conclude(result).sentences[0]


def found(result: ProbeResult) -> list[str]:
    """What was found beside the samples, a line each."""
    rest = ((name, value) for name, value in result.facts.items() if name != ANSWER)
    return [f"{name.replace('_', ' ')}: {v if isinstance(v, str) else number(v)}" for name, v in rest]


def claims(result: ProbeResult) -> list[str]:
    """What else may be said: the differences at both ends where there are many, and where values vary more or less."""
    conclusion = conclude(result)
    claimed = [c.ratio for c in conclusion.comparisons if c.claim != "none"]
    told = list(conclusion.sentences[1 : 1 + len(claimed)])
    first = [conclusion.sentences[0]] if ANSWER in result.facts and not is_grouped(result) else []
    if len(told) > MANY:  # the table has them all
        order = sorted(range(len(told)), key=claimed.__getitem__)
        told = [told[order[0]], told[order[-1]]]
    said = first[0] if first else answer(result)
    # The best variant stands in the first sentence already, with the same change and interval.
    told = [sentence for sentence in told if not all(part in said for part in _parts(sentence, result))]
    return [*first, *told, *conclusion.sentences[1 + len(claimed) :]]


def _parts(claim: str, result: ProbeResult) -> tuple[str, str]:
    """The variant of a claim, and its change against the baseline."""
    arm, _, change = claim.partition(f": {result.metrics[0].name} ")
    return f"{arm} has the best", change.rstrip(".")
