"""Probe of a server's memory use and throughput by memory allocator: the linked one, or a preloaded one."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.host.host import open_root
from advisor.collect.host.process import read_process
from advisor.facts.probes import Metric
from probes.experiment import Choice, ChosenOptions, ProbeError, RunPlan, Variant
from probes.sandbox.binary import run_briefly
from probes.server_probes import variant_server
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import Bounds, Precondition, fixed_bounds
from probes.server_probes.under_load import P99, TPS, WorkloadBench
from probes.server_probes.variant_server import start_variant_server
from probes.workload.load import Access, Task, sorts_and_groups
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver
from probes.workload.tables import TableShape, fill_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import BlockMeasurement, Environment, ProbeRequest, Turn
    from probes.sandbox import Binary
    from probes.server_probes.mechanism import BlockActivity
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal


MIB = 1 << 20
POOL = 128 * MIB
STARTS = 50_000  # rows at which ranges may start
SPANS = (100, 500, 2000)  # rows of the sorts and temporary tables in a transaction
WORKLOAD = sorts_and_groups(*SPANS)
SHAPE = TableShape(STARTS + max(SPANS), key_on_k=False)
SESSION = 8 * MIB  # maximum memory for sorts and temporary tables of a session
SECONDS = 300.0
ROUNDS = 5
RESTART = 4.0  # seconds, before every block
SHORTEST = 2.0
RESIDENT = Metric("resident", "MiB after the load", "less")
PEAK = Metric("peak", "MiB", "less")
GROWTH = Metric("growth", "MiB", "neither")
ALLOCATOR_USED = "allocator as chosen"
RSS, PEAK_RSS = "resident bytes", "resident bytes at most"

COUNTER_NAMES = {
    RESIDENT.name: "resident memory, MiB",
    PEAK.name: "peak memory, MiB",
    GROWTH.name: "growth of memory, MiB",
}
MINIMUM_SHARE = 0.9  # of the sorts and temporary tables that the transactions contain

LIMITS = (
    "The server was just started: fragmentation, and with it the differences in memory, grows over days.",
    "The buffer pool is one allocation, the same with every allocator: the larger it is, the less the rest matters.",
    "Large BLOBs and thousands of tables, which allocate other sizes, are not measured.",
)
GLIBC, TWO_ARENAS = "glibc", "glibc-2-arenas"
PRELOAD, ARENA_MAX = "LD_PRELOAD", "MALLOC_ARENA_MAX"
LOADED_LIBRARY = re.compile(r"calling init: \S*/lib(jemalloc|tcmalloc|mimalloc)[^/\s]*$", re.MULTILINE)


class Library(NamedTuple):
    """An allocator that can be preloaded: its file names, and the package that installs it."""

    files: tuple[str, ...]
    package: str


LIBRARIES = {
    "jemalloc": Library(("libjemalloc.so.2",), "apt-get install libjemalloc2 (RHEL: dnf install jemalloc, from EPEL)"),
    "tcmalloc": Library(
        ("libtcmalloc_minimal.so.4", "libtcmalloc.so.4"),
        "apt-get install libtcmalloc-minimal4 (RHEL: dnf install gperftools-libs, from EPEL)",
    ),
}
ALLOCATORS = (GLIBC, TWO_ARENAS, *LIBRARIES)


class Malloc:
    """The probe `malloc`."""

    name = "malloc"
    title = "Memory allocators"
    question = "How do jemalloc, tcmalloc and fewer glibc arenas change memory use, throughput and latency?"
    kind = "server"
    evidence = ("MALLOC-01", "MALLOC-03")
    choices = (
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("allocators", "words", ",".join(ALLOCATORS), "allocators to compare; the first is the baseline"),
        Choice("threads", "number", "32", "concurrent sessions that sort and group"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant per allocator, on one server that is restarted before every block.

        Raises ProbeError for a library that is not installed.
        """
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        threads = chosen.number("threads", 1)
        words, notes = _allocators(chosen, binary, request)
        variants = tuple(Variant(word, allocator_variables(word, linked_allocator(binary))) for word in words)
        cost = variant_server.server_cost(pool=POOL, data=SHAPE.bytes, threads=threads)
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(TPS, P99, RESIDENT, PEAK, GROWTH),
            cost=cost._replace(memory=cost.memory + threads * SESSION),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=RESTART,
            shortest=SHORTEST,
            grain=1.0,
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters={"threads": str(threads), "rows": str(SHAPE.rows), "pool": str(POOL)},
            limits=LIMITS,
            notes=notes,
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[MallocBench]:
        """Start a server with one table in its pool."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        threads = chosen.number("threads", 1)
        room = f"--max-connections={max(variant_server.CONNECTIONS, threads + 20)}"
        arguments = (*variant_server.server_arguments(binary.target, pool=POOL), room)
        with start_variant_server(environment, binary, request.directory, arguments) as server:
            environment.report(f"filling a table of {SHAPE.rows} rows")
            fill_tables(server.connection(), SHAPE, stop)
            task = Task(server.sandbox.socket, server.scratch_folder, WORKLOAD, Access(), threads=threads, rows=STARTS)
            yield MallocBench(server, plan.driver, task)


class MallocBench(WorkloadBench):
    """Restarts the server before each block, so that no block reuses memory that another block freed."""

    def __init__(self, server: VariantServer, driver: str, task: Task) -> None:
        self._variables: dict[str, str] = {}
        self._root = open_root("/")
        self._own = linked_allocator(server.sandbox.binary)
        super().__init__(server, driver, lambda _: task, warm_seconds=0, preconditions=PRECONDITIONS)

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block, with the memory of the server's process before and after it."""
        with self.server.explain_errors():
            self._variables = variant.settings
            self.server.restart_with(variant.settings)
            self.server.query("SELECT SUM(k) FROM sbtest.sbtest1")  # read into the pool, which is memory too
            measured = self._run(variant, turn, stop)
        found = {metric: measured.counters[name] for metric, name in COUNTER_NAMES.items() if name in measured.counters}
        return measured._replace(metrics={**measured.metrics, **found})

    def _read_status(self) -> dict[str, int]:
        pid = self.server.sandbox.pid
        process = read_process(self._root, pid)
        memory = {RSS: process.resident, PEAK_RSS: process.peak_resident} if process else {}
        known = {name: size for name, size in memory.items() if size is not None}
        return {**super()._read_status(), **known, ALLOCATOR_USED: int(uses_allocator(pid, self._variables, self._own))}


