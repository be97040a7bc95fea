"""In plain words: how a value came to run, and what takes its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Origin
from advisor.facts.files import WORLD_WRITABLE
from advisor.preflight.item import RestartEffect

if TYPE_CHECKING:
    from advisor.core.model import Location
    from advisor.facts import Facts
    from advisor.preflight.outlook import NextValue

NEW_SOURCES = {
    Origin.PERSISTED: "It was persisted after the server started.",
    Origin.COMMAND_LINE: "It was put on the service's command line after the server started.",
}


class ChangedVariable(NamedTuple):
    """One variable whose value differs, and what is known of it.

    `told` says that the server tells where values come from, `touched` that what sets the next value may be newer than
    the running server, `dynamic` that the variable can be set at run time, `plain` that a server doesn't complete it.
    """

    name: str
    running: str
    view: NextValue
    origin: Origin
    place: Location | None
    origins_known: bool
    may_be_edited: bool
    dynamic: bool
    is_literal: bool


def explain_change(kind: RestartEffect, case: ChangedVariable, facts: Facts) -> str:
    """One or two sentences."""
    cause = case.view.cause
    if cause:
        return f"It follows {' and '.join(cause)}, which {'changes' if len(cause) == 1 else 'change'}."
    if case.view.limited and case.view.line is not None:
        place, wanted = case.view.line.placed, case.view.line.value
        where = f"{place.path}:{place.line.number}" if place.line.number else "the command line"
        return f"Of the {wanted} that {where} asks for, the limit on open files leaves so many."
    past = _explain_running(kind, case, facts) if case.origins_known else _explain_unknown_origin(case)
    if facts.files is None and case.view.line is None:
        return f"{past} Unless a file sets it, the next start takes the default; the files were not read."
    return f"{past} {_explain_next(case)}"


def _explain_unknown_origin(case: ChangedVariable) -> str:
    """Of a server that doesn't tell."""
    if case.origin is Origin.COMMAND_LINE:
        return "It was given on the command line."
    if case.view.line is None:
        return "It was set at run time, or its line was taken out." if case.dynamic else "Its line was taken out."
    if not case.may_be_edited:
        return "It was set at run time: the file is older than the running server."
    since = "the file was edited after the server started"
    return f"It was set at run time, or {since}." if case.dynamic else f"{since[0].upper()}{since[1:]}."


def _explain_running(kind: RestartEffect, case: ChangedVariable, facts: Facts) -> str:
    origin, source = case.origin, case.view.source
    if kind is RestartEffect.LOST:
        return "It was set at run time."
    if case.view.line is None or source is not origin:
        return _explain_removed(case, facts) if source is Origin.COMPILED else _explain_new_source(case, facts)
    if origin is Origin.PERSISTED:
        return "It was persisted anew."
    if origin is Origin.COMMAND_LINE:
        return "The service's command line was changed after the server started."
    return "The file was edited after the server started."


def _explain_new_source(case: ChangedVariable, facts: Facts) -> str:
    """Another source than the one that the running value came from."""
    if case.origin in (Origin.PERSISTED, Origin.COMMAND_LINE) and case.view.source is Origin.FILE:
        return _explain_removed(case, facts)
    return NEW_SOURCES.get(case.view.source, "The line was written after the server started.")


# What set the running value and sets it no more.
REMOVED = {
    Origin.PERSISTED: "It was persisted, and is not any more.",
    Origin.COMMAND_LINE: "It was given on the command line, and is not any more.",
    # As servers say of a few variables that files set (ASK-18).
    Origin.COMPILED: "It is not this version's default, so a line that set it was probably taken out.",
}


def _explain_removed(case: ChangedVariable, facts: Facts) -> str:
    if case.origin in REMOVED:
        return REMOVED[case.origin]
    if case.place is None:
        return "The line that set it was taken out."
    copy = next((c for c in (facts.files.files if facts.files else ()) if c.path == case.place.path), None)
    if copy is None or copy.text is None:
        return f"{case.place.path}, which set it, is not read any more."
    if copy.mode & WORLD_WRITABLE:
        return f"{copy.path}, which set it, is writable for everybody now, so servers ignore it."
    return f"The line of {copy.path} that set it was taken out."


def _explain_next(case: ChangedVariable) -> str:
    """What sets the value next time."""
    view = case.view
    if view.line is None:
        if view.source is Origin.PERSISTED:
            return "The persisted value takes its place."
        return "No file sets it: the next start takes the default."
    place = view.line.placed
    if not place.line.number:
        return "The next start takes it from the command line."
    return f"The next start takes {place.path}:{place.line.number}."
