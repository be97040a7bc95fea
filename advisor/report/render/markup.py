"""HTML as a type of its own, into which text comes masked and escaped; the frame of a page, and bars with a legend."""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from html import escape

from advisor import __version__
from advisor.redaction import escape_text
from advisor.report.document import shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from advisor.report.document import StackedBar


LONGEST = 2_000  # characters of one text
EMPTY = frozenset({"meta", "link", "input"})  # elements that have no end
# Those that end a line of the file, for who reads it without a browser; no browser shows a space there.
BLOCKS = frozenset(
    {"head", "meta", "link", "title", "style", "header", "footer", "section", "h1", "h2", "h3", "h4", "p", "ul", "ol"}
    | {"nav", "li", "dl", "div", "details", "summary", "figure", "article", "table", "tr", "fieldset", "script"}
)


class Html(str):
    """Markup that may be printed as it stands."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str | bool | None) -> Html:
    """An element; a child that is no Html is text of any origin. `class_` is class, `data_code` is data-code.

    An attribute of None or False is left out, one of True has no value.
    """
    opening = f"<{name}{''.join(_attribute(*pair) for pair in attributes.items())}>"
    end = "\n" if name in BLOCKS else ""
    return Html(f"{opening}{end}" if name in EMPTY else f"{opening}{joined(children)}</{name}>{end}")


def joined(parts: Iterable[str], between: str = "") -> Html:
    """The parts as one piece of markup; what is no Html among them is text."""
    return Html(between.join(part if isinstance(part, Html) else text(part) for part in parts))


def text(words: str, longest: int = LONGEST) -> Html:
    """Words of any origin: secrets masked, on one line, nothing in them that acts, no longer than a page bears."""
    return Html(escape(escape_text(shortened(words, longest))))


def listed(name: str, items: Iterable[str], /, **attributes: str | bool | None) -> Html:
    """A list, `name` being ul or ol; nothing where it has no items."""
    rows = [tag("li", item) for item in items]
    return tag(name, *rows, **attributes) if rows else Html("")


def _attribute(name: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    plain = name.rstrip("_").replace("_", "-")
    return f" {plain}" if value is True else f' {plain}="{text(value)}"'


FOLDER = os.path.dirname(os.path.abspath(__file__))
THEMES = (("", "system"), ("light", "light"), ("dark", "dark"))


def document(title: str, head: Sequence[str], parts: Sequence[str], foot: str) -> str:
    """The whole page; `head` is what stands beside the title, `parts` are sections, `foot` the last line."""
    style, script = _asset("page.css"), _asset("page.js")
    about = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=Html(_policy(style, script))),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=f"mycnf {__version__}"),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("style", style),
    )
    body = tag(
        "body",
        tag("a", "Skip to the content", class_="skip", href="#content"),
        tag("header", _theme(), tag("h1", title), *head),
        tag("main", *parts, id="content", tabindex="-1"),
        tag("footer", tag("p", foot)),
        tag("script", script),
    )
    return f"<!doctype html>\n{tag('html', about, body, lang='en')}\n"


def _policy(style: str, script: str) -> str:
    """Nothing may be fetched, sent or framed; of styles and scripts, these two alone are in force."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


@cache
def _asset(name: str) -> Html:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return Html(file.read())


def _theme() -> Html:
    """The switch of colours, which the script shows."""
    options = [tag("option", words, value=value) for value, words in THEMES]
    return tag("div", tag("label", "Colours ", tag("select", *options, id="theme")), class_="theme", hidden=True)


WIDTH, TOP, THICK, FOOT = 400, 4, 26, 20
BEYOND = 1.3  # times the limit, or the amounts without the last one: what exceeds it is cut off, with a remark
KINDS = 4  # looks of amounts


def draw(bar: StackedBar) -> Html:
    """The bar with its legend; the drawing is for the eye alone, as the legend has every number."""
    reach = _reach(bar)
    drawn, at = [], 0.0
    for order, (_, size, _) in enumerate(bar.parts):
        width = max(1.0, size / reach * WIDTH)
        drawn.append(_rect(at, min(width, max(0.0, WIDTH - at)), order))
        at += width
    cut = at > WIDTH + 1
    box = f"0 0 {WIDTH} {TOP + THICK + FOOT}"
    marks = (*(_limit(bar.limit, reach) if bar.limit else ()), *(_cut() if cut else ()))
    svg = tag("svg", *drawn, *marks, viewBox=box, role="img", aria_label=_words(bar, cut=cut))
    legend = (_entry(name, written, order) for order, (name, _, written) in enumerate(bar.parts))
    note = [tag("p", "The last amount is cut off: it does not fit the drawing.", class_="fine-print")] if cut else []
    return tag("figure", svg, tag("ul", *legend, class_="legend"), *note, class_="bar")


def _reach(bar: StackedBar) -> float:
    """The amount at the right edge: the limit or the amounts but the last, if that one dwarfs them, with some room."""
    sizes = [size for _, size, _ in bar.parts]
    usual = max(bar.limit[0] if bar.limit else 0, sum(sizes[:-1]) if len(sizes) > 1 else 0)
    whole = max(sum(sizes), bar.limit[0] if bar.limit else 0)
    return float(min(whole, usual * BEYOND) if usual else whole) or 1.0


def _words(bar: StackedBar, *, cut: bool) -> str:
    amounts = ", ".join(f"{name} {written}" for name, _, written in bar.parts)
    limit = f"; limit: {bar.limit[1]}" if bar.limit else ""
    return f"{bar.caption}: {amounts}{limit}{' (the bar is cut off)' if cut else ''}"


def _rect(x: float, width: float, order: int) -> Html:
    kind = f"part-{min(order, KINDS - 1)}"
    return tag("rect", x=f"{x:.1f}", y=str(TOP), width=f"{width:.1f}", height=str(THICK), class_=kind)


def _limit(limit: tuple[int, str], reach: float) -> Iterator[Html]:
    x = limit[0] / reach * WIDTH
    side = "end" if x > WIDTH / 2 else "start"
    yield tag("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1="0", y2=str(TOP + THICK + 4), class_="limit")
    yield tag("text", limit[1], x=f"{x:.1f}", y=str(TOP + THICK + FOOT - 4), class_=side)


def _cut() -> Iterator[Html]:
    y = TOP + THICK / 2
    yield tag("path", d=f"M{WIDTH - 14} {y - 6}l8 6l-8 6", class_="cut")


def _entry(name: str, written: str, order: int) -> Html:
    kind = f"swatch part-{min(order, KINDS - 1)}"
    return tag("li", tag("span", class_=kind, aria_hidden="true"), f" {name} ", tag("strong", written))
