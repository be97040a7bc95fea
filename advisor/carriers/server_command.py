"""Finds the server among the words of a command, and parses its options into lines by the servers' rules.

Differences from a file: `--name value` is one option if it needs a value, values are not unquoted, `#` does not start a
comment, there are short options, and a positional argument makes the server stop.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.carriers.document import NonOption, OptionSet, SetReading
from advisor.carriers.words import OPERATORS, OpenQuoteError, shell_words
from advisor.core.model import Location, Origin
from advisor.optionfile.lines import Line, LineKind
from advisor.redaction import MASK, is_secret, quote_value
from advisor.verdict.names import find_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.carriers.document import Document, Piece
    from advisor.catalog import Catalog
    from advisor.core.model import Target


SERVERS = frozenset(
    ("mysqld", "mariadbd", "mysqld-debug", "mysqld_safe", "mariadbd-safe", "mysqld_safe.sh", "mysqld.bin")
)
SAFE = frozenset(("mysqld_safe", "mariadbd-safe", "mysqld_safe.sh"))
SHELLS = frozenset(("sh", "bash", "ash", "dash", "zsh"))

WRAPPERS = frozenset(
    (
        *("env", "exec", "gosu", "su-exec", "sudo", "setpriv", "tini", "dumb-init", "catatonit", "nice", "ionice"),
        *("chrt", "taskset", "numactl", "nohup", "time", "strace", "gdb", "valgrind", "eatmydata", "systemd-inhibit"),
    )
)

# Options that mysqld_safe handles itself; it passes all others on.
OF_SAFE = frozenset(
    (
        *("core_file_size", "crash_script", "dry_run", "flush_caches", "help", "kill_mysqld", "ledir", "malloc_lib"),
        *("mysqld", "mysqld_version", "nice", "no_auto_restart", "no_watch", "nowatch", "numa_interleave"),
        *("skip_kill_mysqld", "skip_syslog", "syslog", "syslog_tag", "timezone", "wsrep_urls", "user", "pid_file"),
    )
)

# Options that the server accepts only as its first arguments; later ones are unknown options to it.
FIRST = ("no-defaults", "print-defaults", "defaults-file", "defaults-extra-file", "defaults-group-suffix", "login-path",
         "no-login-paths")  # fmt: skip
MAX_WORDS = 10_000  # our limit, above any real command
_ASSIGNMENT = r"[A-Za-z_]\w*=.*"
_SHELL_FILLS = r"\$\{[^}]{0,500}\}|\$\([^)]{0,500}\)|`[^`]{0,500}`|\$\w+|\$[@*#?!$-]"
_SHELL_COMMENTS = r"(?m)^[ \t]*#.*$"
_JSON = r"[\ufeff\s]*[\[{]"
_COMMAND_FLAG = r"-[a-z]*c[a-z]*"
GROUP = "mysqld"
MAX_CONTEXT = 200  # maximum length of indentation, quotes etc. around an option on its own line

# From each server's --help; options with a value take the rest of the word or the next one.
SHORT = {
    "a": "ansi", "b": "basedir", "C": "character_set_server", "r": "chroot", "h": "datadir", "P": "port",
    "s": "symbolic_links", "t": "tmpdir", "u": "user", "?": "help", "v": "verbose", "V": "version",
}  # fmt: skip
SHORT_MYSQL = {"T": "exit_info"}
SHORT_MARIADB = {"T": "debug_exit_info", "#": "debug", "L": "lc_messages_dir", "W": "log_warnings"}
SHORT_57 = {"L": "language", "W": "log_warnings", "n": "new"}
SHORT_8 = {"D": "daemonize", "I": "initialize", "n": "new", "p": "keyring_migration_password"}
WITHOUT_VALUE = frozenset("aT?vVsnDI")
OPTIONAL_VALUE = frozenset("#Wp")

# Prefixes that set the value themselves: the next word is not the value.
SETTING = frozenset(("skip", "disable", "enable"))


class ServerCommand(NamedTuple):
    """The server program as called, empty if the image's entrypoint calls it, and its options."""

    program: str
    options: list[Piece]


def server_command(words: Sequence[Piece], *, by_image: bool) -> ServerCommand | None:
    """Return the server's part of a command; None if there is none.

    `by_image` means that the words are arguments of a server image, which passes words starting with a dash to the
    server.
    """
    for at, word in enumerate(words):
        name, rest = _name(word), words[at + 1 :]
        if by_image and word.text.startswith("-"):
            return ServerCommand("", _options("", list(words[at:])))
        if name in SERVERS:
            return ServerCommand(name, _options(name, list(rest)))
        if name in SHELLS:
            return _in_script(rest)
        if at == 0 and not word.templated and name not in WRAPPERS and not _is_entrypoint(name):
            break
        by_image = _is_entrypoint(name) or (by_image and words[0].templated)
    return None


