"""Measure what the project promises, and print one line a figure: name, value, limit, commit.

usage: python tools/figures [--only speed|audit|agreement|simulations|generated]…

The last asks live servers about 200,000 settings, which takes most of an hour (SETTINGS=… for less).

Exit 1 where a figure misses its limit. A figure that can't be had here says why instead of a value.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

import agreement
import audit
import disk
import generated
import simulations
import speed
from figure import Figure

SOURCES = {
    "speed": speed.figures,
    "audit": audit.figures,
    "agreement": agreement.figures,
    "simulations": simulations.figures,
    "disk": disk.figures,
    "generated": generated.figures,
}


def main() -> int:
    """Measure and print, family by family."""
    parser = argparse.ArgumentParser(description="measure what the project promises")
    parser.add_argument("--only", action="append", choices=SOURCES)
    wanted = parser.parse_args().only or list(SOURCES)
    commit = _commit()
    missed = 0
    for family in wanted:
        for figure in SOURCES[family](TOP):
            missed += figure.missed
            print(_line(figure, commit), flush=True)
    return int(missed > 0)


def _line(figure: Figure, commit: str) -> str:
    limit = f"{figure.relation} {figure.limit:g}" if figure.relation else ""
    missed = "  MISSED" if figure.missed else ""
    return f"{figure.name:<58} {figure.shown:>12} {figure.unit:<10} {limit:>9}  {commit}{missed}"


def _commit() -> str:
    """The commit that was measured; a plus sign says that the work tree differs from it."""
    git = ["git", "-C", TOP]
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=False)
    return (head.stdout.strip() or "no git") + ("+" if changed.stdout else "")


if __name__ == "__main__":
    sys.exit(main())
