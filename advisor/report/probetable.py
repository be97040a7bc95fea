"""A result as rows and columns, for text and Markdown alike: the variants, their numbers, and what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.report.probefigures import change, median, number, rows, span
from advisor.report.probenames import axis_name, short
from advisor.report.probepublished import curves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.facts.probes import ProbeResult
    from advisor.report.probefigures import Row
    from advisor.report.probepublished import Curve

CLAIMED = "*"


class Sheet(NamedTuple):
    """Column heads and rows of texts; the first column is words, the others are numbers."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def width(self) -> int:
        """Columns of the terminal that it takes, two of indent included."""
        return max(map(len, aligned(self)), default=0)


def sheet(result: ProbeResult) -> Sheet:
    """The main metric of each variant, what it differs from the baseline by, and what published curves differ by."""
    metric = result.metrics[0]
    found = rows(result)
    published = [c for c in curves(result) if not c.here]
    marked = any(row.claim in ("more", "less") for row in found)
    compared = len(found) > 1
    heads = [axis_name(result), metric.unit or metric.name]
    heads += [f"to {short(result, result.baseline)}", "95 %"] if compared else []
    heads += [curve.name for curve in published]
    made = []
    for row in found:
        cells = [short(result, row.name), number(row.median)]
        cells += _beside(row, marked) if compared else []
        cells += [_share(curve, row, short(result, row.name)) for curve in published]
        made.append(tuple(cells))
    return Sheet(tuple(heads), tuple(made))


def others(result: ProbeResult) -> Sheet | None:
    """The medians of the further metrics; None where there are none."""
    known = [m for m in result.metrics[1:] if any(median(arm, m.name) is not None for arm in result.arms)]
    if not known:
        return None
    heads = (axis_name(result), *(f"{m.name}, {m.unit}" if m.unit else m.name for m in known))
    return Sheet(
        heads, tuple((short(result, a.name), *(number(median(a, m.name)) for m in known)) for a in result.arms)
    )


def parted(whole: Sheet, width: int) -> list[Sheet]:
    """The sheet in pieces that fit the width, each with the first column; a column too wide stands by itself."""
    pieces: list[Sheet] = []
    chosen = [0]
    for column in range(1, len(whole.heads)):
        if len(chosen) > 1 and _columns(whole, [*chosen, column]).width > width:
            pieces.append(_columns(whole, chosen))
            chosen = [0]
        chosen.append(column)
    return [*pieces, _columns(whole, chosen)]


def aligned(piece: Sheet) -> list[str]:
    """The lines of a text: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(piece.heads, *piece.rows, strict=True)]
    lines = []
    for row in (piece.heads, *piece.rows):
        cells = [f"{row[0]:<{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True))]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines


def _columns(whole: Sheet, chosen: Sequence[int]) -> Sheet:
    return Sheet(tuple(whole.heads[i] for i in chosen), tuple(tuple(row[i] for i in chosen) for row in whole.rows))


def _beside(row: Row, marked: bool) -> list[str]:
    """The change with its interval; a claimed one is starred, and the others leave room for the star."""
    if row.claim == "baseline":
        return ["baseline" + " " * marked, ""]
    star = (CLAIMED if row.claim in ("more", "less") else " ") if marked else ""
    return [change(row.ratio) + star, span(row)]


def _share(curve: Curve, row: Row, name: str) -> str:
    """What a published curve says of a variant."""
    values = (p.value for p in curve.points if p.place == row.point or p.label.lower() == name.lower())
    return change(next(values, None))