def _is_entrypoint(name: str) -> bool:
    return name.endswith(("entrypoint.sh", "entrypoint", "run.sh"))


def _name(word: Piece) -> str:
    return word.text.rpartition("/")[2]


def _in_script(words: Sequence[Piece]) -> ServerCommand | None:
    """Return the server in the script that a shell gets with -c: the one that replaces the shell, else the first."""
    at = next((i for i, word in enumerate(words) if re.fullmatch(_COMMAND_FLAG, word.text)), None)
    if at is None or at + 1 >= len(words):
        return None
    try:
        parts = shell_words(words[at + 1].fill(_SHELL_COMMENTS).fill(_SHELL_FILLS), OPERATORS)
    except OpenQuoteError:
        return None
    simple: list[list[Piece]] = [[]]
    for part in parts:
        if len(part.text) == 1 and part.text in OPERATORS:
            if part.text in "<>" and simple[-1] and _is_descriptor(simple[-1][-1], part):
                simple[-1].pop()
            simple.append([])
        elif simple[-1] or not re.fullmatch(_ASSIGNMENT, part.text):
            simple[-1].append(part)
    replacing = [command for command in simple if command and command[0].text == "exec"]
    found = (server_command(command, by_image=False) for command in (*replacing, *simple))
    return next((command for command in found if command), None)


def _is_descriptor(word: Piece, operator: Piece) -> bool:
    """Whether a word is the number of the file that an operator redirects, as in 2>."""
    return word.text.isdigit() and (word.places is None or word.end == operator.start)


def _options(program: str, words: list[Piece]) -> list[Piece]:
    """Drop the options valid only as first arguments, and those that mysqld_safe handles itself."""
    while words and _long_name(words[0]) in FIRST:
        words = words[1 if "=" in words[0].text or _long_name(words[0]).startswith(("no-", "print-")) else 2 :]
    if program not in SAFE:
        return words
    return [word for word in words if _long_name(word).replace("-", "_") not in OF_SAFE]


def _long_name(word: Piece) -> str:
    return word.text[2:].partition("=")[0] if word.text.startswith("--") else ""


def arguments_option_set(
    document: Document, label: str, words: Sequence[Piece], hint: Target | None = None, why: str = ""
) -> OptionSet:
    """Return the option set of a command line; counts its words and hides its secrets in the document.

    Raises CarrierError if the document has too many options.
    """
    document.count(len(words))
    _hide_secrets(document, words)

    def read(catalog: Catalog) -> SetReading:
        return _ArgumentReader(document, catalog).read(words)

    return OptionSet(label, read, hint, why, "The command line", Origin.COMMAND_LINE)


def _hide_secrets(document: Document, words: Sequence[Piece]) -> None:
    before = ""
    for word in words:
        name, equals, value = word.text.lstrip("-").partition("=")
        if equals and value and is_secret(name):
            part = word.cut(len(word.text) - len(value))
            document.hide(part.start, part.end if part.places is None else max(part.end, word.end))
        elif is_secret(before) or (word.text.startswith("-p") and len(word.text) > len("-p")):
            document.hide(word.start, word.end)
        before = name if word.text.startswith("--") and not equals else "password" if word.text == "-p" else ""


