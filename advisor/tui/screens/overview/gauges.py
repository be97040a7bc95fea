"""The parts of the overview in figures: memory, storage, redo log, connections and traffic."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from advisor.core.model import format_duration, format_percent, format_size
from advisor.facts import Workload
from advisor.report import plural, wrap
from advisor.report.audit.fact_lines import memory_layers
from advisor.report.render.terminal_chart import area_glyphs, draw_area
from advisor.tui.screens.host.fact_rows import storage_tree
from advisor.tui.screens.host.screen import missing_reason, usable_memory
from advisor.tui.screens.workload.counters import PEAK, SERIES
from advisor.tui.screens.workload.rates import column_spans, intervals_within, series_columns, window_rates
from advisor.tui.screens.workload.rows import sparkline_scale
from advisor.tui.text import (
    BEYOND,
    MUTED,
    SEVERITY_SIGNS,
    SEVERITY_STYLES,
    bar,
    format_value,
    join_lines,
    safe_line,
    safe_text,
    sparkline,
)
from advisor.verdict.number import parse_digits
from rules.core.advice import connection_limit
from rules.innodb.io_capacity import checkpoint_age, highest_checkpoint_age
from rules.innodb.redo_log_size import redo_capacity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from advisor.analysis.audited import AuditResult
    from advisor.core.model import Finding
    from advisor.tui.screens.workload.counters import Series
    from advisor.tui.screens.workload.rates import SampleInterval
    from advisor.tui.view import View

NEARLY_FULL = 0.75  # of the checkpoint age or the connections; below it a gauge is not coloured
FULL = 0.9
# Memory layers: the character and the style of each, so that they differ without colour too.
LAYERS = {"pool": ("█", "$text-accent"), "other": ("▓", "$text-secondary"), "sessions": ("▒", "$text-warning")}
WORST, FREE, LIMIT = "░", "·", "┃"
BEYOND_LIMIT = 1.5  # times the limit: the end of the scale if the worst case is beyond
LEAST_BAR, GAUGE = 8, 20  # columns
LIMIT_VARIABLE = "max_connections"
WINDOW = 300.0  # seconds of the charts
# The rules that judge each step of the storage chain, by the beginning of their codes.
STORAGE_RULES = {
    "directory": ("STO001", "STO002", "STO030", "INN009", "DUR010"),
    "mount": (
        *("DUR006", "STO003", "STO004", "STO005", "STO006", "STO007", "STO008", "STO009", "STO010", "STO011"),
        *("STO012", "STO013", "STO019", "GRO001", "INN011"),
    ),
    "array": ("STO014", "STO015", "STO016", "INN010"),
    "disk": ("SYS003", "INN005", "INN039", "INN006", "STO017", "STO018", "SYS014"),
}


def memory_text(audited: AuditResult, width: int) -> Content:
    """A stacked bar of the server's memory, and its legend."""
    layers, limit = memory_layers(audited), usable_memory(audited.facts.host)
    if layers is None:
        return safe_text(wrap("not known: a size in the memory estimate is unknown", "", "", width))
    whole = max(limit[0] if limit else 0, 0) or layers.ceiling
    worst = max(0, layers.ceiling - layers.likely_total)
    legend = [f"█ pool {format_size(layers.pool)}", f"▓ other {format_size(layers.other)}"]
    legend += [f"▒ sessions {format_size(layers.sessions)} likely", f"░ worst case +{format_size(worst)}"]
    measured = f"measured {format_size(layers.measured)}" if layers.measured else ""
    against = (
        f"limit {format_size(limit[0])}, {limit[1]}"
        if limit
        else f"limit not known: {missing_reason(audited.facts, 'memory')}"
    )
    over = "worst case exceeds the limit" if limit and layers.ceiling > limit[0] else ""
    lines = [join_lines(legend, width), join_lines((measured, over, against), width)]
    sizes = {"pool": layers.pool, "other": layers.other, "sessions": layers.sessions}
    words = safe_text("\n" + "\n".join(lines))
    for sign, style in LAYERS.values():
        at = words.plain.index(f"{sign} ")
        words = words.stylize(style, at, at + 1)
    return _stacked_bar(sizes, worst, whole, max(LEAST_BAR, width)) + words


def _stacked_bar(sizes: dict[str, int], worst: int, limit: int, cells: int) -> Content:
    """The layers on a scale that shows the limit (┃) in the bar; an arrow at its end means more than the scale."""
    total = sum(sizes.values()) + worst
    scale = max(limit, min(total, round(BEYOND_LIMIT * limit)), 1)
    shown, at, passed = Content(""), 0, 0
    for name, size in (*sizes.items(), ("worst", worst)):
        sign, style = LAYERS.get(name, (WORST, MUTED))
        passed += size
        end = min(cells, max(at + (1 if size and name != "worst" else 0), round(cells * passed / scale)))
        shown += Content.styled(sign * (end - at), style)
        at = end
    shown += Content.styled(FREE * (cells - at), MUTED)
    if total <= limit:
        return shown
    mark = min(cells - 2, round(cells * limit / scale))
    end_mark = Content(BEYOND) if total > scale else shown[cells - 1 :]
    return shown[:mark] + Content.styled(LIMIT, "$text-error") + shown[mark + 1 : cells - 1] + end_mark


