"""A fleet as Markdown for a ticket or a page: tables that GitHub, GitLab and Jira's importers draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Severity
from advisor.redact import redact_value
from advisor.report.fleetgroups import by_rule, by_series, called, counts, differs, few, state, unseen
from advisor.report.fleettext import short
from advisor.report.mdtext import code, prose
from advisor.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from advisor.fleet.alike import Equals
    from advisor.report.fleet import Survey

MOST = 200  # rows of a table: trackers take no more than some ten thousand characters


def report(survey: Survey) -> str:
    """The whole report; whatever a server or an inventory says stands in plain words or code spans."""
    parts = [
        f"# mycnf fleet: {plural(len(survey.judged) + len(survey.absent), 'host')}, {len(survey.judged)} audited",
        f"{survey.now.replace('T', ' ')[:16]} UTC. {_tally(survey)}.",
        *_table("Versions", ("version", "servers", "support", "hosts"), _versions(survey)),
        *_table("Not audited", ("host", "status", "why", "what to do"), _absent(survey)),
        *_table("By rule", ("severity", "rule", "name", "servers", "hosts"), _rules(survey)),
        *_table("By host", ("host", "server", *(s.value for s in Severity), "skipped", "remark"), _hosts(survey)),
        *_table("Outliers of their group", ("variable", "host", "value", "where", "usual"), _outliers(survey)),
        *(part for one in survey.equals for part in _equals(one)),
        *_table("Not looked at", ("why", "rules", "hosts"), _unseen(survey)),
    ]
    return "\n\n".join(parts) + "\n"


def _tally(survey: Survey) -> str:
    told = [plural(count, s.value) for s, count in counts(survey.findings).items() if count]
    return ", ".join(told) or "Nothing found"


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A heading and a table under it; nothing where it has no rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if lines:
        left = len(lines) - MOST
        more = f"\n\n… and {left:,} more; `--format json` has all." if left > 0 else ""
        head = f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}"
        yield f"## {title}"
        yield "\n".join([head, *lines[:MOST]]) + more


def _names(names: Sequence[str]) -> str:
    return code(few(names))


def _versions(survey: Survey) -> Iterator[tuple[str, ...]]:
    for one in by_series(survey.judged, survey.now):
        yield one.label, str(len(one.hosts)), state(one), _names(one.hosts)


def _absent(survey: Survey) -> Iterator[tuple[str, ...]]:
    for row in survey.absent:
        yield code(row.name), row.status.value, prose(redact_value("", row.reason)) or "not asked", prose(row.remedy)


def _rules(survey: Survey) -> Iterator[tuple[str, ...]]:
    for one in by_rule(survey.judged):
        yield one.severity.value, one.code, code(one.name), str(len(one.hosts)), _names(one.hosts)


def _hosts(survey: Survey) -> Iterator[tuple[str, ...]]:
    for one in survey.judged:
        found = counts(one.findings)
        machine = one.row.host and f"without its machine: {one.row.host}"
        remark = redact_value("", "; ".join(x for x in (one.row.reason, machine) if x))
        numbers = (str(found[severity]) for severity in Severity)
        yield code(one.row.name), one.target.label, *numbers, str(len(one.skipped)), prose(remark)


def _outliers(survey: Survey) -> Iterator[tuple[str, ...]]:
    for one in survey.outliers:
        usual = f"{code(short(one.variable, one.usual))}: {prose(differs(one))}"
        for name, value in one.others:
            where = code(value.where) if value.where else ""
            yield code(one.variable), code(name), code(short(one.variable, value.text)), where, usual


def _equals(one: Equals) -> Iterator[str]:
    yield f"## {prose(called(one)).capitalize()}"
    yield f"{_names(one.members)}: {', '.join(one.versions)}"
    if not one.differences:
        yield "No variable differs that should be alike."
        return
    lines = ["| variable | value | hosts |\n|---|---|---|"]
    for d in one.differences[:MOST]:
        lines += [f"| {code(d.variable)} | {code(short(d.variable, v))} | {_names(names)} |" for v, names in d.values]
    yield "\n".join(lines)


def _unseen(survey: Survey) -> Iterator[tuple[str, ...]]:
    for reason, hosts, count in unseen(survey.judged):
        yield prose(reason), str(count), _names(hosts)
