"""Probe of full scans of a MyISAM or Aria table by read_buffer_size, in the page cache and from the device."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from advisor.core.model import exact_size, format_size
from advisor.facts.probes import Metric
from probes.disk.files import evict, has_device, resident_share
from probes.experiment import BlockMeasurement, Choice, ChosenOptions, ProbeError, RunPlan, Variant
from probes.server_probes import variant_server
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import BlockActivity, Precondition, check_preconditions, fixed_bounds
from probes.server_probes.variant_server import start_variant_server
from probes.workload.tables import LONGEST, SHORTEST, ScanTable, create_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from advisor.core.model import Target
    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.sandbox import Binary
    from probes.server_probes.mechanism import MechanismCheck
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal


UNCACHED_METRIC = Metric("beyond_cache", "s/scan", "less")
CACHED_METRIC = Metric("cached", "s/scan", "less")
READ_SIZE = Metric("read_size", "bytes/read", "neither")
POOL = 32 << 20
BASELINE = 128 << 10  # the default of all series
SECONDS = 120.0
ROUNDS = 5

# Minimum bytes per second that one reader scans: with the buffer, and row by row.
RATE, RATE_BY_ROW = 300 << 20, 30 << 20
SAME_SIZE_FACTOR = 1.1  # read sizes that differ by a smaller factor count as the same
KINDS = ("fixed", "varying")
FROM_CACHE, FROM_DEVICE = 0.02, 0.9  # of the file: maximum for cached scans, minimum for scans from the device
STATUS_ROWS = 2000  # rows read by the query for the counters
RESIDENT_LIMIT = 0.02  # maximum share of the file that may stay cached for a scan that counts as from the device
POLL = 0.02
CHUNK = 1 << 20
CACHED_SHARE = 0.999  # share of a file in the page cache from which on it counts as fully cached


class ReadBuffer:
    """The probe `read-buffer`."""

    name = "read-buffer"
    title = "Full table scans by read_buffer_size"
    question = "Which read_buffer_size scans a MyISAM or Aria table fastest on this host?"
    kind = "server"
    evidence = ("RBS-01", "RBS-02", "RBS-06")
    choices = (
        SERVER_CHOICE,
        Choice("sizes", "sizes", "8200,16K,32K,64K,128K,256K,512K,2M,8M,32M", "values of read_buffer_size"),
        Choice("table", "size", "0", "size of the table; 0 for 192M, and 24M where scans read row by row"),
        Choice("engine", "word", "MyISAM", "MyISAM or Aria (MariaDB)"),
        Choice("readers", "number", "1", "concurrent connections"),
        Choice("row-length", "number", "57", "bytes a row; 57 in the published test"),
        Choice("rows", "words", "fixed", "fixed (CHAR), varying (VARCHAR), or both"),
        Choice("fragmented", "number", "0", "percent of the rows that are fragmented"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant per size; each block scans the table in the page cache, and then from the device."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        kinds, readers = _scans(chosen, binary), chosen.number("readers", 1)
        scan = next(iter(kinds.values()))
        sizes = chosen.sizes("sizes")
        baseline = BASELINE if BASELINE in sizes else sizes[0]
        beyond = has_device(environment.host)
        processors = len(environment.host.cpu.online) if environment.host.cpu else 1
        rate = (RATE_BY_ROW if reads_by_row(binary.target) else RATE) / max(1.0, readers / processors)
        return RunPlan(
            variants=tuple(_variant(size, kind, named=len(kinds) > 1) for kind in kinds for size in sizes),
            baseline=_variant(baseline, next(iter(kinds)), named=len(kinds) > 1).name,
            metrics=(UNCACHED_METRIC, CACHED_METRIC, READ_SIZE) if beyond else (CACHED_METRIC, READ_SIZE),
            cost=variant_server.server_cost(
                pool=POOL + readers * max(sizes), data=scan.bytes * len(kinds), threads=readers
            ),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=0.05,
            shortest=min(1.0, scan.bytes / rate) * (2 if beyond else 1),
            axis="read_buffer_size",
            server=str(binary.target),
            parameters={
                "engine": scan.engine,
                "table": format_size(scan.bytes),
                "rows": str(scan.rows),
                "row length": str(scan.row_length),
                "rows are": " and ".join(kinds),
                "fragmented": f"{scan.fragmented} %",
                "readers": str(readers),
            },
            limits=tuple(_limits(binary.target, scan, beyond=beyond)),
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[ScanBench]:
        """Start a server with one table, and open the readers."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        kinds = _scans(chosen, binary)
        arguments = variant_server.server_arguments(binary.target, pool=POOL, redo=64 << 20)
        with (
            start_variant_server(environment, binary, request.directory, arguments) as server,
            contextlib.ExitStack() as stack,
        ):
            readers = {}
            for kind, scan in kinds.items():
                environment.report(f"filling a {scan.engine} table of {format_size(scan.bytes)}, {kind} rows")
                create_table(server.connection(), scan, stop)
                readers[kind] = stack.enter_context(ScanReaders(server, scan, chosen.number("readers", 1)))
            yield ScanBench(server, readers, beyond=plan.metrics[0] is UNCACHED_METRIC)


