"""MEM: rules about the server's memory use compared with the memory that it may use."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, beside_limit, format_percent, format_size
from rules.core import Docs, rule
from rules.core.advice import advise, group_swappiness, help_line, present, swappiness_help
from rules.core.counters import require_uptime_at_size, steady_window, window_text
from rules.core.subject import variable_subject
from rules.sizing.memory import (
    GIB,
    MIB,
    Budget,
    is_too_tight,
    largest_part,
    memory_at_rest,
    memory_besides,
    memory_budget,
    pool_that_fits,
    pool_that_holds,
    round_to_steps,
    system_memory,
    usable_memory,
)
from rules.sizing.performance_schema import SCHEMA_SIZES, configured_schema_sizes, schema_growth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

POOL = "innodb_buffer_pool_size"
# Options that show, if one is set, that the memory settings were chosen explicitly.
CHOSEN = (POOL, "max_connections", "sort_buffer_size", "join_buffer_size", "read_buffer_size", "tmp_table_size")
# Resident memory within a twentieth of the limit, or within 4G of it, counts as beyond it.
NEAR_SHARE = 20
NEAR = 4 * GIB
MUCH = 4  # a setting that takes a quarter of the memory, and more than it leaves to the pool, is what is too large
FAR_BEYOND = 5  # times the memory: a ceiling that is worth a note
DISK_READS = 100  # pages a second; a spinning disk does about that many
FEW_READS = 10  # pages a second; below, storage is not the bottleneck, whatever the percentage
MISSED_PERCENT = 5  # of the page requests; a pool that holds the working set misses far fewer than 1 percent
FREE_PERCENT, IDLE_PERCENT = 5, 50
ROOM = 1.5  # times; a pool that fits must be this much larger to be worth a finding
IDLE_AFTER = 7 * 86400  # seconds of uptime; after less, an empty pool means nothing
SWAPPED = 100 * MIB
SHARED = (POOL, "innodb_log_buffer_size", "key_buffer_size", "aria_pagecache_buffer_size", "temptable_max_ram")


@rule(
    "MEM001",
    "pool-exceeds-memory",
    summary="The buffer pool alone takes nearly all the memory that the server may use, or more.",
    needs=("host",),
    options=(POOL,),
    evidence=("BP-05", "BP-04", "VM-03", "MEM-01", "MEM-02", "MEM-03", "MEM-05"),
    docs=Docs(
        why="Besides the pool the server needs memory for sessions, dictionaries and temporary tables, and the system "
        "for itself. When memory runs out the kernel swaps, or kills the largest process, which is usually the "
        "server. In a container the limit of the control group counts, not the machine's memory; so do memory.high, "
        "the NUMA nodes to which the server is bound, and a limit on its address space. The rule adds up the pool with "
        "its lists (8 percent more on MySQL, 2 on MariaDB), the idle server, and the system (256M, at most a quarter "
        "of the memory, and 2 percent; 64M and 2 percent in a control group), and reports a sum above the memory. It "
        "keeps no share free: a fifth would leave 100G idle on a machine of 512G, and too little on 2G.",
        fix="Lower the pool to what remains after the system, the server's other parts, its sessions and a reserve of "
        "6 percent, or give the server more memory.",
        risk="A smaller pool reads more from disk. Shrinking it at run time can stall statements for seconds.",
        exceptions="A pool takes memory as it fills: one much larger than all data never takes its size, except with "
        "large_pages. Other programs of the host are not counted: what they take must fit as well.",
        reconsider_when="Data that will never fill the pool.",
        disagree="MySQL's manual says 50 to 75 percent of memory, MariaDB's 60 to 70 and up to 80.",
    ),
)
def pool_exceeds_memory(context: RuleContext) -> Iterator[Finding]:
    """Report a buffer pool that takes nearly all usable memory, or more."""
    pool, room = context.number(POOL), usable_memory(context)
    if pool is None or room is None or not context.is_set(POOL):
        return
    size, where = room
    if not is_too_tight(context, pool, size):
        return
    fits = pool_that_fits(context, size)
    action = advise(
        context, POOL, fits, size=True, watch="Innodb_buffer_pool_reads",
        risk="shrinking the pool can stall statements for seconds",
    )  # fmt: skip
    others_first = _others_first(context, size, fits)
    yield pool_exceeds_memory.finding(
        f"The buffer pool of {format_size(pool)} does not fit in the {where} that the server may use: "
        f"{memory_besides(context, size)}.",
        variable_subject(context, POOL),
        severity=Severity.ERROR if pool >= size else Severity.WARNING,
        help=others_first or help_line(action),
        actions=() if others_first else present(action),
    )


def _others_first(context: RuleContext, usable_bytes: int, fits: int) -> str:
    """Help where one other line takes much and leaves hardly a pool: that has to shrink first. Else empty."""
    name, taken = largest_part(context, 0, but=POOL)
    if not context.is_set(name) or taken * MUCH < usable_bytes or taken < fits:
        return ""
    return f"lower {name} first, which may take {format_size(taken)}: that leaves {format_size(fits)} for the pool"


@rule(
    "MEM002",
    "memory-over-budget",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The server uses, or is likely to use, more memory than it may use.",
    needs=("host",),
    options=(*CHOSEN, *SCHEMA_SIZES),
    evidence=("MEM-01", "MEM-02", "MEM-03", "MEM-04", "CONN-04", "VM-03", "BP-05"),
    docs=Docs(
        why="Three numbers are compared with the memory: measured (the process's resident size without mapped files), "
        "likely (the program, shared buffers, the connections at the peak, and the active ones with the buffers that "
        "are in use) and loaded (all max_connections open, and four active ones per processor, at least 16, with "
        "every buffer and a temporary table). Measured near the limit is an error, likely above it a warning, loaded "
        "above it a note. The ceiling, with every connection active, is not reached in practice. A note reports it "
        "from five times the memory on: sessions that pile up behind a lock can end in an OOM kill. Buffers include "
        "binlog_cache_size where the binary log is on. performance_schema allocates texts at start-up: 20,000 texts "
        "of 1M take 20G.",
        fix="Lower the largest part: the pool, max_connections, the buffers of each session, or the sizes of "
        "performance_schema, which need a restart.",
        risk="With fewer connections, clients may be refused; a smaller pool reads more from disk.",
        exceptions="Servers whose clients open far fewer connections than max_connections allows.",
        reconsider_when="The measured size over weeks of peak load.",
        disagree="MySQLTuner and others warn by the ceiling alone, which flags most healthy servers.",
    ),
)
def memory_over_budget(context: RuleContext) -> Iterator[Finding]:
    """Report measured, likely or loaded memory above the usable memory."""
    estimate, room = memory_budget(context), usable_memory(context)
    if estimate is None or room is None:
        return
    if finding := _large_schema(context, *room):
        yield finding
        return
    if not any(context.is_set(name) for name in CHOSEN):
        return
    judged = _budget_finding(estimate, *room)
    if judged is not None:
        severity, confidence, message = judged
        sessions = estimate.connections if confidence is Confidence.OPINION else estimate.running
        largest, size = largest_part(context, sessions)
        yield memory_over_budget.finding(
            message,
            severity=severity,
            confidence=confidence,
            help=f"lower the largest part: {largest} may take {format_size(size)} of it"
            + ("" if largest in SHARED else f", {_sessions_of(largest, estimate, sessions)} together"),
        )


def _large_schema(context: RuleContext, size: int, where: str) -> Finding | None:
    """A finding if the server at rest does not fit because of performance_schema; the pool is not counted."""
    raised, taken = configured_schema_sizes(context), schema_growth(context)
    if not taken or memory_at_rest(context) + system_memory(context, size) <= size:
        return None
    return memory_over_budget.finding(
        f"At start-up performance_schema takes {format_size(taken)} more than by default ({', '.join(raised)}), and "
        f"the server may use only {where}: it may be killed for memory, or run without performance_schema.",
        variable_subject(context, raised[0]),
        severity=Severity.WARNING,
        help=f"remove {'this line' if len(raised) == 1 else 'these lines'}, or lower the sizes",
    )


def _sessions_of(option: str, estimate: Budget, sessions: int) -> str:
    return f"{estimate.connections if option == 'max_connections' else sessions:,} sessions"


def _budget_finding(estimate: Budget, size: int, where: str) -> tuple[Severity, Confidence, str] | None:
    if estimate.measured and _is_near(estimate.measured, size):
        message = f"The server has taken {beside_limit(estimate.measured, size, where)}"
        return Severity.ERROR, Confidence.MEASURED, message
    if estimate.likely and estimate.likely > size:
        message = f"At peak connections the server is likely to take {beside_limit(estimate.likely, size, where)}"
        return Severity.WARNING, Confidence.LIKELY, message
    if estimate.loaded <= size:
        return _ceiling_finding(estimate, size, where)
    message = (
        f"With all {estimate.connections:,} connections open and {estimate.running:,} of them active, the server takes "
        f"up to {beside_limit(estimate.loaded, size, where)}"
    )
    return Severity.NOTE, Confidence.LIKELY, message


def _ceiling_finding(estimate: Budget, size: int, where: str) -> tuple[Severity, Confidence, str] | None:
    """A note on a ceiling of many times the memory: a load that lets more sessions work ends in an OOM kill."""
    if estimate.ceiling < size * FAR_BEYOND:
        return None
    message = (
        f"The server may take up to {format_size(estimate.ceiling)} ({estimate.sessions}): it stays within {where} "
        "only while few sessions are active."
    )
    return Severity.NOTE, Confidence.OPINION, message


def exceeds_memory(estimate: Budget, size: int) -> bool:
    """Whether measured memory is near the usable memory, or likely memory is above it."""
    return _is_near(estimate.measured or 0, size) or (estimate.likely or 0) > size


def _is_near(measured: int, size: int) -> bool:
    return measured > size - min(NEAR, size // NEAR_SHARE)


@rule(
    "MEM003",
    "small-buffer-pool",
    confidence=Confidence.LIKELY,
    summary="The buffer pool is full, pages are constantly read from disk, and there is memory to spare.",
    needs=("server", "workload", "host"),
    options=(POOL,),
    evidence=("BP-01", "BP-02", "BP-05", "INNA-42", "INNV-33"),
    probe="pool-size",
    docs=Docs(
        why="Throughput rises with the pool until it holds the data in use, about 70 percent of all data in the "
        "published test; a pool of a tenth of the data was 2.4 to 3.9 times slower. Too small a pool also makes "
        "throughput collapse with many sessions. The rule reports a hundred pages a second from disk, or ten where "
        "they are one in twenty of all page requests; these thresholds are our choice. MariaDB 10.6.13 and 10.11.3 do "
        "not count all page requests: there the rule reports only a hundred pages a second.",
        fix="Raise it to at most what remains after the system, the server's other parts and its sessions, and no "
        "higher than the size of the data plus a quarter.",
        risk="Memory that other programs on the host need. Resizing at run time can stall statements for a moment.",
        exceptions="A nightly scan reads from disk however large the pool is; look at the hours that matter. Where all "
        "data fits into the present pool, each page is read once, and there is no finding.",
        reconsider_when="A rate of page reads that does not fall with the larger pool.",
        disagree="Rules of thumb (80 percent of memory, as large as the data) know neither the working set nor what "
        "else runs on the host.",
    ),
)
def small_buffer_pool(context: RuleContext) -> Iterator[Finding]:
    """Report a full buffer pool with steady reads from disk while memory is free."""
    from rules.innodb.buffer_pool import instances_for  # lazily: lint has no counters
    from rules.innodb.io_capacity import page_request_rate

    pool, room, window = context.number(POOL), usable_memory(context), steady_window(context)
    reads, asked = window.rate("innodb_buffer_pool_reads"), page_request_rate(context, window)
    free, total = (context.server.counter(f"innodb_buffer_pool_pages_{kind}") for kind in ("free", "total"))
    if pool is None or room is None or reads is None or free is None or not total:
        return
    better = _pool_for_data(context, pool, _memory_for_pool(context, pool, room[0]))
    if not is_missing_much(reads, asked) or free > _reserved_free_pages(context, total) or better < pool * ROOM:
        return
    risk, watch = "resizing can stall statements for a moment", "Innodb_buffer_pool_reads"
    action, more = advise(context, POOL, better, size=True, risk=risk, watch=watch), instances_for(context, better)
    # MariaDB counts pages that are read ahead too, which no session requested.
    of_all = f", {format_percent(reads / asked)} of all page requests," if asked and reads <= asked else ""
    yield small_buffer_pool.finding(
        f"{reads:,.0f} pages a second{of_all} are read from disk {window_text(window)}; the pool of "
        f"{format_size(pool)} is full, and the server may use {room[1]}.",
        variable_subject(context, POOL),
        help="; ".join(filter(None, (help_line(action), help_line(more)))),
        actions=present(action, more),
    )


def is_missing_much(reads: float, asked: float | None) -> bool:
    """Whether the reads from disk are many for a disk, or a high percentage of the page requests."""
    if reads >= DISK_READS:
        return True
    return bool(asked) and reads >= FEW_READS and reads * 100 >= (asked or 0) * MISSED_PERCENT


def _memory_for_pool(context: RuleContext, pool: int, usable_bytes: int) -> int:
    """The largest pool that fits, minus the memory that other programs of the host use now."""
    fits, memory = pool_that_fits(context, usable_bytes), context.host.memory
    if memory is None or memory.available is None or usable_bytes < memory.total:
        return fits
    room = pool + max(0, memory.available - system_memory(context, usable_bytes))
    return fits if room >= fits else round_to_steps(context, room)


def _pool_for_data(context: RuleContext, pool: int, most: int) -> int:
    """The pool size for the data, at most `most`.

    It is the current pool if that holds all data: each page is then read only once.
    """
    data = context.server.data
    if data is None:
        return most
    return pool if data.innodb_bytes <= pool else min(most, pool_that_holds(context, data.innodb_bytes))


def _reserved_free_pages(context: RuleContext, total: int) -> int:
    """Free pages that a full pool keeps in reserve: innodb_lru_scan_depth per instance, and a percentage."""
    kept = (context.number("innodb_lru_scan_depth") or 0) * (context.number("innodb_buffer_pool_instances") or 1)
    return total * FREE_PERCENT // 100 + kept


@rule(
    "MEM004",
    "idle-buffer-pool",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="More than half of the buffer pool is empty, a week or more after the server started.",
    needs=("server",),
    options=(POOL,),
    evidence=("BP-01",),
    docs=Docs(
        why="Pages that are free after a week are memory that nothing uses. Dropped tables leave free pages too, "
        "until other data is read. Pages that were never used take no memory yet, except with large_pages.",
        fix="Lower the pool where something else needs the memory, now or when these pages fill.",
        risk="The data may grow. Shrinking the pool at run time can stall statements for seconds.",
        exceptions="Memory that nothing else needs costs nothing. A pool of less than 1G, or one that was set in the "
        "last week, is not judged.",
        reconsider_when="A working set that grows into the pool.",
    ),
)
def idle_buffer_pool(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly sized pool that stays mostly empty."""
    free, total = (context.server.counter(f"innodb_buffer_pool_pages_{kind}") for kind in ("free", "total"))
    pool = context.number(POOL)
    if not pool or not total or free is None or pool < GIB or not context.is_set(POOL):
        return
    if free * 100 > total * IDLE_PERCENT:
        require_uptime_at_size(context, POOL, IDLE_AFTER)
        yield idle_buffer_pool.finding(
            f"{free * 100 // total} % of the buffer pool of {format_size(pool)} is empty, "
            f"{context.server.uptime // 86400} days after the server started.",
            variable_subject(context, POOL),
            help="lower it if something else on this host needs the memory",
        )


