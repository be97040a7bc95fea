"""Markup as a type of its own: whatever is no Html yet is masked, made harmless and escaped on its way into it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from advisor.redaction.secrets import escape_text, redact_value
from advisor.report.document import Own

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    if isinstance(words, Own):
        return Html(escape(escape_text(words)))
    masked = escape_text(redact_value("", words))
    return Html(escape(masked if len(masked) <= longest else f"{masked[: longest - 1]}…"))


def listed(name: str, items: Iterable[str], /, **attributes: str | bool | None) -> Html:
    """A list, `name` being ul or ol; nothing where it has no items."""
    rows = [tag("li", item) for item in items]
    return tag(name, *rows, **attributes) if rows else Html("")


def _attribute(name: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    plain = name.rstrip("_").replace("_", "-")
    return f" {plain}" if value is True else f' {plain}="{text(value)}"'
