"""A conversation that ends anywhere, or whose bytes are others, ends an audit with what it could read."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from hostile_server import Recording

from advisor.collect.connection.connect import ConnectionLimits
from advisor.facts import Facts
from tests.hostile.conftest import Turns, collected
from tests.hostile.values import CutAfter, mangled

pytestmark = pytest.mark.servers("mysql-8.0")


def places(recording: Recording, folder: Path, every: int) -> list[int]:
    """After how many bytes to close: boundaries of the first packets and of every so many later ones, and inside."""
    sizes: list[int] = []

    def listen(_: str, packets: tuple[bytes, ...]) -> tuple[bytes, ...]:
        sizes.extend(map(len, packets))
        return packets

    collected(recording, folder / "h.sock", listen, ConnectionLimits())
    boundaries = list(itertools.accumulate(sizes))
    chosen = [at for number, at in enumerate(boundaries) if number < 30 or number % every == 0]
    return sorted({0, 1, *(at + more for at in chosen for more in (0, 3, 5))})


def test_a_connection_cut_anywhere_is_said(recording: Recording, tmp_path: Path, turns: Turns) -> None:
    """At every boundary of a packet and inside of packets: a refusal, or what was read until then with `lost`."""
    for at in places(recording, tmp_path, max(1, 97 // turns(1))):
        found = collected(recording, tmp_path / "h.sock", CutAfter(at))
        if isinstance(found, Facts):
            assert found.lost or found.workload is not None, at


def test_bytes_that_are_others_end_well(recording: Recording, tmp_path: Path, turns: Turns) -> None:
    """With a few bytes changed anywhere, an audit ends with facts or a refusal."""
    chance = random.Random(7)  # noqa: S311 - the same each time
    for _ in range(turns(40)):
        seed = chance.randrange(1 << 32)
        assert collected(recording, tmp_path / "h.sock", mangled(seed)), seed
