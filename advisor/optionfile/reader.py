"""Parses the lines of an option file as the servers do, renders them again, and detects template expressions."""

from __future__ import annotations

from advisor.optionfile.lines import (
    NEWEST_DIALECT,
    Line,
    LineKind,
    OptionFile,
    comment_start,
    is_template,
    looks_templated,
    unquote,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.optionfile.lines import Dialect


# Space characters of servers: from the latin1 table in any encoding of the file, so the byte A0 is one.
SPACE = " \t\n\v\f\r\xa0"
ASCII_SPACE = " \t\n\v\f\r"
_SPACES = frozenset(SPACE)
_INCLUDES = (LineKind.INCLUDE, LineKind.INCLUDEDIR)
BYTE_ORDER_MARK = "\ufeff"
LINE_BYTES = 4094
_ALWAYS_SHORT = LINE_BYTES // 4  # code points of at most four bytes each


def parse(data: bytes, path: str, dialect: Dialect = NEWEST_DIALECT) -> OptionFile:
    """Parse the bytes of an option file; invalid lines do not raise, they have the kind REJECTED.

    Bytes that are not UTF-8 become lone surrogates, so that `render` restores them.
    """
    text = data.decode("utf-8", "surrogateescape")
    named = is_template(path)
    template = _template(text, named=named) if named or looks_templated(text) else None
    lines: list[Line] = []
    group: str | None = None
    for number, offset, piece in _physical_lines(text, dialect):
        line = _read_line(piece, number, group)
        if number == 1 and not offset and text.startswith(BYTE_ORDER_MARK):
            line = _skip_byte_order_mark(line, piece)
            group = line.name
        if template is not None:
            line = template.mark(line)
        if line.kind is LineKind.GROUP:
            group = line.name
        if line.kind in _INCLUDES:
            line = _drop_comment(line) if dialect.lenient_includes else _drop_last_byte(line)
        lines.append(_shift_columns(line, offset) if offset else line)
    return OptionFile(path, tuple(lines))


def _template(text: str, *, named: bool) -> TemplateState:
    return TemplateState(text, named=named)


def render(file: OptionFile) -> bytes:
    """Return the original bytes of the file."""
    return b"".join([line.text.encode("utf-8", "surrogateescape") for line in file.lines])


def _skip_byte_order_mark(line: Line, text: str) -> Line:
    """Parse the first line after a byte order mark; a group header there still names the intended group."""
    behind = _read_line(text[1:] or "\n", 1, None)
    why = (
        "The file begins with a byte order mark, which servers read as an option before any group; save the file "
        "without it."
    )
    group = behind.name if behind.kind is LineKind.GROUP else None
    return Line(LineKind.REJECTED, 1, text, None, group, value=why, end_column=line.end_column)


def _physical_lines(text: str, dialect: Dialect) -> Iterator[tuple[int, int, str]]:
    """Yield each line as servers split it: line number, code points before it in the physical line, text."""
    physical = text.split("\n")
    last = len(physical)
    for number, line in enumerate(physical, 1):
        whole = f"{line}\n" if number < last else line
        if len(whole) <= _ALWAYS_SHORT or dialect.whole_lines:
            if whole:
                yield number, 0, whole
        else:
            yield from _cut_line(number, whole)


def _cut_line(number: int, whole: str) -> Iterator[tuple[int, int, str]]:
    data = whole.encode("utf-8", "surrogateescape")
    for start in range(0, len(data), LINE_BYTES):
        offset = len(data[:start].decode("utf-8", "surrogateescape"))
        yield number, offset, data[start : start + LINE_BYTES].decode("utf-8", "surrogateescape")


def _read_line(text: str, number: int, group: str | None) -> Line:
    """Parse one line; the server ignores what follows a NUL."""
    if text.isascii():
        seen = text if "\0" not in text else text[: text.index("\0")]
        return _read_single_byte(seen, text, number, group)
    body = text.lstrip(ASCII_SPACE)
    if body[0] in "#;":
        return Line(LineKind.COMMENT, number, text)
    return _read_non_ascii(text, number, group)


def _read_non_ascii(text: str, number: int, group: str | None) -> Line:
    """Parse a non-ASCII line byte by byte as the server does, and convert positions to code points."""
    data = text.encode("utf-8", "surrogateescape")
    seen = data.decode("latin-1").partition("\0")[0]
    line = _read_single_byte(seen, text, number, group)
    if line.kind is LineKind.BLANK:
        return line

    def column(of: int) -> int:
        return len(data[: of - 1].decode("utf-8", "surrogateescape")) + 1

    return line._replace(
        name=_decode_text(line.name),
        raw=_decode_text(line.raw),
        value=_decode_text(line.value),
        column=column(line.column),
        end_column=column(line.end_column),
        value_column=column(line.value_column),
        value_end_column=column(line.value_end_column),
    )


def _decode_text(text: str | None) -> str | None:
    return None if text is None else text.encode("latin-1").decode("utf-8", "surrogateescape")


def _shift_columns(line: Line, offset: int) -> Line:
    return line._replace(
        column=line.column + offset,
        end_column=line.end_column + offset,
        value_column=line.value_column + offset,
        value_end_column=line.value_end_column + offset,
    )


def _read_single_byte(seen: str, text: str, number: int, group: str | None) -> Line:
    """Parse a line of single-byte characters; `seen` is the part before a NUL."""
    body = seen.lstrip(SPACE)
    if not body:
        return Line(LineKind.BLANK, number, text)
    first = body[0]
    if first in "#;":
        return Line(LineKind.COMMENT, number, text)
    start = len(seen) - len(body)
    if first == "[":
        return _read_group(body, start, text, number)
    if first == "!":
        return _read_directive(body, start, text, number)
    return _read_option(body, start, text, number, group)


def _read_option(body: str, start: int, text: str, number: int, group: str | None) -> Line:
    content = body[: comment_start(body)]
    written, equals, after = content.partition("=")
    name = written.rstrip(SPACE)
    column = start + 1
    if not equals:
        end = column + len(name)
        return Line(LineKind.OPTION, number, text, group, name, None, None, column, end, end, end)
    after = after.rstrip(SPACE)
    raw = after.lstrip(SPACE)
    end = column + len(written) + 1 + len(after)
    return Line(LineKind.OPTION, number, text, group, name, raw, unquote(raw), column, end, end - len(raw), end)


def _read_group(body: str, start: int, text: str, number: int) -> Line:
    close = body.find("]")
    if close < 0:
        why = "This group header has no closing bracket."
        return _reject_line(body, start, text, number)._replace(value=why)
    name = body[1:close].rstrip(SPACE)
    return Line(LineKind.GROUP, number, text, None, name, column=start + 1, end_column=start + close + 2)


def _read_directive(body: str, start: int, text: str, number: int) -> Line:
    word = body[1:].lstrip(SPACE)
    refused = _reject_line(body, start, text, number)
    for kind, keyword in ((LineKind.INCLUDEDIR, "includedir"), (LineKind.INCLUDE, "include")):
        if word.startswith(keyword) and word[len(keyword) : len(keyword) + 1] in _SPACES:
            path = word[len(keyword) :].strip(SPACE)
            if not path:
                return _reject_without_path(refused._replace(kind=kind))
            at = start + body.index(path, len(keyword) + 1) + 1
            end = at + len(path)
            return Line(kind, number, text, None, None, path, path, start + 1, end, at, end)
    why = "Servers know only !include and !includedir, and ignore this line."
    return refused._replace(kind=LineKind.IGNORED, value=why)


def _drop_last_byte(line: Line) -> Line:
    """Parse an include as most servers do: the last byte counts as the newline, whether it is one or not."""
    path = line.raw or ""
    if not line.text.endswith(path):
        return line
    cut = _trim_path(path.encode("utf-8", "surrogateescape")[:-1])
    return line._replace(value=cut) if cut else _reject_without_path(line)


def _drop_comment(line: Line) -> Line:
    """Parse an include as MySQL 9.7 does."""
    path = line.raw or ""
    start = comment_start(path)
    if start == len(path):
        return line
    cut = _trim_path(path[:start].encode("utf-8", "surrogateescape"))
    if not cut:
        return _reject_without_path(line)
    end = line.value_column + len(cut)
    return line._replace(raw=cut, value=cut, end_column=end, value_end_column=end)


def _trim_path(path: bytes) -> str:
    return path.rstrip(SPACE.encode("latin-1")).decode("utf-8", "surrogateescape")


def _reject_without_path(line: Line) -> Line:
    why = f"!{line.kind} without a path: servers stop reading here."
    return line._replace(kind=LineKind.REJECTED, raw=None, value=why)


def _reject_line(body: str, start: int, text: str, number: int) -> Line:
    end = start + len(body.rstrip(SPACE)) + 1
    return Line(LineKind.REJECTED, number, text, column=start + 1, end_column=end)


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
            import re  # only templates need patterns

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
    import re

    text = line.text.strip()
    if line.templated or not re.search(f"{_BY_NAME}|{_CONTROL}", text):
        return line
    if re.match(_CONTROL, text) or (line.kind is LineKind.OPTION and re.search(_BY_NAME, line.name or "")):
        return _mark_statement(line)
    behind = text.partition("=")[2] if line.kind is LineKind.OPTION else text
    return line._replace(templated=re.search(_BY_NAME, _cut_comment(behind)) is not None)


def _cut_comment(text: str) -> str:
    """Cut off a comment; an expression such as `#{Port}` is not one."""
    import re

    return re.split(r"#(?!\{)", text, maxsplit=1)[0]


def _opens_comment(read: str, line: Line) -> bool:
    """Whether the server would split a `{#` comment, since it reads the # as the start of its own comment."""
    return read.endswith("{") and "{#" in line.text
