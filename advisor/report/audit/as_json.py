"""An audit as JSON: as lint's, with server, host, window and what was skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.analysis.audit_comparison import as_json
from advisor.facts.codec import to_plain
from advisor.redaction.secrets import redact_value
from advisor.report.audit.document import missing_grants
from advisor.report.findings_json import VERSION, dumps
from advisor.report.findings_json import audited as finding

if TYPE_CHECKING:
    from advisor.analysis.audited import Audited
    from advisor.facts import Facts, SampledHours
    from advisor.report import Page


def report(audited: Audited, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """The whole audit; `skipped` names rules, and parts of the facts, with what they need, and findings put aside."""
    facts = audited.facts
    skipped = [{"code": s.code, "reason": s.reason} for s in audited.skipped]
    skipped += [{"code": u.part, "reason": u.reason} for u in facts.unavailable]
    skipped += [{"code": f.code, "reason": f"suppressed: {redact_value('', why)}"} for f, why in audited.suppressed]
    grants = [{"statement": sql, "why": why} for sql, why in missing_grants(audited)]
    since = {"since": as_json(audited.since)} if audited.since else {}
    return dumps(
        {
            "version": VERSION,
            "server": _server(facts, str(audited.known.target)),
            "host": to_plain(facts.host) if facts.host else None,
            "window": facts.workload.seconds if facts.workload else None,
            "findings": [finding(f) for f in audited.findings],
            "skipped": skipped,
            **({"grants": grants} if grants else {}),
            "fine": [one._asdict() for one in audited.passed],
            **(_sampled(facts.sampled) if facts.sampled else {}),
            **since,
        }
    )


def _sampled(sampled: SampledHours) -> dict[str, Any]:
    """What is known of other hours; the hours themselves stand in the findings that rest on them."""
    hours = [{"of": hour.of, "began_at": hour.began_at, "ended_at": hour.ended_at} for hour in sampled.hours]
    return {"sampled": {"since": sampled.since, "until": sampled.until, "samples": sampled.samples, "hours": hours}}


def _server(facts: Facts, target: str) -> dict[str, Any]:
    server = facts.server
    return {
        "target": target,
        "version": server.version,
        "version_comment": server.version_comment,
        "vendor": server.vendor,
        "managed": server.managed or None,
        "hostname": server.variables.get("hostname"),
        "uptime": server.uptime,
        "taken_at": facts.taken_at,
        "statements": facts.statements,
        "seconds": facts.seconds,
    }
