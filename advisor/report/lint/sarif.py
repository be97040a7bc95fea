"""Findings as SARIF 2.1.0 (OASIS), and the fingerprints by which the next run recognises a finding."""

from __future__ import annotations

import os.path
from hashlib import sha256

from advisor import __version__
from advisor.analysis import sort_by_place
from advisor.core.model import Confidence, Severity
from advisor.redaction import escape_text, redact_text
from advisor.report.findings_json import dumps
from advisor.report.lint import hedged_message
from advisor.report.render.markdown import prose
from rules import find_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from advisor.core.model import Edit, Finding, Fix, Location
    from advisor.report import CheckedFile, Page
    from rules.core import Rule


LENGTH = 32
SHOWN = ""
SUPPRESSED = "suppressed"
BASELINED = "baselined"


def from_base(path: str, base: str) -> str:
    """The path below `base` without `./` and the like; one that lies elsewhere, or has no base, stays absolute."""
    plain = os.path.normpath(path)
    if not os.path.isabs(plain) or not base:
        return plain
    inside = plain.startswith(base.rstrip("/") + "/")
    return os.path.relpath(plain, base) if inside else plain


def fingerprint_findings(files: Sequence[CheckedFile], base: str) -> Iterator[tuple[CheckedFile, Finding, str, str]]:
    """Every finding, left out or not, with its fingerprint and with SHOWN, SUPPRESSED or BASELINED.

    A fingerprint is 32 hexadecimal digits that no other finding of the run has. It is made of rule, file, group, option
    as written and, among findings that share these, the place in their order. The target is no part of it: each release
    of a series would change it. Findings that are left out count, so that suppressing one changes no other.
    """
    seen: dict[str, int] = {}
    for checked in files:
        for finding, state in _in_order(checked):
            path = from_base(finding.location.path if finding.location else checked.path, base)
            key = "\0".join((finding.code, path, finding.group or "", finding.option or ""))
            seen[key] = seen.get(key, 0) + 1
            yield checked, finding, digest(f"{key}\0{seen[key]}"), state


def _in_order(c: CheckedFile) -> Iterator[tuple[Finding, str]]:
    if not c.suppressed and not c.baselined:
        yield from ((finding, SHOWN) for finding in c.findings)
        return
    states = {id(f): SUPPRESSED for f in c.suppressed} | {id(f): BASELINED for f in c.baselined}
    for finding in sort_by_place([*c.findings, *c.suppressed, *c.baselined]):
        yield finding, states.get(id(finding), SHOWN)


def digest(key: str) -> str:
    """32 hexadecimal digits for a key."""
    return sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:LENGTH]


# The words that code scanning sorts alerts by.
PRECISION = {
    Confidence.CERTAIN: "very-high",
    Confidence.MEASURED: "high",
    Confidence.LIKELY: "medium",
    Confidence.OPINION: "low",
}
PROBLEM = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "recommendation"}


def message(text: str) -> dict[str, str]:
    """A message in plain text; what would be a placeholder or a link in it is written so that it is none."""
    lines = (escape_text(line) for line in text.split("\n"))
    return {"text": _literal("\n".join(lines)).replace("](", "] (")}


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def descriptor(code: str, name: str) -> dict[str, Any]:
    """The rule as its own documentation has it; a rule of a team's own configuration has a code and a name alone."""
    rule = find_rule(code)
    if rule is None:
        return {"id": escape_text(code), "name": escape_text(name)}
    parts = _parts(rule)
    markdown = _literal("\n\n".join(f"**{title}**: {prose(text)}" for title, text in parts))
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": message(rule.summary),
        "fullDescription": message(rule.docs.why),
        "help": {**message("\n\n".join(f"{title}: {text}" for title, text in parts)), "markdown": markdown},
        "defaultConfiguration": {"level": rule.severity.value},
        "properties": {
            "confidence": rule.confidence.value,
            "precision": PRECISION[rule.confidence],
            "problem.severity": PROBLEM[rule.severity],
            "tags": [rule.family],
            "evidence": list(rule.evidence),
        },
    }


def _parts(rule: Rule) -> list[tuple[str, str]]:
    docs = rule.docs
    parts = [
        ("What happens", docs.why),
        ("How to fix", docs.fix + (" It needs a restart." if docs.restart else "")),
        ("Risk", docs.risk),
        ("Exceptions", docs.exceptions),
        ("More", f"mycnf explain {rule.code}"),
    ]
    return [(title, text) for title, text in parts if text]


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"  # the name that code scanning gives to the top of the repository
KINDS = {SUPPRESSED: "inSource", BASELINED: "external"}
# RFC 3986's unreserved characters, and those of the others that mean nothing within a path.
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/!$&'()*+,;=@")


def report(files: Sequence[CheckedFile], page: Page) -> str:
    """The log with its one run; findings that were suppressed or that a baseline knows are marked as such."""
    marks = list(fingerprint_findings(files, page.base))
    names = {f.code: f.name for _, f, _, _ in marks}
    index = {code: i for i, code in enumerate(sorted(names))}
    marked = any(state != SHOWN for _, _, _, state in marks)  # suppressions are said of all results or of none
    reasons = {id(f): why for c in files for f, why in zip(c.suppressed, c.reasons, strict=False)}
    rules = [descriptor(code, names[code]) for code in index]
    run = {
        "tool": {"driver": {"name": "mycnf", "version": __version__, "semanticVersion": __version__, "rules": rules}},
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


def _invocation(page: Page) -> dict[str, Any]:
    """Whether every file could be read; the results can't be taken for complete where one could not."""
    notes = [_notification(path, why, page.base) for path, why in page.broken]
    return {"executionSuccessful": not notes, **({"toolExecutionNotifications": notes} if notes else {})}


def _notification(path: str, why: str, base: str) -> dict[str, Any]:
    location = {"physicalLocation": {"artifactLocation": _artifact(path, base)}}
    return {"level": "error", "message": message(why), "locations": [location]}


def _result(c: CheckedFile, f: Finding, mark: str, rule: int, base: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": f.code,
        "ruleIndex": rule,
        "level": f.severity.value,
        "message": message("\nHelp: ".join(filter(None, (hedged_message(f), f.help)))),
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


def _properties(c: CheckedFile, f: Finding) -> dict[str, Any]:
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
