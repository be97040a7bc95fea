"""The pictures in docs are of the screens as they are drawn today."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from app_driver import driven, screen_text
from app_pictures import ROUTE, settle, walk

TOP = Path(__file__).parents[2]
FOLDER = TOP / "docs" / "pictures"
GOLDEN = TOP / "tests" / "golden" / "app"
SIZES = ((80, 24), (120, 40), (200, 60))
TITLE = "=== "  # before the name of a screen in a golden file


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The time zone of the pictures."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def pictures(utc: None) -> ModuleType:
    """The tool that draws the pictures in docs."""
    spec = importlib.util.spec_from_file_location("pictures", TOP / "tools" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_pictures_are_current(pictures: ModuleType) -> None:
    """Each screen draws what its picture shows; `make pictures` draws them anew."""
    kept = {name: (FOLDER / f"{name}.svg").read_text(encoding="utf-8") for name in ROUTE}
    drawn = await pictures.pictures(kept)
    for name, svg in drawn.items():
        assert pictures.words(svg) == pictures.words(kept[name]), name


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
