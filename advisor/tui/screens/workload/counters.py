"""The series of the workload: which status counters each is made of, in order of weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.facts import Sample, Workload


Counted = tuple[float, float]  # an amount, and what it is divided by


class RateFormula(NamedTuple):
    """How to read an interval, and what its numbers mean.

    `source` names the counters as servers do, `there` says whether a sample has them; `read` gives None where one of
    them went backwards.
    """

    source: str
    about: str
    available_parts: Callable[[Sample], bool]
    read: Callable[[Workload], Counted | None]


def rise(counters: str, about: str) -> RateFormula:
    """Counters that only rise, summed: so many a second."""
    keys = _keys(*counters.split())

    def read(interval: Workload) -> Counted | None:
        total = 0
        for key in keys:
            one = interval.delta(key)
            if one is None:
                return None
            total += one
        return total, interval.seconds

    return RateFormula(" + ".join(counters.split()), about, _having(keys), read)


def level(counter: str, about: str) -> RateFormula:
    """A counter that rises and falls, as it is."""
    keys = _keys(counter)
    return RateFormula(counter, about, _having(keys), lambda interval: (interval.last.status[keys[0]], 1))


def quotient(counter: str, by: str, about: str) -> RateFormula:
    """How far one counter rose for each step of another."""
    keys = _keys(counter, by)

    def read(interval: Workload) -> Counted | None:
        amount, divisor = (interval.delta(key) for key in keys)
        return None if amount is None or divisor is None else (amount, divisor)

    return RateFormula(f"{counter} / {by}", about, _having(keys), read)


def hits(misses: str, requests: str, about: str) -> RateFormula:
    """Percent of requests that were no miss."""
    keys = _keys(misses, requests)

    def read(interval: Workload) -> Counted | None:
        missed, asked = (interval.delta(key) for key in keys)
        return None if missed is None or asked is None else (100 * max(0, asked - missed), asked)

    return RateFormula(f"{misses} in {requests}", about, _having(keys), read)


def lsn(about: str) -> RateFormula:
    """The log sequence number, where a snapshot has it from InnoDB's status text."""

    def read(interval: Workload) -> Counted | None:
        first, last = interval.first.lsn, interval.last.lsn
        return (last - first, interval.seconds) if first is not None and last is not None and last >= first else None

    return RateFormula("the LSN in SHOW ENGINE INNODB STATUS", about, lambda sample: sample.lsn is not None, read)


def query_time(about: str) -> RateFormula:
    """Milliseconds that a statement took."""

    def read(interval: Workload) -> Counted | None:
        first, last = interval.first.query_time, interval.last.query_time
        asked = interval.delta("questions")
        if first is None or last is None or last < first or asked is None:
            return None
        return 1000 * (last - first), asked

    return RateFormula("Query_time / Questions", about, lambda sample: sample.query_time is not None, read)


def _keys(*counters: str) -> tuple[str, ...]:
    return tuple(counter.lower() for counter in counters)


def _having(keys: tuple[str, ...]) -> Callable[[Sample], bool]:
    return lambda sample: all(key in sample.status for key in keys)


class Series(NamedTuple):
    """One row of the screen: `unit` is /s, B/s (bytes), %, ms, or empty for a level; `dips` says that lows matter.

    The first of the `ways` that a server has the counters for is taken; `lacking` says why some servers have none.
    """

    id: str
    label: str
    unit: str
    ways: tuple[RateFormula, ...]
    dips: bool = False
    lacking: str = ""

    def way(self, sample: Sample) -> RateFormula | None:
        """The way to know it on the server of this sample."""
        for way in self.ways:  # a loop, as this is asked of each interval of half an hour
            if way.available_parts(sample):
                return way
        return None

    @property
    def lack(self) -> str:
        """Why it can't be told where none of its counters was read."""
        return f"{self.lacking or 'there is no counter for it here'} ({', or '.join(way.source for way in self.ways)})"


