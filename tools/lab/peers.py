"""Compare the output of mycnf, MySQLTuner and pt-variable-advisor on the same servers, and write docs/peers.md.

usage: python tools/lab/peers.py DIR

DIR is the folder of `python tools/lab --advise --peers --work DIR`. Each statement is judged by
tools/lab/judgements.toml; a statement without a judgement is listed and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, TOP)

from peertold import TOOLS, ToolStatement, tool_statements

PAGE = os.path.join(TOP, "docs", "peers.md")
JUDGEMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "judgements.toml")
KINDS = {
    "fault": "the fault",
    "sound": "sound",
    "idle": "idle",
    "false": "false alarm",
    "inapplicable": "inapplicable",
    "contradiction": "contradiction",
    "unjudged": "not judged",
}
DEFAULT = "default-"
UNJUDGED = "unjudged"
RELEASE = re.compile(r"MySQLTuner (\d+(?:\.\d+)+)")
# The section about the large server, which another script writes.
LARGE_SERVER = re.compile(r"<!-- large server -->\n.*?<!-- /large server -->\n", re.DOTALL)
# The parts of an output that differ between runs: paths and numbers.
VARYING = re.compile(r"/\S*/|\d[\d.,]*[KMGT%]?")


class JudgedStatement(NamedTuple):
    """A statement about a server, and its judgement."""

    server: str
    said: ToolStatement
    kind: str
    why: str


def main() -> int:
    """Write the page; 1 if a statement has no judgement."""
    parser = argparse.ArgumentParser(prog="python tools/lab/peers.py", description=str(__doc__).partition("\n")[0])
    parser.add_argument("work", metavar="DIR", help="what python tools/lab --advise --peers --work DIR kept")
    work = parser.parse_args().work
    judged, tuner = list(_judged_labs(work)), _release(work)
    large = _large_server()
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write("\n".join(_page(judged, large, tuner)).rstrip() + "\n")
    unjudged = [entry for entry in judged if entry.kind == UNJUDGED]
    for entry in unjudged:
        print(f"not judged: {entry.server}: {entry.said.tool}: {entry.said.heading}: {entry.said.words}")
    return int(bool(unjudged))


def _judged_labs(work: str) -> Iterator[JudgedStatement]:
    with open(JUDGEMENTS, "rb") as file:
        judgements = tomllib.load(file)["judgement"]
    for server in _told_servers(work):
        folder = os.path.join(work, server)
        for statement in tool_statements(_read(folder, "report.json"), _read(folder, "told.json")):
            yield _judge(server, statement, judgements)


def _told_servers(work: str) -> list[str]:
    return [name for name in sorted(os.listdir(work)) if os.path.exists(os.path.join(work, name, "told.json"))]


def _release(work: str) -> str:
    """The version that MySQLTuner's own output names."""
    printed = (_read(os.path.join(work, name), "told.json") for name in _told_servers(work))
    versions = {found[1] for output in printed if (found := RELEASE.search(output["mysqltuner"]))}
    return ", ".join(sorted(versions)) or "of an unknown version"


def _judge(server: str, statement: ToolStatement, judgements: list[dict[str, str]]) -> JudgedStatement:
    words = f"{statement.heading}: {statement.words}"
    for judgement in judgements:
        if (
            judgement["tool"] == statement.tool
            and re.search(judgement.get("on", ""), server)
            and re.search(judgement["said"], words)
        ):
            return JudgedStatement(server, statement, judgement["kind"], judgement["why"])
    return JudgedStatement(server, statement, UNJUDGED, "")


def _read(folder: str, name: str) -> Any:
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def _large_server() -> str:
    """The section that `python tools/figures/bigserver.py` wrote, if any."""
    if not os.path.exists(PAGE):
        return ""
    with open(PAGE, encoding="utf-8") as page:
        found = LARGE_SERVER.search(page.read())
    return found[0] if found else ""


