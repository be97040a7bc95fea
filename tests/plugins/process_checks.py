"""Helpers for running servers and processes."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from probes.sandbox import Sandbox

# Seconds; tests end long before, unless something is broken. Use MYCNF_PATIENCE=20 while writing a test.
PATIENCE = float(os.environ.get("MYCNF_PATIENCE", "600"))


def eventually(holds: Callable[[], object], *, what: str | Callable[[], object], every: float = 0.05) -> None:
    """Wait until `holds()` is true, checked every `every` seconds; fails with `what` on timeout."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"never happened: {what if isinstance(what, str) else what()}"
        time.sleep(every)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie counts as ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def bearing(word: str) -> dict[int, str]:
    """The running processes with a word such as NAME=VALUE in their environment, with their command lines.

    The environment is inherited, so everything that a program leaves behind is found, under any parent.
    """
    found = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with contextlib.suppress(OSError):
            if word.encode() in _environment(Path(f"/proc/{pid}")).split(b"\0") and alive(pid):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
                found[pid] = words.decode("utf-8", "replace")
    return found


def _environment(process: Path) -> bytes:
    """The environment of a process; during execve it is briefly empty, and the process must not count as ended.

    Raises OSError for kernel threads, which have no program, and for processes that end meanwhile.
    """
    while not (content := (process / "environ").read_bytes()):
        if (process / "cmdline").read_bytes():
            return (process / "environ").read_bytes()
        (process / "exe").readlink()
        time.sleep(0.001)
    return content


def first_row(sandbox: Sandbox, sql: str) -> tuple[object, ...]:
    """The first row of a statement's result."""
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        row = cursor.fetchone()
        assert row is not None
        return tuple(row)
