"""Fixtures for real servers.

`@pytest.mark.servers("mysql-8.0", "mariadb")` selects servers or whole flavours; without it a test that takes
`any_server`, `server_name` or `binary` runs once for each server. An unavailable server is skipped with a reason.

Expensive tests that repeat another test for a further server, or in another way, are marked `whole`, or their servers
are listed in the marker (`whole="mysql-5.7"`): they run if MYCNF_WHOLE is set (`make unit WHOLE=1`).
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

import psutil
import pytest
from process_checks import eventually
from skip_list import pytest_terminal_summary  # noqa: F401  pytest finds its hooks here

from advisor.collect.host.cgroup import read_cgroup
from advisor.collect.host.root import LiveRoot
from probes.sandbox import Binary, Sandbox, SandboxError, describe_binary, start_server

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "servers"))

from provisioning.build import check
from provisioning.recipes import RECIPES
from provisioning.shelf import ProvisionError, shelf

AT_ONCE = 6  # servers per worker; half a gigabyte each, and MariaDB 11.4 takes seconds to start
MEMORY = "/dev/shm"  # where data directories go: the start of a server waits for a disk as long as it computes
MEMORY_NEEDED = 8 << 30  # bytes: a server's files take 0.2 GiB, and six workers may have 40 servers
IDLE = 240.0  # seconds of an idle MySQL 8 or later, which uses half a percent of a CPU: as much as a start costs
CONTEXTS = 3000  # asynchronous I/O contexts that one server takes at most; 24 of MySQL take all of 65,536
PARAMETRISED = "server_name"
WHOLE = "MYCNF_WHOLE"


def _wait_for_contexts(launch: Callable[[Sandbox, float], None]) -> Callable[[Sandbox, float], None]:
    """A start of a server that waits where the servers of other tests take all I/O contexts of the host."""

    @functools.wraps(launch)
    def launch_with_contexts(sandbox: Sandbox, timeout: float) -> None:
        logged = _log_size(sandbox)
        while True:
            try:
                return launch(sandbox, timeout)
            except SandboxError as error:
                if "asynchronous I/O contexts are used up" not in str(error):
                    raise
            if logged < _log_size(sandbox):
                os.truncate(sandbox.error_log, logged)  # a failed start would be a finding of audits
            eventually(lambda: _free_contexts() >= CONTEXTS, what="the end of servers that take the I/O contexts")

    return launch_with_contexts


Sandbox._launch = _wait_for_contexts(Sandbox._launch)  # type: ignore[method-assign,assignment]  # restarts included


def _log_size(sandbox: Sandbox) -> int:
    log = Path(sandbox.error_log)
    return log.stat().st_size if log.exists() else 0


def _free_contexts() -> int:
    most, used = (int(Path(f"/proc/sys/fs/aio-{name}").read_text("ascii")) for name in ("max-nr", "nr"))
    return most - used


class Binaries(Protocol):
    """Returns a server's program by name; skips the test with a reason if it is not available."""

    def __call__(self, name: str) -> Binary: ...


class Server(Protocol):
    """Returns a running default server by name, with only the arguments of quickly(); it is shared, so undo changes."""

    def __call__(self, name: str) -> Sandbox: ...


class Start(Protocol):
    """Starts a server for the test; it ends with the test. Arguments as for `probes.sandbox.start_server`."""

    def __call__(
        self,
        name: str,
        *,
        option_file: str | os.PathLike[str] | None = None,
        arguments: Iterable[str] = (),
        tcp: bool = False,
        small: bool = False,
        base: str | os.PathLike[str] | None = None,
    ) -> Sandbox: ...


def names_of(words: Iterable[str]) -> list[str]:
    """The servers that a marker's arguments select.

    Arguments are names, flavours (`mysql`, `mariadb`), or `all`, which is the default.
    """
    meanings = {word: [name for name in RECIPES if word in ("all", name, name.partition("-")[0])] for word in words}
    unknown = [word for word, names in meanings.items() if not names]
    if unknown:
        raise pytest.UsageError(f"no such servers: {', '.join(unknown)}; there are {', '.join(RECIPES)}")
    return [name for name in RECIPES if not meanings or any(name in names for names in meanings.values())]


def pytest_configure() -> None:
    """Set the location of the servers before a test gets its own home directory."""
    os.environ.setdefault("MYCNF_SERVERS", str(shelf()))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each server that it selects, all tests of one server in a row."""
    if PARAMETRISED in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("servers")
        named = names_of(marker.args if marker else ())
        rest = names_of(marker.kwargs["whole"].split()) if marker and "whole" in marker.kwargs else ()
        known = [*named, *(pytest.param(name, marks=pytest.mark.whole) for name in rest if name not in named)]
        metafunc.parametrize(PARAMETRISED, known, indirect=True, scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests of the whole run, except those that are named explicitly."""
    if WHOLE in os.environ or any("::" in asked for asked in config.args):
        return
    left = [item for item in items if item.get_closest_marker("whole")]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("whole")]


@functools.cache
def provisioned(name: str) -> Binary:
    """The program of an installed server; raises ProvisionError if it is missing or does not run."""
    manifest = check(name)
    folder = shelf() / name

    def at(path: str | None) -> str | None:
        return None if path is None else str(folder / path)

    return describe_binary(
        str(folder / manifest.server),
        name,
        basedir=at(manifest.basedir),
        share=at(manifest.share),
        plugins=at(manifest.plugins),
        print_defaults=at(manifest.print_defaults),
    )


