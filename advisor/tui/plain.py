"""Text of servers, files and users on its way to the screen: no markup, no control characters, of bounded length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from advisor.redaction.secrets import clean

if TYPE_CHECKING:
    from textual.widgets import Static

LONGEST = 4_000  # characters of one value on the screen; the whole can be copied
LINE = 200
MUTED = "dim"  # $text-muted is a colour for style sheets alone: in a Content it comes out brighter than plain text


def plain(text: str, style: str = "") -> Content:
    """Text of any origin as it may be shown, several lines where it has them; brackets stay brackets."""
    lines = [clean(line) for line in text[:LONGEST].split("\n")]
    if len(text) > LONGEST:
        lines.append(f"… {len(text) - LONGEST:,} more characters")
    return Content.styled("\n".join(lines), style) if style else Content("\n".join(lines))


def line(text: str, style: str = "", longest: int = LINE) -> Content:
    """The same on one line, cut with a sign of it."""
    shown = clean(text[: longest + 1])
    return plain(shown[: longest - 1] + "…" if len(shown) > longest else shown, style)


def fold(text: str, width: int, margin: str) -> str:
    """The text, what is longer than `width` cut there and gone on behind a margin: a path has no blanks to wrap at."""
    lines = []
    for long in text.split("\n"):
        rest = long
        while len(rest) > width > len(margin):
            lines.append(rest[:width])
            rest = margin + rest[width:]
        lines.append(rest)
    return "\n".join(lines)


def put(text: Static, words: Content, *, layout: bool = False) -> None:
    """Change a text where it differs; its size may change with `layout`, which lays out the whole screen anew."""
    if text.content != words:
        text.update(words, layout=layout)
