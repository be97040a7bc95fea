"""A fleet for the tests: a place to run it in, and real servers that a module's tests share."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from fleet_run import Ground, Servers
from fleet_sshd import Key, make_keys
from live_server import Live
from provisioning.shelf import shelf
from real_servers import Binaries

from probes.sandbox import start_server as start_sandbox

pytest.importorskip("ansible", reason="ansible-core isn't installed: pip install 'mycnf-advisor[fleet]'")


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    """A place for one run."""
    return Ground(tmp_path)


@pytest.fixture(scope="module")
def module_ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """A place for one run that the module's tests share."""
    return Ground(tmp_path_factory.mktemp("fleet"))


@pytest.fixture
def keys(tmp_path: Path) -> Key:
    """Keys for hosts behind sshd."""
    return make_keys(tmp_path)


@pytest.fixture(scope="module")
def servers(binaries: Binaries) -> Iterator[Servers]:
    """Real servers, reachable by socket and by TCP on the loopback."""
    with ExitStack() as running:

        def start(name: str, *arguments: str) -> Live:
            binary = binaries(name)
            quick = ("--skip-ssl",) if binary.target.since("mariadb", 11, 4) else ()  # its key takes seconds to make
            templates = shelf() / ".templates"
            server = start_sandbox(binary, tcp=True, arguments=(*quick, *arguments), templates=templates)
            return Live(name, running.enter_context(server))

        yield start


@pytest.fixture(scope="session")
def dead_port() -> Iterator[int]:
    """A port of the loopback without a listener; it is taken, so that no other test gets it meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        yield port


@pytest.fixture(scope="session")
def local() -> Callable[[Live], dict[str, object]]:
    """The variables of a host that is this one, with the server at its socket."""

    def variables(live: Live) -> dict[str, object]:
        return {"ansible_connection": "local", "mycnf_socket": live.sandbox.socket, "mycnf_user": "root"}

    return variables
