"""Findings as CSV (RFC 4180): a line of heads, then a row a finding, for spreadsheets and databases.

A cell that a spreadsheet would take for a formula begins with an apostrophe.
"""

from __future__ import annotations

from advisor.redaction import escape_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.analysis.audited import AuditResult
    from advisor.core.model import Finding
    from advisor.report import CheckedFile, Page

    Cell = str | int | bool | list[str] | None

# What each column holds, in their order; the first ones say where a finding was made.
LINT = {"file": "the file that was checked", "target": "the server that it was checked for"}
AUDIT = {
    "server": "the host's name, with the port where that is not 3306",
    "snapshot": "the snapshot's path; empty of an audit",
    "target": "flavour and version, such as `mysql-8.4.8`",
    "taken_at": "when the server was read",
}
FINDING = {
    "code": "the rule's code",
    "name": "the rule's name",
    "severity": "error, warning or note",
    "confidence": "certain, measured, likely or opinion",
    "option": "the option as it is written",
    "canonical": "the option's own name",
    "value": "the value as it is written, secrets masked",
    "group": "the group of the option file",
    "path": "the file that sets it",
    "line": "the line, from 1",
    "message": "what is wrong",
    "help": "what to write instead",
    "evidence": "the ids of the evidence, with spaces between",
    "statement": "the statement that changes it now",
    "option_line": "the line that keeps the change",
    "restart": "true where a change needs a restart",
}
BROKEN = {"broken": "why the snapshot could not be read; its other columns are empty"}
# Spreadsheets take these at the beginning of a cell for a formula, some also the wide forms of the first four.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", *"\uff1d\uff0b\uff0d\uff20")
_QUOTED = frozenset(',"\r\n ')


def report(files: Sequence[CheckedFile], page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """Lint's findings, of all files in one table."""
    rows = ((c.path, str(c.target), *of_finding(f)) for c in files for f in c.findings)
    return "".join([line((*LINT, *FINDING)), *map(line, rows)])


def audit(audited: AuditResult, page: Page) -> str:
    """The findings of one server, in the columns that reports of many snapshots have."""
    return heads() + snapshot("", audited, page)


def snapshot(path: str, audited: AuditResult, page: Page) -> str:
    """The findings of one of many snapshots, without heads."""
    return "".join(map(line, rows(path, audited, page)))


def rows(path: str, audited: AuditResult, page: Page) -> list[tuple[Cell, ...]]:  # noqa: ARG001 - every maker is called alike
    """One row a finding, in the order of the columns of a table of findings."""
    from advisor.report.audit.prometheus import name_of

    about = (name_of(audited), path, str(audited.context.target), audited.facts.taken_at or None)
    return [(*about, *of_finding(f), None) for f in audited.findings]


def heads() -> str:
    """The line of heads of audits and of reports of many snapshots."""
    return line((*AUDIT, *FINDING, *BROKEN))


def unread_row(path: str, why: str) -> str:
    """The row of a snapshot that could not be read."""
    return line((None, path, *((None,) * (len(AUDIT) - 2 + len(FINDING))), why))


def of_finding(f: Finding) -> Iterator[Cell]:
    """The columns of FINDING."""
    at = f.location
    yield from (f.code, f.name, f.severity.value, f.confidence.value, f.option, f.canonical, f.value, f.group)
    yield from (at.path if at else None, at.line if at else None, f.message, f.help, list(f.evidence))
    yield next((a.statement for a in f.actions if a.statement), None)
    yield next((a.option_line for a in f.actions if a.option_line), None)
    yield any(a.restart for a in f.actions)


def line(cells: Sequence[Cell]) -> str:
    """One row, quoted as RFC 4180 says; no character in it ends a line or moves a cursor."""
    return ",".join(map(_cell, cells)) + "\r\n"


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    text = escape_text(" ".join(value) if isinstance(value, list) else value)
    text = f"'{text}" if text.startswith(_FORMULA) else text
    return '"' + text.replace('"', '""') + '"' if _QUOTED & set(text) else text
