"""Write docs/pictures: each screen of the terminal app, drawn from the demo's recording.

usage: python tools/pictures.py
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Mapping

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

from app_driver import driven
from app_pictures import COMPLETE, settle, walk

FOLDER = os.path.join(TOP, "docs", "pictures")
SIZE = (100, 30)
SIZES = {"overview": (120, 40)}
TITLE = "mycnf audit --demo"
_OWN_NAME = r"terminal-\d+"  # different in every picture; without it equal screens give equal files
_FONT = r"@font-face \{[^}]*\}\s*"  # the font of another host, which a picture must not ask for


async def pictures(kept: Mapping[str, str] | None = None) -> dict[str, str]:
    """Each screen as SVG, by its name; a screen is complete as soon as it has the texts of the one that is kept."""
    drawn = {}
    async with driven(size=SIZE, place="overview") as (app, pilot):

        def texts() -> list[str]:
            return words(app.export_screenshot(title=TITLE))

        async for name in walk(app, pilot):
            await pilot.resize_terminal(*SIZES.get(name, SIZE))
            await settle(pilot, texts, COMPLETE[name], words(kept[name]) if kept else None)
            drawn[name] = re.sub(_FONT, "", re.sub(_OWN_NAME, "terminal", app.export_screenshot(title=TITLE)))
            await pilot.resize_terminal(*SIZE)
    return drawn


def words(svg: str) -> list[str]:
    """The texts of a picture."""
    return re.findall(r"<text[^>]*>(.*?)</text>", svg)


def write(name: str, text: str) -> None:
    """Write one picture."""
    with open(os.path.join(FOLDER, f"{name}.svg"), "w", encoding="utf-8") as file:
        file.write(text)
    print(f"wrote docs/pictures/{name}.svg")


def main() -> int:
    """Draw all screens."""
    os.makedirs(FOLDER, exist_ok=True)
    with tempfile.TemporaryDirectory() as own:
        os.environ |= {"XDG_STATE_HOME": own, "XDG_CONFIG_HOME": own, "TZ": "UTC"}
        for name, text in asyncio.run(pictures()).items():
            write(name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