class _ArgumentReader:
    """Parses the words in one pass."""

    def __init__(self, document: Document, catalog: Catalog) -> None:
        self.document = document
        self.catalog = catalog
        self.short = _short_options(catalog.target)
        self.lines: list[Line] = []
        self.strays: list[NonOption] = []
        self.editable: set[tuple[int, int]] = set()
        self.whole: set[int] = set()

    def read(self, words: Sequence[Piece]) -> SetReading:
        """Parse all words."""
        waiting = list(reversed(words))
        after_template = False
        before = text = ""
        while waiting:
            word, before = waiting.pop(), text
            text = word.text
            if word.templated and not _has_known_name(word):
                after_template = True
                continue
            if text == "--":
                self.strays += [self._stray(extra) for extra in reversed(waiting)]
                break
            if text.startswith("--"):
                self._take_long(word, waiting)
            elif text.startswith("-") and len(text) > 1:
                self._take_short(word, waiting)
            elif not after_template:
                self.strays.append(self._stray(word, before))
            after_template = False
        return self._reading()

    def _reading(self) -> SetReading:
        firsts = {self.document.file_line(line.number)[0]: line for line in reversed(self.lines)}
        head = [Line(LineKind.GROUP, line.number, line.text, name=GROUP) for line in firsts.values()]
        placed = sorted(self.lines, key=lambda line: (line.number, line.column))
        return SetReading(
            (*head, *placed), tuple(self.lines), (), tuple(self.strays), frozenset(self.editable), frozenset(self.whole)
        )

    def _take_long(self, word: Piece, waiting: list[Piece]) -> None:
        name, equals, _ = word.text[2:].partition("=")
        if equals:
            self._add(word.cut(2, 2 + len(name)), word.cut(3 + len(name)), word.end)
            return
        match = find_name(name, self.catalog, has_value=False)
        option = self.catalog.get(match.canonical) if match.canonical else None
        takes_next = option is not None and option.arg == "required" and match.prefix not in SETTING
        value = waiting.pop() if takes_next and waiting else None
        self._add(word.cut(2), value, value.end if value else word.end)

    def _take_short(self, word: Piece, waiting: list[Piece]) -> None:
        """Parse combined short options such as -aP3308."""
        for at in range(1, len(word.text)):
            letter = word.text[at]
            name = self.short.get(letter)
            if name is None:
                self._add(word.cut(at, at + 1), None, word.end, called=f"-{letter}")
                return
            if letter in WITHOUT_VALUE:
                alone = word.cut(at, at + 1)
                self._add(alone, None, alone.end, called=name)
                continue
            rest = word.cut(at + 1) if at + 1 < len(word.text) else None
            if rest is None and letter not in OPTIONAL_VALUE and waiting:
                rest = waiting.pop()
            self._add(word.cut(at, at + 1), rest, rest.end if rest else word.end, called=name)
            return

    def _add(self, name: Piece, value: Piece | None, end: int, *, called: str = "") -> None:
        number, column = self.document.place(name.start)
        last, end_column = self.document.place(end)
        line_end = self.document.width(number) + 1
        end_column = end_column if last == number else line_end
        value_number, value_column = self.document.place(value.start) if value else (number, end_column)
        on_line = value_number == number
        text = value.source if value else None
        self.lines.append(
            Line(
                LineKind.OPTION,
                number,
                self.document.whole_line(number),
                GROUP,
                called or name.text,
                text,
                text,
                column,
                max(end_column, column),
                value_column if on_line else end_column,
                end_column,
                bool(value and value.templated),
            )
        )
        if not called:
            self._note_exact(name, value, number, column, last)

    def _note_exact(self, name: Piece, value: Piece | None, number: int, column: int, last: int) -> None:
        pieces = [name, *([value] if value else [])]
        if last != number or any(not _is_contiguous(piece) for piece in pieces):
            return
        self.editable.add((number, column))
        if self._is_alone(number, f"--{name.source}" + (f"={value.source}" if value else "")):
            self.whole.add(number)

    def _is_alone(self, number: int, option: str) -> bool:
        """Whether a line holds this option only, so that deleting the line leaves a valid command."""
        if len(self.document.whole_line(number)) > len(option) + MAX_CONTEXT:
            return False
        line = self.document.line(number).strip()
        if line.startswith('"') and re.match(_JSON, self.document.text):  # the item before it has a comma
            return False
        goes_on = line.endswith("\\")
        if not goes_on and number > 1 and self.document.line(number - 1).endswith("\\"):
            return False
        alone = line.removesuffix("\\").strip() if goes_on else line.removeprefix("- ").strip()
        return alone.strip("'\"") == option

    def _stray(self, word: Piece, before: str = "") -> NonOption:
        """The error for an argument without dashes, masked after a mistyped `--report-password`."""
        number, column = self.document.place(word.start)
        path, line = self.document.file_line(number)
        last, end = self.document.place(word.end)
        end = end if last == number else self.document.width(number) + 1
        shown = f"'{MASK}'" if before == "-p" or _is_bare_secret(before) else quote_value(word.source)
        return NonOption(
            "syntax-error",
            f"The word {shown} belongs to no option; {self.catalog.target.label} will not start with it.",
            "write --name=value in one word",
            Location(path, line, column, line, max(end, column + 1)),
            fatal=True,
        )


def _is_bare_secret(word: str) -> bool:
    """Whether a word is a secret option without its value."""
    return word.startswith("--") and "=" not in word and is_secret(word)


def _has_known_name(word: Piece) -> bool:
    """Whether at least the name of a templated word is known."""
    name, _, _ = word.text.partition("=")
    return word.text.startswith("--") and len(name) > len("--") and name == word.source[: len(name)]


def _is_contiguous(piece: Piece) -> bool:
    """Whether the characters of a piece are adjacent in the document."""
    places = piece.places
    if places is None:
        return False
    return not places or places[-1] - places[0] == len(places) - 1


def _short_options(target: Target) -> dict[str, str]:
    if target.is_mariadb:
        return SHORT | SHORT_MARIADB
    known = SHORT | SHORT_MYSQL | (SHORT_8 if target.since("mysql", 8) else SHORT_57)
    return known | ({"L": "language"} if target.since("mysql", 8) and not target.since("mysql", 9) else {})
