"""LOG: rules about the size of InnoDB's redo log."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_duration, format_size, format_wait
from advisor.verdict import Outcome
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import find_line, variable_subject, written_name
from rules.innodb.redo_log_size import (
    DEFAULT_LOG,
    HOUR,
    LARGEST,
    SIZES,
    capacity_of_files,
    is_enough_for_writes,
    is_sized_by_server,
    larger_log_action,
    largest_log,
    least_log,
    log_for_pool,
    log_for_rates,
    noted_log,
    rates_or_none,
    redo_capacity,
    redo_rates,
    size_option,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding
    from rules.core.context import RuleContext
    from rules.innodb.redo_log_size import Rate

MIB, WEEK = 1 << 20, 7 * 86400
SHORT, FULL_PERCENT = 600, 80  # a redo log that is filled in fewer seconds is far too small
SPACE_WAITS = "log_on_file_space_waits"  # of MySQL 8.0 and later, disabled by default
LARGEST_BUFFER = 128 * MIB
POOL = "innodb_buffer_pool_size"
BUSY = 10 * MIB  # bytes of redo a second; about what the log took in the published runs with many writes


@rule(
    "LOG001",
    "log-buffer-waits",
    confidence=Confidence.MEASURED,
    summary="Sessions wait because the log buffer is full.",
    needs=("server",),
    options=("innodb_log_buffer_size",),
    evidence=("REDO-04", "ASK-11"),
    docs=Docs(
        why="Innodb_log_waits counts how often sessions waited until the buffer was written; one wait a second is "
        "reported. Large transactions and slow log devices cause it.",
        fix="Double innodb_log_buffer_size, up to 128M; if the waits continue, the log's device is too slow. MySQL 8.0 "
        "and later can change it at run time; MySQL 5.7 and MariaDB need a restart.",
        risk="The memory of the buffer.",
        exceptions="A single bulk load in the window.",
        reconsider_when="Innodb_log_waits that rises as fast with the larger buffer.",
    ),
)
def log_buffer_waits(context: RuleContext) -> Iterator[Finding]:
    """Report log buffer waits of one per second or more, in the busiest hour or in the window."""
    from rules.core.counters import REDO, counter_periods  # lazily: lint has no counters

    size = context.number("innodb_log_buffer_size")
    for window, when, _ in counter_periods(context, REDO, limited_by="innodb_log_buffer_size"):
        waits = window.delta("innodb_log_waits")
        if not waits or waits < window.seconds or size is None:
            continue
        action = None
        if size * 2 <= LARGEST_BUFFER:
            action = advise(context, "innodb_log_buffer_size", size * 2, size=True, watch="Innodb_log_waits")
        yield log_buffer_waits.finding(
            f"{waits:,} waits because the log buffer of {format_size(size)} was full {when}.",
            variable_subject(context, "innodb_log_buffer_size"),
            help=help_line(action) or "the log buffer is already large: look at the latency of the redo log's device",
            actions=present(action),
        )
        return


@rule(
    "LOG002",
    "small-redo-log",
    confidence=Confidence.LIKELY,
    summary="The redo log fills up in minutes at the measured rate of writes.",
    needs=("server",),
    options=("innodb_redo_log_capacity", "innodb_log_file_size"),
    evidence=("REDO-01", "REDO-02", "REDO-03", "REDO-04", "REDO-05", "REDO-06", "REDO-07", "REDO-08", "REDO-11"),
    probe="redo-capacity",
    docs=Docs(
        why="When the redo log is nearly full, dirty pages must be written before sessions can continue, and pages "
        "that change often are written again and again. In a published test a log seven times as large gave 30 percent "
        "more throughput. A log that is full within 10 minutes is a warning, within an hour a note. The rate is taken "
        "from the log sequence number over the busiest hour or the window, and from Innodb_os_log_written since the "
        "server started. On MySQL that counter also counts blocks that are written again: up to four times the redo "
        "where commits are small. The rule therefore decides by a quarter of that counter, and sizes the log by all of "
        "it. From 8.0.30 on MySQL's error log shows when sessions waited ('Threads are unable to reserve space'); the "
        "only counter of these waits, log_on_file_space_waits of INNODB_METRICS, is off by default.",
        fix="Make the log hold about an hour of writes at the busiest time. mycnf advises at most 4G on spinning "
        "disks and 16G elsewhere, because recovery after a crash takes longer with more, and leaves half of the free "
        "disk space. On hosts with fast disks a larger log can be right: measure a recovery first. Before MySQL 8.0.30 "
        "and MariaDB 10.9 a new size needs a restart.",
        risk="Recovery after a crash reads more log, and the disk must hold it.",
        exceptions="A load that happens once. A window of seconds shows nothing about other hours.",
        reconsider_when="The rate over the busiest hour. If mycnf sample has recorded it, the rule already uses it.",
        disagree="A quarter of the buffer pool, which others recommend, has nothing to do with the rate of writes.",
    ),
)
def small_redo_log(context: RuleContext) -> Iterator[Finding]:
    """Report a redo log that holds less than an hour of the measured writes, or whose space sessions waited for."""
    capacity, waits = redo_capacity(context), _redo_wait_text(context)
    if capacity and waits:
        yield _log_was_full(context, capacity, waits)
        return
    rates = redo_rates(context)
    if not rates or not capacity:
        return
    highest = max(rates, key=lambda rate: rate.minimum)
    wanted = log_for_rates(context, rates)
    if highest.minimum * HOUR <= capacity or wanted <= capacity:
        _require_busy_hour(context)
        return
    fills = capacity / highest.minimum
    action = larger_log_action(context, wanted)
    yield small_redo_log.finding(
        f"At {format_size(highest.minimum)} of redo a second {highest.when}, the log of {format_size(capacity)} is "
        f"full in {format_duration(fills)}.",
        variable_subject(context, size_option(context)),
        severity=Severity.WARNING if fills < SHORT else Severity.NOTE,
        help=help_line(action) or f"size the redo log to {format_size(wanted)} in total",
        actions=present(action),
    )


def _log_was_full(context: RuleContext, capacity: int, waits: str) -> Finding:
    """The finding for a log that the server itself reported as full, with the write rate if one was measured."""
    actions, remedy = _pressure_help(context)
    highest = max(rates_or_none(context), key=lambda rate: rate.minimum, default=None)
    rate = format_size(highest.minimum) if highest else "0"
    fast = f" {rate} of redo a second were written {highest.when}." if highest and rate != "0" else ""
    return small_redo_log.finding(
        f"The redo log of {format_size(capacity)} was full, and statements waited for space in it: {waits}.{fast}",
        variable_subject(context, size_option(context)),
        severity=Severity.NOTE if _is_old_warning(context) else Severity.WARNING,
        confidence=Confidence.MEASURED,
        help=remedy,
        actions=actions,
    )


def _redo_wait_text(context: RuleContext) -> str:
    """How often the server reported waits for redo log space, as text; empty if it did not.

    The counter keeps the waits for space in a log that was smaller, so the error log is preferred where it was read.
    """
    warnings, counted = context.server.redo_waits, context.server.innodb_metrics.get(SPACE_WAITS)
    if warnings is None:
        return f"{counted:,} waits by {SPACE_WAITS}" if counted else ""
    if not warnings.count:
        return ""
    ago = "" if warnings.newest is None else f", the newest {format_duration(max(0, warnings.newest))} ago"
    return f"{warnings.count:,} warning{'s' if warnings.count > 1 else ''} in the error log{ago}"


def _is_old_warning(context: RuleContext) -> bool:
    """Whether the newest warning is older than a week."""
    warnings = context.server.redo_waits
    return warnings is not None and warnings.newest is not None and warnings.newest > WEEK


def _size_after_waits(context: RuleContext, rates: list[Rate], capacity: int) -> int:
    """The size to advise for a log that was full: an hour of writes, but at least twice the current size.

    Without reported waits it is an hour of writes if the write rate is known.
    """
    hour = log_for_rates(context, rates) if rates else 0
    doubled = min(2 * capacity, largest_log(context))
    return max(hour, doubled) if _redo_wait_text(context) or not rates else hour


def _require_busy_hour(context: RuleContext) -> None:
    """Raise MissingFact if only the mean since the start is known, which says nothing about the busiest hour."""
    from rules.core.counters import REDO, busiest_period  # lazily: lint has no counters

    busiest_period(context, REDO)


@rule(
    "LOG003",
    "checkpoint-pressure",
    confidence=Confidence.MEASURED,
    summary="The redo log is nearly full of changes whose pages are not written yet.",
    needs=("server",),
    options=("innodb_redo_log_capacity", "innodb_log_file_size", "innodb_io_capacity"),
    evidence=("REDO-01", "REDO-04", "REDO-05", "ASK-11", "INNA-33", "INNA-41"),
    probe="redo-capacity",
    docs=Docs(
        why="Near the limit the server writes pages as fast as it can and makes sessions wait for them.",
        fix="Enlarge the redo log to an hour of writes, as measured in the busiest hour, in the window or since the "
        "start; if the rate is unknown, double the log. If it already holds an hour, write more pages in the "
        "background: double innodb_io_capacity if writes are at that limit and the disks can take more. MariaDB with a "
        "low-water mark of 0 writes them earlier with innodb_max_dirty_pages_pct_lwm at 10. Before MySQL 8.0.30 and "
        "MariaDB 10.9 a new size of the log needs a restart.",
        risk="Recovery after a crash takes longer with a larger log.",
        exceptions="A load that ends in minutes. MariaDB with innodb_max_dirty_pages_pct_lwm at 0, the default, leaves "
        "pages unwritten until the log is nearly full (INN047): the finding is a note there, for commits that stall.",
        reconsider_when="A checkpoint age that stays below three quarters of its limit over the busiest hour.",
    ),
)
def checkpoint_pressure(context: RuleContext) -> Iterator[Finding]:
    """Report a checkpoint age near its limit, in the busiest hour or in the window."""
    from rules.innodb.io_capacity import flushes_late  # lazily: lint has no checkpoint

    for ages, when in _checkpoint_ages(context):
        if ages is not None and ages[0] * 100 >= ages[1] * FULL_PERCENT:
            actions, remedy = _pressure_help(context)
            usual = flushes_late(context)
            near = (
                "under writes MariaDB lets it come this near the limit, because innodb_max_dirty_pages_pct_lwm is 0, "
                "and the age does not show whether sessions wait."
                if usual
                else "near the limit, sessions wait for pages to be written."
            )
            yield checkpoint_pressure.finding(
                f"The checkpoint age {when} {format_size(ages[0])} against a limit of {format_size(ages[1])}; {near}"
                f"{_rate_sentence(context)}",
                variable_subject(context, size_option(context)),
                severity=Severity.NOTE if usual else Severity.WARNING,
                confidence=Confidence.LIKELY if usual else Confidence.MEASURED,
                help=remedy,
                actions=actions,
            )
            return


def _rate_sentence(context: RuleContext) -> str:
    """How much redo an hour takes, with the time that was measured, or from when on that is known."""
    from rules.core.counters import MINIMUM_UPTIME

    rates, uptime = rates_or_none(context), context.server.uptime
    if rates:
        fastest = max(rates, key=lambda rate: rate.maximum)
        most = "Up to " if fastest.minimum < fastest.maximum else ""
        hour = format_size(int(fastest.maximum * HOUR))
        return f" {most}{format_size(fastest.maximum)} of redo a second {fastest.when}: {hour} an hour."
    if uptime >= MINIMUM_UPTIME:
        return ""
    return (
        f" The hourly rate is known once the server has been up for {format_duration(MINIMUM_UPTIME)}: audit again in "
        f"{format_wait(MINIMUM_UPTIME - uptime)}."
    )


def _pressure_help(context: RuleContext) -> tuple[tuple[Action, ...], str]:
    """The redo log that holds an hour of writes, else more pages written in the background; with the help line."""
    capacity = redo_capacity(context)
    if not capacity:
        return (), "enlarge the redo log"
    wanted = _size_after_waits(context, rates_or_none(context), capacity)
    if wanted > capacity:
        action = larger_log_action(context, wanted)
        return present(action), help_line(action) or f"size the redo log to {format_size(wanted)} in total"
    return _background_write_help(context, capacity)


def _background_write_help(context: RuleContext, capacity: int) -> tuple[tuple[Action, ...], str]:
    """What helps where the log holds an hour of writes."""
    from rules.innodb.io_capacity import background_write_help

    hour = max((rate.maximum for rate in rates_or_none(context)), default=0) * HOUR
    held = "holds an hour of that" if 0 < hour <= capacity else "is as large as mycnf advises"
    actions, remedy = background_write_help(context)
    return actions, f"the log of {format_size(capacity)} {held}{remedy}"


def _checkpoint_ages(context: RuleContext) -> Iterator[tuple[tuple[int, int] | None, str]]:
    from rules.core.counters import hour_text
    from rules.innodb.io_capacity import checkpoint_age, current_checkpoint_age

    hour = context.sampled.hour("redo") if context.has("sampled") else None
    now = current_checkpoint_age(context, redo_capacity(context))
    if hour is not None:
        ages_seen = [ages for sample in hour.samples if (ages := checkpoint_age(sample.status.get)) is not None]
        of_this_log = [ages for ages in ages_seen if now is None or ages[1] >= now[1]]  # the log may be larger since
        yield (
            max(of_this_log, key=lambda ages: ages[0] / ages[1], default=None),
            f"in the busiest hour, {hour_text(hour)}, was",
        )
    yield now, "is"


@rule(
    "LOG004",
    "overridden-redo-size",
    confidence=Confidence.LIKELY,
    summary="The size of the redo log's files is ignored, because its capacity is set too.",
    targets=(Span("mysql", since=(8, 0, 30), before=(9, 0)),),
    options=("innodb_log_file_size", "innodb_log_files_in_group", "innodb_redo_log_capacity"),
    evidence=("REDO-04",),
    docs=Docs(
        why="From MySQL 8.0.30 on innodb_redo_log_capacity sizes the log. Where it is set, innodb_log_file_size and "
        "innodb_log_files_in_group are ignored. The finding is a note where they give the same size, or where "
        "innodb_redo_log_capacity is written with loose_: such a file is for older versions too.",
        fix="Keep innodb_redo_log_capacity alone.",
        risk="None: the server ignores the other two.",
        restart=True,
        exceptions="A file that older versions read as well.",
        reconsider_when="A server of this version whose log follows innodb_log_file_size.",
    ),
)
def overridden_redo_size(context: RuleContext) -> Iterator[Finding]:
    """Report the sizes of redo log files if innodb_redo_log_capacity is set too."""
    if not context.is_set("innodb_redo_log_capacity"):
        return
    size, files = context.number("innodb_log_file_size"), context.number("innodb_log_files_in_group")
    same = size is not None and files is not None and size * files == context.number("innodb_redo_log_capacity")
    line = find_line(context, "innodb_redo_log_capacity")
    shared = same or (line is not None and written_name(line).startswith("loose_"))
    for name in ("innodb_log_file_size", "innodb_log_files_in_group"):
        if context.is_set(name):
            yield overridden_redo_size.finding(
                "The server ignores this line: innodb_redo_log_capacity sets the size of the redo log.",
                variable_subject(context, name),
                severity=Severity.NOTE if shared else None,
                help="remove the line" + (", unless servers before 8.0.30 read the file too" if shared else ""),
            )


@rule(
    "LOG007",
    "tiny-redo-log",
    confidence=Confidence.LIKELY,
    summary="The redo log is tiny for a buffer pool of this size.",
    options=(POOL, *SIZES),
    evidence=("REDO-01", "REDO-02", "REDO-04", "REDO-05", "REDO-08", "REDO-09", "REDO-10", "REDO-11"),
    docs=Docs(
        why="The pool was sized for much data, and the redo log was left at its default (100M or 96M, by version) or "
        "at an old value. When many rows change, such a log is full within seconds. The server must then write dirty "
        "pages before sessions can continue, however large the pool is. The finding is a warning below 256M for a pool "
        "of 16G or more, below 512M for 64G and below 1G for 256G, and a note up to 100M for a pool of 4G or more, up "
        "to 512M for 16G and up to 1G for 64G. These limits are our choice, and low: with innodb_dedicated_server "
        "MySQL 8.0.30 to 8.3 gives pools of 16G and more a log of 12G to 128G. There is no finding where the log holds "
        "the busiest sampled hour, or an hour at ten times the mean of a day or more. A window of seconds is no "
        "evidence for other hours: a quiet window does not suppress the finding, and a busy one is reported by "
        "small-redo-log.",
        fix="Start with 1G for a pool of 4G, 2G for 16G, 4G for 64G and 8G for 256G. Then let mycnf audit or sample "
        "measure the writes, and size it for an hour. Before MySQL 8.0.30 and MariaDB 10.9 a new size needs a restart.",
        risk="Recovery after a crash reads more log: in published runs a minute per gigabyte on flash and two on a "
        "RAID 10; on a busy machine with two processors, three on MySQL 9.7 and half a minute on MariaDB 11.8. The "
        "advised log leaves half of the free disk space where that is known.",
        exceptions="Servers that mostly read.",
        reconsider_when="The measured rate of redo at the busiest hour: a log that holds an hour of it is large "
        "enough.",
        disagree="A quarter of the pool, which phpMyAdmin asks for, and MySQLTuner before MySQL 8.0.30, has nothing to "
        "do with writes.",
    ),
)
def tiny_redo_log(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly sized pool with a tiny redo log, unless the known writes fit into it."""
    pool, running = _pool_that_fits(context), redo_capacity(context)
    if pool is None or running is None or not context.is_set(POOL) or _has_no_own_size(context):
        return
    if any(line.canonical in SIZES and line.outcome is Outcome.INVALID for line in context.file_verdict.lines):
        return  # a size was meant that the server refuses
    meant = capacity_of_files(context)  # another rule reports these lines and advises a capacity of this size
    capacity = meant or running
    few = capacity < least_log(pool)
    if not few and capacity > noted_log(pool):
        return
    if is_enough_for_writes(context, capacity) or _is_judged_by_rate(context, capacity):
        return
    wanted = log_for_pool(context, pool)
    action = larger_log_action(context, wanted) if wanted and wanted > capacity and not meant else None
    later = "measure the writes with mycnf " + ("sample" if context.has("server") else "audit")
    yield tiny_redo_log.finding(
        f"The redo log of {format_size(capacity)} is {'tiny' if few or capacity <= DEFAULT_LOG else 'small'} for a "
        f"buffer pool of {format_size(context.number(POOL) or pool)}: writes of {format_size(BUSY)} a second fill it "
        f"in {format_duration(capacity / BUSY)}, and sessions then wait for pages to be written.",
        variable_subject(context, next((name for name in SIZES if context.is_set(name)), POOL)),
        severity=None if few else Severity.NOTE,
        confidence=None if few else Confidence.OPINION,
        help=f"{help_line(action)} to start with, then {later}" if action else f"{later} before you choose its size",
        actions=present(action),
    )


