"""Findings for code hosts: annotations of GitHub Actions, and GitLab's code quality report."""

from __future__ import annotations

from advisor.core.model import Location, Severity
from advisor.redaction import escape_text
from advisor.report.findings_json import dumps
from advisor.report.lint import hedged_message
from advisor.report.lint.sarif import SHOWN, digest, fingerprint_findings, from_base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from advisor.core.model import Finding
    from advisor.report import CheckedFile, Page


LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def github_report(files: Sequence[CheckedFile], page: Page) -> str:
    """One command a line: a finding, or a file that could not be read."""
    lines = [_command(f, c, page.base) for c in files for f in c.findings]
    lines += [
        _command_line("error", from_base(path, page.base), {}, "not read", escape_text(why))
        for path, why in page.broken
    ]
    return "".join(f"{line}\n" for line in lines)


def _command(f: Finding, c: CheckedFile, base: str) -> str:
    path = from_base(f.location.path if f.location else c.path, base)
    return _command_line(LEVELS[f.severity], path, _place(f), f"{f.code} {f.name}", _words(f))


def _command_line(level: str, path: str, place: dict[str, int], title: str, words: str) -> str:
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
    return "\n".join([escape_text(hedged_message(f)), *([f"help: {escape_text(f.help)}"] if f.help else [])])


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# GitLab also knows "blocker": whether a finding blocks is for --fail-on to say.
GITLAB_LEVELS = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}


def gitlab_report(files: Sequence[CheckedFile], page: Page) -> str:
    """A list with one entry for a finding, and one for a file that could not be read."""
    marked = fingerprint_findings(files, page.base)
    found = [_finding(c, f, mark, page.base) for c, f, mark, state in marked if state == SHOWN]
    return dumps([*found, *(_unread(path, why, page.base) for path, why in dict(page.broken).items())])


def _finding(c: CheckedFile, f: Finding, fingerprint: str, base: str) -> dict[str, Any]:
    place = f.location or Location(c.path, 1)
    # GitLab shows neither the name of the check nor its help, and wants a line where a finding has none.
    words = " ".join(
        [escape_text(f"{f.code} {f.name}: {hedged_message(f)}"), *([f"Help: {escape_text(f.help)}"] if f.help else [])]
    )
    where = _location(from_base(place.path, base), max(1, place.line), max(1, place.line, place.end_line))
    return _entry(words, f.name, fingerprint, GITLAB_LEVELS[f.severity], where)


def _unread(path: str, why: str, base: str) -> dict[str, Any]:
    plain = from_base(path, base)
    return _entry(escape_text(why), "not-read", digest(f"not read\0{plain}"), "critical", _location(plain, 1, 1))


def _location(path: str, first: int, last: int) -> dict[str, Any]:
    return {"path": escape_text(path), "lines": {"begin": first, "end": last}}


def _entry(words: str, check: str, fingerprint: str, level: str, where: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": words,
        "check_name": escape_text(check),
        "fingerprint": fingerprint,
        "severity": level,
        "location": where,
    }
