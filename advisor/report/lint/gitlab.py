"""Findings as GitLab's code quality report, which merge requests show beside the changed lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.core.model import Location, Severity
from advisor.redaction.secrets import escape_text
from advisor.report.findings_json import dumps
from advisor.report.lint.fingerprint import SHOWN, digest, fingerprinted, from_base

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.core.model import Finding
    from advisor.report import Checked, Page

# GitLab also knows "blocker": whether a finding blocks is for --fail-on to say.
LEVELS = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}


def report(files: Sequence[Checked], page: Page) -> str:
    """A list with one entry for a finding, and one for a file that could not be read."""
    marked = fingerprinted(files, page.base)
    found = [_finding(c, f, mark, page.base) for c, f, mark, state in marked if state == SHOWN]
    return dumps([*found, *(_unread(path, why, page.base) for path, why in dict(page.broken).items())])


def _finding(c: Checked, f: Finding, fingerprint: str, base: str) -> dict[str, Any]:
    place = f.location or Location(c.path, 1)
    # GitLab shows neither the name of the check nor its help, and wants a line where a finding has none.
    words = " ".join(
        [escape_text(f"{f.code} {f.name}: {f.message}"), *([f"Help: {escape_text(f.help)}"] if f.help else [])]
    )
    where = _location(from_base(place.path, base), max(1, place.line), max(1, place.line, place.end_line))
    return _entry(words, f.name, fingerprint, LEVELS[f.severity], where)


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
