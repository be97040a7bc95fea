"""`mycnf probe` as a process, and all processes that it starts, identified by a word in their environment."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from mycnf_command import CHECKOUT
from process_checks import PATIENCE, bearing
from provisioning.manifest import read
from provisioning.shelf import shelf

WORD = "MYCNF_LAUNCHED"
FORCED = "busy,neighbour,full,little"
POLL = 0.02


class Launched(NamedTuple):
    """A run: its process, the word in the environment of all its processes, and its output files."""

    process: subprocess.Popen[bytes]
    word: str
    out: Path
    err: Path

    def family(self) -> dict[int, str]:
        """The running processes of the run, under any parent: pid and command line."""
        return bearing(f"{WORD}={self.word}")

    def wait_for(self, holds: Callable[[], object], what: str) -> None:
        """Wait until `holds()`; fails on timeout, or if the run ends before."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert self.process.poll() is None, f"it ended before {what}: {self.said()}"
            assert time.monotonic() < deadline, f"never happened: {what}: {self.said()}"
            time.sleep(POLL)

    def said(self) -> str:
        """Its output on stderr so far."""
        return self.err.read_text("utf-8")

    def end(self) -> int:
        """Wait for its end; returns the exit code."""
        return self.process.wait(2 * PATIENCE)


@contextlib.contextmanager
def launched(
    home: Path, *args: str | Path, env: dict[str, str] | None = None, before: tuple[str, ...] = ()
) -> Iterator[Launched]:
    """Run `mycnf probe ARGS` with home, results and temporary files in `home`; all processes end with the context.

    `before` precedes the command, for example `nice`.
    """
    word = secrets.token_hex(8)
    for folder in ("state", "tmp"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    out, err = home / f"{word}.out", home / f"{word}.err"
    own = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "TMPDIR": str(home / "tmp"), WORD: word}
    with out.open("wb") as to_out, err.open("wb") as to_err:
        process = subprocess.Popen(
            [*before, sys.executable, "-m", "advisor", "probe", *map(str, args)],
            stdin=subprocess.DEVNULL,
            stdout=to_out,
            stderr=to_err,
            cwd=home,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT), **own, **(env or {})},
            start_new_session=True,
        )
    run = Launched(process, word, out, err)
    try:
        yield run
    finally:
        for pid in (process.pid, *run.family()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def programs(*names: str) -> tuple[list[str], dict[str, str]]:
    """Server programs as arguments of the command line, and the environment in which they find their libraries.

    Only servers whose program runs without a separate loader.
    """
    words: list[str] = []
    libraries: list[str] = []
    for name in names:
        command = read(name)
        assert command is not None
        words += ["--server", str(shelf() / name / command.executable)]
        libraries += [str(shelf() / name / folder) for folder in command.libraries]
    return words, {"LD_LIBRARY_PATH": os.pathsep.join(libraries)}
