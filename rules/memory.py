"""How much memory a server takes: measured, likely, and the ceiling that its settings allow."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, NamedTuple

from advisor.sizes import about
from rules.memoryparts import (
    CACHES,
    DEFAULT_POOL,
    POOL,
    at_rest,
    idle,
    of_a_session,
    series,
    session,
    session_used,
    shared,
    shared_beside_pool,
    shared_used,
    table_size,
    temptable,
)

if TYPE_CHECKING:
    from rules.known import Known

MIB = 1 << 20
GIB = 1 << 30
# What the operating system keeps, whatever the machine: a gigabyte, on small machines a sixteenth. Beyond that a pool
# that is advised leaves a few percent to statements at work and to the page cache. Both are our choice: the shares of
# the manuals (50 to 80 percent, BP-05) leave a hundred gigabytes idle on a machine of 512.
SYSTEM = GIB
SYSTEM_SHARE = 16
SPARE_PERCENT = 8
LEAST_SHARE = 4  # of so many parts of the memory a pool is always one
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
    def sessions(self) -> str:
        """How the sessions come into the ceiling, in words."""
        return f"{self.connections:,} connections × {about(self.per_session)}"  # noqa: RUF001 - the sign is meant

    @property
    def sentence(self) -> str:
        """The three numbers in words."""
        parts = [f"{about(self.measured)} measured"] if self.measured else []
        parts += [f"{about(self.likely)} likely"] if self.likely else []
        return ", ".join([*parts, f"{about(self.ceiling)} ceiling ({self.sessions})"])


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


def largest_part(known: Known, connections: int) -> tuple[str, int]:
    """The option that bounds the largest part of the ceiling, and the bytes that all sessions together take by it."""
    parts = {name: size * connections for name, size in of_a_session(known).items()}
    parts |= {name: known.number(name) or 0 for name in (POOL, *CACHES)} | {"temptable_max_ram": temptable(known)}
    return max(parts.items(), key=lambda part: part[1])


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
    """A buffer pool for the memory, in whole steps of chunk size times instances, which the server takes unchanged.

    What remains when the system, the server's other parts, its sessions and a few percent to spare are taken off.
    """
    measured = series(known)
    others = measured.at_rest + measured.schema + shared_beside_pool(known) + _sessions(known)
    left = usable_bytes - system_part(usable_bytes) - usable_bytes * SPARE_PERCENT // 100 - others
    return in_steps(known, _within(known, left, usable_bytes))


def in_steps(known: Known, size: int) -> int:
    """The size in whole steps below it, in whole megabytes where a step is too much."""
    step = _step(known, size)
    return size // step * step if size >= step else size // MIB * MIB


def too_tight(known: Known, pool: int, usable_bytes: int) -> bool:
    """Whether a pool with its lists, the server at rest and the system's own part are more than the memory."""
    return pool > _within(known, usable_bytes - system_part(usable_bytes) - at_rest(known), usable_bytes)


def _within(known: Known, room: int, usable_bytes: int) -> int:
    """The pool whose pages and lists fill the room, at least a part of the memory that every server may have."""
    percent = series(known).pool_percent
    pool = room if room <= DEFAULT_POOL else (room * 100 + DEFAULT_POOL * percent) // (100 + percent)
    return max(pool, usable_bytes // LEAST_SHARE)


def system_part(usable_bytes: int) -> int:
    """What the operating system keeps of that much memory."""
    return min(SYSTEM, usable_bytes // SYSTEM_SHARE)


def _sessions(known: Known) -> int:
    """What all sessions take that may be connected, or that were at the peak, while few of them are at work."""
    connections = known.number("max_connections") or 0
    peak = known.server.counter("max_used_connections") if known.has("server") else None
    return (connections if peak is None else min(connections, peak)) * idle(known)


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
