"""Curves in the terminal: as wide as there is room, in the numbers' order, and plain where that is all there is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.report.document import Chart
from advisor.report.evidence import passage
from advisor.report.paper import Paper
from advisor.report.render.curves import Curve, Point
from advisor.report.render.terminal_chart import ASCII, UNICODE, draw
from rules.core.evidence import all_evidence

LABELS = ("8K", "16K", "32K", "64K", "128K")
VALUES = (8192.0, 16384.0, 32768.0, 65536.0, 131072.0)


def curve(name: str, *numbers: float | None) -> Curve:
    """A published curve over the labels."""
    places = zip(LABELS, VALUES, numbers, strict=False)
    return Curve(name, tuple(Point(label, x, y, y, y) for label, x, y in places if y is not None), here=False)


def test_a_curve_in_full() -> None:
    """Points that double stand at even distances, joined by dots, over their labels."""
    drawn = draw([curve("time", 1.0, 2.0, 3.0, 4.0, 5.0)], Paper(40, plain=True), height=7)
    assert drawn.splitlines() == [
        "  5 |                            ....x",
        "  4 |                     ...x...",
        "  3 |             ....x...",
        "  2 |      ...x...",
        "  1 | x....",
        "    +----------------------------------",
        "     8K      16K     32K    64K    128K",
        "  x time",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("plain", [True, False])
def test_no_line_is_wider_than_asked(width: int, plain: bool) -> None:
    """Every curve of the store fits the width, and plain ones are ASCII."""
    for entry in all_evidence().values():
        for chart in (block for block in passage(entry).blocks if isinstance(block, Chart)):
            drawn = draw(chart.curves, Paper(width, plain=plain)).splitlines()
            plotted = drawn[: -len(chart.curves)] if width < 80 else drawn  # names of curves may be longer
            assert all(len(line) <= width for line in plotted), entry.id
            assert any((ASCII if plain else UNICODE).others[0] in line for line in drawn)
            assert not plain or all(line.isascii() for line in drawn)


def test_two_curves_have_two_marks() -> None:
    """Each curve has a mark of its own, named below; a number that wasn't published is left out."""
    drawn = draw([curve("a", 1.0, 2.0, None, 4.0), curve("b", 4.0, 3.0, 2.0, 1.0)], Paper(60))
    assert "○ a" in drawn
    assert "□ b" in drawn
    assert sum(line.count("○") for line in drawn.splitlines()[:-1]) == 3


def test_nothing_to_draw() -> None:
    """Without curves there is no drawing."""
    assert draw([], Paper()) == ""


@given(
    st.lists(st.floats(0, 1e12, allow_nan=False), min_size=2, max_size=12),
    st.integers(40, 200),
    st.integers(4, 30),
)
def test_any_numbers_can_be_drawn(numbers: list[float], width: int, height: int) -> None:
    """Whatever the numbers, equal ones included, a curve comes out with as many rows as asked for."""
    points = tuple(Point(str(at), float(at), y, y, y) for at, y in enumerate(numbers))
    drawn = draw([Curve("y", points, here=False)], Paper(width, plain=True), height=height)
    assert sum("|" in line for line in drawn.splitlines()) == height - 2
