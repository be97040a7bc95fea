"""Which groups a server reads, by the servers' own output."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from advisor.core.model import Target
from advisor.optionfile import groups_read
from tests.optionfile.judges import Server

HEADING = "The following groups are read:"


def test_servers_say_the_same(server: Server) -> None:
    """Each real server's --verbose --help names exactly these groups."""
    command = [server.program, "--no-defaults", "--verbose", "--help"]
    run = subprocess.run(command, capture_output=True, timeout=600, check=False, text=True, errors="replace")
    (line,) = (line for line in run.stdout.splitlines() if line.startswith(HEADING))
    assert groups_read(server.target) == frozenset(line.removeprefix(HEADING).split())


def test_a_suffix_adds_groups(server: Server, tmp_path: Path) -> None:
    """With --defaults-group-suffix each group is read with it too, in any case."""
    path = tmp_path / "f.cnf"
    names = ("mysqld", "mysqld_X", "SERVER_x", "server_y", "client_x", f"mysqld-{server.target.series}_x")
    path.write_text("".join(f"[{name}]\n{name.lower()}=1\n" for name in names))
    arguments = server.arguments(path, "--defaults-group-suffix=_X")
    assert server.foreseen(path, "_X") == arguments
    assert arguments is not None
    assert arguments.count(b"=1") == 4


@pytest.mark.parametrize("series", [(8, 0), (8, 4), (9, 7), (26, 1)])
def test_the_version_is_in_a_group(series: tuple[int, int]) -> None:
    """MySQL reads one group of its own series, for any patch."""
    groups = groups_read(Target("mysql", (*series, 3)))
    assert {g for g in groups if "-" in g} == {f"mysqld-{series[0]}.{series[1]}"}


def test_clients() -> None:
    """Only MariaDB's clients read [client-server]."""
    assert groups_read(Target("mysql", (8, 0, 36)), "client") == {"client"}
    assert "client-server" in groups_read(Target("mariadb", (10, 11, 6)), "client")
