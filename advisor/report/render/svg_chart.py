"""Local and published curves as SVG, for reports: standalone, with no script, font or picture from outside."""

from __future__ import annotations

from xml.sax.saxutils import escape

from advisor.core import NamedTuple
from advisor.redaction import escape_text, redact_value
from advisor.report import wrap
from advisor.report.render.curves import Scale, axes, most, placed_marks, tick_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.report.document import Chart
    from advisor.report.render.curves import AxisMark, Curve

WIDTH, HEIGHT, LOW = 760, 420, 260  # LOW is the height of a drawing over time
LEFT, RIGHT, TOP, FOOT = 70, 24, 76, 60  # margins; the legend takes more below, a line a curve
LINE = 20
LETTER = 7  # pixels that a letter of a label takes
SMALL_LETTER = 6.2  # pixels that a letter of the caption takes
LINE_OF_CAPTION = 14
INK, FAINT, GRID = "#1f2933", "#5b6770", "#dfe4e8"
# No curve is distinguished by its colour alone: local ones differ in their marks too, published ones in their dashes.
LOCALS = ("#0b6e99", "#c2185b", "#2e7d32", "#14213d", "#b7791f")
SHAPES: tuple[tuple[tuple[int, int], ...], ...] = (
    (),  # a circle
    ((-4, -4), (4, -4), (4, 4), (-4, 4)),
    ((0, -5), (5, 4), (-5, 4)),
    ((0, -6), (5, 0), (0, 6), (-5, 0)),
    ((-5, -4), (5, -4), (0, 5)),
)
OTHERS = (("#b3541e", "6 4"), ("#7a5195", "2 3"), ("#4d7c0f", "9 3 2 3"), ("#6b7280", "1 4"))


class _Frame(NamedTuple):
    """Where values stand on the paper; `height` is that of the drawing without its legend."""

    along: Scale
    up: Scale
    height: int

    def x(self, value: float) -> float:
        """Pixels from the left."""
        return LEFT + 14 + self.along.share(value) * (WIDTH - LEFT - RIGHT - 28)

    def y(self, value: float) -> float:
        """Pixels from the top."""
        return self.height - FOOT - self.up.share(value) * (self.height - TOP - FOOT)


def draw(chart: Chart) -> str:
    """The drawing: title and answer, the caption above the y axis, the name of the x axis beneath it, and a legend."""
    shown, more = most(chart.curves, len(LOCALS), len(OTHERS))
    marks = placed_marks(shown, chart.marks)
    frame = _over_time(shown) if chart.over_time else _frame(shown, marks)
    title = _text(chart.title or chart.caption)
    scale = _wrap_text(" · ".join(part for part in (chart.caption, _start(frame.up)) if part))
    up = LINE_OF_CAPTION * (len(scale) - 1) // 2  # two lines of the caption take their room from title and answer
    foot = frame.height
    height = foot + LINE * (len(shown) + bool(more))
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    letters = f'font-family="system-ui, sans-serif" font-size="13" fill="{INK}"'
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {letters}>',
        f"<title>{title}</title><desc>{_text(chart.answer)}</desc>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="{26 - up}" font-size="16" font-weight="600">{title}</text>',
        f'<text x="{LEFT}" y="{46 - up}" fill="{FAINT}">{_text(_cut(chart.answer))}</text>',
        *_caption(scale),
        *_grid(frame),
        *_labels(shown, frame),
        *_marks(marks, frame),
        f'<text x="{middle:.0f}" y="{foot - 16}" text-anchor="middle" fill="{FAINT}">{_text(chart.axis)}</text>',
    ]
    styles = _styles(shown)
    for curve, style in reversed(list(zip(shown, styles, strict=True))):
        parts += _curve(curve, frame, style, joined=chart.joined)
    for order, curve in enumerate(shown):
        parts += _legend(curve, foot + LINE * order, styles[order])
    if more:
        parts.append(f'<text x="{LEFT}" y="{foot + LINE * len(shown)}" fill="{FAINT}">{_text(more)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _caption(lines: Sequence[str]) -> Iterator[str]:
    """What the numbers are, above the axis; the last line stands next to it."""
    for place, line in enumerate(reversed(lines)):
        y = TOP - 8 - LINE_OF_CAPTION * place
        yield f'<text x="{LEFT}" y="{y}" fill="{FAINT}" font-size="12">{_text(line)}</text>'


def _wrap_text(text: str) -> list[str]:
    """The text on one line or two, each as wide as the drawing; what exceeds them is cut."""
    most = int((WIDTH - LEFT - RIGHT) / SMALL_LETTER)
    first, _, rest = wrap(text, width=most).partition("\n")
    rest = rest.replace("\n", " ")
    return [first, rest if len(rest) <= most else f"{rest[: most - 1].rstrip()}…"] if rest else [first]


def _frame(curves: Sequence[Curve], marks: Sequence[AxisMark]) -> _Frame:
    """The axes, the upright one with some room at its ends for names of marks, and from zero where that is near."""
    along, up = axes(curves, marks)
    if up.logarithmic:
        return _Frame(along, up._replace(low=up.low / 1.2, high=up.high * (1.8 if marks else 1.2)), HEIGHT)
    room = up.high - up.low or up.high
    low = 0.0 if 0 <= up.low < up.high / 3 else up.low - room * 0.08
    return _Frame(along, up._replace(low=low, high=up.high + room * (0.15 if marks else 0.05)), HEIGHT)


def _over_time(curves: Sequence[Curve]) -> _Frame:
    """The axes of a drawing over time, whose numbers begin at zero."""
    along, up = axes(curves)
    return _Frame(along, Scale(0.0, up.high * 1.05 or 1.0, logarithmic=False), LOW)


def _start(up: Scale) -> str:
    """What a reader would take wrongly: an axis that does not start at zero, or is logarithmic."""
    if up.logarithmic:
        return "logarithmic axis"
    return f"the axis starts at {tick_text(up.low)}, not at 0" if up.low else ""


def _grid(frame: _Frame) -> Iterator[str]:
    for tick in frame.up.ticks():
        y = frame.y(tick)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="{FAINT}">{tick_text(tick)}</text>'


def _labels(curves: Sequence[Curve], frame: _Frame) -> Iterator[str]:
    """The points' labels as far as they fit side by side."""
    labels = {p.place: p.label for c in reversed(curves) for p in c.points}
    free = 0.0
    for value in sorted(labels):
        x, half = frame.x(value), len(labels[value]) * LETTER / 2
        if x - half < free:
            continue
        free = x + half + LETTER
        y = frame.height - FOOT
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y}" y2="{y + 5}" stroke="{FAINT}"/>'
        yield f'<text x="{x:.1f}" y="{y + 20}" text-anchor="middle" fill="{FAINT}">{_text(labels[value])}</text>'


