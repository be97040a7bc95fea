"""A move between servers as JSON: the field names are a contract, published in schemas/upgrade.schema.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.redaction.secrets import redact_name, redact_value
from advisor.report.findings_json import dumps
from advisor.report.upgrade.document import SCOPE
from rules.core.evidence import find_evidence

if TYPE_CHECKING:
    from advisor.upgrade.change import DefaultChange, LineChange, UpgradeChanges
    from advisor.verdict import LineVerdict

VERSION = 1


def report(move: UpgradeChanges) -> str:
    """The whole comparison, lines worst first and defaults most consequential first."""
    return dumps(
        {
            "version": VERSION,
            "from": str(move.before),
            "to": str(move.after),
            "scope": SCOPE,
            "path": _path(move),
            "files": list(move.paths),
            "options_read": move.read,
            "lines": [_line(c) for c in move.lines],
            "defaults": [_default(c) for c in move.defaults],
            "problems": [p._asdict() for p in move.problems],
        }
    )


def _path(move: UpgradeChanges) -> dict[str, Any]:
    path = move.path
    return {
        "support": path.support.value,
        "steps": list(path.steps),
        "message": path.words or None,
        "evidence": [
            {"id": entry.id, "title": f"{entry.author}: {entry.title}", "url": entry.url}
            for entry in map(find_evidence, path.evidence)
            if entry is not None
        ],
    }


def _line(change: LineChange) -> dict[str, Any]:
    line, place = change.placed.line, change.location
    name = redact_name(line.name or "").lower().replace("-", "_") or None
    canonical = next((v.canonical for v in (change.after, change.before) if v and v.canonical), None)
    return {
        "change": change.kind.value,
        "severity": change.severity.value,
        "confidence": change.confidence.value,
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "group": line.group,
        "option": name,
        "canonical": canonical,
        "raw": None if line.raw is None else redact_value(canonical or name or "", redact_value(name or "", line.raw)),
        "from": _verdict(change.before),
        "to": _verdict(change.after),
        "message": change.message,
        "write": change.write,
    }


def _verdict(verdict: LineVerdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    name = verdict.canonical or ""
    values = [None if v is None else redact_value(name, v) for v in (verdict.value, verdict.running)]
    return {"outcome": verdict.outcome.value, "value": values[0], "running": values[1]}


def _default(change: DefaultChange) -> dict[str, Any]:
    return {
        "option": change.option,
        "formerly": change.formerly,
        "area": change.area.value,
        "severity": change.severity.value,
        "confidence": change.confidence.value,
        "from": change.before,
        "to": change.after,
        "message": change.message,
        "keep": change.keep,
        "lost": change.lost or None,
    }
