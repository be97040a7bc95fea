"""Run the scenarios of examples/lab: break real servers, audit them, apply the advice, and audit again.

usage: python tools/lab/scenarios.py [--only NAME]… [--tuner FILE] [--try]

docs/experiments/scenarios.md and scenarios.json are written after every scenario; with --only the other results are
kept. --tuner names a mysqltuner.pl to ask about the same servers. --try prints the outcome and writes nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins"), os.path.join(TOP, "tests", "servers")]

import scenariopage
from scenario import Scenario, scenarios
from scenariorun import Outcome, run_scenario

FOLDER = os.path.join(TOP, "examples", "lab")
PAGE = os.path.join(TOP, "docs", "experiments", "scenarios.md")
RESULTS = os.path.join(TOP, "docs", "experiments", "scenarios.json")
TERMINATED = 128 + signal.SIGTERM


def main() -> int:
    """Run the selected scenarios; 1 if a fault was missed, a finding was false or a statement was refused."""
    asked = _arguments()
    asked.tuner = asked.tuner and os.path.abspath(asked.tuner)  # it runs in a directory of its own
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # removes the servers
    outcomes = {} if asked.attempt else scenariopage.saved_outcomes(RESULTS)
    for scenario in _chosen(asked.only):
        outcomes[scenario.name] = outcome = run_scenario(scenario, asked.tuner)
        print(scenariopage.line(outcome), flush=True)
        if asked.attempt:
            _print(outcome)
        else:
            _write(outcomes, asked.tuner)
    return int(any(not o.found or o.false or o.refused or o.after == "worse" for o in outcomes.values()))


def _chosen(only: list[str]) -> list[Scenario]:
    every = scenarios(FOLDER)
    if unknown := set(only) - {scenario.name for scenario in every}:
        sys.exit(f"lab: there is no scenario {', '.join(sorted(unknown))} in examples/lab")
    return [scenario for scenario in every if not only or scenario.name in only]


def _write(outcomes: dict[str, Outcome], tuner: str) -> None:
    scenariopage.keep(RESULTS, outcomes)
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write(scenariopage.page([outcomes[name] for name in sorted(outcomes)], _release(tuner)))


def _release(tuner: str) -> str:
    """The name and version that the script states about itself."""
    if not tuner:
        return "No release of MySQLTuner"
    with open(tuner, encoding="utf-8", errors="replace") as file:
        found = re.search(r"Version ([0-9.]+)", file.read(2000))
    return f"MySQLTuner {found[1] if found else 'of an unknown version'}"


def _print(outcome: Outcome) -> None:
    print(f"  expected {outcome.expected}, reported {', '.join(outcome.codes)}")
    for name in ("false", "applied", "refused"):
        for text in getattr(outcome, name):
            print(f"  {name}: {text}")
    if outcome.error:
        print(f"  error: {outcome.error}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tools/lab/scenarios.py", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="run this scenario alone")
    parser.add_argument("--tuner", default="", metavar="FILE", help="a mysqltuner.pl to run beside")
    parser.add_argument("--try", dest="attempt", action="store_true", help="print the outcome, write nothing")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
