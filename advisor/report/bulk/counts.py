"""Many snapshots counted by rule, server and version, and the summary of each: small, because processes exchange it."""

from __future__ import annotations

import heapq
import json
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.core.model import Severity
from advisor.report.audit.fitting import mask_finding
from advisor.report.audit.prometheus import METRICS, lines, name_of, samples
from advisor.report.fleet import short_value
from advisor.report.fleet_survey import advice_of, count_advice, most_common
from rules.core.areas import Area, area_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from advisor.analysis.audited import AuditResult
    from advisor.core.model import Finding
    from advisor.report import Page
    from advisor.report.fleet_survey import Advice, CommonFix, Fixes

    PieceMaker = Callable[[str, AuditResult, Page], Any]


WORST = 100  # servers that are named
EXAMPLES = 10  # servers that are named for a rule
BROKEN = 100  # snapshots that are named
VERSIONS = 300  # versions that are counted one by one; the rest are counted together
OTHERS = "others"
RANK = {severity.value: rank for rank, severity in enumerate(Severity)}
VALUE = 80  # characters of a value in a report of many


class Rule:
    """What was found by one rule: on how many servers, how often, how badly, and where, for example."""

    __slots__ = ("code", "examples", "findings", "name", "servers", "severity")

    def __init__(self, code: str, name: str, severity: str) -> None:
        self.code, self.name, self.severity = code, name, severity
        self.servers = self.findings = 0
        self.examples: list[tuple[str, str]] = []


class Server(NamedTuple):
    """One of the servers that need most; the first three count its findings, so that worse ones are greater.

    `areas` counts them by area and severity.
    """

    errors: int
    warnings: int
    notes: int
    order: int
    server: str
    target: str
    path: str
    areas: Mapping[Area, Mapping[Severity, int]] = MappingProxyType({})


def _by_area(summary: SnapshotSummary) -> dict[Area, Counter[Severity]]:
    areas: dict[Area, Counter[Severity]] = {}
    for f in summary.findings:
        areas.setdefault(area_of(f.code), Counter())[Severity(f.severity)] += 1
    return areas


class Tally:
    """The counts; `read` and `broken` are numbers of snapshots, `reasons` why the first of the broken can't be read.

    `lost` counts the incomplete ones among those read, `suppressed` the findings that the baseline leaves out.
    """

    def __init__(self) -> None:
        self.read = self.broken = self.lost = self.clean = self.suppressed = 0
        self.fails = False
        self.severities: Counter[str] = Counter()
        self.versions: Counter[str] = Counter()
        self.reasons: list[tuple[str, str]] = []
        self._rules: dict[str, Rule] = {}
        self._fixes: Fixes = {}
        self._worst: list[Server] = []

    def take(self, summary: SnapshotSummary) -> None:
        """Count one snapshot."""
        if summary.broken:
            self.broken += 1
            if len(self.reasons) < BROKEN:
                self.reasons.append((summary.path, summary.broken))
            return
        self.read += 1
        self.lost += bool(summary.lost)
        self.suppressed += summary.suppressed
        self.fails |= summary.fails
        self.clean += not summary.findings and not summary.lost
        self.versions[
            summary.target if summary.target in self.versions or len(self.versions) < VERSIONS else OTHERS
        ] += 1
        self._of_server(summary)
        self._of_rules(summary)
        count_advice(self._fixes, summary.server, (f.advice for f in summary.findings), EXAMPLES)

    @property
    def rules(self) -> list[Rule]:
        """Worst first, then what most servers have."""
        return sorted(self._rules.values(), key=lambda r: (RANK[r.severity], -r.servers, r.code))

    @property
    def fixes(self) -> list[CommonFix]:
        """What errors and warnings advise: on most servers first, then the worst."""
        return most_common(self._fixes)

    @property
    def worst(self) -> list[Server]:
        """The servers that need most, worst first."""
        return sorted(self._worst, reverse=True)

    def _of_server(self, summary: SnapshotSummary) -> None:
        counts = Counter(f.severity for f in summary.findings)
        self.severities.update(counts)
        if counts:
            errors, warnings, notes = (counts[severity.value] for severity in Severity)
            about = summary.server, summary.target, summary.path
            entry = Server(errors, warnings, notes, -self.read, *about, _by_area(summary))
            (heapq.heappush if len(self._worst) < WORST else heapq.heappushpop)(self._worst, entry)

    def _of_rules(self, summary: SnapshotSummary) -> None:
        seen: set[str] = set()
        for f in summary.findings:
            rule = self._rules.setdefault(f.code, Rule(f.code, f.name, f.severity))
            rule.severity = min(rule.severity, f.severity, key=RANK.__getitem__)
            rule.findings += 1
            if f.code not in seen:
                seen.add(f.code)
                rule.servers += 1
                if len(rule.examples) < EXAMPLES:
                    rule.examples.append((summary.server, f.about))


