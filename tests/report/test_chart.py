"""Curves in the terminal: as wide as there is room, in the numbers' order, and plain where that is all there is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_results import BEGAN, scans

from advisor.core.model import Action, Confidence, Finding, Severity
from advisor.report.document import Chart
from advisor.report.evidence import axis_marks, passage
from advisor.report.output import Paper
from advisor.report.render import svg_chart
from advisor.report.render.curves import AxisMark, Curve, Point
from advisor.report.render.terminal_chart import ASCII, UNICODE, draw
from rules.core.areas import all_evidence

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
    """For any numbers, equal ones included, a curve comes out with as many rows as asked for."""
    points = tuple(Point(str(at), float(at), y, y, y) for at, y in enumerate(numbers))
    drawn = draw([Curve("y", points, here=False)], Paper(width, plain=True), height=height)
    assert sum("|" in line for line in drawn.splitlines()) == height - 2


def buffer_finding(value: str, advice: str) -> Finding:
    """A finding about read_buffer_size with this value and this line as its advice."""
    return Finding(
        "BUF001", "oversized-read-buffer", Severity.WARNING, Confidence.LIKELY, "too large",
        option="read_buffer_size", canonical="read_buffer_size", value=value, actions=(Action(option_line=advice),),
    )  # fmt: skip


def test_the_value_and_the_advice_are_marked() -> None:
    """Each stands above its own column, with a line down to the axis; the curve is drawn over the line."""
    marks = (AxisMark("you: 64K", 65536.0), AxisMark("advice: 16K", 16384.0))
    names, *rows = draw(
        [curve("time", 1.0, 2.0, 3.0, 4.0, 5.0)], Paper(60, plain=True), height=7, marks=marks
    ).splitlines()
    assert names.split("  ")[-1].strip() == "you: 64K"
    columns = {at for row in rows[:5] for at, sign in enumerate(row) if sign == ":"}
    labels = rows[6]
    assert [labels.index("16K"), labels.index("64K")] == [column - 1 for column in sorted(columns)]


def test_a_value_beyond_the_published_points_widens_the_axis() -> None:
    """A setting of 2M has its place to the right of the last point, 128K."""
    shown = draw(
        [curve("time", 1.0, 2.0, 3.0, 4.0, 5.0)], Paper(60, plain=True), marks=(AxisMark("you: 2M", 2097152.0),)
    )
    first = shown.splitlines()[2]
    assert first.rstrip().endswith(":")
    assert shown.splitlines()[-2].rstrip().endswith("128K")


@pytest.mark.parametrize("close", ["128K", "8M"])
def test_marks_that_would_touch_stand_on_lines_of_their_own(close: str) -> None:
    """Both names are whole, in the terminal and in the drawing, however near the two values are."""
    (chart,) = (
        b
        for b in passage(all_evidence()["RBS-01"], buffer_finding("8M", f"read_buffer_size = {close}")).blocks
        if isinstance(b, Chart)
    )
    drawn = draw(chart.curves, Paper(60), marks=chart.marks)
    picture = svg_chart.draw(Chart(chart.curves, "y", "x", title="t", answer="a", marks=chart.marks))
    for name in ("you: 8M", f"advice: {close}"):
        assert name in drawn
        assert f">{name}</text>" in picture


@pytest.mark.parametrize(
    ("value", "line", "axis", "found"),
    [
        ("8M", "read_buffer_size = 128K", "read_buffer_size", [("you: 8M", 8 << 20), ("advice: 128K", 128 << 10)]),
        ("8388608", "loose-read-buffer-size=1G", "read_buffer_size", [("you: 8M", 8 << 20), ("advice: 1G", 1 << 30)]),
        ("8G", "read_buffer_size = 16G", "read_buffer_size, GB", [("you: 8G", 8), ("advice: 16G", 16)]),
        ("8M", "sort_buffer_size = 128K", "read_buffer_size", [("you: 8M", 8 << 20)]),
        ("0", "read_buffer_size = DEFAULT", "read_buffer_size", []),
        ("8M", "read_buffer_size = 128K", "clients", []),
    ],
)  # fmt: skip
def test_marks_are_of_the_option_on_the_axis(value: str, line: str, axis: str, found: list[tuple[str, float]]) -> None:
    """Values in the axis's unit; nothing is marked on the axis of something else, nor what is no number."""
    assert [tuple(mark) for mark in axis_marks(buffer_finding(value, line), axis)] == found


def test_a_local_curve_is_drawn_over_the_published_one() -> None:
    """Where a probe on this host measured the same axis, both curves share one chart, and its caption says so."""
    measured_here = scans({"128K": 1.0, "16K": 1.2, "8M": 1.1}, evidence=("RBS-01",))
    finding = buffer_finding("8M", "read_buffer_size = 128K")
    (chart,) = (b for b in passage(all_evidence()["RBS-01"], finding, measured_here).blocks if isinstance(b, Chart))
    assert [c.here for c in chart.curves] == [True, False]
    assert chart.curves[1].name.startswith("RBS-01")
    assert chart.caption.startswith(f"here, {BEGAN[:10]}, and as published")
    assert [mark.name for mark in chart.marks] == ["you: 8M", "advice: 128K"]


def test_a_result_without_common_points_leaves_the_published_chart() -> None:
    """A probe of something else changes nothing."""
    other = scans({"2M": 1.0, "16K": 1.2})
    shown = passage(all_evidence()["RBS-01"], None, other)
    (chart,) = (b for b in shown.blocks if isinstance(b, Chart))
    assert not any(c.here for c in chart.curves)


def test_a_value_far_beyond_does_not_squeeze_the_curve() -> None:
    """It stands at the end of the axis with an arrow, and the points keep their room."""
    points = tuple(Point(f"{n}", float(n), float(n), float(n), float(n)) for n in (100, 200, 300))
    far = (AxisMark("you: 100000", 1e5), AxisMark("advice: 250", 250.0), AxisMark("default: 1", -1e5))
    drawn = draw([Curve("flushed", points, here=False)], Paper(70), marks=far)
    assert "you: 100000 →" in drawn
    assert "← default: 1" in drawn
    assert [label in drawn.splitlines()[-2] for label in ("100", "200", "300")] == [True] * 3
    drawing = Chart((Curve("flushed", points, here=False),), "y", "x", title="t", answer="a", marks=far)
    assert "you: 100000 →" in svg_chart.draw(drawing)
