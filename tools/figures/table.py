"""A file of tables of figures, newest first, each compared with the last one of the same machine."""

from __future__ import annotations

import os
import platform
import time
from typing import NamedTuple

from figure import UNMEASURED, Figure

from advisor.collect.host.host import open_root, read_host

KEPT = 10  # tables kept
TOLD = 20  # percent; larger changes are reported; between two runs on a quiet machine figures differ by less than ten
HEAD = """# Benchmarks

Written by `make bench`, newest first. Each table was measured at the commit in its title, not with the program of
today, and compares with the last table of the same machine. A value in bold misses its limit.
"""
RULE = "|---|---:|---|---:|---:|---:|"


class Table(NamedTuple):
    """One run: `title` is its date and commit, `machine` the machine, `values` the figures by name."""

    title: str
    machine: str
    values: dict[str, float]
    text: str


def keep(path: str, figures: list[Figure], commit: str) -> list[str]:
    """Add the figures at the top of the file's tables.

    Returns a line for each figure that changed much since the last table of the machine.
    """
    tables, machine = read(path), machine_of()
    last = next((table for table in tables if table.machine == machine), None)
    before = last.values if last else {}
    title = f"{time.strftime('%Y-%m-%d', time.gmtime())}, {commit}"
    beside = f"before, {last.title.rpartition(' ')[2]}" if last else "before"
    lines = [f"## {title}", "", machine, "", f"| figure | value | unit | limit | {beside} | change |", RULE]
    lines += [_row(figure, before.get(figure.name)) for figure in figures]
    texts = ["\n".join(lines) + "\n", *(table.text for table in tables)][:KEPT]
    _write(path, "\n".join([HEAD, *texts]))
    return [line for figure in figures if (line := _value_cell(figure, before.get(figure.name)))]


def read(path: str) -> list[Table]:
    """The tables in a file; empty if there is no file yet."""
    try:
        with open(path, encoding="utf-8") as file:
            _, *parts = file.read().split("\n## ")
    except FileNotFoundError:
        return []
    return [_table(part) for part in parts]


def _table(part: str) -> Table:
    title, _, machine, *rows = part.splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.startswith("| ")]
    shown = {name: value.strip("*") for name, value, *_ in cells[1:]}
    values = {name: float(value) for name, value in shown.items() if not value.startswith(UNMEASURED)}
    return Table(title, machine, values, f"## {part.rstrip()}\n")


def machine_of() -> str:
    """The machine's properties that affect figures, on one line."""
    host = read_host(open_root("/"))
    model = host.cpu.model_name if host.cpu else None
    memory = host.memory.total / 1e9 if host.memory else 0
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{model or platform.machine()}, {os.cpu_count()} processors, {memory:.0f} GB; {platform.system()}, {python}"


def _row(figure: Figure, before: float | None) -> str:
    limit = f"{figure.relation} {figure.limit:g}" if figure.relation else ""
    shown = f"**{figure.shown}**" if figure.missed else figure.shown
    past = "" if before is None else f"{before:.4g}"
    return f"| {figure.name} | {shown} | {figure.unit} | {limit} | {past} | {_change(figure, before)} |"


def _change(figure: Figure, before: float | None) -> str:
    return "" if figure.value is None or not before else f"{100 * (figure.value / before - 1):+.0f} %"


def _value_cell(figure: Figure, before: float | None) -> str:
    change = _change(figure, before)
    if not change or abs(int(change.split()[0])) <= TOLD:
        return ""
    return f"{figure.name}: {figure.shown} {figure.unit}, before {before:.4g} ({change})"


def _write(path: str, text: str) -> None:
    beside = f"{path}.new"
    with open(beside, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(beside, path)
