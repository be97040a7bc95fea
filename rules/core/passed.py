"""The checks that passed in an audit, with their numbers, so that a passed check differs from one that never ran."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import exact_duration, format_duration, format_percent, format_size
from advisor.verdict.number import parse_digits
from rules.connections.usage import CREATED_A_SECOND, NEAR_PERCENT
from rules.core.context import MissingFact
from rules.core.counters import REDO, busiest_period, steady_window
from rules.durability import uses_innodb_binary_log
from rules.innodb.io_capacity import current_checkpoint_age, page_request_rate
from rules.innodb.redo_log import FULL_PERCENT
from rules.innodb.redo_log_size import redo_capacity
from rules.memory.budget import MISSED_PERCENT, exceeds_memory, is_missing_much
from rules.memory.server_caches import NEARLY_ALL_PERCENT, OPENED, open_descriptors
from rules.memory.temporary_tables import ON_DISK_A_SECOND, ON_DISK_PERCENT
from rules.replication import channel_suffix, replica_channels
from rules.replication.lag import channel_lag
from rules.sizing.memory import memory_budget, usable_memory
from rules.sql.statements import JOINED, MERGED
from rules.sql.transactions import WAITING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

HOUR = 3600
# Findings that make the durability settings unreliable: syncs without effect, or no redo log at all.
UNSAFE_STORAGE = ("unsynced-data-files", "file-system-without-barriers", "redo-log-disabled", "data-in-memory")
CREATED_PERCENT_LIMIT = 25  # percent of the connections; a sufficient thread cache serves nearly all of them
OVERFLOW_PERCENT_LIMIT = 10  # percent of the hits; a sufficient table cache has hardly any overflows


class PassedCheck(NamedTuple):
    """A part of the server without findings: its name, and the checked numbers as text."""

    part: str
    words: str


class CheckedPart(NamedTuple):
    """How a part is described; any finding of one of `rules` means that it did not pass.

    The first of `rules` owns the threshold for the numbers: unless it ran, nothing is reported. `describe` returns
    None for numbers beyond that threshold, because a rule without advice may yield no finding.
    """

    part: str
    rules: tuple[str, ...]
    describe: Callable[[RuleContext], str | None]


def passed_checks(context: RuleContext, findings: Iterable[Finding], asked: Container[str]) -> Iterator[PassedCheck]:
    """The parts that were checked and have no findings.

    `asked` are the names of the rules that could run; a part whose first rule is not among them is left out.
    """
    reported_rules = {finding.name for finding in findings}
    for look in CHECKED_PARTS:
        if reported_rules.intersection(look.rules) or look.rules[0] not in asked:
            continue
        try:
            words = look.describe(context)
        except MissingFact:
            continue
        if words:
            yield PassedCheck(look.part, words)


def _memory(context: RuleContext) -> str | None:
    estimate, room = memory_budget(context), usable_memory(context)
    if estimate is None or room is None or not estimate.likely:
        return None
    if exceeds_memory(estimate, room[0]):
        return None  # the rule judges only sizes that are set explicitly
    taken = f"{format_size(estimate.measured)} taken, " if estimate.measured else ""
    return f"{taken}{format_size(estimate.likely)} likely of the {room[1]} that the server may use"


def _pool(context: RuleContext) -> str | None:
    window = steady_window(context)
    asked, missed = page_request_rate(context, window), window.rate("innodb_buffer_pool_reads")
    if asked is None or missed is None or is_missing_much(missed, asked):
        return None  # the rule also needs memory for a larger pool
    if missed * 100 >= asked * MISSED_PERCENT and missed:
        return None  # too few reads for the rule, but too large a percentage to pass
    return f"{missed:,.1f} of {asked:,.0f} page requests a second went to disk"


def _redo(context: RuleContext) -> str | None:
    (window, when, hour), capacity = busiest_period(context, REDO), redo_capacity(context)
    rate, age = window.redo_rate, current_checkpoint_age(context, capacity)
    if rate is None or not capacity or rate * HOUR > capacity:
        return None
    if age and age[0] * 100 >= age[1] * FULL_PERCENT:
        return None
    rate_text = f"{format_size(rate * HOUR)} an hour into {format_size(capacity)}" + (f" {when}" if hour else "")
    return f"{rate_text}, {format_percent(age[0] / capacity)} of it before the checkpoint" if age else rate_text


def _connections(context: RuleContext) -> str | None:
    most, limit = context.server.counter("max_used_connections"), context.number("max_connections")
    if most is None or not limit or most * 100 >= limit * NEAR_PERCENT:
        return None
    return f"{most:,} of {limit:,} used at most, in {format_duration(context.server.peak_seconds)}"


def _rates(*counters: tuple[str, str], below: float, share: float = 100.0) -> Callable[[RuleContext], str | None]:
    """A function that returns counters as rates, or None if the first is not `below` the limit or exceeds its share.

    `below` is a rate per second; `share` is the maximum of the first counter in percent of the last one. Both limits
    are those of the rule, but the share is checked at any rate, so that 0.9 of 1.0 is not reported as passed. Counters
    that the server lacks are left out; without the first counter the result is None.
    """

    def says(context: RuleContext) -> str | None:
        window = steady_window(context)
        rates = [window.rate(name) for name, _ in counters]
        first, whole = rates[0], rates[-1]
        if first is None or first >= below or (whole and len(rates) > 1 and first * 100 > whole * share):
            return None
        rates_text = [
            f"{rate:,.1f} {words}" for rate, (_, words) in zip(rates, counters, strict=True) if rate is not None
        ]
        return f"{', '.join(rates_text)} a second"

    return says


def _row_locks(context: RuleContext) -> str | None:
    """The average number of waiting sessions, by which the rule decides, and the number of waits."""
    window = steady_window(context)
    waits, waited = window.rate("innodb_row_lock_waits"), window.rate("innodb_row_lock_time")
    if waits is None or waited is None or waited / 1000 >= WAITING:
        return None
    return f"{waits:,.1f} waits a second, {waited / 1000:.2f} sessions waiting on average"


def _open_files(context: RuleContext) -> str | None:
    limit = context.number("open_files_limit")
    if context.server.counter("open_files") is None or not limit:
        return None
    if sum(open_descriptors(context)) * 100 >= limit * NEARLY_ALL_PERCENT:
        return None
    return f"at least {sum(open_descriptors(context)):,} of {limit:,} file descriptors in use"


def _commits(context: RuleContext) -> str | None:
    log = context.text("log_bin")
    if context.text("innodb_flush_log_at_trx_commit") != "1" or log is None:
        return None
    if log in {"", "OFF", "0"}:
        return "the redo log is on disk at each commit; there is no binary log"
    synced = context.text("sync_binlog") == "1" or uses_innodb_binary_log(context)
    return "redo log and binary log are on disk at each commit" if synced else None


def _replication(context: RuleContext) -> str | None:
    return ", ".join(filter(None, (_lag(context, channel) for channel in replica_channels(context)))) or None


def _lag(context: RuleContext, channel: dict[str, str]) -> str:
    """The lag of a channel, with its configured delay, which does not count; empty if it is unknown."""
    lag, delay = channel_lag(context, channel), parse_digits(channel.get("sql_delay"))
    beyond = f" beyond its configured delay of {exact_duration(delay)}" if delay else ""
    return "" if lag is None else f"{lag} s behind its source{channel_suffix(channel)}{beyond}"


ERROR_LOG_RULES = (
    *("server-crashed", "unclean-shutdown", "failed-start", "out-of-memory-logged", "threads-not-created"),
    *("long-semaphore-waits", "innodb-corruption-logged", "table-marked-as-crashed", "tablespace-missing-logged"),
    *("disk-full-logged", "read-only-file-system-logged", "redo-log-full-logged", "too-many-connections-logged"),
    *("access-denied-burst", "aborted-connections-burst", "replication-error-logged", "cluster-majority-lost"),
    *("disk-errors-logged", "logging-turned-off", "too-many-open-files-logged"),
)
FREQUENT = frozenset({"denied", "aborted"})  # kinds that only count if there are many


def _error_log(context: RuleContext) -> str | None:
    log = context.server.error_log
    if log is None or not log.since or any(event.kind not in FREQUENT for event in log.events):
        return None
    end = f"to {log.until[:16]} " if log.read_from == "text" and log.until else ""  # a text may be old
    zone = log.zone or "server time"
    return f"no crash, failed start, corruption or full disk from {log.since[:16]} {end}{zone}{'' if end else ' on'}"


CHECKED_PARTS = (
    CheckedPart(
        "memory", ("memory-over-budget", "pool-exceeds-memory", "swapped-server", "killed-for-memory"), _memory
    ),
    CheckedPart("buffer pool", ("small-buffer-pool", "free-page-waits"), _pool),
    CheckedPart("redo log", ("small-redo-log", "tiny-redo-log", "checkpoint-pressure", "log-buffer-waits"), _redo),
    CheckedPart(
        "connections", ("few-connections-left", "connections-refused", "oversized-connection-limit"), _connections
    ),
    CheckedPart(
        "threads",
        ("threads-made-anew",),
        _rates(
            ("threads_created", "created"),
            ("connections", "connections"),
            below=CREATED_A_SECOND,
            share=CREATED_PERCENT_LIMIT,
        ),
    ),
    CheckedPart(
        "temporary tables",
        ("temporary-tables-on-disk", "exhausted-temporary-memory"),
        _rates(
            ("created_tmp_disk_tables", "on disk"),
            ("created_tmp_tables", "in all"),
            below=ON_DISK_A_SECOND,
            share=ON_DISK_PERCENT,
        ),
    ),
    CheckedPart(
        "table cache",
        ("overflowing-table-cache",),
        _rates(
            ("table_open_cache_overflows", "tables evicted"),
            ("table_open_cache_hits", "hits"),
            below=OPENED,
            share=OVERFLOW_PERCENT_LIMIT,
        ),
    ),
    CheckedPart("sorts", ("sorts-in-many-passes",), _rates(("sort_merge_passes", "merge passes"), below=MERGED)),
    CheckedPart("joins", ("joins-without-index",), _rates(("select_full_join", "without an index"), below=JOINED)),
    CheckedPart("row locks", ("sessions-waiting-for-rows", "frequent-deadlocks"), _row_locks),
    CheckedPart("open files", ("open-files-near-limit", "limited-by-the-system"), _open_files),
    CheckedPart("commits", ("lost-commits", "unsynced-binary-log", *UNSAFE_STORAGE), _commits),
    CheckedPart("replication", ("replica-lag", "stopped-replica"), _replication),
    CheckedPart("error log", ERROR_LOG_RULES, _error_log),
)
