"""INN: rules about InnoDB's flushing, purge, free pages and adaptive hash index."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_size
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.counters import steady_window, window_text
from rules.core.subject import variable_subject
from rules.innodb import is_aurora
from rules.innodb.io_capacity import (
    CAPACITY,
    CAPACITY_MAX,
    FLUSHED,
    LOW_MARK,
    SOLID_CAPACITY,
    dirty_percent,
    earlier_writes_action,
    flushes_late,
    highest_checkpoint_age,
    larger_io_capacity,
)
from rules.innodb.redo_log import FULL_PERCENT
from rules.innodb.redo_log_size import redo_capacity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts import Server, Workload
    from rules.core.context import RuleContext
    from rules.innodb.io_capacity import CheckpointAge

BATCH = "innodb_doublewrite_pages"
LONG_HISTORY = 1_000_000  # transactions; INNA-12 measured what reading behind as many costs
BATCHED_PAGES = 200  # pages a second through the doublewrite files: what 8.0 writes in the background by default
SMALL_BATCH = 8  # DBLW-01: up to 10 % slower than LARGE_BATCH
LARGE_BATCH = 128  # the default from 8.4 on
HALF_PERCENT, BEYOND = 50, 2  # of the redo log, and times innodb_io_capacity: our choice
MINUTE = 60
LOOKUPS = 10_000  # in the window; below, percentages are not reliable
FOUND_PERCENT = 50


@rule(
    "INN034",
    "free-page-waits",
    confidence=Confidence.MEASURED,
    summary="Sessions wait for a free page in the buffer pool, because flushing is too slow.",
    needs=("server", "workload"),
    options=("innodb_buffer_pool_size", "innodb_lru_scan_depth"),
    evidence=("INNV-01", "INNV-09", "INNA-11"),
    docs=Docs(
        why="A session that reads or makes a page needs a free one. In the background the server keeps some ready, by "
        "writing and evicting pages that were not used for a long time. Innodb_buffer_pool_wait_free counts how often "
        "a session found none and waited for a page to be written. The rule reports one a second or more, which is our "
        "threshold: a server that keeps up has none.",
        fix="Look at the pool first: a pool that holds the pages in use needs few free pages. Otherwise keep more "
        "pages free with a higher innodb_lru_scan_depth, if the disk can take more writes; innodb_io_capacity does not "
        "limit these writes.",
        risk="Memory for a larger pool, or more writes in the background.",
        exceptions="A bulk load or a table rebuild within the window.",
        reconsider_when="Innodb_buffer_pool_wait_free that rises as fast with a larger pool.",
    ),
)
def free_page_waits(context: RuleContext) -> Iterator[Finding]:
    """Report waits for a free page in the buffer pool."""
    window = steady_window(context)
    waits, pool = window.delta("innodb_buffer_pool_wait_free"), context.number("innodb_buffer_pool_size")
    if waits and waits >= window.seconds:
        holding = f" of {format_size(pool)}" if pool else ""
        yield free_page_waits.finding(
            f"{waits:,} waits for a free page in the buffer pool{holding} {window_text(window)}.",
            variable_subject(context, "innodb_buffer_pool_size"),
            help="enlarge the pool if memory is free; otherwise raise innodb_lru_scan_depth if the disk can take more "
            "writes",
        )


@rule(
    "INN035",
    "starved-flushing",
    confidence=Confidence.MEASURED,
    summary="The redo log is nearly full, or the pool full of dirty pages, while innodb_io_capacity limits flushing.",
    needs=("server", "workload"),
    options=(CAPACITY, CAPACITY_MAX),
    evidence=("INNA-13", "INNA-31", "INNA-32", "INNA-33", "INNA-41", "INNA-50", "IOC-01", "IOC-02", "IOC-03"),
    probe="io-capacity",
    docs=Docs(
        why="Changed pages must be written before their redo can be overwritten. innodb_io_capacity limits how many a "
        "second are written in the background; where that is less than what changes, the redo log fills, and sessions "
        "wait. Under one load the checkpoint age of a MariaDB server was at 93 percent of its limit with a capacity of "
        "100, and at 8 percent with 4000. On MySQL, and on MariaDB with innodb_max_dirty_pages_pct_lwm above 0, the "
        "age raises the rate up to innodb_io_capacity_max. Once innodb_max_dirty_pages_pct is reached, MariaDB writes "
        "innodb_io_capacity pages a second, MySQL often a third. The rule applies to the default too. A redo log that "
        "is half full is a note where MySQL, on solid-state disks, writes at twice an innodb_io_capacity of less than "
        "2000: there a higher value lowered the age by a tenth to a third.",
        fix="Raise innodb_io_capacity, and its maximum with it, until the checkpoint age stays below three quarters of "
        "its limit. Do not raise it further: a page that is written too early may be written twice. The rule advises "
        "at least 2000 where it knows that the disks are solid-state, otherwise twice the value.",
        risk="More writes in the background, which slow down other users of the disk.",
        exceptions="Spinning disks, which write a few hundred pages a second at most, and loads that end in minutes. "
        "Where the redo log fills within a minute, the finding is a note: enlarge the log first. With 32M and 3,000 "
        "updates a second, the checkpoint age of MariaDB 11.8 was at 91 percent with 200 and at 89 with 2000.",
        reconsider_when="A checkpoint age that is as high with the larger capacity: then the disk or the size of the "
        "redo log is the limit.",
        disagree="Percona: lower than most people set it. MariaDB: 2000 and more on solid-state disks. The rule "
        "reports only where the redo log is nearly full, or the pool is, and writing is at its limit.",
    ),
)
def starved_flushing(context: RuleContext) -> Iterator[Finding]:
    """Report a filling redo log, or a pool at its limit of dirty pages, while innodb_io_capacity limits flushing."""
    window, capacity = steady_window(context), context.number(CAPACITY)
    written = window.rate(FLUSHED)
    if is_aurora(context) or not capacity or written is None or written < capacity:
        return
    log = _full_log(context, window)
    full = log or _full_of_dirty_pages(context, window)
    half = "" if full else _half_full_log(context, window, written / capacity)
    actions = larger_io_capacity(context) if full or half else ()
    if not actions:
        return
    # A redo log that a minute fills has to be larger first, as checkpoint-pressure advises.
    tiny = bool(log) and _fills_in_a_minute(context, window)
    default = "" if context.is_set(CAPACITY) else ", the default"
    before = "enlarge the redo log first; if it is still full, " if tiny else ""
    yield starved_flushing.finding(
        f"{full or half}, while {written:,.0f} pages a second were written {window_text(window)}, with {CAPACITY} "
        f"at {capacity:,}{default}.",
        variable_subject(context, CAPACITY),
        severity=Severity.NOTE if tiny or half else None,
        confidence=Confidence.LIKELY if tiny or half else None,
        help=f"{before}{help_line(actions[-1])}",
        actions=actions,
    )


def _fills_in_a_minute(context: RuleContext, window: Workload) -> bool:
    """Whether a minute of the window's writes fills the redo log."""
    rate, capacity = window.redo_rate, redo_capacity(context)
    return bool(rate and capacity and rate * MINUTE > capacity)


