"""The formats in which clients and programs print names and values in two columns, and rows with more columns."""

from __future__ import annotations

import csv
import html
import io
import json
import random
from collections.abc import Callable, Sequence

Rows = list[tuple[str, str]]
Form = Callable[[Sequence[str], Sequence[Sequence[str]]], str]
STARS = "*" * 27
_SCHEMA = "http://www.w3.org/2001/XMLSchema-instance"


def _box_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    wide = [max(len(line[at]) for line in (heads, *rows)) for at in range(len(heads))]
    edge = "+" + "".join("-" * (width + 2) + "+" for width in wide)
    lines = ["|" + "".join(f" {c:<{w}} |" for c, w in zip(line, wide, strict=True)) for line in (heads, *rows)]
    return "\n".join([edge, lines[0], edge, *lines[1:], edge]) + "\n"


def _bare_box(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = _box_table(heads, rows).split("\n")
    return "\n".join([lines[0], *lines[3:]])


def _markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, [":--"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escape_cell(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\0", "\\0")


def _bare_batch(_heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join("\t".join(map(_escape_cell, row)) + "\n" for row in rows)


def _batch(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return _bare_batch(heads, [heads, *rows])


def _vertical(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    wide = max(map(len, heads))
    lines = ("".join(f"{h:>{wide}}: {c}\n" for h, c in zip(heads, row, strict=True)) for row in rows)
    return "".join(f"{STARS} {n}. row {STARS}\n{row}" for n, row in enumerate(lines, 1))


def _bare_vertical(_heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ("".join(f"{cell}\n" for cell in row) for row in rows)
    return "".join(f"{STARS} {n}. row {STARS}\n{row}" for n, row in enumerate(lines, 1))


def _xml(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = (
        "".join(f'\t<field name="{h}">{html.escape(c)}</field>\n' for h, c in zip(heads, row, strict=True))
        for row in rows
    )
    body = "\n".join(f"  <row>\n{row}  </row>\n" for row in lines)
    opened = f'<resultset statement="SHOW SOMETHING\n" xmlns:xsi="{_SCHEMA}">'
    return f'<?xml version="1.0"?>\n\n{opened}\n{body}</resultset>\n'


def _bare_html(_heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f"<TABLE BORDER=1>{''.join(_cells('TD', row) for row in rows)}</TABLE>"


def _html(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f"<TABLE BORDER=1>{_cells('TH', heads)}{''.join(_cells('TD', row) for row in rows)}</TABLE>"


def _cells(tag: str, row: Sequence[str]) -> str:
    return f"<TR>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in row)}</TR>"


def _separated_form(bar: str, quoting: int) -> Form:
    def form(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        out = io.StringIO()
        csv.writer(out, delimiter=bar, quoting=quoting, lineterminator="\r\n").writerows([heads, *rows])  # type: ignore[arg-type]
        return out.getvalue()

    return form


def _json(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return json.dumps([dict(zip(heads, row, strict=True)) for row in rows], indent=1)


def _json_by_row(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join(json.dumps(dict(zip(heads, row, strict=True))) + "\n" for row in rows)


def _of_ansible(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f"db1 | SUCCESS => {json.dumps({'changed': False, 'rows': json.loads(_json(heads, rows))}, indent=4)}\n"


# Each format with a heading; first those that preserve any value, then those that preserve single-line values.
KEEPING: tuple[Form, ...] = (
    _batch,
    _xml,
    _html,
    _separated_form(",", csv.QUOTE_ALL),
    _separated_form(";", csv.QUOTE_ALL),
    _json,
)
ON_A_LINE: tuple[Form, ...] = (
    _box_table,
    _vertical,
    _separated_form(",", csv.QUOTE_MINIMAL),
    _json_by_row,
    _of_ansible,
)
BARE: tuple[Form, ...] = (_bare_batch, _bare_box, _bare_vertical, _bare_html)
FORMS = (*KEEPING, *ON_A_LINE, *BARE, _markdown_table)
HEADS = (("Variable_name", "Value"), ("VARIABLE_NAME", "VARIABLE_VALUE"))


def replica(chance: random.Random, odd: Sequence[str]) -> str:
    """A replica's status of some sources, in one of the formats, with a few odd values."""
    slave, master = chance.choice((("Slave", "Master"), ("Replica", "Source")))
    heads = (
        *(f"{slave}_IO_State", f"{master}_Host", f"{master}_Port", f"{slave}_IO_Running", f"{slave}_SQL_Running"),
        *(f"Seconds_Behind_{master}", "Last_Error", "Channel_Name"),
    )
    usual = ("Waiting", "db1", "3306", "Yes", "No", "17", "Query: 'x'", "")
    rows = [
        [chance.choice(odd) if chance.random() < 0.1 else cell for cell in usual] for _ in range(chance.randrange(3))
    ]
    return chance.choice(FORMS)(heads, rows)
