"""Runs of mycnf that a test influences while they last."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import termios
from pathlib import Path
from typing import Protocol

SIZE = (24, 80)


class Begin(Protocol):
    """Starts `mycnf ARGS` in a separate process in the test's folder; it ends with the test."""

    def __call__(self, *args: str | Path, **popen: object) -> subprocess.Popen[bytes]: ...


class OnTerminal:
    """`mycnf` on its own terminal, whose other end the test can close."""

    def __init__(self, begin: Begin, *words: str) -> None:
        self.ours, theirs = pty.openpty()
        termios.tcsetwinsize(self.ours, SIZE)

        def settle() -> None:
            os.setsid()
            os.close(os.open(os.ttyname(0), os.O_RDWR))  # becomes the session's controlling terminal

        self.process = begin(*words, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=settle)
        os.close(theirs)
        os.set_blocking(self.ours, False)
        self.shown = b""

    def shows(self, words: bytes) -> bool:
        """Whether this text has been on the screen."""
        with contextlib.suppress(OSError):
            while output := os.read(self.ours, 1 << 16):  # a terminal returns about 4K at a time
                self.shown += output
        return words in self.shown

    def ended(self) -> bool:
        """Whether it has ended; reads all of its output, because the process would wait for that."""
        self.shows(b"")
        ended = self.process.poll() is not None
        self.shows(b"")
        return ended

    def close(self) -> None:
        """Close the terminal, like a closed window."""
        os.close(self.ours)
