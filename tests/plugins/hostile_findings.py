"""Findings in which every text is hostile: they quote golden/nasty.cnf and use no rule's text."""

from __future__ import annotations

from mycnf_command import CHECKOUT

from advisor.core.model import Confidence, Edit, Finding, Fix, Location, Severity, Target
from advisor.optionfile.lines import Line, LineKind
from advisor.optionfile.reader import parse
from advisor.redaction import redact_text
from advisor.report import CheckedFile, Page
from rules.core.subject import line_location, line_subject

GOLDEN = CHECKOUT / "tests" / "golden"
MYSQL = Target("mysql", (8, 4, 8))
MARIADB = Target("mariadb", (10, 11, 19))
BASE = "/repository"
# Hostile file names too: invalid UTF-8, and an absolute path below the working directory.
NAMES = ("conf.d/\udcff|`<b>#1%.cnf", f"{BASE}/my files/a:b,c.cnf", "../::error::\r\n.cnf")
SECRET = "kanarienvogel"  # noqa: S105 - what must not be seen


def nasty() -> list[CheckedFile]:
    """The file under three names and for two targets; for the second, all findings are suppressed by a comment."""
    first, second, third = (_checked(name, target) for name, target in zip(NAMES, (MYSQL, MARIADB, MYSQL), strict=True))
    return [
        first,
        second._replace(findings=(), suppressed=second.findings),
        third._replace(findings=third.findings[:2]),
    ]


def nothing() -> list[CheckedFile]:
    """A clean file."""
    return [CheckedFile("clean.cnf", MYSQL, (), {})]


def page(*broken: tuple[str, str], colour: bool = False) -> Page:
    """The page settings of the golden files."""
    return Page(colour=colour, base=BASE, broken=broken, now="2026-11-21T07:00:00")


def _checked(path: str, target: Target) -> CheckedFile:
    lines = parse((GOLDEN / "nasty.cnf").read_bytes(), path).lines
    options = [line for line in lines if line.kind is LineKind.OPTION]
    findings = [_finding(path, line, number) for number, line in enumerate(options)]
    about_file = Finding(
        "TST099",
        "file-as-a-whole",
        Severity.NOTE,
        Confidence.OPINION,
        "Nothing of one line.",
        location=Location(path, 0),
    )
    of_no_file = about_file._replace(name="of-no-file", location=None)
    sources = {(path, line.number): redact_text(line.text).text for line in options}
    return CheckedFile(path, target, (*findings, about_file, of_no_file), sources)


def _finding(path: str, line: Line, number: int) -> Finding:
    about = line_subject(path, line)
    shown = redact_text(line.text.rstrip("\r\n")).text
    return Finding(
        f"TST{number:03}",
        "nasty-option",
        list(Severity)[number % 3],
        list(Confidence)[number % 4],
        f"The line is {shown} and nobody likes it.",
        help="" if number % 2 else f"write it without {shown}",
        option=about.option,
        value=about.value,
        group=about.group,
        location=line_location(path, line),
        evidence=("RBS-06", "ASK-01")[: number % 3],
        fix=_fix(line, number),
    )


def _fix(line: Line, number: int) -> Fix | None:
    if number == 0:
        return Fix("unsafe", (Edit(line.number, 1, line.number, 2, "a\udcff"),))
    if number == 1:
        two = (Edit(line.number, 1, line.number, 1, "# "), Edit(line.number + 1, 1, line.number + 1, 1, "a|{b}\n"))
        return Fix("unsafe", two)
    return Fix("safe", (Edit(line.number, 1, line.number + 1, 1, ""),)) if number == 2 else None
