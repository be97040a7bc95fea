"""Probe of the same server and workload in two directories: two file systems, or two disks."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from probes.experiment import BlockMeasurement, Choice, ChosenOptions, ProbeError, RunPlan, Variant
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import SYNCS_LOG, fixed_bounds, page_read_precondition
from probes.server_probes.under_load import METRICS, WorkloadBench, choose_data_set, fill_pool
from probes.server_probes.variant_server import start_variant_server
from probes.workload.load import OLTP
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.server_probes.under_load import DataSet
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal

WORKLOAD = OLTP["oltp_read_write"]
SECONDS = 900.0
ROUNDS = 24  # of a few seconds each: processes scatter more than the seconds of one
WARM = 4.0  # seconds at most
RESTART = 5.0  # seconds of a block for a start and a shutdown
PRECONDITIONS = (page_read_precondition(fixed_bounds(1.0)), SYNCS_LOG)  # otherwise the file system is not involved
LIMITS = (
    "Both use new files: the age and fragmentation of the file systems are not measured.",
    "Each block begins with a pool that a few seconds have filled.",
)


class FileSystem:
    """The probe `file-system`."""

    name = "file-system"
    title = "One workload on two file systems"
    question = "Is the same server faster on one of two file systems, and how steadily?"
    kind = "server"
    evidence = ("FS-01", "FS-02", "FS-03", "FS-04")
    choices = (
        Choice("against", "word", "", "the second directory; the first is --dir"),
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("pool", "size", "128M", "innodb_buffer_pool_size"),
        Choice("data", "number", "300", "size of the data in percent of the pool"),
        Choice("threads", "number", "4", "concurrent connections"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant per directory; raises ProbeError without a second directory."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        directories = _directories(chosen, request)
        table = choose_data_set(chosen)
        variants = tuple(Variant(path, {}) for path in directories)
        cost = table.cost(request.budget(SECONDS, ROUNDS), servers=2)
        both = os.stat(directories[0]).st_dev == os.stat(directories[1]).st_dev
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=METRICS,
            cost=cost._replace(memory=table.cost(0.0).memory, elsewhere=directories[1:]),  # one runs at a time
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=RESTART + WARM,
            shortest=1.0,
            grain=1.0,
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters=table.parameters(f"{WORKLOAD.name}, uniform") | {"server processes": "new for each block"},
            limits=LIMITS,
            notes=("Both directories are on one file system: this run is a control.",) if both else (),
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[DirectoriesBench]:
        """Start a server with one table in each directory."""
        chosen = ChosenOptions(self.choices, request)
        binary, table = choose_binary(environment, chosen.word("server")), choose_data_set(chosen)
        with contextlib.ExitStack() as stack:
            benches = {}
            for variant in plan.variants:
                if stop.is_set():  # do not start another server
                    break
                server = stack.enter_context(
                    start_variant_server(environment, binary, variant.name, table.arguments(binary.target))
                )
                table.fill(environment, server, stop, f" in {variant.name}")
                server.stop()
                benches[variant.name] = DirectoryBench(server, plan.driver, table)
            yield DirectoriesBench(benches)


class DirectoryBench(WorkloadBench):
    """A server that runs during its blocks alone.

    In two directories of one file system, servers that were kept for a whole run differed by 6 percent in two of five
    runs. So each block has a new process, and it has the disk to itself.
    """

    def __init__(self, server: VariantServer, driver: str, table: DataSet) -> None:
        self._fits = table.shape.bytes <= table.pool
        task = table.task(server, WORKLOAD)
        super().__init__(
            server, driver, lambda _: task, warm_seconds=WARM, preconditions=PRECONDITIONS, own_server=True
        )

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Start the server, measure one block after a warm-up, and stop the server."""
        with self.server.explain_errors():
            self.server.restart()
            if self._fits:  # or the block would read it from disk once, as if it did not fit
                fill_pool(self.server, 1, stop)
            self._warm_up(variant, turn, stop)
            measured = self._run(variant, turn, stop)
            self.server.stop()
        return measured


class DirectoriesBench:
    """A bench for each directory."""

    def __init__(self, benches: dict[str, DirectoryBench]) -> None:
        self._benches = benches

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block in the variant's directory."""
        return self._benches[variant.name].measure(variant, turn, stop)

    def facts(self) -> dict[str, float | str]:
        """Empty: both servers have the same settings."""
        return {}

    def notes(self) -> tuple[str, ...]:
        """The notes of each server's bench, each with its directory."""
        return tuple(
            note if name in note else f"{name}: {note}"
            for name, bench in self._benches.items()
            for note in bench.notes()
        )


def _directories(chosen: ChosenOptions, request: ProbeRequest) -> tuple[str, str]:
    other = chosen.word("against")
    if not other:
        raise ProbeError("no second directory to compare with: use --option against=DIR besides --dir")
    if not os.path.isdir(other):
        raise ProbeError(f"{other} is not a directory: create it, or use another with --option against=DIR")
    first, second = os.path.abspath(request.directory), os.path.abspath(other)
    if first == second:
        raise ProbeError(f"{first} is the same directory twice: give two")
    return first, second


EXPERIMENT = FileSystem()
