"""A real terminal: tmux, controlled by keys and read as text."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mycnf_command import CHECKOUT
from process_checks import PATIENCE

from probes.sandbox import Sandbox

MYCNF = (sys.executable, "-m", "advisor")
LOOK = 0.1


class Terminal:
    """One window of a separate tmux server."""

    def __init__(self, name: str) -> None:
        self._name = name

    def tmux(self, *words: str) -> str:
        """Run a tmux command; returns its output."""
        command = ["tmux", "-L", self._name, "-f", os.devnull, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def keys(self, *keys: str) -> None:
        """Press these keys, by their tmux names."""
        self.tmux("send-keys", *keys)

    @property
    def screen(self) -> str:
        """The text on the screen."""
        return self.tmux("capture-pane", "-p")

    def until(self, holds: Callable[[str], bool], what: str) -> str:
        """Wait until the screen matches; AssertionError with the screen on timeout."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            screen = self.screen
            if holds(screen):
                return screen
            time.sleep(LOOK)
        raise AssertionError(f"never seen: {what}\n{self.screen}")

    def shows(self, words: str) -> str:
        """Wait until this text is on the screen."""
        return self.until(lambda screen: words in screen, words)


@contextmanager
def terminal(
    *command: str, size: tuple[int, int] = (80, 24), environment: dict[str, str] | None = None
) -> Iterator[Terminal]:
    """A command in a terminal of that size, in a shell that prints its exit code; skips with a reason without tmux."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not here (Debian package tmux)")
    window = Terminal(f"mycnf-test-{secrets.token_hex(4)}")
    settings = [f"{name}={value}" for name, value in (environment or {}).items()]
    words = shlex.join(["env", "-u", "COLUMNS", "-u", "LINES", *settings, *command])
    line = f"{words}; echo ended with $?; exec sleep 600"
    width, height = (str(n) for n in size)
    window.tmux("new-session", "-d", "-x", width, "-y", height, line)
    try:
        yield window
    finally:
        window.tmux("kill-server")


def place(tmp_path: Path) -> dict[str, str]:
    """The environment of a test: its own state and configuration, and the package of this checkout."""
    return {
        "XDG_STATE_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "PYTHONPATH": str(CHECKOUT),
        "TERM": "screen-256color",
    }


def audit(server: Sandbox, tmp_path: Path) -> list[str]:
    """The command that audits this server without the user's option files."""
    empty = tmp_path / "empty.cnf"
    empty.touch()
    return [*MYCNF, "audit", "--defaults-file", str(empty), "--socket", server.socket, "--user", "root"]
