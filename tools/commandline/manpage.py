"""The man page mycnf(1), in the macros of man(7), which every man program on Linux, BSD and macOS supports."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from parts import Command, Option, Value, description

from advisor import __version__

OPTIONS = "[\\fIOPTIONS\\fR]"
WIDTH = 78
EXITS = (
    ("0", "nothing at or above --fail-on"),
    ("1", "findings at or above --fail-on"),
    ("2", "wrong usage, wrong configuration, unreadable input, or an internal error; what could be read is reported"),
    ("3", "the server could not be reached, refused the login or did not answer in time, or the connection was lost"),
    ("130", "interrupted"),
)
ENVIRONMENT = (
    ("NO_COLOR", "Set and not empty: no colours."),
    ("TERM", "Empty, dumb or unknown: no app; dumb: no colours."),
    ("COLUMNS", "The width of the help pages."),
    ("SOURCE_DATE_EPOCH", "The time that reports carry, in seconds since 1970, instead of the time of the run."),
    ("XDG_STATE_HOME", "Where results of experiments, samples and histories are kept (default: ~/.local/state)."),
    ("TMPDIR", "Where temporary files are made, and the report of an internal error (default: /tmp)."),
    ("VISUAL, EDITOR", "The editor that the app opens."),
    ("MYSQL_UNIX_PORT, MYSQL_GROUP_SUFFIX, MYSQL_TEST_LOGIN_FILE", "As for the programs of MySQL and MariaDB."),
)
PLACES = (
    ("mycnf.toml", "The configuration: the closest one, from the directory of the option file upwards."),
    ("~/.my.cnf, ~/.mylogin.cnf", "Option files with a connection's options, as for mysql(1)."),
    ("~/.local/state/mycnf", "Kept results."),
)
EXAMPLES = (
    ("Check an option file for MySQL 8.4:", "mycnf lint --target mysql-8.4 my.cnf"),
    ("Audit the server of this host, as text:", "mycnf audit --format text"),
    ("Save what an audit reads, and audit it elsewhere:", "mycnf collect -o db1.json\nmycnf audit --snapshot db1.json"),
    ("Completions for bash:", "mycnf completion bash > ~/.local/share/bash-completion/completions/mycnf"),
)


def page(commands: Sequence[Command]) -> str:
    """The whole page, without a date, so that the same version always gives the same bytes."""
    purpose, _ = description()
    lines = [
        ".\\\" Made from the program's own parser by `make docs`.",
        f'.TH MYCNF 1 "" "mycnf {__version__}" "User Commands"',
        ".SH NAME",
        "mycnf \\- audit option files and servers of MySQL and MariaDB",
        ".SH SYNOPSIS",
        ".B mycnf",
        ".I COMMAND",
        OPTIONS,
        ".SH DESCRIPTION",
        _text(purpose),
        ".PP",
        "The report goes to standard output, everything else to standard error.",
        ".SH COMMANDS",
        *(line for command in commands for line in _command(command)),
        *_list("EXIT STATUS", EXITS),
        *_list("ENVIRONMENT", ENVIRONMENT),
        *_list("FILES", PLACES),
        *_examples(),
        ".SH SEE ALSO",
        ".BR mysqld (8),",
        ".BR mariadbd (8),",
        ".BR my_print_defaults (1)",
    ]
    return "\n".join(lines) + "\n"


def _command(command: Command) -> Iterator[str]:
    yield f".SS {_text('mycnf ' + command.name)}"
    operands = [_operand(operand.value, needed=operand.needed) for operand in command.operands]
    yield " ".join([f"\\fBmycnf {_text(command.name)}\\fR", OPTIONS, *operands])
    yield ".PP"
    yield _text(f"{command.purpose[:1].upper()}{command.purpose[1:]}.")
    for operand in command.operands:
        yield from _item(f"\\fI{_text(operand.value.name)}\\fR", operand.help)
    for option in command.options:
        if "--help" not in option.flags:
            yield from _item(_spelling(option), option.help)


def _operand(value: Value, *, needed: bool) -> str:
    name = f"\\fI{_text(value.name)}\\fR" + (" ..." if value.many else "")
    return name if needed else f"[{name}]"


def _spelling(option: Option) -> str:
    flags = ", ".join(f"\\fB{_text(flag)}\\fR" for flag in option.flags)
    if option.value is None:
        return flags
    few = "|".join(option.value.words)
    return f"{flags} " + (f"{{{_text(few)}}}" if few else f"\\fI{_text(option.value.name)}\\fR")


def _item(term: str, words: str) -> Iterator[str]:
    yield from (".TP", term, _text(f"{words[:1].upper()}{words[1:]}.".replace("..", ".")))


def _list(title: str, items: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield f".SH {title}"
    for term, words in items:
        yield from (".TP", f"\\fB{_text(term)}\\fR", _text(words))


def _examples() -> Iterator[str]:
    yield ".SH EXAMPLES"
    for number, (words, typed) in enumerate(EXAMPLES):
        yield from [*([".PP"] if number else []), _text(words), ".PP", ".RS 4", ".nf"]
        yield from map(_text, typed.splitlines())
        yield from (".fi", ".RE")


def _text(text: str) -> str:
    """Text for roff, in short lines: special characters are escaped, and no line starts with a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    lines = textwrap.wrap(escaped, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in lines)
