"""The command line that a systemd unit starts a server with, its drop-ins and environment files taken in."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from advisor.carriers.service_files import assigned, expanded, file_variables, specified
from advisor.facts.host import SERVER_PROGRAMS
from advisor.preflight.command import Argument, Command, split_command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.carriers.service_files import Assigned
    from advisor.facts import Service

_PREFIXES = "@-:+!|"
_INFINITE = "infinity"


class _Unit:
    """The unit with its drop-ins, read one after another; what comes later adds to lists, or begins them anew."""

    def __init__(self, service: Service) -> None:
        self.name = service.name
        self.start: list[tuple[str, Assigned]] = []
        self.limit = ""
        self.variables: dict[str, Argument] = {n: Argument(v) for n, v in service.environment.items()}
        own: list[tuple[str, Argument]] = []
        for copy in service.unit_files:
            for one in assigned(copy.text or ""):
                if one.section == "Service":
                    self._take(copy.path, one, own)
        self.variables.update(own)
        for copy in service.environment_files:
            for name, value, line in file_variables(copy.text or ""):
                self.variables[name] = Argument(value, copy.path, line)

    def _take(self, path: str, one: Assigned, own: list[tuple[str, Argument]]) -> None:
        if one.key == "ExecStart":
            self.start = [*self.start, (path, one)] if one.value else []
        elif one.key == "LimitNOFILE":
            self.limit = one.value
        elif one.key == "Environment":
            if not one.value:
                own.clear()
            for word in one.words:
                name, equals, value = specified(word.text, self.name).partition("=")
                own += [(name, Argument(value, path, word.line, word.column))] if equals else []


def command_of(service: Service) -> Command | None:
    """The command of a service's unit, None where it starts something else than a server."""
    unit = _Unit(service)
    for path, one in unit.start:
        found = list(_arguments(unit, path, one))
        program = found[0].text.lstrip(_PREFIXES) if found else ""
        if posixpath.basename(program) in SERVER_PROGRAMS:
            named = "@" in found[0].text[: len(found[0].text) - len(program)]  # the next word is what ps shows
            behind = tuple(found[2:] if named else found[1:])
            return split_command(behind, unit=unit.name, limit=_limit(unit.limit), note=_manager_note(unit, one))
    return None


def _arguments(unit: _Unit, path: str, one: Assigned) -> Iterable[Argument]:
    """The words with variables filled in; those of a variable have the place where it is set."""
    values = {name: argument.text for name, argument in unit.variables.items()}
    for word in one.words:
        whole = unit.variables.get(word.text.removeprefix("$")) if word.text.startswith("$") else None
        place = whole if whole and whole.line else Argument("", path, word.line, word.column)
        for text in expanded(specified(word.text, unit.name), values):
            yield place._replace(text=text)


def _manager_note(unit: _Unit, one: Assigned) -> str:
    """Variables that no file sets: the running process had them from somewhere else."""
    named = [word.text.removeprefix("$") for word in one.words if word.text.startswith("$")]
    foreign = [n for n in named if n in unit.variables and not unit.variables[n].line and unit.variables[n].text]
    if not foreign:
        return ""
    return (
        f"{', '.join(foreign)}: no file sets it, so it was taken as the running server got it; "
        "systemctl show-environment tells whether the next start gets it too"
    )


def _limit(text: str) -> tuple[int | None, int | None] | None:
    """`65535`, `1024:524288` or `infinity`; None for what is no limit of open files."""
    soft, _, hard = text.partition(":")
    parts = [part.strip() for part in (soft, hard or soft)]
    if not all(re.fullmatch(r"[0-9]{1,10}", part) or part == _INFINITE for part in parts):
        return None
    numbers = [None if part == _INFINITE else int(part) for part in parts]
    return numbers[0], numbers[1]
