"""How much memory a server takes: measured, likely, and the ceiling that its settings allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.sizes import about

if TYPE_CHECKING:
    from rules.known import Known

MIB = 1 << 20
GIB = 1 << 30
# The share that leaves room for sessions and the system: MySQL's manual says 50 to 75 percent,
# MariaDB's 60 to 70 (BP-05).
POOL_PERCENT = 70

SHARED = ("innodb_buffer_pool_size", "innodb_log_buffer_size", "key_buffer_size", "aria_pagecache_buffer_size")
SESSION = ("thread_stack", "net_buffer_length", "sort_buffer_size", "join_buffer_size", "read_rnd_buffer_size")
IDLE = ("thread_stack", "net_buffer_length")


class Budget(NamedTuple):
    """Bytes; `measured` is None where nothing was measured, `likely` where no server was asked for its peak.

    `likely` is never less than `measured`: what is taken already counts, performance_schema's memory for instance.
    `ceiling` is every allowed connection using every buffer at once, which no server reaches.
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
    shared, session = _shared(known), _session(known)
    taken, likely = measured(known), _likely(known, shared, session)
    if taken and likely:
        likely = max(taken, likely)
    return Budget(taken, likely, shared + _temporary(known) + connections * session, connections, session)


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
    chunk = known.number("innodb_buffer_pool_chunk_size") or 128 * MIB
    step = chunk * max(1, known.number("innodb_buffer_pool_instances") or 1)
    wanted = usable_bytes * POOL_PERCENT // 100
    return wanted // step * step if wanted >= step else wanted // MIB * MIB


def _sum(known: Known, names: tuple[str, ...]) -> int:
    return sum(known.number(name) or 0 for name in names)


def _shared(known: Known) -> int:
    cache = known.number("query_cache_size") or 0
    used = (known.text("query_cache_type") or "OFF") not in {"OFF", "0"}
    return _sum(known, SHARED) + (cache if used else 0)


def _session(known: Known) -> int:
    """What one session may take at once: its stack, each buffer one time, and one temporary table in memory."""
    reads_with_it = not known.target.since("mysql", 8, 0)
    scan = known.number("read_buffer_size") or 0 if reads_with_it else 0
    return _sum(known, SESSION) + scan + (_table_in_memory(known) if reads_with_it else 0)


def _table_in_memory(known: Known) -> int:
    sizes = [known.number(name) for name in ("tmp_table_size", "max_heap_table_size")]
    return min((s for s in sizes if s), default=0)


def _temporary(known: Known) -> int:
    """TempTable's memory, which all sessions of MySQL 8.0 and later share."""
    return known.number("temptable_max_ram") or 0


def _likely(known: Known, shared: int, session: int) -> int | None:
    if not known.has("server"):
        return None
    peak = known.server.counter("max_used_connections") or 0
    running = min(peak, known.server.counter("threads_running") or 0)
    return shared + peak * _sum(known, IDLE) + running * session
