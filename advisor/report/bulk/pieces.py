"""The part of one snapshot in each format that is written snapshot by snapshot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from advisor.report.audit.prometheus import METRICS, lines, name_of, samples

if TYPE_CHECKING:
    from advisor.analysis.audited import Audited
    from advisor.report import Page
    from advisor.report.render.csv import Cell


def jsonl(path: str, audited: Audited, page: Page) -> str:  # noqa: ARG001 - every maker is called alike
    """One object a finding: that of an audit, with the snapshot's path."""
    from advisor.report.findings_json import audited as finding

    about = {"server": name_of(audited), "target": str(audited.known.target), "snapshot": path, "broken": None}
    return "".join(json.dumps({**about, **finding(f)}) + "\n" for f in audited.findings)


def concise(path: str, audited: Audited, page: Page) -> str:  # noqa: ARG001 - every maker is called alike
    """One line a finding, the server before it."""
    from advisor.redaction.secrets import escape_text
    from advisor.report.audit.text import concise as audit_lines

    server = escape_text(name_of(audited))
    return "".join(f"{server}: {line}\n" for line in audit_lines(audited, page).splitlines())


def sarif(path: str, audited: Audited, page: Page) -> str:
    """A run of its own, which its id tells from others."""
    from advisor.report.formats import render_audit

    (run,) = json.loads(render_audit("sarif", audited, page))["runs"]
    run["automationDetails"] = {"id": f"{name_of(audited)}/", "description": {"text": path}}
    return json.dumps(run)


def junit(path: str, audited: Audited, page: Page) -> str:  # noqa: ARG001 - every maker is called alike
    """A suite of its own, named for the server."""
    from advisor.report import Checked
    from advisor.report.audit.as_lint import with_advice
    from advisor.report.lint.junit import report

    findings = tuple(map(with_advice, audited.findings))
    return inside_suites(report([Checked(name_of(audited), audited.known.target, findings, {})], page))


def inside_suites(document: str) -> str:
    """What a document of JUnit holds, without its first and last lines."""
    return document.partition("<testsuites>\n")[2].rpartition("</testsuites>")[0]


def prometheus(path: str, audited: Audited, page: Page) -> dict[str, str]:  # noqa: ARG001 - every maker is called alike
    """The lines of each family."""
    found = samples(audited, name_of(audited))
    return {metric.name: lines(metric, found[metric.name]) for metric in METRICS if found[metric.name]}


def rows(path: str, audited: Audited, page: Page) -> list[tuple[Cell, ...]]:  # noqa: ARG001 - every maker is called alike
    """One row a finding, in the order of the columns of a table of findings."""
    from advisor.report.render.csv import of_finding

    about = (name_of(audited), path, str(audited.known.target), audited.facts.taken_at or None)
    return [(*about, *of_finding(f), None) for f in audited.findings]


def csv(path: str, audited: Audited, page: Page) -> str:
    """The same rows as lines."""
    from advisor.report.render.csv import line

    return "".join(map(line, rows(path, audited, page)))
