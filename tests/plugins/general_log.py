"""Parse a server's general log: what clients sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pymysql
from live_server import number_of

from advisor.collect.connection.statement import TAG
from advisor.collect.connection.statements import STATEMENTS, STATUS, is_listed
from probes.sandbox import Sandbox

# 5.7 and later: a time in ISO 8601; MariaDB: day and time, omitted within the same second.
_ENTRY = re.compile(r"^(?:[\dT:.Z-]+|\d{6} +[\d:]+)?\s+(\d+) ([A-Z][A-Za-z]*(?: [A-Za-z]+)?)(?:\t(.*)|\s*)$")
_DRIVER = frozenset(s.text() for s in STATEMENTS if s.driver)


class Said(NamedTuple):
    """One command of a connection; a statement's text includes all its lines."""

    connection: int
    command: str
    text: str


def logged(path: Path) -> list[Said]:
    """All commands in a general log."""
    found: list[Said] = []
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        entry = _ENTRY.match(line)
        if entry:
            found.append(Said(int(entry[1]), entry[2], entry[3] or ""))
        elif found and line:
            found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line}")
    return found


def ours(log: list[Said]) -> list[str]:
    """The statements of connections that sent at least one with mycnf's tag."""
    tagged = {entry.connection for entry in log if TAG.strip() in entry.text}
    return [entry.text for entry in log if entry.connection in tagged and entry.command not in ("Connect", "Quit")]


def unlisted(log: list[Said]) -> list[Said]:
    """Commands that are neither a login nor a quit nor a statement of the closed list with its tag."""
    return [entry for entry in log if entry.command not in ("Connect", "Quit") and not _listed(entry)]


def _listed(entry: Said) -> bool:
    return entry.command == "Query" and is_listed(entry.text) and (entry.text in _DRIVER or entry.text.startswith(TAG))


class Ear:
    """Listens to everything that clients send to a server; its own statements are not included."""

    def __init__(self, own: pymysql.Connection[Any], path: Path) -> None:
        self._own, self._path = own, path
        self._heard = 0
        self._counting: set[int] = set()

    def __call__(self) -> list[Said]:
        """The commands since the last call."""
        log = logged(self._path)
        # A server's plugins send statements too, in sessions without an account: X Plugin does so shortly after
        # startup.
        clients = {entry.connection for entry in log if entry.command == "Connect" and entry.text.strip()}
        clients.discard(number_of(self._own))
        others = [entry for entry in log if entry.connection in clients]
        new, self._heard = others[self._heard :], len(others)
        return new

    def waiting(self) -> bool:
        """Whether a client that read counters has got its answer and is idle."""
        self._counting |= {entry.connection for entry in self() if entry.text == STATUS.text()}
        shown = self.run("SELECT ID, COMMAND FROM information_schema.PROCESSLIST")
        return any(int(number) in self._counting and command == "Sleep" for number, command in shown)

    def run(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        """The rows of a statement on the listener's own connection."""
        with self._own.cursor() as cursor:
            cursor.execute(statement)
            return tuple(cursor.fetchall())


@contextmanager
def overheard(sandbox: Sandbox, path: Path) -> Iterator[Ear]:
    """In the block, the server logs everything that it receives to the file."""
    with sandbox.connect(autocommit=True) as own:
        ear = Ear(own, path)
        ear.run(f"SET GLOBAL general_log_file = '{path}'")
        ear.run("SET GLOBAL general_log = 1")
        try:
            yield ear
        finally:
            with suppress(pymysql.err.MySQLError):
                ear.run("SET GLOBAL general_log = 0")
                ear.run("SET GLOBAL general_log_file = DEFAULT")
