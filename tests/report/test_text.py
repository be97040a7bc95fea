"""The report of lint for people."""

from __future__ import annotations

import json

from advisor.core.model import Confidence, Finding, Location, Severity, Target
from advisor.report import CheckedFile, Page, findings_json
from advisor.report import lint as text

TARGET = Target("mysql", (8, 4, 8))
PLACE = Location("my.cnf", 7, 1, 7, 23)
TYPO = Finding(
    "OPT001",
    "unknown-option",
    Severity.ERROR,
    Confidence.CERTAIN,
    "MySQL 8.4 has no such option; the server will not start.",
    help="did you mean innodb_buffer_pool_size?",
    option="innodb_bufer_pool_size",
    value="12G",
    group="mysqld",
    location=PLACE,
)


def checked(finding: Finding, source: str) -> CheckedFile:
    """One file with one finding on line 7."""
    return CheckedFile("my.cnf", TARGET, (finding,), {("my.cnf", 7): source})


def test_full_report() -> None:
    """The line stands over its carets, the message and the help are wrapped, and a summary closes the page."""
    assert text.report([checked(TYPO, "innodb_bufer_pool_size = 12G\n")], Page()) == (
        "my.cnf:7:1  error  unknown-option OPT001: innodb_bufer_pool_size\n"
        "  7 │ innodb_bufer_pool_size = 12G\n"
        "    │ ^^^^^^^^^^^^^^^^^^^^^^\n"
        "  MySQL 8.4 has no such option; the server will not start.\n"
        "  help: did you mean innodb_buffer_pool_size?\n"
        "\n"
        "1 file checked for MySQL 8.4.8: 1 error.\n"
    )


def test_concise_report() -> None:
    """One line a finding, with the place first, as editors read it."""
    assert text.concise([checked(TYPO, "")], Page()) == (
        "my.cnf:7:1: OPT001 unknown-option innodb_bufer_pool_size: "
        "MySQL 8.4 has no such option; the server will not start.\n"
    )


def test_nothing_found() -> None:
    """A clean file is one line."""
    assert text.report([CheckedFile("a.cnf", TARGET, (), {})], Page()) == (
        "1 file checked for MySQL 8.4.8: nothing found.\n"
    )


def test_colour_is_never_the_only_sign() -> None:
    """Without its escapes the coloured report is the plain one."""
    import re

    files = [checked(TYPO, "innodb_bufer_pool_size = 12G\n")]
    coloured = text.report(files, Page(colour=True))
    assert coloured != text.report(files, Page())
    assert re.sub(r"\x1b\[\d+m", "", coloured) == text.report(files, Page())


def test_long_line_keeps_the_place_in_view() -> None:
    """Of a line wider than the page, the part with the place is shown, and the carets stand under it."""
    source = "x" * 500 + "HERE" + "y" * 500
    lines = text.source_lines(source, Location("f", 1, 501, 1, 505))
    assert all(len(line) <= 80 for line in lines)
    column = lines[1].index("^^^^")
    assert lines[0][column : column + 4] == "HERE"


def test_terminal_escapes_are_not_sent() -> None:
    """Control characters in a file or message never reach the terminal."""
    evil = TYPO._replace(message="a\x1b]0;owned\x07b", option="x\x1b[2J")
    shown = text.report([checked(evil, "x\x1b[2J = \x9b31m\n")], Page()) + text.concise([checked(evil, "")], Page())
    assert not [c for c in shown if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160]


def test_json_has_the_contract_fields() -> None:
    """The JSON report holds the fields of the contract, in its order."""
    report = json.loads(findings_json.report([checked(TYPO, "")], Page()))
    assert report["version"] == 1
    assert report["files"][0]["path"] == "my.cnf"
    assert report["files"][0]["target"] == "mysql-8.4.8"
    finding = report["files"][0]["findings"][0]
    assert [finding[k] for k in ("code", "name", "severity", "confidence")] == [
        "OPT001", "unknown-option", "error", "certain",
    ]  # fmt: skip
    assert [finding[k] for k in ("group", "option", "canonical", "value")] == [
        "mysqld", "innodb_bufer_pool_size", None, "12G",
    ]  # fmt: skip
    assert [finding[k] for k in ("line", "column", "end_line", "end_column")] == [7, 1, 7, 23]
    assert set(finding) >= {"message", "help", "url", "evidence", "fix"}


def test_statistics_count_by_rule() -> None:
    """--statistics shows how often each rule spoke."""
    assert text.statistics([checked(TYPO, ""), checked(TYPO, "")]) == "     2  OPT001 unknown-option\n"
