"""The rings of samples as a list for people."""

from __future__ import annotations

from advisor.core.model import format_size
from advisor.redaction import escape_text
from advisor.report import plural, wrap
from rules.core.counters import hour_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.facts import SampledHours
    from advisor.facts.workload import BusyHour
    from advisor.state.busiest_hours import SampleRing

NONE = "No server was sampled here; mycnf sample --print-timer shows how to have it done every ten minutes.\n"


def listing(rings: Sequence[SampleRing]) -> str:
    """Each server with the time that its samples span and its busiest hours."""
    return "\n".join(f"{escape_text(ring.server)}\n{hours_text(ring.hours)}" for ring in rings) or NONE


def hours_text(sampled: SampledHours | None) -> str:
    """The lines of one server."""
    if sampled is None:
        return "  no sample yet\n"
    lines = [f"  {plural(sampled.samples, 'sample')}, {_minute(sampled.since)} to {_minute(sampled.until)} UTC"]
    lines += [
        wrap(f"busiest for {hour.of}: {hour_text(hour)}, {figures(hour)}", "  ", "    ") for hour in sampled.hours
    ]
    lines += [] if sampled.hours else ["  no whole hour of samples without a restart yet"]
    return "".join(f"{line}\n" for line in lines)


def figures(hour: BusyHour) -> str:
    """What an hour was chosen for, in numbers."""
    figures = _FIGURES.get(hour.of) if hour.samples else None  # a snapshot may have been made by anybody
    return (", ".join(figures(hour)) if figures else "") or "no numbers"


def _redo(hour: BusyHour) -> Iterator[str]:
    rate = hour.workload.redo_rate
    yield "redo unknown" if rate is None else f"{format_size(rate)} of redo a second"


def _connections(hour: BusyHour) -> Iterator[str]:
    yield f"{hour.most('threads_connected') or 0:,} connected"
    refused = hour.workload.delta("connection_errors_max_connections")
    if refused:
        yield f"{refused:,} refused"


def _temporary(hour: BusyHour) -> Iterator[str]:
    disk, total = (hour.workload.rate(f"created_tmp_{name}") for name in ("disk_tables", "tables"))
    yield f"{disk or 0:,.1f} of {total or 0:,.1f} tables a second on disk"


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


_FIGURES = {"redo": _redo, "connections": _connections, "temporary tables": _temporary}
