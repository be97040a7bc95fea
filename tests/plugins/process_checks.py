"""What tests ask of running servers and of processes."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from probes.sandbox import Sandbox

# Seconds; a test ends long before, unless something is broken: MYCNF_PATIENCE=20 while one is written.
PATIENCE = float(os.environ.get("MYCNF_PATIENCE", "600"))


def eventually(holds: Callable[[], object], *, what: str | Callable[[], object], every: float = 0.05) -> None:
    """Wait until `holds()` is true, asked every so many seconds; fail with `what` when it never becomes true."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"never happened: {what if isinstance(what, str) else what()}"
        time.sleep(every)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody has waited for counts as gone."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def bearing(word: str) -> dict[int, str]:
    """The living processes that have a word like NAME=VALUE in their environment, with their command lines.

    It goes from parent to child, so whatever a program leaves behind is found, whoever its parent is by then.
    """
    found = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with contextlib.suppress(OSError):
            if word.encode() in _environment(Path(f"/proc/{pid}")).split(b"\0") and alive(pid):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
                found[pid] = words.decode("utf-8", "replace")
    return found


def _environment(process: Path) -> bytes:
    """What the kernel shows of it; one that becomes another program has none for a moment, and must not pass as gone.

    Raises OSError for threads of the kernel, which have no program, and for what ends meanwhile.
    """
    while not (told := (process / "environ").read_bytes()):
        if (process / "cmdline").read_bytes():
            return (process / "environ").read_bytes()
        (process / "exe").readlink()
        time.sleep(0.001)
    return told


def first_row(sandbox: Sandbox, sql: str) -> tuple[object, ...]:
    """The first row of a statement's answer."""
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        row = cursor.fetchone()
        assert row is not None
        return tuple(row)
