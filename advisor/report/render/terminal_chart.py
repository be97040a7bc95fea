"""Charts in the terminal: curves of points over their labels, and areas over time; in ASCII where need be."""

from __future__ import annotations

from itertools import pairwise

from advisor.core import NamedTuple
from advisor.redaction import escape_text, redact_value
from advisor.report.render.curves import axes, most, placed_marks, tick_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from advisor.report.output import Paper
    from advisor.report.render.curves import AxisMark, Curve, Point, Scale

HEIGHT = 14
LEAST_WIDTH = 24
HERE = "\x1b[32m"  # the colour of curves of this host


class _Style(NamedTuple):
    """Marks of series, of curves of this host and of others, and what the axes and lines are drawn with."""

    here: str
    others: str
    axis: str
    corner: str
    dot: str
    tick: str
    bar: str
    mark: str


UNICODE = _Style("●■▲◆★", "○□△◇", "┤", "└", "·", "─", "│", "┊")
ASCII = _Style("oO0@&", "x*#%", "|", "+", ".", "-", "|", ":")


class _Series(NamedTuple):
    """A curve: shares of the axes at which its points stand, each with the ends of its interval, or None."""

    name: str
    mark: str
    colour: str
    points: tuple[tuple[float, float, tuple[float, float] | None], ...]


def draw(
    curves: Sequence[Curve],
    page: Paper,
    *,
    joined: bool = True,
    height: int = HEIGHT,
    marks: Sequence[AxisMark] = (),
) -> str:
    """The chart in lines no wider than the page, its legend below the `height` lines of the drawing itself.

    `joined` where the axis is one of numbers. `marks` are named above it, with a line down to their place on the axis.
    Empty without curves.
    """
    if not curves:
        return ""
    style = ASCII if page.plain else UNICODE
    curves, more = most(curves, len(style.here), len(style.others))
    marks = placed_marks(curves, marks)
    along, up = axes(curves, marks)
    signs = {True: iter(style.here), False: iter(style.others)}
    series = [
        _Series(
            _safe_name(curve.name),
            next(signs[curve.here]),
            HERE if curve.here and page.colour else "",
            tuple(_place_point(point, along, up) for point in curve.points),
        )
        for curve in curves
    ]
    known: dict[float, Point] = {}
    for point in (point for curve in curves for point in curve.points):
        known.setdefault(point.place, point)
    labels = [(along.share(place), _safe_name(known[place].label)) for place in sorted(known)]
    rows = max(2, height - 2)
    scale = {round(up.share(mark) * (rows - 1)): tick_text(mark) for mark in up.ticks()}
    named = [(along.share(mark.place), _safe_name(mark.name)) for mark in marks]
    lines = _plot_series(series, labels, scale, (page.width - 2, rows), style, joined=joined, marks=named)
    legend = _legend(series, page.width - 2)
    return page.fit_text("\n".join(f"  {line}".rstrip() for line in [*lines, *legend, *([more] if more else [])]))


def _place_point(point: Point, along: Scale, up: Scale) -> tuple[float, float, tuple[float, float] | None]:
    ends = (up.share(point.low), up.share(point.high)) if point.bounded else None
    return along.share(point.place), up.share(point.value), ends


def _plot_series(
    series: Sequence[_Series],
    labels: Sequence[tuple[float, str]],
    scale: Mapping[int, str],
    size: tuple[int, int],
    style: _Style,
    *,
    joined: bool = True,
    marks: Sequence[tuple[float, str]] = (),
) -> list[str]:
    """The axes with what stands between them: `scale` are the texts of rows, from the lowest on."""
    width, height = size
    margin = max((len(text) for text in scale.values()), default=0) + 1
    room = max(LEAST_WIDTH, width - margin - 2)
    grid = [[" "] * room for _ in range(height)]
    for share, _ in marks:
        for row in grid:
            row[_column(share, room)] = style.mark
    for one in reversed(series):
        _draw(grid, one, style, joined=joined)
    lines = [
        f"{scale.get(row, ''):>{margin - 1}} {style.axis}{''.join(grid[row])}".rstrip()
        for row in range(height - 1, -1, -1)
    ]
    lines.append(" " * margin + style.corner + style.tick * room)
    heads = [(" " * (margin + 1) + text).rstrip() for text in _mark_names(marks, room)]
    return [*heads, *lines, (" " * (margin + 1) + label_line(labels, room)).rstrip()]


def _safe_name(text: str) -> str:
    """A name in a drawing: secrets masked, nothing in it that acts."""
    return escape_text(redact_value("", text))


