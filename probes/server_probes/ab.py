"""Probe of any option with two or more values under a selectable workload."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from advisor.catalog import load
from probes.experiment import Choice, ChosenOptions, RunPlan, Variant
from probes.server_probes import variant_server
from probes.server_probes.choices import SERVER_CHOICE, choose_binary, read_option_values
from probes.server_probes.under_load import LEAST_POOL, METRICS, WorkloadBench
from probes.server_probes.variant_server import is_dynamic, start_variant_server
from probes.workload.load import OLTP, Access, Task, simple_ranges
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver
from probes.workload.tables import TableShape, fill_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import Environment, ProbeRequest
    from probes.server_probes.choices import OptionValues
    from probes.stop import StopSignal

WORKLOADS = {**OLTP, "simple_ranges": simple_ranges(100)}
SECONDS = 120.0
ROUNDS = 10
OVERHEAD = 0.5  # the start of the load driver
WARM_SECONDS = 5.0
RESTART_SECONDS = 6.0  # seconds for a shutdown, a start and a warm-up
LOG_RATE = 14 << 20  # bytes of binary log a second
# Settings whose effect does not show within minutes; their evidence took hours, or a data set that took days.
SLOW_OPTIONS = (
    "buffer_pool_instances",
    "change_buffer",
    "page_cleaners",
    "purge",
    "lru_scan",
    "redo_log",
    "log_file_size",
)
LOGGING_OPTIONS = ("binlog", "general_log", "slow_query_log", "long_query_time")


class OptionComparison:
    """The probe `ab`."""

    name = "ab"
    title = "Two values of any option under load"
    question = "Does the value of this option matter on this host under this workload?"
    kind = "server"
    evidence = ()
    choices = (
        Choice("set", "word", "", "NAME=VALUE1,VALUE2,…: the option and its values; the first is the baseline"),
        Choice("workload", "word", "oltp_read_write", f"one of {', '.join(WORKLOADS)}"),
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("threads", "number", "4", "concurrent connections"),
        Choice("rows", "number", "200000", "rows of a table, about 235 bytes each"),
        Choice("tables", "number", "1", "number of tables"),
        Choice("pool", "size", "128M", "innodb_buffer_pool_size, unless that is the option compared"),
        Choice("access", "word", "pareto", "row distribution: pareto (mostly few rows) or uniform"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant per value; raises ProbeError for values that the server refuses or that cannot be compared."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        change = read_option_values(chosen.word("set"), binary.target)
        shape, pool = _shape(chosen), _pool(chosen, change)
        workload = chosen.word("workload", *WORKLOADS)
        threads = chosen.number("threads", 1)
        variants = tuple(Variant(f"{change.name}={value}", {change.name: value}) for value in change.written)
        by_restart = not is_dynamic(load(binary.target), change.name)
        rounds = ROUNDS // 2 if by_restart else ROUNDS
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=METRICS,
            cost=variant_server.server_cost(
                pool=pool,
                data=shape.bytes,
                threads=threads,
                growth=_log_growth(change, request.budget(SECONDS, rounds)),
            ),
            seconds=SECONDS,
            rounds=rounds,
            overhead=RESTART_SECONDS if by_restart else OVERHEAD,
            warm_up=0.0 if by_restart else WARM_SECONDS,
            shortest=1.0,
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters={
                "workload": workload,
                "threads": str(threads),
                "rows": str(shape.rows),
                "tables": str(shape.tables),
                "pool": str(pool),
                "access": _access(chosen).kind,
            },
            limits=tuple(_limits(change, shape, pool)),
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[WorkloadBench]:
        """Start a server and fill its tables."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        change = read_option_values(chosen.word("set"), binary.target)
        shape, pool = _shape(chosen), _pool(chosen, change)
        workload, threads = WORKLOADS[plan.parameters["workload"]], chosen.number("threads", 1)
        arguments = variant_server.server_arguments(binary.target, pool=pool, binary_log=_needs_binary_log(change))
        with start_variant_server(environment, binary, request.directory, arguments) as server:
            environment.report(f"filling {shape.tables} x {shape.rows} rows")
            fill_tables(server.connection(), shape, stop)

            def task_of(_variant: Variant) -> Task:
                return Task(
                    socket=server.sandbox.socket,
                    scratch_folder=server.scratch_folder,
                    workload=workload,
                    access=_access(chosen),
                    threads=threads,
                    rows=shape.rows,
                    tables=shape.tables,
                )

            yield WorkloadBench(server, plan.driver, task_of, warm_seconds=WARM_SECONDS)


def _shape(chosen: ChosenOptions) -> TableShape:
    return TableShape(chosen.number("rows", 100), chosen.number("tables", 1))


def _pool(chosen: ChosenOptions, change: OptionValues) -> int:
    if change.name == "innodb_buffer_pool_size":
        return max(int(value) for value in change.values)
    return chosen.size("pool", LEAST_POOL)


def _access(chosen: ChosenOptions) -> Access:
    return Access(chosen.word("access", "pareto", "uniform"))


def _needs_binary_log(change: OptionValues) -> bool:
    return "binlog" in change.name


def _log_growth(change: OptionValues, seconds: float) -> int:
    if not any(part in change.name for part in LOGGING_OPTIONS):
        return 0
    return variant_server.BINARY_LOG + int(seconds * LOG_RATE)


def _limits(change: OptionValues, shape: TableShape, pool: int) -> Iterator[str]:
    yield "Blocks of seconds miss checkpoint pressure and stalls that occur every few minutes."
    if shape.bytes < pool:
        yield "All data fits in the buffer pool: choose more rows to measure larger data."
    if any(part in change.name for part in SLOW_OPTIONS):
        yield f"The effect of {change.name} shows only in runs of hours: no difference here proves nothing."


EXPERIMENT = OptionComparison()
