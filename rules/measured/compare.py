"""Lay one value of an option beside another, by the latest experiment on this host that measured both."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.sizes import exact_size, format_percent
from advisor.verdict import judge_value
from rules.measured.claims import DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.core.context import RuleContext
    from rules.measured.answers import LocalAnswer, LocalArm, LocalPair
    from rules.measured.claims import Claim

UNDETECTABLE = 0.5  # relative; a run that could have missed this much has not answered
MEANINGFUL = 0.10  # relative; a run that leaves more than this possible contradicts nothing that was published
INTERVAL_RATIO = 2.0  # times; a newer interval that is so much wider is a worse measurement
OLD_DAYS = 180  # days
EPSILON = 1e-9
LARGEST_PERCENT = 2.0  # relative; beyond it the number itself says nothing
WORSE, BETTER, SAME, MIXED, UNKNOWN = "worse", "better", "same", "mixed", "unknown"
# How a metric of the experiments is spoken of: where it rises, where it falls, and of which part of the work.
METRIC_WORDS = {
    "beyond_cache": ("slower", "faster", " from disk"),
    "cached": ("slower", "faster", " from cache"),
    "tps": ("more", "fewer", " transactions"),
    "variation": ("more", "less", " variation from second to second"),
}


class MeasuredPair(NamedTuple):
    """One value beside the other in one metric; `where` tells several of a kind apart, such as `at threads 8`."""

    metric: str
    arm: str
    pair: LocalPair
    verdict: str
    where: str


class LocalVerdict(NamedTuple):
    """What the latest fitting result says of value `of`, laid beside `other`.

    `verdict` is worse, better, same (no difference larger than `bound`), mixed or unknown; better is said only where
    nothing else is worse or unknown. `bound`, relative, is what all comparisons without a difference leave possible.
    `seconds` are those of the variant that was measured for the shortest time. `words` say it, without a full stop.
    """

    probe: str
    began_at: str
    verdict: str
    of: str
    other: str
    bound: float
    seconds: float
    pairs: tuple[MeasuredPair, ...]
    words: str

    @property
    def day(self) -> str:
        """The date of the run."""
        return self.began_at[:10]


def compare_values(probe: str, claim: Claim, context: RuleContext, of: str, other: str) -> LocalVerdict | None:
    """What was found of both values, or of tested ones around `of`; None where no result has them.

    The newest result that answers says under which conditions (server and parameters). Of all under these the newest
    counts that is not much wider than the narrowest, so that a worse measurement takes nothing from a better one. Where
    none answers it is the newest.
    """
    answers = [a for a in context.probes if a.probe == probe and a.metric in claim.metrics and claim.fits(context, a)]
    found: list[tuple[LocalAnswer, LocalVerdict]] = []
    for run in dict.fromkeys(map(_run_key, answers)):
        told = [a for a in answers if _run_key(a) == run]
        besides = tuple(b for a in told for b in _measured_pairs(a, claim, context, of, other))
        if besides:
            found.append((told[0], _combine(told, besides, of, other)))
    answered = [(answer, judged) for answer, judged in found if _is_answer(judged)]
    if not answered:
        return found[0][1] if found else None
    newest = answered[0][0]
    alike = [judged for answer, judged in answered if _is_comparable(answer, newest)]
    narrowest = min(map(_width, alike))
    return next(judged for judged in alike if _width(judged) <= INTERVAL_RATIO * narrowest)


def _is_answer(judged: LocalVerdict) -> bool:
    return judged.verdict != UNKNOWN and (judged.verdict != SAME or judged.bound <= MEANINGFUL)


def _is_comparable(answer: LocalAnswer, newest: LocalAnswer) -> bool:
    """Whether a result was measured under the newest one's conditions, and not long before it."""
    if (answer.server, answer.parameters) != (newest.server, newest.parameters):
        return False
    try:
        age = date.fromisoformat(newest.day) - date.fromisoformat(answer.day)
    except ValueError:
        return answer is newest
    return age.days <= OLD_DAYS


def _run_key(answer: LocalAnswer) -> tuple[str, tuple[str, ...]]:
    return answer.began_at, tuple(arm.name for arm in answer.arms)


def _width(judged: LocalVerdict) -> float:
    """How wide the widest interval is, as a share of the ratio that it is of."""
    return max((b.pair.high - b.pair.low) / max(b.pair.ratio, EPSILON) for b in judged.pairs)


def value_text(value: str) -> str:
    """A value as people write it: 8388608 is 8M."""
    return exact_size(int(value)) if _is_number(value) else value


def _is_number(value: str) -> bool:
    return value.isdecimal() and len(value) <= DIGITS


def _combine(told: list[LocalAnswer], besides: tuple[MeasuredPair, ...], of: str, other: str) -> LocalVerdict:
    first = told[0]
    used = {name for b in besides for name in (b.pair.arm, b.pair.against)}
    return LocalVerdict(
        probe=first.probe,
        began_at=first.began_at,
        verdict=_combined_verdict({b.verdict for b in besides}),
        of=of,
        other=value_text(other),
        bound=max((b.pair.bound for b in besides if b.pair.claim == "none"), default=0.0),
        seconds=min(arm.seconds for arm in first.arms if arm.name in used),
        pairs=besides,
        words=_pairs_text(besides, other),
    )


