"""Status counters as rates over a window, used only after enough uptime and enough events."""

from __future__ import annotations

from advisor.core.model import format_duration
from advisor.core.value_types import NamedTuple
from rules.core.context import MissingFact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.facts import Workload
    from advisor.facts.workload import BusyHour
    from rules.core.context import RuleContext


MINIMUM_UPTIME = 600  # seconds; before that, caches are still filling
MINIMUM_WINDOW = 5.0  # seconds
MINIMUM_EVENTS = 10  # per window; fewer may be chance


def steady_window(context: RuleContext) -> Workload:
    """The workload's window; raises MissingFact if the server started recently or the window is too short for rates."""
    workload = context.workload
    require_uptime(workload.last.at, MINIMUM_UPTIME)
    if workload.seconds < MINIMUM_WINDOW:
        raise MissingFact(f"a window of {format_duration(MINIMUM_WINDOW)} or more (--window)")
    return workload


def require_uptime(up: float, least: float) -> None:
    """Raise MissingFact if uptime `up` is below `least`, both in seconds; the message says when to audit again."""
    if up < least:
        again = f"audit again in {format_duration(_rounded_up(least - up))}"
        raise MissingFact(
            f"a server that has been up for {format_duration(least)} (up for {format_duration(up)}: {again})"
        )


def _rounded_up(seconds: float) -> float:
    """The duration in whole numbers of its largest unit, never less: an audit after it finds the server old enough."""
    step = next((step for step in (86400, 3600, 60) if seconds > step), 1)
    return -(-seconds // step) * step


def busy_rate(workload: Workload, counter: str, a_second: float) -> float | None:
    """The counter's rate per second; None if it is below `a_second` or the window has too few events."""
    events, rate = workload.delta(counter), workload.rate(counter)
    return rate if rate is not None and rate >= a_second and (events or 0) >= MINIMUM_EVENTS else None


def window_text(workload: Workload) -> str:
    """The window as text, for messages: `in 10 s, server up 3 d`."""
    return f"in a window of {format_duration(workload.seconds)}, server up {format_duration(workload.last.at)}"


REDO, CONNECTIONS, TEMPORARY = "redo", "connections", "temporary tables"


class CounterPeriod(NamedTuple):
    """The period that counters cover, with its description for messages: `in the busiest hour, …`."""

    workload: Workload
    words: str
    hour: BusyHour | None = None


def busiest_period(context: RuleContext, of: str) -> CounterPeriod:
    """The busiest sampled hour of this kind, or else the window of this audit; raises MissingFact without either."""
    return next(counter_periods(context, of))


def counter_periods(context: RuleContext, of: str) -> Iterator[CounterPeriod]:
    """The busiest sampled hour of this kind, then the window; raises MissingFact without either."""
    hour = context.sampled.hour(of) if context.has("sampled") else None
    if hour is not None:
        yield CounterPeriod(hour.workload, f"in the busiest hour, {hour_text(hour)}", hour)
    try:
        window = steady_window(context)
    except MissingFact:
        if hour is None:
            raise
        return
    yield CounterPeriod(window, window_text(window))


def hour_text(hour: BusyHour) -> str:
    """The hour as text: `14:00-15:00 UTC on 2026-11-20`."""
    from datetime import UTC, datetime

    try:
        began, ended = (datetime.fromisoformat(at).astimezone(UTC) for at in (hour.began_at, hour.ended_at))
    except (ValueError, OverflowError):
        return "at an unknown time"
    return f"{began:%H:%M}-{ended:%H:%M} UTC on {began:%Y-%m-%d}"