class StepVerdict(NamedTuple):
    """What was judged at one step of the storage chain."""

    findings: tuple[Finding, ...]
    passed: int
    skipped: int


def storage_text(view: View, width: int, most: int) -> Content:
    """The chain from the data directory to the disks, each step with what its rules found; at most `most` lines."""
    audited = view.audited
    storage = audited.facts.host.storage if audited.facts.host else None
    if storage is None:
        # The reason why the host was not read is beside the memory.
        why = missing_reason(audited.facts, "storage") if audited.facts.host else "the host was not read"
        return safe_text(wrap(f"not known: {why}", "", "", width))
    steps = storage_tree(storage)
    kinds = ["directory", "mount"] if storage.mount.point else ["directory"]
    kinds += ["array" if device.under else "disk" for device in storage.devices]
    lines, judged = [], set[str]()
    for place, step in enumerate(steps[:most]):
        kind = kinds[place] if place < len(kinds) else "disk"
        verdict = Content("") if kind in judged else _verdict(step_verdict(view, STORAGE_RULES[kind]))
        judged.add(kind)
        room = max(LEAST_BAR, width - verdict.cell_length - (1 if verdict.cell_length else 0))
        text = safe_line(step.lead + step.text, longest=room)
        lines.append(
            text + Content(" " * max(0, room - text.cell_length + 1)) + verdict if verdict.cell_length else text
        )
    if len(steps) > most:
        lines.append(safe_line(f"and {plural(len(steps) - most, 'more device')}", MUTED))
    if storage.space and storage.space.size:
        size, free = storage.space.size, storage.space.free  # the rest is in use, or reserved for root
        room_left = f"{format_size(free)} of {format_size(size)} ({format_percent(free / size)}) free"
        lines.append(safe_line(room_left, MUTED, width))
    if storage.untraced:
        lines.append(safe_line(f"not traced further: {storage.untraced}", MUTED, width))
    return Content("\n").join(lines)


def step_verdict(view: View, codes: tuple[str, ...]) -> StepVerdict:
    """The findings of these rules, and how many of them passed and were skipped."""
    audited = view.audited
    findings = tuple(f for f in view.open_findings if f.code in codes)
    skipped = {skip.code for skip in audited.skipped} & set(codes)
    passed = (set(audited.rule_codes) & set(codes)) - skipped - {f.code for f in audited.findings}
    return StepVerdict(findings, len(passed), len(skipped))


def _verdict(judged: StepVerdict) -> Content:
    if judged.findings:
        worst = judged.findings[0]
        more = f" +{len(judged.findings) - 1}" if len(judged.findings) > 1 else ""
        sign = Content.styled(SEVERITY_SIGNS[worst.severity], SEVERITY_STYLES[worst.severity])
        return sign + safe_line(f" {worst.code}{more}")
    if judged.passed:
        return Content.styled(f"✓ {judged.passed} checks", "$text-success")
    return Content.styled(f"{judged.skipped} checks skipped" if judged.skipped else "not judged", MUTED)


def redo_text(view: View, width: int) -> Content:
    """The checkpoint age against its maximum, the size of the redo log, and how long it lasts at the present rate."""
    audited = view.audited
    age, capacity = _checkpoint(view), redo_capacity(audited.context)
    workload = _newest_window(view)
    rate = workload.redo_rate if workload else None
    bound = workload.rate("innodb_os_log_written") if workload and rate is None else None
    parts = [f"redo log {format_size(capacity)}"] if capacity else ["size of the redo log not known"]
    if rate is not None:
        parts.append(f"{format_size(rate)}/s written")
        parts += [f"holds {format_duration(capacity / rate)} of it"] if capacity and rate > 1 else []
    elif bound is not None:  # a block of the log counts each time it is written
        parts.append(f"at most {format_size(bound)}/s written")
        parts += [f"holds at least {format_duration(capacity / bound)} of it"] if capacity and bound > 1 else []
    else:
        parts.append("write rate not measured")
    below = safe_text("\n" + join_lines(parts, width))
    if age is None:
        waits = view.live and not view.samples  # samples read what the audit's status does not have
        why = "read with the first sample" if waits else "this server has no counter"
        return safe_line(f"checkpoint age: {why}", MUTED, width) + below
    share = age[0] / age[1]
    words = f"checkpoint age {format_size(age[0])}, {format_percent(share)} of {format_size(age[1])}"
    return _gauge(share, words, width) + below


def _newest_window(view: View) -> Workload | None:
    """The last minutes of a running server, once there are two samples; the window of the audit otherwise."""
    samples = view.samples if view.live else None
    if not samples or len(samples) == 1:
        return view.audited.facts.workload
    since = min(samples[-1].at - WINDOW, samples[-2].at)
    return Workload(next(sample for sample in samples if sample.at >= since), samples[-1])


