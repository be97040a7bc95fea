"""ValueSource: where a variable's value is set (an option line, a command-line argument or a persisted value)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Location, Origin
from advisor.redaction.secrets import redact_value

if TYPE_CHECKING:
    from advisor.catalog.load import Option
    from advisor.verdict import LineVerdict

COMMAND = "the server's command line"
REMOVE_LINE = "remove the line"


class ValueSource(NamedTuple):
    """The source of a variable's value: an option line, a command-line argument or a persisted value.

    `place` is None if no file that was read holds the command line. `name` is the option name as written there, `text`
    the whole line or argument with secrets masked, `value` the server's reading of it, None if unknown.
    """

    origin: Origin
    place: Location | None
    name: str = ""
    text: str = ""
    value: str | None = None


def source_of_line(origin: Origin, line: LineVerdict) -> ValueSource:
    """The option line as the source of a value."""
    at = line.placed.line
    name, value = (at.name or "").strip(), at.value
    shown = None if value is None else redact_value(line.canonical or name, redact_value(name, value))
    place = Location(line.placed.path, at.number, at.column, at.number, at.end_column) if at.number else None
    if origin is Origin.COMMAND_LINE:
        text = f"--{name}" if shown is None else f"--{name}={shown}"
    else:
        text = name if shown is None else f"{name} = {shown}"
    return ValueSource(origin, place, name, text, line.value)


def removal_step(decided: ValueSource | None, option: Option) -> str:
    """How to remove the setting, as the end of a sentence."""
    if decided is not None and decided.origin is Origin.PERSISTED:
        return f"run RESET PERSIST {option.variable or option.name}"
    if decided is not None and decided.origin is Origin.COMMAND_LINE:
        return f"remove {decided.text or 'the option'} from {source_place(decided)}"
    return REMOVE_LINE


def source_place(decided: ValueSource) -> str:
    """The source's location, `/etc/systemd/system/mysql.service.d/a.conf:3`, or a phrase for the command line."""
    return f"{decided.place.path}:{decided.place.line}" if decided.place else COMMAND
