"""The part of one snapshot in each format that goes out snapshot by snapshot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from advisor.report.prometheus import METRICS, lines, name_of, samples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.model import Finding
    from advisor.report import Page
    from advisor.report.audited import Audited


def jsonl(path: str, audited: Audited, page: Page) -> str:  # noqa: ARG001 - every maker is called alike
    """One object a finding: that of an audit, with the snapshot's path."""
    from advisor.report.jsonform import audited as finding

    about = {"server": name_of(audited), "target": str(audited.known.target), "snapshot": path, "broken": None}
    return "".join(json.dumps({**about, **finding(f)}) + "\n" for f in audited.findings)


def concise(path: str, audited: Audited, page: Page) -> str:  # noqa: ARG001 - every maker is called alike
    """One line a finding, the server before it."""
    from advisor.redact import clean
    from advisor.report.audittext import concise as told

    server = clean(name_of(audited))
    return "".join(f"{server}: {line}\n" for line in told(audited).splitlines())


def sarif(path: str, audited: Audited, page: Page) -> str:
    """A run of its own, which its id tells from others."""
    from advisor.report.auditforms import report

    (run,) = json.loads(report(audited, "sarif", page))["runs"]
    run["automationDetails"] = {"id": f"{name_of(audited)}/", "description": {"text": path}}
    return json.dumps(run)


def junit(path: str, audited: Audited, page: Page) -> str:  # noqa: ARG001 - every maker is called alike
    """A suite of its own, named for the server."""
    from advisor.report import Checked
    from advisor.report.auditforms import with_advice
    from advisor.report.formats import render

    findings = tuple(map(with_advice, audited.findings))
    whole = render("junit", [Checked(name_of(audited), audited.known.target, findings, {})], page)
    return whole.partition("<testsuites>\n")[2].rpartition("</testsuites>")[0]


def prometheus(path: str, audited: Audited, page: Page) -> dict[str, str]:  # noqa: ARG001 - every maker is called alike
    """The lines of each family."""
    found = samples(audited, name_of(audited))
    return {metric.name: lines(metric, found[metric.name]) for metric in METRICS if found[metric.name]}


def parquet(path: str, audited: Audited, page: Page) -> list[tuple[Any, ...]]:  # noqa: ARG001 - every maker is called alike
    """One row a finding, in the order of the columns of manyparquet."""
    about = (name_of(audited), path, str(audited.known.target), audited.facts.taken_at or None)
    return [(*about, *_columns(f), None) for f in audited.findings]


def _columns(f: Finding) -> Iterator[Any]:
    at = f.location
    yield from (f.code, f.name, f.severity.value, f.confidence.value, f.option, f.canonical, f.value, f.group)
    yield from (at.path if at else None, at.line if at else None, f.message, f.help, list(f.evidence))
    yield next((a.statement for a in f.actions if a.statement), None)
    yield next((a.option_line for a in f.actions if a.option_line), None)
    yield any(a.restart for a in f.actions)


MAKERS: dict[str, Callable[[str, Audited, Page], Any]] = {
    "jsonl": jsonl,
    "concise": concise,
    "sarif": sarif,
    "junit": junit,
    "prometheus": prometheus,
    "parquet": parquet,
}
