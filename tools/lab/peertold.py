"""Parse the output of each tool into statements about a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

MYCNF, TUNER, VARIABLES = "mycnf", "MySQLTuner", "pt-variable-advisor"
TOOLS = (MYCNF, TUNER, VARIABLES)
ADVISED = re.compile(r"^# (?:WARN|NOTE|CRIT) (?P<name>\S+): (?P<words>.*)$", re.MULTILINE)
ALARM = re.compile(r"(?:\[!!\]|✘)\s+")  # until 2.8, and since
SECTIONS = ("General recommendations:", "Variables to adjust:")


class ToolStatement(NamedTuple):
    """One statement; `heading` is the tool's own name for it, if it has one."""

    tool: str
    heading: str
    words: str


def of_mycnf(report: dict[str, Any]) -> Iterator[ToolStatement]:
    """The findings of an audit, with the option lines that they advise."""
    for finding in report["findings"]:
        lines = sorted({action["option_line"] for action in finding["actions"] if action["option_line"]})
        advised = f" ({', '.join(lines)})" if lines else ""
        yield ToolStatement(MYCNF, f"{finding['code']} {finding['name']}", f"{finding['severity']}{advised}")


def of_mysqltuner(text: str) -> Iterator[ToolStatement]:
    """The warnings of MySQLTuner, and its recommendations, which repeat some of them in other words."""
    under = ""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped in SECTIONS:
            under = stripped.rstrip(":")
        elif alarm := ALARM.match(line):
            yield ToolStatement(TUNER, "[!!]", line[alarm.end() :].strip())
        elif under and line.startswith(" ") and stripped:
            yield ToolStatement(TUNER, under, stripped)


def of_pt(text: str) -> Iterator[ToolStatement]:
    """The advice of pt-variable-advisor on variables."""
    for found in ADVISED.finditer(text):
        yield ToolStatement(VARIABLES, found["name"], found["words"])


def tool_statements(report: dict[str, Any], printed: dict[str, str]) -> list[ToolStatement]:
    """All statements of all tools about one server."""
    return [*of_mycnf(report), *of_mysqltuner(printed["mysqltuner"]), *of_pt(printed["pt-variable-advisor"])]