@rule(
    "MEM005",
    "swapped-server",
    confidence=Confidence.MEASURED,
    summary="Part of the server's memory is swapped out.",
    needs=("host",),
    evidence=("VM-01", "NUMA-01"),
    docs=Docs(
        why="A buffer pool page in swap costs a disk read where the server expects a memory access, often while it "
        "holds a lock.",
        fix="Make room first: a smaller pool or fewer other programs. Then set vm.swappiness = 1 in /etc/sysctl.d, "
        "load it with sysctl -p FILE, and on machines with several NUMA nodes let the pool interleave.",
        risk="A smaller pool reads more from disk. A swappiness of 0 instead of 1 makes OOM kills more likely.",
        exceptions="Memory that the server never touches can stay in swap without harm.",
        reconsider_when="No page coming in from swap (si of vmstat) over a busy hour.",
    ),
)
def swapped_server(context: RuleContext) -> Iterator[Finding]:
    """Report a server process with a large part swapped out."""
    process = context.host.process
    if process is not None and process.swapped is not None and process.swapped > SWAPPED:
        yield swapped_server.finding(
            f"{format_size(process.swapped)} of the server's memory is in swap.",
            help=f"make room in memory first{_swappiness_help(context)}",
        )


def _swappiness_help(context: RuleContext) -> str:
    memory = context.host.memory
    values = (memory and memory.swappiness, group_swappiness(context))
    return f"; then {swappiness_help(context)}" if any((value or 0) > 1 for value in values) else ""


