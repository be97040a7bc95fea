"""A running server with helpers for the collectors' tests."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pymysql

from advisor.collect.connection.options import Account
from probes.sandbox import Sandbox


class Live:
    """A running server with helpers: statements as root, accounts, and its general log."""

    def __init__(self, name: str, sandbox: Sandbox) -> None:
        self.name = name
        self.sandbox = sandbox
        self.is_mariadb = name.startswith("mariadb")

    def freeze(self) -> None:
        """Stop the server's process until SIGCONT."""
        freeze(self.sandbox.pid)

    def run(self, *statements: str) -> tuple[tuple[Any, ...], ...]:
        """Run statements as root and return the rows of the last."""
        connection = self.sandbox.connect(autocommit=True)
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                return tuple(cursor.fetchall())
        finally:
            connection.close()

    def account(self, user: str = "root", password: bytes = b"", **more: Any) -> Account:
        """An account on this server's socket."""
        return Account(user, password, socket=self.sandbox.socket, **more)

    @contextmanager
    def user(self, name: str, how: str) -> Iterator[str]:
        """An account that exists in the block."""
        self.run(f"DROP USER IF EXISTS '{name}'@'%'", f"CREATE USER '{name}'@'%' {how}")
        try:
            yield name
        finally:
            self.run(f"DROP USER IF EXISTS '{name}'@'%'")

    @contextmanager
    def general_log(self, path: Path) -> Iterator[Path]:
        """In the block, the server logs every statement to the file."""
        self.run(f"SET GLOBAL general_log_file = '{path}'", "SET GLOBAL general_log = 1")
        try:
            yield path
        finally:
            with suppress(pymysql.err.MySQLError):
                self.run("SET GLOBAL general_log = 0", "SET GLOBAL general_log_file = DEFAULT")


def number_of(connection: pymysql.Connection[Any]) -> int:
    """The connection id from the greeting; sends nothing."""
    return int(connection.thread_id())  # type: ignore[no-untyped-call] # the stubs leave it out


def freeze(pid: int) -> None:
    """Stop a process, and return when each of its threads has stopped, which takes some time after the signal."""
    os.kill(pid, signal.SIGSTOP)
    tasks = Path(f"/proc/{pid}/task")
    while not all(map(_stands, tasks.iterdir())):
        time.sleep(0.001)


def _stands(task: Path) -> bool:
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0] in "Tt"
    except (FileNotFoundError, ProcessLookupError):  # it had ended before it could be stopped
        return True
