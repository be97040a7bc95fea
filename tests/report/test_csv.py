"""CSV: RFC 4180, a row a finding, and nothing in it that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hostile_findings import SECRET, nasty, nothing, page
from mycnf_command import CHECKOUT

from advisor.__main__ import main
from advisor.report.findings_csv import AUDIT, BROKEN, FINDING, LINT, line
from advisor.report.formats import render_lint

SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"


def read(text: str) -> list[list[str]]:
    """The rows as Python's own reader takes them."""
    assert text.endswith("\r\n")
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_lint() -> None:
    """One line of heads, then a row a finding of every file; no line end, formula or secret is in a cell."""
    files = nasty()
    heads, *rows = read(render_lint("csv", files, page()))
    assert heads == [*LINT, *FINDING]
    assert len(rows) == sum(len(c.findings) for c in files)
    assert {len(row) for row in rows} == {len(heads)}
    text = render_lint("csv", files, page())
    assert text.count("\n") == len(rows) + 1
    assert SECRET not in text
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_nothing_found() -> None:
    """Nothing found is a table without rows."""
    assert read(render_lint("csv", nothing(), page())) == [[*LINT, *FINDING]]


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"), ("1-1", "1-1"),
        ("\uff1d1+1", "'\uff1d1+1"), ("\uff20SUM(A1)", "'\uff20SUM(A1)"),
        ('a "b"', '"a ""b"""'), ("a,b", '"a,b"'), (None, ""), (True, "true"), (False, "false"), (7, "7"),
        (["RBS-01", "RBS-06"], '"RBS-01 RBS-06"'), ("a\r\nb", "a\\x0d\\x0ab"),
    ],
)  # fmt: skip
def test_cells(value: str | int | bool | list[str] | None, cell: str) -> None:
    """What each kind of value is in a cell."""
    assert line([value]) == f"{cell}\r\n"


def test_audits_and_reports_of_many_have_the_same_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A report of two servers holds the rows of both audits; a snapshot that can't be read is a row with the reason."""
    main(["audit", "--isolated", "--snapshot", str(SNAPSHOT), "--format", "csv"])
    heads, *rows = read(capsys.readouterr().out)
    assert heads == [*AUDIT, *FINDING, *BROKEN]
    (tmp_path / "a.json").write_bytes(SNAPSHOT.read_bytes())
    (tmp_path / "b.json").write_text("{}")
    assert main(["report", "--isolated", "--jobs", "1", str(tmp_path), "--format", "csv"]) == 2
    same, *found = read(capsys.readouterr().out)
    at = heads.index("snapshot")
    assert same == heads
    assert [[*row[:at], *row[at + 1 :]] for row in found[:-1]] == [[*row[:at], *row[at + 1 :]] for row in rows]
    assert {row[at] for row in found[:-1]} == {str(tmp_path / "a.json")}
    assert found[-1][at] == str(tmp_path / "b.json")
    assert "b.json" in found[-1][-1]
    assert not any(cell for column, cell in enumerate(found[-1][:-1]) if column != at)
