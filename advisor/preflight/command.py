"""The command line of the next start: what the service's unit says now, else what the running process was given."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from advisor.facts.host import SERVER_PROGRAMS

if TYPE_CHECKING:
    from advisor.facts import Facts, Files

COMMAND_LINE = "command line"
# Only right behind the program's name do servers obey these; they say which files are read.
LEADING = ("no-defaults", "defaults-file", "defaults-extra-file", "defaults-group-suffix", "print-defaults")


class Argument(NamedTuple):
    """One word behind the program's name, and the place to change it; line 0 is no file's."""

    text: str
    path: str = COMMAND_LINE
    line: int = 0
    column: int = 1


class Command(NamedTuple):
    """What the server is started with next time.

    `unit` is the service whose files say so, empty where the running process's own words were taken; `known` says that
    there are any. `leading` are the words that decide which files are read. `limit` is LimitNOFILE= as (soft, hard),
    None in it for no limit. `note` is what a reader has to know about all that.
    """

    arguments: tuple[Argument, ...] = ()
    leading: tuple[str, ...] = ()
    unit: str = ""
    known: bool = True
    limit: tuple[int | None, int | None] | None = None
    note: str = ""


def next_command(facts: Facts) -> Command:
    """The next start's command line, as far as the facts tell."""
    if facts.service is not None:
        from advisor.preflight.unit import command_of

        found = command_of(facts.service)
        if found is not None:
            return found
    known = facts.files is not None and bool(facts.files.command_line)
    words_now = tuple(Argument(text) for text in running_arguments(facts.files))
    return split_command(words_now, known=known, note=_why_not_unit(facts, known=known))


def running_arguments(files: Files | None) -> tuple[str, ...]:
    """The words behind the server's name; a loader's own, which may stand before it, are left out."""
    said = files.command_line if files else ()
    program = next((i for i, word in enumerate(said) if posixpath.basename(word) in SERVER_PROGRAMS), 0)
    return said[program + 1 :]


def _why_not_unit(facts: Facts, *, known: bool) -> str:
    if not known:
        return "the server's command line could not be read"
    if facts.service is not None:
        return f"{facts.service.name} starts the server by another program, whose own settings were not followed"
    return ""


def split_command(
    arguments: tuple[Argument, ...],
    *,
    unit: str = "",
    known: bool = True,
    limit: tuple[int | None, int | None] | None = None,
    note: str = "",
) -> Command:
    """With the words about files told from the others."""
    count = next((i for i, a in enumerate(arguments) if _long_name(a.text) not in LEADING), len(arguments))
    return Command(arguments[count:], tuple(a.text for a in arguments[:count]), unit, known, limit, note)


def _long_name(text: str) -> str:
    return text.removeprefix("--").partition("=")[0] if text.startswith("--") else ""
