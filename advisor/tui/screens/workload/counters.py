"""The series of the workload screen, and the status counters each is computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.facts import Sample, Workload


Ratio = tuple[float, float]  # an amount and its divisor


class RateFormula(NamedTuple):
    """How to compute a value from an interval, and its meaning.

    `source` names the counters as the server does, `has_counters` says whether a sample has them. `read` returns None
    if a counter decreased.
    """

    source: str
    meaning: str
    has_counters: Callable[[Sample], bool]
    read: Callable[[Workload], Ratio | None]


def rate(counters: str, meaning: str) -> RateFormula:
    """The sum of counters that only increase, per second."""
    keys = _keys(*counters.split())

    def read(interval: Workload) -> Ratio | None:
        total = 0
        for key in keys:
            one = interval.delta(key)
            if one is None:
                return None
            total += one
        return total, interval.seconds

    return RateFormula(" + ".join(counters.split()), meaning, _has_counters(keys), read)


def level(counter: str, meaning: str) -> RateFormula:
    """The current value of a counter."""
    keys = _keys(counter)
    return RateFormula(counter, meaning, _has_counters(keys), lambda interval: (interval.last.status[keys[0]], 1))


def quotient(counter: str, by: str, meaning: str) -> RateFormula:
    """The increase of one counter divided by that of another."""
    keys = _keys(counter, by)

    def read(interval: Workload) -> Ratio | None:
        amount, divisor = (interval.delta(key) for key in keys)
        return None if amount is None or divisor is None else (amount, divisor)

    return RateFormula(f"{counter} / {by}", meaning, _has_counters(keys), read)


def hit_rate(misses: str, requests: str, meaning: str) -> RateFormula:
    """The percentage of requests that were hits."""
    keys = _keys(misses, requests)

    def read(interval: Workload) -> Ratio | None:
        missed, asked = (interval.delta(key) for key in keys)
        return None if missed is None or asked is None else (100 * max(0, asked - missed), asked)

    return RateFormula(f"{misses} in {requests}", meaning, _has_counters(keys), read)


def lsn_rate(meaning: str) -> RateFormula:
    """The rate of the log sequence number, which snapshots have from InnoDB's status text."""

    def read(interval: Workload) -> Ratio | None:
        first, last = interval.first.lsn, interval.last.lsn
        return (last - first, interval.seconds) if first is not None and last is not None and last >= first else None

    return RateFormula("the LSN in SHOW ENGINE INNODB STATUS", meaning, lambda sample: sample.lsn is not None, read)


def query_time(meaning: str) -> RateFormula:
    """The mean time of a statement in milliseconds."""

    def read(interval: Workload) -> Ratio | None:
        first, last = interval.first.query_time, interval.last.query_time
        asked = interval.delta("questions")
        if first is None or last is None or last < first or asked is None:
            return None
        return 1000 * (last - first), asked

    return RateFormula("Query_time / Questions", meaning, lambda sample: sample.query_time is not None, read)


def _keys(*counters: str) -> tuple[str, ...]:
    return tuple(counter.lower() for counter in counters)


def _has_counters(keys: tuple[str, ...]) -> Callable[[Sample], bool]:
    return lambda sample: all(key in sample.status for key in keys)


class Series(NamedTuple):
    """One row of the screen: `unit` is /s, B/s (bytes), %, ms, or empty for a level; `dips`: low values matter.

    The first of the `formulas` whose counters the server has is used; `missing_reason` says why some servers have none.
    """

    id: str
    label: str
    unit: str
    formulas: tuple[RateFormula, ...]
    dips: bool = False
    missing_reason: str = ""

    def formula_for(self, sample: Sample) -> RateFormula | None:
        """The formula for the server of this sample."""
        for formula in self.formulas:  # a plain loop: called for every interval of half an hour
            if formula.has_counters(sample):
                return formula
        return None

    @property
    def why_missing(self) -> str:
        """Why the series is missing if the server has none of its counters."""
        sources = ", or ".join(formula.source for formula in self.formulas)
        return f"{self.missing_reason or 'this server has no counter for it'} ({sources})"


