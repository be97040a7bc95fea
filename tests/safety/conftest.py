"""A default server of each series, and a user's home that leads to it and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from live_server import Live

from probes.sandbox import Sandbox


@pytest.fixture
def live(server_name: str, any_server: Sandbox) -> Live:
    """The running server, untouched but for what a test puts back."""
    return Live(server_name, any_server)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, a state and a working directory of the test's own."""
    place = tmp_path / "home"
    place.mkdir()
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(place))
    monkeypatch.chdir(tmp_path)
    return place


@pytest.fixture
def led(home: Path, any_server: Sandbox) -> Path:
    """An option file in that home by which every client of this user comes to the server, as root."""
    file = home / ".my.cnf"
    file.write_text(f"[client]\nsocket={any_server.socket}\nuser=root\n", encoding="utf-8")
    return file
