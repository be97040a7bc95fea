"""The pictures in docs are of the screens as they are drawn today."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from app_pictures import ROUTE

TOP = Path(__file__).parents[2]
FOLDER = TOP / "docs" / "pictures"


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