def _half_full_log(context: RuleContext, window: Workload, times: float) -> str:
    """The redo log's fill as text, where a figure for spinning disks is exceeded on solid-state disks; else empty."""
    from rules.core.storage import is_solid_state

    age = _highest_age(context, window) if context.target.is_mysql and times >= BEYOND else None
    small = (context.number(CAPACITY) or 0) < SOLID_CAPACITY and context.has("host") and is_solid_state(context)
    return _fill_text(age) if age is not None and age.percent >= HALF_PERCENT and small else ""


def _highest_age(context: RuleContext, window: Workload) -> CheckpointAge | None:
    return highest_checkpoint_age(context, window, redo_capacity(context))


def _fill_text(age: CheckpointAge) -> str:
    return f"The redo log was {min(age.percent, 100)} % full of changes whose pages are not written"


def _full_log(context: RuleContext, window: Workload) -> str:
    """The redo log's fill as text; empty if it is not nearly full."""
    age = _highest_age(context, window)
    return "" if age is None or age.percent < FULL_PERCENT else _fill_text(age)


def _full_of_dirty_pages(context: RuleContext, window: Workload) -> str:
    """The share of dirty pages as text; empty if it is below innodb_max_dirty_pages_pct."""
    dirty, most = dirty_percent(window), context.settings.real("innodb_max_dirty_pages_pct")
    if dirty is None or not most or dirty < most:
        return ""
    return f"{dirty:.0f} % of the buffer pool was dirty, at innodb_max_dirty_pages_pct ({most:g})"


