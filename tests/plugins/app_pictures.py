"""Walk through all screens of the demo in one start of the app; wait until each is complete."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from app_driver import screen_text, until
from textual.pilot import Pilot
from textual.widgets import Input

from advisor.tui.app import AuditApp

# The keys that lead to each picture, in an order in which no picture depends on the one before.
ROUTE = {
    "overview": ("0", "home"),
    "findings": ("1", "home", "down", "down", "down"),
    "variables": ("2", "home", "down", "down"),
    "workload": ("3", "home"),
    "host": ("4", "home"),
    "files": ("5", "home"),
    "probes": ("6", "home"),
    "report": ("7", "home"),
    "changes": ("1", "home", "down", "down", "space", "space", "space", "space", "space", "c", "home"),
    "help": ("X", "0", "question_mark"),
}
T = TypeVar("T")
LEAVE = {"help": ("escape",)}
# A text that each screen of at least 100 columns shows only when it is complete: parts are drawn in later frames.
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
    "help": "Esc closes",
}
LOOK = 0.05  # seconds between two looks at the screen
STILL, LONG = 1.0, 10.0  # seconds without a change after which a screen is taken as complete


async def walk(app: AuditApp, pilot: Pilot[int]) -> AsyncIterator[str]:
    """Go to each screen in turn; yields its name as soon as the keys are pressed."""
    await until(pilot, lambda: bool(app.query("#foot > *")))  # it is drawn last
    for name, keys in ROUTE.items():
        await pilot.press(*keys)
        yield name
        await pilot.press(*LEAVE.get(name, ()))


async def settle(pilot: Pilot[int], picture: Callable[[], T], complete: str = "", expected: T | None = None) -> T:
    """The picture once the screen has this text and is still, or as soon as it is the expected one.

    A busy host draws late: with an expectation, only a long standstill counts.
    """
    await until(pilot, lambda: complete in screen_text(pilot.app))
    for field in pilot.app.screen.query(Input):
        field.cursor_blink = False
    last, since = picture(), time.monotonic()
    while last != expected and time.monotonic() - since < (STILL if expected is None else LONG):
        await pilot.pause()
        if (now := picture()) != last:
            last, since = now, time.monotonic()
        await asyncio.sleep(LOOK)
    return last