@rule(
    "MEM006",
    "killed-for-memory",
    severity=Severity.ERROR,
    confidence=Confidence.MEASURED,
    summary="The kernel has killed processes in the server's control group for lack of memory.",
    needs=("host",),
    evidence=("VM-03", "BP-04"),
    docs=Docs(
        why="When a control group reaches its limit, the kernel kills one of its processes, usually the server. If a "
        "service restarts it, it recovers, has a cold pool, and grows to the limit again.",
        fix="Lower the pool and the buffers of each session, or raise the limit of the control group.",
        risk="A smaller pool reads more from disk.",
        exceptions="The kernel's log names what was killed: it may be another process of the group. Without a limit "
        "the finding is a note: the host's memory ran out, and the group may hold much more than the server.",
        reconsider_when="A kernel log that names another process.",
    ),
)
def killed_for_memory(context: RuleContext) -> Iterator[Finding]:
    """Report OOM kills counted by the server's control group."""
    group = context.host.cgroup
    if group is None or not group.oom_kills:
        return
    killed = f"The kernel killed {group.oom_kills:,} process{'es' if group.oom_kills > 1 else ''}"
    limit = f"; the group's limit is {format_size(group.limit)}" if group.limit else " of the host"
    lower, look = "lower the pool and the buffers of each session", "check in the kernel's log if it was the server"
    yield killed_for_memory.finding(
        f"{killed} of the server's control group for lack of memory{limit}.",
        severity=None if group.limit else Severity.NOTE,
        confidence=None if group.limit else Confidence.LIKELY,
        help=f"{lower}, or raise the limit" if group.limit else look,
    )


