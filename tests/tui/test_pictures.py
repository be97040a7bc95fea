"""The pictures in docs are of the screens as they are drawn today."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from app_driver import driven, screen_rows, screen_text
from app_pictures import COMPLETE, ROUTE, settle, walk
from rich.style import Style

from advisor.tui.app import AuditApp

TOP = Path(__file__).parents[2]
FOLDER = TOP / "docs" / "pictures"
GOLDEN = TOP / "tests" / "golden" / "app"
SIZES = ((80, 24), (120, 40), (200, 60))
LARGEST_RECORDING = 300 * 1024  # bytes
THEMES = ("textual-dark", "textual-light", "high-contrast", "ansi-dark", "ansi-light")
LEGIBLE = 3.0  # contrast that WCAG demands of large text; most of the text has more than 4.5
TITLE = "=== "  # before the name of a screen in a golden file


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The time zone of the pictures."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def load_tool(name: str) -> ModuleType:
    """A tool as a module."""
    spec = importlib.util.spec_from_file_location(name, TOP / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_pictures_are_current(utc: None) -> None:
    """Each screen draws what its picture shows; `make pictures` draws them again."""
    pictures = load_tool("pictures")
    kept = {name: (FOLDER / f"{name}.svg").read_text(encoding="utf-8") for name in ROUTE}
    drawn = await pictures.pictures(kept)
    for name, svg in drawn.items():
        assert pictures.words(svg) == pictures.words(kept[name]), name


async def test_the_recording_is_current(utc: None) -> None:
    """Each step of the tour shows what the recording has; a page can hold it, and it asks for nothing else."""
    recording = load_tool("recording")
    svg = (FOLDER / "tour.svg").read_text(encoding="utf-8")
    assert len(svg.encode()) <= LARGEST_RECORDING
    assert not [word for word in ("<script", "url(", 'href="http', "@import") if word in svg]
    kept = recording.screen_texts(svg)
    recorded = [screen.text for screen in await recording.record(kept)]
    assert not [shown_instead(*texts) for texts in zip(recorded, kept, strict=True) if len(set(texts)) > 1]


def shown_instead(shown: str, kept: str) -> tuple[str, str]:
    """What stands in both texts from shortly before their first difference."""
    at = next((place for place, both in enumerate(zip(shown, kept, strict=False)) if len(set(both)) > 1), 20)
    return shown[at - 20 : at + 80], kept[at - 20 : at + 80]


async def test_every_screen_in_three_sizes(utc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of each screen is that of its golden file; MYCNF_WRITE_GOLDEN=1 writes them."""
    monkeypatch.setenv("TERM", "xterm-256color")  # braille for charts
    writing = "MYCNF_WRITE_GOLDEN" in os.environ
    async with driven(size=SIZES[0], place="overview") as (app, pilot):
        for size in SIZES:
            await pilot.resize_terminal(*size)
            path = GOLDEN / f"{size[0]}x{size[1]}.txt"
            kept = {} if writing else golden_screens(path)
            shown = {}
            async for name in walk(app, pilot):
                shown[name] = await settle(pilot, lambda: blank_free(screen_text(app)), expected=kept.get(name))
                assert writing or shown[name] == kept[name], f"{name} at {size}"
            if writing:
                write_golden(path, shown)


@pytest.mark.parametrize("no_color", [False, True], ids=["in-colour", "NO_COLOR"])
async def test_every_screen_in_every_theme(no_color: bool, utc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text is legible in each theme, and its colours are those of the golden file; NO_COLOR leaves only greys."""
    monkeypatch.setenv("TERM", "xterm-256color")
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    path = GOLDEN / ("greys.txt" if no_color else "colours.txt")
    writing = "MYCNF_WRITE_GOLDEN" in os.environ
    kept = {} if writing else golden_screens(path)
    shown: dict[str, str] = {}
    faint: list[str] = []
    async with driven(size=(120, 40), place="overview") as (app, pilot):
        async for name in walk(app, pilot):
            for theme in THEMES:
                if theme not in app.available_themes:  # NO_COLOR has none of the terminal's own colours
                    continue
                app.theme = theme
                expected = kept.get(f"{name}, {theme}")
                shown[f"{name}, {theme}"] = await settle(pilot, lambda: looks_text(app), COMPLETE[name], expected)
                looks = screen_looks(app)
                if name != "help":  # a dialog over a screen that is dimmed on purpose
                    faint += (f"{name}, {theme}: {t} {look}" for look, t in looks.items() if look.contrast < LEGIBLE)
            app.theme = THEMES[0]
    assert not faint, "\n".join(faint)
    if writing:
        write_golden(path, shown)
    assert writing or shown == kept


class Look(NamedTuple):
    """Colours and attributes of a text; colours are names where the terminal chooses them."""

    ink: str
    paper: str
    attributes: str

    def __str__(self) -> str:
        return f"{self.ink} on {self.paper} {self.attributes}".rstrip()

    @property
    def contrast(self) -> float:
        """The contrast of WCAG; of colours that the terminal chooses only whether they differ."""
        if not self.ink.startswith("#") or not self.paper.startswith("#"):
            return 1.0 if self.ink == self.paper != "default" else 21.0
        light, dark = sorted((luminance(self.ink), luminance(self.paper)), reverse=True)
        return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """The relative luminance of WCAG."""
    parts = [byte / 255 for byte in bytes.fromhex(colour.removeprefix("#"))]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def screen_looks(app: AuditApp) -> dict[Look, str]:
    """The looks of letters and digits on the screen, each with its first text."""
    looks: dict[Look, str] = {}
    for segment in chain.from_iterable(screen_rows(app)):
        if segment.style is not None and any(map(str.isalnum, segment.text)):
            looks.setdefault(read_look(segment.style), segment.text.strip())
    return looks


def looks_text(app: AuditApp) -> str:
    """The looks on the screen, one a line."""
    return "\n".join(sorted(map(str, screen_looks(app))))


def read_look(style: Style) -> Look:
    """The look of a style of Rich."""
    ink, paper = (colour.name if colour else "default" for colour in (style.color, style.bgcolor))
    if style.reverse:
        ink, paper = paper, ink
    attributes = [name for name in ("bold", "dim", "italic", "underline") if getattr(style, name)]
    return Look(ink, paper, " ".join(attributes))


def blank_free(text: str) -> str:
    """The text without blanks at the ends of its lines."""
    return "\n".join(line.rstrip() for line in text.splitlines())


def golden_screens(path: Path) -> dict[str, str]:
    """The texts of a golden file by the name of their screen."""
    parts = path.read_text(encoding="utf-8").removeprefix(TITLE).split(f"\n{TITLE}")
    return {name: text.removesuffix("\n") for name, _, text in (part.partition("\n") for part in parts)}


def write_golden(path: Path, shown: dict[str, str]) -> None:
    """Write the texts below the names of their screens."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(f"{TITLE}{name}\n{text}" for name, text in shown.items()) + "\n", encoding="utf-8")