def _rate(name: str, label: str, *ways: RateFormula) -> Series:
    return Series(name, label, "/s", ways)


def _bytes(name: str, label: str, *ways: RateFormula) -> Series:
    return Series(name, label, "B/s", ways)


def _level(name: str, label: str, way: RateFormula) -> Series:
    return Series(name, label, "", (way,))


_ROWS_CHANGED = "Innodb_rows_inserted Innodb_rows_updated Innodb_rows_deleted"
_POOL = ("Innodb_buffer_pool_reads", "Innodb_buffer_pool_read_requests")
_HITS = "page requests that the buffer pool answered without reading a file"
_LOCK_TIME = ("Innodb_row_lock_time", "Innodb_row_lock_waits")
_COMMITS = "commits in engines, of reads too; COMMIT doubles it, and so does a binary log where rows changed"
_UNTIMED = "not read: MySQL has no such counter, and older snapshots don't keep it"
_LSN = "bytes of redo, by the log sequence number"

SERIES = (
    _rate("queries", "queries", rise("Questions", "statements that clients sent; each sample is one")),
    _rate(
        "rows-read",
        "rows read",
        rise("Innodb_rows_read", "rows read from InnoDB tables"),
        rise("Rows_read", "rows read from tables of any engine, temporary ones left out"),
    ),
    _rate(
        "rows-changed",
        "rows changed",
        rise(_ROWS_CHANGED, "rows written to InnoDB tables"),
        rise("Handler_write Handler_update Handler_delete", "rows written to tables of any engine"),
    ),
    _rate(
        "commits",
        "commits",
        rise("Handler_commit", _COMMITS),
    ),
    _rate("pages-read", "pages from disk", rise("Innodb_pages_read", "InnoDB pages read from files")),
    Series("hit-rate", "pool hit rate", "%", (hits(*_POOL, _HITS),), dips=True),
    _rate("pages-flushed", "pages flushed", rise("Innodb_buffer_pool_pages_flushed", "changed pages written to files")),
    _bytes(
        "redo",
        "redo written",
        rise("Innodb_redo_log_current_lsn", _LSN),
        rise("Innodb_lsn_current", _LSN),
        lsn("bytes of redo"),
        rise("Innodb_os_log_written", "bytes of redo, too high: a block counts each time it is written"),
    ),
    _rate("temp", "temp. tables", rise("Created_tmp_tables", "internal temporary tables; each sample makes one")),
    _rate("temp-disk", "… on disk", rise("Created_tmp_disk_tables", "internal temporary tables that were put on disk")),
    _level("running", "threads running", level("Threads_running", "connections that are at work, ours included")),
    _level("connected", "connected", level("Threads_connected", "open connections, ours included")),
    _rate("connections", "connections", rise("Connections", "attempts to connect, failed ones too")),
    Series("time", "statement time", "ms", (query_time("latency: the mean time of a statement"),), lacking=_UNTIMED),
    Series("lock-wait", "row lock wait", "ms", (quotient(*_LOCK_TIME, "latency: the mean time of one wait"),)),
    _rate("lock-waits", "row lock waits", rise("Innodb_row_lock_waits", "row locks that were waited for")),
    _rate("fsyncs", "fsyncs", rise("Innodb_data_fsyncs", "fsync calls of InnoDB, those of the redo log too")),
    _rate("com-commit", "COMMIT", rise("Com_commit", "COMMIT statements; what commits by itself sends none")),
    _rate("slow", "slow queries", rise("Slow_queries", "statements over long_query_time")),
    _rate(
        "scans",
        "full scans",
        rise("Select_scan", "SELECTs that read their first table in full; a sample is one or two"),
    ),
    _level("dirty", "dirty pages", level("Innodb_buffer_pool_pages_dirty", "changed pages that are not yet in files")),
    _bytes("sent", "sent", rise("Bytes_sent", "bytes sent to clients, 10K to 20K a sample")),
    _bytes("received", "received", rise("Bytes_received", "bytes received from clients")),
)
