"""The history of servers as JSON; the fields are a contract, see schemas/history.schema.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.redaction.secrets import redact_value
from advisor.report.findings_json import VERSION, dumps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.analysis.snapshot_history import Change
    from advisor.core.model import Finding
    from advisor.report.history.document import ServerHistory


def report(told: Sequence[ServerHistory]) -> str:
    """Every server that was asked for, its changes the newest first."""
    return dumps({"version": VERSION, "servers": [_server(one) for one in told]})


def _server(told: ServerHistory) -> dict[str, Any]:
    return {
        "id": told.kept.id,
        "name": told.kept.name,
        "target": told.target,
        "snapshots": list(told.kept.paths),
        "first": told.first,
        "last": told.last,
        "changes": [_change(change) for change in told.changes],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "before": change.before,
        "at": change.at,
        "restarted": change.restarted,
        "settings": [
            {
                "name": name,
                "before": None if before is None else redact_value(name, before),
                "after": None if after is None else redact_value(name, after),
                "source": source,
            }
            for name, before, after, source in change.settings
        ],
        **{name: [_finding(f) for f in getattr(change, name)] for name in ("new", "gone", "back")},
        "still": change.still,
        "probes": [{"probe": result.probe, "began_at": result.began_at} for result in change.probes],
    }


def _finding(f: Finding) -> dict[str, Any]:
    return {"code": f.code, "name": f.name, "severity": f.severity.value, "option": f.canonical or f.option}
