"""A program in a pseudo-terminal, whose output is timed."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 60.0  # seconds


class Window:
    """One running program; `began` is its start, in seconds of the monotonic clock."""

    def __init__(self, pid: int, handle: int) -> None:
        self.pid = pid
        self.began = time.monotonic()
        self._handle = handle
        self._seen = b""

    def read(self, timeout: float) -> bytes:
        """The output within `timeout` seconds; empty if there is none."""
        ready, _, _ = select.select([self._handle], [], [], timeout)
        if not ready:
            return b""
        try:
            data = os.read(self._handle, 1 << 16)
        except OSError:  # the other end is closed
            return b""
        self._seen += data
        return data

    def until(self, words: bytes, patience: float = PATIENCE) -> float:
        """Seconds from now until this text appeared; TimeoutError if it never does."""
        began = time.monotonic()
        while words not in self._seen:
            if time.monotonic() - began > patience:
                raise TimeoutError(f"never seen: {words!r}")
            self.read(0.01)
        return time.monotonic() - began

    def forget(self) -> None:
        """Discard the output so far, so that only new output is searched."""
        while self.read(0.15):
            pass
        self._seen = b""

    def press(self, keys: bytes) -> float:
        """Press keys; returns the seconds until the program starts to draw."""
        began = time.monotonic()
        os.write(self._handle, keys)
        while not self.read(0.001):
            if time.monotonic() - began > PATIENCE:
                raise TimeoutError(f"nothing is drawn for {keys!r}")
        return time.monotonic() - began

    def type(self, keys: bytes) -> None:
        """Press keys without waiting."""
        os.write(self._handle, keys)

    def seconds_to_end(self) -> float:
        """Seconds from now until the program has ended."""
        began = time.monotonic()
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            self.read(0.002)
            if time.monotonic() - began > PATIENCE:
                raise TimeoutError("it never ends")
        self.pid = 0
        return time.monotonic() - began


@contextmanager
def window(*command: str, columns: int = 120, rows: int = 40) -> Iterator[Window]:
    """Start a program in a terminal of that size; it is killed at the end."""
    pid, handle = pty.fork()
    if pid == 0:
        os.environ |= {"TERM": "xterm-256color"}
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            os.environ.pop(name, None)
        os.execvp(command[0], command)  # noqa: S606 - no shell
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    shown = Window(pid, handle)
    try:
        yield shown
    finally:
        if shown.pid:
            os.kill(shown.pid, signal.SIGKILL)
            os.waitpid(shown.pid, 0)
        os.close(handle)
