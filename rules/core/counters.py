"""Status counters as rates over a window, used only after enough uptime and enough events."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import format_duration, format_wait
from rules.core.context import MissingFact, timestamp

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
        raise MissingFact(f"needs a window of {format_duration(MINIMUM_WINDOW)} or more (--window)")
    return workload


def require_uptime(up: float, least: float) -> None:
    """Raise MissingFact if uptime `up` is below `least`, both in seconds; the message says when to audit again."""
    if up < least:
        again = f"audit again in {format_wait(least - up)}"
        raise MissingFact(f"needs an uptime of {format_duration(least)} (up for {format_duration(up)}: {again})")


SET_AT_RUN_TIME = frozenset({"DYNAMIC", "SQL"})  # origins as MySQL and MariaDB report them


def require_uptime_at_size(context: RuleContext, variable: str, least: float) -> None:
    """Raise MissingFact if the server, or the size of this cache, is younger than `least` seconds, or may be.

    After a SET of the size, what was counted since the start is about another one: a key buffer starts empty again, and
    a larger pool has free pages.
    """
    require_uptime(context.server.uptime, least)
    age = _seconds_at_value(context, variable)
    if age is None or age < least:
        when = ", at an unknown time" if age is None else f" {format_duration(max(0, age))} ago"
        raise MissingFact(f"needs {variable} unchanged for {format_duration(least)} (it was set at run time{when})")


def _seconds_at_value(context: RuleContext, variable: str) -> float | None:
    """The time since the variable's SET, or else since the start; None if it was set at an unknown time."""
    origin = context.server.origins.get(variable)
    if origin is None or origin.source.upper() not in SET_AT_RUN_TIME:
        return context.server.uptime
    at, now = origin.set_by.at if origin.set_by else 0, timestamp(context.taken_at)
    return now - at if at and now is not None else None


def busy_rate(workload: Workload, counter: str, a_second: float) -> float | None:
    """The counter's rate per second; None if it is below `a_second` or the window has too few events."""
    events, rate = workload.delta(counter), workload.rate(counter)
    return rate if rate is not None and rate >= a_second and (events or 0) >= MINIMUM_EVENTS else None


WHOLE = 9.95  # events a second, from which the decimal is left out


def events_text(rate: float) -> str:
    """Events a second as text, with a decimal below ten: 40, 1.5, 5, and 1.0, which takes the plural."""
    text = f"{rate:,.0f}" if rate >= WHOLE else f"{rate:.1f}"
    return text if text == "1.0" else text.removesuffix(".0")


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


def counter_periods(context: RuleContext, of: str, *, limited_by: str = "") -> Iterator[CounterPeriod]:
    """The busiest sampled hour of this kind, then the window; raises MissingFact without either.

    `limited_by` is the variable on which the counters depend: an hour in which it may have had another value, before a
    SET or a start, is left out.
    """
    hour = context.sampled.hour(of) if context.has("sampled") else None
    if hour is not None and limited_by and _is_before_value(context, hour, limited_by):
        hour = None
    if hour is not None:
        yield CounterPeriod(hour.workload, f"in the busiest hour, {hour_text(hour)}", hour)
    try:
        window = steady_window(context)
    except MissingFact:
        if hour is None:
            raise
        return
    yield CounterPeriod(window, window_text(window))


def _is_before_value(context: RuleContext, hour: BusyHour, variable: str) -> bool:
    """Whether the hour began before the variable got its value, or may have; False where the times are unknown."""
    began, now = timestamp(hour.began_at), timestamp(context.taken_at)
    if began is None or now is None or not context.server.uptime:
        return False
    age = _seconds_at_value(context, variable)
    return age is None or now - began > age


def hour_text(hour: BusyHour) -> str:
    """The hour as text: `14:00-15:00 UTC on 2026-11-20`."""
    from datetime import UTC, datetime

    try:
        began, ended = (datetime.fromisoformat(at).astimezone(UTC) for at in (hour.began_at, hour.ended_at))
    except (ValueError, OverflowError):
        return "at an unknown time"
    return f"{began:%H:%M}-{ended:%H:%M} UTC on {began:%Y-%m-%d}"
