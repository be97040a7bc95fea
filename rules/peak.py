"""The busiest hour that was sampled, before the moment that an audit happens to see."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from rules.known import Missing
from rules.rates import over, steady

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.facts import Workload
    from advisor.facts.workload import BusyHour
    from rules.known import Known

REDO, CONNECTIONS, TEMPORARY = "redo", "connections", "temporary tables"


class Seen(NamedTuple):
    """A stretch of time that counters tell of, and how to name it in a message: `in the busiest hour, …`."""

    workload: Workload
    words: str
    hour: BusyHour | None = None


def fullest(known: Known, of: str) -> Seen:
    """The busiest sampled hour of a kind, the window of this audit where none was sampled; Missing without either."""
    return next(seen(known, of))


def seen(known: Known, of: str) -> Iterator[Seen]:
    """The busiest sampled hour of a kind, and then the window; Missing where there is neither."""
    hour = known.sampled.hour(of) if known.has("sampled") else None
    if hour is not None:
        yield Seen(hour.workload, f"in the busiest hour, {named(hour)}", hour)
    try:
        window = steady(known)
    except Missing:
        if hour is None:
            raise
        return
    yield Seen(window, over(window))


def named(hour: BusyHour) -> str:
    """`14:00-15:00 UTC on 2026-11-20`."""
    try:
        began, ended = (datetime.fromisoformat(at).astimezone(UTC) for at in (hour.began_at, hour.ended_at))
    except (ValueError, OverflowError):
        return "at an unknown time"
    return f"{began:%H:%M}-{ended:%H:%M} UTC on {began:%Y-%m-%d}"
