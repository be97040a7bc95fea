"""The number of rules, the time to run all on a full snapshot, and the coverage of their cases."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator

from figure import Figure

RUNS = 50
KILLED = re.compile(r"^rules: killed (\d+) of (\d+)", re.MULTILINE)


def figures(top: str) -> Iterator[Figure]:
    """Rules, the distinct verdicts on options, and the CPU time of one run in milliseconds."""
    from advisor.analysis import run_rules
    from advisor.analysis.context import build_context
    from advisor.facts.snapshot import load
    from rules import all_rules

    rules = all_rules()
    verdicts = sum(rule.family == "OPT" for rule in rules)
    yield Figure("rules, those of option verdicts counted once", len(rules) - verdicts + 1, "", ">=", 150)
    folder = os.path.join(top, "examples", "snapshots")
    for name in sorted(os.listdir(folder)):
        known = build_context(load(os.path.join(folder, name)))
        took = []
        for _ in range(RUNS):
            began = time.process_time()
            run_rules(known, rules)
            took.append(time.process_time() - began)
        variables = len(known.server.variables)
        yield Figure(f"all rules over {name} ({variables} variables), best of {RUNS}", min(took) * 1000, "ms", "<=", 3)


def killed_share(top: str) -> Iterator[Figure]:
    """The percentage of small changes to the rules' conditions that a case detects."""
    name = "mutants of the rules' conditions killed"
    tool = [sys.executable, os.path.join(top, "tools", "mutate"), "--every", "2", "--seed", "1"]
    ran = subprocess.run(tool, capture_output=True, text=True, check=False)
    match = KILLED.search(ran.stdout)
    if match is None:
        yield Figure(name, None, reason_missing=ran.stderr.strip()[-100:])
        return
    yield Figure(name, 100 * int(match[1]) / int(match[2]), "%", ">=", 90)