def _memory_precondition(counter: str) -> Precondition:
    def value(activity: BlockActivity) -> float | None:
        return activity.after[counter] / MIB if counter in activity.after else None

    return Precondition(COUNTER_NAMES[RESIDENT.name if counter == RSS else PEAK.name], value, lambda *_: None)


def _growth(activity: BlockActivity) -> float | None:
    return activity.grown[RSS] / MIB if RSS in activity.grown else None


def _sorts_per_transaction(activity: BlockActivity) -> float | None:
    found = [activity.per_transaction(name) for name in ("Sort_range", "Sort_scan")]
    return sum(count or 0.0 for count in found)


def _statement_bounds(_variant: Variant, activity: BlockActivity) -> Bounds:
    # The statements of transactions that were still running at the end are counted too.
    return Bounds(MINIMUM_SHARE * len(SPANS) * activity.transactions / (activity.transactions + activity.threads))


PRECONDITIONS = (
    Precondition(ALLOCATOR_USED, lambda activity: activity.after.get(ALLOCATOR_USED), fixed_bounds(low=1.0)),
    Precondition("sorts/transaction", _sorts_per_transaction, _statement_bounds),
    Precondition(
        "temporary tables/transaction",
        lambda activity: activity.per_transaction("Created_tmp_tables"),
        _statement_bounds,
    ),
    _memory_precondition(RSS),
    _memory_precondition(PEAK_RSS),
    Precondition(COUNTER_NAMES[GROWTH.name], _growth, lambda *_: None),
)


def _allocators(chosen: ChosenOptions, binary: Binary, request: ProbeRequest) -> tuple[list[str], tuple[str, ...]]:
    """The allocators to compare, the server's own first unless chosen otherwise, and notes on those left out."""
    words, own = chosen.words("allocators", *ALLOCATORS), linked_allocator(binary)
    if own != GLIBC and own not in LIBRARIES:
        raise ProbeError(f"{binary.name} is linked with {own}, which this probe cannot replace: choose another server")
    if own == GLIBC or "allocators" in request.choices:
        return words, ()
    kept = [own, *(word for word in words if word not in (own, GLIBC, TWO_ARENAS))]
    return kept, (f"{binary.name} is linked with {own}: glibc's malloc is not compared.",)


def allocator_variables(word: str, own: str) -> dict[str, str]:
    """The environment variables that make a server, which is linked with the allocator `own`, use another one.

    Raises ProbeError for a library that is not installed, and for glibc's allocator if another one is linked.
    """
    if word == own:
        return {}
    if word in (GLIBC, TWO_ARENAS):
        if own != GLIBC:
            raise ProbeError(
                f"this server is linked with {own}, so glibc's malloc cannot be compared: choose other allocators"
            )
        return {ARENA_MAX: "2"}
    library = LIBRARIES[word]
    paths = (os.path.join(folder, name) for folder in library_folders() for name in library.files)
    path = next((path for path in paths if os.path.isfile(path)), None)
    if path is None:
        raise ProbeError(f"{library.files[0]} is not installed: {library.package}, or remove {word} from allocators")
    return {PRELOAD: path}


def library_folders() -> tuple[str, ...]:
    """The folders for libraries of this machine's architecture."""
    return (f"/usr/lib/{platform.machine()}-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")


@functools.lru_cache(maxsize=32)
def linked_allocator(binary: Binary) -> str:
    """The allocator that a server program is linked with, according to the dynamic loader."""
    done = run_briefly([binary.program, "--no-defaults", "--version"], variables={"LD_DEBUG": "libs"})
    found = LOADED_LIBRARY.search(done.stderr)
    return found[1] if found else GLIBC


def mapped_files(pid: int) -> set[str]:
    """The files mapped by a process."""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as text:
        return {line.split(maxsplit=5)[5].rstrip("\n") for line in text if "/" in line}


def uses_allocator(pid: int, variables: dict[str, str], own: str) -> bool:
    """Whether a process has these variables and the library that they name.

    If they name no library, it must use only its own allocator.
    """
    with open(f"/proc/{pid}/environ", "rb") as text:
        environment = dict(part.split(b"=", 1) for part in text.read().split(b"\0") if b"=" in part)
    for name in (PRELOAD, ARENA_MAX):
        if environment.get(os.fsencode(name), b"") != os.fsencode(variables.get(name, "")):
            return False
    files, library = mapped_files(pid), variables.get(PRELOAD)
    if library is not None:
        return os.path.realpath(library) in files
    others = tuple(f"lib{word}" for word in LIBRARIES if word != own)
    return not any(os.path.basename(file).startswith(others) for file in files)


EXPERIMENT = Malloc()
