"""A fleet as a document and as JSON: what to fix first, the servers by area, rule and host, and their differences.

schemas/fleet.schema.json describes the fields of the JSON.
"""

from __future__ import annotations

import re

from advisor.core.model import Severity
from advisor.redaction import redact_value
from advisor.report import plural, severity_counts
from advisor.report.document import Code, Document, Items, Paragraph, Section, Table, Value, shorten_text
from advisor.report.findings_json import VERSION, dumps
from advisor.report.findings_json import audited_finding as finding
from advisor.report.fleet_survey import (
    by_area,
    by_host,
    by_rule,
    by_series,
    common_fixes,
    counts,
    differs,
    few,
    group_name,
    state,
    unseen_parts,
)
from rules.core.areas import Area

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from advisor.fleet.outliers import AbsentVariables, Outlier, PeerGroup
    from advisor.fleet.run_directory import HostRow
    from advisor.report.document import Block, Words
    from advisor.report.fleet_survey import CommonFix, JudgedServer, Survey

    Cells = Iterable[tuple[str, Mapping[Area, Mapping[Severity, int]]]]


LONGEST = 60  # characters of a value
NAMED = 3  # hosts that a row names before it counts them
FIXES, WORDS = 10, 120  # fixes that are named first, and characters of advice
MANY = 10  # different values from which on they are not counted
FEW = 3  # hosts that differ in a variable, up to which the report names the variable below each host

SHORT_NAMES = {
    Area.DATA: "data",
    Area.AVAILABILITY: "avail",
    Area.REPLICATION: "repl",
    Area.PERFORMANCE: "speed",
    Area.CONFIGURATION: "config",
    Area.MONITORING: "monitor",
}

LEGEND = (
    "E errors, W warnings, N notes where there is nothing worse. data: data safety, avail: availability, "
    "repl: replication, speed: performance."
)


def document(survey: Survey) -> Document:
    """The whole report."""
    worst = sorted(survey.judged, key=_worst)
    blocks: list[Block] = [Paragraph(_tally(survey) if survey.judged else "", indent=2)]
    blocks += [
        Section("fix first", (fixes(common_fixes(survey.judged), len(survey.judged)),), name="fix"),
        Section(
            "servers by area",
            (matrix((one.row.name, by_area(one)) for one in worst), Paragraph(LEGEND if survey.findings else "")),
            name="areas",
        ),
        Section("versions", (_versions(survey),)),
        Section("not audited", (Items(tuple(_absent(survey)), grows=True),)),
        Section("by rule", (_rules(survey),), name="rules"),
        Section("by host", (_hosts(worst),), name="hosts"),
        Section("outliers of their group", tuple(_outliers(survey.outliers)), name="outliers"),
        *map(_equals, survey.equals),
        Section("skipped", (Items(tuple(_unseen_lines(survey.judged)), grows=True),)),
    ]
    if survey.judged:
        blocks.append(
            Paragraph(
                "mycnf explain CODE explains why and what to do, mycnf audit --snapshot FILE what one server needs; "
                f"the snapshots are in {survey.folder}/snapshots."
            )
        )
    return Document(_title(survey), tuple(blocks))


def _title(survey: Survey) -> tuple[str, ...]:
    count = plural(len(survey.judged) + len(survey.absent), "host")
    missing = f"{len(survey.absent):,} not" if survey.absent else ""
    when = f"{survey.now.replace('T', ' ')[:16]} UTC"
    return "mycnf fleet", count, f"{len(survey.judged):,} audited", missing, when


def _tally(survey: Survey) -> str:
    parts = severity_counts(survey.findings) or ["no findings"]
    return f"{', '.join(parts)} on {plural(len(survey.judged), 'server')}"


def _versions(survey: Survey) -> Table:
    series = by_series(survey.judged, survey.now)
    rows = tuple((one.label, f"{len(one.hosts):,}", state(one), few(one.hosts)) for one in series)
    return Table(("version", "servers", "support", "hosts"), rows, (1,), grows=True)


def _absent(survey: Survey) -> Iterator[Words]:
    for row in survey.absent:
        why = f"{row.status.value}: {row.reason}" if row.reason else row.status.value
        yield Code(row.name), f"  {why}; {row.remedy}"


