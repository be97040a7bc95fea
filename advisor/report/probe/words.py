"""Sentences about a result that all formats share, and the effect of a rule's advice in `mycnf probe prove`."""

from __future__ import annotations

import statistics
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.core.model import exact_size, format_percent, format_size
from advisor.facts.probes import ANSWER, OTHER_PROCESSES, baselines
from advisor.facts.server import DIGITS
from advisor.report import plural
from advisor.report.document import Chart
from advisor.report.probe.figures import axis_name, curve_of, curves, evidence, is_grouped, number, numeric, short_name
from probes.conclusion import conclude, find_answers
from rules.measured.claims import COST, NO_EFFECT
from rules.measured.compare import BETTER, MEANINGFUL, MIXED, SAME, WORSE, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.facts.probes import ProbeResult
    from advisor.report.render.curves import AxisMark, Curve
    from rules.core import Rule
    from rules.measured.claims import Claim
    from rules.measured.compare import LocalVerdict


SHORT = 600  # seconds up to which a run's time is shown in seconds
KIB = 1024
LONG = 120  # minutes from which on it is shown in hours
MANY = 3  # claims that are read one by one
SIZE = 1 << 20  # a parameter that is a whole number of units from here on is a size

# Units of facts that are numbers, then the beginnings of the names of sizes in bytes, and names that say more.
FACT_UNITS = {
    "one_read": "µs",
    "quickest_latency": "µs",
    "most_reads": "per second",
    "most_writes": "per second",
    "io_capacity_bound": "pages per second",
    "nearest_ns": "ns",
    "farthest_ns": "ns",
}
FACT_SIZES = (
    *("file size", "data files", "read size at ", "read_ahead", "largest_request", "chunk", "stripe", "enough_"),
    *("falls_above_", "allocation_cliff", "boundary", "share_of_last_cache", "sysfs_"),
)
FACT_NAMES = {
    "sort": "kind of device",
    "nearest_ns": "fastest load",
    "farthest_ns": "slowest load",
    "at_least": "limited by processors, not by the device",
}

