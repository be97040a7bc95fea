"""What a restart would do, as a document and as JSON: the summary first, then each line and variable with what to do.

The field names of the JSON are a contract, published in schemas/preflight.schema.json.
"""

from __future__ import annotations

from advisor.core.model import Severity, exact_size, format_duration
from advisor.preflight.item import BYTES, RestartEffect
from advisor.preflight.next_values import parse_whole_number
from advisor.redaction import redact_arguments
from advisor.report import plural
from advisor.report.document import Code, Document, Entry, Facts, Items, Paragraph, Section
from advisor.report.finding import place, subject
from advisor.report.findings_json import action, dumps
from rules.core.statements import action_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from advisor.core.model import Action, Location
    from advisor.preflight.item import Preflight, RestartItem
    from advisor.report.document import Block, Words


LISTED = 3  # paths in the head; more of them are counted
VERSION = 1


def document(preflight: Preflight) -> Document:
    """The whole report."""
    own = [item for item in preflight.items if not item.cause]
    blocks: list[Block] = [Facts(tuple(_head(preflight))), Paragraph(_sentence(preflight), indent=2)]
    blocks += map(_entry, own)
    blocks.append(_followers([item for item in preflight.items if item.cause]))
    blocks.append(Section("skipped", (Items(tuple(f"{s.code}: {s.reason}" for s in preflight.skipped)),)))
    return Document(_title(preflight), tuple(blocks))


def _title(preflight: Preflight) -> tuple[str, ...]:
    server = preflight.facts.server
    name = server.variables.get("hostname", "")
    statements = plural(preflight.facts.statements, "statement")
    return "mycnf preflight", name, preflight.target.label, f"up {format_duration(server.uptime)}", statements


def _head(preflight: Preflight) -> Iterator[tuple[str, str]]:
    """What the next start reads."""
    files, unit = preflight.facts.files, preflight.command.unit
    yield "Files", _paths([copy.path for copy in files.files if copy.text is not None]) if files else "unknown"
    if files and files.persisted:
        yield "Persisted", f"{files.persisted}, {plural(len(files.persisted_options or ()), 'variable')}"
    if unit and preflight.facts.service:
        copies = [*preflight.facts.service.unit_files, *preflight.facts.service.environment_files]
        yield "Service", f"{unit}: {_paths([copy.path for copy in copies])}"
    elif preflight.command.is_known:
        yield "Service", "unknown: mycnf assumes that the next start uses the running process's command line"


def _paths(paths: list[str]) -> str:
    more = len(paths) - LISTED
    return (", ".join(paths[:LISTED]) + (f" and {more} more" if more > 0 else "")) or "none"


def _sentence(preflight: Preflight) -> str:
    """What to expect, in one breath."""
    refused, lost, changed = (len(preflight.of(kind)) for kind in RestartEffect)
    rest = [f"lose {plural(lost, 'value')}"] if lost else []
    rest += [f"change {plural(changed, 'value')}"] if changed else []
    if refused:
        stops = f"The next start fails: the server stops at {plural(refused, 'line')}."
        return f"{stops} Once that is corrected, it will {' and '.join(rest)}." if rest else stops
    if rest:
        return f"The next restart will {' and '.join(rest)}."
    known = preflight.facts.files is not None
    return "The next restart changes nothing." if known else "No change is known, but its files were not read."


def _entry(item: RestartItem) -> Entry:
    what = item.variable or " ".join(p for p in (item.code, item.name) if p)
    values = (Paragraph(_move(item)),) if item.variable is not None else _line(item)
    facts: list[tuple[str, Words]] = [row for action in item.actions for row in _action(action, item)]
    blocks: tuple[Block, ...] = (*values, Paragraph(item.message), Facts((*facts, ("help", item.help))))
    return Entry(item.kind.value, item.severity, Code(what), blocks, item.confidence.value)


