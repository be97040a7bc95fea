"""The app in front of a hostile server stays up, says what it lacks, and can be left."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from app_driver import driven, opened, screen_text, until
from hostile_server import Mischief, Recording, hostile

from advisor.tui.screens import SCREENS
from tests.hostile.conftest import connecting, harmless, some
from tests.hostile.endless import TOO_MUCH
from tests.hostile.framing import bent
from tests.hostile.noanswer import NO_ANSWER
from tests.hostile.values import NUMBERS, TEXTS, bad_values, mangled

CHANCE = random.Random(5)  # noqa: S311 - the same each time
KINDS: dict[str, Mischief] = {
    "texts": bad_values(lambda: CHANCE.choice(TEXTS), 0.4),
    "numbers": bad_values(lambda: CHANCE.choice(NUMBERS), 0.4),
    "rows without end": TOO_MUCH["rows without end"],
    "asks for a file": NO_ANSWER["asks for a file"],
    "three columns": NO_ANSWER["three columns"],
    "other bytes": mangled(11),
    "no values": bent(lambda row: row[: row[0] + 1]),
}

pytestmark = pytest.mark.servers("mariadb-10.11")


@pytest.mark.parametrize("kind", some(KINDS, ("texts",)))
async def test_the_app_bears_a_hostile_server(recording: Recording, kind: str, tmp_path: Path) -> None:
    """The audit opens, or the form that asks for another server; no control character gets through, and `q` leaves."""
    place = tmp_path / "h.sock"
    with hostile(recording, str(place), KINDS[kind]):
        words = (*connecting(tmp_path, place), "--isolated")
        async with driven(*words, size=(100, 30), wait=False) as (app, pilot):
            await until(pilot, lambda: opened(app) or bool(app.screen.query("#connect-socket")))
            for screen in SCREENS:
                await pilot.press(screen.digit)
                await pilot.pause()
                await pilot.press("down", "down")
                assert harmless(screen_text(app))
            assert app.is_running
            await pilot.press("escape")
            if app.return_value is None:
                await pilot.press("q")
            await until(pilot, lambda: app.return_value in (0, 3))
