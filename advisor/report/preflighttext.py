"""What a restart would do, for people: the sentence first, then each line and variable with what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Severity
from advisor.preflight.item import Kind
from advisor.preflight.outlook import whole
from advisor.preflight.remedy import BYTES
from advisor.redact import clean
from advisor.report.words import WIDTH, bold, painted, plural, wrap
from advisor.sizes import exact, lasted
from rules.onserver import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Action
    from advisor.preflight.item import Item, Preflight

LABEL = 10
LISTED = 3  # paths in the head; more of them are counted
DROP_IN = ".conf"


def report(found: Preflight, colour: bool) -> str:
    """The whole report, at most 80 columns wide where words allow."""
    own = [item for item in found.items if not item.cause]
    parts = [
        _title(found, colour),
        _head(found),
        wrap(_sentence(found), "  "),
        *(_block(item, colour) for item in own),
        _followers([item for item in found.items if item.cause], colour),
        _skips(found),
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def _title(found: Preflight, colour: bool) -> str:
    facts = found.facts
    parts = ["mycnf preflight", facts.server.variables.get("hostname", ""), found.target.label]
    parts += [f"up {lasted(facts.server.uptime)}", plural(facts.statements, "statement")]
    return bold(wrap(clean(" · ".join(p for p in parts if p)), rest="  "), colour)


def _head(found: Preflight) -> str:
    """What the next start reads."""
    files, unit = found.facts.files, found.command.unit
    rows = [("Files", _paths([copy.path for copy in files.files if copy.text is not None]) if files else "unknown")]
    if files and files.persisted:
        held = len(files.persisted_options or ())
        rows.append(("Persisted", f"{files.persisted}, {plural(held, 'variable')}"))
    if unit and found.facts.service:
        copies = [*found.facts.service.unit_files, *found.facts.service.environment_files]
        rows.append(("Service", f"{unit}: {_paths([copy.path for copy in copies])}"))
    elif found.command.known:
        rows.append(("Service", "none is known: the running process's command line is taken for the next start's"))
    return "\n".join(wrap(clean(text), f"  {name:<{LABEL}}") for name, text in rows)


def _paths(paths: list[str]) -> str:
    if not paths:
        return "none"
    more = len(paths) - LISTED
    return ", ".join(paths[:LISTED]) + (f" and {more} more" if more > 0 else "")


def _sentence(found: Preflight) -> str:
    """What to expect, in one breath."""
    refused, lost, changed = (len(found.of(kind)) for kind in Kind)
    rest = [f"lose {plural(lost, 'value')}"] if lost else []
    rest += [f"change {plural(changed, 'value')}"] if changed else []
    if refused:
        stops = f"The next start fails: the server stops at {plural(refused, 'line')}."
        return f"{stops} With that mended, it will {' and '.join(rest)}." if rest else stops
    if rest:
        return f"The next restart will {' and '.join(rest)}."
    known = found.facts.files is not None
    return "The next restart changes nothing." if known else "Nothing is told to change, but its files were not read."


def _block(item: Item, colour: bool) -> str:
    what = item.variable or " ".join(p for p in (item.code, item.name) if p)
    sure = item.confidence.value
    room = max(2, WIDTH - len(f"{item.kind.value}  {what}") - len(sure))
    head = f"{painted(item.kind.value, item.severity, colour)}  {bold(clean(what), colour)}{' ' * room}{sure}"
    lines = [head, *_values(item), wrap(clean(item.message), "  ")]
    for action in item.actions:
        lines += _action(action, item)
    if item.help:
        lines.append(wrap(clean(item.help), f"  {'help':<{LABEL}}"))
    return "\n".join(lines)


def _values(item: Item) -> Iterator[str]:
    """The value now and then; of a refused line, the line and its place."""
    if item.variable is not None:
        yield wrap(clean(_move(item)), "  ")
        return
    place = item.location
    written = f"{item.option} = {item.value}" if item.option and item.value is not None else item.option or ""
    where = f"{place.path}:{place.line}" if place and place.line else place.path if place else ""
    told = [part for part in (written, where) if part]
    joined = ", ".join(told)
    yield from (f"  {clean(part)}" for part in (told if len(joined) > WIDTH - 2 else [joined] if joined else []))


def _move(item: Item) -> str:
    """`500 → 151`; of long lists the parts that differ."""
    name, now, then = item.variable or "", item.running or "", item.following
    if then is None:
        return f"{_shown(name, now)} → {'sized anew by the server' if item.cause else 'the default of this build'}"
    if "," in now + then:
        before, after = now.split(","), then.split(",")
        gone = ", ".join(part for part in before if part and part not in after)
        come = ", ".join(part for part in after if part and part not in before)
        return f"{gone or '(nothing)'} → {come or '(nothing)'}"
    return f"{_shown(name, now)} → {_shown(name, then)}"


def _shown(name: str, value: str) -> str:
    number = whole(value) if name.endswith(BYTES) else None
    return exact(number) if number is not None else value or "(empty)"


def _action(action: Action, item: Item) -> Iterator[str]:
    """The line that keeps the value that runs, or the statement that does; and the one that has the next value now."""
    keeps = action.undo is None
    kept = action.option_line or action.argument
    if kept:
        at = place_of(action) if action.argument else item.write_at
        place = f"{at}  " if at else ""
        text = f"{place}{kept}"
        label = f"  {'keep':<{LABEL}}"
        if len(label + text) > WIDTH and place:
            yield f"{label}{clean(at)}"
            yield f"  {'':<{LABEL}}{clean(kept)}"
        else:
            yield f"{label}{clean(text)}"
    if action.statement:
        label = ("or" if action.option_line else "keep") if keeps else "now"
        yield f"  {label:<{LABEL}}{clean(action.statement)}"
    if action.risk:
        yield wrap(clean(action.risk), f"  {'risk':<{LABEL}}")


def _followers(items: list[Item], colour: bool) -> str:
    """The defaults that move along, a line each."""
    if not items:
        return ""
    by_cause: dict[tuple[str, ...], list[Item]] = {}
    for item in items:
        by_cause.setdefault(item.cause, []).append(item)
    lines = [painted("changed along with them", Severity.NOTE, colour)]
    for cause, along in by_cause.items():
        lines.append(wrap(clean(f"by {' and '.join(cause)}:"), "  "))
        lines += [wrap(clean(f"{item.variable}  {_move(item)}"), "    ", "      ") for item in along]
    return "\n".join(lines)


def _skips(found: Preflight) -> str:
    if not found.skipped:
        return ""
    told = [wrap(clean(f"{skip.code}: {skip.reason}"), "  ", "    ") for skip in found.skipped]
    return "\n".join(["not looked at", *told])
