"""Many snapshots as text, Markdown and JSON: counts, and where to look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.redact import clean, redact_value
from advisor.report.jsonform import VERSION, dumps
from advisor.report.manysheets import sheets, summary, title
from advisor.report.words import bold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.report import Page
    from advisor.report.manysheets import Sheet
    from advisor.report.manytally import Tally


def text(tally: Tally, page: Page) -> str:
    """For people: a table each."""
    colour = page.colour
    parts = [f"{bold(title(tally), colour)}\n  {summary(tally)}"]
    parts += ["\n".join([bold(sheet.title, colour), *_aligned(sheet)]) for sheet in sheets(tally)]
    return "\n\n".join(parts) + "\n"


def markdown(tally: Tally, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """For a ticket or a page of a wiki."""
    from advisor.report.ticketwords import said

    parts = [f"## {title(tally)}", said(summary(tally))]
    for sheet in sheets(tally):
        parts += [f"### {sheet.title}", "\n".join(_table(sheet)), *([said(sheet.more)] if sheet.more else [])]
    return "\n\n".join(parts) + "\n"


def as_json(tally: Tally, page: Page) -> str:  # noqa: ARG001 - every format is called alike
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


def _aligned(sheet: Sheet) -> Iterator[str]:
    rows = [sheet.heads, *([clean(redact_value("", cell)) for cell in row] for row in sheet.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    first = len(widths) - sheet.numbers
    for row in rows:
        cells = [f"{c:<{w}}" if i < first else f"{c:>{w}}" for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        yield f"  {'  '.join(cells)}".rstrip()
    if sheet.more:
        yield f"  {sheet.more}"


def _table(sheet: Sheet) -> Iterator[str]:
    from advisor.report.ticketwords import shown

    first = len(sheet.heads) - sheet.numbers
    yield f"| {' | '.join(sheet.heads)} |"
    yield "|" + "|".join(":--" if i < first else "--:" for i in range(len(sheet.heads))) + "|"
    for row in sheet.rows:
        yield f"| {' | '.join(shown(cell) if i < first else cell for i, cell in enumerate(row))} |"
