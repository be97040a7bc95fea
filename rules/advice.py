"""What to write or send instead: a line for the file, a statement for now, tried on the catalog first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Action
from advisor.sizes import exact
from advisor.verdict import Outcome, take

if TYPE_CHECKING:
    from advisor.catalog.load import Option
    from rules.known import Known

NUMBERS = frozenset({"int", "uint", "double"})


def advise(
    known: Known,
    name: str,
    value: int | str,
    *,
    size: bool = False,
    live: bool = True,
    risk: str = "",
    watch: str | None = None,
) -> Action | None:
    """The action that gives a variable the value; None where the target lacks the option or would change the value.

    `size` writes a number of bytes with its suffix; `risk` says what the change may cost, a stall included. `live` is
    False for a variable that is dynamic and yet can't be given this value while the server runs.
    """
    option = known.catalog.find_variable(name) or known.catalog.get(name)
    if option is None or take(option.name, str(value), known.catalog).outcome is not Outcome.ACCEPTED:
        return None
    shown = exact(value) if size and isinstance(value, int) else str(value)
    managed = known.has("server") and known.server.managed
    dynamic = live and option.dynamic and option.variable is not None and _is_there(known, option.variable)
    send = known.has("server") and not managed and dynamic
    return Action(
        option_line=f"{option.name} = {shown}",
        statement=_set(option, str(value)) if send else None,
        risk=f"set it in the parameter group of {managed}; {risk}".strip("; ") if managed else risk,
        restart=not dynamic,
        undo=_undo(known, option) if send else None,
        watch=watch,
    )


def default_of(known: Known, name: str) -> int | None:
    """The number that the target starts with where nobody sets the variable; None where it depends on the host."""
    option = known.catalog.find_variable(name) or known.catalog.get(name)
    text = (option.default if option else None) or ""
    return int(text) if text.isdigit() else None


def words(action: Action | None) -> str:
    """The action as the one line of help under a finding."""
    return f"write {action.option_line}" if action and action.option_line else ""


def these(*actions: Action | None) -> tuple[Action, ...]:
    """The actions that could be made."""
    return tuple(a for a in actions if a is not None)


def _is_there(known: Known, variable: str) -> bool:
    """Whether it can be set: an older patch of the series may know the option, and no variable yet."""
    return not known.has("server") or known.settings.get(variable) is not None


def _undo(known: Known, option: Option) -> str | None:
    running = known.settings.text(option.variable or option.name)
    return None if running is None else _set(option, running)


def _set(option: Option, value: str) -> str:
    bare = option.kind in NUMBERS or value.upper() in {"ON", "OFF"}
    quoted = value if bare else "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
    return f"SET GLOBAL {option.variable} = {quoted};"
