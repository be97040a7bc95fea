"""Findings as GitLab's code quality report, which merge requests show beside the changed lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.model import Severity
from advisor.redact import clean
from advisor.report.fingerprint import fingerprinted
from advisor.report.jsonform import dumps
from advisor.report.where import from_base

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.model import Finding
    from advisor.report import Checked, Page

# GitLab also knows "blocker": whether a finding blocks is for --fail-on to say.
LEVELS = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}


def report(files: Sequence[Checked], page: Page) -> str:
    """A list with one entry a finding."""
    return dumps([_entry(c, f, mark, page.base) for c, f, mark in fingerprinted(files, page.base)])


def _entry(c: Checked, f: Finding, fingerprint: str, base: str) -> dict[str, Any]:
    place = f.location
    # GitLab shows neither the name of the check nor its help, and wants a line where a finding has none.
    words = " ".join([f"{f.code} {f.name}:", clean(f.message), *([f"Help: {clean(f.help)}"] if f.help else [])])
    first = max(1, place.line) if place else 1
    return {
        "description": words,
        "check_name": f.name,
        "fingerprint": fingerprint,
        "severity": LEVELS[f.severity],
        "location": {
            "path": clean(from_base(place.path if place else c.path, base)),
            "lines": {"begin": first, "end": max(first, place.end_line) if place else first},
        },
    }
