"""Start and control the driver processes, and collect their measurements by variant, with their CPU use.

Separate processes keep mycnf's own work out of the measurement; their CPU use shows if the driver was the limit.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from advisor.core.model import format_latency, format_size
from advisor.facts.probes import Arm, Block, Metric
from probes.disk import files
from probes.disk.files import ScratchFiles
from probes.disk.worker import END
from probes.experiment import BlockMeasurement, Cost, ProbeError
from probes.stats import compare
from probes.stats.table import round_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

    from probes.experiment import Environment, ProbeRequest, RunPlan, Turn, Variant
    from probes.stop import StopSignal


WORKER_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from probes.disk.worker import run_worker; run_worker()"
)
ANSWER_TIMEOUT = 60.0  # seconds until the reports at the end of a measurement must have arrived
POLL = 0.02
STOP_TIMEOUT = 5.0
DRIVER_LIMIT = 0.9
"""Share of its available CPU time from which on the driver itself is the limit."""
QUEUED_LIMIT = 0.1
"""Share of the time spent waiting for a CPU from which on other processes disturb the measurement."""
PROCESSOR = Metric("processor", "share of the driver's processors", "neither")


class DriverProcesses:
    """Several processes that wait for tasks; leaving the context ends them."""

    def __init__(self, count: int) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            for _ in range(count):
                self._processes.append(_start_worker())
        except OSError as error:
            self.close()
            raise ProbeError(f"the driver can't be started ({error.strerror}): lower the number of readers") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def run(self, tasks: list[dict[str, Any]], seconds: float, stop: StopSignal) -> list[dict[str, Any]]:
        """Run the tasks concurrently, one per process, for `seconds`; returns their reports.

        If `stop` is set, the reports cover what was done until then. Raises ProbeError if a process fails.
        """
        doing = self._processes[: len(tasks)]
        for process, task in zip(doing, tasks, strict=True):
            _send_line(process, task)
        self._read_answers(doing, ANSWER_TIMEOUT, stop)
        for process in doing:
            _send_line(process, seconds)
        return self._read_answers(doing, seconds + ANSWER_TIMEOUT, stop)

    def close(self) -> None:
        """End all processes; calling it again has no effect."""
        for process in self._processes:
            with contextlib.suppress(OSError):
                if process.stdin:
                    process.stdin.close()
        deadline = time.monotonic() + STOP_TIMEOUT
        for process in self._processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()
        self._processes.clear()

    def _read_answers(
        self, doing: list[subprocess.Popen[bytes]], patience: float, stop: StopSignal
    ) -> list[dict[str, Any]]:
        deadline = time.monotonic() + patience
        stopped = False
        answers = []
        for process in doing:
            while not _has_answer(process):
                if stop.is_set() and not stopped:
                    stopped = True
                    for other in doing:
                        _send_line(other, END)
                if time.monotonic() > deadline:
                    raise ProbeError(
                        f"the disk did not answer for {ANSWER_TIMEOUT:.0f} s: check the kernel log for I/O errors"
                    )
            answers.append(_read_answer(process))
        return answers


def _start_worker() -> subprocess.Popen[bytes]:
    # In its own process group: Ctrl-C reaches only mycnf, which then stops the driver.
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", WORKER_CODE, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        process_group=0,
    )


def _send_line(process: subprocess.Popen[bytes], words: Any) -> None:
    assert process.stdin  # noqa: S101 - it was started with one
    try:
        process.stdin.write(json.dumps(words).encode() + b"\n")
    except OSError as error:
        raise ProbeError("a driver process ended, possibly killed for lack of memory: run the probe again") from error


def _has_answer(process: subprocess.Popen[bytes]) -> bool:
    """Whether an answer is available, after a short wait."""
    assert process.stdout  # noqa: S101 - it was started with one
    return bool(select.select([process.stdout], [], [], POLL)[0])


def _read_answer(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout  # noqa: S101 - it was started with one
    line = process.stdout.readline()
    if not line:
        raise ProbeError("a driver process ended, possibly killed for lack of memory: run the probe again")
    answer: dict[str, Any] = json.loads(line)
    if "broken" in answer:
        raise ProbeError(f"the disk or its file system refused: {answer['broken']}")
    return answer


OVERHEAD = 0.03
DRIVER_MEMORY = 32 << 20  # bytes of memory: an interpreter and its measurements


class DiskWork(NamedTuple):
    """The work of one probe.

    `task` is common to all variants, `task_of` returns the additions for one. `rate` is the name of the metric for
    operations per second; `reported` maps further metrics to keys in the driver's report. `facts` are computed from
    all measurements.
    """

    task: dict[str, Any]
    task_of: Callable[[Variant], dict[str, Any]]
    rate: str
    reported: dict[str, str]
    facts: Callable[[DiskTally, list[str]], dict[str, float | str]]


def run_cost(request: ProbeRequest, size: int, buffers: int) -> Cost:
    """The cost of a run with one file of that size and driver buffers of `buffers` bytes."""
    creates = f"a file of {format_size(size)} in a scratch directory in {request.directory}"
    return Cost(disk=size, memory=DRIVER_MEMORY + buffers, prepare=files.preparation_seconds(size), creates=(creates,))


@contextlib.contextmanager
def prepared_bench(
    environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal, work: DiskWork
) -> Iterator[SingleFileBench]:
    """Write the file and start the process; both are removed when the context ends."""
    with ScratchFiles(request.directory, environment.report, stop) as material, DriverProcesses(1) as crew:
        path = material.create("pages", plan.cost.disk)
        yield SingleFileBench(crew, plan, work, {"path": path, "size": os.path.getsize(path), "seed": request.seed})


class SingleFileBench:
    """A bench that measures variants with one driver process on one file."""

    def __init__(self, crew: DriverProcesses, plan: RunPlan, work: DiskWork, file: dict[str, Any]) -> None:
        self._crew, self._work, self._file, self._tally = crew, work, file, DiskTally()
        self._names = [variant.name for variant in plan.variants]

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Run a variant's work for one block."""
        task = self._file | self._work.task | self._work.task_of(variant)
        report = self._crew.run([task], turn.seconds, stop)
        whole = combine_reports(report)
        metrics = {self._work.rate: whole.done / whole.seconds}
        if whole.done:
            metrics |= {name: report[0][key] for name, key in self._work.reported.items()}
        return self._tally.add(variant, whole, metrics)

    def keep_blocks(self, arms: tuple[Arm, ...]) -> None:
        """See `CollectingBench`."""
        self._tally.keep_blocks(arms)

    def facts(self) -> dict[str, float | str]:
        """The facts of the probe, and the variants whose figures are lower bounds."""
        return self._work.facts(self._tally, self._names) | self._tally.facts(self._names)

    def notes(self) -> tuple[str, ...]:
        """Sentences on figures that are lower bounds."""
        return self._tally.notes(self._names)


