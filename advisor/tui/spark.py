"""Sparklines and the short figures beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.sizes import about

if TYPE_CHECKING:
    from collections.abc import Iterable

STEPS = "▁▂▃▄▅▆▇█"
NOTHING = "-"
MILLION, BILLION = 1e6, 1e9
ALL = 100.0  # percent


def spark(values: Iterable[float | None], low: float, high: float) -> str:
    """One character a value: the lowest step for `low` and no other, the highest for `high`, a blank for None.

    Where nothing varies, zero is the lowest and anything else the highest.
    """
    return "".join(" " if value is None else _step(value, low, high) for value in values)


def _step(value: float, low: float, high: float) -> str:
    if high <= low:
        return STEPS[-1] if value > 0 else STEPS[0]
    if value <= low:
        return STEPS[0]
    top = len(STEPS) - 1
    return STEPS[min(top, max(1, round(top * (value - low) / (high - low))))]


def figure(value: float | None, unit: str) -> str:
    """A value in at most seven characters, in its unit but without it: 2,140 · 0.35 · 99.97 · 4.1M; - for None."""
    if value is None:
        return NOTHING
    if unit == "B/s":
        return about(value) if value < 1 << 70 else f"{value:.0e}"
    if unit == "%":
        return _percent(value)
    return _number(value, whole=not unit)


def _percent(value: float) -> str:
    """Two digits, and never 100 for what isn't all."""
    return f"{value:.0f}" if value in (0.0, ALL) else f"{min(value, 99.99):.2f}"


def _number(value: float, *, whole: bool) -> str:
    if value == 0 or (whole and value == int(value) and value < MILLION):
        return f"{value:,.0f}"
    if value < 0.01:  # noqa: PLR2004 - less can't be told in two digits
        return "<0.01"
    if value < 9.95:  # noqa: PLR2004 - where a digit stops counting
        return f"{value:.2f}" if value < 0.995 else f"{value:.1f}"  # noqa: PLR2004 - it would read 1.00
    if value < MILLION - 0.5:
        return f"{value:,.0f}"
    if value < BILLION:
        return f"{value / MILLION:.1f}M"
    return f"{value / BILLION:,.1f}G" if value < 1e4 * BILLION else f"{value:.0e}"
