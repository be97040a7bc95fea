"""Sparklines and short figures."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from advisor.tui.text import format_value, sparkline


def test_steps_go_from_low_to_high() -> None:
    """Zero is the lowest step and nothing else is, the most is the highest, and what is unknown is blank."""
    assert sparkline([0, 1, 50, 100, None, 0], 0, 100) == "▁▂▅█ ▁"


def test_a_flat_line_shows_zero_and_other_values_differently() -> None:
    """Nothing all the time lies at the bottom, 7 all the time at the top."""
    assert sparkline([0, 0], 0, 0) == "▁▁"
    assert sparkline([7, 7], 7, 7) == "██"


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (None, "/s", "-"),
        (0, "/s", "0"),
        (0.001, "/s", "<0.01"),
        (0.354, "/s", "0.35"),
        (0.9999, "/s", "1.0"),
        (9.97, "/s", "10"),
        (42.4, "/s", "42"),
        (2140, "/s", "2,140"),
        (999_999.7, "/s", "1.0M"),
        (12_345_678, "/s", "12.3M"),
        (2.5e9, "/s", "2.5G"),
        (3, "", "3"),
        (6.25, "", "6.2"),
        (151, "", "151"),
        (4_299_161, "B/s", "4.1M"),
        (100, "%", "100"),
        (99.9999, "%", "99.99"),
        (0.0, "%", "0"),
        (350.04, "%", "350.0"),
        (3200, "%", "3,200"),
        (1208.4, "ms", "1,208"),
    ],
)
def test_figures_are_short_and_true(value: float | None, unit: str, shown: str) -> None:
    """Digits that count, and neither all nor nothing where it isn't."""
    assert format_value(value, unit) == shown


@given(st.floats(0, 1e300), st.sampled_from(["/s", "ms", "B/s", "%", ""]))
@example(999_950_000_000.0, "/s")
@example(99_999.5e9, "/s")
@example(999_950_000.0, "/s")
def test_figures_fit_their_column(value: float, unit: str) -> None:
    """Seven characters at the most."""
    assert len(format_value(value, unit)) <= 7


@given(st.lists(st.none() | st.floats(0, 1e12), max_size=50))
def test_a_value_is_a_character(values: list[float | None]) -> None:
    """As many columns as values."""
    known = [value for value in values if value is not None]
    assert len(sparkline(values, 0, max(known, default=0))) == len(values)