LARGE_HOST, SMALL_SHARE = 8 * GIB, 8  # a pool of an eighth of the memory or less
OTHER_CACHES = ("key_buffer_size", "aria_pagecache_buffer_size")
OTHER_ENGINES = ("rocksdb", "tokudb", "columnstore", "spider", "ndb")  # in names of options and libraries


@rule(
    "MEM007",
    "pool-far-below-memory",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The buffer pool is set to a small part of the memory.",
    needs=("host",),
    options=(POOL,),
    evidence=("BP-05",),
    docs=Docs(
        why="Pages that do not fit in the pool are read from disk again and again. A pool of an eighth of the memory "
        "or less is often left over from a smaller host. An option file cannot show how much data there is; mycnf "
        "audit of the running server measures whether the pool is too small (small-buffer-pool).",
        fix="Where the server has the host to itself and its data is larger than the pool, enlarge the pool: start "
        "with half of the memory, and use more after an audit.",
        risk="Memory that other programs of the host use.",
        exceptions="Data that fits in the pool, and hosts that the server shares. Hosts of less than 8G, files for "
        "several servers, and servers with a large cache of another engine are not reported.",
        reconsider_when="Innodb_buffer_pool_reads near zero under load.",
    ),
)
def pool_far_below_memory(context: RuleContext) -> Iterator[Finding]:
    """Report an explicit pool of an eighth of a large host's memory or less, in an option file alone."""
    pool, room = context.number(POOL), usable_memory(context)
    if pool is None or room is None or not context.is_set(POOL) or context.has("server"):
        return
    size, where = room
    if size < LARGE_HOST or pool * SMALL_SHARE > size or _is_shared(context, size):
        return
    yield pool_far_below_memory.finding(
        f"The buffer pool of {format_size(pool)} is {format_percent(pool / size)} of the {where} that the server may "
        "use: data that does not fit is read from disk again.",
        variable_subject(context, POOL),
        help="enlarge it if the data is larger and the server has the host to itself; mycnf audit measures it",
    )


def _is_shared(context: RuleContext, size: int) -> bool:
    """Whether other engines or servers, by the file, have a part of the memory."""
    if sum(context.number(name) or 0 for name in OTHER_CACHES if context.is_set(name)) * SMALL_SHARE > size:
        return True
    for placed in context.file_verdict.resolved.options:
        group, line = (placed.line.group or "").lower(), placed.line
        text = f"{line.name} {line.value}" if "plugin" in (line.name or "") else line.name or ""
        several = group.startswith(("mysqld", "mariadb")) and group[-1:].isdigit()
        if several or any(engine in text.lower() for engine in OTHER_ENGINES):
            return True
    return False
