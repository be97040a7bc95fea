"""INN: rules about mistakes in the settings of the buffer pool, flushing, startup and shutdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Confidence, Severity
from advisor.core.sizes import format_size
from rules.core.advice import advise, help_line, present
from rules.core.rule import Docs, Span, rule
from rules.core.subject import variable_subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding, Target
    from rules.core.context import RuleContext

GIB = 1 << 30
POOL = "innodb_buffer_pool_size"
SLOW_TO_WARM = GIB  # 65,536 pages of 16K; single reads from a spinning disk take minutes
LIKE_A_CRASH = 2
USUAL_TIME = 1000  # milliseconds: the default in every version
READ_ONLY_LEVEL = 4  # from this level on MySQL keeps InnoDB read-only
SIZES = (POOL, "innodb_redo_log_capacity", "innodb_log_file_size")


@rule(
    "INN015",
    "no-adaptive-flushing",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Adaptive flushing is off, so dirty pages are flushed in bursts.",
    options=("innodb_adaptive_flushing",),
    evidence=("INNV-01", "INNV-02"),
    docs=Docs(
        why="With adaptive flushing the server looks at how fast the redo log fills and writes changed pages "
        "at that rate. Both makers say that it is there to avoid bursts of writing, and it is on by default "
        "in every version.",
        fix="Remove the line, or set innodb_adaptive_flushing to ON.",
        risk="None known.",
        exceptions="Experiments that compare the two.",
        reconsider_when="A run of hours under your load that is as steady without it.",
    ),
)
def no_adaptive_flushing(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_adaptive_flushing = OFF."""
    name = "innodb_adaptive_flushing"
    if context.explicit_switch(name) is False:
        action = advise(context, name, "ON", watch="Innodb_buffer_pool_pages_dirty")
        yield no_adaptive_flushing.finding(
            "Changed pages are not written at the rate at which the redo log fills; they wait for limits and are then "
            "written in bursts.",
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
        why="innodb_max_dirty_pages_pct_lwm says from which share of changed pages on they are written early, "
        "so that innodb_max_dirty_pages_pct is never reached. A mark above it is lowered to it at start-up, "
        "with a warning in the log: 60 with a maximum of 40 runs as 40, and nothing is written early.",
        fix="Set the mark well below the maximum, or take both lines out.",
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
            f"innodb_max_dirty_pages_pct is {most:g}, so the mark for early writing runs as {most:g} instead of "
            f"{asked:g}.",
            variable_subject(context, "innodb_max_dirty_pages_pct_lwm"),
            help="set the mark below innodb_max_dirty_pages_pct",
        )


