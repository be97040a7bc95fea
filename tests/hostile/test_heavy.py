"""For any amount of text from a server, what `collect` writes of it is what `audit --snapshot` reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile_server import Recording, hostile

from advisor.core.errors import CONNECTION, OK
from advisor.facts.snapshot import MAX_JSON_BYTES
from tests.hostile.conftest import Alone, Measure, connecting, ended_well, some
from tests.hostile.heavy import HEAVY

MOST_MEMORY = 400 << 20

pytestmark = pytest.mark.servers("mariadb-10.11")


@pytest.mark.parametrize("kind", some(HEAVY, ("values that are no UTF-8", "names of columns at length")))
def test_what_is_collected_can_be_audited(
    recording: Recording, kind: str, tmp_path: Path, measure: Measure, alone: Alone
) -> None:
    """Parts that a snapshot has no room for are left out and reported, in the snapshot too; the others are there."""
    place, path = tmp_path / "h.sock", tmp_path / "snap"
    with hostile(recording, str(place), HEAVY[kind]):
        ended, peak = measure("collect", *connecting(tmp_path, place), "--window", "0.01", "-o", path)
    ended_well(ended, OK, CONNECTION)
    left_out = [
        line for line in ended.err.splitlines() if "left out, because a snapshot has" in line or "too many" in line
    ]
    assert left_out
    assert peak < MOST_MEMORY
    assert path.stat().st_size < MAX_JSON_BYTES
    audited = alone("audit", "--snapshot", path, "--isolated", "--format", "json", "--fail-on", "never")
    ended_well(audited, ended.code)
    assert left_out[0].rpartition(": ")[2] in audited.out
