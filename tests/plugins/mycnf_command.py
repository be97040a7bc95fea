"""Types shared by fixtures and tests."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

CHECKOUT = Path(__file__).resolve().parents[2]


class Ended(NamedTuple):
    """The result of a run of mycnf."""

    code: int
    out: str
    err: str


class Mycnf(Protocol):
    """Runs `mycnf` with these arguments."""

    def __call__(self, *args: str | Path, stdin: bytes = b"", env: dict[str, str] | None = None) -> Ended: ...
