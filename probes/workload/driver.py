"""Select the load driver and run a load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probes.experiment import Choice, ProbeError
from probes.workload import own_driver, sysbench

if TYPE_CHECKING:
    from probes.stop import StopSignal
    from probes.workload.load import LoadResult, Task

OWN_DRIVER = "mycnf"
DRIVER_CHOICE = Choice("driver", "word", "auto", "load generator: sysbench, mycnf, or auto (sysbench if installed)")


def choose_driver(word: str) -> str:
    """The load driver that the user's word denotes, as results name it: "sysbench 1.0.20" or "mycnf".

    Raises ProbeError for an unknown word, and for sysbench if it is not installed.
    """
    if word not in ("auto", "sysbench", OWN_DRIVER):
        raise ProbeError(f"unknown driver {word!r}: use sysbench, {OWN_DRIVER} or auto")
    if word == OWN_DRIVER:
        return OWN_DRIVER
    found = sysbench.sysbench_version()
    if found is None and word == "sysbench":
        raise ProbeError(f"sysbench 1.0 or later with MySQL support not found: install it, or use driver={OWN_DRIVER}")
    return found or OWN_DRIVER


def run_load(driver: str, task: Task, seconds: float, stop: StopSignal) -> LoadResult | None:
    """Run a load for about `seconds`, rounded to whole seconds and at least one; None if it was stopped.

    `driver` is the result of `choose_driver`. Raises DriverError if the load fails.
    """
    whole = max(1, round(seconds))
    return (
        own_driver.run_own_load(task, whole, stop) if driver == OWN_DRIVER else sysbench.run_sysbench(task, whole, stop)
    )