def _checkpoint(view: View) -> tuple[int, int] | None:
    """The newest checkpoint age and its maximum; from the status text on servers without counters."""
    audited = view.audited
    if (age := checkpoint_age(_latest_counter(view))) and age[1] > 0:
        return age
    workload = audited.facts.workload
    highest = highest_checkpoint_age(audited.context, workload, redo_capacity(audited.context)) if workload else None
    return None if highest is None else (highest[0], highest[1])


def connections_text(view: View, width: int) -> Content:
    """Open connections against max_connections, the peak, and the threads that run."""
    changed = (change.after for change in reversed(view.changes if view.live else ()) if change.name == LIMIT_VARIABLE)
    limit = parse_digits(next(changed, "")) or connection_limit(view.audited.context)
    counter = _latest_counter(view)
    open_now, running = counter("threads_connected"), counter("threads_running")
    peak = counter(PEAK)
    refused = counter("connection_errors_max_connections")
    parts = [] if running is None else [f"{plural(running, 'thread')} running"]
    parts += [] if peak is None else [f"peak {peak:,} since the start"]
    parts += [f"{refused:,} refused" if refused else ""]
    below = safe_text("\n" + join_lines(parts, width))
    if open_now is None or not limit:
        return safe_line("open connections not known", MUTED, width) + below
    return _gauge(open_now / limit, f"{open_now:,} of {limit:,} connections", width) + below


def _latest_counter(view: View) -> Callable[[str], int | None]:
    """The counters of the newest sample, and those of the audit for what samples leave out or a recording has."""
    server = view.audited.facts.server.counter
    newest = view.samples[-1].status if view.samples and view.live else {}
    return lambda name: newest[name] if name in newest else server(name)


def _gauge(share: float, words: str, width: int) -> Content:
    style = "$text-error" if share >= FULL else "$text-warning" if share >= NEARLY_FULL else "$text-success"
    cells = max(LEAST_BAR, min(GAUGE, width - len(words) - 1))
    shown = Content.styled(bar(share, 1.0, cells), style)
    if cells + 1 + len(words) <= width:
        return shown + safe_line(f" {words}")
    return Content("\n").join((shown, safe_text(wrap(words, "", "", width))))


# The ids of the series of each chart.
CHARTS = {
    "traffic": ("queries", "rows-read", "rows-changed"),
    "innodb": ("redo", "pages-read", "pages-flushed"),
    "waits": ("running", "lock-waits", "time", "disk-busy"),
}
LABEL, FIGURE, LEAST_CHART = 16, 8, 6


def chart_text(name: str, intervals: Sequence[SampleInterval], width: int, *, lines_high: int, live: bool) -> Content:
    """A chart of the last 5 minutes: an area for the first series, then each series with its value and a sparkline.

    `lines_high` is the height of the area; 0 makes it one line, of the first series. A snapshot has values alone, the
    means of its window.
    """
    small = lines_high == 0
    cells = max(LEAST_CHART, width - LABEL - FIGURE - 5)
    window = intervals_within(intervals, WINDOW)
    drawn = live and len(window) > 0 and window[-1].last.at > window[0].first.at
    rates = window_rates(window, column_spans(window, WINDOW, cells) if drawn else ())
    series_rates = {series.id: (series, rate) for series, rate in zip(SERIES, rates, strict=True)}
    latest = window[-1].last if window else None
    shown = [series_rates[identity] for identity in CHARTS[name] if series_rates[identity][0].is_shown(latest)]
    lines = []
    for series, rate in shown[: 1 if small else len(shown)]:
        value = rate.now if live else rate.mean
        unit = "/s" if series.unit == "B/s" else series.unit  # the value has the letter of its size
        text = f"{series.label:<{LABEL}}{format_value(value, series.unit):>{FIGURE}} {unit:<3}"
        chart = sparkline(rate.columns, *sparkline_scale(series, rate.columns)) if drawn else ""
        lines.append(safe_line(text, longest=width) + safe_line(f" {chart}", "$text-accent"))
    if drawn and not small and shown:
        lines[:0] = _area(shown[0][0], window, (width, lines_high))
    return Content("\n").join(lines)


def _area(series: Series, window: Sequence[SampleInterval], size: tuple[int, int]) -> list[Content]:
    """The area chart of one series, in so many columns and lines."""
    glyphs = area_glyphs(os.environ.get("TERM", ""), "utf-8")  # the app draws frames too, and needs the encoding
    count = size[0] * glyphs.columns
    values = series_columns(window, SERIES.index(series), column_spans(window, WINDOW, count))
    drawn = draw_area(values, size[1], sparkline_scale(series, values), glyphs, [])
    return [safe_line(line, "$text-accent") for line in drawn]


def missing_samples(view: View) -> str:
    """Why there is no chart yet; empty if there are samples."""
    if view.samples is None:
        facts = view.audited.facts
        return "" if facts.workload else f"not sampled: {facts.reason_missing('workload')}"
    return "" if len(view.samples) > 1 else "the first rates come after two samples, 2 s apart"
