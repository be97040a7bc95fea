"""What the servers' own clients, and tools that use them, print of a running server."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from live_server import Live

CLIENT = "mysql"


def told(folder: Path, name: str, *command: str) -> str:
    """What a tool prints, in a file; the test skips by name where the tool isn't installed."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    environment = {**os.environ, "HOME": str(folder), "LC_ALL": "C", "TMPDIR": str(folder)}
    path = folder / name
    with path.open("wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return str(path)


def at(live: Live) -> tuple[str, ...]:
    """The words by which the servers' own clients connect."""
    return ("--no-defaults", "--socket", live.sandbox.socket, "--user", "root")
