"""The conclusion of a result: the best variant or none, with the largest difference that the run could have missed."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.core.model import format_percent
from advisor.facts.probes import baselines
from probes.experiment import list_names
from probes.stats import VariantComparison, compare, compare_in_groups, compare_variation, row_differences
from probes.stats.estimate import NORMAL_FREEDOM, estimate_differences, family_alpha, t_quantile
from probes.stats.table import drift_notes, round_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.facts.probes import Metric, ProbeResult


TORN_PAGES = "torn pages that no crash recovery can repair"
UNSYNCED_FILES = "lost commits and damaged tables when the host crashes"
UNSYNCED_BINARY_LOG = "a binary log that lacks commits after a crash of the host"
UNSAFE_SETTINGS = {
    "innodb_doublewrite": {"OFF": TORN_PAGES, "FALSE": TORN_PAGES, "0": TORN_PAGES, "DETECT_ONLY": TORN_PAGES},
    "innodb_flush_log_at_trx_commit": {
        "0": "losing the last commits when the server or its host crashes",
        "2": "losing the last commits when the host crashes",
    },
    "innodb_flush_method": {"NOSYNC": UNSYNCED_FILES, "LITTLESYNC": UNSYNCED_FILES},
}
SYNC_BINLOG = "sync_binlog"


def crash_risk(settings: dict[str, str]) -> str:
    """What a crash may do with these settings; empty if they are safe."""
    risks = [UNSAFE_SETTINGS.get(name, {}).get(value.upper(), "") for name, value in settings.items()]
    if settings.get(SYNC_BINLOG, "1") != "1":  # with more than 1, only every so many groups of commits are synced
        risks.append(UNSYNCED_BINARY_LOG)
    return next(filter(None, risks), "")


INCONCLUSIVE_BOUND = 0.5  # relative; a run that could have missed a difference of this size is inconclusive
FACTOR_LIMIT = 2.0  # from this ratio on a factor is more readable than a percentage
FEW_ROUNDS, MANY_ROUNDS = 3, 1000  # fewer hide their scatter; if more are needed, a longer run is futile
ROUNDS_STEP = 20  # a part of this size more or less does not matter for "about"
TOLD_SHARE = 0.8  # of the runs of the stated length
MORE_TIME = "give it more time (--time)"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The conclusion from the samples of one result.

    `verdict` is better (`best` names the variant that is better than the baseline), baseline (others are worse), none
    (no difference larger than `within`), described (the metric is neither good nor bad), or unknown (too few rounds or
    too much noise). `alike` are the variants that cannot be distinguished from the best. `within` is relative.
    `comparisons` are of the first metric, `varied` of its variation within blocks. The first of `sentences` is the
    answer to the experiment's question (see `find_answers`).
    """

    verdict: str
    best: str | None
    alike: tuple[str, ...]
    within: float | None
    comparisons: tuple[VariantComparison, ...]
    varied: tuple[VariantComparison, ...]
    sentences: tuple[str, ...]
    limits: tuple[str, ...]

    def of(self, arm: str) -> VariantComparison | None:
        """The comparison of that variant with the baseline."""
        return next((comparison for comparison in self.comparisons if comparison.arm == arm), None)


def conclude(result: ProbeResult) -> Conclusion:
    """The conclusion of a result, computed from its samples only.

    If variants are in groups, `verdict`, `best` and `alike` refer to the baseline's group, and each group has a
    sentence.
    """
    metric = result.metrics[0]
    comparisons = compare_in_groups(result.arms, metric, result.baseline)
    varied = compare_variation(result.arms, metric, result.baseline)
    own = _comparisons_with(comparisons, result.baseline)
    verdict, best = _verdict(result, metric, own, result.baseline)
    within = max((comparison.bound for comparison in own), default=None)
    claimed = [comparison for comparison in comparisons if comparison.claim != "none" and verdict != "described"]
    uneven = [_variation_sentence(comparison, metric) for comparison in varied if comparison.claim != "none"]
    return Conclusion(
        verdict=verdict,
        best=best,
        alike=_tied_variants(result, metric, best),
        within=within if within is not None and math.isfinite(within) else None,
        comparisons=comparisons,
        varied=varied,
        sentences=(
            " ".join(_answers(result, comparisons)),
            *(_difference_sentence(comparison, metric) for comparison in claimed),
            *uneven,
        ),
        limits=(
            *_invalid_block_sentences(result),
            *_detectable_sentences(comparisons),
            *drift_notes(result.arms, metric, result.baseline),
            *_comparison_notes(comparisons),
            *result.limits,
        ),
    )


