"""Weigh findings by what was measured on the server's own host: it outranks what was published, in either direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Confidence, Local, Severity
from advisor.core.sizes import waited
from rules.measured.claims import CLAIMS, COST, IDLE
from rules.measured.compare import BETTER, SAME, UNKNOWN, WORSE, WORTH, judge, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.core.model import Finding
    from rules.core.context import RuleContext
    from rules.measured.answers import LocalAnswer
    from rules.measured.claims import Claim
    from rules.measured.compare import LocalVerdict


def weigh(known: RuleContext, findings: Iterable[Finding]) -> list[Finding]:
    """The findings, those that an experiment on this host answers with its answer, and with the advice that is left."""
    return [_weighed(known, finding) for finding in findings]


def _weighed(known: RuleContext, finding: Finding) -> Finding:
    claim = CLAIMS.get(finding.name)
    judged = _judged(known, finding, claim) if claim else None
    if claim and judged:
        local = Local(judged.probe, judged.began_at, judged.verdict, f"Here, probe of {judged.day}: {judged.words}.")
        return _settled(finding._replace(local=local), claim, judged)
    remark = REMARKS.get(finding.name)
    return (remark(known, finding) if remark else None) or finding


def _judged(known: RuleContext, finding: Finding, claim: Claim) -> LocalVerdict | None:
    from rules import find

    rule, before, after = find(finding.name), known.settings.text(claim.option), claim.instead(known)
    if rule is None or rule.probe is None or before is None or after is None:
        return None
    of, against = (after, before) if claim.kind == COST else (before, after)
    judged = judge(rule.probe, claim, known, of, against)
    if judged and judged.verdict in (SAME, BETTER) and (judged.bound > WORTH or judged.seconds < claim.hours):
        return judged._replace(verdict=UNKNOWN, words=f"{judged.words}; too short a run to contradict the finding")
    return judged


def _settled(finding: Finding, claim: Claim, judged: LocalVerdict) -> Finding:
    """What is left of severity and advice."""
    if claim.kind == COST:
        return finding  # what may be lost stays as it is, whatever it costs to keep
    if judged.verdict == BETTER:
        return _contradicted(finding, f"keep it: on this host {shown(judged.of)} does better than {judged.other}")
    if judged.verdict == SAME and claim.kind != IDLE:
        why = f"; {claim.besides}" if claim.besides else ""
        return _contradicted(finding, f"leave it: it has no measurable effect on this host{why}")
    if judged.verdict == WORSE and claim.kind != IDLE:
        return finding._replace(confidence=Confidence.MEASURED)
    return finding


def _contradicted(finding: Finding, advice: str) -> Finding:
    return finding._replace(
        severity=Severity.NOTE, confidence=Confidence.MEASURED, help=advice, fix=None, actions=()
    )  # fmt: skip


TOLD = "told"


def fact(known: RuleContext, probe: str, name: str) -> tuple[float, LocalAnswer] | None:
    """A number that the newest run of an experiment found beside its samples, and that run."""
    for answer in known.probes:
        told = answer.facts.get(name) if answer.probe == probe else None
        if isinstance(told, float) and told > 0:
            return told, answer
    return None


def most_writes(known: RuleContext) -> tuple[float, LocalAnswer] | None:
    """Pages a second that the disks under the data were seen to take: a bound, and no reason to ask for as many."""
    return fact(known, "random-write", "most_writes")


def _of_capacity(known: RuleContext, finding: Finding) -> Finding | None:
    found, value = most_writes(known), known.number("innodb_io_capacity")
    if found is None or value is None:
        return None
    most, answer = found
    words = f"Here, probe of {answer.day}: the disk takes {most:,.0f} random page writes a second at most"
    if value > most:
        return finding._replace(
            confidence=Confidence.MEASURED, local=Local(answer.probe, answer.began_at, "worse", f"{words}.")
        )
    words += ", a bound and no reason to ask for as many."
    return finding._replace(local=Local(answer.probe, answer.began_at, TOLD, words))


def _of_syncs(known: RuleContext, finding: Finding) -> Finding | None:
    found = fact(known, "commit-latency", "quickest_latency")
    if found is None:
        return None
    latency, answer = found
    way = answer.facts.get("quickest", "")
    words = f"Here, probe of {answer.day}: a synced write takes {waited(latency)} ({way})."
    return finding._replace(local=Local(answer.probe, answer.began_at, TOLD, words))


def _of_seeks(known: RuleContext, finding: Finding) -> Finding | None:
    from rules.core.storage import one_read

    found = one_read(known)
    if found is None:
        return None
    latency, answer = found
    words = f"Here, probe of {answer.day}: a random read takes {waited(latency)}, so nothing turns."
    return finding._replace(local=Local(answer.probe, answer.began_at, TOLD, words))


REMARKS = {
    "oversized-io-capacity": _of_capacity,
    "lost-commits": _of_syncs,
    "unsynced-binary-log": _of_syncs,
    "file-system-without-barriers": _of_syncs,
    "flush-neighbors-on-ssd": _of_seeks,
}
