"""The output of the servers' own clients, and of tools based on them, for a running server."""

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


def output(folder: Path, name: str, *command: str) -> str:
    """The output of a tool as a file; skips the test with a reason if the tool is not installed."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    environment = {**os.environ, "HOME": str(folder), "LC_ALL": "C", "TMPDIR": str(folder)}
    path = folder / name
    with path.open("wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return str(path)


def at(live: Live) -> tuple[str, ...]:
    """The arguments with which the servers' own clients connect."""
    return ("--no-defaults", "--socket", live.sandbox.socket, "--user", "root")