def _page(judged: list[JudgedStatement], large: str, tuner: str) -> Iterator[str]:
    servers = list(dict.fromkeys(entry.server for entry in judged))
    ill = [server for server in servers if not server.startswith(DEFAULT)]
    well = [server for server in servers if server.startswith(DEFAULT)]
    yield "# Beside MySQLTuner and pt-variable-advisor\n"
    yield f"The {len(ill)} misconfigured servers of [examples/lab](../examples/lab/README.md) and {len(well)} with"
    yield "nothing but their defaults were under load for ten minutes when each tool looked at them in turn."
    yield f"MySQLTuner is {tuner}, pt-variable-advisor 3.2.1. Every statement was judged by hand against that"
    yield "server, mycnf's own by the same words; the judgements and their reasons are in"
    yield "[tools/lab/judgements.toml](../tools/lab/judgements.toml), for readers who disagree. The section"
    yield "about a large server names the release of MySQLTuner that it was measured with.\n"
    yield "A statement is *the fault* if it names the wrong option or its harmful effect, *sound* if it is true for"
    yield "that server and may require action, *idle* if it is true but no action is needed or another line has it,"
    yield "a *false alarm* if it is not true for that server, based on too few events, or harmful, *inapplicable* if"
    yield "that server has no such option or would not start with it, and a *contradiction* if another statement of"
    yield "the same report cannot be followed as well.\n"
    yield "```console\n$ python tools/lab --advise --peers --tuner mysqltuner.pl --together 4 --work lab-work"
    yield "$ python tools/lab/peers.py lab-work\n```\n"
    yield f"## {len(ill)} misconfigured servers\n"
    yield from _totals(judged, ill, faults=True)
    yield f"## {len(well)} servers with their defaults\n"
    yield from _totals(judged, well, faults=False)
    yield "## Which fault was found by whom\n"
    yield from _found_rows(judged, ill)
    yield large
    yield "## What each said, and what it is worth\n"
    for tool in TOOLS:
        yield from _statements(judged, tool)


def _totals(judged: list[JudgedStatement], servers: list[str], *, faults: bool) -> Iterator[str]:
    kinds = [kind for kind in KINDS if kind != UNJUDGED and (faults or kind != "fault")]
    yield f"| statements | {' | '.join(TOOLS)} |"
    yield "|:--|--:|--:|--:|"
    if faults:
        found = [str(sum(_has_fault(judged, server, tool) for server in servers)) for tool in TOOLS]
        yield f"| **servers whose fault is reported, of {len(servers)}** | {' | '.join(found)} |"
    counted = Counter((entry.said.tool, entry.kind) for entry in judged if entry.server in servers)
    for kind in kinds:
        yield f"| {KINDS[kind]} | {' | '.join(str(counted[tool, kind]) for tool in TOOLS)} |"
    yield f"| all | {' | '.join(str(sum(counted[tool, kind] for kind in KINDS)) for tool in TOOLS)} |\n"


def _has_fault(judged: list[JudgedStatement], server: str, tool: str) -> bool:
    return any(e.kind == "fault" and e.server == server and e.said.tool == tool for e in judged)


def _found_rows(judged: list[JudgedStatement], servers: list[str]) -> Iterator[str]:
    yield f"| server | {' | '.join(TOOLS)} |"
    yield "|:--|:--|:--|:--|"
    for server in servers:
        cells = []
        for tool in TOOLS:
            told_of = [e.said for e in judged if e.kind == "fault" and e.server == server and e.said.tool == tool]
            cells.append(_cell(told_of))
        yield f"| {server} | {' | '.join(cells)} |"
    yield ""


def _cell(told_of: list[ToolStatement]) -> str:
    if not told_of:
        return "-"
    names = [statement.words if statement.heading[0] in "[VG" else statement.heading for statement in told_of]
    return "<br>".join(dict.fromkeys(_plain_text(name) for name in names))


def _statements(judged: list[JudgedStatement], tool: str) -> Iterator[str]:
    yield f"### {tool}\n"
    yield "| statement | servers | worth | because |"
    yield "|:--|--:|:--|:--|"
    groups: dict[tuple[str, str, str], list[JudgedStatement]] = {}
    for entry in judged:
        if entry.said.tool == tool:
            key = (entry.said.heading, VARYING.sub("#", entry.said.words), entry.kind)
            groups.setdefault(key, []).append(entry)
    order = list(KINDS)
    for (heading, _, kind), entries in sorted(groups.items(), key=lambda group: (order.index(group[0][2]), group[0])):
        words = f"{heading}: {entries[0].said.words}".removeprefix("[!!]: ")
        yield f"| {_plain_text(words)} | {len({e.server for e in entries})} | {KINDS[kind]} | {entries[0].why} |"
    yield ""


def _plain_text(text: str) -> str:
    return re.sub(r"/\S*/(?=\w)", "", text).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
