"""Counters over a window, believed only after enough time and enough events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.sizes import lasted
from rules.known import Missing

if TYPE_CHECKING:
    from advisor.facts import Workload
    from rules.known import Known

MINIMUM_UPTIME = 600  # seconds; before that caches fill and everything looks cold
MINIMUM_WINDOW = 5.0  # seconds
EVENTS = 10  # in a window; fewer are chance


def steady(known: Known) -> Workload:
    """The workload's window; Missing where the server started just now or the window is too short to tell rates."""
    workload = known.workload
    require_uptime(workload.last.at, MINIMUM_UPTIME)
    if workload.seconds < MINIMUM_WINDOW:
        raise Missing(f"a window of {lasted(MINIMUM_WINDOW)} or more (--window)")
    return workload


def require_uptime(up: float, least: float) -> None:
    """Raise Missing where the server has been up for less than that many seconds, with the time to audit again."""
    if up < least:
        again = f"audit again in {lasted(least - up)}"
        raise Missing(f"a server that has been up for {lasted(least)} (up for {lasted(up)}: {again})")


def busy(workload: Workload, counter: str, a_second: float) -> float | None:
    """A counter's rise a second, where it is as high as that and comes of enough events to mean something."""
    events, rate = workload.delta(counter), workload.rate(counter)
    return rate if rate is not None and rate >= a_second and (events or 0) >= EVENTS else None


def over(workload: Workload) -> str:
    """The window in words, for messages: `in 10 s, server up 3 d`."""
    return f"in a window of {lasted(workload.seconds)}, server up {lasted(workload.last.at)}"
