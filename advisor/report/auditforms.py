"""An audit in every format that it has: its own, and those of lint as the findings of one server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from advisor.report import Checked, Page
from advisor.report.jsonform import audited as finding
from rules.onserver import kept_by, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Action, Finding
    from advisor.report.audited import Audited

FORMATS = ("text", "concise", "json", "jsonl", "sarif", "junit", "markdown", "html", "prometheus")


def report(audited: Audited, name: str, page: Page) -> str:
    """The report in the format of that name, one of FORMATS; only its module is imported. ValueError for another."""
    match name:
        case "text":
            from advisor.report.audittext import report as text

            return text(audited, page.colour)
        case "concise":
            from advisor.report.audittext import concise as write
        case "json":
            from advisor.report.auditjson import report as write
        case "markdown":
            from advisor.report.ticket import report as write
        case "html":
            from advisor.report.html.page import report as write
        case "prometheus":
            from advisor.report.prometheus import report as write
        case "jsonl":
            return _lines(audited)
        case _:
            return _as_lint(audited, name, page)
    return write(audited)


def _as_lint(audited: Audited, name: str, page: Page) -> str:
    """The findings in a format of lint, as those of one file."""
    from advisor.report.formats import render

    findings = tuple(with_advice(f) for f in audited.findings)
    baselined = tuple(f for f, _ in audited.aside)
    return render(name, [Checked("", audited.known.target, findings, {}, baselined=baselined)], page)


def _lines(audited: Audited) -> str:
    about = {"server": audited.facts.server.variables.get("hostname"), "target": str(audited.known.target)}
    found = ({**about, **finding(f)} for f in audited.findings)
    return "".join(json.dumps(entry, ensure_ascii=True) + "\n" for entry in found)


def with_advice(f: Finding) -> Finding:
    """The finding with its actions in its help and its local evidence in its message, all that these can say."""
    if f.local:
        f = f._replace(message=f"{f.message} {f.local.words}")
    steps = [step for a in f.actions for step in _steps(a)]
    return f._replace(help=". ".join(steps)) if steps else f


def _steps(a: Action) -> Iterator[str]:
    if a.statement:
        yield f"Do now: {a.statement.rstrip(';')}"
    if a.option_line:
        yield f"Keep in {place_of(a) or 'the option file'}: {a.option_line}"
    if a.argument:
        yield f"Keep in {place_of(a)}: {a.argument} in place of {a.replaces or 'the option'}"
    risk = ", ".join(part for part in (a.risk, "it needs a restart" if a.restart else "") if part)
    if risk and (a.statement or kept_by(a)):
        yield f"Risk: {risk}"
