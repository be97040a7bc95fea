"""Many snapshots as JSON: counts, and where to look. The fields are a contract, see schemas/report.schema.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.report.findings_json import VERSION, dumps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.report import Page
    from advisor.report.bulk.tally import Tally


def report(tally: Tally, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """For programs: the fields of schemas/report.schema.json."""
    servers = [
        {"server": s.server, "target": s.target, "snapshot": s.path, "errors": s.errors, "warnings": s.warnings,
         "notes": s.notes}
        for s in tally.worst
    ]  # fmt: skip
    return dumps(
        {
            "version": VERSION,
            "snapshots": {"read": tally.read, "broken": tally.broken, "clean": tally.clean},
            "findings": dict(tally.severities),
            "rules": list(_rules(tally)),
            "servers": servers,
            "targets": dict(tally.versions),
            "broken": [{"snapshot": path, "why": why} for path, why in tally.reasons],
        }
    )


def _rules(tally: Tally) -> Iterator[dict[str, Any]]:
    for r in tally.rules:
        examples = [{"server": server, "about": about} for server, about in r.examples]
        yield {"code": r.code, "name": r.name, "severity": r.severity, "servers": r.servers, "findings": r.findings,
               "examples": examples}  # fmt: skip
