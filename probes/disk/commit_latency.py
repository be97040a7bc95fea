"""Probe of commit latency on this disk: fsync and fdatasync by write size, with and without O_DIRECT."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from advisor.core.model import exact_size, format_latency
from advisor.facts.probes import ANSWER, Metric
from probes.disk import driver, files
from probes.disk.driver import PROCESSOR
from probes.disk.files import has_device
from probes.experiment import Choice, ChosenOptions, ProbeError, RunPlan, Variant

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from probes.disk.driver import DiskTally
    from probes.experiment import Environment, ProbeRequest
    from probes.stop import StopSignal

LATENCY = Metric("latency", "us", "less")
P99 = Metric("latency_p99", "us", "less")
SYNC = Metric("sync", "us", "less")
RATE = Metric("syncs", "1/s", "more")
SYNC_CALLS = ("fsync", "fdatasync")
OPEN_METHODS = ("buffered", "direct")
AXIS = "write size"
FILE_SIZE = 64 << 20
LIMITS = (
    "The probe overwrites an existing file, like a redo log. A binary log grows, so its size is written as well.",
    "One commit at a time: group commit of several connections into one sync is not measured.",
)


class CommitLatency:
    """The probe `commit-latency`: write a block of a log, sync it, and repeat."""

    name = "commit-latency"
    title = "Commit latency"
    question = "How long does a commit wait on this disk, and does the sync call matter?"
    kind = "host"
    evidence = ("FSY-01", "FSY-02", "FSY-03", "FSY-04", "FSY-05")
    choices = (
        Choice("sizes", "sizes", "512,4K,16K,64K", "bytes written before each sync"),
        Choice("calls", "words", "fsync,fdatasync", "sync calls to compare"),
        Choice("open", "words", "buffered,direct", "buffered (through the page cache) or direct (O_DIRECT)"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant for each call, open method and size; the run uses one small file."""
        chosen = ChosenOptions(self.choices, request)
        direct, smallest = files.can_use_o_direct(environment, request), files.sector_size(environment)
        ways = chosen.words("open", *OPEN_METHODS)
        sizes = files.block_sizes(chosen, "sizes")
        variants = tuple(
            _variant(call, way, size)
            for way, call, size in itertools.product(ways, chosen.words("calls", *SYNC_CALLS), sizes)
            if way == "buffered" or (direct and size % smallest == 0)
        )
        if not variants:
            raise ProbeError(f"{request.directory} does not support these O_DIRECT writes: use --option open=buffered")
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(LATENCY, P99, SYNC, RATE, PROCESSOR),
            cost=driver.run_cost(request, FILE_SIZE, sizes[-1]),
            seconds=20.0,
            rounds=5,
            overhead=driver.OVERHEAD / 2,
            axis=AXIS,
            driver="mycnf",
            parameters={"file": exact_size(FILE_SIZE)},
            limits=LIMITS,
            notes=_skipped_notes(ways, sizes, direct, smallest) + _tmpfs_notes(environment),
        )

    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> AbstractContextManager[driver.SingleFileBench]:
        """Write the file."""
        reported = {LATENCY.name: "median", P99.name: "p99", SYNC.name: "sync"}
        work = driver.DiskWork({"task": "commit"}, _task_settings, RATE.name, reported, _facts)
        return driver.prepared_bench(environment, request, plan, stop, work)


def _task_settings(variant: Variant) -> dict[str, int | str | bool]:
    settings = variant.settings
    return {"block": int(settings["bytes"]), "call": settings["call"], "direct": settings["open"] == "direct"}


def _facts(tally: DiskTally, names: list[str]) -> dict[str, float | str]:
    """Facts: the usual commit as a sentence, `quickest` variant, and its median latency in µs as `quickest_latency`."""
    best, latency = tally.best(names, LATENCY.name, least=True)
    first = f"{names[0]}: {tally.latency_text(names[0], LATENCY.name, P99.name)}"
    is_faster = best != names[0] and tally.differs(best, names[0], LATENCY.name)
    fastest = f" {best} has the shortest median, {format_latency(latency)}." if is_faster else ""
    return {ANSWER: f"{first}, one commit at a time.{fastest}", "quickest": best, "quickest_latency": round(latency, 1)}


def _variant(call: str, way: str, size: int) -> Variant:
    name = f"{call} {exact_size(size)}" + (" O_DIRECT" if way == "direct" else "")
    return Variant(name, {AXIS: exact_size(size), "bytes": str(size), "call": call, "open": way}, float(size))


def _skipped_notes(ways: list[str], sizes: list[int], direct: bool, smallest: int) -> tuple[str, ...]:
    if "direct" in ways and not direct:
        return ("O_DIRECT is not supported here, so all writes go through the page cache.",)
    if "direct" in ways and any(size % smallest for size in sizes):
        return (f"O_DIRECT writes smaller than the device's {smallest}-byte sector are skipped.",)
    return ()


def _tmpfs_notes(environment: Environment) -> tuple[str, ...]:
    if has_device(environment.host):
        return ()
    return ("The directory is on tmpfs, where nothing is durable: only the cost of the calls is measured.",)


EXPERIMENT = CommitLatency()
