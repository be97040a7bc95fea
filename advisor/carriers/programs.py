"""Finds the server among the words of a command, and the words passed to it as options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.carriers.words import OPERATORS, OpenQuoteError, shell_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.carriers.piece import Piece

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
_COMMAND_FLAG = r"-[a-z]*c[a-z]*"


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
    """Return the server in the script that a shell gets with -c."""
    at = next((i for i, word in enumerate(words) if re.fullmatch(_COMMAND_FLAG, word.text)), None)
    if at is None or at + 1 >= len(words):
        return None
    try:
        parts = shell_words(words[at + 1].fill(_SHELL_FILLS), OPERATORS)
    except OpenQuoteError:
        return None
    simple: list[list[Piece]] = [[]]
    for part in parts:
        if len(part.text) == 1 and part.text in OPERATORS:
            simple.append([])
        elif simple[-1] or not re.fullmatch(_ASSIGNMENT, part.text):
            simple[-1].append(part)
    found = (server_command(command, by_image=False) for command in simple)
    return next((command for command in found if command), None)


def _options(program: str, words: list[Piece]) -> list[Piece]:
    """Drop the options valid only as first arguments, and those that mysqld_safe handles itself."""
    while words and _long_name(words[0]) in FIRST:
        words = words[1 if "=" in words[0].text or _long_name(words[0]).startswith(("no-", "print-")) else 2 :]
    if program not in SAFE:
        return words
    return [word for word in words if _long_name(word).replace("-", "_") not in OF_SAFE]


def _long_name(word: Piece) -> str:
    return word.text[2:].partition("=")[0] if word.text.startswith("--") else ""