def fixes(ranked_fixes: Sequence[CommonFix], servers: int) -> Table:
    """The advice that most of these servers need; `ranked_fixes` has the most common first."""
    rows: list[tuple[Words | Value, ...]] = []
    for fix in ranked_fixes[:FIXES]:
        words = shorten_text(fix.words, WORDS)
        # "remove the line" does not say which.
        unclear = bool(words and fix.option) and fix.option not in re.findall(r"\w+", words)
        advice: Words = (Code(shorten_text(fix.option, WORDS)), f": {words}") if unclear else words
        if len(fix.settings) == 1:
            advice = Code(short_value(fix.option, fix.settings[0]))
        if len(fix.settings) > 1:
            count = f"{len(fix.settings)}" if len(fix.settings) < MANY else "many"
            advice = (Code(fix.option), f": {count} different values, see each server")
        note = "needs a restart" if fix.restart else ""
        share = f"{fix.servers:,} of {servers:,}"
        named = few(fix.hosts, NAMED, fix.servers)
        rows.append((share, Value(fix.code, severity=fix.severity), named, Value(advice, note)))
    return Table(("servers", "rule", "hosts", "fix"), tuple(rows))


def matrix(servers: Cells) -> Table:
    """Servers with the findings that each area has: errors and warnings, or notes where there is nothing worse."""
    rows = list(servers)
    areas = [area for area in Area if any(area in found for _, found in rows)]
    cells: tuple[tuple[Words | Value, ...], ...] = tuple(
        (Code(name), *(_cell(found.get(area, {})) for area in areas)) for name, found in rows
    )
    heads = ("server", *(SHORT_NAMES.get(area, area.value) for area in areas))
    return Table(
        heads, cells if areas else (), tuple(range(1, len(areas) + 1)), grows=True, name="Findings by server and area"
    )


def _cell(by_severity: Mapping[Severity, int]) -> Value:
    worse = [severity for severity in (Severity.ERROR, Severity.WARNING) if by_severity.get(severity)]
    shown = worse or [severity for severity in (Severity.NOTE,) if by_severity.get(severity)]
    words = " ".join(f"{by_severity[severity]}{severity.value[0].upper()}" for severity in shown)
    return Value(words or "·", severity=shown[0] if shown else None)


def _rules(survey: Survey) -> Table:
    of = f" of {len(survey.judged):,}"
    rows = tuple(
        (one.severity.value, one.code, one.name, f"{len(one.hosts):,}{of}", few(one.hosts, NAMED))
        for one in by_rule(survey.judged)
    )
    return Table(("severity", "rule", "name", "servers", "hosts"), rows, (3,), grows=True)


def _hosts(judged: Iterable[JudgedServer]) -> Table:
    heads = ("host", "server", *(severity.value for severity in Severity), "skipped", "remark")
    return Table(heads, tuple(map(_host, judged)), (2, 3, 4, 5), grows=True)


def _worst(server: JudgedServer) -> tuple[int, ...]:
    """What sorts the servers that need most to the top."""
    by_severity = counts(server.findings)
    return tuple(-by_severity[severity] for severity in Severity)


def _host(server: JudgedServer) -> tuple[Words, ...]:
    by_severity = counts(server.findings)
    lost = f"{server.row.status.value}: {server.row.reason}" if server.row.reason else ""
    machine = f"without its machine: {server.row.host}" if server.row.host else ""
    remark = "; ".join(part for part in (lost, machine) if part)
    numbers = (f"{by_severity[severity]:,}" for severity in Severity)
    return Code(server.row.name), server.target.label, *numbers, f"{len(server.skipped):,}", remark


def _outliers(outliers: Sequence[Outlier]) -> Iterator[Block]:
    """By host where few differ in a variable, by variable where many do."""
    chosen = [outlier for outlier in outliers if outlier.is_set] or outliers
    for host in by_host(outlier for outlier in chosen if len(outlier.others) <= FEW):
        lines: list[Words] = []
        for outlier, value in host.variables:
            where = f" ({value.origin})" if value.origin else ""
            mine = Code(short_value(outlier.variable, value.text))
            usual = Code(short_value(outlier.variable, outlier.usual))
            lines.append((Code(outlier.variable), " ", mine, where, ", ", usual, f" on {differs(outlier)}"))
        remark = f"differs from its siblings in {plural(len(host.variables), 'variable')}"
        yield Section(Code(host.name), (Items(tuple(lines), grows=True),), remark=remark)
    for outlier in chosen:
        if len(outlier.others) > FEW:
            lines = [
                (Code(name), "  ", Code(short_value(outlier.variable, value.text))) for name, value in outlier.others
            ]
            lines.append((Code(short_value(outlier.variable, outlier.usual)), f" on {differs(outlier)}"))
            yield Section(Code(outlier.variable), (Items(tuple(lines), grows=True),))
    yield from _followed_items(outlier.variable for outlier in outliers if outlier not in chosen)


def _followed_items(variables: Iterable[str], why: str = "sized by the servers themselves") -> Iterator[Items]:
    """Values not set explicitly: the server sized them by others that are listed above, or by its machine."""
    names = list(dict.fromkeys(variables))
    if names:
        yield Items((f"{why}: {', '.join(names)}",))


