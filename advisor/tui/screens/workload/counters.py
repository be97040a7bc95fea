"""The series of the workload screen in groups, and the status counters each is computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.facts.workload import DISK_BUSY
from advisor.tui.screens.workload.formulas import (
    busiest,
    busy_share,
    difference,
    hit_rate,
    level,
    level_share,
    lsn_rate,
    query_time,
    quotient,
    rate,
    share,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.facts import Sample
    from advisor.tui.screens.workload.formulas import RateFormula

# What a colour means: amounts of work, reads, writes, waiting, and trouble.
WORK, READS, WRITES, WAITS, TROUBLE = "work", "reads", "writes", "waits", "trouble"


class Series(NamedTuple):
    """One row of the screen: `unit` is /s, B/s (bytes), B, %, ms, or empty for a level; `dips`: low values matter.

    The first of the `formulas` whose counters the server has is used; `missing_reason` says why some servers have none.
    `kind` is what it measures, one of WORK, READS, WRITES, WAITS and TROUBLE. An `optional` row is left out where its
    counters are missing.
    """

    id: str
    label: str
    unit: str
    formulas: tuple[RateFormula, ...]
    dips: bool = False
    missing_reason: str = ""
    kind: str = WORK
    optional: bool = False

    def formula_for(self, sample: Sample) -> RateFormula | None:
        """The formula for the server of this sample."""
        for formula in self.formulas:  # a plain loop: called for every interval of half an hour
            if formula.has_counters(sample):
                return formula
        return None

    def is_shown(self, sample: Sample | None) -> bool:
        """Whether the screen has a row of it for the server of this sample; None before the first."""
        return not self.optional or (sample is not None and self.formula_for(sample) is not None)

    def names_counter(self, counter: str) -> bool:
        """Whether a formula is computed from this counter, given in lower case."""
        return any(counter in formula.source.lower().split() for formula in self.formulas)

    @property
    def why_missing(self) -> str:
        """Why the series is missing if the server has none of its counters."""
        sources = ", or ".join(formula.source for formula in self.formulas)
        return f"{self.missing_reason or 'this server has no counter for it'} ({sources})"


class SeriesGroup(NamedTuple):
    """The series below one heading."""

    title: str
    series: tuple[Series, ...]


def _rate(name: str, label: str, *formulas: RateFormula, kind: str = WORK, optional: bool = False) -> Series:
    return Series(name, label, "/s", formulas, kind=kind, optional=optional)


def _bytes(name: str, label: str, *formulas: RateFormula, kind: str = WORK, optional: bool = False) -> Series:
    return Series(name, label, "B/s", formulas, kind=kind, optional=optional)


def _level(
    name: str, label: str, *formulas: RateFormula, unit: str = "", kind: str = WORK, optional: bool = False
) -> Series:
    return Series(name, label, unit, formulas, kind=kind, optional=optional)


def _part(name: str, label: str, *formulas: RateFormula, kind: str = WORK, optional: bool = False) -> Series:
    return Series(name, label, "%", formulas, kind=kind, optional=optional)


def _time(name: str, label: str, formula: RateFormula, why: str = "", *, optional: bool = False) -> Series:
    return Series(name, label, "ms", (formula,), missing_reason=why, kind=WAITS, optional=optional)


_ROWS_CHANGED = "Innodb_rows_inserted Innodb_rows_updated Innodb_rows_deleted"
_POOL = ("Innodb_buffer_pool_reads", "Innodb_buffer_pool_read_requests")
_HITS = "page requests served from the buffer pool without a disk read"
_LOCK_TIME = ("Innodb_row_lock_time", "Innodb_row_lock_waits")
_COMMITS = "commits in engines, reads included; an explicit COMMIT counts twice, a change in the binary log too"
_UNTIMED = "not available: MySQL has no such counter, and older snapshots lack it"
_LSN = "bytes of redo, by the log sequence number"
_AGE = "bytes of redo written since the last checkpoint; near the capacity of the log, writes stall"
_WAIT_FREE = "waits for a free page in the buffer pool: flushing is too slow, or the pool too small"
_REFUSED = "connections refused because max_connections was reached"

TRAFFIC = SeriesGroup(
    "Traffic",
    (
        _rate("queries", "queries", rate("Questions", "statements sent by clients, those of this app included")),
        _time("time", "statement time", query_time("latency: the mean time of a statement"), _UNTIMED),
        _rate("commits", "commits", rate("Handler_commit", _COMMITS)),
        _rate("com-commit", "COMMIT", rate("Com_commit", "COMMIT statements; autocommit sends none")),
        _rate(
            "rows-read",
            "rows read",
            rate("Innodb_rows_read", "rows read from InnoDB tables"),
            rate("Rows_read", "rows read from tables of any engine except temporary tables"),
            kind=READS,
        ),
        _rate(
            "rows-changed",
            "rows changed",
            rate(_ROWS_CHANGED, "rows written to InnoDB tables"),
            rate("Handler_write Handler_update Handler_delete", "rows written to tables of any engine"),
            kind=WRITES,
        ),
        _rate(
            "slow",
            "slow queries",
            rate("Slow_queries", "statements that took longer than long_query_time"),
            kind=TROUBLE,
        ),
        _rate(
            "scans",
            "full scans",
            rate("Select_scan", "SELECTs that read their first table in full; a sample is one or two"),
            kind=READS,
        ),
        _rate("temp", "temp. tables", rate("Created_tmp_tables", "internal temporary tables; each sample makes one")),
        _rate(
            "temp-disk",
            "… on disk",
            rate("Created_tmp_disk_tables", "internal temporary tables created on disk"),
            kind=WRITES,
        ),
        _bytes("sent", "sent", rate("Bytes_sent", "bytes sent to clients, 10K to 20K a sample")),
        _bytes("received", "received", rate("Bytes_received", "bytes received from clients")),
    ),
)
INNODB = SeriesGroup(
    "InnoDB",
    (
        Series("hit-rate", "pool hit rate", "%", (hit_rate(*_POOL, _HITS),), dips=True, kind=READS),
        _rate("pages-read", "pages from disk", rate("Innodb_pages_read", "InnoDB pages read from disk"), kind=READS),
        _rate(
            "pages-flushed",
            "pages flushed",
            rate("Innodb_buffer_pool_pages_flushed", "modified pages flushed to files"),
            kind=WRITES,
        ),
        _level(
            "dirty",
            "dirty pages",
            level("Innodb_buffer_pool_pages_dirty", "modified pages not yet flushed"),
            kind=WRITES,
        ),
        _rate("wait-free", "free page waits", rate("Innodb_buffer_pool_wait_free", _WAIT_FREE), kind=TROUBLE),
        _bytes(
            "redo",
            "redo written",
            rate("Innodb_redo_log_current_lsn", _LSN),
            rate("Innodb_lsn_current", _LSN),
            lsn_rate("bytes of redo"),
            rate("Innodb_os_log_written", "bytes of redo; too high, as a block counts each time it is written"),
            kind=WRITES,
        ),
        _level(
            "checkpoint-age",
            "checkpoint age",
            level("Innodb_checkpoint_age", _AGE),
            difference("Innodb_redo_log_current_lsn", "Innodb_redo_log_checkpoint_lsn", _AGE),
            unit="B",
            kind=WAITS,
            optional=True,
        ),
        _part(
            "checkpoint-share",
            "… of the maximum",
            level_share(
                "Innodb_checkpoint_age", "Innodb_checkpoint_max_age", "at 100 %, writes wait until pages are flushed"
            ),
            kind=WAITS,
            optional=True,
        ),
        _level(
            "history",
            "history list",
            level(
                "Innodb_history_list_length", "row versions that purge has not removed; an old transaction holds them"
            ),
            kind=WAITS,
            optional=True,
        ),
        _rate(
            "log-waits",
            "log buffer waits",
            rate("Innodb_log_waits", "waits for room in the log buffer (innodb_log_buffer_size)"),
            kind=TROUBLE,
        ),
    ),
)
LOCKS = SeriesGroup(
    "Locks",
    (
        _level(
            "lock-waiting",
            "waiting for rows",
            level("Innodb_row_lock_current_waits", "row locks that sessions wait for now"),
            kind=TROUBLE,
        ),
        _rate("lock-waits", "row lock waits", rate("Innodb_row_lock_waits", "waits for row locks"), kind=WAITS),
        _time("lock-wait", "row lock wait", quotient(*_LOCK_TIME, "latency: the mean time of one wait")),
        _rate(
            "deadlocks",
            "deadlocks",
            rate("Innodb_deadlocks", "transactions that were rolled back to end a deadlock"),
            kind=TROUBLE,
            optional=True,
        ),
        _rate(
            "table-locks",
            "table lock waits",
            rate("Table_locks_waited", "waits for a lock of a whole table (MyISAM, Aria, LOCK TABLES)"),
            kind=WAITS,
        ),
    ),
)
IO = SeriesGroup(
    "I/O",
    (
        _bytes("read-bytes", "data read", rate("Innodb_data_read", "bytes that InnoDB read from files"), kind=READS),
        _bytes(
            "written-bytes",
            "data written",
            rate("Innodb_data_written", "bytes that InnoDB wrote to files, doublewrite included"),
            kind=WRITES,
        ),
        _rate("file-reads", "file reads", rate("Innodb_data_reads", "read calls of InnoDB"), kind=READS),
        _rate("file-writes", "file writes", rate("Innodb_data_writes", "write calls of InnoDB"), kind=WRITES),
        _rate("fsyncs", "fsyncs", rate("Innodb_data_fsyncs", "fsync calls of InnoDB, redo log included"), kind=WRITES),
        _level(
            "pending-fsyncs",
            "pending fsyncs",
            level("Innodb_data_pending_fsyncs", "fsync calls of InnoDB that the disk has not answered yet"),
            kind=WAITS,
        ),
        _bytes(
            "binlog",
            "binary log",
            rate("Binlog_bytes_written", "bytes written to the binary log"),
            kind=WRITES,
            optional=True,
        ),
    ),
)
CONNECTIONS = SeriesGroup(
    "Connections",
    (
        _level(
            "running",
            "threads running",
            level("Threads_running", "threads that are not sleeping, this connection included"),
        ),
        _level("connected", "connected", level("Threads_connected", "open connections, this one included")),
        _rate("connections", "connections", rate("Connections", "connection attempts, failed ones included")),
        _rate("threads-created", "threads created", rate("Threads_created", "threads that the thread cache lacked")),
        _rate("refused", "refused", rate("Connection_errors_max_connections", _REFUSED), kind=TROUBLE),
        _rate(
            "aborted",
            "failed logins",
            rate("Aborted_connects", "connection attempts that failed: wrong password, timeout, malformed packet"),
            kind=TROUBLE,
        ),
    ),
)
LAG = "replica_lag_seconds"  # in a sample, of SHOW REPLICA STATUS: the largest of all channels
REPLICATION = SeriesGroup(
    "Replication",
    (
        _level("lag", "lag, s", level(LAG, "Seconds_Behind_Source, of the worst channel"), kind=WAITS, optional=True),
        _level(
            "recv-queue",
            "receive queue",
            level("wsrep_local_recv_queue", "write sets of the cluster that wait to be applied"),
            kind=WAITS,
            optional=True,
        ),
        _part(
            "flow-control",
            "flow control",
            busy_share("wsrep_flow_control_paused_ns", "time in which the cluster paused replication", 1e9),
            kind=TROUBLE,
            optional=True,
        ),
    ),
)
CPU = "host_cpu_ms"  # milliseconds of all processors
_LATENCY = "latency: the mean time of a request to the disk, queueing included"
HOST = SeriesGroup(
    "Host",
    (
        _part("cpu", "processors", share("host_cpu_busy_ms", CPU, "time in use, of all processors"), optional=True),
        _part(
            "iowait",
            "… I/O wait",
            share("host_cpu_iowait_ms", CPU, "time without work while a request to a disk was open"),
            kind=WAITS,
            optional=True,
        ),
        _part(
            "steal",
            "… stolen",
            share("host_cpu_steal_ms", CPU, "time in which the hypervisor ran other machines"),
            kind=TROUBLE,
            optional=True,
        ),
        _level(
            "available",
            "memory available",
            level("host_memory_available", "memory that programs can get without swapping, page cache included"),
            unit="B",
            optional=True,
        )._replace(dips=True),
        _bytes(
            "swapped-in",
            "swapped in",
            rate("host_swapped_in", "bytes read back from swap: memory is short"),
            kind=TROUBLE,
            optional=True,
        ),
        _part(
            "disk-busy",
            "disk utilisation",
            busiest(DISK_BUSY, "time with an open request, of the busiest disk below the data directory"),
            kind=WAITS,
            optional=True,
        ),
        _time("disk-read-time", "disk read", quotient("host_disk_read_ms", "host_disk_reads", _LATENCY), optional=True),
        _time(
            "disk-write-time", "disk write", quotient("host_disk_write_ms", "host_disk_writes", _LATENCY), optional=True
        ),
        _bytes(
            "disk-read",
            "disk reads",
            rate("host_disk_read_bytes", "bytes read from the data directory's device, by all processes"),
            kind=READS,
            optional=True,
        ),
        _bytes(
            "disk-written",
            "disk writes",
            rate("host_disk_written_bytes", "bytes written to the data directory's device, by all processes"),
            kind=WRITES,
            optional=True,
        ),
    ),
)
PROCESS = SeriesGroup(
    "Server process",
    (
        _part(
            "server-cpu",
            "processor time",
            busy_share("server_cpu_ms", "processor time of the server; 100 % is one processor"),
            optional=True,
        ),
        _level(
            "server-memory",
            "resident memory",
            level("server_rss", "memory of the server in RAM"),
            unit="B",
            optional=True,
        ),
    ),
)
GROUPS = (TRAFFIC, INNODB, LOCKS, IO, CONNECTIONS, REPLICATION, HOST, PROCESS)
SERIES = tuple(series for group in GROUPS for series in group.series)


def series_of(counters: Iterable[str], latest: Sample | None) -> Series | None:
    """The series of the first of these counters that has a row on the screen; `latest` is the newest sample."""
    shown = [series for series in SERIES if series.is_shown(latest)]
    return next((series for name in counters for series in shown if series.names_counter(name.lower())), None)


PEAK = "max_used_connections"  # shown on the overview, beside the connections of now
# The counters that the series are computed from, by their names in samples; memory of earlier samples holds only these.
USED = frozenset({PEAK, *(counter for series in SERIES for formula in series.formulas for counter in formula.counters)})