def _marks(marks: Sequence[AxisMark], frame: _Frame) -> Iterator[str]:
    """A broken line for each value, its name beside the upper end; names that would touch stand below each other."""
    ends: list[float] = []
    for mark in marks:
        x, width = frame.x(mark.place), len(mark.name) * LETTER
        right = x + width + LETTER > WIDTH - RIGHT
        begin = x - width - LETTER if right else x
        row = next((row for row, end in enumerate(ends) if end < begin), len(ends))
        ends[row : row + 1] = [x if right else x + width + LETTER]
        line = f'x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{frame.height - FOOT}" stroke="{INK}" stroke-dasharray="2 4"'
        yield f"<line {line}/>"
        place = f'x="{x - 5 if right else x + 5:.1f}" y="{TOP + 12 + row * 15}"'
        yield f'<text {place} text-anchor="{"end" if right else "start"}" font-weight="600">{_text(mark.name)}</text>'


def _curve(curve: Curve, frame: _Frame, style: tuple[str, str], *, joined: bool) -> Iterator[str]:
    colour, dash = style
    points = sorted(curve.points, key=lambda p: p.place)
    if joined:
        path = " ".join(f"{frame.x(p.place):.1f},{frame.y(p.value):.1f}" for p in points)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
    for p in points:
        x, y = frame.x(p.place), frame.y(p.value)
        if p.bounded:
            low, high = frame.y(p.low), frame.y(p.high)
            bar = f"M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8M{x:.1f} {low:.1f}V{high:.1f}"
            yield f'<path d="{bar}" stroke="{colour}" stroke-width="1.5" fill="none"/>'
        yield _mark(x, y, curve, style)


def _legend(curve: Curve, y: int, style: tuple[str, str]) -> Iterator[str]:
    colour, dash = style
    yield f'<line x1="{LEFT}" x2="{LEFT + 32}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2"{dash}/>'
    yield _mark(LEFT + 16, y - 4, curve, style)
    yield f'<text x="{LEFT + 42}" y="{y}">{_text(curve.name)}</text>'


def _mark(x: float, y: float, curve: Curve, style: tuple[str, str]) -> str:
    """A point: hollow where it was published, and of a shape of its own for each local curve."""
    colour = style[0]
    ink = f'fill="{colour if curve.here else "#ffffff"}" stroke="{colour}" stroke-width="1.5"'
    corners = SHAPES[LOCALS.index(colour)] if curve.here else ()
    if not corners:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {ink}/>'
    points = " ".join(f"{x + right:.1f},{y + down:.1f}" for right, down in corners)
    return f'<polygon points="{points}" {ink}/>'


def _styles(curves: Sequence[Curve]) -> list[tuple[str, str]]:
    """Colour and dashes of each curve: local ones are whole lines, published ones broken."""
    local, others = iter(LOCALS), iter(OTHERS)
    styles = []
    for curve in curves:
        colour, dash = (next(local), "") if curve.here else next(others)
        styles.append((colour, f' stroke-dasharray="{dash}"' if dash else ""))
    return styles


def _cut(text: str) -> str:
    most = (WIDTH - LEFT - RIGHT) // LETTER
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _text(text: str) -> str:
    return escape(escape_text(redact_value("", text)))
