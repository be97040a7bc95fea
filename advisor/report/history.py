"""The history of servers, the list of servers and that of their samples, as documents and as JSON.

The field names of the JSON are a contract, published in schemas/history.schema.json.
"""

from __future__ import annotations

from datetime import UTC, datetime

from advisor.analysis.audit_comparison import value_text
from advisor.core import NamedTuple
from advisor.core.model import format_size
from advisor.redaction import escape_text, redact_value
from advisor.report import plural, wrap
from advisor.report.document import Document, Facts, Paragraph, Section
from advisor.report.findings_json import VERSION, dumps
from rules.core.counters import hour_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from advisor.analysis.snapshot_history import Change, ChangedSetting
    from advisor.core.model import Finding
    from advisor.facts import SampledHours
    from advisor.facts.workload import BusyHour
    from advisor.report.document import Block
    from advisor.state.busiest_hours import SampleRing
    from advisor.state.history import StoredServer


NONE = (
    "No snapshots are saved here. mycnf audit --keep and mycnf collect --keep save one, mycnf history add SNAP adds "
    "others."
)


class ServerHistory(NamedTuple):
    """A server with its target, the times of its first and last snapshot, and its changes, the newest first.

    `more` is how many changes are older than those.
    """

    server: StoredServer
    target: str
    first: str
    last: str
    changes: tuple[Change, ...]
    more: int = 0


def of_server(history: ServerHistory) -> Document:
    """The whole history of a server, the newest change first."""
    title = (
        "mycnf history",
        history.server.name,
        history.target,
        plural(len(history.server.paths), "snapshot"),
        f"id {history.server.id}",
    )
    blocks: list[Block] = [_change(change) for change in history.changes]
    if not history.changes:
        words = f"one snapshot of {minute(history.last)} UTC, so nothing to compare with yet"
        blocks.append(Paragraph(words, indent=2))
    if history.more:
        words = f"{plural(history.more, 'older change')}: --last {history.more + len(history.changes)} shows all"
        blocks.append(Paragraph(words, indent=2))
    return Document(title, tuple(blocks))


def listing(servers: Sequence[ServerHistory]) -> Document:
    """Each server with its snapshots and what changed in the last of them."""
    title = ("mycnf history", plural(len(servers), "server"))
    return Document(title, tuple(map(_server, servers)) or (Paragraph(NONE),))


def _server(history: ServerHistory) -> Section:
    span = (
        f"{minute(history.first)} to {minute(history.last)} UTC" if history.changes else f"{minute(history.last)} UTC"
    )
    lines = [f"{plural(len(history.server.paths), 'snapshot')}, {span}"]
    lines += [f"since {minute(change.before)}: {_summary(change)}" for change in history.changes[:1]]
    head = f"{history.server.name} · {history.target} · id {history.server.id}"
    return Section(head, tuple(map(Paragraph, lines)))


def _summary(change: Change) -> str:
    counts = [plural(len(change.settings), "variable") + " changed"] if change.settings else []
    counts += [f"{len(found)} {name}" for name, found in _findings(change) if found]
    counts += ["restarted"] if change.restarted else []
    return ", ".join(counts) or "nothing has changed"


def _change(change: Change) -> Section:
    rows = [("started", "the server was started in between")] if change.restarted else []
    rows += [("set", _change_words(moved)) for moved in change.settings]
    unseen = " (not checked then)"
    rows += [
        (name, _finding_label(finding) + (unseen if name == "new" and finding in change.unseen else ""))
        for name, found in _findings(change)
        for finding in found
    ]
    rows += [("measured", f"{result.probe} on {result.began_at[:10]}") for result in change.probes]
    rows += [("still", f"{plural(change.still, 'finding')} as before")] if change.still else []
    empty = (Paragraph("nothing has changed"),) if change.is_empty else ()
    title = f"{minute(change.at)} UTC, since {minute(change.before)}"
    return Section(title, (*empty, Facts(tuple(rows))))


def _findings(change: Change) -> Iterator[tuple[str, tuple[Finding, ...]]]:
    yield "new", change.new
    yield "back", change.back
    yield "gone", change.gone


def _change_words(moved: ChangedSetting) -> str:
    source = f" ({moved.source})" if moved.source else ""
    return f"{moved.name} {value_text(moved.name, moved.before)} → {value_text(moved.name, moved.after)}{source}"


def _finding_label(finding: Finding) -> str:
    option = finding.canonical or finding.option
    return f"{finding.severity.value} {finding.code} {finding.name}" + (f" ({option})" if option else "")


def minute(time: str) -> str:
    """`2026-11-21 05:01`, in UTC."""
    try:
        return f"{datetime.fromisoformat(time).astimezone(UTC):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return "an unknown time"


def as_json(histories: Sequence[ServerHistory]) -> str:
    """The servers of the report, each with its changes, newest first."""
    return dumps({"version": VERSION, "servers": [_server_fields(one) for one in histories]})


def _server_fields(history: ServerHistory) -> dict[str, Any]:
    return {
        "id": history.server.id,
        "name": history.server.name,
        "target": history.target,
        "snapshots": list(history.server.paths),
        "first": history.first,
        "last": history.last,
        "changes": [_change_fields(change) for change in history.changes],
    }


def _change_fields(change: Change) -> dict[str, Any]:
    return {
        "before": change.before,
        "at": change.at,
        "restarted": change.restarted,
        "settings": [
            {
                "name": name,
                "before": None if before is None else redact_value(name, before),
                "after": None if after is None else redact_value(name, after),
                "source": source,
            }
            for name, before, after, source in change.settings
        ],
        **{name: [_finding_fields(f) for f in getattr(change, name)] for name in ("new", "gone", "back")},
        "still": change.still,
        "probes": [{"probe": result.probe, "began_at": result.began_at} for result in change.probes],
    }


def _finding_fields(f: Finding) -> dict[str, Any]:
    return {"code": f.code, "name": f.name, "severity": f.severity.value, "option": f.canonical or f.option}


NO_SAMPLE = "No server was sampled here; mycnf sample --print-timer shows how to sample one every ten minutes.\n"


def sample_listing(rings: Sequence[SampleRing]) -> str:
    """Each server with the time that its samples span and its busiest hours."""
    return "\n".join(f"{escape_text(ring.server)}\n{hours_text(ring.hours)}" for ring in rings) or NO_SAMPLE


def hours_text(sampled: SampledHours | None) -> str:
    """The lines of one server."""
    if sampled is None:
        return "  no sample yet\n"
    lines = [f"  {plural(sampled.samples, 'sample')}, {_minute(sampled.since)} to {_minute(sampled.until)} UTC"]
    lines += [
        wrap(f"busiest for {hour.of}: {hour_text(hour)}, {figures(hour)}", "  ", "    ") for hour in sampled.hours
    ]
    lines += [] if sampled.hours else ["  no complete hour of samples without a restart yet"]
    return "".join(f"{line}\n" for line in lines)


def figures(hour: BusyHour) -> str:
    """What an hour was chosen for, in numbers."""
    figures = _FIGURES.get(hour.of) if hour.samples else None  # a snapshot may come from anywhere
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