def _equals(group: PeerGroup) -> Section:
    versions = f" · {', '.join(group.versions)}" if len(group.versions) > 1 else ""
    chosen = [d for d in group.differences if d.is_set] or group.differences
    lines = tuple(_difference(d.variable, d.values) for d in chosen)
    alike = Paragraph("" if group.differences or group.absent else "no unexpected differences")
    absent = Items(tuple(map(_absent_words, group.absent)), grows=True)
    why = f"{'defaults of their versions, or ' if versions else ''}sized by the servers themselves"
    rest = _followed_items((d.variable for d in group.differences if d not in chosen), why)
    return Section(
        group_name(group), (Paragraph(few(group.members) + versions), alike, Items(lines, grows=True), absent, *rest)
    )


def _absent_words(absent: AbsentVariables) -> Words:
    """`not on c: rpl_semi_sync_replica_enabled, rpl_semi_sync_replica_trace_level`."""
    return f"not on {few(absent.members, NAMED)}: ", Code(few(absent.variables))


def _difference(variable: str, values: Iterable[tuple[str, Sequence[str]]]) -> Words:
    """`variable: 1M on a, b · 2M on c`."""
    parts: list[str] = [Code(variable), ": "]
    for at, (text, names) in enumerate(values):
        parts += [" · "] * bool(at) + [Code(short_value(variable, text)), f" on {few(names, NAMED)}"]
    return tuple(parts)


def _unseen_lines(judged: tuple[JudgedServer, ...]) -> Iterator[str]:
    for reason, hosts, count in unseen_parts(judged):
        yield f"{reason} · {few(hosts, NAMED)} · {plural(count, 'rule or part', 'rules or parts')}"


def short_value(variable: str, text: str, longest: int = LONGEST) -> str:
    """A value fit for a line: secrets masked, (empty) for nothing, cut where it is long."""
    return shorten_text(redact_value(variable, text) or "(empty)", longest)


def as_json(survey: Survey) -> str:
    """Every host with its findings, then the same by rule, by version, and who differs from whom."""
    judged = {one.row.name: one for one in survey.judged}
    rows = [*(one.row for one in survey.judged), *survey.absent]
    return dumps(
        {
            "version": VERSION,
            "made_at": survey.now,
            "directory": survey.folder,
            "hosts": [_host_fields(row, judged.get(row.name)) for row in sorted(rows, key=lambda row: row.name)],
            "rules": [
                {"code": s.code, "name": s.name, "severity": s.severity.value, "hosts": list(s.hosts)}
                for s in by_rule(survey.judged)
            ],
            "versions": [
                {"version": s.label, "support_ends": s.ends or None, "ended": s.ended, "hosts": list(s.hosts)}
                for s in by_series(survey.judged, survey.now)
            ],
            "outliers": [_outlier_fields(one) for one in survey.outliers],
            "equals": [_peer_group_fields(one) for one in survey.equals],
        }
    )


def _host_fields(row: HostRow, server: JudgedServer | None) -> dict[str, Any]:
    return {
        "host": row.name,
        "groups": list(row.groups),
        "status": row.status.value,
        "reason": redact_value("", row.reason) or None,
        "place": row.place or None,
        "seconds": row.seconds,
        "snapshot": row.snapshot or None,
        "machine": None if server is None else (row.host or "read"),
        "target": str(server.target) if server else None,
        "vendor": server.vendor if server else None,
        "hostname": server.hostname if server else None,
        "findings": [finding(f) for f in server.findings] if server else [],
        "skipped": [{"code": s.code, "reason": s.reason} for s in server.skipped] if server else [],
    }


def _outlier_fields(outlier: Outlier) -> dict[str, Any]:
    return {
        "group": outlier.group,
        "series": outlier.series,
        "variable": outlier.variable,
        "usual": redact_value(outlier.variable, outlier.usual),
        "members": outlier.members,
        "set": outlier.is_set,
        "others": [
            {"host": name, "value": redact_value(outlier.variable, v.text), "set": v.is_set, "where": v.origin or None}
            for name, v in outlier.others
        ],
    }


def _peer_group_fields(group: PeerGroup) -> dict[str, Any]:
    return {
        "kind": group.kind,
        "name": group.name,
        "members": list(group.members),
        "versions": list(group.versions),
        "differences": [
            {
                "variable": d.variable,
                "set": d.is_set,
                "values": [{"value": redact_value(d.variable, v), "hosts": list(names)} for v, names in d.values],
            }
            for d in group.differences
        ],
        "absent": [{"variables": list(one.variables), "hosts": list(one.members)} for one in group.absent],
    }
