"""Weigh findings by what was measured on the server's own host: it outranks what was published, in either direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Local, Severity
from rules.claims import CLAIMS, COST, IDLE
from rules.judging import BETTER, SAME, UNKNOWN, WORSE, WORTH, judge, shown
from rules.remarks import REMARKS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.model import Finding
    from rules.claims import Claim
    from rules.judging import Judged
    from rules.known import Known


def weigh(known: Known, findings: Iterable[Finding]) -> list[Finding]:
    """The findings, those that an experiment on this host answers with its answer, and with the advice that is left."""
    return [_weighed(known, finding) for finding in findings]


def _weighed(known: Known, finding: Finding) -> Finding:
    claim = CLAIMS.get(finding.name)
    judged = _judged(known, finding, claim) if claim else None
    if claim and judged:
        local = Local(judged.probe, judged.began_at, judged.verdict, f"Here, probe of {judged.day}: {judged.words}.")
        return _settled(finding._replace(local=local), claim, judged)
    remark = REMARKS.get(finding.name)
    return (remark(known, finding) if remark else None) or finding


def _judged(known: Known, finding: Finding, claim: Claim) -> Judged | None:
    from rules import find

    rule, before, after = find(finding.name), known.settings.text(claim.option), claim.instead(known)
    if rule is None or rule.probe is None or before is None or after is None:
        return None
    of, against = (after, before) if claim.kind == COST else (before, after)
    judged = judge(rule.probe, claim, known, of, against)
    if judged and judged.verdict in (SAME, BETTER) and (judged.bound > WORTH or judged.seconds < claim.hours):
        return judged._replace(verdict=UNKNOWN, words=f"{judged.words}; too short a run to contradict the finding")
    return judged


def _settled(finding: Finding, claim: Claim, judged: Judged) -> Finding:
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