def metric_means(result: ProbeResult, metric: Metric) -> dict[str, float]:
    """The mean of a metric for each variant, as comparisons use it.

    It is a geometric mean, unless a value forbids it, of values with winsorized outliers.
    """
    means: dict[str, float] = {}
    for comparison in compare_in_groups(result.arms, metric, result.baseline):
        means[comparison.baseline] = comparison.baseline_mean
        means[comparison.arm] = comparison.mean
    for arm in result.arms:
        if arm.name not in means and (alone := round_table([arm], metric.name, arm.name)) is not None:
            means[arm.name] = alone.mean(0)
        elif arm.name not in means and any(metric.name in block.metrics for block in arm.blocks):
            means[arm.name] = 0.0  # all values are zero, so it cannot be a baseline
    return means


def format_ratio(ratio: float) -> str:
    """A ratio as a relative change or a factor, such as +12 %, -3.4 % or 5.1 times."""
    if not math.isfinite(ratio):
        return "an unlimited factor"
    if not 1 / FACTOR_LIMIT <= ratio <= FACTOR_LIMIT:
        return f"{_format_factor(ratio)} times"
    return f"{'-' if ratio < 1 else '+'}{format_percent(abs(ratio - 1))}"


def format_interval(low: float, high: float) -> str:
    """An interval of ratios, both ends in one unit: +33 to +61 %, 1.8 to 3.1 times."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{format_ratio(low)} to {format_ratio(high)}"
    if low >= 1 / FACTOR_LIMIT and high <= FACTOR_LIMIT:
        return f"{format_ratio(low).removesuffix(' %')} to {format_ratio(high)}"
    return f"{_format_factor(low)} to {_format_factor(high)} times"


def _format_factor(ratio: float) -> str:
    digits = 0 if ratio >= 10 else 1 if ratio > 1 else 2  # noqa: PLR2004 - where a digit stops counting
    return f"{ratio:.{digits}f}"


def _comparisons_with(comparisons: tuple[VariantComparison, ...], baseline: str) -> tuple[VariantComparison, ...]:
    return tuple(comparison for comparison in comparisons if comparison.baseline == baseline)


def find_answers(result: ProbeResult) -> tuple[str, ...]:
    """The answer to the experiment's question, a text for each group of variants that has another one."""
    return _answers(result, compare_in_groups(result.arms, result.metrics[0], result.baseline))


def _answers(result: ProbeResult, comparisons: tuple[VariantComparison, ...]) -> tuple[str, ...]:
    """The answer as text for each group; groups with the same answer share one."""
    metric, first = result.metrics[0], baselines(result.arms, result.baseline)
    if result.is_void:
        return (_no_result_sentence(result),)
    groups_by_answer: dict[str, list[str]] = {}
    for group, baseline in first.items():
        own = _comparisons_with(comparisons, baseline)
        verdict, best = _verdict(result, metric, own, baseline)
        if verdict == "described" and len(first) > 1:
            return (_range_sentence(result, metric),)
        answer = _verdict_sentence(result, own, verdict, best, baseline)
        groups_by_answer.setdefault(answer, []).append(group)
    if len(groups_by_answer) == 1:
        return tuple(groups_by_answer)
    return tuple(f"{list_names(groups, 'and')}: {answer}" for answer, groups in groups_by_answer.items())


def _verdict(
    result: ProbeResult, metric: Metric, comparisons: tuple[VariantComparison, ...], baseline: str
) -> tuple[str, str | None]:
    if result.is_void:
        return "unknown", None
    if metric.better not in ("more", "less"):
        return "described", None
    if not comparisons:
        return "unknown", None
    better = [comparison for comparison in comparisons if comparison.claim == metric.better]
    if better:
        gain = -1 if metric.better == "less" else 1
        return "better", max(better, key=lambda comparison: gain * comparison.ratio).arm
    if any(comparison.claim != "none" for comparison in comparisons):
        return "baseline", baseline
    return ("none" if max(comparison.bound for comparison in comparisons) <= INCONCLUSIVE_BOUND else "unknown"), None


