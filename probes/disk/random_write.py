"""Probe of random page writes with fsync: an upper bound for flushing, not a recommendation to flush more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import exact_size
from advisor.facts.probes import ANSWER, Metric
from probes.disk import driver, files
from probes.disk.driver import PROCESSOR
from probes.experiment import Choice, ChosenOptions, ProbeError, RunPlan, Variant

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from probes.disk.driver import DiskTally
    from probes.experiment import Environment, ProbeRequest
    from probes.stop import StopSignal

WRITES = Metric("writes", "1/s", "more")
BATCH = Metric("batch", "us", "less")
BATCH_P99 = Metric("batch_p99", "us", "less")
DEPTH = 64
MAXIMUM_BATCH = 4096
AXIS = "pages per fsync"
LIMITS = (
    "The maximum is an upper bound for innodb_io_capacity, never by itself a reason to raise it.",
    "A server that flushes more than the redo log requires writes the same pages more often.",
    "With the doublewrite buffer on, the server writes every page twice: about half of this rate remains.",
    "Many devices slow down after minutes, when their cache or burst credits are exhausted: run longer to see it.",
)


class RandomWrite:
    """The probe `random-write`: pages written at random offsets, several per fsync."""

    name = "random-write"
    title = "Random page writes with fsync"
    question = "How many random page writes per second can this disk make durable?"
    kind = "host"
    evidence = ("IOC-01", "IOC-02", "IOC-03", "IOC-04", "FSY-01")
    choices = (
        Choice("pages", "numbers", "1,16,64,256", "pages written before each fsync"),
        Choice("block", "size", "16K", "page size"),
        files.SIZE,
        files.OPEN,
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant for each number of pages per fsync; the run uses one file."""
        chosen = ChosenOptions(self.choices, request)
        size, way = files.file_size(chosen), files.choose_io_method(environment, request, chosen)
        block = files.block_sizes(chosen, "block", files.sector_size(environment))[0]
        variants = tuple(
            Variant(f"{pages} to each fsync", {AXIS: str(pages), "bytes": str(block)}, float(pages))
            for pages in _batch_sizes(chosen)
        )
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(WRITES, BATCH, BATCH_P99, PROCESSOR),
            cost=driver.run_cost(request, size, DEPTH * block),
            seconds=20.0,
            rounds=5,
            overhead=driver.OVERHEAD,
            axis=AXIS,
            driver=way.driver,
            parameters={
                "size": exact_size(size),
                "block": exact_size(block),
                "open": "O_DIRECT" if way.direct else "buffered",
                "at once": str(DEPTH if way.backend == "aio" else 1),
            },
            limits=LIMITS,
            notes=files.io_method_limits(environment, way),
        )

    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> AbstractContextManager[driver.SingleFileBench]:
        """Write the file."""
        way = files.choose_io_method(environment, request, ChosenOptions(self.choices, request))
        task = {"task": "write", "direct": way.direct, "way": way.backend, "depth": DEPTH}
        reported = {BATCH.name: "median", BATCH_P99.name: "p99"}
        return driver.prepared_bench(
            environment, request, plan, stop, driver.DiskWork(task, _task_settings, WRITES.name, reported, _facts)
        )


def _task_settings(variant: Variant) -> dict[str, int]:
    return {"batch": int(variant.settings[AXIS]), "block": int(variant.settings["bytes"])}


def _facts(tally: DiskTally, names: list[str]) -> dict[str, float | str]:
    """The facts of the run.

    They are the highest rate of durable writes as a sentence, `most_writes` per second with its variant, and, if it is
    an upper bound, the rate rounded to two digits as `io_capacity_bound`.
    """
    best, most = tally.best(names, WRITES.name)
    took = tally.latency_text(best, BATCH.name, BATCH_P99.name)
    is_lower = best in tally.lower_bounds(names)
    many = f"{'At least' if is_lower else 'At most'} {most:,.0f} random page writes per second"
    facts: dict[str, float | str] = {ANSWER: f"{many} are durable, with {best}: a batch takes {took}."}
    facts |= {"most_writes": round(most, 1), "most_writes_at": best}
    if not is_lower:
        facts["io_capacity_bound"] = float(f"{most:.2g}")
    return facts


def _batch_sizes(chosen: ChosenOptions) -> list[int]:
    pages = sorted(chosen.numbers("pages", 1))
    if pages[-1] > MAXIMUM_BATCH:
        raise ProbeError(f"invalid pages={pages[-1]}: the maximum is {MAXIMUM_BATCH}")
    return pages


EXPERIMENT = RandomWrite()
