"""A page's summary of a server: risks in words, memory, storage, redo, connections and role; workload; what changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from advisor.analysis.audit_comparison import comparison_title
from advisor.core.model import Severity, format_duration, format_percent, format_size, size_in_units
from advisor.redaction import redact_value
from advisor.report import count_findings, plural
from advisor.report.audit import fact_lines
from advisor.report.document import (
    Cards,
    Chart,
    Code,
    Facts,
    Items,
    Link,
    Paragraph,
    Section,
    StackedBar,
    Table,
    Value,
    list_words,
)
from advisor.report.finding import headline
from advisor.report.render.curves import Curve, Point
from rules.core.areas import group_by_area
from rules.core.counters import hour_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from advisor.analysis.audited import AuditComparison, AuditResult
    from advisor.core.model import Finding
    from advisor.facts import Sample
    from advisor.facts.storage import SpaceReading
    from advisor.facts.workload import BusyHour
    from advisor.report.document import Block, Words

HOUR = 3600
FEW_READINGS = 3  # of the space on a disk; fewer make no curve
MOST_DISKS = 4
GIB = 1 << 30
Row = tuple["Words | Value", ...]
NO_CHARTS = "Charts need samples: mycnf sample --print-timer shows how to take them every ten minutes."


def cards(audited: AuditResult, names: Mapping[int, str]) -> Cards:
    """What the reader wants to know first; `names` has the places of findings by their identity."""
    return Cards(
        (
            _risks(audited, names),
            Section("server", (Facts(tuple(_server(audited))),)),
            _memory(audited),
            _storage(audited, names),
            _redo(audited),
            _connections(audited),
        )
    )


def _risks(audited: AuditResult, names: Mapping[int, str]) -> Section:
    """How many findings each area has, each leading to the worst of them."""
    rows: list[Words] = []
    for area, findings in group_by_area(audited.findings).items():
        worst = min(findings, key=lambda f: list(Severity).index(f.severity))
        rows.append((Link.to(f"#{names[id(worst)]}", area.in_words(len(findings))), f": {count_findings(findings)}"))
    tally = f"{count_findings(audited.findings)} · {plural(len(audited.passed), 'check')} passed"
    tally += f" · {len(audited.skipped):,} skipped" if audited.skipped else ""
    return Section("risks", (Paragraph(tally), Items(tuple(rows))))


def _server(audited: AuditResult) -> Iterator[tuple[str, Words]]:
    server = audited.facts.server
    yield "Version", ", ".join(part for part in (audited.context.target.label, server.version_comment) if part)
    yield "Role", _role(audited)
    yield "Up", format_duration(server.uptime) if server.uptime else ""
    yield "Host", next((words for name, words in fact_lines.rows(audited) if name == "Host"), "")
    yield "Managed by", server.managed or ""


def _role(audited: AuditResult) -> str:
    part = audited.facts.server.replication
    if part is None:
        return f"unknown: {audited.facts.reason_missing('server.replication')}"
    return fact_lines.role(audited) or "no replication seen"


def _memory(audited: AuditResult) -> Section:
    """Buffer pool, other memory at rest and sessions as they are likely, up to the worst case, and the limit."""
    from rules.sizing.memory import usable_memory

    words = next((text for name, text in fact_lines.rows(audited) if name == "Memory"), "")
    layers = fact_lines.memory_layers(audited)
    if layers is None:
        return Section("memory", (Paragraph(words),))
    worst = max(0, layers.ceiling - layers.likely_total)
    sizes = (
        ("buffer pool", layers.pool, ""),
        ("other at rest", layers.other, ""),
        ("sessions, likely", layers.sessions, ""),
        ("worst case", worst, "+"),
    )
    parts = tuple((name, size, f"{sign}{format_size(size)}") for name, size, sign in sizes if size)
    limit = usable_memory(audited.context) if audited.context.has("host") else None
    return Section("memory", (StackedBar(parts, "Memory of the server", limit), Paragraph(words)))


def _storage(audited: AuditResult, names: Mapping[int, str]) -> Section:
    """The data directory down to the disks, how full it is, and what was found there."""
    host = audited.facts.host
    storage = host.storage if host else None
    if storage is None or not storage.path:
        return Section("storage", (Paragraph(f"not read: {audited.facts.reason_missing('host')}"),))
    steps = fact_lines.chain(storage)
    if storage.space is not None and storage.space.size:
        share = format_percent(storage.space.free / storage.space.size)  # the rest is in use, or reserved for root
        steps.append(f"{format_size(storage.space.free)} of {format_size(storage.space.size)} ({share}) free")
    steps += [latency] if (latency := fact_lines.latency(audited).removeprefix(" · ")) else []
    found = [f for f in audited.findings if f.code.startswith(("STO", "GRO"))]
    links = list_words(Link.to(f"#{names[id(f)]}", f"{f.code} {f.name}") for f in found)
    return Section("storage", (Items(tuple(steps)), Paragraph(("Found: ", *links) if links else "")))


def _redo(audited: AuditResult) -> Section:
    """The redo log's size, what is written to it in an hour, and the checkpoint age."""
    from rules.innodb.io_capacity import checkpoint_age
    from rules.innodb.redo_log_size import redo_capacity

    capacity, work = redo_capacity(audited.context), audited.facts.workload
    if not capacity:
        return Section("redo log", ())
    rate = work.redo_rate if work else None
    sizes = [f"{format_size(capacity)} in all"]
    if rate:
        sizes.append(f"{format_size(rate * HOUR)} an hour written at the rate of the window")
        sizes.append(f"holds {format_duration(capacity / rate)} of it")
    age = checkpoint_age(audited.facts.server.counter)
    parts = (("checkpoint age", age[0], format_size(age[0])),) if age else ()
    limit = (age[1], f"{format_size(age[1])} maximum") if age else None
    return Section("redo log", (StackedBar(parts, "Checkpoint age", limit), Paragraph(" · ".join(sizes))))


