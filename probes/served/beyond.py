"""Tables that are larger than their server's buffer pool, so that the disk takes part in the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from probes.served import measuring
from probes.workload.statements import Access
from probes.workload.tables import ROW_BYTES, Shape, fill
from probes.workload.task import Task

if TYPE_CHECKING:
    from advisor.core.model import Target
    from probes.choices import Chosen
    from probes.experiment import Cost, Ground
    from probes.served.serving import Served
    from probes.stopping import Stop
    from probes.workload.statements import Workload

LEAST_POOL = 6 << 20  # with less, MariaDB of today does not start
GROWTH_RATE = 4 << 20  # bytes a second that updates add to tables and undo logs, at most
UNIFORM = Access()


class Beyond(NamedTuple):
    """A pool of so many bytes, tables larger than it, and how many connections work at once."""

    pool: int
    shape: Shape
    threads: int

    def cost(self, seconds: float, servers: int = 1) -> Cost:
        """What so many servers take, each with its table, that work for `seconds` in all."""
        growth = int(seconds * GROWTH_RATE)
        return measuring.cost(
            pool=self.pool, data=self.shape.bytes, growth=growth, servers=servers, threads=self.threads
        )

    def arguments(self, target: Target) -> tuple[str, ...]:
        """Options of the server, which reads past the page cache."""
        return measuring.arguments(target, pool=self.pool)

    def parameters(self, workload: str) -> dict[str, str]:
        """What the results say of it."""
        return {
            "workload": workload,
            "rows": str(self.shape.rows),
            **({"tables": str(self.shape.tables)} if self.shape.tables > 1 else {}),
            "pool": str(self.pool),
            "threads": str(self.threads),
        }

    def fill(self, ground: Ground, served: Served, stop: Stop, where: str = "") -> None:
        """Make the table and fill it."""
        tables = f"{self.shape.tables} tables" if self.shape.tables > 1 else "a table"
        ground.report(f"filling {tables} of {self.shape.rows} rows{where}")
        fill(served.connection(), self.shape, stop)

    def task(self, served: Served, workload: Workload, access: Access = UNIFORM) -> Task:
        """The load on it."""
        rows, tables = self.shape.rows, self.shape.tables
        return Task(served.sandbox.socket, served.room, workload, access, self.threads, rows, tables)


def beyond(chosen: Chosen, tables: int = 1) -> Beyond:
    """The pool, data (in percent of it, in so many tables) and threads that the user chose."""
    pool = chosen.size("pool", LEAST_POOL)
    rows = pool * chosen.number("data", 1) // 100 // ROW_BYTES // tables
    return Beyond(pool, Shape(max(1, rows), tables), chosen.number("threads", 1))
