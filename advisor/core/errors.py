"""The exit codes of mycnf, the exceptions that end a command with one of them, and what is printed on stderr."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import BinaryIO


OK = 0
FINDINGS = 1
USAGE = 2
CONNECTION = 3
INTERRUPTED = 130


class MycnfError(Exception):
    """An expected error: the message says what went wrong and what to do.

    `code` is the exit code; the message is one line, including the remedy.
    """

    code = USAGE


class ConnectError(MycnfError):
    """The server could not be reached, or refused the login."""

    code = CONNECTION


class NoListenerError(ConnectError):
    """No server listens at the socket or port, as where it is stopped."""


class ConnectOptionsError(ConnectError):
    """An option of the connection is wrong, or a file that one names cannot be used: no server was tried."""

    code = USAGE


def nearest_word(word: str, known: Iterable[str]) -> str | None:
    """Return the known word closest to this one; None if none is close. Ignores case and the difference of - and _."""
    from difflib import get_close_matches

    by_key = {_key(name): name for name in known}
    found = get_close_matches(_key(word.strip()), by_key, 1)
    return by_key[found[0]] if found else None


def _key(word: str) -> str:
    return word.lower().replace("_", "-")


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return `; did you mean X?` to append to a message; if no word is close, `; ` and `otherwise`."""
    meant = nearest_word(word, known)
    if meant is not None:
        return f"; did you mean {meant}?"
    return f"; {otherwise}" if otherwise else ""


_LISTENERS: list[Callable[[str], object]] = []


def print_notice(message: str) -> None:
    """Print a line that is not part of the report, with secrets masked and control characters escaped."""
    from advisor.redaction import escape_text, redact_value

    line = escape_text(redact_value("", message))
    if _LISTENERS:
        for listener in _LISTENERS:
            listener(line)
        return
    sys.stdout.flush()
    print_stderr(f"mycnf: {line}")


def stdin_buffer() -> BinaryIO:
    """Return the bytes of stdin; raises MycnfError if the caller closed it: nothing read is no empty input."""
    if sys.stdin is None:
        raise MycnfError("stdin is closed, so nothing can be read from it (-); name a file, or pipe the text in")
    return sys.stdin.buffer


def print_stderr(line: str) -> None:
    """Print a line on stderr; if stderr is closed, the command continues."""
    try:
        print(line, file=sys.stderr)
    except OSError:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - buffered output would fail again at exit


def redirect_notices(listener: Callable[[str], object]) -> None:
    """Send notices to a listener from now on, while something else draws on stderr."""
    _LISTENERS.append(listener)