def _connections(audited: AuditResult) -> Section:
    server = audited.facts.server
    peak, limit = server.counter("max_used_connections"), audited.context.number("max_connections")
    running = server.counter("threads_running")
    if peak is None or not limit:
        return Section("connections", ())
    running_now = "" if running is None else f"{plural(running, 'thread')} running at the end of the audit"
    bar = StackedBar(
        (("peak since the start", peak, f"{peak:,}"),), "Connections", (limit, f"{limit:,} max_connections")
    )
    return Section("connections", (bar, Paragraph(running_now)))


def workload(audited: AuditResult) -> Section:
    """The rates of the window, and curves of the busiest sampled hours and of the space on disks."""
    rows = tuple(row for row in fact_lines.rows(audited) if row[0] in ("Workload", "Sampled"))
    sampled = audited.facts.sampled
    charts = [chart for hour in (sampled.hours if sampled else ()) if (chart := _hour(hour)) is not None]
    charts += _spaces(audited.facts.spaces)
    return Section("workload", (Facts(rows), *charts, Paragraph("" if charts else NO_CHARTS)), name="workload")


def _hour(hour: BusyHour) -> Chart | None:
    """The busiest hour of one kind, as it went."""
    lines = _LINES.get(hour.of)
    try:
        began = datetime.fromisoformat(hour.began_at).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if lines is None or len(hour.samples) <= FEW_READINGS:
        return None
    unit, curves = lines
    drawn = tuple(curve for name, value in curves if len((curve := _curve(name, hour, began, value)).points) > 1)
    if not drawn:
        return None
    title = f"Busiest hour for {hour.of}"
    return Chart(drawn, unit, "time, UTC", title=title, answer=hour_text(hour), over_time=True)


def _curve(name: str, hour: BusyHour, began: datetime, value: Callable[[Sample, Sample], float | None]) -> Curve:
    points = []
    for before, after in zip(hour.samples, hour.samples[1:], strict=False):
        number, at = value(before, after), after.at - hour.samples[0].at
        if number is not None and after.at > before.at and at <= 2 * HOUR:
            label = f"{began + timedelta(seconds=at):%H:%M}"
            points.append(Point(label, at, number, number, number))
    return Curve(name, tuple(points), here=True)


def _redo_rate(before: Sample, after: Sample) -> float | None:
    if before.lsn is None or after.lsn is None or after.at <= before.at:
        return None
    return max(0, after.lsn - before.lsn) / (after.at - before.at) / 1024


def _level(counter: str) -> Callable[[Sample, Sample], float | None]:
    return lambda _, after: after.status.get(counter)


def _rate(counter: str) -> Callable[[Sample, Sample], float | None]:
    def value(before: Sample, after: Sample) -> float | None:
        first, last = before.status.get(counter), after.status.get(counter)
        known = first is not None and last is not None and last >= first and after.at > before.at
        return (last - first) / (after.at - before.at) if known and first is not None and last is not None else None

    return value


_Lines = tuple[str, tuple[tuple[str, "Callable[[Sample, Sample], float | None]"], ...]]
_LINES: dict[str, _Lines] = {
    "redo": ("redo written, K a second", (("redo", _redo_rate),)),
    "connections": (
        "sessions",
        (("connected", _level("threads_connected")), ("running", _level("threads_running"))),
    ),
    "temporary tables": (
        "temporary tables a second",
        (("in all", _rate("created_tmp_tables")), ("on disk", _rate("created_tmp_disk_tables"))),
    ),
}


