"""Formats bytes, durations and shares for option files and reports."""

from __future__ import annotations

UNITS = ((1 << 60, "E"), (1 << 50, "P"), (1 << 40, "T"), (1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K"))
MAX_PERCENT = 1000  # percent; above it the exact number is meaningless


def exact_size(count: int) -> str:
    """Return the shortest exact notation of a size in an option file: 131072 is 128K, 131073 stays 131073."""
    for step, letter in UNITS:
        if count and count % step == 0:
            return f"{count // step}{letter}"
    return str(count)


def format_size(count: float) -> str:
    """Format a size for display, with about three digits: 27.5M, 188G, 512."""
    for step, letter in UNITS:
        if abs(count) >= step:
            number = count / step
            return (f"{number:.1f}" if number < 100 else f"{number:.0f}").removesuffix(".0") + letter  # noqa: PLR2004
    return f"{count:.0f}"


def format_duration(seconds: float) -> str:
    """Format a duration for display: 41 d, 3 h, 12 min, 8 s."""
    for step, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= step:
            return f"{int(seconds // step)} {unit}"
    return f"{seconds:.0f} s"


def format_percent(share: float) -> str:
    """Format a share as percent with two significant digits: 0.35 %, 3.4 %, 12 %."""
    value = 100 * share
    if value > MAX_PERCENT:
        return f"more than {MAX_PERCENT} %"
    digits = 0 if value >= 10 else 1 if value >= 1 else 2  # noqa: PLR2004 - where a digit stops counting
    return f"{value:.{digits}f} %"


def format_latency(microseconds: float) -> str:
    """Format a latency for display: 90 µs, 1.1 ms."""
    return f"{microseconds:.0f} µs" if microseconds < 1000 else f"{microseconds / 1000:.1f} ms"  # noqa: PLR2004
