"""What a restart would do as JSON: the field names are a contract, published in schemas/preflight.schema.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.redaction.secrets import redact_arguments
from advisor.report.findings_json import action, dumps

if TYPE_CHECKING:
    from advisor.core.model import Location
    from advisor.preflight.item import Preflight, RestartItem

VERSION = 1


def report(found: Preflight) -> str:
    """The whole of it, worst first; `skipped` names what could not be looked at."""
    facts, files = found.facts, found.facts.files
    return dumps(
        {
            "version": VERSION,
            "server": {
                "target": str(found.target),
                "version": facts.server.version,
                "hostname": facts.server.variables.get("hostname"),
                "uptime": facts.server.uptime,
                "taken_at": facts.taken_at,
                "statements": facts.statements,
            },
            "start": {
                "files": [copy.path for copy in files.files] if files else None,
                "persisted": (files.persisted or None) if files else None,
                "service": found.command.unit or None,
                "arguments": list(
                    redact_arguments((*found.command.leading, *(a.text for a in found.command.arguments)))
                ),
            },
            "items": [_item(item) for item in found.items],
            "skipped": [{"part": s.code, "reason": s.reason} for s in found.skipped],
        }
    )


def _item(item: RestartItem) -> dict[str, Any]:
    return {
        "kind": item.kind.value,
        "severity": item.severity.value,
        "confidence": item.confidence.value,
        "code": item.code or None,
        "name": item.name or None,
        "variable": item.variable,
        "option": item.option,
        "value": item.value,
        "running": item.running,
        "next": item.following,
        "origin": item.origin.value if item.origin else None,
        "source": item.source.value if item.source else None,
        "follows": list(item.cause),
        **_place(item.location),
        "message": item.message,
        "help": item.help,
        "write_at": item.write_at or None,
        "actions": [action(a) for a in item.actions],
    }


def _place(place: Location | None) -> dict[str, Any]:
    """A line of a file; what stands on a command line of no file has none."""
    in_file = place is not None and place.line > 0
    return {
        "path": place.path if place and in_file else None,
        "line": place.line if place and in_file else None,
        "column": place.column if place and in_file else None,
    }
