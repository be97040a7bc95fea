"""What a driver is told, and what it gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from probes.experiment import ProbeError

if TYPE_CHECKING:
    from probes.workload.statements import Access, Workload


class DriverError(ProbeError):
    """The driver of a load broke off: it could not be started, or a server left it."""


class Task(NamedTuple):
    """A load on a server: which tables (sbtest1 to sbtest`tables`, of `rows` rows each), what, and by how many at once.

    `room` is a folder in a scratch directory for the driver's scripts and reports; equal `seed`s draw equal rows.
    """

    socket: str
    room: str
    workload: Workload
    access: Access
    threads: int
    rows: int
    tables: int = 1
    database: str = "sbtest"
    seed: int = 1


class Ran(NamedTuple):
    """What a load did: whole `seconds`, counts, and per-second values of transactions and queries.

    `p95` and `p99` are percentiles of the latency of transactions, in milliseconds; `p99_by_second` is that of the
    transactions that ended in each second, 0 where none did. `repeated` transactions met a deadlock or a lock wait
    timeout and are in no count of transactions. `cpu` is the driver's own processor seconds, None where not counted.
    """

    seconds: float
    transactions: int
    queries: int
    repeated: int
    p95: float
    p99: float
    tps: tuple[float, ...]
    qps: tuple[float, ...]
    p99_by_second: tuple[float, ...]
    cpu: float | None = None
