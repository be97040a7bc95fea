"""Sizes and durations in the words of option files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.core.model import (
    UNITS,
    beside_limit,
    exact_duration,
    exact_size,
    format_duration,
    format_size,
    format_wait,
    size_in_units,
)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (1, "1"),
        (1023, "1023"),
        (1024, "1K"),
        (131072, "128K"),
        (131073, "131073"),
        (1 << 40, "1T"),
        (3 << 29, "1536M"),
    ],
)
def test_exact(count: int, text: str) -> None:
    """The shortest spelling that keeps the value is used."""
    assert exact_size(count) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("16777216", "16M"),
        ("65536", "64K"),
        ("1024", ""),
        ("100000001", ""),
        ("18446744073709551615", ""),
        ("9" * 5000, ""),
        ("utf8mb4", ""),
        ("", ""),
        ("-65536", ""),
    ],
)
def test_the_size_beside_a_number(value: str, text: str) -> None:
    """A large number of whole units has its size beside it; small numbers, other numbers and words have none."""
    assert size_in_units(value) == text


@pytest.mark.parametrize(
    ("taken", "text"),
    [
        (8_550_000_000, "8G, and may use only 6.1G of memory."),
        (6_600_000_000, "6.1G, 14.6M more than the 6.1G of memory that it may use."),
        (6_550_000_000, "6.1G, all but 33.1M of the 6.1G of memory that it may use."),
    ],
)
def test_sizes_that_are_written_alike(taken: int, text: str) -> None:
    """Two sizes that read the same are never compared as if one was larger: their difference is written."""
    assert beside_limit(taken, 6_584_732_220, "6.1G of memory") == text


@given(st.integers(0, 1 << 64))
def test_exact_keeps_the_value(count: int) -> None:
    """Reading the spelling back gives the same number."""
    text = exact_size(count)
    steps = {letter: step for step, letter in UNITS}
    assert (int(text[:-1]) * steps[text[-1]] if text[-1] in steps else int(text)) == count


@pytest.mark.parametrize(
    ("count", "text"),
    [(512, "512"), (28835840, "27.5M"), (201863462912, "188G"), (1 << 30, "1G"), (0, "0"), (1536, "1.5K")],
)
def test_about(count: int, text: str) -> None:
    """A size for people has at most three digits and no empty decimals."""
    assert format_size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(8, "8 s"), (102, "1 min 42 s"), (720, "12 min"), (3 * 3600, "3 h"), (7199.9, "1 h 59 min"), (41 * 86400, "41 d")],
)
def test_lasted(seconds: float, text: str) -> None:
    """A duration is shown in its largest unit, below ten of it with the next one."""
    assert format_duration(seconds) == text


@given(st.floats(0, 1e9))
def test_nothing_is_waited_for_too_short(seconds: float) -> None:
    """After the time that is shown, the time has passed; and it is no more than twice as long."""
    count, unit = format_wait(seconds).split(" ")
    shown = float(count) * {"ms": 0.001, "s": 1, "min": 60, "h": 3600, "d": 86400}[unit]
    assert seconds <= shown <= 2 * seconds + 1


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (119, "119 s"), (5400, "90 min"), (129600, "36 h"), (172800, "2 d")]
)
def test_a_configured_duration_is_not_rounded(seconds: int, text: str) -> None:
    """The largest unit of which it is a multiple."""
    assert exact_duration(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "400 ms"), (0.96, "1 s"), (0.0001, "0 s"), (90, "1 min 30 s")])
def test_less_than_a_second_is_not_none(seconds: float, text: str) -> None:
    """A time is shown as 0 only if it is none to a person."""
    assert format_duration(seconds) == text
