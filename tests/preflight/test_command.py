"""The next start's command line, out of units as systemd's manual and the packages of both vendors have them."""

from __future__ import annotations

import pytest

from advisor.facts import Facts, FileCopy, Link, OptionFiles, Server, Service
from advisor.preflight.start_command import StartArgument, next_command, running_arguments

UNIT, DROP_IN = "/usr/lib/systemd/system/db.service", "/etc/systemd/system/db.service.d/a.conf"
DEFAULTS = "/etc/default/db"


def facts(
    unit: str = "",
    drop_in: str = "",
    environment_file: str = "",
    process: tuple[str, ...] = ("/usr/sbin/mysqld", "--now=1"),
    **environment: str,
) -> Facts:
    """Facts of a server with a service of these texts, none without a unit."""
    copies = tuple(FileCopy(path, text) for path, text in ((UNIT, unit), (DROP_IN, drop_in)) if text)
    files = (FileCopy(DEFAULTS, environment_file),) if environment_file else ()
    service = Service("db@one.service", copies, files, environment) if unit else None
    server = Server("mysql", "8.0.36", "", "MySQL", Link("socket"), {}, {})
    return Facts("1.0", "test", "", server, files=OptionFiles(command_line=process), service=service)


def texts(known: Facts) -> list[str]:
    """The words behind the program's name."""
    return [argument.text for argument in next_command(known).arguments]


def test_the_words_of_a_unit_have_their_places() -> None:
    """Continued lines, quotes and comments within are systemd's; each word has its line and column."""
    known = facts('[Service]\nExecStart=/usr/sbin/mysqld --a="b c" \\\n# inside\n   --d\nLimitNOFILE=10000\n')
    command = next_command(known)
    assert command.arguments == (StartArgument("--a=b c", UNIT, 2, 28), StartArgument("--d", UNIT, 4, 4))
    assert (command.unit, command.limit) == ("db@one.service", (10000, 10000))


def test_a_drop_in_resets_the_command() -> None:
    """An empty assignment clears the list, and the last command counts; a limit may be two, or none at all."""
    known = facts(
        "[Service]\nExecStart=/usr/sbin/mysqld --old\nLimitNOFILE=1:2\n",
        "[Service]\nExecStart=\nExecStart=-/usr/sbin/mysqld --new\nLimitNOFILE=1024:infinity\n",
    )
    assert texts(known) == ["--new"]
    assert next_command(known).limit == (1024, None)


@pytest.mark.parametrize(
    ("word", "made"),
    [
        ("$OPTS", ["--x=1", "--y", "2 3"]),
        ("${OPTS}", ["--x=1 --y '2 3'"]),
        ("--z=${ONE}", ["--z=1"]),
        ("--z=$ONE", ["--z=$ONE"]),
        ("$$ONE", ["$ONE"]),
        ("$NOTHING", []),
        ("--log=%i.%%.%n", ["--log=one.%.db@one.service"]),
    ],
)
def test_variables_and_specifiers(word: str, made: list[str]) -> None:
    """A variable alone becomes words and within a word stays one; the unit's own specifiers are filled in."""
    unit = f"[Service]\nEnvironment=\"OPTS=--x=1 --y '2 3'\" ONE=1\nExecStart=/usr/sbin/mysqld {word}\n"
    assert texts(facts(unit)) == made


def test_who_sets_a_variable() -> None:
    """A file outranks the unit, which outranks what the process was given; what no file sets is said to be taken."""
    unit = "[Service]\nExecStart=/usr/sbin/mysqld $A $B $C\n"
    drop_in = "[Service]\nEnvironment=A=--unit B=--unit\n"
    given = facts(unit, drop_in, "# x\nexport A='--file'\n", A="--p", B="--p", C="--p")
    assert texts(given) == ["--file", "--unit", "--p"]
    command = next_command(given)
    assert [(a.path, a.line) for a in command.arguments] == [(DEFAULTS, 2), (DROP_IN, 2), (UNIT, 2)]
    assert command.note.startswith("C: no file sets it")
    cleared = facts(unit, "[Service]\nEnvironment=A=--unit\nEnvironment=\n")
    assert texts(cleared) == []


def test_words_about_files_stand_apart() -> None:
    """The words that decide which files are read are separated from the options, as long as they are first."""
    command = next_command(facts("[Service]\nExecStart=/usr/sbin/mysqld --defaults-file=/x --y --no-defaults\n"))
    assert command.leading == ("--defaults-file=/x",)
    assert [a.text for a in command.arguments] == ["--y", "--no-defaults"]


def test_a_unit_that_starts_something_else() -> None:
    """A script in between is not followed: the process's own words count, and that is said."""
    command = next_command(facts("[Service]\nExecStart=/usr/bin/mysqld_safe --x\n"))
    assert [a.text for a in command.arguments] == ["--now=1"]
    assert "through another program" in command.note


def test_the_words_of_a_process() -> None:
    """A loader's own words before the server's name are left out; no process, no words."""
    loaded = OptionFiles(command_line=("/lib/ld.so", "--library-path", "/x", "/usr/sbin/mysqld", "--y"))
    assert running_arguments(loaded) == ("--y",)
    assert running_arguments(None) == ()
    assert not next_command(facts(process=())).is_known
    assert next_command(facts(process=("/usr/sbin/mysqld",))).is_known