@rule(
    "INN047",
    "late-flushing",
    severity=Severity.NOTE,
    confidence=Confidence.MEASURED,
    summary="MariaDB writes changed pages only when the redo log is nearly full, because the low-water mark is 0.",
    needs=("server", "workload"),
    targets=(Span("mariadb", since=(10, 6)),),
    options=(LOW_MARK, "innodb_adaptive_flushing"),
    evidence=("INNA-33", "INNV-31"),
    docs=Docs(
        why="With innodb_max_dirty_pages_pct_lwm at 0, the default, MariaDB's adaptive flushing does not start until "
        "the redo log is nearly full or innodb_max_dirty_pages_pct is reached. Then sessions wait while pages are "
        "written in bursts. Under one load, with a redo log of 32M, the checkpoint age of MariaDB 11.8 was at 91 "
        "percent of its limit with innodb_io_capacity at 200, and at 89 with 2000; with a low-water mark of 10 percent "
        "it was at 48 and 13. The server then wrote two to four times as many pages.",
        fix="First enlarge the redo log to hold the writes of the busiest hour. Where stalls remain, set "
        "innodb_max_dirty_pages_pct_lwm to 10, the default of MySQL.",
        risk="More page writes: pages that change often are written several times. An idle server writes its dirty "
        "pages too.",
        exceptions="Servers without stalls: MariaDB keeps pages unwritten to save writes. Disks whose writes are "
        "rationed or paid for, and loads that end in minutes.",
        reconsider_when="A checkpoint age and a commit latency that are the same with the low-water mark.",
        disagree="MariaDB chose 0 to write less; MySQL's default has been 10 since 8.0.",
    ),
)
def late_flushing(context: RuleContext) -> Iterator[Finding]:
    """Report a nearly full redo log on a server whose low-water mark of dirty pages is 0."""
    window = steady_window(context)
    age = _highest_age(context, window)
    waits = age is not None and age.percent >= FULL_PERCENT
    if not waits or not flushes_late(context) or context.settings.on("innodb_adaptive_flushing") is False:
        return
    action = earlier_writes_action(context)
    yield late_flushing.finding(
        f"{_full_log(context, window)}, {window_text(window)}; {LOW_MARK} is 0, so pages are written only near "
        "that point.",
        variable_subject(context, LOW_MARK),
        help=f"enlarge the redo log first; if sessions still stall, {help_line(action)}",
        actions=present(action),
    )


@rule(
    "INN036",
    "long-undo-history",
    confidence=Confidence.MEASURED,
    summary="The history list grows, because an open transaction may still need old row versions.",
    needs=("server",),
    options=("innodb_purge_threads",),
    evidence=("INNA-12", "INNV-07", "UNDO-01"),
    docs=Docs(
        why="Every change keeps the old version of its row until no transaction can need it and purge has removed it. "
        "While a transaction stays open, old versions accumulate: they fill the undo files, and reads in old "
        "transactions must go back through them. After 1,060,000 updates the sum of a hundred rows took 2 to 5 seconds "
        "in the old transaction and 1 to 3 milliseconds in a new one. The rule reports a million or more, which is our "
        "threshold.",
        fix="Look for the oldest transaction (information_schema.INNODB_TRX, by trx_started) and end it. Often it is a "
        "session that was left open, a backup or a long report. Only where there is none, more innodb_purge_threads "
        "help, for which MySQL needs a restart.",
        risk="A transaction that is ended is rolled back.",
        exceptions="A backup or a dump that is under way; the history shrinks when it is done.",
        reconsider_when="A history that falls by itself within an hour.",
    ),
)
def long_undo_history(context: RuleContext) -> Iterator[Finding]:
    """Report a history list length of a million or more."""
    length = _history_list_length(context.server)
    if length is not None and length >= LONG_HISTORY:
        from rules.blocking.blockers import held_text, look_action, session_name  # lazily: lint sees no session
        from rules.blocking.transactions import oldest_transaction

        message = (
            f"The history list length is {length:,}: purge has not yet removed the old rows of that many transactions."
        )
        oldest = oldest_transaction(context)
        blocking = context.server.blocking
        if blocking is None or not blocking.transactions_read or (oldest is None and blocking.detached):
            yield long_undo_history.finding(
                message, help="find the oldest transaction in information_schema.INNODB_TRX, by trx_started, and end it"
            )
        elif oldest is None:
            yield long_undo_history.finding(
                f"{message} No transaction was open for a minute or longer, so purge may be behind.",
                help="look again in an hour; if the history still grows, raise innodb_purge_threads",
            )
        else:
            yield long_undo_history.finding(
                f"{message} The oldest transaction is that of {session_name(oldest)}.{held_text(oldest)}",
                help="look at the oldest transaction, and end it if it is not a backup or a report",
                actions=(look_action(context, oldest),),
            )


