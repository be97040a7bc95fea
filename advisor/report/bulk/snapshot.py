"""What is told of one snapshot among many: little enough to be handed from process to process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.redaction.secrets import redact_value
from advisor.report.audit.prometheus import METRICS, lines, name_of, samples

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from advisor.analysis.audited import Audited
    from advisor.core.model import Finding
    from advisor.report import Page

    PieceMaker = Callable[[str, Audited, Page], Any]

VALUE = 80  # characters of a value in a report of many


class Brief(NamedTuple):
    """One finding in brief; `about` is the option with its value."""

    code: str
    name: str
    severity: str
    about: str


class SnapshotSummary(NamedTuple):
    """One snapshot: what was found, or in `broken` why it could not be read.

    `own` says that what can't be read is a report that mycnf wrote itself; `pieces` are the parts of those formats that
    have one a snapshot, by name.
    """

    path: str
    broken: str = ""
    server: str = ""
    target: str = ""
    found: tuple[Brief, ...] = ()
    fails: bool = False
    own: bool = False
    pieces: dict[str, Any] = {}  # noqa: RUF012 - never changed


def tell(path: str, audited: Audited, makers: Mapping[str, PieceMaker | None], page: Page) -> SnapshotSummary:
    """What these formats need of one snapshot."""
    from advisor.analysis.engine import fails

    found = tuple(_brief(f) for f in audited.findings)
    pieces = {form: make(path, audited, page) for form, make in makers.items() if make}
    failed = fails(audited.findings, page.fail_on)
    return SnapshotSummary(path, "", name_of(audited), str(audited.known.target), found, failed, pieces=pieces)


def _brief(f: Finding) -> Brief:
    return Brief(f.code, f.name, f.severity.value, _about(f))


def _about(f: Finding) -> str:
    name = f.canonical or f.option or ""
    if not name or f.value is None:
        return name
    value = redact_value(f.option or name, f.value) or "(empty)"
    return f"{name} = {value if len(value) <= VALUE else f'{value[: VALUE - 1]}…'}"


def jsonl(path: str, audited: Audited, page: Page) -> str:  # noqa: ARG001 - every maker is called alike
    """One object a finding: that of an audit, with the snapshot's path."""
    from advisor.report.findings_json import audited as finding

    about = {"server": name_of(audited), "target": str(audited.known.target), "snapshot": path, "broken": None}
    return "".join(json.dumps({**about, **finding(f)}) + "\n" for f in audited.findings)


def concise(path: str, audited: Audited, page: Page) -> str:  # noqa: ARG001 - every maker is called alike
    """One line a finding, the server before it."""
    from advisor.redaction.secrets import escape_text
    from advisor.report.audit.as_lint import concise as audit_lines

    server = escape_text(name_of(audited))
    return "".join(f"{server}: {line}\n" for line in audit_lines(audited, page).splitlines())


def sarif(path: str, audited: Audited, page: Page) -> str:
    """A run of its own, which its id tells from others."""
    from advisor.report.audit.as_lint import written_as_lint
    from advisor.report.lint.sarif import report

    (run,) = json.loads(written_as_lint(report)(audited, page))["runs"]
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
