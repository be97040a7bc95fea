"""Detects template expressions: Jinja, ERB, EPP, Go, Mustache, Terraform, shell-like variables.

Some marks count in every file, as option files do not contain them. Others (`$PORT`, `@PORT@`) are ordinary text to
servers, and count only in files whose name marks them as templates.
"""

from __future__ import annotations

import re

from advisor.optionfile.lines import Line, LineKind
from advisor.optionfile.value import looks_templated

# Closing mark of a template statement, comment or expression.
CLOSED_BY = {"{{": "}}", "{%": "%}", "{#": "#}", "<%": "%>", "${": "}"}
_BLOCKS = ("{{", "{%", "{#", "<%")
# Syntax of Terraform, Octopus, Nomad, BOSH, autoconf, envsubst, sed and Windows.
_BY_NAME = (
    r"[%#]\{[^}\n]{0,500}\}|\[\[.{0,500}?\]\]|\(\([\w.-]+\)\)|@\w[\w.-]*@"
    r"|%%\w+%%|%[A-Z][A-Z0-9_]*%|__[A-Za-z]\w*?__|\$[A-Za-z_]\w*"
)
_CONTROL = r"(?:[%#]\{|\[\[|%\s*(?:if|elif|else|for|while|end\w*|def|include)\b).*"
_BLOCK_START = (
    r"(?:\{%|\{\{|<%|%\{|\[\[)[-~+=]?\s*(?:if|for|unless|range|with|case|while|block|define|macro)\b"
    r"|<%[^%]*(?:\{|\bdo\b(?:\s*\|[^|]*\|)?)\s*-?%>|\{\{[#^]"
)
_BLOCK_END = r"(?:\{%|\{\{|<%|%\{|\[\[)[-~+]?\s*(?:end\w*|\}(?!\}))|\{\{/"


class TemplateState:
    """Marks the lines of a templated file in order; tracks statements that span several lines."""

    __slots__ = ("closing_mark", "depth", "last", "named", "position")

    def __init__(self, text: str, *, named: bool = False) -> None:
        self.last = {CLOSED_BY[opening]: text.rfind(CLOSED_BY[opening]) for opening in _BLOCKS}
        self.position = 0
        self.closing_mark: str | None = None
        self.named = named
        self.depth = 0

    def mark(self, line: Line) -> Line:
        """Return the line to judge: template statements become comments, template values are marked as unknown."""
        self.position += len(line.text)
        if self.closing_mark is not None:
            if self.closing_mark in line.text:
                self.closing_mark = None
            return _mark_statement(line)
        if line.kind in (LineKind.COMMENT, LineKind.BLANK):
            return line
        self._count_depth(line.text)
        self.closing_mark = self._unclosed_mark(line.text)
        marked = _mark_named(_mark_value(line)) if self.named else _mark_value(line)
        return marked._replace(conditional=True) if self.depth else marked

    def _count_depth(self, text: str) -> None:
        if looks_templated(text) or self.named:
            depth = self.depth + len(re.findall(_BLOCK_START, text)) - len(re.findall(_BLOCK_END, text))
            self.depth = max(0, depth)

    def _unclosed_mark(self, text: str) -> str | None:
        """Return the closing mark of a statement that this line leaves open, if the file closes it."""
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


def _mark_statement(line: Line) -> Line:
    return Line(LineKind.COMMENT, line.number, line.text, templated=True)


def _mark_value(line: Line) -> Line:
    if line.kind is LineKind.OPTION:
        if looks_templated(line.name or "") or _opens_comment(line.name or "", line):
            return _mark_statement(line)
        raw = line.raw or ""
        return line._replace(templated=looks_templated(raw) or _opens_comment(raw, line))
    if line.kind is LineKind.REJECTED and looks_templated(line.text):
        return _mark_statement(line)
    return line._replace(templated=looks_templated(line.text))


def _mark_named(line: Line) -> Line:
    """Apply the marks that count only in files named as templates."""
    text = line.text.strip()
    if line.templated or not re.search(f"{_BY_NAME}|{_CONTROL}", text):
        return line
    if re.match(_CONTROL, text) or (line.kind is LineKind.OPTION and re.search(_BY_NAME, line.name or "")):
        return _mark_statement(line)
    behind = text.partition("=")[2] if line.kind is LineKind.OPTION else text
    return line._replace(templated=re.search(_BY_NAME, _cut_comment(behind)) is not None)


def _cut_comment(text: str) -> str:
    """Cut off a comment; an expression such as `#{Port}` is not one."""
    return re.split(r"#(?!\{)", text, maxsplit=1)[0]


def _opens_comment(read: str, line: Line) -> bool:
    """Whether the server would split a `{#` comment, since it reads the # as the start of its own comment."""
    return read.endswith("{") and "{#" in line.text
