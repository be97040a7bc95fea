"""What tests ask of running servers and of processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from probes.sandbox import Sandbox

PATIENCE = 60.0  # seconds until something that must happen counts as not happening


def eventually(holds: Callable[[], object], *, what: str) -> None:
    """Wait until `holds()` is true; fail when it never becomes true."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody has waited for counts as gone."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def first_row(sandbox: Sandbox, sql: str) -> tuple[object, ...]:
    """The first row of a statement's answer."""
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        row = cursor.fetchone()
        assert row is not None
        return tuple(row)
