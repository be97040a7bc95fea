"""Tell what a template engine has yet to fill in: Jinja, ERB, EPP, Go and compose variables."""

from __future__ import annotations

from advisor.optionfile.lines import Kind, Line
from advisor.optionfile.value import looks_templated

# How an engine's statement, comment or expression ends.
CLOSED_BY = {"{{": "}}", "{%": "%}", "{#": "#}", "<%": "%>", "${": "}"}
_BLOCKS = ("{{", "{%", "{#", "<%")


class Template:
    """Goes along the lines of a templated file, and remembers a statement that spans several of them."""

    __slots__ = ("awaited", "last", "position")

    def __init__(self, text: str) -> None:
        self.last = {CLOSED_BY[opening]: text.rfind(CLOSED_BY[opening]) for opening in _BLOCKS}
        self.position = 0
        self.awaited: str | None = None

    def mark(self, line: Line) -> Line:
        """The line to judge: the engine's own statements are comments, its values are unknown."""
        self.position += len(line.text)
        if self.awaited is not None:
            if self.awaited in line.text:
                self.awaited = None
            return _statement(line)
        if line.kind in (Kind.COMMENT, Kind.BLANK):
            return line
        self.awaited = self._left_open(line.text)
        return _marked(line)

    def _left_open(self, text: str) -> str | None:
        """What ends the statement that this line leaves open, if the file ends it at all."""
        at = 0
        while True:
            found = [(text.find(opening, at), opening) for opening in _BLOCKS]
            begin, opening = min(((i, o) for i, o in found if i >= 0), default=(-1, ""))
            if begin < 0:
                return None
            closing = CLOSED_BY[opening]
            end = text.find(closing, begin + 2)
            if end < 0:
                return closing if self.last[closing] >= self.position else None
            at = end + 2


def _statement(line: Line) -> Line:
    return Line(Kind.COMMENT, line.number, line.text, templated=True)


def _marked(line: Line) -> Line:
    if line.kind is Kind.OPTION:
        if looks_templated(line.name or "") or _opens_comment(line.name or "", line):
            return _statement(line)
        raw = line.raw or ""
        return line._replace(templated=looks_templated(raw) or _opens_comment(raw, line))
    if line.kind is Kind.REJECTED and looks_templated(line.text):
        return _statement(line)
    return line._replace(templated=looks_templated(line.text))


def _opens_comment(read: str, line: Line) -> bool:
    """Whether the server's reader would cut a `{#` comment in two, for it takes the # for its own."""
    return read.endswith("{") and "{#" in line.text
