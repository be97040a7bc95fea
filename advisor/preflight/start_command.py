"""The command line of the next start: from the service's unit, else from the running process."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.facts.host import SERVER_PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.carriers.systemd import UnitAssignment
    from advisor.facts import Facts, OptionFiles, Service


COMMAND_LINE = "command line"
# Servers accept these only as their first arguments; they select the option files.
LEADING = ("no-defaults", "defaults-file", "defaults-extra-file", "defaults-group-suffix", "print-defaults")


class StartArgument(NamedTuple):
    """One argument, and the place to change it; line 0 means no file."""

    text: str
    path: str = COMMAND_LINE
    line: int = 0
    column: int = 1


class StartCommand(NamedTuple):
    """The command of the next start.

    `unit` is the service whose files define it, empty if the running process's arguments were used. `is_known` says
    whether there are any arguments. `leading` are the arguments that select the option files. `limit` is LimitNOFILE=
    as (soft, hard), with None for unlimited. `note` is a remark on all this for the user.
    """

    arguments: tuple[StartArgument, ...] = ()
    leading: tuple[str, ...] = ()
    unit: str = ""
    is_known: bool = True
    limit: tuple[int | None, int | None] | None = None
    note: str = ""


def next_command(facts: Facts) -> StartCommand:
    """Return the next start's command line, as far as the facts allow."""
    if facts.service is not None:
        command = command_of(facts.service)
        if command is not None:
            return command
    known = facts.files is not None and bool(facts.files.command_line)
    words_now = tuple(StartArgument(text) for text in running_arguments(facts.files))
    return split_command(words_now, known=known, note=_why_not_unit(facts, known=known))


def running_arguments(files: OptionFiles | None) -> tuple[str, ...]:
    """Return the arguments after the server's program name, without those of a loader before it."""
    words = files.command_line if files else ()
    program = next((i for i, word in enumerate(words) if posixpath.basename(word) in SERVER_PROGRAMS), 0)
    return words[program + 1 :]


def _why_not_unit(facts: Facts, *, known: bool) -> str:
    if not known:
        return "the server's command line could not be read"
    if facts.service is not None:
        return f"{facts.service.name} starts the server through another program, whose settings were not read"
    return ""


def split_command(
    arguments: tuple[StartArgument, ...],
    *,
    unit: str = "",
    known: bool = True,
    limit: tuple[int | None, int | None] | None = None,
    note: str = "",
) -> StartCommand:
    """Separate the leading arguments, which select option files, from the others."""
    count = next((i for i, a in enumerate(arguments) if _long_name(a.text) not in LEADING), len(arguments))
    return StartCommand(arguments[count:], tuple(a.text for a in arguments[:count]), unit, known, limit, note)


def _long_name(text: str) -> str:
    return text.removeprefix("--").partition("=")[0] if text.startswith("--") else ""


_PREFIXES = "@-:+!|"
_INFINITE = "infinity"


class _Unit:
    """The unit with its drop-ins in reading order; later settings add to lists, or reset them."""

    def __init__(self, service: Service) -> None:
        from advisor.carriers import systemd

        self.name = service.name
        self.start: list[tuple[str, UnitAssignment]] = []
        self.limit = ""
        self.variables: dict[str, StartArgument] = {n: StartArgument(v) for n, v in service.environment.items()}
        own: list[tuple[str, StartArgument]] = []
        for copy in service.unit_files:
            for assignment in systemd.assigned_words(copy.text or ""):
                if assignment.section == "Service":
                    self._take(copy.path, assignment, own)
        self.variables.update(own)
        for copy in service.environment_files:
            for name, value, line in systemd.file_variables(copy.text or ""):
                self.variables[name] = StartArgument(value, copy.path, line)

    def _take(self, path: str, assignment: UnitAssignment, own: list[tuple[str, StartArgument]]) -> None:
        from advisor.carriers import systemd

        if assignment.key == "ExecStart":
            self.start = [*self.start, (path, assignment)] if assignment.value else []
        elif assignment.key == "LimitNOFILE":
            self.limit = assignment.value
        elif assignment.key == "Environment":
            if not assignment.value:
                own.clear()
            for word in assignment.words:
                name, equals, value = systemd.expand_specifiers(word.text, self.name).partition("=")
                own += [(name, StartArgument(value, path, word.line, word.column))] if equals else []


def command_of(service: Service) -> StartCommand | None:
    """Return the command of a service's unit; None if it does not start a server directly."""
    unit = _Unit(service)
    for path, assignment in unit.start:
        arguments = list(_arguments(unit, path, assignment))
        program = arguments[0].text.lstrip(_PREFIXES) if arguments else ""
        if posixpath.basename(program) in SERVER_PROGRAMS:
            # With @ the next word is the name that ps shows.
            named = "@" in arguments[0].text[: len(arguments[0].text) - len(program)]
            behind = tuple(arguments[2:] if named else arguments[1:])
            return split_command(behind, unit=unit.name, limit=_limit(unit.limit), note=_manager_note(unit, assignment))
    return None


def _arguments(unit: _Unit, path: str, assignment: UnitAssignment) -> Iterable[StartArgument]:
    """Yield the arguments with variables expanded; words from a variable have its location."""
    from advisor.carriers import systemd

    values = {name: argument.text for name, argument in unit.variables.items()}
    for word in assignment.words:
        whole = unit.variables.get(word.text.removeprefix("$")) if word.text.startswith("$") else None
        place = whole if whole and whole.line else StartArgument("", path, word.line, word.column)
        for text in systemd.expand_variables(systemd.expand_specifiers(word.text, unit.name), values):
            yield place._replace(text=text)


def _manager_note(unit: _Unit, assignment: UnitAssignment) -> str:
    """Return a note on variables that no file sets: the running process got them from elsewhere."""
    named = [word.text.removeprefix("$") for word in assignment.words if word.text.startswith("$")]
    foreign = [n for n in named if n in unit.variables and not unit.variables[n].line and unit.variables[n].text]
    if not foreign:
        return ""
    return (
        f"{', '.join(foreign)}: no file sets it, so the value of the running server is used; "
        "systemctl show-environment shows whether the next start gets it"
    )


def _limit(text: str) -> tuple[int | None, int | None] | None:
    """Parse `65535`, `1024:524288` or `infinity`; None if it is not a limit."""
    soft, _, hard = text.partition(":")
    parts = [part.strip() for part in (soft, hard or soft)]
    if not all(re.fullmatch(r"[0-9]{1,10}", part) or part == _INFINITE for part in parts):
        return None
    numbers = [None if part == _INFINITE else int(part) for part in parts]
    return numbers[0], numbers[1]
