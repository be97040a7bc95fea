"""Faults that are real: disks without room, processes that are ended, streams without a reader."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from background_runs import Begin
from mycnf_command import CHECKOUT
from small_disk import Disk

ROOM = 1 << 20  # bytes of the small file system


@pytest.fixture(params=["tmpfs", "limit"])
def disk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """A small file system (which needs root), or a limit on the size of files; the state of runs is on it."""
    place = tmp_path / "small"
    place.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "state"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", str(place)]
    if request.param == "tmpfs" and (os.geteuid() != 0 or subprocess.run(mount, check=False).returncode):
        pytest.skip("a file system of its own needs root")
    monkeypatch.chdir(place)
    try:
        yield Disk(place, request.param)
    finally:
        os.chdir(tmp_path)
        if request.param == "tmpfs":
            subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Runs that the test meddles with while they last."""
    begun: list[subprocess.Popen[bytes]] = []
    home = tmp_path / "home"
    home.mkdir()
    # Jobs of a shell without job control are born deaf to Ctrl-C; these hear it.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heard}; from advisor.__main__ import entry; entry()"

    def start(*args: str | Path, **popen: object) -> subprocess.Popen[bytes]:
        given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen}
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(CHECKOUT), "TERM": "xterm"}
        command = [sys.executable, "-c", code, *map(str, args)]
        begun.append(subprocess.Popen(command, cwd=tmp_path, env=environment, **given))  # type: ignore[call-overload]
        return begun[-1]

    yield start
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate()
