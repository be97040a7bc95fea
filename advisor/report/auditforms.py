"""An audit in formats that lint has too: its findings, as those of one server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from advisor.report import Checked, Page
from advisor.report.formats import render
from advisor.report.jsonform import audited as finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Action, Finding
    from advisor.report.audited import Audited


def report(audited: Audited, name: str, page: Page) -> str:
    """The report in the format of that name (jsonl, sarif, junit or markdown)."""
    if name == "jsonl":
        return _lines(audited)
    findings = tuple(_with_advice(f) for f in audited.findings)
    return render(name, [Checked("", audited.known.target, findings, {})], page)


def _lines(audited: Audited) -> str:
    about = {"server": audited.facts.server.variables.get("hostname"), "target": str(audited.known.target)}
    found = ({**about, **finding(f)} for f in audited.findings)
    return "".join(json.dumps(entry, ensure_ascii=True) + "\n" for entry in found)


def _with_advice(f: Finding) -> Finding:
    """The finding with its actions in its help and its local evidence in its message, all that these can say."""
    if f.local:
        f = f._replace(message=f"{f.message} {f.local.words}")
    steps = [step for a in f.actions for step in _steps(a)]
    return f._replace(help=". ".join(steps)) if steps else f


def _steps(a: Action) -> Iterator[str]:
    if a.statement:
        yield f"Do now: {a.statement.rstrip(';')}"
    if a.option_line:
        yield f"Keep in the option file: {a.option_line}"
    risk = ", ".join(part for part in (a.risk, "it needs a restart" if a.restart else "") if part)
    if risk and (a.statement or a.option_line):
        yield f"Risk: {risk}"
