"""ScanReaders: scan a table on several connections at once, cached or from the device."""

from __future__ import annotations

import contextlib
import os
import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from probes.page_cache import evict, resident_share

if TYPE_CHECKING:
    from concurrent.futures import Future

    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal
    from probes.workload.scans import ScanTable


POLL = 0.02
CHUNK = 1 << 20
CACHED_SHARE = 0.999  # share of a file in the page cache from which on it counts as fully cached


class ScanWave(NamedTuple):
    """One scan by all readers: the seconds until the last one finished, and what the server read."""

    seconds: float
    reads: ReadCounters | None


class ScanReaders:
    """Several connections that scan one table at the same time; a context manager."""

    def __init__(self, server: VariantServer, scan: ScanTable, count: int) -> None:
        self._server = server
        self.scan = scan
        self._path = os.path.join(server.sandbox.datadir, scan.file)
        self._connections = [server.sandbox.connect(autocommit=True) for _ in range(count)]
        self._ids = [int(_first_value(connection, "SELECT CONNECTION_ID()")) for connection in self._connections]
        self._pool = ThreadPoolExecutor(count)
        self.count = count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        for connection in self._connections:
            with contextlib.suppress(Exception):  # a server that has died has closed them already
                connection.close()

    @property
    def file_size(self) -> int:
        """The size in bytes of the data file."""
        return os.path.getsize(self._path)

    def set_variable(self, variable: str, value: int) -> int:
        """Set a session variable on every reader; returns the resulting value."""
        for connection in self._connections:
            _first_value(connection, f"SET SESSION {variable} = {value}")
        return int(_first_value(self._connections[0], f"SELECT @@session.{variable}"))

    def evict(self) -> float:
        """Evict the table from the page cache; returns the share of it that stayed."""
        evict([self._path])
        return resident_share(self._path)

    def read_into_cache(self) -> None:
        """Read the whole table into the page cache, as far as memory allows."""
        if resident_share(self._path) >= CACHED_SHARE:
            return
        with open(self._path, "rb", buffering=0) as file:
            while file.read(CHUNK):
                pass

    def scan_once(self, stop: StopSignal) -> ScanWave | None:
        """Scan once on all connections; None if stopped in the meantime."""
        pid = self._server.sandbox.pid
        before = read_counters(pid)
        began = time.monotonic()
        scans = [self._pool.submit(_first_value, connection, self.scan.query) for connection in self._connections]
        if not self._wait_for_scans(scans, stop):
            return None
        seconds = time.monotonic() - began
        after = read_counters(pid)
        return ScanWave(seconds, after.since(before) if before and after else None)

    def _wait_for_scans(self, scans: list[Future[Any]], stop: StopSignal) -> bool:
        """Wait for all scans, and kill them on the server if stopped; re-raises the exception of a scan."""
        killed = False
        while True:
            pending = wait(scans, timeout=POLL).not_done
            if stop.is_set() and pending and not killed:
                killed = True
                for number in self._ids:
                    self._server.query(f"KILL {number}")
            if not pending:
                if stop.is_set():
                    return False
                for scan in scans:
                    scan.result()
                return True


def _first_value(connection: Any, sql: str) -> Any:
    """The first value of a statement's result; None without rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        row = cursor.fetchone()
        return row[0] if row else None


class ReadCounters(NamedTuple):
    """The number of read() and similar calls, the bytes they returned, and the bytes that came from a device."""

    calls: int
    bytes: int
    from_device: int

    def since(self, before: ReadCounters) -> ReadCounters:
        """The difference to the earlier counters."""
        return ReadCounters(*(now - then for now, then in zip(self, before, strict=True)))

    @property
    def size(self) -> float | None:
        """Bytes per call; None without a call."""
        return self.bytes / self.calls if self.calls else None


def read_counters(pid: int) -> ReadCounters | None:
    """What a process has read so far; None where the kernel doesn't tell (another user's process)."""
    import psutil  # imported here: the list of experiments loads this module and measures nothing

    from probes.safety.neighbours import NO_IO_COUNTERS

    with contextlib.suppress(*NO_IO_COUNTERS):
        told = psutil.Process(pid).io_counters()
        return ReadCounters(told.read_count, told.read_chars, told.read_bytes)
    return None
