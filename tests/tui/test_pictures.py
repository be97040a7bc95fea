"""The pictures in docs are of the screens as they are drawn today."""

from __future__ import annotations

import importlib.util
import re
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from advisor.tui.screens.registry import CHANGES, SCREENS

TOP = Path(__file__).parents[2]


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The tool that draws them, in the time zone that it uses."""
    spec = importlib.util.spec_from_file_location("pictures", TOP / "tools" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield module
    monkeypatch.undo()
    time.tzset()


def words(svg: str) -> list[str]:
    """The texts of a picture."""
    return re.findall(r"<text[^>]*>(.*?)</text>", svg)


@pytest.mark.parametrize("place", [*SCREENS, CHANGES], ids=lambda place: place.id)
async def test_the_pictures_are_current(place: object, pictures: ModuleType) -> None:
    """Each screen draws what its picture shows; `python tools/pictures.py` draws them anew."""
    name = getattr(place, "id", "")
    drawn = await pictures.picture(name, getattr(place, "digit", ""))
    kept = (TOP / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    assert words(drawn) == words(kept)