def _spaces(readings: tuple[SpaceReading, ...]) -> Iterator[Chart]:
    """The space in use on each file system, as samples and saved snapshots saw it."""
    points: dict[str, dict[int, SpaceReading]] = {}
    for reading in readings:
        points.setdefault(reading.point, {})[reading.at] = reading
    for point, by_time in list(points.items())[:MOST_DISKS]:
        ordered = [by_time[at] for at in sorted(by_time)]
        if len(ordered) <= FEW_READINGS:
            continue
        size = ordered[-1].size
        used = tuple(_used_point(reading, ordered[0].at) for reading in ordered)
        answer = f"{format_percent((size - ordered[-1].free) / size)} of {format_size(size)} in use" if size else ""
        curve = Curve("in use", used, here=True)
        yield Chart((curve,), "G in use", "day, UTC", title=f"Space in use on {point}", answer=answer, over_time=True)


def _used_point(reading: SpaceReading, start: int) -> Point:
    try:
        day = f"{datetime.fromtimestamp(reading.at, UTC):%m-%d}"
    except (ValueError, OverflowError, OSError):
        day = ""
    used = max(0, reading.size - reading.free) / GIB
    return Point(day, float(reading.at - start), used, used, used)


def comparison(audited: AuditResult, names: Mapping[int, str]) -> Section:
    """The whole comparison; empty without an earlier audit."""
    since = audited.since
    if since is None:
        return Section("", ())
    findings = tuple(_comparison_rows(since, names))
    settings = tuple((Code(s.name), _value(s.name, s.before), _value(s.name, s.after)) for s in since.settings)
    counters = tuple(_counter(*counter) for counter in since.counters)
    load = since.load.words if since.load and (since.load.differs or since.idle) else ""
    blocks: tuple[Block, ...] = (
        *(Paragraph(sign, lead="Another server?") for sign in since.other),
        Paragraph(_since_tally(since), strong=True),
        Paragraph(f"The load differs: {load}." if load else ""),
        Table(("variable", "before", "after"), settings, name="Variables before and after"),
        Table(("result", "finding", "remark"), findings, name="Findings before and after"),
        Table(
            ("counter", "before, a second", "after, a second", "change", "watched by"), counters, (1, 2, 3),
            name="Counters before and after",
        ),
    )  # fmt: skip
    return Section(f"what changed {comparison_title(since, audited.facts.taken_at)}", blocks, name="since")


def _since_tally(since: AuditComparison) -> str:
    counts = (
        (len(since.gone), "gone"),
        (len(since.kept), "still there"),
        (len(since.new), "new"),
        (len(since.unjudged), "not judged"),
        (len(since.idle), "not found, but the load differs"),
    )
    results = [f"{count:,} {words}" for count, words in counts if count]
    changed = f"{plural(len(since.settings), 'variable')} changed"
    return f"{', '.join(results) or 'no findings'}; {changed}."


def _comparison_rows(since: AuditComparison, names: Mapping[int, str]) -> Iterator[Row]:
    idle = "not found under a different load: compare again under a similar one"
    unseen = "the rule was skipped in the earlier audit"
    results: tuple[tuple[str, Iterable[tuple[Finding, str]]], ...] = (
        ("gone", ((f, "checked again, not found") for f in since.gone)),
        ("load differs", ((f, idle) for f in since.idle)),
        ("not judged", since.unjudged),
        ("new", ((f, unseen if f in since.unseen else "") for f in since.new)),
        ("still there", ((f, "") for f in since.kept)),
    )
    return (_compared_row(result, f, names, remark) for result, found in results for f, remark in found)


def _compared_row(result: str, finding: Finding, names: Mapping[int, str], remark: str) -> Row:
    line = headline(finding)
    place = names.get(id(finding))
    code = Link.to(f"#{place}", finding.code) if place else Code(finding.code)
    title: Words = (code, " ", *((line,) if isinstance(line, str) else line))
    return Value(result, severity=finding.severity if result in ("new", "still there") else None), title, remark


def _value(name: str, value: str | None) -> Value:
    """A variable's value, with the size in units where it is a large number."""
    if value is None:
        return Value("absent")
    size = size_in_units(value)
    return Value(Code(redact_value(name, value) or "(empty)"), f"({size})" if size else "")


def _counter(name: str, before: float, after: float, codes: tuple[str, ...]) -> Row:
    change = f"{100 * (after - before) / before:+,.0f} %" if before else ""
    return Code(name), f"{before:,.1f}", f"{after:,.1f}", change, ", ".join(codes)
