"""Rows of tables as `mysql -X` and `mysql -H` print them, with a column for each name: XML and HTML."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.collect.texts.replicas import Row

_FIELD = re.compile(r'<field name="(\w+)"(?:>([^<]*)</field>| xsi:nil="true" ?/>)')
_CELL = re.compile(r"<T[HD]>([^<]*)</T[HD]>")


def marked_rows(text: str) -> Iterator[Row]:
    """The whole rows of all tables in the text, each by the names of its columns."""
    for part in text.split("<row>")[1:]:
        row, end, _ = part.partition("</row>")
        if end:
            fields = (match.groups() for match in _FIELD.finditer(row))
            yield {name: None if value is None else html.unescape(value) for name, value in fields}
    for table in text.split("<TABLE BORDER=1>")[1:]:
        head, *rows = [_CELL.findall(row) for row in table.partition("</TABLE>")[0].split("<TR>")[1:]] or [[]]
        for cells in rows:
            if len(cells) == len(head):
                yield dict(zip(head, map(html.unescape, cells), strict=True))