@rule(
    "INN017",
    "throttled-checkpoints",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="innodb_io_capacity limits flushing at checkpoints too, while sessions wait.",
    options=("innodb_flush_sync",),
    evidence=("INNV-01", "INNV-02"),
    docs=Docs(
        why="When the redo log is nearly full, sessions wait until pages are written. With innodb_flush_sync "
        "on, the default, the server then ignores innodb_io_capacity and writes as fast as it can; without "
        "it the waiting lasts as long as the limit says.",
        fix="Remove the line, or set innodb_flush_sync to ON.",
        risk="Bursts of writes at checkpoints, which other users of the disk feel.",
        exceptions="Disks shared with others that must not feel those bursts, with a redo log that is never nearly "
        "full.",
        reconsider_when="A checkpoint age that stays far below its maximum over the busiest hour.",
    ),
)
def throttled_checkpoints(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_flush_sync = OFF."""
    name = "innodb_flush_sync"
    if context.explicit_switch(name) is False:
        action = advise(context, name, "ON", risk="bursts of writes at checkpoints", watch="Innodb_data_writes")
        capacity = context.number("innodb_io_capacity")
        yield throttled_checkpoints.finding(
            "When the redo log is nearly full, sessions wait while pages are written at no more than innodb_io_capacity"
            + (f" ({capacity:,} a second)." if capacity else "."),
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN018",
    "scans-displace-the-pool",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="A page that a scan reads counts as often used at once, so scans push out the pages in use.",
    options=("innodb_old_blocks_time",),
    evidence=("INNV-03", "INNA-02"),
    docs=Docs(
        why="A page enters the pool in its older part and moves to the front when it is used again after "
        "innodb_old_blocks_time milliseconds. A scan uses each page for all its rows within a moment: with 0 "
        "the second row moves it to the front, where it pushes out pages that others use all the time.",
        fix="Remove the line; the default is 1000.",
        risk="Pages that are used often and only within one second at a time stay in the older part.",
        exceptions="Servers whose data fits in the pool, and tables that are scanned again and again and should stay.",
        reconsider_when="Innodb_buffer_pool_reads that don't rise while a backup or a report scans.",
    ),
)
def scans_displace_the_pool(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured innodb_old_blocks_time = 0."""
    name = "innodb_old_blocks_time"
    if context.is_set(name) and context.number(name) == 0:
        action = advise(
            context, name, USUAL_TIME, watch="Innodb_buffer_pool_reads",
            risk="pages used only within one second at a time stay in the older part",
        )  # fmt: skip
        yield scans_displace_the_pool.finding(
            "Pages that a scan reads once count as often used at once and push out those in use.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN019",
    "cold-pool-after-restart",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="A large buffer pool starts empty, because its list of pages is not saved or not loaded.",
    options=("innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup"),
    evidence=("INNV-04",),
    docs=Docs(
        why="At shutdown the server saves which pages the pool holds, a small file of numbers, and reads those pages "
        "again at start-up in the background. Without either the pool fills one page at a time as sessions ask: 1 "
        "GiB is 65,536 pages, more than five minutes for a disk of 200 reads a second. The rule reports from that "
        "size on.",
        fix="Remove the line; both are on by default.",
        risk="Reads in the background after a start, beside those of sessions.",
        exceptions="Replicas and test servers without waiting clients, and data that differs after each restart.",
        reconsider_when="A restart under load after which answers are as quick as before within a minute.",
    ),
)
def cold_pool_after_restart(context: RuleContext) -> Iterator[Finding]:
    """Report a pool of 1 GB or more whose page list is not dumped at shutdown or not loaded at startup."""
    pool = context.number(POOL)
    if pool is None or pool < SLOW_TO_WARM:
        return
    for name in ("innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup"):
        if context.explicit_switch(name) is False:
            action = advise(
                context,
                name,
                "ON",
                risk="reads in the background after a start",
                watch="Innodb_buffer_pool_load_status",
            )
            yield cold_pool_after_restart.finding(
                f"The pool of {format_size(pool)} starts empty, and sessions read its pages from disk one by one.",
                variable_subject(context, name),
                help=help_line(action),
                actions=present(action),
            )


@rule(
    "INN020",
    "shutdown-like-a-crash",
    summary="Each shutdown leaves the data files as after a crash, so the next start runs crash recovery.",
    options=("innodb_fast_shutdown",),
    evidence=("INNV-05", "INNV-01"),
    docs=Docs(
        why="With innodb_fast_shutdown = 2 the server writes its redo log and ends, without writing changed "
        "pages. No committed transaction is lost, but the next start is a crash recovery, and a copy of the "
        "data files or an upgrade to another version finds them unclean. MariaDB's documentation keeps it "
        "for emergencies.",
        fix="Remove the line; the default is 1.",
        risk="A shutdown takes as long as writing the changed pages.",
        exceptions="An emergency, set by hand right before it.",
        reconsider_when="Nothing.",
    ),
)
def shutdown_like_a_crash(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_fast_shutdown = 2."""
    name = "innodb_fast_shutdown"
    if context.is_set(name) and context.number(name) == LIKE_A_CRASH:
        action = advise(context, name, 1, risk="a shutdown takes as long as writing the changed pages")
        yield shutdown_like_a_crash.finding(
            "The server ends without writing changed pages, so every start is a crash recovery.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN022",
    "overruled-dedicated-server",
    severity=Severity.NOTE,
    summary="innodb_dedicated_server sizes nothing that the file sizes itself.",
    targets=(Span("mysql", since=(8, 0)),),
    options=("innodb_dedicated_server",),
    evidence=("INNA-04", "BP-03"),
    docs=Docs(
        why="innodb_dedicated_server sizes the buffer pool and the redo log by the machine's memory. What the "
        "file sets itself it leaves alone, with a warning in the server's log.",
        fix="Keep one of the two: the sizes, or innodb_dedicated_server.",
        risk="Without the sizes the server takes half to three quarters of memory for the pool.",
        restart=True,
        exceptions="A file that means to size one of them by hand and leave the other to the server.",
        reconsider_when="A server of this version that ignores the size.",
    ),
)
def overruled_dedicated_server(context: RuleContext) -> Iterator[Finding]:
    """Report explicit sizes that override innodb_dedicated_server."""
    name = "innodb_dedicated_server"
    sizes = [size for size in SIZES if context.is_set(size)]
    if sizes and context.explicit_switch(name):
        yield overruled_dedicated_server.finding(
            f"innodb_dedicated_server does not size what is set by hand: {', '.join(sizes)}.",
            variable_subject(context, name),
            help="keep either the sizes or innodb_dedicated_server",
        )


@rule(
    "INN014",
    "forced-recovery",
    severity=Severity.ERROR,
    summary="innodb_force_recovery is on, which is for recovering data and not for production.",
    options=("innodb_force_recovery",),
    evidence=("ASK-10",),
    docs=Docs(
        why="Values from 1 on skip parts of recovery and of checking; from 4 on they can destroy data, and "
        "InnoDB doesn't allow writes. It is meant for dumping tables of a damaged server.",
        fix="Remove the line when the data is rescued.",
        risk="A server that is still damaged may not start without it.",
        restart=True,
        exceptions="While data is being rescued.",
        reconsider_when="Nothing.",
    ),
)
def forced_recovery(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_force_recovery above 0."""
    value = context.number("innodb_force_recovery")
    if value and context.is_set("innodb_force_recovery"):
        yield forced_recovery.finding(
            f"Recovery is forced at level {value}: {_recovery_effect(context.target, value)}",
            variable_subject(context, "innodb_force_recovery"),
            help="remove the line when the data is rescued",
        )


def _recovery_effect(target: Target, level: int) -> str:
    if target.is_mariadb:
        return "checks are skipped, and rows are written all the same, so damage can spread."
    return (
        "InnoDB is read-only." if level >= READ_ONLY_LEVEL else "checks are skipped, and changes of rows are refused."
    )
