"""Flag sets such as optimizer_switch: flag=on, flag=off, flag=default, or default for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.enumeration import member
from advisor.verdict.outcome import Outcome, Taken

if TYPE_CHECKING:
    from advisor.catalog.load import Option
    from advisor.model import Target

ALL = "default"
SETTINGS = ("off", "on", "default")


def flags_of(text: str) -> dict[str, str]:
    """Flags as help prints them, `a=on,b=off`, by name."""
    return dict(part.split("=", 1) for part in text.split(",") if "=" in part)


def take_flags(text: str, option: Option, before: str | None, target: Target) -> Taken:
    """Flags set over what was there before; setting one twice is refused."""
    defaults = flags_of(option.default or "")
    state = flags_of(before) if before else dict(defaults)
    changed: dict[str, str] = {}
    whole = False
    parts = text.split(",") if text else []
    for at, part in enumerate(parts, 1):
        name, equals, setting = part.partition("=")
        # MySQL takes a beginning for the whole word at the very end of the text, and only there.
        short = target.is_mysql and at == len(parts)
        flag = _named(name, defaults, whole=not short or bool(equals))
        if flag == ALL and not equals and not whole:
            whole = True
        elif flag is None or flag == ALL or flag in changed or (place := member(setting, SETTINGS, whole=not short)) < 0:
            return Taken(Outcome.INVALID, None, f"{part!r} is no flag with =on, =off or =default, or sets it a second time.")
        else:
            changed[flag] = SETTINGS[place] if SETTINGS[place] != "default" else defaults[flag]
    state = (dict(defaults) if whole else state) | changed
    return Taken(Outcome.ACCEPTED, ",".join([f"{name}={state.get(name, 'off')}" for name in defaults]))


def _named(name: str, flags: dict[str, str], *, whole: bool) -> str | None:
    names = (*flags, ALL)
    place = member(name, names, whole=whole)
    return names[place] if place >= 0 else None
