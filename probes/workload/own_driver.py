"""Select the load driver and run a load; our own driver, for hosts without sysbench, is processes that use PyMySQL."""

from __future__ import annotations

import contextlib
import json
import math
import os
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

from probes.experiment import Choice, ProbeError
from probes.sandbox.cleanup import spawn
from probes.workload import sysbench
from probes.workload.load import DriverError, LoadResult
from probes.workload.worker import PER_DOUBLING, add_histograms

if TYPE_CHECKING:
    import subprocess

    from probes.stop import StopSignal
    from probes.workload.load import Task


WORKER_CODE = (
    "import json, sys; orders = json.load(sys.stdin); sys.path[:] = orders['path']; "
    "from probes.workload.worker import run_worker; run_worker(orders)"
)
READY_TIMEOUT = 60.0
END_TIMEOUT = 60.0  # seconds that the last transactions may take after the time is up
POLL = 0.01
START_DELAY = 0.05
OWN_DRIVER = "mycnf"
DRIVER_CHOICE = Choice("driver", "word", "auto", "load generator: sysbench, mycnf, or auto (sysbench if installed)")


def run_own_load(task: Task, seconds: int, stop: StopSignal) -> LoadResult | None:
    """Run a load for that many whole seconds; None if it was stopped.

    Raises DriverError if a process cannot be started or loses its server.
    """
    go = os.path.join(task.scratch_folder, "go")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(go)
    shares = _connections_per_process(task.threads)
    processes: list[tuple[subprocess.Popen[bytes], str]] = []
    try:
        for place, connections in enumerate(shares):
            processes.append(_start_worker(task, seconds, go, place, connections))
        if not _wait_until(lambda: all(_is_ready(log, process) for process, log in processes), READY_TIMEOUT, stop):
            return None
        _write_start_time(go)
        over = _wait_until(lambda: all(p.poll() is not None for p, _ in processes), seconds + END_TIMEOUT, stop)
        return _merge_reports([_read_report(log, process) for process, log in processes], seconds) if over else None
    finally:
        _kill_workers(process for process, _ in processes)


def _connections_per_process(threads: int) -> list[int]:
    """The number of connections per process: one process per connection, up to two processes per CPU."""
    count = min(threads, 2 * (os.cpu_count() or 1))
    return [threads // count + (place < threads % count) for place in range(count)]


def _start_worker(
    task: Task, seconds: int, go: str, place: int, connections: int
) -> tuple[subprocess.Popen[bytes], str]:
    orders = {
        "path": sys.path,
        "socket": task.socket,
        "login": task.login._asdict(),
        "database": task.database,
        "tables": task.tables,
        "rows": task.rows,
        "steps": [(step.statements, step.times) for step in task.workload.steps],
        "bracketed": task.workload.bracketed,
        "connecting": task.workload.connecting,
        "span": task.workload.span,
        "kind": task.access.kind,
        "keys_file": task.access.keys_file,
        "connections": connections,
        "seconds": seconds,
        "seed": task.seed * 1_000_003 + place * 1_009,
        "go": go,
    }
    feed, log = (os.path.join(task.scratch_folder, f"driver-{place}.{part}") for part in ("json", "log"))
    with open(feed, "w", encoding="utf-8") as text:
        json.dump(orders, text)
    with open(log, "wb"):
        pass
    return spawn([sys.executable, "-I", "-c", WORKER_CODE], log=log, temporary=task.scratch_folder, feed=feed), log


def _is_ready(log: str, process: subprocess.Popen[bytes]) -> bool:
    output = _read_text(log)
    if process.poll() is not None:
        raise DriverError(f"the load driver ended before the start: {_last_line(output)}")
    return output.startswith("ready\n")


def _write_start_time(go: str) -> None:
    beside = go + ".new"
    with open(beside, "w", encoding="ascii") as text:
        text.write(repr(time.monotonic() + START_DELAY))
    os.rename(beside, go)


def _wait_until(holds: Any, timeout: float, stop: StopSignal) -> bool:
    """Wait until `holds` returns true; False if stopped; raises DriverError on timeout."""
    deadline = time.monotonic() + timeout
    while not holds():
        if stop.wait(POLL):
            return False
        if time.monotonic() > deadline:
            raise DriverError("the load driver did not finish in time: is the host overloaded?")
    return True


def _read_report(log: str, process: subprocess.Popen[bytes]) -> dict[str, Any]:
    output = _read_text(log)
    try:
        report: dict[str, Any] = json.loads(output.splitlines()[-1])
    except (ValueError, IndexError):
        raise DriverError(f"the load driver failed ({process.returncode}): {_last_line(output)}") from None
    if report["broken"]:
        raise DriverError(f"the load driver lost its server: {report['broken']}")
    return report


def _merge_reports(reports: list[dict[str, Any]], seconds: int) -> LoadResult:
    tps, qps = (
        tuple(float(sum(second)) for second in zip(*(report[name] for report in reports), strict=True))
        for name in ("transactions", "queries")
    )
    by_second = [add_histograms(second) for second in zip(*(report["latencies"] for report in reports), strict=True)]
    latencies = add_histograms(by_second)
    # The last transactions end after the time is up, and are counted.
    elapsed = [each for report in reports for each in report["elapsed"]]
    return LoadResult(
        seconds=max(float(seconds), statistics.fmean(elapsed)),
        transactions=int(sum(tps)),
        queries=int(sum(qps)),
        repeated=sum(report["errors"] for report in reports),
        p95=percentile(latencies, 0.95),
        p99=percentile(latencies, 0.99),
        tps=tps,
        qps=qps,
        p99_by_second=tuple(percentile(second, 0.99) for second in by_second),
        cpu=sum(report["cpu"] for report in reports),
    )


def percentile(latencies: dict[int, int], share: float) -> float:
    """The percentile of the latencies in milliseconds, accurate to a bucket's width; 0 without latencies."""
    wanted = share * sum(latencies.values())
    seen = 0
    for bucket in sorted(latencies):
        seen += latencies[bucket]
        if seen >= wanted:
            return round(1000 * math.pow(2.0, (bucket + 0.5) / PER_DOUBLING), 4)
    return 0.0


def _kill_workers(processes: Any) -> None:
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()


def _read_text(log: str) -> str:
    with open(log, encoding="utf-8", errors="replace") as text:
        return text.read()


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "no message in its log"


def choose_driver(word: str) -> str:
    """The load driver that the user's word denotes, as results name it: "sysbench 1.0.20" or "mycnf".

    Raises ProbeError for an unknown word, and for sysbench if it is not installed.
    """
    if word not in ("auto", "sysbench", OWN_DRIVER):
        raise ProbeError(f"unknown driver {word!r}: use sysbench, {OWN_DRIVER} or auto")
    if word == OWN_DRIVER:
        return OWN_DRIVER
    version = sysbench.sysbench_version()
    if version is None and word == "sysbench":
        raise ProbeError(f"sysbench 1.0 or later with MySQL support not found: install it, or use driver={OWN_DRIVER}")
    return version or OWN_DRIVER


def run_load(driver: str, task: Task, seconds: float, stop: StopSignal) -> LoadResult | None:
    """Run a load for about `seconds`, rounded to whole seconds and at least one; None if it was stopped.

    `driver` is the result of `choose_driver`. Raises DriverError if the load fails.
    """
    whole = max(1, round(seconds))
    return run_own_load(task, whole, stop) if driver == OWN_DRIVER else sysbench.run_sysbench(task, whole, stop)