class Brief(NamedTuple):
    """One finding in brief; `about` is the option with its value."""

    code: str
    name: str
    severity: str
    about: str
    advice: Advice | None = None


class SnapshotSummary(NamedTuple):
    """One snapshot: what was found, or in `broken` why it could not be read.

    `own` says that what can't be read is a report that mycnf wrote itself; `pieces` are the parts of those formats that
    have one a snapshot, by name. `lost` says why the facts are incomplete.
    """

    path: str
    broken: str = ""
    server: str = ""
    target: str = ""
    findings: tuple[Brief, ...] = ()
    fails: bool = False
    own: bool = False
    pieces: dict[str, Any] = {}  # noqa: RUF012 - never changed
    suppressed: int = 0
    lost: str = ""


def summarize(path: str, audited: AuditResult, makers: Mapping[str, PieceMaker | None], page: Page) -> SnapshotSummary:
    """What these formats need of one snapshot."""
    from advisor.analysis import fails

    briefs = tuple(
        Brief(f.code, f.name, f.severity.value, _about(f), advice_of(mask_finding(f))) for f in audited.findings
    )
    pieces = {form: make(path, audited, page) for form, make in makers.items() if make}
    failed = fails(audited.findings, page.fail_on)
    about = name_of(audited), str(audited.context.target)
    lost = audited.facts.lost
    return SnapshotSummary(
        path, "", *about, briefs, failed, pieces=pieces, suppressed=len(audited.suppressed), lost=lost
    )


def _about(f: Finding) -> str:
    name = f.canonical or f.option or ""
    return f"{name} = {short_value(f.option or name, f.value, VALUE)}" if name and f.value is not None else name


def jsonl(path: str, audited: AuditResult, page: Page) -> str:  # noqa: ARG001 - every maker is called alike
    """One object a finding: that of an audit, with the snapshot's path."""
    from advisor.report.findings_json import audited_finding as finding

    about = {"server": name_of(audited), "target": str(audited.context.target), "snapshot": path, "broken": None}
    return "".join(json.dumps({**about, **finding(f)}) + "\n" for f in audited.findings)


def concise(path: str, audited: AuditResult, page: Page) -> str:  # noqa: ARG001 - every maker is called alike
    """One line a finding, the server before it."""
    from advisor.redaction import escape_text
    from advisor.report.audit.as_lint import concise as audit_lines

    server = escape_text(name_of(audited))
    return "".join(f"{server}: {line}\n" for line in audit_lines(audited, page).splitlines())


def sarif(path: str, audited: AuditResult, page: Page) -> str:
    """A run of its own, which its id identifies."""
    from advisor.report.audit.as_lint import written_as_lint
    from advisor.report.lint.sarif import report

    (run,) = json.loads(written_as_lint(report)(audited, page))["runs"]
    run["automationDetails"] = {"id": f"{name_of(audited)}/", "description": {"text": path}}
    return json.dumps(run)


def junit(path: str, audited: AuditResult, page: Page) -> str:  # noqa: ARG001 - every maker is called alike
    """A suite of its own, named for the server."""
    from advisor.report import CheckedFile
    from advisor.report.audit.as_lint import with_advice
    from advisor.report.lint.junit import report

    findings = tuple(map(with_advice, audited.findings))
    return inside_suites(report([CheckedFile(name_of(audited), audited.context.target, findings, {})], page))


def inside_suites(document: str) -> str:
    """What a document of JUnit holds, without its first and last lines."""
    return document.partition("<testsuites>\n")[2].rpartition("</testsuites>")[0]


def prometheus(path: str, audited: AuditResult, page: Page) -> dict[str, str]:  # noqa: ARG001 - every maker is called alike
    """The lines of each family."""
    found = samples(audited, name_of(audited))
    return {metric.name: lines(metric, found[metric.name]) for metric in METRICS if found[metric.name]}
