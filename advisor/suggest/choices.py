"""Settings that differ from the defaults for a dedicated server; one function per server component."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import exact_size, format_size
from advisor.verdict.settings import DEFAULT_CONNECTIONS
from rules.core.advice import connection_limit
from rules.core.storage import disk_names, is_nvme, is_solid_state, is_spinning
from rules.durability import log_bin_line, uses_innodb_binary_log, writes_binary_log
from rules.durability.binary_log import PURGE_NEEDS
from rules.innodb.buffer_pool import BUFFERED
from rules.innodb.io_capacity import SOLID_CAPACITY, SPINNING_CAPACITY
from rules.innodb.redo_log_size import log_for_pool, redo_capacity, size_option, value_for
from rules.sizing.memory import (
    GIB,
    MIB,
    SPARE_PERCENT,
    idle_session,
    memory_besides,
    pool_that_fits,
    running_sessions,
    running_total,
    session_total,
    usable_memory,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.core.model import Target
    from rules.core.context import RuleContext

POOL = "innodb_buffer_pool_size"
CONNECTIONS = "max_connections"
# What a running statement takes beside the pool for sorts, joins and temporary tables, by the workload. Our choice.
STATEMENT = {"oltp": 4 * MIB, "mixed": 16 * MIB, "analytic": 64 * MIB, "dev": 4 * MIB}
WORKLOADS = tuple(STATEMENT)
LOGGED = frozenset({"oltp", "mixed"})  # workloads whose changes come one by one and cannot be loaded again
MIN_POOL = 256 * MIB  # below, the gain over the default of 128M is small, and the rest of the server needs the memory
DEVELOPER_POOL = GIB
DEVELOPER_HOST = 4 * GIB  # with a larger pool that fits, 1G leaves enough to a developer's other programs
# Processors and the connections for them. Few of many connections work at once; more let clients pile up (CONN-02).
CONNECTION_STEPS = ((64, 1000), (16, 500))
CONNECTION_PERCENT = 5  # of the memory that all connections may take while idle
LEAST_CONNECTIONS, FEW_CONNECTIONS = 50, 100
WEEK_DAYS = 7
NO_DEFAULT = "(NO DEFAULT VALUE)"  # the default of innodb_flush_method on MySQL 5.7, which is fsync
CHECKPOINT_AGE = "how far Innodb_redo_log_current_lsn is ahead of Innodb_redo_log_checkpoint_lsn"


class SuggestedLine(NamedTuple):
    """One line: option and value as written in the file, the reason, ids of its evidence, and its risk.

    `size` is the value in bytes if it is a size.
    """

    option: str
    value: str
    reason: str
    evidence: tuple[str, ...] = ()
    risk: str = ""
    watch: str = ""
    size: int = 0

    @property
    def line(self) -> str:
        """Return the line of the option file."""
        return f"{self.option} = {self.value}"


def suggest_connections(known: RuleContext, workload: str) -> Iterator[SuggestedLine]:
    """Yield more connections for many processors, and fewer where idle ones would take much of the memory."""
    room, cpus = usable_memory(known), known.host.usable_cpus
    if room is None or workload == "dev" or known.is_set(CONNECTIONS):
        return
    wanted = next((count for least, count in CONNECTION_STEPS if (cpus or 0) >= least), DEFAULT_CONNECTIONS)
    affordable = max(LEAST_CONNECTIONS, affordable_connections(known, room[0]))
    each = f"Each takes about {format_size(idle_session(known))} as soon as it has read something"
    if affordable <= FEW_CONNECTIONS:
        reason = f"{each}: the default of {DEFAULT_CONNECTIONS} would take memory that the buffer pool needs."
        risk = "clients beyond that are refused: limit their pools"
        yield SuggestedLine(CONNECTIONS, str(affordable), reason, ("CONN-04",), risk, "Max_used_connections")
    elif wanted > DEFAULT_CONNECTIONS:
        reason = f"Room for the pools of several clients on {cpus:g} processors. {each}."
        risk = "more sessions compete if all are active at once: limit the clients' pools"
        count = str(min(wanted, affordable))
        yield SuggestedLine(CONNECTIONS, count, reason, ("CONN-02", "CONN-04"), risk, "Max_used_connections")


def affordable_connections(known: RuleContext, usable_bytes: int) -> int:
    """The connections, in tens, that take CONNECTION_PERCENT of that much memory while idle."""
    return usable_bytes * CONNECTION_PERCENT // 100 // idle_session(known) // 10 * 10


def suggest_pool(known: RuleContext, workload: str) -> Iterator[SuggestedLine]:
    """Yield the buffer pool size: what the system, the server and its sessions leave of the memory."""
    room = usable_memory(known)
    if room is None:
        return
    running = running_sessions(known)
    idle = session_total(known)
    # Statements get as much as the pool at most: many processors with little memory run fewer at once.
    work = min(
        max(running_total(known, running), running * STATEMENT[workload]),
        pool_that_fits(known, room[0], sessions=idle) // 2,
    )
    wanted = pool_that_fits(known, room[0], sessions=idle + work)
    if workload == "dev":
        wanted = DEVELOPER_POOL if wanted >= DEVELOPER_HOST else 0
    if wanted < MIN_POOL:
        return
    sessions = f"{connection_limit(known) or 0:,} connections need {format_size(idle)}"
    why = (
        "It holds the data of most projects. The rest is left for other programs on a developer's machine."
        if workload == "dev"
        else f"What remains of the {room[1]}: {memory_besides(known, room[0])}. Its {sessions}, and {running} "
        f"statements at once {format_size(work)}. {SPARE_PERCENT} % stay free."
    )
    yield SuggestedLine(
        POOL,
        exact_size(wanted),
        f"{why} The default of 128M reads most data from disk.",
        ("BP-01", "MEM-01", "MEM-02", "VM-03"),
        "memory that other programs of this host need",
        "Innodb_buffer_pool_reads",
        wanted,
    )


def suggest_redo_log(known: RuleContext, workload: str) -> Iterator[SuggestedLine]:
    """Yield the redo log size by the pool and the disks, if the pool is so large that the log would limit it."""
    pool = known.number(POOL) or 0
    size = log_for_pool(known, pool)
    if workload == "dev" or size is None or (redo_capacity(known) or 0) >= size:
        return
    reason = (
        f"With a pool of {format_size(pool)} the default log makes writes wait for pages to be flushed. The writes of "
        "this server are unknown: mycnf audit measures whether the log holds an hour of them."
    )
    risk = f"{format_size(size)} of disk; recovery after a crash may take minutes"
    watch = "Innodb_checkpoint_age" if known.target.is_mariadb else CHECKPOINT_AGE
    value = exact_size(value_for(known, size))
    evidence = ("REDO-01", "REDO-02", "REDO-08")
    yield SuggestedLine(size_option(known), value, reason, evidence, risk, watch if _shows_age(known) else "")


def _shows_age(known: RuleContext) -> bool:
    """Whether status counters show the checkpoint age."""
    return known.target.is_mariadb or known.target.since("mysql", 8, 0, 30)


def suggest_flushing(known: RuleContext, _workload: str) -> Iterator[SuggestedLine]:
    """Yield settings for flushing to the known disks."""
    buffered = (known.text("innodb_flush_method") or "FSYNC") in BUFFERED | {NO_DEFAULT}
    if buffered and _has_direct_io(known.target):
        yield SuggestedLine(
            "innodb_flush_method",
            "O_DIRECT",
            "The default of this version causes double buffering: pages are cached in the pool and in the page cache.",
            ("FLUSH-01",),
            "reads of pages that were only in the page cache go to the disk",
            "Innodb_buffer_pool_reads",
        )
    if is_spinning(known):
        yield from _suggest_for_spinning_disks(known)
    elif is_solid_state(known) and known.target.is_mysql and (known.number("innodb_flush_neighbors") or 0):
        yield SuggestedLine(
            "innodb_flush_neighbors",
            "0",
            f"Flushing neighbours saves seeks, which these disks ({disk_names(known.host)}) don't have.",
            ("NB-01",),
            "",
            "Innodb_data_writes",
        )
    if is_solid_state(known) and not is_spinning(known):
        yield from _suggest_for_solid_state_disks(known)


def _has_direct_io(target: Target) -> bool:
    """Whether O_DIRECT is a value, and not the default, of the target; MySQL on Windows refuses it."""
    return target.is_mysql and not target.since("mysql", 8, 4) and target.platform != "windows"


def _suggest_for_solid_state_disks(known: RuleContext) -> Iterator[SuggestedLine]:
    # NVMe gets twice what MariaDB's figures for solid-state disks begin with (IOC-03).
    capacity = 2 * SOLID_CAPACITY if is_nvme(known) else SOLID_CAPACITY
    if (known.number("innodb_io_capacity") or 0) < capacity:
        reason = f"The default suits a spinning disk; these disks ({disk_names(known.host)}) write far more pages."
        watch, risk = "Innodb_buffer_pool_pages_dirty", "more writes in the background, which wear out the disk sooner"
        yield SuggestedLine("innodb_io_capacity", str(capacity), reason, ("IOC-02", "IOC-03"), risk, watch)
        reason = "Twice the rate, which is the server's own default for it."
        yield SuggestedLine("innodb_io_capacity_max", str(2 * capacity), reason, ("IOC-03",), "", watch)


def _suggest_for_spinning_disks(known: RuleContext) -> Iterator[SuggestedLine]:
    disks = disk_names(known.host)
    if (known.number("innodb_io_capacity") or 0) > SPINNING_CAPACITY:
        reason = f"The default asks for more page writes a second than spinning disks ({disks}) can do."
        watch = "Innodb_buffer_pool_pages_dirty"
        # The maximum must not be below the rate; twice the rate is the server's own default for it.
        yield SuggestedLine("innodb_io_capacity", str(SPINNING_CAPACITY), reason, ("IOC-03",), "", watch)
        yield SuggestedLine("innodb_io_capacity_max", str(2 * SPINNING_CAPACITY), reason, ("IOC-03",), "", watch)
    if known.target.is_mysql and known.number("innodb_flush_neighbors") == 0:
        reason = f"Flushing neighbouring pages together saves seeks on spinning disks ({disks})."
        yield SuggestedLine("innodb_flush_neighbors", "1", reason, ("NB-01",), "", "Innodb_data_writes")


def suggest_binary_log(known: RuleContext, workload: str) -> Iterator[SuggestedLine]:
    """Yield a binary log that survives a crash and is purged, where the version has none by default."""
    if workload not in LOGGED or known.target.since("mysql", 8):
        return
    if known.settings.on("wsrep_on") and not writes_binary_log(known):
        return  # the other nodes have what a node writes, and its log would need log_slave_updates too
    if not writes_binary_log(known):
        yield from _suggest_writing_it(known)
    if log_bin_line(known) is None or writes_binary_log(known):
        yield from _suggest_safe_binary_log(known)
        yield from _suggest_expiry(known)


def _suggest_writing_it(known: RuleContext) -> Iterator[SuggestedLine]:
    if log_bin_line(known) is not None:
        return  # a line switches it off on purpose
    if known.target.is_mysql and not known.number("server_id"):
        reason = "MySQL 5.7 with log_bin does not start without it. Each server of a topology needs a different number."
        yield SuggestedLine("server_id", "1", reason, ("ASK-13",), "two servers with the same number break replication")
    yield SuggestedLine(
        "log_bin",
        "binlog",
        "Point-in-time recovery and replicas need the binary log, which this version does not write by default.",
        ("DUR-01",),
        "each change is written and synced once more, and the files take disk space",
        "Binlog_cache_disk_use",
    )


def _suggest_safe_binary_log(known: RuleContext) -> Iterator[SuggestedLine]:
    if known.text("binlog_format") == "MIXED" and not known.is_set("binlog_format"):
        reason = "Replicas and restores get the changed rows, where MIXED logs most changes as statements."
        yield SuggestedLine("binlog_format", "ROW", reason, ("ASK-BIN-02",), "larger logs for changes of many rows")
    if known.number("sync_binlog") != 1 and not uses_innodb_binary_log(known):
        reason = "With any other value the binary log and InnoDB can differ after a crash."
        yield SuggestedLine("sync_binlog", "1", reason, ("DUR-03",), "one more sync for each group of commits")


def _suggest_expiry(known: RuleContext) -> Iterator[SuggestedLine]:
    if any(known.settings.real(name) for name in ("expire_logs_days", "binlog_expire_logs_seconds")):
        return
    reason = "By default this version never purges binary logs, which eventually fill the disk."
    risk = "a replica that is disconnected for longer, or a restore from an older backup, fails"
    if known.target.is_mysql:
        yield SuggestedLine("expire_logs_days", str(WEEK_DAYS), reason, ("BLOG-03",), risk)
        return
    yield SuggestedLine("binlog_expire_logs_seconds", str(WEEK_DAYS * 86400), reason, ("BLOG-03",), risk)
    if known.catalog.get(PURGE_NEEDS) and not known.is_set(PURGE_NEEDS):
        reason = "With the default of 1 nothing is purged while no replica is connected."
        risk = "logs are purged even if a disconnected replica still needs them"
        yield SuggestedLine(PURGE_NEEDS, "0", reason, ("BLOG-04",), risk)


def suggest_slow_log(known: RuleContext, workload: str) -> Iterator[SuggestedLine]:
    """Yield a slow query log, with a threshold of a second where statements are meant to be short."""
    if workload == "dev":
        return
    reason = "The first thing to read when users complain. It costs nothing while statements are fast."
    risk = "the file grows with each slow statement, and contains its text: rotate and protect it"
    if known.settings.on("slow_query_log") is not True:
        yield SuggestedLine("slow_query_log", "ON", reason, ("OBS-02",), risk, "Slow_queries")
    if workload in LOGGED and not known.is_set("long_query_time"):
        reason = "The default of 10 seconds omits statements that users already notice."
        yield SuggestedLine("long_query_time", "1", reason, ("OBS-02",), "", "Slow_queries")


def suggest_character_set(known: RuleContext, _workload: str) -> Iterator[SuggestedLine]:
    """Yield utf8mb4 for new databases, if the default character set cannot store all of Unicode."""
    if known.text("character_set_server") == "LATIN1":
        yield SuggestedLine(
            "character_set_server",
            "utf8mb4",
            "latin1 has only Western European letters; the default of newer series of both servers is utf8mb4.",
            (),
            "existing tables keep their character set; joins between both sets may not use an index",
        )


def suggest_local_infile(known: RuleContext, _workload: str) -> Iterator[SuggestedLine]:
    """Yield local_infile = OFF, with which statements can't make clients send files."""
    if known.text("local_infile") in {"ON", "TRUE", "1"}:
        yield SuggestedLine(
            "local_infile",
            "OFF",
            "An injected LOAD DATA LOCAL would make clients send files of their own hosts.",
            ("SRV-01",),
            "LOAD DATA LOCAL fails until local_infile is enabled",
        )


CHOOSERS: tuple[Callable[[RuleContext, str], Iterator[SuggestedLine]], ...] = (
    suggest_connections,
    suggest_pool,
    suggest_redo_log,
    suggest_flushing,
    suggest_binary_log,
    suggest_slow_log,
    suggest_character_set,
    suggest_local_infile,
)
