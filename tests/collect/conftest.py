"""Real servers for the collectors: one default server of each series, started when a test first asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from live_server import Live
from provisioning.shelf import shelf

from probes.sandbox import start as start_sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers_plugin import Binaries


@pytest.fixture(scope="session")
def live(server_name: str, binaries: Binaries) -> Iterator[Live]:
    """A server of each series, reachable by socket and by TCP on the loopback; only these tests change it."""
    binary = binaries(server_name)
    with start_sandbox(binary, tcp=True, arguments=["--server-id=7"], templates=shelf() / ".templates") as sandbox:
        yield Live(server_name, sandbox)
