"""Walk through all screens of the demo in one start of the app, and draw each as text with its styles."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import groupby
from typing import NamedTuple, TypeVar

from app_driver import screen_text, until
from rich.style import Style
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


class Cell(NamedTuple):
    """One cell of the screen: its character and its style as words."""

    sign: str
    style: str


Picture = tuple[tuple[Cell, ...], ...]


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


def draw(app: AuditApp) -> Picture:
    """The cells of the screen."""
    return tuple(
        tuple(Cell(sign, style_words(segment.style)) for segment in strip for sign in segment.text)
        for strip in app.screen._compositor.render_strips()
    )


def style_words(style: Style | None) -> str:
    """`#e0e0e0 on #1e1e1e bold`, without what only the mouse uses."""
    if style is None:
        return "default on default"
    colours = [(colour.name if colour else "default") for colour in (style.color, style.bgcolor)]
    names = ("bold", "dim", "italic", "underline", "reverse", "strike")
    return " ".join([f"{colours[0]} on {colours[1]}", *(name for name in names if getattr(style, name))])


def text_of(picture: Picture) -> list[str]:
    """The lines of a picture without blanks at their ends."""
    return ["".join(cell.sign for cell in row).rstrip() for row in picture]


class Legend(dict[tuple[str, ...], str]):
    """Short names of styles: one style of each colour scheme makes one name, in the order of their first use."""

    def __missing__(self, styles: tuple[str, ...]) -> str:
        number, name = len(self), ""
        while number >= 0:
            number, letter = divmod(number, 26)
            name, number = chr(ord("a") + letter) + name, number - 1
        self[styles] = name
        return name


def rows_of(pictures: dict[str, Picture], legend: Legend) -> Iterator[str]:
    """Each line of one screen, and below it the runs of its styles: a name of the legend and a number of cells.

    `pictures` are of the same screen by colour scheme. Runs that are those of the line before are left out.
    """
    before = ""
    for rows in zip(*pictures.values(), strict=True):
        cells = [tuple(cell.style for cell in column) for column in zip(*rows, strict=True)]
        runs = " ".join(f"{legend[styles]}{len(list(run))}" for styles, run in groupby(cells))
        yield "".join(cell.sign for cell in rows[0]).rstrip()
        if runs != before:
            yield f"\t{runs}"
        before = runs
