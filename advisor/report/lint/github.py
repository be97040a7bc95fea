"""Findings as workflow commands, which GitHub Actions shows as annotations beside the changed lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Severity
from advisor.redaction.secrets import escape_text
from advisor.report.lint.fingerprint import from_base

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.core.model import Finding
    from advisor.report import Checked, Page

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def report(files: Sequence[Checked], page: Page) -> str:
    """One command a line: a finding, or a file that could not be read."""
    lines = [_command(f, c, page.base) for c in files for f in c.findings]
    lines += [
        _written("error", from_base(path, page.base), {}, "not read", escape_text(why)) for path, why in page.broken
    ]
    return "".join(f"{line}\n" for line in lines)


def _command(f: Finding, c: Checked, base: str) -> str:
    path = from_base(f.location.path if f.location else c.path, base)
    return _written(LEVELS[f.severity], path, _place(f), f"{f.code} {f.name}", _words(f))


def _written(level: str, path: str, place: dict[str, int], title: str, words: str) -> str:
    properties = {"file": path, **place, "title": title}
    written = ",".join(f"{name}={_property(escape_text(str(value)))}" for name, value in properties.items())
    return f"::{level} {written}::{_data(words)}"


def _place(f: Finding) -> dict[str, int]:
    """Columns only where the place lies within one line: GitHub refuses the others."""
    at = f.location
    if at is None or at.line < 1:
        return {}
    if at.end_line > at.line:
        return {"line": at.line, "endLine": at.end_line}
    if at.end_column <= at.column:
        return {"line": at.line, "col": at.column}
    return {"line": at.line, "endLine": at.line, "col": at.column, "endColumn": at.end_column}


def _words(f: Finding) -> str:
    return "\n".join([escape_text(f.message), *([f"help: {escape_text(f.help)}"] if f.help else [])])


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
