"""Adjust findings by what probes measured on the server's own host: local results outrank published ones."""

from __future__ import annotations

from advisor.core.model import Confidence, LocalResult, Severity, format_latency
from rules.measured.claims import CLAIMS, COST, NO_EFFECT
from rules.measured.compare import BETTER, MEANINGFUL, SAME, UNKNOWN, WORSE, compare_values, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.core.model import Finding
    from rules.core.context import RuleContext
    from rules.measured.answers import LocalAnswer
    from rules.measured.claims import Claim
    from rules.measured.compare import LocalVerdict


def apply_local_results(context: RuleContext, findings: Iterable[Finding]) -> list[Finding]:
    """The findings, adjusted in severity and advice if a probe on this host measured what they claim."""
    return [_apply_to_finding(context, finding) for finding in findings]


def _apply_to_finding(context: RuleContext, finding: Finding) -> Finding:
    claim = CLAIMS.get(finding.name)
    judged = _compare_with_advice(context, finding, claim) if claim else None
    if claim and judged:
        local = LocalResult(
            judged.probe, judged.began_at, judged.verdict, f"Here, probe of {judged.day}: {judged.words}."
        )
        return _adjust_finding(finding._replace(local=local), claim, judged)
    remark = REMARKS.get(finding.name)
    return (remark(context, finding) if remark else None) or finding


def _compare_with_advice(context: RuleContext, finding: Finding, claim: Claim) -> LocalVerdict | None:
    from rules import find_rule

    rule, before, after = find_rule(finding.name), context.settings.text(claim.option), claim.instead(context)
    if rule is None or rule.probe is None or before is None or after is None:
        return None
    of, against = (after, before) if claim.kind == COST else (before, after)
    judged = compare_values(rule.probe, claim, context, of, against)
    if judged and judged.verdict in (SAME, BETTER) and (judged.bound > MEANINGFUL or judged.seconds < claim.hours):
        return judged._replace(
            verdict=UNKNOWN, words=f"{judged.words}; the run was too short to contradict the finding"
        )
    return judged


def _adjust_finding(finding: Finding, claim: Claim, judged: LocalVerdict) -> Finding:
    """The finding with the severity, confidence and advice that the local result justifies."""
    if claim.kind == COST:
        return finding  # the cost of a safe setting does not change what may be lost
    if judged.verdict == BETTER:
        return _downgrade(finding, f"keep it: on this host {value_text(judged.of)} does better than {judged.other}")
    if judged.verdict == SAME and claim.kind != NO_EFFECT:
        why = f"; {claim.besides}" if claim.besides else ""
        return _downgrade(finding, f"leave it: it has no measurable effect on this host{why}")
    if judged.verdict == WORSE and claim.kind != NO_EFFECT:
        return finding._replace(confidence=Confidence.MEASURED)
    return finding


def _downgrade(finding: Finding, advice: str) -> Finding:
    return finding._replace(
        severity=Severity.NOTE, confidence=Confidence.MEASURED, help=advice, fix=None, actions=()
    )  # fmt: skip


REMARK = "told"


def measured_fact(context: RuleContext, probe: str, name: str) -> tuple[float, LocalAnswer] | None:
    """A number that the newest run of a probe found besides its samples, with the result; None without one."""
    for answer in context.probes:
        value = answer.facts.get(name) if answer.probe == probe else None
        if isinstance(value, float) and value > 0:
            return value, answer
    return None


def max_write_rate(context: RuleContext) -> tuple[float, LocalAnswer] | None:
    """The highest measured write rate of the data disks in pages per second: an upper bound, not a recommendation.

    None if the disks may write more, because the driver was the limit.
    """
    measurement = measured_fact(context, "random-write", "most_writes")
    return None if measurement is None or _is_lower_bound(measurement[1]) else measurement


def _is_lower_bound(answer: LocalAnswer) -> bool:
    """Whether the driver had no more processor time, or wrote one page at a time."""
    from rules.core.storage import DIRECT

    limited = str(answer.facts.get("at_least", "")).split(", ")
    one_at_a_time = answer.parameters.get("open") == DIRECT and answer.parameters.get("at once") == "1"
    return one_at_a_time or answer.facts.get("most_writes_at") in limited


def _remark_on_capacity(context: RuleContext, finding: Finding) -> Finding | None:
    measurement, value = max_write_rate(context), context.number("innodb_io_capacity")
    if measurement is None or value is None:
        return None
    most, answer = measurement
    words = f"Here, probe of {answer.day}: the disk reaches {most:,.0f} random page writes a second at most"
    if value > most:
        return finding._replace(
            confidence=Confidence.MEASURED, local=LocalResult(answer.probe, answer.began_at, "worse", f"{words}.")
        )
    words += ": an upper limit, not a recommendation."
    return finding._replace(local=LocalResult(answer.probe, answer.began_at, REMARK, words))


def _remark_on_syncs(context: RuleContext, finding: Finding) -> Finding | None:
    measurement = measured_fact(context, "commit-latency", "quickest_latency")
    if measurement is None:
        return None
    latency, answer = measurement
    way = answer.facts.get("quickest", "")
    words = f"Here, probe of {answer.day}: the fastest way to sync a write takes {format_latency(latency)} ({way})."
    return finding._replace(local=LocalResult(answer.probe, answer.began_at, REMARK, words))


def _remark_on_seeks(context: RuleContext, finding: Finding) -> Finding | None:
    from rules.core.storage import measured_read

    measurement = measured_read(context)
    if measurement is None:
        return None
    latency, answer = measurement
    took = f"a random read takes {format_latency(latency)}, less than a spinning disk needs to move its heads"
    words = f"Here, probe of {answer.day}: {took}."
    return finding._replace(local=LocalResult(answer.probe, answer.began_at, REMARK, words))


REMARKS = {
    "oversized-io-capacity": _remark_on_capacity,
    "lost-commits": _remark_on_syncs,
    "unsynced-binary-log": _remark_on_syncs,
    "file-system-without-barriers": _remark_on_syncs,
    "flush-neighbors-on-ssd": _remark_on_seeks,
}
