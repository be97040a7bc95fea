"""Findings as JSON: the report of lint, and one finding a line."""

from __future__ import annotations

try:
    from _json import encode_basestring_ascii
except ImportError:  # not CPython
    from json.encoder import encode_basestring_ascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from advisor.analysis.audited import AuditResult
    from advisor.core.model import Action, Finding, Fix
    from advisor.report import CheckedFile, Page


quote = encode_basestring_ascii
VERSION = 1


def report(files: Iterable[CheckedFile], page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """The report of lint, one entry for each file and target."""
    entries = [{"path": c.path, "target": str(c.target), "findings": [finding(f) for f in c.findings]} for c in files]
    return dumps({"version": VERSION, "files": entries})


def dumps(value: Any) -> str:
    """JSON as all reports print it: one line end at the end, and bytes that were no UTF-8 escaped."""
    return _laid_out(value, "\n") + "\n"


def _laid_out(value: Any, margin: str) -> str:
    # What json.dumps(value, indent=1) gives, in a tenth of its time: reports may hold 100,000 findings. So texts,
    # numbers and nothing, which findings are made of, go the shortest way, and what is rare has a function of its own.
    if isinstance(value, str):
        return quote(value)
    if value is None:
        return "null"
    if type(value) is int:
        return repr(value)
    if not value or not isinstance(value, (dict, list, tuple)):
        return _rare(value)
    inner = margin + " "
    if isinstance(value, dict):
        rows = [f"{inner}{quote(key)}: {_laid_out(item, inner)}" for key, item in value.items()]
        return "{" + ",".join(rows) + margin + "}"
    return "[" + ",".join([inner + _laid_out(item, inner) for item in value]) + margin + "]"


def _rare(value: Any) -> str:
    if isinstance(value, (dict, list, tuple)):
        return "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, bool):
        return "true" if value else "false"
    import json  # only numbers with a fraction need it

    return json.dumps(value)


def finding(f: Finding) -> dict[str, Any]:
    """One finding with the fields of the contract, in its order."""
    place = f.location
    return {
        "code": f.code,
        "name": f.name,
        "severity": f.severity.value,
        "confidence": f.confidence.value,
        "group": f.group,
        "option": f.option,
        "canonical": f.canonical,
        "value": f.value,
        "path": place.path if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "end_line": place.end_line if place else None,
        "end_column": place.end_column if place else None,
        "message": f.message,
        "help": f.help,
        "url": None,
        "evidence": list(f.evidence),
        "fix": _fix(f.fix) if f.fix else None,
    }


def audited_finding(f: Finding) -> dict[str, Any]:
    """One finding of an audit: as `finding`, with its actions and with what was measured on the server's host."""
    return {
        **finding(f),
        "actions": [action(a) for a in f.actions],
        "local": f.local._asdict() if f.local else None,
    }


def action(a: Action) -> dict[str, Any]:
    """One action of an audit's finding."""
    at = {"path": a.place.path, "line": a.place.line or None} if a.place else None
    return {**a._asdict(), "place": at}


def _fix(fix: Fix) -> dict[str, Any]:
    return {"applicability": fix.applicability, "edits": [e._asdict() for e in fix.edits]}


def jsonl_report(files: Sequence[CheckedFile], page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """One object a finding; nothing where nothing was found."""
    import json

    found = ({"file": c.path, "target": str(c.target), **finding(f)} for c in files for f in c.findings)
    return "".join(json.dumps(entry, ensure_ascii=True) + "\n" for entry in found)


def jsonl_audit(audited: AuditResult, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """The same of one server, with its name."""
    import json

    about = {"server": audited.facts.server.variables.get("hostname"), "target": str(audited.context.target)}
    found = ({**about, **audited_finding(f)} for f in audited.findings)
    return "".join(json.dumps(entry, ensure_ascii=True) + "\n" for entry in found)
