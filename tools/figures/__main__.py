"""Measure the project's promised figures, and print one line each: name, value, limit, commit.

usage: python tools/figures [--only speed|rules|mutants|audit|agreement|simulations|disk|app|fleet|generated|memory|
reports|bigserver|advice|large|weeks]… [--keep FILE]

generated tries about 200,000 settings on live servers, which takes most of an hour (SETTINGS=… for fewer); reports
creates 10,000 snapshots (SNAPSHOTS=…), bigserver 10,000 tables on each of four servers (TABLES=…), weeks 10,000
windows (WINDOWS=…).

--keep also adds the figures at the top of a file of tables, compared with the last ones of the same machine: make
bench.

Exit 1 if a figure misses its limit. A figure that cannot be measured here has a reason instead of a value.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

import advice
import agreement
import app
import audit
import bigserver
import disk
import fleet
import generated
import judging
import large
import memory
import reports
import simulations
import speed
import table
import weeks
from figure import Figure

SOURCES = {
    "speed": speed.figures,
    "rules": judging.figures,
    "mutants": judging.killed_share,
    "audit": audit.figures,
    "agreement": agreement.figures,
    "simulations": simulations.figures,
    "disk": disk.figures,
    "app": app.figures,
    "fleet": fleet.figures,
    "generated": generated.figures,
    "reports": reports.figures,
    "memory": memory.figures,
    "bigserver": bigserver.figures,
    "advice": advice.figures,
    "large": large.figures,
    "weeks": weeks.figures,
}


def main() -> int:
    """Measure and print the figures, group by group."""
    parser = argparse.ArgumentParser(description="measure what the project promises")
    parser.add_argument("--only", action="append", choices=SOURCES)
    parser.add_argument("--keep", metavar="FILE")
    asked = parser.parse_args()
    commit = _commit()
    figures = []
    for family in asked.only or SOURCES:
        for figure in SOURCES[family](TOP):
            figures.append(figure)
            print(_line(figure, commit), flush=True)
    if asked.keep:
        changed = table.keep(asked.keep, figures, commit)
        print(f"kept in {asked.keep}", *changed, sep="\n  ")
    return int(any(figure.missed for figure in figures))


def _line(figure: Figure, commit: str) -> str:
    limit = f"{figure.relation} {figure.limit:g}" if figure.relation else ""
    missed = "  MISSED" if figure.missed else ""
    return f"{figure.name:<58} {figure.shown:>12} {figure.unit:<10} {limit:>9}  {commit}{missed}"


def _commit() -> str:
    """The measured commit; a plus sign means that the work tree differs from it."""
    git = ["git", "-C", TOP]
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=False)
    return (head.stdout.strip() or "no git") + ("+" if changed.stdout else "")


if __name__ == "__main__":
    sys.exit(main())
