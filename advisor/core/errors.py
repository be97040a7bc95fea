"""The exit codes of mycnf, and the exceptions that end a command with one of them."""

from __future__ import annotations

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
