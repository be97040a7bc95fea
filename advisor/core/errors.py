"""The exit codes of mycnf, and the errors that end a command with one of them."""

from __future__ import annotations

OK = 0
FINDINGS = 1
USAGE = 2
CONNECTION = 3
INTERRUPTED = 130


class MycnfError(Exception):
    """An end that the user can understand: what went wrong, and what to do about it.

    `code` is the exit code; the message is one line, the remedy included.
    """

    code = USAGE


class ConnectError(MycnfError):
    """The server could not be reached, or let us not in."""

    code = CONNECTION
