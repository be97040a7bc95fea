"""Amounts drawn as bars."""

from __future__ import annotations

CELLS = 20
EIGHTHS = " ▏▎▍▌▋▊▉"
FULL, REST, BEYOND = "█", "·", "▶"


def bar(amount: float, whole: float, cells: int = CELLS) -> str:
    """The share of `whole` that `amount` is, `cells` wide, to an eighth of a cell; an arrow at the end is more."""
    if whole <= 0 or amount <= 0:
        return REST * cells
    if amount > whole:
        return FULL * (cells - 1) + BEYOND
    eighths = max(1, round(8 * cells * amount / whole))
    full, part = divmod(eighths, 8)
    return (FULL * full + (EIGHTHS[part] if part else "")).ljust(cells, REST)
