"""How much memory a server takes: measured, likely, and the ceiling that its settings allow."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, NamedTuple

from advisor.sizes import about
from rules.memoryparts import at_rest, idle, session, session_used, shared, shared_used, table_size, temptable

if TYPE_CHECKING:
    from rules.known import Known

MIB = 1 << 20
GIB = 1 << 30
# The share that leaves room for sessions and the system: MySQL's manual says 50 to 75 percent,
# MariaDB's 60 to 70 (BP-05).
POOL_PERCENT = 70
TIGHT_PERCENT = 90
GROWTH_PERCENT = 25
CHUNK = 128 * MIB
INSTANCES = "innodb_buffer_pool_instances"
DEFAULT_INSTANCES = 8
MOST_INSTANCES = 64


class Budget(NamedTuple):
    """Bytes; `measured` is None where nothing was measured, `likely` where no server was asked for its peak.

    `likely` is what the peak of connections takes, as many as are at work just now using those buffers of which the
    counters tell that sessions use them; it is never less than what the process has ever taken. `ceiling` is every
    allowed connection using each of its buffers at once, which no server reaches. Neither knows of what a session makes
    without a bound of its own: tables of the engine MEMORY, packets up to max_allowed_packet, a buffer for each further
    join, sort or derived table of a statement.
    """

    measured: int | None
    likely: int | None
    ceiling: int
    connections: int
    per_session: int

    @property
    def sentence(self) -> str:
        """The three numbers in words."""
        parts = [f"{about(self.measured)} measured"] if self.measured else []
        parts += [f"{about(self.likely)} likely"] if self.likely else []
        sessions = f"{self.connections:,} connections × {about(self.per_session)}"  # noqa: RUF001 - the sign is meant
        return ", ".join([*parts, f"{about(self.ceiling)} ceiling ({sessions})"])


def budget(known: Known) -> Budget | None:
    """The three numbers; None where a size that they rest on is not known, a templated pool for instance."""
    pool, connections = known.number("innodb_buffer_pool_size"), known.number("max_connections")
    if pool is None or connections is None:
        return None
    each = session(known)
    ceiling = at_rest(known) + shared(known) + temptable(known) + connections * each
    taken = measured(known)
    likely = max(expected(known), taken or 0, _highest(known)) if known.has("server") else None
    return Budget(taken, likely, ceiling, connections, each)


def expected(known: Known) -> int:
    """What the server takes at the peak of its connections by its counters alone, whatever was measured."""
    peak = known.server.counter("max_used_connections") or 0
    running = min(peak, known.server.counter("threads_running") or 0)
    tables = min(temptable(known), running * table_size(known))
    sessions = peak * idle(known) + running * session_used(known)
    return at_rest(known) + shared_used(known) + tables + sessions


def measured(known: Known) -> int | None:
    """Resident bytes of the server's process, else what the server accounts for itself."""
    if known.has("host") and known.host.process is not None and known.host.process.resident:
        return known.host.process.resident
    return known.server.instrumented_bytes if known.has("server") else None


def usable(known: Known) -> tuple[int, str] | None:
    """Bytes that the server may use, and what sets them: the machine's memory or a control group's limit."""
    host = known.host
    size = host.usable_memory
    if not size:
        return None
    limited = host.memory is None or size < host.memory.total
    return size, f"{about(size)} of {'the control group' if limited else 'memory'}"


def pool_that_fits(known: Known, usable_bytes: int) -> int:
    """A buffer pool for the memory, in whole steps of chunk size times instances, which the server takes unchanged."""
    wanted = usable_bytes * POOL_PERCENT // 100
    step = _step(known, wanted)
    return wanted // step * step if wanted >= step else wanted // MIB * MIB


def too_tight(pool: int, usable_bytes: int) -> bool:
    """Whether a pool leaves hardly anything of the memory for all else."""
    return pool * 100 > usable_bytes * TIGHT_PERCENT


def pool_that_holds(known: Known, data_bytes: int) -> int:
    """A buffer pool for all of the data and a quarter more, for undo and growth; in whole steps too."""
    wanted = data_bytes * (100 + GROWTH_PERCENT) // 100
    step = _step(known, wanted)
    return -(-wanted // step) * step


def _step(known: Known, size: int) -> int:
    return (known.number("innodb_buffer_pool_chunk_size") or CHUNK) * instances(known, size)


def instances(known: Known, size: int) -> int:
    """A number of parts that divides a pool of that size both as it runs now and after a restart (BPI-04)."""
    running = max(1, known.number(INSTANCES) or 1)
    if size < GIB or not known.target.is_mysql or known.chosen(INSTANCES):
        return running
    if not known.target.since("mysql", 8, 4):
        return lcm(running, DEFAULT_INSTANCES)
    cpus = known.host.usable_cpus if known.has("host") else None
    return lcm(running, max(1, min(size // (2 * CHUNK), int(cpus or MOST_INSTANCES * 4) // 4, MOST_INSTANCES)))


def _highest(known: Known) -> int:
    """The most that the process has ever had resident."""
    process = known.host.process if known.has("host") else None
    return process.peak_resident or 0 if process is not None else 0
