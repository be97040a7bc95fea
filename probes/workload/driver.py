"""Choose who makes the load, and let it run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probes.experiment import Choice, ProbeError
from probes.workload import own_driver, sysbench

if TYPE_CHECKING:
    from probes.stop import Stop
    from probes.workload.load import LoadResult, Task

OWN = "mycnf"
DRIVER = Choice("driver", "word", "auto", "who makes the load: sysbench, mycnf, or auto for sysbench where it is")


def driver_of(word: str) -> str:
    """The driver that a word means, as results name it: "sysbench 1.0.20" or "mycnf".

    Raises ProbeError for an unknown word, and for sysbench where there is none.
    """
    if word not in ("auto", "sysbench", OWN):
        raise ProbeError(f"there is no driver {word!r}: choose sysbench, {OWN} or auto")
    if word == OWN:
        return OWN
    found = sysbench.version()
    if found is None and word == "sysbench":
        raise ProbeError(f"there is no sysbench 1.0 or later with MySQL here: install it, or choose driver={OWN}")
    return found or OWN


def drive(driver: str, task: Task, seconds: float, stop: Stop) -> LoadResult | None:
    """Run a load for about so long, in whole seconds and at least one; None once it was told to stop.

    `driver` is what `driver_of` gave. Raises DriverError where it breaks off.
    """
    whole = max(1, round(seconds))
    return own_driver.drive(task, whole, stop) if driver == OWN else sysbench.drive(task, whole, stop)
