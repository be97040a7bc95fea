"""Probe of the same server and workload in two directories: two file systems, or two disks."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from probes.experiment import BlockMeasurement, Choice, ChosenOptions, ProbeError, RunPlan, Variant
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import SYNCS_LOG, fixed_bounds, page_read_precondition
from probes.server_probes.under_load import METRICS, WorkloadBench, choose_data_set
from probes.server_probes.variant_server import start_variant_server
from probes.workload.load import OLTP
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.stop import StopSignal
    from probes.workload.load import Task

WORKLOAD = OLTP["oltp_read_write"]
SECONDS = 100.0
ROUNDS = 8
WARM = 4.0
PRECONDITIONS = (page_read_precondition(fixed_bounds(1.0)), SYNCS_LOG)  # otherwise the file system is not involved
LIMITS = (
    "Both use new files: the age and fragmentation of the file systems are not measured.",
    "The other server is idle during a block, but its last writes may continue for a moment.",
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
        both = os.stat(directories[0]).st_dev == os.stat(directories[1]).st_dev
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=METRICS,
            cost=table.cost(request.budget(SECONDS, ROUNDS), servers=2)._replace(elsewhere=directories[1:]),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=0.6,
            shortest=1.0,
            warm_up=WARM,
            grain=1.0,
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters=table.parameters(f"{WORKLOAD.name}, uniform"),
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
                fixed_bounds = _same_task(table.task(server, WORKLOAD))
                benches[variant.name] = WorkloadBench(
                    server, plan.driver, fixed_bounds, warm_seconds=WARM, preconditions=PRECONDITIONS, own_server=True
                )
            yield DirectoriesBench(benches)


class DirectoriesBench:
    """Several servers, each measured for the variant with its name."""

    def __init__(self, benches: dict[str, WorkloadBench]) -> None:
        self._benches = benches

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block on the variant's own server."""
        return self._benches[variant.name].measure(variant, turn, stop)

    def facts(self) -> dict[str, float | str]:
        """The facts of each server's bench."""
        return {
            f"{name}: {key}": value for name, bench in self._benches.items() for key, value in bench.facts().items()
        }

    def notes(self) -> tuple[str, ...]:
        """The notes of each server's bench."""
        return tuple(f"{name}: {note}" for name, bench in self._benches.items() for note in bench.notes())


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


def _same_task(task: Task) -> Callable[[Variant], Task]:
    return lambda _: task


EXPERIMENT = FileSystem()
