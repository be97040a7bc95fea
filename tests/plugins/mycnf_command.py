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


def check_run(code: int, out: str, err: str) -> Ended:
    """The result of a run; fails the test if mycnf crashed, which a test of something else could overlook."""
    assert "internal error:" not in err, err
    return Ended(code, out, err)


class Mycnf(Protocol):
    """Runs `mycnf` with these arguments."""

    def __call__(self, *args: str | Path, stdin: bytes = b"", env: dict[str, str] | None = None) -> Ended: ...