def _rate(name: str, label: str, *formulas: RateFormula) -> Series:
    return Series(name, label, "/s", formulas)


def _bytes(name: str, label: str, *formulas: RateFormula) -> Series:
    return Series(name, label, "B/s", formulas)


def _level(name: str, label: str, formula: RateFormula) -> Series:
    return Series(name, label, "", (formula,))


_ROWS_CHANGED = "Innodb_rows_inserted Innodb_rows_updated Innodb_rows_deleted"
_POOL = ("Innodb_buffer_pool_reads", "Innodb_buffer_pool_read_requests")
_HITS = "page requests served from the buffer pool without a disk read"
_LOCK_TIME = ("Innodb_row_lock_time", "Innodb_row_lock_waits")
_COMMITS = "commits in engines, reads included; an explicit COMMIT counts twice, a change in the binary log too"
_UNTIMED = "not available: MySQL has no such counter, and older snapshots lack it"
_LSN = "bytes of redo, by the log sequence number"

SERIES = (
    _rate("queries", "queries", rate("Questions", "statements sent by clients; each sample is one")),
    _rate(
        "rows-read",
        "rows read",
        rate("Innodb_rows_read", "rows read from InnoDB tables"),
        rate("Rows_read", "rows read from tables of any engine except temporary tables"),
    ),
    _rate(
        "rows-changed",
        "rows changed",
        rate(_ROWS_CHANGED, "rows written to InnoDB tables"),
        rate("Handler_write Handler_update Handler_delete", "rows written to tables of any engine"),
    ),
    _rate(
        "commits",
        "commits",
        rate("Handler_commit", _COMMITS),
    ),
    _rate("pages-read", "pages from disk", rate("Innodb_pages_read", "InnoDB pages read from disk")),
    Series("hit-rate", "pool hit rate", "%", (hit_rate(*_POOL, _HITS),), dips=True),
    _rate(
        "pages-flushed", "pages flushed", rate("Innodb_buffer_pool_pages_flushed", "modified pages flushed to files")
    ),
    _bytes(
        "redo",
        "redo written",
        rate("Innodb_redo_log_current_lsn", _LSN),
        rate("Innodb_lsn_current", _LSN),
        lsn_rate("bytes of redo"),
        rate("Innodb_os_log_written", "bytes of redo; too high, as a block counts each time it is written"),
    ),
    _rate("temp", "temp. tables", rate("Created_tmp_tables", "internal temporary tables; each sample makes one")),
    _rate("temp-disk", "… on disk", rate("Created_tmp_disk_tables", "internal temporary tables created on disk")),
    _level(
        "running",
        "threads running",
        level("Threads_running", "threads that are not sleeping, this connection included"),
    ),
    _level("connected", "connected", level("Threads_connected", "open connections, this one included")),
    _rate("connections", "connections", rate("Connections", "connection attempts, failed ones included")),
    Series(
        "time", "statement time", "ms", (query_time("latency: the mean time of a statement"),), missing_reason=_UNTIMED
    ),
    Series("lock-wait", "row lock wait", "ms", (quotient(*_LOCK_TIME, "latency: the mean time of one wait"),)),
    _rate("lock-waits", "row lock waits", rate("Innodb_row_lock_waits", "waits for row locks")),
    _rate("fsyncs", "fsyncs", rate("Innodb_data_fsyncs", "fsync calls of InnoDB, redo log included")),
    _rate("com-commit", "COMMIT", rate("Com_commit", "COMMIT statements; autocommit sends none")),
    _rate("slow", "slow queries", rate("Slow_queries", "statements that took longer than long_query_time")),
    _rate(
        "scans",
        "full scans",
        rate("Select_scan", "SELECTs that read their first table in full; a sample is one or two"),
    ),
    _level("dirty", "dirty pages", level("Innodb_buffer_pool_pages_dirty", "modified pages not yet flushed")),
    _bytes("sent", "sent", rate("Bytes_sent", "bytes sent to clients, 10K to 20K a sample")),
    _bytes("received", "received", rate("Bytes_received", "bytes received from clients")),
)