def _has_no_own_size(context: RuleContext) -> bool:
    """Whether the server itself sizes the log, or has none: Aurora writes redo to its own storage (DBLW-07)."""
    if not context.has("server"):
        return is_sized_by_server(context)
    from rules.innodb import is_aurora

    return is_sized_by_server(context) or is_aurora(context)


def _pool_that_fits(context: RuleContext) -> int | None:
    """The pool size; on a known host at most what fits, because pool-exceeds-memory asks for a smaller one."""
    pool = context.number(POOL)
    if pool is None or not context.has("host"):
        return pool
    from rules.sizing.memory import fitting_pool  # lazily: lint of a file for an unknown host does without it

    return fitting_pool(context, pool)


def _is_judged_by_rate(context: RuleContext, capacity: int) -> bool:
    """Whether small-redo-log reports the log, by waits or by a measured rate."""
    if not context.has("server"):
        return False
    rates = rates_or_none(context)
    return bool(_redo_wait_text(context)) or any(rate.minimum * HOUR > capacity for rate in rates)


@rule(
    "LOG008",
    "redo-log-beyond-buffer-pool",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The redo log is larger than the buffer pool, and recovery after a crash may read all of it.",
    options=(POOL, *SIZES),
    evidence=("REDO-01", "REDO-08", "REDO-11"),
    docs=Docs(
        why="The server does not accept connections until recovery has read all redo since the last checkpoint. In "
        "published runs that took a minute per gigabyte on flash and two on a RAID 10; on a busy machine with two "
        "processors, three on MySQL 9.7 and half a minute on MariaDB 11.8. The benefit of a larger log was measured up "
        "to 30G. That a log above 16G is of no use with a smaller pool is our opinion.",
        fix="Let mycnf audit or mycnf sample measure how much is written, and size the log for the busiest hour. "
        "Before MySQL 8.0.30 and MariaDB 10.9 a new size needs a restart.",
        risk="A log that holds less than the busiest minutes makes sessions wait for pages to be written.",
        exceptions="Servers whose busiest hour writes that much.",
        reconsider_when="A test recovery, after a kill under load, that was short enough.",
    ),
)
def redo_log_beyond_buffer_pool(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured redo log above 16G that is larger than the buffer pool."""
    name = next((name for name in SIZES if context.is_set(name)), None)
    pool, capacity = _pool_that_fits(context), capacity_of_files(context) or redo_capacity(context)
    if name is None or pool is None or capacity is None or capacity <= max(LARGEST, pool):
        return
    fits = "" if pool == context.number(POOL) else " that fits in memory"
    yield redo_log_beyond_buffer_pool.finding(
        f"The redo log of {format_size(capacity)} is larger than the buffer pool of {format_size(pool)}{fits}; "
        "recovery after a crash may read all of it, which took half a minute to three minutes per gigabyte.",
        variable_subject(context, name),
        help="measure the writes with mycnf sample, and size it for the busiest hour",
    )