def _tied_variants(result: ProbeResult, metric: Metric, best: str | None) -> tuple[str, ...]:
    """The variants of the best one's group that differ from it by no more than noise.

    The family is that of the run: with a smaller one, a variant could be neither tied with the best nor claimed.
    """
    if best is None:
        return ()
    group = next(arm.group for arm in result.arms if arm.name == best)
    own = tuple(arm for arm in result.arms if arm.group == group)
    family = len(result.arms) - len(baselines(result.arms, result.baseline))
    return tuple(beside.arm for beside in compare(own, metric, best, max(1, family)) if beside.claim == "none")


def _verdict_sentence(
    result: ProbeResult, comparisons: tuple[VariantComparison, ...], verdict: str, best: str | None, baseline: str
) -> str:
    metric, alike = result.metrics[0], _tied_variants(result, result.metrics[0], best)
    same = f" {list_names(alike, 'and')} cannot be distinguished from it." if alike else ""
    if verdict == "better":
        best_comparison = next(comparison for comparison in comparisons if comparison.arm == best)
        risk = next(crash_risk(arm.settings) for arm in result.arms if arm.name == best)
        if risk:
            words = f"{best} has the best {metric.name}: {_difference_text(best_comparison)}"
            return f"{words}, at the risk of {risk}. This is not a recommendation.{same}"
        return f"{best} has the best {metric.name}: {_difference_text(best_comparison)}.{same}"
    if verdict == "baseline":
        return _baseline_sentence(metric, comparisons, baseline)
    if verdict == "none":
        within = format_percent(max(comparison.bound for comparison in comparisons))
        return f"No difference larger than {within} in {metric.name}: any effect of these variants is smaller."
    if verdict == "described":
        return _range_sentence(result, metric)
    return _inconclusive_sentence(result, metric, comparisons)


def _baseline_sentence(metric: Metric, comparisons: tuple[VariantComparison, ...], baseline: str) -> str:
    """The baseline is best, or no variant is significantly better and noise may hide how much some differ."""
    unclear = [comparison for comparison in comparisons if comparison.claim == "none"]
    if not unclear:
        return f"No variant beats {baseline} in {metric.name}."
    names = list_names((comparison.arm for comparison in unclear), "and")
    hidden = _hidden_difference(max(comparison.bound for comparison in unclear))
    return (
        f"No variant is significantly better than {baseline} in {metric.name}. {names} cannot be distinguished from "
        f"it: noise may hide {hidden}."
    )


def _hidden_difference(bound: float) -> str:
    return f"a difference of {format_percent(bound)}" if bound < FACTOR_LIMIT else "a difference of many times"


def _no_result_sentence(result: ProbeResult) -> str:
    """The number of invalid blocks and the most frequent reason, as a sentence."""
    blocks = [block for arm in result.arms for block in arm.blocks]
    reasons = Counter(block.invalid for block in blocks if block.invalid)
    usual = reasons.most_common(1)[0][0]
    return f"No result: {reasons.total()} of {len(blocks)} blocks are invalid; most often: {usual}."


def _range_sentence(result: ProbeResult, metric: Metric) -> str:
    known = metric_means(result, metric)
    if not known:
        return f"No {metric.name} was measured."
    low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    least, most = (f"{known[name]:.3g} {metric.unit} ({name})" for name in (low, high))
    return f"{metric.name} is {least}." if len(known) == 1 else f"{metric.name} is from {least} to {most}."


def _inconclusive_sentence(result: ProbeResult, metric: Metric, comparisons: tuple[VariantComparison, ...]) -> str:
    if len(result.arms) == 1:
        return _range_sentence(result, metric)
    if not comparisons:
        return f"{metric.name} of {result.baseline}, the baseline, is missing or zero."
    if result.rounds < 2:  # noqa: PLR2004 - noise shows from the second on
        return f"Only one round finished, so differences cannot be separated from noise: {MORE_TIME}."
    hidden = _hidden_difference(max(comparison.bound for comparison in comparisons))
    needed = _rounds_needed(result, metric, comparisons[0].baseline)
    if result.rounds < FEW_ROUNDS or needed > MANY_ROUNDS:
        return f"Inconclusive: noise may hide {hidden}; {MORE_TIME}."
    rounds = math.ceil(needed)
    minutes = math.ceil(needed * result.seconds / result.rounds / 60)
    return (
        f"Inconclusive: noise may hide {hidden}; {MORE_TIME}. With this noise, --rounds {rounds} (about {minutes} min) "
        f"would detect or exclude a difference of {format_percent(INCONCLUSIVE_BOUND)}."
    )


