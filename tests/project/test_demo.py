"""The demo audits what can be had, and its option file is bad but not broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from real_servers import Binaries, Start

from probes.sandbox import Binary, validate_config


def run(code: list[str], checkout: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run the demo with an empty home, so that no account of the developer's is used."""
    environment = {**os.environ, "HOME": str(home), "COLUMNS": "80"}
    environment.setdefault("MYCNF_SERVERS", os.path.expanduser("~/.cache/mycnf/servers"))
    return subprocess.run(
        [sys.executable, *code], cwd=checkout, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("name", ["mariadb-10.11", "mysql-8.0"])
def test_audits_a_throwaway_server(name: str, checkout: Path, tmp_path: Path, binaries: Binaries) -> None:
    """A server started with the bad file is audited, its bad lines are named, and its directory is gone afterwards."""
    binaries(name)
    ran = run(["tools/demo.py", "--server", name], checkout, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "examples/bad.cnf:11" in ran.stdout
    socket = ran.stderr.partition("--socket ")[2].split()[0]
    assert not os.path.exists(os.path.dirname(socket))


def test_audits_a_recording(checkout: Path, tmp_path: Path) -> None:
    """Where there is no server, a recorded one is audited."""
    alone = "import sys; sys.path.insert(0, 'tools'); import demo; sys.exit(demo.audit_recording('no server here'))"
    ran = run(["-c", alone], checkout, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "no server here" in ran.stderr
    assert ran.stdout.startswith("mycnf audit")


def test_every_server_starts_with_the_bad_file(server_name: str, start: Start, checkout: Path) -> None:
    """The file of the demo is taken by each server, however badly it runs with it."""
    server = start(server_name, option_file=checkout / "examples" / "bad.cnf")
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@global.read_buffer_size")
        assert cursor.fetchone() == (8 << 20,)


@pytest.mark.servers("mysql-9.7")
def test_a_server_refuses_the_refused_file(binary: Binary, checkout: Path) -> None:
    """The other example is one that a server really refuses to start with."""
    assert validate_config(binary, checkout / "examples" / "refused.cnf").returncode != 0