class CombinedReport(NamedTuple):
    """The combined reports of concurrent processes; `seconds` is from the first start to the last end.

    `processor` is the share of the available CPU time that they used; `queued` is the share of the time that they were
    runnable without a CPU.
    """

    seconds: float
    done: int
    bytes: int
    processor: float
    queued: float


def combine_reports(reports: list[dict[str, Any]]) -> CombinedReport:
    """Combine the reports of concurrent processes."""
    seconds = max(1e-9, (max(r["ended"] for r in reports) - min(r["began"] for r in reports)) / 1e9)
    usable = seconds * min(len(reports), len(os.sched_getaffinity(0)))
    return CombinedReport(
        seconds,
        sum(r["count"] for r in reports),
        sum(r["bytes"] for r in reports),
        sum(r["cpu"] for r in reports) / usable,
        sum(r["queued"] for r in reports) / (seconds * len(reports)),
    )


class DiskTally:
    """The measurements so far, by variant name."""

    def __init__(self) -> None:
        self._metrics: dict[str, list[dict[str, float]]] = {}
        self._queued: list[float] = []
        self._kept: tuple[Arm, ...] = ()

    def add(self, variant: Variant, whole: CombinedReport, metrics: dict[str, float]) -> BlockMeasurement:
        """Add one block's metrics together with the driver's CPU share, and return them as a block measurement."""
        complete = metrics | {PROCESSOR.name: whole.processor}
        self._metrics.setdefault(variant.name, []).append(complete)
        self._queued.append(whole.queued)
        return BlockMeasurement({name: round(value, 4) for name, value in complete.items()}, {})

    def keep_blocks(self, arms: tuple[Arm, ...]) -> None:
        """Replace the measurements by those of these blocks, with their rounds; invalid blocks have none."""
        self._kept = arms
        self._metrics = {arm.name: [block.metrics for block in arm.blocks if block.metrics] for arm in arms}

    def values(self, variant: str, metric: str) -> list[float]:
        """A variant's values of a metric, one per block."""
        return [block[metric] for block in self._metrics.get(variant, ()) if metric in block]

    def mean(self, variant: str, metric: str) -> float | None:
        """The mean of these values as shown in the report's table; None without values."""
        table = round_table(self._arms(), metric, variant)
        return table.mean(table.names.index(variant)) if table and table.rounds else None

    def differs(self, variant: str, other: str, metric: str) -> bool:
        """Whether a variant differs from another one by more than noise."""
        return any(c.arm == variant and c.claim != "none" for c in compare(self._arms(), Metric(metric, ""), other))

    def _arms(self) -> tuple[Arm, ...]:
        return self._kept or tuple(
            Arm(name, {}, tuple(Block(number, 0.0, 0.0, metrics) for number, metrics in enumerate(blocks)))
            for name, blocks in self._metrics.items()
        )

    def best(self, variants: Iterable[str], metric: str, *, least: bool = False) -> tuple[str, float]:
        """The variant with the largest mean of a metric (the smallest if `least`), and that mean."""
        means = {name: value for name in variants if (value := self.mean(name, metric)) is not None}
        if not means:
            raise ProbeError("no request finished in the given time: give more with --time")
        name = (min if least else max)(means, key=lambda name: means[name])
        return name, means[name]

    def latency_text(self, variant: str, median: str, p99: str) -> str:
        """The latency of a variant's requests by two metrics in µs, as text: `95 µs at the median (p99 210 µs)`."""
        usual, late = self.mean(variant, median), self.mean(variant, p99)
        if usual is None:
            return "not measured"
        return f"{format_latency(usual)} at the median" + ("" if late is None else f" (p99 {format_latency(late)})")

    def driver_limited(self, variants: Iterable[str]) -> list[str]:
        """The variants in which the driver's own CPU time was the limit."""
        return [name for name in variants if (self.mean(name, PROCESSOR.name) or 0.0) >= DRIVER_LIMIT]

    def notes(self, variants: Iterable[str]) -> tuple[str, ...]:
        """Sentences on figures that are lower bounds."""
        limited, notes = self.driver_limited(variants), []
        if limited:
            notes.append(
                f"Lower bounds: {', '.join(limited)}. The driver used {DRIVER_LIMIT:.0%} or more of its processors, "
                "so the device can do more than shown."
            )
        if self._waits_for_processors():
            notes.append(
                "Other processes kept the processors busy: the driver waited for a processor "
                f"{statistics.median(self._queued):.0%} of the time, so the device can do more than shown."
            )
        return tuple(notes)

    def lower_bounds(self, variants: Iterable[str]) -> list[str]:
        """The variants in which the device may do more than shown: all, if the driver had to wait for processors."""
        return list(variants) if self._waits_for_processors() else self.driver_limited(variants)

    def facts(self, variants: Iterable[str]) -> dict[str, float | str]:
        """`at_least`: the variants whose figures are lower bounds; omitted if there are none."""
        limited = self.lower_bounds(variants)
        return {"at_least": ", ".join(limited)} if limited else {}

    def _waits_for_processors(self) -> bool:
        return bool(self._queued) and statistics.median(self._queued) >= QUEUED_LIMIT