@functools.cache
def lacking(name: str) -> str | None:
    """Why a server is not available; None if it is."""
    try:
        provisioned(name)
    except ProvisionError as error:
        return f"{name} can't be had: {error}"
    return None


@pytest.fixture(scope="session")
def binaries() -> Binaries:
    """Server programs by name."""

    def by_name(name: str) -> Binary:
        if reason := lacking(name):
            pytest.skip(reason)
        return provisioned(name)

    return by_name


@pytest.fixture(scope="session")
def server_name(request: pytest.FixtureRequest) -> str:
    """The name of the server for this run of the test."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def binary(server_name: str, binaries: Binaries) -> Binary:
    """The program of the server for this run of the test, if no running server is needed."""
    return binaries(server_name)


@functools.cache
def memory_folder(binary: Binary) -> str | None:
    """The folder for data directories in memory; None where that lacks room, in the file system or in the host.

    None for MariaDB, whose redo log in /dev/shm is mapped as persistent memory is, with settings of its own.
    """
    if binary.target.is_mariadb:
        return None
    try:
        room = os.statvfs(MEMORY)
    except OSError:
        return None
    group = read_cgroup(LiveRoot())
    limit = group.limit if group and group.limit else sys.maxsize
    free = min(room.f_bavail * room.f_frsize, psutil.virtual_memory().available // 2, limit // 2)
    return MEMORY if os.access(MEMORY, os.W_OK) and free >= MEMORY_NEEDED else None


class Pool:
    """Default servers, started at their first use and kept running while there is room."""

    def __init__(self, templates: Path) -> None:
        self.templates = templates
        self.running: dict[str, Sandbox] = {}
        self.used: dict[str, float] = {}

    def get(self, binary: Binary, in_use: set[str]) -> Sandbox:
        """The running server of a program.

        The least recently used ones are stopped to make room, but not those of this test.
        """
        found = self.running.pop(binary.name, None)
        if found is None or not found.running:
            if found is not None:
                found.close()
            idle = [name for name in self.running if name not in in_use]
            for name in idle[: max(0, len(self.running) - AT_ONCE + 1)]:
                self.running.pop(name).close()
            found = start_server(
                binary, base=memory_folder(binary), arguments=quickly(binary), templates=self.templates
            )
        self.running[binary.name] = found
        self._rest({*in_use, binary.name})
        return found

    def _rest(self, in_use: set[str]) -> None:
        """Stop idle servers that use CPU time."""
        now = time.monotonic()
        self.used.update(dict.fromkeys(in_use, now))
        for name, sandbox in list(self.running.items()):
            if sandbox.binary.target.since("mysql", 8) and now - self.used[name] > IDLE:
                self.running.pop(name).close()

    def close(self) -> None:
        """Stop all servers."""
        for sandbox in self.running.values():
            sandbox.close()
        self.running.clear()


@pytest.fixture(scope="session")
def templates() -> Path:
    """The folder of initialized data directories, from which servers start quickly."""
    return shelf() / ".templates"


@pytest.fixture(scope="session")
def server_pool(templates: Path) -> Iterator[Pool]:
    """The running default servers of this session."""
    pool = Pool(templates)
    yield pool
    pool.close()


@pytest.fixture
def server(binaries: Binaries, server_pool: Pool) -> Server:
    """Running default servers by name; a test may use several at once."""
    in_use: set[str] = set()

    def by_name(name: str) -> Sandbox:
        in_use.add(name)
        return server_pool.get(binaries(name), in_use)

    return by_name


@pytest.fixture
def any_server(server_name: str, server: Server) -> Sandbox:
    """The running default server for this run of the test."""
    return server(server_name)


@pytest.fixture
def untouched(server_name: str, server: Server, binary: Binary, templates: Path) -> Iterator[Sandbox]:
    """A running default server without any arguments; a separate one if that makes the start slow."""
    if not quickly(binary):
        yield server(server_name)
        return
    with start_server(binary, base=memory_folder(binary), templates=templates) as own:
        yield own


def quickly(binary: Binary, *, small: bool = False) -> tuple[str, ...]:
    """Arguments that speed up the start of a server.

    Since 11.4 MariaDB generates a key of 4096 bits at each start, which takes up to 20 seconds of CPU time. Small
    MySQL servers run without Performance Schema, which takes a third of their start.
    """
    if binary.target.since("mariadb", 11, 4):
        return ("--skip-ssl",)
    return ("--performance-schema=OFF",) if small and binary.target.since("mysql", 8) else ()


@pytest.fixture
def start(binaries: Binaries, templates: Path) -> Iterator[Start]:
    """Servers for one test, by name, with an option file or arguments; all end with the test."""
    started: list[Sandbox] = []

    def by_name(
        name: str,
        *,
        option_file: str | os.PathLike[str] | None = None,
        arguments: Iterable[str] = (),
        tcp: bool = False,
        small: bool = False,
        base: str | os.PathLike[str] | None = None,
    ) -> Sandbox:
        binary = binaries(name)
        sandbox = start_server(
            binary,
            option_file=option_file,
            arguments=(*quickly(binary, small=small), *arguments),
            tcp=tcp,
            small=small,
            base=base or memory_folder(binary),
            templates=templates,
        )
        started.append(sandbox)
        return sandbox

    yield by_name
    for sandbox in started:
        sandbox.close()