def _history_list_length(server: Server) -> int | None:
    """The history list length; a metric on MySQL, a status counter on MariaDB."""
    length = server.counter("innodb_history_list_length")
    return server.innodb_metrics.get("trx_rseg_history_len") if length is None else length


@rule(
    "INN037",
    "small-doublewrite-batches",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Many pages are written in small doublewrite batches.",
    needs=("server", "workload"),
    targets=(Span("mysql", since=(8, 0, 20)),),
    options=(BATCH, "innodb_write_io_threads"),
    evidence=("DBLW-01", "DBLW-02"),
    docs=Docs(
        why="Each page is written to the doublewrite files first, in batches that are synced once. MySQL 8.0.20 to 8.3 "
        "put as many pages into a batch as there are write threads, usually 4; 8.4 puts 128. In a published test "
        "throughput was up to 10 percent higher with 128 than with 8. The rule applies from 200 pages a second on, the "
        "default of innodb_io_capacity before 8.4; that is our choice.",
        fix="Set innodb_doublewrite_pages to 128, the default from 8.4 on.",
        risk="None known; the doublewrite files become somewhat larger.",
        restart=True,
        exceptions="Loads that write as much for a few minutes only.",
        reconsider_when="A ratio of Innodb_dblwr_pages_written to Innodb_dblwr_writes that does not change.",
    ),
)
def small_doublewrite_batches(context: RuleContext) -> Iterator[Finding]:
    """Report small doublewrite batches under many writes."""
    window = steady_window(context)
    batch = context.number(BATCH) or context.number("innodb_write_io_threads")
    pages = window.rate("innodb_dblwr_pages_written")
    if batch is None or pages is None or batch > SMALL_BATCH or pages < BATCHED_PAGES:
        return
    action = advise(context, BATCH, LARGE_BATCH, watch="Innodb_dblwr_writes")
    yield small_doublewrite_batches.finding(
        f"{pages:,.0f} pages a second go through the doublewrite files {window_text(window)}, in batches of {batch}.",
        variable_subject(context, BATCH),
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "INN038",
    "fruitless-adaptive-hash-index",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The adaptive hash index was switched on, and most lookups don't find their row by it.",
    needs=("server", "workload"),
    targets=(Span("mariadb"),),
    options=("innodb_adaptive_hash_index",),
    evidence=("AHI-01",),
    docs=Docs(
        why="The index costs memory of the buffer pool and work at each change. MariaDB switched it off in 10.5, "
        "because it helped mostly read-only loads and slowed others down, DROP and ALTER TABLE most of all. The "
        "threshold, half of the lookups, is our choice: no published number says how many must succeed.",
        fix="Remove the line, or set innodb_adaptive_hash_index to OFF.",
        risk="The lookups that did find their row by it search the tree instead.",
        exceptions="Servers where only a few statements matter, and these benefit from it.",
        reconsider_when="A run of your workload that is slower without it.",
        disagree="Percona's monitoring warns of the index whether it is on or off.",
    ),
)
def fruitless_adaptive_hash_index(context: RuleContext) -> Iterator[Finding]:
    """Report an adaptive hash index that serves fewer than half of the lookups."""
    name, window = "innodb_adaptive_hash_index", steady_window(context)
    hits, lookups = _hash_index_lookups(window)
    if not context.explicit_switch(name) or lookups < LOOKUPS:
        return
    if hits * 100 < lookups * FOUND_PERCENT:
        action = advise(context, name, "OFF", risk="lookups search the tree", watch="Innodb_buffer_pool_read_requests")
        yield fruitless_adaptive_hash_index.finding(
            f"{hits * 100 // lookups} % of {lookups:,} lookups found their row by the hash index "
            f"{window_text(window)}.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


def _hash_index_lookups(window: Workload) -> tuple[int, int]:
    """Lookups that the adaptive hash index served, and all lookups."""
    found, not_found = (window.delta(f"innodb_adaptive_hash_{kind}_searches") or 0 for kind in ("hash", "non_hash"))
    return found, found + not_found


@rule(
    "INN015",
    "no-adaptive-flushing",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Adaptive flushing is off, so dirty pages are flushed late, and then in bursts.",
    options=("innodb_adaptive_flushing",),
    evidence=("INNV-01", "INNV-02", "INNA-48"),
    docs=Docs(
        why="With adaptive flushing the server looks at how fast the redo log fills and writes changed pages at that "
        "rate. Both vendors say that it is there to avoid bursts of writes, and it is on by default in every version.",
        fix="Remove the line, or set innodb_adaptive_flushing to ON.",
        risk="None known.",
        exceptions="MariaDB with innodb_max_dirty_pages_pct_lwm at 0, the default: ON writes no earlier there.",
        reconsider_when="A run of hours under your load that is as steady without it.",
    ),
)
def no_adaptive_flushing(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_adaptive_flushing = OFF."""
    name = "innodb_adaptive_flushing"
    if context.explicit_switch(name) is False and not flushes_late(context):
        action = advise(context, name, "ON", watch="Innodb_buffer_pool_pages_dirty")
        yield no_adaptive_flushing.finding(
            "Changed pages are not written at the rate at which the redo log fills, but later; both vendors warn of "
            "bursts.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN016",
    "low-mark-above-dirty-maximum",
    summary="innodb_max_dirty_pages_pct_lwm is above innodb_max_dirty_pages_pct, and is lowered to it.",
    options=("innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct"),
    evidence=("INNA-01", "INNV-02"),
    docs=Docs(
        why="innodb_max_dirty_pages_pct_lwm is the percentage of dirty pages from which the server writes them early, "
        "so that innodb_max_dirty_pages_pct is never reached. A low-water mark above that maximum is lowered to it at "
        "start-up, with a warning in the log: 60 with a maximum of 40 runs as 40, and has no effect of its own.",
        fix="Set the low-water mark well below the maximum, or remove both lines.",
        risk="None: the server lowers the mark anyway.",
        exceptions="None.",
        reconsider_when="A server of this version that runs with the higher mark.",
    ),
)
def low_mark_above_dirty_maximum(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_max_dirty_pages_pct_lwm above innodb_max_dirty_pages_pct in the file."""
    line = context.file_verdict.effective.get("innodb_max_dirty_pages_pct_lwm")
    most = context.settings.real("innodb_max_dirty_pages_pct")
    asked = float(line.value) if line is not None and line.value else None
    if asked is not None and most is not None and asked > most:
        yield low_mark_above_dirty_maximum.finding(
            f"innodb_max_dirty_pages_pct is {most:g}, so the server lowers this low-water mark from {asked:g} to "
            f"{most:g}.",
            variable_subject(context, "innodb_max_dirty_pages_pct_lwm"),
            help="set the low-water mark below innodb_max_dirty_pages_pct",
        )


@rule(
    "INN017",
    "throttled-checkpoints",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="innodb_io_capacity_max limits flushing at checkpoints too, while sessions wait.",
    options=("innodb_flush_sync",),
    evidence=("INNV-01", "INNV-02", "INNA-49"),
    docs=Docs(
        why="When the redo log is nearly full, sessions wait until pages are written. With innodb_flush_sync on, the "
        "default, the server then writes as fast as it can. With it off, no more than innodb_io_capacity_max pages a "
        "second are written, and sessions wait longer.",
        fix="Remove the line, or set innodb_flush_sync to ON.",
        risk="Bursts of writes at checkpoints, which slow down other users of the disk.",
        exceptions="Shared disks whose other users those bursts must not disturb, with a redo log that is never nearly "
        "full.",
        reconsider_when="A checkpoint age that stays far below its maximum over the busiest hour.",
    ),
)
def throttled_checkpoints(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_flush_sync = OFF."""
    name = "innodb_flush_sync"
    if context.explicit_switch(name) is False:
        action = advise(context, name, "ON", risk="bursts of writes at checkpoints", watch="Innodb_data_writes")
        most = context.number(CAPACITY_MAX)
        yield throttled_checkpoints.finding(
            f"When the redo log is nearly full, sessions wait while pages are written at no more than {CAPACITY_MAX}"
            + (f" ({most:,} a second)." if most else "."),
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )
