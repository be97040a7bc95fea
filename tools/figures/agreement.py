"""How far mycnf agrees with real servers about real option files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

from figure import Figure

ROW = re.compile(r"^(?P<server>\S+)\s+(?P<kind>[a-z]+)\s+\d+/\d+\s+(?P<share>[\d.]+) %")
TOTAL = re.compile(r"^agreement (?P<share>[\d.]+) % of", re.MULTILINE)


def figures(top: str) -> Iterator[Figure]:
    """The percentage of refusals, adjustments and values that agree, for each server."""
    shared = os.environ.get("MYCNF_SHARED", os.path.join(os.path.dirname(top), "shared"))
    judge = os.path.join(shared, "corpus", "agree.py")
    if not os.path.exists(judge):
        yield Figure("agreement with real servers", None, reason_missing=f"no corpus (MYCNF_SHARED={shared})")
        return
    mycnf = os.path.join(os.path.dirname(sys.executable), "mycnf")
    command = [sys.executable, judge, "--mycnf", mycnf, "--show-diffs", "0"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = [row for row in map(ROW.match, ran.stdout.splitlines()) if row]
    if not rows:
        yield Figure("agreement with real servers", None, reason_missing=(ran.stderr or ran.stdout).strip()[-200:])
    for row in rows:
        yield Figure(f"agreement with {row['server']}: {row['kind']}", float(row["share"]), "%")
    if total := TOTAL.search(ran.stdout):
        yield Figure("agreement with all of them", float(total["share"]), "%")
