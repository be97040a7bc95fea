"""The section of docs/peers.md about a large server."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from bigmade import BUSY, CONNECTIONS, CROWDS, TABLES

if TYPE_CHECKING:
    from bigserver import Took

KEPT = re.compile(r"<!-- large server -->\n.*?<!-- /large server -->\n\n?", re.DOTALL)
BEFORE = "## What each said, and what it is worth\n"
NAMES = {"mycnf": "mycnf", "mysqltuner": "MySQLTuner"}


def put(top: str, section: str) -> None:
    """Replace the section in the page."""
    path = os.path.join(top, "docs", "peers.md")
    with open(path, encoding="utf-8") as file:
        page = KEPT.sub("", file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(page.replace(BEFORE, f"{section}\n{BEFORE}", 1))


def section(costs: Mapping[str, Mapping[str, Took]], version: str) -> str:
    """The section with its marker comments."""
    return "\n".join(["<!-- large server -->", *_lines(costs, version), "<!-- /large server -->", ""])


def _lines(costs: Mapping[str, Mapping[str, Took]], version: str) -> Iterator[str]:
    yield f"## On a server with {TABLES:,} tables and {CONNECTIONS:,} connections\n"
    yield f"{BUSY * CROWDS} of the connections are at work. The tools run in turn, each from its start to its end; the"
    yield "median counts, the range stands behind it. mycnf runs with `--window 0`, since MySQLTuner"
    yield f"{version} samples nothing either. Statements, time in the server and rows are of one more run of each, by"
    yield f"the server's own general and slow log. This was on {os.cpu_count()} processors, at a load average of"
    yield f"{os.getloadavg()[2]:.0f}: clocks tell how the tools compare, and processor time what they take.\n"
    yield "```console\n$ TUNER=mysqltuner.pl python tools/figures/bigserver.py\n```\n"
    heads = ("server", "tool", "whole run", "its processor time", "statements", "connections", "time in the server")
    yield f"| {' | '.join(heads)} | longest statement | rows examined |"
    yield "|:--|:--|--:|--:|--:|--:|--:|--:|--:|"
    for name, by in costs.items():
        for tool, took in by.items():
            yield _row(name, tool, took)
    yield ""
    for name, by in costs.items():
        ours, theirs = by["mycnf"], by["mysqltuner"]
        least = "at least " if theirs.ended_error else ""
        yield f"- {name}: mycnf is {least}{theirs.median / ours.median:.1f} times as fast. Longest statements:"
        yield f"  `{_cell(ours.load.longest_sql)}` of mycnf, `{_cell(theirs.load.longest_sql)}` of MySQLTuner."
        if theirs.ended_error:
            yield f"  MySQLTuner did not come to its end: {_cell(theirs.ended_error)}."
    yield ""


def _row(name: str, tool: str, took: Took) -> str:
    load = took.load
    ended = ", not to its end" if took.ended_error else ""
    runs = len(took.seconds)
    spread = f"{min(took.seconds):.2f} to {max(took.seconds):.2f} in {runs} runs" if runs > 1 else "1 run"
    whole = f"{took.median:.2f} s ({spread})"
    cells = (f"{took.processor:.2f} s", f"{load.statements:,}", f"{load.connections:,}", _time(load.seconds))
    last = (_time(load.longest), f"{load.rows:,}")
    return f"| {name} | {NAMES[tool]}{ended} | {whole} | {' | '.join((*cells, *last))} |"


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _cell(text: str) -> str:
    return text.replace("`", "'")
