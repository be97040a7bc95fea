"""An audit as JSON: as lint's, with server, host, window and what was skipped."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from advisor.report.jsonform import VERSION, dumps
from advisor.report.jsonform import audited as finding

if TYPE_CHECKING:
    from advisor.facts import Facts
    from advisor.report.audited import Audited


def report(audited: Audited) -> str:
    """The whole audit; `skipped` names rules, and parts of the facts, with what they need."""
    facts = audited.facts
    skipped = [{"code": s.code, "reason": s.reason} for s in audited.skipped]
    skipped += [{"code": u.part, "reason": u.reason} for u in facts.unavailable]
    return dumps(
        {
            "version": VERSION,
            "server": _server(facts, str(audited.known.target)),
            "host": asdict(facts.host) if facts.host else None,
            "window": facts.workload.seconds if facts.workload else None,
            "findings": [finding(f) for f in audited.findings],
            "skipped": skipped,
        }
    )


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