ENDS = {
    "finished": "",
    "precise": "ended early, as further rounds would have added nothing",
    "time": "ended at its time limit",
    "cancelled": "cancelled; complete rounds are saved",
    "neighbour": "stopped, as another server of this host became slower",
    "broken": "failed; complete rounds are saved",
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


def end_words(result: ProbeResult) -> str:
    """`5 rounds in 98 s; ended at its time limit`."""
    rounds = f"{plural(result.rounds, 'round')} in {run_time(result.seconds)}"
    return "; ".join(part for part in (rounds, ENDS.get(result.ended, result.ended)) if part)


def run_time(seconds: float, short: float = SHORT) -> str:
    """The time of a run, rounded: 98 s, 30 min, 2.5 h; seconds up to `short`."""
    whole = round(seconds)
    if whole < short:
        return f"{whole} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < LONG else f"{seconds / 3600:.3g} h"


def relation(result: ProbeResult, shown: Sequence[Curve] | None = None) -> str:
    """What the chart's numbers are, the chart being of the curves `shown`, or of all."""
    metric = result.metrics[0]
    words = [{"more": "higher is better", "less": "lower is better"}.get(metric.better, "")]
    shown = curves(result) if shown is None else shown
    if any(curve.turned for curve in shown):
        words.append("published numbers measure the inverse and are inverted")
    if any(not p.bounded and p.low < p.high for curve in shown for p in curve.points):
        words.append("intervals too wide for the paper are left out")
    remark = "; ".join(word for word in words if word)
    return f"{metric.name} relative to {beside(result)}" + (f" ({remark})" if remark else "")


def beside(result: ProbeResult) -> str:
    """What the changes are relative to: the baseline, or that of each group by what all of them have in common."""
    if not is_grouped(result):
        return short_name(result, result.baseline)
    found = curve_of(result)
    names = {found.get(name, "") for name in baselines(result.arms, result.baseline).values()}
    if len(names) == 1 and (name := names.pop()):
        return f"{name} at the same {result.axis}" if result.axis else name
    return "the first of each group"


def limit_words(result: ProbeResult) -> tuple[str, ...]:
    """What the run could not have seen: effects too small for its noise, and what the experiment never shows."""
    return conclude(result).limits


def published_words(result: ProbeResult) -> list[str]:
    """What others found, with the conditions and the place to read it."""
    lines = []
    for e in evidence(result):
        conditions = ", ".join(part for part in (e.versions, e.date[:4], e.hardware) if part)
        lines.append(f"{e.id} ({conditions}): {e.conclusion} {e.url}".rstrip())
    return lines


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
    """How much of the processors other processes used while blocks ran; nothing where the kernel doesn't report it."""
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
    return " ".join(answers(result))


def chart_of(result: ProbeResult, marks: tuple[AxisMark, ...]) -> Chart:
    """The curves of a result under its question, with the answer; none where no two variants make a curve."""
    title, outcome = question(result) or headline(result), answer(result)
    return Chart(curves(result), relation(result), axis_name(result), numeric(result), title, outcome, marks)


def answers(result: ProbeResult) -> tuple[str, ...]:
    """The answer to the experiment's question, a text for each group of variants that has another one."""
    answer_fact = result.facts.get(ANSWER)
    return (answer_fact,) if isinstance(answer_fact, str) else find_answers(result)


def fact_words(result: ProbeResult) -> list[str]:
    """What was found beside the samples, a line each."""
    rest = ((name, value) for name, value in result.facts.items() if name != ANSWER)
    return [f"{FACT_NAMES.get(name, name.replace('_', ' '))}: {_fact_value(name, value)}" for name, value in rest]


def _fact_value(name: str, value: float | str) -> str:
    """A fact with its unit; a size as people write it."""
    if isinstance(value, str):
        return value
    if name.startswith(FACT_SIZES):
        return format_size(round(value)) if value >= KIB else f"{value:.0f} bytes"
    return " ".join(part for part in (number(value), FACT_UNITS.get(name, "")) if part)


def claims(result: ProbeResult) -> list[str]:
    """What else may be said: the differences at both ends where there are many, and where values vary more or less."""
    conclusion = conclude(result)
    claimed = [c.ratio for c in conclusion.comparisons if c.claim != "none"]
    sentences = list(conclusion.sentences[1 : 1 + len(claimed)])
    first = [conclusion.sentences[0]] if ANSWER in result.facts and not is_grouped(result) else []
    if len(sentences) > MANY:  # the table has them all
        order = sorted(range(len(sentences)), key=claimed.__getitem__)
        sentences = [sentences[order[0]], sentences[order[-1]]]
    opening = first[0] if first else answer(result)
    # The best variant is in the first sentence already, with the same change and interval.
    sentences = [sentence for sentence in sentences if not all(part in opening for part in _parts(sentence, result))]
    return [*first, *sentences, *conclusion.sentences[1 + len(claimed) :]]


def _parts(claim: str, result: ProbeResult) -> tuple[str, str]:
    """The variant of a claim, and its change against the baseline."""
    arm, _, change = claim.partition(f": {result.metrics[0].name} ")
    return f"{arm} has the best", change.rstrip(".")


class Proof(NamedTuple):
    """A rule's claim and what came of it: `before` is the value that the rule reports, `after` the one it wants.

    `judged` lays the second beside the first; None where the run measured neither. `own` says that `before` is the
    value of the user's server or file, and no example.
    """

    rule: Rule
    claim: Claim
    before: str
    after: str
    judged: LocalVerdict | None
    own: bool = False

    @property
    def verdict(self) -> str:
        """Better, worse, no difference, mixed or unknown: what the value that the rule wants does here."""
        return self.judged.verdict if self.judged else "unknown"

    @property
    def answer(self) -> str:
        """The verdict in a sentence."""
        values = f"{value_text(self.before)} before, {value_text(self.after)} after"
        return f"{self.rule.code} {self.rule.name}, {self.claim.option} {values}: {_verdict_fields(self)}."

    @property
    def words(self) -> str:
        """The differences, each with its interval; empty where there are none."""
        return f"{self.judged.words}." if self.judged else ""


def fields(proof: Proof) -> dict[str, Any]:
    """The proof as plain values."""
    besides = proof.judged.pairs if proof.judged else ()
    return {
        "code": proof.rule.code,
        "name": proof.rule.name,
        "option": proof.claim.option,
        "before": proof.before,
        "after": proof.after,
        "verdict": proof.verdict,
        "within": proof.judged.bound if proof.judged and proof.verdict == SAME else None,
        "differences": [
            {"metric": b.metric, "verdict": b.verdict, "before": b.pair.against, "after": b.pair.arm,
             "ratio": b.pair.ratio, "low": b.pair.low, "high": b.pair.high, "bound": b.pair.bound}
            for b in besides
        ],
        "answer": proof.answer,
        "words": proof.words,
    }  # fmt: skip


def _verdict_fields(proof: Proof) -> str:
    kind, verdict = proof.claim.kind, proof.verdict
    if verdict == SAME and proof.judged:
        as_claimed = ", as the rule predicts" if kind == NO_EFFECT else ""
        return f"no difference larger than {format_percent(proof.judged.bound)}{as_claimed}{_short_run(proof)}"
    if verdict == BETTER:
        return "better"
    if verdict == WORSE:
        return "worse, which is the cost of its safety" if kind == COST else f"worse{_short_run(proof)}"
    if verdict == MIXED:
        return "better in one way and worse in another"
    return (
        "this run is inconclusive; give it more time (--time)"
        if proof.judged
        else "the run did not measure both values"
    )


def _short_run(proof: Proof) -> str:
    """What audits say too where a result against a rule changes nothing; empty if it counts."""
    judged, claim = proof.judged, proof.claim
    if judged is None or claim.kind in (COST, NO_EFFECT):
        return ""
    short = judged.bound > MEANINGFUL or judged.seconds < claim.hours
    return "; the run is too short to contradict the finding" if short else ""
