"""Curves in the terminal: as wide as there is room, in the numbers' order, and plain where that is all there is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.report.render.terminal_chart import ASCII, UNICODE, chart
from rules.core.evidence import all_evidence

LABELS = ("8K", "16K", "32K", "64K")
VALUES = (8192.0, 16384.0, 32768.0, 65536.0)


def test_a_curve_in_full() -> None:
    """Points that double stand at even distances, joined by dots, over their labels and under their unit."""
    drawn = chart(LABELS, VALUES, {"time": (1.0, 2.0, 3.0, 4.0)}, unit="s", width=36, height=5, ascii_only=True)
    assert drawn.splitlines() == [
        " s",
        "4 |                         .....o",
        "3 |                ....o....",
        "  |      .....o....",
        "  | o....",
        "0 |",
        "  +--------------------------------",
        "   8K        16K      32K       64K",
        "   o time",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_no_line_is_wider_than_asked(width: int, ascii_only: bool) -> None:
    """Every curve of the store fits the width, and plain ones are ASCII in what is drawn."""
    for entry in all_evidence().values():
        if entry.table is not None and len(entry.table.values) > 2:
            t = entry.table
            drawn = chart(t.labels, t.values, t.series, unit="u", width=width, ascii_only=ascii_only).splitlines()
            assert all(len(line) <= width for line in drawn), entry.id
            style = ASCII if ascii_only else UNICODE
            assert any(style.marks[0] in line for line in drawn)
            assert not ascii_only or all(line.isascii() for line in drawn[:-1])


def test_even_points_without_numbers() -> None:
    """Points that are words stand evenly, and every label that has room is printed."""
    drawn = chart(("none", "mq-deadline", "bfq"), (), {"reads": (1.0, 2.0, 1.5)}, width=60)
    assert all(word in drawn for word in ("none", "mq-deadline", "bfq"))


def test_two_series_have_two_marks() -> None:
    """Each series has a mark of its own, named below the curve; a number that wasn't published is left out."""
    drawn = chart(LABELS, VALUES, {"a": (1.0, 2.0, None, 4.0), "b": (4.0, 3.0, 2.0, 1.0)}, width=60)
    assert "● a" in drawn
    assert "○ b" in drawn
    assert sum(line.count("●") for line in drawn.splitlines()[:-1]) == 3


@pytest.mark.parametrize("series", [{"a": (1.0,)}, {"a": (None, None)}, {}])
def test_nothing_to_draw(series: dict[str, tuple[float | None, ...]]) -> None:
    """A single point, or none at all, is no curve."""
    labels = LABELS[: max(map(len, series.values()), default=0)]
    assert chart(labels, (), series) == ""


@given(
    st.lists(st.floats(-1e12, 1e12, allow_nan=False), min_size=2, max_size=12),
    st.integers(20, 200),
    st.integers(2, 30),
)
def test_any_numbers_can_be_drawn(numbers: list[float], width: int, height: int) -> None:
    """Whatever the numbers, equal ones included, a curve comes out with as many rows as asked for."""
    labels = [str(i) for i in range(len(numbers))]
    drawn = chart(labels, (), {"y": numbers}, width=width, height=height, ascii_only=True)
    assert sum("|" in line for line in drawn.splitlines()) == height
