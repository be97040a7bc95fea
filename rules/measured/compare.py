"""Compare two values of an option, by the latest probe on this host that measured both."""

from __future__ import annotations

from datetime import date

from advisor.core import NamedTuple
from advisor.core.model import exact_size, format_percent
from advisor.verdict import judge_value
from rules.measured.claims import DIGITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rules.core.context import RuleContext
    from rules.measured.answers import LocalAnswer, LocalArm, LocalPair
    from rules.measured.claims import Claim

UNDETECTABLE = 0.5  # relative; a run that could have missed a difference of this size is not conclusive
MEANINGFUL = 0.10  # relative; a run that leaves a larger difference possible contradicts no published result
INTERVAL_RATIO = 2.0  # times; a newer result whose interval is wider by more than this is a worse measurement
OLD_DAYS = 180  # days
EPSILON = 1e-9
LARGEST_PERCENT = 2.0  # relative; beyond it the exact number is meaningless
WORSE, BETTER, SAME, MIXED, UNKNOWN = "worse", "better", "same", "mixed", "unknown"
# How messages describe each metric: if it rises, if it falls, and in which part of the work.
METRIC_WORDS = {
    "beyond_cache": ("slower", "faster", " from disk"),
    "cached": ("slower", "faster", " from cache"),
    "tps": ("more", "fewer", " transactions"),
    "variation": ("more", "less", " variation from second to second"),
}


class MeasuredPair(NamedTuple):
    """The comparison of two values in one metric; `where` distinguishes several, for example `at threads 8`."""

    metric: str
    arm: str
    pair: LocalPair
    verdict: str
    where: str


class LocalVerdict(NamedTuple):
    """The conclusion from the latest applicable result on value `of`, compared with `other`.

    `verdict` is worse, better, same (no difference larger than `bound`), mixed or unknown. Two values around `of` have
    to agree. It is better only if no pair is worse or unknown. `bound` is relative: the largest difference that the
    pairs without a difference leave possible. `seconds` is the measuring time of the shortest variant. `words` is the
    conclusion as text, without a full stop.
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
    """The verdict on both values, or on tested values around `of`; None if no result has them.

    The newest conclusive result determines the conditions (server and parameters). Among the results under these
    conditions the newest is chosen whose interval is not much wider than the narrowest, so that a worse measurement
    does not replace a better one. Without a conclusive result the newest result is returned.
    """
    answers = [a for a in context.probes if a.probe == probe and a.metric in claim.metrics and claim.fits(context, a)]
    verdicts: list[tuple[LocalAnswer, LocalVerdict]] = []
    for run in dict.fromkeys(map(_run_key, answers)):
        of_run = [a for a in answers if _run_key(a) == run]
        besides = tuple(b for a in of_run for b in _measured_pairs(a, claim, context, of, other))
        if besides:
            verdicts.append((of_run[0], _combine(of_run, besides, of, other)))
    answered = [(answer, judged) for answer, judged in verdicts if _is_answer(judged)]
    if not answered:
        return verdicts[0][1] if verdicts else None
    newest = answered[0][0]
    alike = [judged for answer, judged in answered if _is_comparable(answer, newest)]
    narrowest = min(map(_width, alike))
    return next(judged for judged in alike if _width(judged) <= INTERVAL_RATIO * narrowest)


def _is_answer(judged: LocalVerdict) -> bool:
    return judged.verdict != UNKNOWN and (judged.verdict != SAME or judged.bound <= MEANINGFUL)


def _is_comparable(answer: LocalAnswer, newest: LocalAnswer) -> bool:
    """Whether a result was measured under the newest one's conditions, and within OLD_DAYS before it."""
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
    """The width of the widest confidence interval, relative to its ratio."""
    return max((b.pair.high - b.pair.low) / max(b.pair.ratio, EPSILON) for b in judged.pairs)


def value_text(value: str) -> str:
    """A value in the usual notation: 8388608 becomes 8M."""
    return exact_size(int(value)) if _is_number(value) else value


def _is_number(value: str) -> bool:
    return value.isdecimal() and len(value) <= DIGITS


def _combine(answers: list[LocalAnswer], besides: tuple[MeasuredPair, ...], of: str, other: str) -> LocalVerdict:
    first = answers[0]
    used = {name for b in besides for name in (b.pair.arm, b.pair.against)}
    by_value = _verdicts_by_value(besides)
    verdict = _agreed_verdict(set(by_value.values()))
    disagree = len(set(by_value.values())) > 1 and UNKNOWN not in by_value.values()
    disagreement = f"; {' and '.join(by_value)} do not agree" if disagree else ""
    return LocalVerdict(
        probe=first.probe,
        began_at=first.began_at,
        verdict=verdict,
        of=of,
        other=value_text(other),
        bound=max((b.pair.bound for b in besides if b.pair.claim == "none"), default=0.0),
        seconds=min(arm.seconds for arm in first.arms if arm.name in used),
        pairs=besides,
        words=_pairs_text(besides, other) + disagreement,
    )


def _combined_verdict(verdicts: set[str]) -> str:
    if {WORSE, BETTER} <= verdicts:
        return MIXED
    return next((verdict for verdict in (WORSE, UNKNOWN, BETTER) if verdict in verdicts), SAME)


def _verdicts_by_value(besides: Iterable[MeasuredPair]) -> dict[str, str]:
    """The verdict on each measured value: on the server's own, or on the nearest ones below and above it."""
    verdicts: dict[str, set[str]] = {}
    for b in besides:
        verdicts.setdefault(b.arm, set()).add(b.verdict)
    return {value: _combined_verdict(each) for value, each in verdicts.items()}


def _agreed_verdict(verdicts: set[str]) -> str:
    """The verdict on a value between two measured ones: theirs if they agree, otherwise it is not known."""
    if len(verdicts) == 1:
        return next(iter(verdicts))
    return MIXED if {WORSE, BETTER} <= verdicts else UNKNOWN


def _measured_pairs(
    answer: LocalAnswer, claim: Claim, context: RuleContext, of: str, other: str
) -> Iterator[MeasuredPair]:
    """Pairs of variants that differ only in the two values and in the options that go along with them."""
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
    """The variant's settings other than the compared option and the options that go along with it."""
    return {name: value for name, value in arm.settings.items() if name != claim.option and name not in claim.along}


def _matches_server(arm: LocalArm, claim: Claim, context: RuleContext) -> bool:
    """Whether the variant's other settings have the server's values."""
    rest = {name: (value, context.settings.text(name)) for name, value in _other_settings(arm, claim).items()}
    return all(text is None or _is_same_value(name, value, text, context) for name, (value, text) in rest.items())


def _nearest_arms(arms: list[LocalArm], option: str, value: str, context: RuleContext) -> list[LocalArm]:
    """The variants with that value, else the nearest below and above it; empty for a value outside the tested range."""
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
    """The value as the server shows it, so that ON becomes 1 and 8M becomes 8388608."""
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
