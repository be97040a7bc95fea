"""Local and published curves as SVG, for reports: a drawing by itself, with no script, font or picture from outside."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

from advisor.redact import clean
from advisor.report.probechart import axis, steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.report.probepublished import Curve, Point

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, FOOT = 70, 24, 76, 60  # margins; the legend takes more below, a line a curve
LINE = 20
LETTER = 7  # pixels that a letter of a label takes
INK, FAINT, GRID = "#1f2933", "#5b6770", "#dfe4e8"
# Colours that stay apart for those who see no red or green, and each published curve a dash pattern of its own besides.
LOCALS = ("#0b6e99", "#1b3a57", "#3fa7d6", "#107e7d", "#59656f")
OTHERS = (("#b3541e", "6 4"), ("#7a5195", "2 3"), ("#4d7c0f", "9 3 2 3"), ("#6b7280", "1 4"))


class _Frame(NamedTuple):
    """Where values stand on the paper."""

    place: axis
    left: float
    right: float
    low: float
    high: float

    def x(self, value: float) -> float:
        """Pixels from the left."""
        share = (self.place(value) - self.left) / ((self.right - self.left) or 1.0)
        return LEFT + 14 + share * (WIDTH - LEFT - RIGHT - 28)

    def y(self, value: float) -> float:
        """Pixels from the top."""
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return HEIGHT - FOOT - share * (HEIGHT - TOP - FOOT)


def draw(curves: Sequence[Curve], title: str, answer: str, words: tuple[str, str], *, joined: bool = True) -> str:
    """The drawing; `words` are those beneath the x axis and above the y axis."""
    shown = [c for c in curves if c.here][: len(LOCALS)] + [c for c in curves if not c.here][: len(OTHERS)]
    frame = _frame(shown)
    height = HEIGHT + LINE * len(shown)
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    letters = f'font-family="system-ui, sans-serif" font-size="13" fill="{INK}"'
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {letters}>',
        f"<title>{_text(title)}</title><desc>{_text(answer)}</desc>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="26" font-size="16" font-weight="600">{_text(title)}</text>',
        f'<text x="{LEFT}" y="46" fill="{FAINT}">{_text(_cut(answer))}</text>',
        f'<text x="{LEFT}" y="{TOP - 8}" fill="{FAINT}" font-size="12">{_text(words[1])}</text>',
        *_grid(frame),
        *_labels(shown, frame),
        f'<text x="{middle:.0f}" y="{HEIGHT - 16}" text-anchor="middle" fill="{FAINT}">{_text(words[0])}</text>',
    ]
    styles = _styles(shown)
    for curve, style in reversed(list(zip(shown, styles, strict=True))):
        parts += _curve(curve, frame, style, joined=joined)
    for order, curve in enumerate(shown):
        parts += _legend(curve, order, styles[order])
    return "\n".join([*parts, "</svg>"]) + "\n"


def _frame(curves: Sequence[Curve]) -> _Frame:
    place = axis(curves)
    points = [p for c in curves for p in c.points]
    places = [place(p.place) for p in points]
    ends = [y for p in points for y in _reach(p)]
    low, high = min(ends), max(ends)
    low = 0.0 if low < high / 3 else low - (high - low or high) * 0.08
    return _Frame(place, min(places), max(places), low, high + (high - low or high) * 0.05)


def _reach(point: Point) -> tuple[float, ...]:
    """How far a point reaches; an interval without an end isn't drawn."""
    wide = not math.isfinite(point.high) or point.high > point.value * 3
    return (point.value,) if wide else (point.low, point.value, point.high)


def _grid(frame: _Frame) -> Iterator[str]:
    for tick in steps(frame.low, frame.high):
        y = frame.y(tick)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="{FAINT}">{tick:.3g}</text>'


def _labels(curves: Sequence[Curve], frame: _Frame) -> Iterator[str]:
    """The points' labels as far as they fit side by side."""
    labels = {p.place: p.label for c in reversed(curves) for p in c.points}
    free = 0.0
    for value in sorted(labels):
        x, half = frame.x(value), len(labels[value]) * LETTER / 2
        if x - half < free:
            continue
        free = x + half + LETTER
        y = HEIGHT - FOOT
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y}" y2="{y + 5}" stroke="{FAINT}"/>'
        yield f'<text x="{x:.1f}" y="{y + 20}" text-anchor="middle" fill="{FAINT}">{_text(labels[value])}</text>'


def _curve(curve: Curve, frame: _Frame, style: tuple[str, str], *, joined: bool) -> Iterator[str]:
    colour, dash = style
    points = sorted(curve.points, key=lambda p: p.place)
    if joined:
        path = " ".join(f"{frame.x(p.place):.1f},{frame.y(p.value):.1f}" for p in points)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
    for p in points:
        x, y = frame.x(p.place), frame.y(p.value)
        if len(_reach(p)) > 1 and p.low < p.high:
            low, high = frame.y(p.low), frame.y(p.high)
            bar = f"M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8M{x:.1f} {low:.1f}V{high:.1f}"
            yield f'<path d="{bar}" stroke="{colour}" stroke-width="1.5" fill="none"/>'
        fill = colour if curve.here else "#ffffff"
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'


def _legend(curve: Curve, order: int, style: tuple[str, str]) -> Iterator[str]:
    colour, dash = style
    y = HEIGHT + LINE * order
    fill = colour if curve.here else "#ffffff"
    yield f'<line x1="{LEFT}" x2="{LEFT + 32}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2"{dash}/>'
    yield f'<circle cx="{LEFT + 16}" cy="{y - 4}" r="4" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'
    yield f'<text x="{LEFT + 42}" y="{y}">{_text(curve.name)}</text>'


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
    return escape(clean(text))
