"""What a server's general log says that clients sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pymysql
from live_server import number_of

from advisor.collect.connection.statements import STATEMENTS, STATUS, TAG, is_listed
from probes.sandbox import Sandbox

# 5.7 and later: a time in ISO 8601; MariaDB: day and time, left out within the same second.
_ENTRY = re.compile(r"^(?:[\dT:.Z-]+|\d{6} +[\d:]+)?\s+(\d+) ([A-Z][A-Za-z]*(?: [A-Za-z]+)?)(?:\t(.*)|\s*)$")
_DRIVER = frozenset(s.text() for s in STATEMENTS if s.driver)


class Said(NamedTuple):
    """One command of a connection; a statement's text has all its lines."""

    connection: int
    command: str
    text: str


def logged(path: Path) -> list[Said]:
    """All that a general log tells."""
    found: list[Said] = []
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        entry = _ENTRY.match(line)
        if entry:
            found.append(Said(int(entry[1]), entry[2], entry[3] or ""))
        elif found and line:
            found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line}")
    return found


def ours(log: list[Said]) -> list[str]:
    """The statements of connections that sent at least one with our tag."""
    tagged = {said.connection for said in log if TAG.strip() in said.text}
    return [said.text for said in log if said.connection in tagged and said.command not in ("Connect", "Quit")]


def unlisted(log: list[Said]) -> list[Said]:
    """What is neither a login, nor a goodbye, nor a statement of the list, tagged where it is ours to tag."""
    return [said for said in log if said.command not in ("Connect", "Quit") and not _listed(said)]


def _listed(said: Said) -> bool:
    return said.command == "Query" and is_listed(said.text) and (said.text in _DRIVER or said.text.startswith(TAG))


class Ear:
    """What a server is sent, by everybody but the one who listens; it may say something without hearing itself."""

    def __init__(self, own: pymysql.Connection[Any], path: Path) -> None:
        self._own, self._path = own, path
        self._heard = 0
        self._counting: set[int] = set()

    def __call__(self) -> list[Said]:
        """What came since the last call."""
        log = logged(self._path)
        # A server's plugins ask it too, in sessions of nobody: X Plugin does, a moment after the server has come up.
        clients = {said.connection for said in log if said.command == "Connect" and said.text.strip()}
        clients.discard(number_of(self._own))
        others = [said for said in log if said.connection in clients]
        new, self._heard = others[self._heard :], len(others)
        return new

    def waiting(self) -> bool:
        """Whether somebody who asked for counters has been answered, and is asking nothing."""
        self._counting |= {said.connection for said in self() if said.text == STATUS.text()}
        shown = self.run("SELECT ID, COMMAND FROM information_schema.PROCESSLIST")
        return any(int(number) in self._counting and command == "Sleep" for number, command in shown)

    def run(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        """The rows of a statement of the listener's own."""
        with self._own.cursor() as cursor:
            cursor.execute(statement)
            return tuple(cursor.fetchall())


@contextmanager
def overheard(sandbox: Sandbox, path: Path) -> Iterator[Ear]:
    """The server logs all that it is sent into the file, for the block."""
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