class ScanBench:
    """Scans with one size after another; `kinds` maps the kind of rows to the readers of that table."""

    def __init__(self, server: VariantServer, readers: dict[str, ScanReaders], *, beyond: bool) -> None:
        self._server, self._kinds, self._beyond = server, readers, beyond
        self._readers = next(iter(readers.values()))
        self._read_sizes: dict[str, list[float]] = {}
        self._running: dict[str, int] = {}
        self._from_device: list[float] = []
        self._stayed = 0.0

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Scan in the page cache for half of the time and from the device for the other half, each at least once."""
        self._readers = self._kinds.get(variant.group.partition(" ")[0], self._readers)
        with self._server.explain_errors():
            before = self._server.status()
            self._running[variant.name] = self._readers.set_variable("read_buffer_size", int(variant.point or 0))
            share = turn.seconds / 2 if self._beyond else turn.seconds
            cached = self._scan_waves(share, stop, beyond=False)
            beyond = self._scan_waves(share, stop, beyond=True) if self._beyond else []
            after = self._server.status()
        if stop.is_set():
            return BlockMeasurement({}, {})
        checked = self._check(variant, cached, beyond, (before, after))
        if checked.invalid:
            return BlockMeasurement({}, {}, checked.counters, checked.invalid)
        metrics = {CACHED_METRIC.name: _mean_seconds(cached)}
        if beyond:
            metrics[UNCACHED_METRIC.name] = _mean_seconds(beyond)
        sizes = [wave.reads.size for wave in cached if wave.reads and wave.reads.size]
        if sizes:
            metrics[READ_SIZE.name] = statistics.median(sizes)
            self._read_sizes.setdefault(variant.name, []).extend(sizes)
        self._from_device += [wave.reads.from_device for wave in beyond if wave.reads]
        return BlockMeasurement(metrics, {}, checked.counters)

    def _check(
        self,
        variant: Variant,
        cached: list[ScanWave],
        beyond: list[ScanWave],
        status: tuple[dict[str, int], dict[str, int]],
    ) -> MechanismCheck:
        """Check that every scan read all rows, from the page cache or from the device as intended."""
        before, after = status
        waves, file = [*cached, *beyond], self._readers.file_size
        grown = {name: value - before[name] for name, value in after.items() if name in before}
        scans = len(waves) * self._readers.count
        seconds = sum(wave.seconds for wave in waves)
        activity = BlockActivity(seconds, scans, 0, self._readers.count, grown, after)
        needed = _preconditions(self._readers.scan.rows, _device_share(cached, file), _device_share(beyond, file))
        return check_preconditions(needed, variant, activity)

    def facts(self) -> dict[str, float | str]:
        """Facts: the size of reads for each variant."""
        facts: dict[str, float | str] = {"file size": float(self._readers.file_size)}
        for name in sorted(self._read_sizes, key=lambda name: self._running[name]):
            facts[f"read size at {name}"] = round(statistics.median(self._read_sizes[name]))
        return facts

    def notes(self) -> tuple[str, ...]:
        """Notes on the read sizes, and on whether the table was evicted from the page cache."""
        notes = list(_read_size_notes(self._read_sizes, broken=self._readers.scan.fragmented > 0))
        differ = [f"{n} runs as {made}" for n, made in self._running.items() if exact_size(made) != n.split(", ")[-1]]
        if differ:
            notes.append(f"The server rounds the size: {', '.join(differ)}.")
        if self._stayed > RESIDENT_LIMIT:
            notes.append(
                f"Up to {self._stayed:.0%} of the table stayed in the page cache after eviction, so "
                "the uncached scans read partly from the cache."
            )
        if self._from_device and max(self._from_device) == 0:
            notes.append("No read reached the device: a cache below the page cache served them.")
        return tuple(notes)

    def _scan_waves(self, seconds: float, stop: StopSignal, *, beyond: bool) -> list[ScanWave]:
        waves: list[ScanWave] = []
        while not stop.is_set() and (not waves or sum(wave.seconds for wave in waves) + waves[-1].seconds <= seconds):
            if beyond:
                self._stayed = max(self._stayed, self._readers.evict())
            else:
                self._readers.read_into_cache()
            wave = self._readers.scan_once(stop)
            if wave is None:
                break
            waves.append(wave)
        return waves


def _preconditions(rows: int, cached: float | None, beyond: float | None) -> tuple[Precondition, ...]:
    """What the scans of a block must have read; `cached` and `beyond` are the shares that came from the device."""
    return (
        Precondition(
            "rows read/scan",
            lambda activity: activity.per_transaction("Handler_read_rnd_next"),
            fixed_bounds(rows * 0.99, rows * 1.01 + STATUS_ROWS),
        ),
        Precondition("share read from the device, cached", lambda _: cached, fixed_bounds(high=FROM_CACHE)),
        Precondition("share read from the device, beyond the cache", lambda _: beyond, fixed_bounds(FROM_DEVICE)),
    )


def _device_share(waves: list[ScanWave], file: int) -> float | None:
    """The share of the file that came from the device in the median scan; None if unknown."""
    known = [wave.reads.from_device / file for wave in waves if wave.reads]
    return statistics.median(known) if known and file else None


def _variant(size: int, kind: str, *, named: bool) -> Variant:
    name = f"{kind}, {exact_size(size)}" if named else exact_size(size)
    return Variant(name, {"read_buffer_size": str(size)}, float(size), f"{kind} rows" if named else "")


def reads_by_row(target: Target) -> bool:
    """Whether scans read row by row instead of through the buffer, as in MySQL 8.0 and later."""
    return target.since("mysql", 8)


def _mean_seconds(waves: list[ScanWave]) -> float:
    return statistics.fmean(wave.seconds for wave in waves)


def _read_size_notes(sizes: dict[str, list[float]], *, broken: bool) -> Iterator[str]:
    if not sizes:
        yield "The kernel does not show the server's reads (/proc/PID/io), so read sizes are not reported."
        return
    each = [statistics.median(seen) for seen in sizes.values()]
    if broken:
        yield (
            f"Reads were {format_size(min(each))} to {format_size(max(each))} bytes long on "
            "average: the parts of fragmented rows "
            "are read one at a time, whatever read_buffer_size is."
        )
    elif len(each) > 1 and max(each) < SAME_SIZE_FACTOR * min(each):
        yield (
            f"With every read_buffer_size the scans read {format_size(each[0])} bytes at a time: they do not use it, "
            "so it does not cause differences between sizes."
        )
    elif len(each) > 1:
        yield f"The scans read {format_size(min(each))} to {format_size(max(each))} bytes at a time, like the buffer."


def _scans(chosen: ChosenOptions, binary: Binary) -> dict[str, ScanTable]:
    """One table for each kind of rows."""
    kinds, scan = chosen.words("rows", *KINDS), _scan(chosen, binary)
    return {kind: scan._replace(database=f"scans_{kind}", varying=kind == "varying") for kind in kinds}


def _scan(chosen: ChosenOptions, binary: Binary) -> ScanTable:
    engine = chosen.word("engine", "MyISAM", "Aria")
    if engine == "Aria" and not binary.target.is_mariadb:
        raise ProbeError(f"{binary.name} has no Aria tables: choose engine=MyISAM, or a MariaDB server")
    length, fragmented = chosen.number("row-length", SHORTEST), chosen.number("fragmented")
    if length > LONGEST or fragmented > 100:  # noqa: PLR2004 - per cent
        raise ProbeError(f"the maximum of row-length is {LONGEST} bytes, that of fragmented 100 percent")
    size = chosen.size("table", 0) or (24 << 20 if reads_by_row(binary.target) else 192 << 20)
    return ScanTable(size, length, engine, fragmented)


def _limits(target: Target, scan: ScanTable, *, beyond: bool) -> Iterator[str]:
    if reads_by_row(target):
        yield "Scans of MySQL 8.0 and later do not use read_buffer_size, as the read sizes show."
    if not beyond:
        yield "The directory is in memory, so uncached reads cannot be measured: use one on a disk with --dir."
    else:
        yield (
            f"A table of {format_size(scan.bytes)} in a new file is contiguous; the published one took 4G on two disks."
        )
    yield "InnoDB scans do not use this buffer, and other uses of read_buffer_size are not measured."


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


class ScanWave(NamedTuple):
    """One scan by all readers: the seconds until the last one finished, and what the server read."""

    seconds: float
    reads: ReadCounters | None


def _first_value(connection: Any, sql: str) -> Any:
    """The first value of a statement's result; None without rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        row = cursor.fetchone()
        return row[0] if row else None


def read_counters(pid: int) -> ReadCounters | None:
    """What a process has read so far; None where the kernel doesn't report it (another user's process)."""
    import psutil  # imported here: the list of experiments loads this module and measures nothing

    from probes.safety.neighbours import NO_IO_COUNTERS

    with contextlib.suppress(*NO_IO_COUNTERS):
        counters = psutil.Process(pid).io_counters()
        return ReadCounters(counters.read_count, counters.read_chars, counters.read_bytes)
    return None


EXPERIMENT = ReadBuffer()
