"""Real servers for the collectors: one default server of each series, started when a test first asks for it."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pymysql
import pytest

from advisor.collect.options import Account
from probes.sandbox import Binary, Sandbox, SandboxError, describe, start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAMES = ("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.4", "mariadb-11.8")
SERVERS = Path(os.environ.get("MYCNF_SERVERS", Path.home() / ".cache" / "mycnf" / "servers"))


class Live:
    """A running server and what tests do with it: root's statements, accounts, and its general log."""

    def __init__(self, name: str, sandbox: Sandbox) -> None:
        self.name = name
        self.sandbox = sandbox
        self.is_mariadb = name.startswith("mariadb")

    def run(self, *statements: str) -> tuple[tuple[Any, ...], ...]:
        """Run statements as root and return the rows of the last."""
        connection = self.sandbox.connect(autocommit=True)
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                return cursor.fetchall()
        finally:
            connection.close()

    def account(self, user: str = "root", password: bytes = b"", **more: Any) -> Account:
        """An account at this server's socket."""
        return Account(user, password, socket=self.sandbox.socket, **more)

    @contextmanager
    def user(self, name: str, how: str) -> Iterator[str]:
        """An account of a name that exists for the block; the test skips by name where the server lacks its plugin."""
        self.run(f"DROP USER IF EXISTS '{name}'@'%'")
        try:
            self.run(f"CREATE USER '{name}'@'%' {how}")
        except pymysql.err.MySQLError as error:
            pytest.skip(f"{self.name} can't make such an account: {error.args[-1]}")
        try:
            yield name
        finally:
            self.run(f"DROP USER IF EXISTS '{name}'@'%'")

    @contextmanager
    def general_log(self, path: Path) -> Iterator[Path]:
        """The server writes every statement that it gets into the file, for the block."""
        self.run(f"SET GLOBAL general_log_file = '{path}'", "SET GLOBAL general_log = 1")
        try:
            yield path
        finally:
            with suppress(pymysql.err.MySQLError):
                self.run("SET GLOBAL general_log = 0", "SET GLOBAL general_log_file = DEFAULT")


def binary_of(name: str) -> Binary:
    """A server of the tests by its name; the test skips by name where it can't be had."""
    folder = SERVERS / name
    if not (folder / "manifest.json").is_file():
        pytest.skip(f"{name} is not at hand (python tests/servers/provision.py {name})")
    told = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))

    def path(key: str) -> str | None:
        return str(folder / told[key]) if told.get(key) else None

    try:
        return describe(
            str(folder / "server"), name, basedir=path("basedir"), share=path("share"), plugins=path("plugins")
        )
    except SandboxError as error:
        pytest.skip(f"{name} can't be started: {error}")


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Live]]:
    """Start a server by name with options of its own; it ends with the session, or when the test closes it."""
    templates = SERVERS.parent / "templates"
    with ExitStack() as all_of_them:

        def begin(name: str, *arguments: str, option_file: Path | None = None) -> Live:
            sandbox = start(
                binary_of(name), arguments=arguments, option_file=option_file, tcp=True, templates=templates
            )
            return Live(name, all_of_them.enter_context(sandbox))

        yield begin


@pytest.fixture(scope="session", params=NAMES)
def live(request: pytest.FixtureRequest, started: Callable[..., Live]) -> Iterator[Live]:
    """A default server of each series, reachable by socket and by TCP on the loopback."""
    server = started(request.param)
    yield server
    server.sandbox.close()
