"""Probe of random reads by queue depth: what the device can do when nothing is cached."""

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

READS = Metric("reads", "1/s", "more")
MEDIAN = Metric("latency", "us", "less")
P99 = Metric("latency_p99", "us", "less")
MAXIMUM_DEPTH = 1024
AXIS = "queue depth"
DEPTH_ONE = "1 at once"
FLASH_MAXIMUM, SEEK_MINIMUM = (
    1500.0,
    3000.0,
)  # µs for one read of 16K; below the first, nothing rotates; above the second, a disk head has to move
LIMITS = (
    "The probe reads its own file: the cache of the device or of the hypervisor may serve part of the reads.",
    "It shows what the device can do, not what a server requests: no setting follows from it alone.",
)


class RandomRead:
    """The probe `random-read`: random reads of pages, one at a time and many at once."""

    name = "random-read"
    title = "Random reads by queue depth"
    question = "How many random reads per second does this disk serve, and how long does one take?"
    kind = "host"
    evidence = ("SCHED-01", "SCHED-02", "IOC-03", "STO-01", "PGSZ-03")
    choices = (
        Choice("depths", "numbers", "1,4,16,32,64", "number of concurrent reads (queue depth)"),
        Choice("blocks", "sizes", "16K", "read sizes; 4K,16K compares the two page sizes"),
        files.SIZE,
        files.OPEN,
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant for each block size and depth; the run uses one file."""
        chosen = ChosenOptions(self.choices, request)
        size, way = files.file_size(chosen), files.choose_io_method(environment, request, chosen)
        depths, blocks = _depths(chosen), files.block_sizes(chosen, "blocks", files.sector_size(environment))
        variants = tuple(_variant(depth, block, len(blocks) > 1) for block in blocks for depth in depths)
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(READS, MEDIAN, P99, PROCESSOR),
            cost=driver.run_cost(request, size, depths[-1] * blocks[-1]),
            seconds=20.0,
            rounds=5,
            overhead=driver.OVERHEAD,
            axis=AXIS,
            driver=way.driver,
            parameters={"size": exact_size(size), "open": "O_DIRECT" if way.direct else "buffered"},
            limits=LIMITS,
            notes=files.io_method_limits(environment, way),
        )

    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> AbstractContextManager[driver.SingleFileBench]:
        """Write the file."""
        way = files.choose_io_method(environment, request, ChosenOptions(self.choices, request))
        task = {"task": "read", "direct": way.direct, "way": way.backend}
        reported = {MEDIAN.name: "median", P99.name: "p99"}
        return driver.prepared_bench(
            environment, request, plan, stop, driver.DiskWork(task, _task_settings, READS.name, reported, _facts)
        )


def _task_settings(variant: Variant) -> dict[str, int]:
    return {"depth": int(variant.settings[AXIS]), "block": int(variant.settings["bytes"])}


def _facts(tally: DiskTally, names: list[str]) -> dict[str, float | str]:
    """The facts of the run.

    They are the latency of one read as a sentence, `most_reads` per second with its variant, `one_read` in µs, and the
    kind of device that this indicates.
    """
    best, most = tally.best(names, READS.name)
    latency = f"One read takes {tally.latency_text(names[0], MEDIAN.name, P99.name)} with {names[0]}"
    facts: dict[str, float | str] = {
        ANSWER: f"{latency}; {best} gave the most reads, {most:,.0f} per second.",
        "most_reads": round(most, 1),
        "most_reads_at": best,
    }
    alone = next((name for name in names if name.split(", ")[-1] == DEPTH_ONE), "")
    one = tally.mean(alone, MEDIAN.name)
    return facts if one is None else facts | {"one_read": round(one, 1), "sort": _device_kind(one)}


def _variant(depth: int, block: int, named: bool) -> Variant:
    name = f"{exact_size(block)}, {depth} at once" if named else f"{depth} at once"
    return Variant(name, {AXIS: str(depth), "bytes": str(block)}, float(depth))


def _depths(chosen: ChosenOptions) -> list[int]:
    depths = sorted(chosen.numbers("depths", 1))
    if depths[-1] > MAXIMUM_DEPTH:
        raise ProbeError(f"invalid depths={depths[-1]}: the maximum is {MAXIMUM_DEPTH}")
    return depths


def _device_kind(microseconds: float) -> str:
    """The kind of device that such a latency indicates; the device's own description may be wrong."""
    if microseconds < FLASH_MAXIMUM:
        return "no moving parts, or a cache that held the file"
    return "moving heads, or a slow network" if microseconds > SEEK_MINIMUM else "between disk and flash"


EXPERIMENT = RandomRead()
