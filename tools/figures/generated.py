"""Generated files: how often real servers, my_print_defaults and lint behave as predicted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

from figure import Figure

SETTINGS = os.environ.get("SETTINGS", "200000")
FILES = os.environ.get("FILES", "100000")
ROW = re.compile(
    r"^(?P<server>(?:mysql|mariadb)-[\d.]+) +(?P<settings>\d+) +\d+ +(?P<wrong>[\d.]+) +(?P<traps>\d+)"
    r" +(?P<options>\d+) +(?P<cells>\d+) +(?P<all>\d+)",
    re.MULTILINE,
)
TOTAL = re.compile(r"^(\d+) settings in \d+ files, \d+ disagree: ([\d.]+) %\n(\d+) s", re.MULTILINE)
READ = re.compile(r"^(\d+) files, (\d+) read otherwise", re.MULTILINE)
MANGLED = re.compile(r"^(\d+) files of \d+, (\d+) broke lint, the slowest took (\d+) ms", re.MULTILINE)


def figures(top: str) -> Iterator[Figure]:
    """The reader, mangled files for lint, and last, because it takes most of an hour, settings on live servers."""
    yield from _reader(top)
    yield from _mangled_figures(top)
    yield from _settings(top)


def _run(top: str, *words: str) -> str:
    ran = subprocess.run(
        [sys.executable, os.path.join(top, "tools", "fuzz"), *words], capture_output=True, text=True, check=False
    )
    return ran.stdout + ran.stderr


def _reader(top: str) -> Iterator[Figure]:
    printed = _run(top, "--what", "reader", "--files", FILES)
    match = READ.search(printed)
    if match is None:
        yield Figure("made-up files read as my_print_defaults does", None, reason_missing=printed.strip()[-100:])
        return
    yield Figure("made-up files put to my_print_defaults", int(match[1]), "files", ">=", 100_000)
    yield Figure("of these, read otherwise", int(match[2]), "files", "<=", 0)


def _mangled_figures(top: str) -> Iterator[Figure]:
    printed = _run(top, "--what", "mangled", "--files", FILES)
    match = MANGLED.search(printed)
    if match is None:
        yield Figure("mutated files that lint bears", None, reason_missing=printed.strip()[-100:])
        return
    yield Figure("mutated files put to lint", int(match[1]), "files", ">=", 100_000)
    yield Figure("of these, a traceback or over a second", int(match[2]), "files", "<=", 0)
    yield Figure("the slowest of them, processor time", int(match[3]), "ms", "<=", 1000)


def _settings(top: str) -> Iterator[Figure]:
    printed = _run(top, "--settings", SETTINGS)
    total = TOTAL.search(printed)
    if total is None:
        yield Figure("made-up settings on live servers", None, reason_missing=printed.strip()[-100:])
        return
    yield Figure("made-up settings put to live servers", int(total[1]), "", ">=", 200_000)
    yield Figure("of these, taken otherwise than foretold", float(total[2]), "%", "<=", 0.1)
    yield Figure("minutes for all of them", int(total[3]) / 60, "min", "<=", 60)
    for row in ROW.finditer(printed):
        yield Figure(f"settings on {row['server']}: disagreement", float(row["wrong"]), "%", "<=", 0.1)
        yield Figure(f"settings on {row['server']}: from the trap list", int(row["traps"]), "%", ">=", 30)
        yield Figure(f"settings on {row['server']}: options reached", int(row["options"]))
        share = 100 * int(row["cells"]) / int(row["all"])
        yield Figure(f"settings on {row['server']}: option x class of value reached", share, "%")
