"""What to do about a value that will be another one: the line that keeps the old one, the statement for either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Action, Origin
from advisor.optionfile import groups_read, parse
from advisor.redact import MASK, redact_value
from advisor.sizes import exact
from rules.advice import advise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.catalog.load import Option
    from advisor.facts import Files
    from advisor.preflight.item import Kind
    from advisor.preflight.outlook import Outlook
    from rules.known import Known

SET = "SET GLOBAL "
# Endings of the names of numbers that are bytes.
BYTES = ("_size", "_length", "_packet", "_capacity")


def remedies(name: str, kind: Kind, view: Outlook, now: Known) -> tuple[Action, ...]:
    """The actions, keeping what runs first; none where no line gives the value, or a secret would be printed."""
    option = now.catalog.find_variable(name)
    if option is None or MASK in redact_value(name, now.server.variables[name]):
        return ()
    return tuple(_actions(option, kind, view, now))


def _actions(option: Option, kind: Kind, view: Outlook, now: Known) -> Iterator[Action]:
    name = option.variable or option.name
    running = now.server.variables[name]
    keep = advise(now, name, running)
    persist = _persist(keep, now)
    if keep is not None and view.source is Origin.PERSISTED:
        yield Action(statement=persist or f"RESET PERSIST {name};", risk=keep.risk)
    elif keep is not None and view.source is not Origin.COMMAND_LINE:
        line = option_line(option, running)
        if line or persist:
            yield Action(option_line=line, statement=persist, risk=keep.risk)
    if kind == "changed" and view.value is not None and MASK not in redact_value(name, view.value):
        apply = advise(now, name, view.value)
        if apply is not None and apply.statement:
            yield Action(statement=apply.statement, risk=apply.risk, undo=apply.undo)


def _persist(keep: Action | None, now: Known) -> str | None:
    """The statement that keeps a value beyond restarts, which MySQL 8 and later have."""
    if keep is None or keep.statement is None or not now.target.since("mysql", 8):
        return None
    return keep.statement.replace(SET, "SET PERSIST ", 1)


def option_line(option: Option, value: str) -> str | None:
    """The line that gives an option the value, quoted where a reader would cut it; None where no line can."""
    shown = value
    if option.kind in ("int", "uint") and value.isdigit() and option.name.endswith(BYTES):
        shown = exact(int(value))
    for text in (shown, f'"{shown}"', f"'{shown}'"):
        line = f"{option.name} = {text}"
        read = parse(f"[mysqld]\n{line}\n".encode("utf-8", "surrogateescape"), "").lines[1:]
        if len(read) == 1 and read[0].value == shown:
            return line
    return None


def place_for(view: Outlook, files: Files | None, now: Known) -> str:
    """Where to write a line: over the one that sets the option, else in the last file that holds the server's group."""
    if view.line is not None and view.line.placed.line.number:
        return f"{view.line.placed.path}:{view.line.placed.line.number}"
    if files is None:
        return ""
    own = groups_read(now.target)
    holding = {p.path for p in now.file_verdict.resolved.options if p.line.group in own}
    tops = [path for path in files.tops if path in holding] or list(files.tops)
    return tops[-1] if tops else ""
