"""A bench on which one process of the driver does all the work, on one file."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.core.sizes import about
from probes.disk import asking
from probes.disk.crew import Crew
from probes.disk.material import Material
from probes.disk.tally import Tally, together
from probes.experiment import Cost, Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from probes.experiment import Ground, Plan, Turn, Variant, Wanted
    from probes.stopping import Stop

OVERHEAD = 0.03
OURS = 32 << 20  # bytes of memory: an interpreter, and what it notes down


class Work(NamedTuple):
    """What one experiment has done: `task` for all variants and `order` for one, the metric's name for done a second
    (`rate`) and those of what the process reports (`reported`), and `facts` of all that was measured.
    """

    task: dict[str, Any]
    order: Callable[[Variant], dict[str, Any]]
    rate: str
    reported: dict[str, str]
    facts: Callable[[Tally, list[str]], dict[str, float | str]]


def cost(wanted: Wanted, size: int, buffers: int) -> Cost:
    """What a run on one file of that size takes, the driver's buffers being so large."""
    creates = f"a file of {about(size)} in a directory of its own in {wanted.directory}"
    return Cost(disk=size, memory=OURS + buffers, prepare=asking.preparation(size), creates=(creates,))


@contextlib.contextmanager
def bench(ground: Ground, wanted: Wanted, plan: Plan, stop: Stop, work: Work) -> Iterator[Single]:
    """Write the file, start the process, and take both away again."""
    with Material(wanted.directory, ground.report, stop) as material, Crew(1) as crew:
        path = material.file("pages", plan.cost.disk)
        yield Single(crew, plan, work, {"path": path, "size": os.path.getsize(path), "seed": wanted.seed})


class Single:
    """The bench."""

    def __init__(self, crew: Crew, plan: Plan, work: Work, file: dict[str, Any]) -> None:
        self._crew, self._work, self._file, self._tally = crew, work, file, Tally()
        self._names = [variant.name for variant in plan.variants]

    def measure(self, variant: Variant, turn: Turn, stop: Stop) -> Measured:
        """Do a variant's work for so long."""
        task = self._file | self._work.task | self._work.order(variant)
        report = self._crew.run([task], turn.seconds, stop)
        whole = together(report)
        metrics = {self._work.rate: whole.done / whole.seconds}
        if whole.done:
            metrics |= {name: report[0][told] for name, told in self._work.reported.items()}
        return self._tally.add(variant, whole, metrics)

    def facts(self) -> dict[str, float | str]:
        """The experiment's own, and what is "at least"."""
        return self._work.facts(self._tally, self._names) | self._tally.facts(self._names)

    def notes(self) -> tuple[str, ...]:
        """Where the figures are lower bounds."""
        return self._tally.notes(self._names)
