"""What SET GLOBAL does to a variable while the server runs: whether it takes the value, and for whom it counts.

Audits, preflight, the reference and the app read it here. Whether a variable can be set at all stands in the catalog,
asked of servers; what is here was tried on them: 9.7 refuses to switch the doublewrite buffer on or off, 5.7 a query
cache that it started without, all an event scheduler that was started as DISABLED.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.catalog.load import Option
    from advisor.model import Target

NEW_SESSIONS = "sessions that are open keep their own value"
NEXT_APPLIER = "it counts when the replica's threads start again"
RELOAD = "it counts after ALTER INSTANCE RELOAD TLS"
AT_START = "it counts from the next start"
OFF = frozenset({"OFF", "FALSE", "0"})
GTID_STEPS = ("OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON")
APPLIER = frozenset(
    (
        *("replica_parallel_workers", "slave_parallel_workers", "replica_pending_jobs_size_max"),
        *("slave_pending_jobs_size_max", "replica_transaction_retries", "slave_transaction_retries"),
    )
)
TLS = frozenset(
    (
        *("ssl_ca", "ssl_capath", "ssl_cert", "ssl_cipher", "ssl_crl", "ssl_crlpath", "ssl_key"),
        *("tls_ciphersuites", "tls_version"),
    )
)
STALLS = {
    "innodb_adaptive_hash_index": "switching it waits for its latches, which can stall statements",
    "innodb_buffer_pool_size": "resizing the pool can stall statements for seconds",
    "query_cache_size": "statements wait for the cache's lock meanwhile",
    "query_cache_type": "statements wait for the cache's lock meanwhile",
    "sync_binlog": "commits wait for a sync, which can stall sessions on slow storage",
}


class AtRunTime(NamedTuple):
    """Whether SET GLOBAL brings about what a restart with the value would, and what to know of it.

    `works` is False where the server refuses the value while it runs, or takes it and goes on as before.
    """

    works: bool
    words: str = ""


def at_run_time(option: Option, target: Target, value: str | None = None, running: str | None = None) -> AtRunTime:
    """What SET GLOBAL does to the option's variable; without a value, what it does in general."""
    if not option.dynamic or option.variable is None:
        return AtRunTime(False)
    new, now = (value or "").upper(), (running or "").upper()
    refuses = REFUSED.get(option.variable)
    if refuses is not None and refuses(target, new, now):
        return AtRunTime(False)
    if option.variable == "read_buffer_size" and target.since("mysql", 8):
        return AtRunTime(False, "MEMORY tables go by its value at the start, and nothing else reads it")
    if option.variable in APPLIER and target.is_mysql:
        return AtRunTime(True, NEXT_APPLIER)
    if option.variable in TLS and target.is_mysql:
        return AtRunTime(True, RELOAD)
    return AtRunTime(True, STALLS.get(option.variable) or (NEW_SESSIONS if option.scope == "both" else ""))


def _doublewrite(target: Target, new: str, now: str) -> bool:
    """MySQL changes between ON and DETECT_ONLY alone; MariaDB from 11.4 on takes each."""
    return target.is_mysql and bool(new) and (new in OFF or now in OFF)


def _scheduler(_target: Target, new: str, now: str) -> bool:
    return "DISABLED" in (new, now)


def _query_cache(target: Target, new: str, now: str) -> bool:
    """MySQL 5.7 has no cache to switch on where it started without."""
    return target.is_mysql and now in OFF and new not in OFF


def _gtid_mode(_target: Target, new: str, now: str) -> bool:
    """One step at a time."""
    if new not in GTID_STEPS or now not in GTID_STEPS:
        return False
    return abs(GTID_STEPS.index(new) - GTID_STEPS.index(now)) > 1


REFUSED: dict[str, Callable[[Target, str, str], bool]] = {
    "event_scheduler": _scheduler,
    "gtid_mode": _gtid_mode,
    "innodb_doublewrite": _doublewrite,
    "query_cache_type": _query_cache,
}