def _combined_verdict(verdicts: set[str]) -> str:
    if {WORSE, BETTER} <= verdicts:
        return MIXED
    return next((verdict for verdict in (WORSE, UNKNOWN, BETTER) if verdict in verdicts), SAME)


def _measured_pairs(
    answer: LocalAnswer, claim: Claim, context: RuleContext, of: str, other: str
) -> Iterator[MeasuredPair]:
    """Each pair of variants that differ in nothing but the two values, and what goes along with them."""
    option = claim.option
    on_axis = answer.axis == option
    for against in answer.arms:
        if not _has_value(against, option, other, context) or not _matches_server(against, claim, context):
            continue
        alike = [arm for arm in answer.arms if _differ_only_in(arm, against, claim, on_axis=on_axis)]
        for arm in (
            _nearest_arms(alike, option, of, context)
            if on_axis
            else [a for a in alike if _has_value(a, option, of, context)]
        ):
            pair = answer.pair(arm.name, against.name)
            if pair is not None:
                where = "" if on_axis or arm.point is None else f" at {answer.axis} {arm.point:g}"
                yield MeasuredPair(
                    answer.metric, value_text(arm.settings[option]), pair, _pair_verdict(pair, answer.better), where
                )


def _pair_verdict(pair: LocalPair, better: str) -> str:
    if pair.claim == "none":
        return SAME if pair.bound <= UNDETECTABLE else UNKNOWN
    return BETTER if pair.claim == better else WORSE


def _differ_only_in(arm: LocalArm, other: LocalArm, claim: Claim, *, on_axis: bool) -> bool:
    return (
        _other_settings(arm, claim) == _other_settings(other, claim)
        and arm is not other
        and (on_axis or arm.point == other.point)
    )


def _other_settings(arm: LocalArm, claim: Claim) -> dict[str, str]:
    """What the variant sets besides the option in question and what goes along with it."""
    return {name: value for name, value in arm.settings.items() if name != claim.option and name not in claim.along}


def _matches_server(arm: LocalArm, claim: Claim, context: RuleContext) -> bool:
    """Whether what the variant sets besides is what the server has."""
    rest = {name: (value, context.settings.text(name)) for name, value in _other_settings(arm, claim).items()}
    return all(text is None or _is_same_value(name, value, text, context) for name, (value, text) in rest.items())


def _nearest_arms(arms: list[LocalArm], option: str, value: str, context: RuleContext) -> list[LocalArm]:
    """The variant of that value, else the nearest below and above it; none for a value beyond what was tested."""
    exactly = [arm for arm in arms if _has_value(arm, option, value, context)]
    made = _server_value(option, value, context)
    if exactly or not _is_number(made):
        return exactly
    numbers = [(arm.point, arm) for arm in arms if arm.point is not None]
    below = max((n for n in numbers if n[0] < int(made)), key=lambda n: n[0], default=None)
    above = min((n for n in numbers if n[0] > int(made)), key=lambda n: n[0], default=None)
    return [below[1], above[1]] if below and above else []


def _has_value(arm: LocalArm, option: str, value: str, context: RuleContext) -> bool:
    return option in arm.settings and _is_same_value(option, arm.settings[option], value, context)


def _is_same_value(option: str, one: str, other: str, context: RuleContext) -> bool:
    return _server_value(option, one, context) == _server_value(option, other, context)


def _server_value(option: str, value: str, context: RuleContext) -> str:
    """What the server makes of a value, so that ON is 1 and 8M is 8388608."""
    found = context.catalog.find_variable(option) or context.catalog.get(option)
    return (judge_value(found.name, value, context.catalog).value or value if found else value).upper()


def _pairs_text(besides: tuple[MeasuredPair, ...], other: str) -> str:
    parts, before = [], ""
    for b in besides:
        opening = f"{b.arm} against {value_text(other)}: " if b.arm != before else ""
        before = b.arm
        parts.append(f"{opening}{_pair_text(b)}{b.where}")
    return ", ".join(parts)


def _pair_text(b: MeasuredPair) -> str:
    rising, falling, what = METRIC_WORDS[b.metric]
    if b.verdict == UNKNOWN:
        hidden = format_percent(b.pair.bound) if b.pair.bound < LARGEST_PERCENT else "many times"
        return f"no answer{_metric_suffix(what)}, as a difference of {hidden} may hide in the noise"
    if b.verdict == SAME:
        return f"no difference larger than {format_percent(b.pair.bound)}{_metric_suffix(what)}"
    word = rising if b.pair.ratio > 1 else falling
    low, high = sorted(abs(end - 1) for end in (b.pair.low, b.pair.high))
    interval = f"95 %: {format_percent(low).removesuffix(' %')} to {format_percent(high)}"
    return f"{format_percent(abs(b.pair.ratio - 1))} {word}{what} ({interval})"


def _metric_suffix(what: str) -> str:
    return what if what.startswith(" from") else f" in{what}"