def _rounds_needed(result: ProbeResult, metric: Metric, baseline: str) -> float:
    """The number of rounds with this scatter with which four of five runs are conclusive; infinite after one round.

    A run is conclusive if the family's intervals leave no difference of INCONCLUSIVE_BOUND possible, or exclude zero.
    """
    group = next(arm.group for arm in result.arms if arm.name == baseline)
    table = round_table([arm for arm in result.arms if arm.group == group], metric.name, baseline)
    if table is None or table.rounds < 2:  # noqa: PLR2004 - noise shows from the second on
        return math.inf
    family = len(result.arms) - len(baselines(result.arms, result.baseline))
    wanted = math.log1p(INCONCLUSIVE_BOUND) if table.logs else INCONCLUSIVE_BOUND
    # By so many of its errors a mean differs from the true one in at most one of five runs.
    luck = t_quantile(1 - math.pow(TOLD_SHARE, 1 / family), NORMAL_FREEDOM)
    rounds = float(table.rounds)
    for estimate in estimate_differences(row_differences(table, baseline)):
        # Half of the runs see less scatter than there is, most of all those of few rounds.
        scatter = estimate.error * math.sqrt(table.rounds) / math.pow(1 - 2 / (9 * estimate.freedom), 1.5)
        while rounds <= MANY_ROUNDS:
            freedom = estimate.freedom * (rounds - 1) / (table.rounds - 1)
            if scatter * (t_quantile(family_alpha(family), freedom) + luck) <= wanted * math.sqrt(rounds):
                break
            rounds += max(1.0, rounds // ROUNDS_STEP)
    return rounds


def _difference_sentence(comparison: VariantComparison, metric: Metric) -> str:
    return f"{comparison.arm}: {metric.name} {_difference_text(comparison)}."


def _difference_text(comparison: VariantComparison) -> str:
    """The difference as text: `-20 % against a (95 %: -22 to -18 %)`."""
    interval = f"(95 %: {format_interval(comparison.low, comparison.high)})"
    ratio = format_ratio(comparison.ratio)
    relation = "that of" if ratio.endswith("times") else "against"
    return f"{ratio} {relation} {comparison.baseline} {interval}"


def _variation_sentence(comparison: VariantComparison, metric: Metric) -> str:
    word = "more" if comparison.claim == "more" else "less"
    return (
        f"{comparison.arm}: {metric.name} varies {word} between seconds, coefficient of variation "
        f"{format_percent(comparison.median)} against {format_percent(comparison.baseline_median)} "
        f"with {comparison.baseline}"
        f" (ratio {comparison.ratio:.2g}; 95 %: {comparison.low:.2g} to {comparison.high:.2g})."
    )


def _detectable_sentences(comparisons: tuple[VariantComparison, ...]) -> tuple[str, ...]:
    """Sentences on the smallest detectable difference, for the median variant and for the one with the most scatter."""
    if not comparisons or math.isinf(comparisons[0].detectable):
        return ()
    worst = max(comparisons, key=lambda comparison: comparison.detectable)
    usual = statistics.median(comparison.detectable for comparison in comparisons)
    seen = f"With {comparisons[0].rounds} rounds and this noise, 80 % of runs would detect "
    seen += f"a difference of {format_percent(usual)}" if usual < FACTOR_LIMIT else "only a difference of many times"
    if usual < min(worst.detectable, FACTOR_LIMIT):
        most = format_percent(worst.detectable) if worst.detectable < FACTOR_LIMIT else "many times"
        seen += f"; in {worst.arm}, the noisiest variant, {most}"
    seen += "."
    drawn = sum({comparison.baseline: comparison.drawn_in for comparison in comparisons}.values())  # one table a group
    blocks = "1 block" if drawn == 1 else f"{drawn} blocks"
    return (seen, f"Outliers: {blocks} drawn in to the edge of the other blocks (winsorized).") if drawn else (seen,)


def _invalid_block_sentences(result: ProbeResult) -> Iterator[str]:
    """A sentence for each invalid block of a run that has a result nevertheless."""
    if not result.is_void:
        for arm in result.arms:
            for block in arm.blocks:
                if block.invalid:
                    yield f"{arm.name}: the block of round {block.round} is invalid and excluded: {block.invalid}."


def _comparison_notes(comparisons: tuple[VariantComparison, ...]) -> tuple[str, ...]:
    return tuple(f"{comparison.arm}: {comparison.note}" for comparison in comparisons if comparison.note)
