"""Write docs/experiments/memory.md: the memory of real servers under load, compared with the estimates of audits.

usage: python tools/figures/memory.py [FOLDER]

Takes half an hour and five gigabytes of memory. With FOLDER, measurements are saved there and not repeated, so that a
changed model can be compared with the same servers.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

from figure import Figure
from filled import SETTINGS, saved_steps
from memorypage import Run, likely_memory, page_text
from real_servers import lacking, names_of

from probes.sandbox import SandboxError

PAGE = os.path.join(TOP, "docs", "experiments", "memory.md")
WITHIN = 2.0  # times; maximum factor between the peak and the estimate from counters


def figures(_: str) -> Iterator[Figure]:
    """The ratio of the peak to the estimate from counters, and whether the ceiling holds."""
    with tempfile.TemporaryDirectory() as folder:
        for run in _runs(folder):
            if isinstance(run, Figure):
                yield run
                continue
            name = f"memory of {run.server}, {run.setting}"
            yield Figure(f"{name}: peak / likely", run.highest.resident / likely_memory(run.highest), "", "<=", WITHIN)
            yield Figure(f"{name}: likely / peak", likely_memory(run.highest) / run.highest.resident, "", "<=", WITHIN)
            yield Figure(f"{name}: peak / ceiling", run.lasting / run.ceiling, "", "<=", 1)


def main() -> int:
    """Measure, and write the page."""
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = list(_runs(sys.argv[1] if len(sys.argv) > 1 else scratch))
    for absent in (one for one in outcomes if isinstance(one, Figure)):
        print(absent.name, absent.shown)
    runs = [one for one in outcomes if isinstance(one, Run)]
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write(page_text(runs))
    return int(any(run.lasting > run.ceiling for run in runs))


def _runs(folder: str) -> Iterator[Run | Figure]:
    for server in names_of(()):
        for setting in SETTINGS:
            name = f"memory of {server}, {setting}"
            if reason := lacking(server):
                yield Figure(name, None, reason_missing=reason)
                continue
            try:
                yield Run(server, setting, saved_steps(folder, server, setting))
            except SandboxError as error:
                yield Figure(name, None, reason_missing=str(error))


if __name__ == "__main__":
    sys.exit(main())