def _mark_names(marks: Sequence[tuple[float, str]], room: int) -> Iterator[str]:
    """The names of marks over their lines, those that fit side by side on one line of text."""
    left = list(marks)
    while left:
        line, later, free = "", [], 0
        for share, name in left:
            start = max(0, min(_column(share, room) - len(name) // 2, room - len(name)))
            if start < free:
                later.append((share, name))
                continue
            line, free = line.ljust(start) + name, start + len(name) + 1
        yield line
        left = later


def _column(share: float, room: int) -> int:
    return round(share * (room - 3)) + 1


def _draw(grid: list[list[str]], series: _Series, style: _Style, *, joined: bool) -> None:
    height, room = len(grid), len(grid[0])

    def put(x: int, y: int, mark: str) -> None:
        grid[y][x] = f"{series.colour}{mark}\x1b[0m" if series.colour else mark

    points = sorted((_column(x, room), round(y * (height - 1))) for x, y, _ in series.points)
    for share, _, ends in series.points:
        low, high = (round(end * (height - 1)) for end in ends) if ends else (1, 0)
        for y in range(low, high + 1):
            put(_column(share, room), y, style.bar)
    for (x0, y0), (x1, y1) in pairwise(points if joined else ()):
        for x in range(x0 + 1, x1):
            y = round(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
            if grid[y][x] in (" ", style.mark):
                put(x, y, style.dot)
    for x, y in points:
        put(x, y, series.mark)


def label_line(labels: Sequence[tuple[float, str]], room: int) -> str:
    """The labels under their points; one that would run into its neighbour is left out."""
    line = [" "] * (room + max(len(label) for _, label in labels))
    free = 0
    for share, label in labels:
        start = max(0, min(_column(share, room) - len(label) // 2, room - len(label)))
        if start >= free:
            line[start : start + len(label)] = label
            free = start + len(label) + 1
    return "".join(line).rstrip()


def _legend(series: Iterable[_Series], width: int) -> list[str]:
    """The marks with the names of their series, as many on a line as fit."""
    lines = [""]
    for one in series:
        entry = f"{one.mark} {one.name}"
        if lines[-1] and len(lines[-1]) + len(entry) > width:
            lines.append("")
        lines[-1] += f"{entry}   "
    return [line.rstrip() for line in lines]


class AreaGlyphs(NamedTuple):
    """What areas are drawn with: `columns` values side by side in one character, `steps` of height in each.

    `partial` are the characters of a single column from no step to all; braille has none, as its dots are computed.
    """

    columns: int
    steps: int
    partial: str = ""


BRAILLE = AreaGlyphs(2, 4)
BLOCKS = AreaGlyphs(1, 8, " ▁▂▃▄▅▆▇█")
HALF_BLOCKS = AreaGlyphs(1, 2, " ▄█")  # all that the font of a Linux console has
ASCII_AREA = AreaGlyphs(1, 2, " .#")
EVENT_LINE = "┊"
# Dots of one braille column from the lowest up, the left column first; U+2800 is the character without dots.
_DOTS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
_NO_DOTS = 0x2800


def area_glyphs(terminal: str, encoding: str) -> AreaGlyphs:
    """What this terminal can draw areas with, by its name ($TERM) and its encoding."""
    if "utf" not in encoding.lower():
        return ASCII_AREA
    return HALF_BLOCKS if terminal == "linux" else BRAILLE


def draw_area(
    values: Sequence[float | None],
    rows: int,
    ends: tuple[float, float],
    glyphs: AreaGlyphs = BRAILLE,
    events: Iterable[int] = (),
) -> list[str]:
    """The area below a curve in lines from the top: `values` from left to right, `ends` at the bottom and the top.

    The lowest value still has one step, so that it differs from None, which is left blank. `events` are places among
    the values at which a line is drawn behind the area.
    """
    low, high = ends
    most = rows * glyphs.steps
    levels = [0 if value is None else _level(value, low, high, most) for value in values]
    levels += [0] * (-len(levels) % glyphs.columns)
    cells = [tuple(levels[at : at + glyphs.columns]) for at in range(0, len(levels), glyphs.columns)]
    marked = {place // glyphs.columns for place in events}
    line = EVENT_LINE if glyphs is not ASCII_AREA else ":"
    drawn = []
    for row in range(rows - 1, -1, -1):
        below = row * glyphs.steps
        parts = (_area_cell(tuple(max(0, min(glyphs.steps, n - below)) for n in cell), glyphs) for cell in cells)
        drawn.append("".join(line if at in marked and part == " " else part for at, part in enumerate(parts)))
    return drawn


def _level(value: float, low: float, high: float, most: int) -> int:
    if value <= low:
        return most if low >= high and value > 0 else 1
    return min(most, max(2, round(most * (value - low) / (high - low)))) if high > low else most


def _area_cell(filled: tuple[int, ...], glyphs: AreaGlyphs) -> str:
    if glyphs.partial:
        return glyphs.partial[filled[0]]
    dots = sum(sum(column[:count]) for column, count in zip(_DOTS, filled, strict=True))
    return chr(_NO_DOTS + dots) if dots else " "
