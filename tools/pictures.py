"""Write docs/pictures: each screen of the terminal app, drawn from the demo's recording.

usage: python tools/pictures.py
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

from app_driver import driven, screen_text, until

from advisor.tui.screens.registry import CHANGES, SCREENS

FOLDER = os.path.join(TOP, "docs", "pictures")
SIZE = (100, 30)
SIZES = {"overview": (120, 40)}
SETTLED = 0.5  # seconds
KEYS = {"findings": ("down", "down", "down"), "variables": ("down", "down")}
BEFORE = {"changes": ("1", "down", "down", "space", "space", "space", "space", "space")}
# A text that a screen shows only when it is complete: some parts are drawn in later frames or computed in threads.
COMPLETE = {
    "overview": "disk utilisation",  # the last chart
    "findings": "─ DUR002 ─",
    "variables": "bind_address = 127.0.0.1",
    "workload": "each column is the mean",
    "host": "─ Storage ─",
    "files": "No findings on this line",
    "probes": "How long does a commit wait",
    "report": "characters",
    "changes": "SET GLOBAL",
}
_OWN_NAME = r"terminal-\d+"  # different in every picture; without it equal screens give equal files


async def picture(place: str, digit: str) -> str:
    """One screen as SVG."""
    async with driven(size=SIZES.get(place, SIZE)) as (app, pilot):
        await pilot.press(*BEFORE.get(place, ()), digit)
        await until(pilot, lambda: bool(app.query(f"#{place}")))
        await pilot.press(*KEYS.get(place, ()))
        await until(pilot, lambda: COMPLETE[place] in screen_text(app))
        before = ""
        while (drawn := app.export_screenshot(title="mycnf audit --demo")) != before:
            before = drawn
            await pilot.pause(SETTLED)
        return re.sub(_OWN_NAME, "terminal", drawn)


def main() -> int:
    """Draw all screens."""
    os.makedirs(FOLDER, exist_ok=True)
    with tempfile.TemporaryDirectory() as own:
        os.environ |= {"XDG_STATE_HOME": own, "XDG_CONFIG_HOME": own, "TZ": "UTC"}
        for place in (*SCREENS, CHANGES):
            with open(os.path.join(FOLDER, f"{place.id}.svg"), "w", encoding="utf-8") as file:
                file.write(asyncio.run(picture(place.id, place.digit)))
            print(f"wrote docs/pictures/{place.id}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