def _line(item: RestartItem) -> tuple[Paragraph, ...]:
    """A refused line and its place."""
    written = f"{item.option} = {item.value}" if item.option and item.value is not None else item.option or ""
    return subject(written, place(item.location))


def _move(item: RestartItem) -> str:
    """`500 → 151`; of long lists the parts that differ."""
    name, now, then = item.variable or "", item.running or "", item.following
    if then is None:
        return (
            f"{_shown_value(name, now)} → {'sized again by the server' if item.cause else 'the default of this build'}"
        )
    if "," in now + then:
        before, after = now.split(","), then.split(",")
        gone = ", ".join(part for part in before if part and part not in after)
        come = ", ".join(part for part in after if part and part not in before)
        return f"{gone or '(nothing)'} → {come or '(nothing)'}"
    return f"{_shown_value(name, now)} → {_shown_value(name, then)}"


def _shown_value(name: str, value: str) -> str:
    number = parse_whole_number(value) if name.endswith(BYTES) else None
    return exact_size(number) if number is not None else value or "(empty)"


def _action(action: Action, item: RestartItem) -> Iterator[tuple[str, Words]]:
    """The line that keeps the value that runs, or the statement that does; and the one that has the next value now."""
    keeps = action.undo is None
    kept = action.option_line or action.argument
    if kept:
        at = action_place(action) if action.argument else item.write_at
        yield "keep", (Code(at), Code(kept)) if at else Code(kept)
    if action.statement:
        yield ("or" if action.option_line else "keep") if keeps else "now", Code(action.statement)
    yield "risk", action.risk


def _followers(items: list[RestartItem]) -> Section:
    """The defaults that move along, by what moves them."""
    by_cause: dict[tuple[str, ...], list[RestartItem]] = {}
    for item in items:
        by_cause.setdefault(item.cause, []).append(item)
    blocks: list[Block] = []
    for cause, along in by_cause.items():
        lines = tuple((Code(item.variable or ""), f"  {_move(item)}") for item in along)
        blocks.append(Section(f"by {' and '.join(cause)}:", (Items(lines),)))
    return Section("changed along with them", tuple(blocks), Severity.NOTE)


def as_json(preflight: Preflight) -> str:
    """The whole of it, worst first; `skipped` names what was not read."""
    facts, files = preflight.facts, preflight.facts.files
    return dumps(
        {
            "version": VERSION,
            "server": {
                "target": str(preflight.target),
                "version": facts.server.version,
                "hostname": facts.server.variables.get("hostname"),
                "uptime": facts.server.uptime,
                "taken_at": facts.taken_at,
                "statements": facts.statements,
            },
            "start": {
                "files": [copy.path for copy in files.files] if files else None,
                "persisted": (files.persisted or None) if files else None,
                "service": preflight.command.unit or None,
                "arguments": list(
                    redact_arguments((*preflight.command.leading, *(a.text for a in preflight.command.arguments)))
                ),
            },
            "items": [_item_fields(item) for item in preflight.items],
            "skipped": [{"part": s.code, "reason": s.reason} for s in preflight.skipped],
        }
    )


def _item_fields(item: RestartItem) -> dict[str, Any]:
    return {
        "kind": item.kind.value,
        "severity": item.severity.value,
        "confidence": item.confidence.value,
        "code": item.code or None,
        "name": item.name or None,
        "variable": item.variable,
        "option": item.option,
        "value": item.value,
        "running": item.running,
        "next": item.following,
        "origin": item.origin.value if item.origin else None,
        "source": item.source.value if item.source else None,
        "follows": list(item.cause),
        **_place_fields(item.location),
        "message": item.message,
        "help": item.help,
        "write_at": item.write_at or None,
        "actions": [action(a) for a in item.actions],
    }


def _place_fields(place: Location | None) -> dict[str, Any]:
    """A line of a file; what stands on a command line of no file has none."""
    in_file = place is not None and place.line > 0
    return {
        "path": place.path if place and in_file else None,
        "line": place.line if place and in_file else None,
        "column": place.column if place and in_file else None,
    }
