"""Real servers for the collectors: one default server of each series, started when a test first asks for it."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from live_server import Live
from provisioning.shelf import shelf

from probes.sandbox import start_server as start_sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from real_servers import Binaries

    from probes.sandbox import Binary

KEY = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")


@pytest.fixture(scope="session")
def live(server_name: str, binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server of each series, reachable by socket and by TCP on the loopback; only these tests change it."""
    binary = binaries(server_name)
    arguments = ["--server-id=7", *with_key(binary, tmp_path_factory.mktemp("key"))]
    with start_sandbox(binary, tcp=True, arguments=arguments, templates=shelf() / ".templates") as sandbox:
        yield Live(server_name, sandbox)


def with_key(binary: Binary, folder: Path) -> tuple[str, ...]:
    """Words that give MariaDB a key: since 11.4 it makes one of 4096 bits, up to 20 seconds of a processor."""
    if not binary.target.since("mariadb", 11, 4) or shutil.which(KEY[0]) is None:
        return ()
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    files = ("-keyout", str(key), "-out", str(certificate))
    subprocess.run([*KEY, "-subj", "/CN=localhost", *files], capture_output=True, check=True)
    return (f"--ssl-key={key}", f"--ssl-cert={certificate}")
