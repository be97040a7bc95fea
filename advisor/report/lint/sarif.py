"""Findings as SARIF 2.1.0 (OASIS), which code scanning services and editors read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor import __version__
from advisor.redaction.secrets import escape_text, redact_text
from advisor.report.findings_json import dumps
from advisor.report.lint.fingerprint import BASELINED, SHOWN, SUPPRESSED, fingerprinted, from_base
from advisor.report.lint.sarif_rules import descriptor, message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.core.model import Edit, Finding, Fix, Location
    from advisor.report import Checked, Page

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"  # the name that code scanning gives to the top of the repository
KINDS = {SUPPRESSED: "inSource", BASELINED: "external"}
# RFC 3986's unreserved characters, and those of the others that mean nothing within a path.
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/!$&'()*+,;=@")


def report(files: Sequence[Checked], page: Page) -> str:
    """The log with its one run; findings that were suppressed or that a baseline knows are marked as such."""
    marks = list(fingerprinted(files, page.base))
    names = {f.code: f.name for _, f, _, _ in marks}
    index = {code: i for i, code in enumerate(sorted(names))}
    marked = any(state != SHOWN for _, _, _, state in marks)  # suppressions are said of all results or of none
    reasons = {id(f): why for c in files for f, why in zip(c.suppressed, c.reasons, strict=False)}
    run = {
        "tool": {"driver": _driver([descriptor(code, names[code]) for code in index])},
        "invocations": [_invocation(page)],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The directory that mycnf was run in."}}},
        "artifacts": [
            {"location": _artifact(path, page.base), "roles": ["analysisTarget"]}
            for path in dict.fromkeys(c.path for c in files if c.path)
        ],
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(c, f, mark, index[f.code], page.base)
            | ({"suppressions": _suppressions(state, reasons.get(id(f), ""))} if marked else {})
            for c, f, mark, state in marks
        ],
    }
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _driver(rules: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": "mycnf", "version": __version__, "semanticVersion": __version__, "rules": rules}


def _invocation(page: Page) -> dict[str, Any]:
    """Whether every file could be read; the results can't be taken for complete where one could not."""
    notes = [_notification(path, why, page.base) for path, why in page.broken]
    return {"executionSuccessful": not notes, **({"toolExecutionNotifications": notes} if notes else {})}


def _notification(path: str, why: str, base: str) -> dict[str, Any]:
    location = {"physicalLocation": {"artifactLocation": _artifact(path, base)}}
    return {"level": "error", "message": message(why), "locations": [location]}


def _result(c: Checked, f: Finding, mark: str, rule: int, base: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": f.code,
        "ruleIndex": rule,
        "level": f.severity.value,
        "message": message(f.message if not f.help else f"{f.message}\nHelp: {f.help}"),
        "locations": [{"physicalLocation": _physical(f.location, c.path, base)}] if f.location or c.path else [],
        "partialFingerprints": {"mycnf/v1": mark},
        "properties": _properties(c, f),
    }
    if f.fix and f.location and _is_text(f.fix):
        result["fixes"] = [_fix(f.fix, f, f.location.path, base)]
    return result


def _suppressions(state: str, reason: str) -> list[dict[str, str]]:
    """Where the wish to leave a finding out is kept, and its reason; none for one that is shown."""
    if state == SHOWN:
        return []
    justification = {"justification": escape_text(redact_text(reason).text)} if reason else {}
    return [{"kind": KINDS[state], **justification}]


def _properties(c: Checked, f: Finding) -> dict[str, Any]:
    about = {"group": f.group, "option": f.option, "canonical": f.canonical, "value": f.value}
    known: dict[str, Any] = {name: escape_text(text) for name, text in about.items() if text is not None}
    return {"confidence": f.confidence.value, "target": str(c.target), **known, "evidence": list(f.evidence)}


def _physical(place: Location | None, path: str, base: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(place.path if place else path, base)}
    if place and place.line > 0:
        physical["region"] = _region(place)
    return physical


def _region(place: Location | Edit) -> dict[str, int]:
    start = {"startLine": place.line, "startColumn": place.column}
    if (place.end_line, place.end_column) < (place.line, place.column):
        return start
    return {**start, "endLine": place.end_line, "endColumn": place.end_column}


def _fix(fix: Fix, f: Finding, path: str, base: str) -> dict[str, Any]:
    replacements = [{"deletedRegion": _region(e), "insertedContent": {"text": e.text}} for e in fix.edits]
    return {
        "description": message(f.help or f.message),
        "artifactChanges": [{"artifactLocation": _artifact(path, base), "replacements": replacements}],
        "properties": {"applicability": fix.applicability},
    }


def _is_text(fix: Fix) -> bool:
    """Whether JSON can carry the edits: bytes that are no UTF-8 would become others."""
    return not any("\ud800" <= character <= "\udfff" for e in fix.edits for character in e.text)


def _artifact(path: str, base: str) -> dict[str, str]:
    """A URI below the base, or an absolute one where the file lies elsewhere; bytes that are no UTF-8 stay."""
    plain = from_base(path, base)
    uri = "".join(chr(b) if b in _PLAIN else f"%{b:02X}" for b in plain.encode("utf-8", "surrogateescape"))
    return {"uri": f"file://{uri}"} if plain.startswith("/") else {"uri": uri, "uriBaseId": ROOT}
