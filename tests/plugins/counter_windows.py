"""Windows in which tests drive a server: each ends after enough events, and gets a fixed length in seconds.

Rules evaluate rates. The speed of the host must not matter: tests generate as many events as some seconds would have.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pymysql
from msgspec.structs import replace
from process_checks import eventually

from advisor.facts import Facts
from probes.sandbox import Sandbox

SECONDS = 6.0


def lasting(facts: Facts, later: float = 0.0) -> Facts:
    """The facts as if their window had taken SECONDS, with `later` seconds added to the server's uptime."""
    clocks = ("uptime", "uptime_since_flush_status")
    ahead = {name: str(int((facts.server.counter(name) or 0) + later)) for name in clocks}
    status = facts.server.status | ahead
    window = facts.workload
    if window is not None:
        first = replace(window.first, at=window.first.at + later)
        window = replace(window, first=first, last=replace(window.last, at=first.at + SECONDS))
    return replace(facts, server=replace(facts.server, status=status), workload=window)


@contextlib.contextmanager
def rising(sandbox: Sandbox, **least: int) -> Iterator[Callable[[], bool]]:
    """Yields a function that returns whether status counters have risen this much since the block started."""
    with sandbox.connect(autocommit=True) as connection:
        before = _counters(connection, least)

        def risen() -> bool:
            now = _counters(connection, least)
            return all(now[name] - before[name] >= rise for name, rise in least.items())

        yield risen


def wait_for(sandbox: Sandbox, **least: int) -> None:
    """Wait until status values are at least this high."""
    with sandbox.connect(autocommit=True) as connection:
        eventually(
            lambda: all(value >= least[name] for name, value in _counters(connection, least).items()),
            what=lambda: f"{least}: {_counters(connection, least)}",
        )


def _counters(connection: pymysql.Connection[Any], names: dict[str, int]) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS")
        status = {name.lower(): value for name, value in cursor.fetchall()}
    return {name: int(status[name]) for name in names}
