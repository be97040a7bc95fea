"""Write docs/pictures/tour.svg: a tour of the terminal app, recorded from the demo, as an animated SVG without script.

Each key of the tour is pressed in the app, and the screen that follows is recorded as soon as it is complete. Rows that
occur in several screens are stored once. For readers who want no motion it shows the first screen.

usage: python tools/recording.py
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, TypeVar
from xml.sax.saxutils import escape, unescape

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

from app_driver import driven, screen_rows, screen_text, until
from app_pictures import settle
from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
from rich.terminal_theme import DIMMED_MONOKAI

PATH = os.path.join(TOP, "docs", "pictures", "tour.svg")
SIZE = (120, 40)
CELL, ROW, BASELINE = 8.4, 18.0, 13.5  # width, height and baseline of a character in pixels
MARGIN, HEAD, FOOT = 12, 34, 40
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
DOTS = ("#ff5f57", "#febc2e", "#28c840")
FRAME, PAPER, INK, FAINT = "#292929", "#121212", "#e0e0e0", "#a0a0a0"


T = TypeVar("T")


class Step(NamedTuple):
    """A step of the tour: the keys to press, their name, what they do, a text of the complete screen, and seconds."""

    keys: tuple[str, ...]
    name: str
    caption: str
    complete: str
    seconds: float = 3.5


STEPS = (
    Step((), "mycnf audit --demo", "what the server is, what is wrong, how it runs", "disk utilisation", 5.0),
    Step(("enter",), "enter", "the finding to correct first", "─ SEC003 ─"),
    Step(
        ("down", "down", "down"),
        "↓",
        "why, how sure, what to run now, what to keep, how to undo",
        "─ DUR002 ─",
        5.0,
    ),
    Step(("l",), "l", "its line in the option file", "sync_binlog = 0"),
    Step(("backspace",), "backspace", "back", "─ DUR002 ─", 1.5),
    Step(("t",), "t", "copies a ticket of this finding", "─ DUR002 ─"),
    Step(("space", "space"), "space", "selects findings", "+"),
    Step(("c",), "c", "the change set: the statements to review and to run", "SET GLOBAL"),
    Step(("b",), "b", "the statements that undo them", "rollback.sql"),
    Step(("d",), "d", "the change of the option file, as a patch", "options.diff"),
    Step(("3", "home"), "3", "the workload: five minutes with an incident in them", "each column is the mean", 5.0),
    Step(("2", "home"), "2", "variables that differ from their defaults, and who set them", "differs from the default"),
    Step(("4", "home"), "4", "the host: memory, storage stack, limits", "─ Storage ─"),
    Step(("6", "home"), "6", "probes, which measure on your own host", "How long does a commit wait"),
    Step(("7", "home"), "7", "the report, with every secret masked", "characters"),
)


class Screen(NamedTuple):
    """A screen of the tour: its step, the texts of each row with their styles, and all text without blanks."""

    step: Step
    rows: list[list[Segment]]
    text: str


async def record(kept: Sequence[str] = ()) -> list[Screen]:
    """Press the keys of each step; a screen is complete as soon as it is the one that is kept."""
    screens = []
    async with driven(size=SIZE, place="overview") as (app, pilot):
        await until(pilot, lambda: bool(app.query("#foot > *")))  # it is drawn last
        for place, step in enumerate(STEPS):
            await pilot.press(*step.keys)
            expected = kept[place] if place < len(kept) else None
            text = await settle(pilot, lambda: without_blanks(screen_text(app)), step.complete, expected)
            screens.append(Screen(step, screen_rows(app), text))
    return screens


def without_blanks(text: str) -> str:
    """The text without blanks, which a drawing keeps as distances."""
    return "".join(text.split())


def draw(screens: Iterable[Screen]) -> str:
    """The animated SVG of these screens."""
    drawn = _Drawing()
    strips = [drawn.screen(screen) for screen in screens]
    seconds = [step.seconds for step in STEPS]
    width = SIZE[0] * CELL + 2 * MARGIN
    height = SIZE[1] * ROW + HEAD + FOOT
    size = f'width="{width:g}" height="{height:g}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" {size}>',
            "<title>A tour of the terminal app of mycnf</title>",
            "<style>",
            f"text{{font:14px {FONTS};fill:{INK};white-space:pre}}",
            ".b{font-weight:700}.i{font-style:italic}.u{text-decoration:underline}",
            *drawn.colours(),
            *_motion(seconds, height),
            "</style>",
            "<defs>",
            *drawn.rows(),
            "</defs>",
            f'<rect {size} rx="8" fill="{FRAME}"/>',
            f'<svg {size}><g class="tour">',
            *(f'<g transform="translate(0 {place * height:g})">{strip}</g>' for place, strip in enumerate(strips)),
            "</g></svg>",
            "</svg>",
            "",
        )
    )


def _motion(seconds: Sequence[float], height: float) -> Iterator[str]:
    """The style that shows one screen after the other."""
    total, passed = sum(seconds), 0.0
    yield "@keyframes tour{"
    for place, each in enumerate(seconds):
        yield f"{100 * passed / total:.3f}%{{transform:translateY({-place * height:g}px)}}"
        passed += each
    yield "}"
    yield f".tour{{animation:tour {total:g}s step-end infinite}}"
    yield "@media(prefers-reduced-motion:reduce){.tour{animation:none}}"


class _Drawing:
    """Rows and colours that were drawn, each once."""

    def __init__(self) -> None:
        self._rows: dict[str, str] = {}
        self._colours: dict[str, str] = {}

    def screen(self, screen: Screen) -> str:
        """A frame: its title, its rows, and the key that was pressed."""
        rows = "".join(
            f'<use href="#{id_}" y="{HEAD + place * ROW + BASELINE:g}"/>'
            for place, row in enumerate(screen.rows)
            if (id_ := self._row(row))
        )
        width, height = SIZE[0] * CELL, SIZE[1] * ROW
        paper = f'<rect x="{MARGIN}" y="{HEAD}" width="{width:g}" height="{height:g}" fill="{PAPER}"/>'
        return _title() + paper + f'<g transform="translate({MARGIN} 0)">{rows}</g>' + _caption(screen.step)

    def rows(self) -> Iterator[str]:
        """The definitions of all rows."""
        return (f'<g id="{id_}">{content}</g>' for content, id_ in self._rows.items())

    def colours(self) -> Iterator[str]:
        """The style of each colour."""
        return (f".{name}{{fill:{colour}}}" for colour, name in self._colours.items())

    def _row(self, segments: list[Segment]) -> str:
        """The id of a row; empty for an empty one."""
        shown = [segment for segment in segments if not segment.control]
        grounds = "".join(self._ground(*run) for run in _runs(shown, _ground_of) if run[2] != PAPER)
        texts = "".join(self._text(*run) for run in _runs(shown, _look) if run[1].strip())
        content = grounds + texts
        return self._rows.setdefault(content, f"r{len(self._rows)}") if content else ""

    def _ground(self, column: int, text: str, colour: str) -> str:
        width = cell_len(text) * CELL + 0.3
        place = f'x="{column * CELL:.4g}" y="-{BASELINE:g}" width="{width:.4g}" height="{ROW + 0.3:g}"'
        return f'<rect {place} class="{self._colour(colour)}"/>'

    def _text(self, column: int, text: str, look: tuple[str, str, str]) -> str:
        """A text without the blanks around it, at its place and with its width."""
        ink, _, attributes = look
        first = column + len(text) - len(text.lstrip())
        width = cell_len(text.strip()) * CELL
        classes = " ".join(filter(None, ("" if ink == INK else self._colour(ink), attributes)))
        place = f'x="{first * CELL:.4g}" textLength="{width:.4g}"' + (f' class="{classes}"' if classes else "")
        return f"<text {place}>{escape(text.strip())}</text>"

    def _colour(self, colour: str) -> str:
        return self._colours.setdefault(colour, f"c{len(self._colours)}")


def _runs(segments: Iterable[Segment], key: Callable[[Segment], T]) -> Iterator[tuple[int, str, T]]:
    """Neighbours with the same key as one text: its column, the text, the key."""
    column = 0
    for same, run in groupby(segments, key):
        text = "".join(segment.text for segment in run)
        yield column, text, same
        column += cell_len(text)


def _look(segment: Segment) -> tuple[str, str, str]:
    """Colour of the text, colour below it, and the classes of bold, italic and underlined text."""
    style = segment.style
    if style is None:
        return INK, PAPER, ""
    ink, ground = _hexadecimal(style.color, INK), _hexadecimal(style.bgcolor, PAPER)
    if style.reverse:
        ink, ground = ground, ink
    if style.dim:
        ink = _between(ink, ground)
    marks = " ".join(name for name, on in (("b", style.bold), ("i", style.italic), ("u", style.underline)) if on)
    return ink, ground, marks


def _ground_of(segment: Segment) -> str:
    return _look(segment)[1]


def _hexadecimal(colour: Color | None, default: str) -> str:
    if colour is None or colour.is_default:
        return default
    return colour.get_truecolor(DIMMED_MONOKAI).hex


def _between(ink: str, ground: str) -> str:
    """The colour half-way between two."""
    pairs = zip(bytes.fromhex(ink[1:]), bytes.fromhex(ground[1:]), strict=True)
    return "#" + bytes((a + b) // 2 for a, b in pairs).hex()


def _title() -> str:
    dots = (f'<circle cx="{20 + 18 * place}" cy="17" r="5.5" fill="{dot}"/>' for place, dot in enumerate(DOTS))
    return f'{"".join(dots)}<text x="50%" y="22" text-anchor="middle" style="fill:{FAINT}">mycnf audit --demo</text>'


def _caption(step: Step) -> str:
    """The key in a box, and what it does."""
    y = HEAD + SIZE[1] * ROW + 25
    width = (len(step.name) + 2) * CELL
    box = f'<rect x="{MARGIN}" y="{y - 16:g}" width="{width:g}" height="23" rx="4" fill="#4a4a4a"/>'
    key = f'<text x="{MARGIN + CELL:g}" y="{y:g}" style="fill:#fff" class="b">{escape(step.name)}</text>'
    return f'{box}{key}<text x="{MARGIN + width + 12:g}" y="{y:g}">{escape(step.caption)}</text>'


def screen_texts(svg: str) -> list[str]:
    """The text of each screen of a recording, without blanks."""
    rows = dict(re.findall(r'<g id="(r\d+)">(.*?)</g>', svg))
    frames = re.findall(rf'<g transform="translate\({MARGIN} 0\)">(.*?)</g>', svg)
    found = (re.findall(r'href="#(r\d+)"', frame) for frame in frames)
    return [without_blanks(unescape("".join(_words(rows[id_]) for id_ in ids))) for ids in found]


def _words(row: str) -> str:
    return "".join(re.findall(r"<text[^>]*>(.*?)</text>", row))


def main() -> int:
    """Record the tour."""
    with tempfile.TemporaryDirectory() as own:
        os.environ |= {"XDG_STATE_HOME": own, "XDG_CONFIG_HOME": own, "TZ": "UTC"}
        svg = draw(asyncio.run(record()))
    with open(PATH, "w", encoding="utf-8") as file:
        file.write(svg)
    print(f"wrote docs/pictures/tour.svg, {len(svg.encode()) // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
