"""Measure the misconfigured servers of examples/lab before and after applying the tool's own advice.

usage: python tools/lab [--dry-run] [--only NAME]… [--work DIR] [--together N] [--advise] [--peers] [--tuner FILE]
[--seconds N] [--uptime N] [--rounds N]

There are two steps. First each server runs under its load for ten minutes, because an audit ignores counters before
that, and is audited; --together N does so for N servers at a time, --advise stops there. Then both option files of
each are measured, one server at a time, which takes about an hour and a half on an otherwise idle machine.
docs/experiments/lab.md and lab.json are written after every server; with --only the other results are kept. --work DIR
saves the advice, so that a second call continues from there. TMPDIR selects the file system to measure.

--peers also runs MySQLTuner and pt-variable-advisor, on these servers and on six with only their defaults, and saves
their output in DIR for tools/lab/peers.py. --tuner names the mysqltuner.pl to run instead of the installed one.

--dry-run audits each server after some seconds of load, as if it had been up for an hour, and prints what would be
applied. --seconds, --rounds and a shorter --uptime are for testing; then nothing is written.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from functools import partial

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins"), os.path.join(TOP, "tests", "servers")]

import labpage
import labpeers
from labaudit import Times
from labdefaults import default_labs
from labfolder import FEWEST_ROUNDS, Lab, labs
from labrounds import length, measure_rounds
from labserver import filled_server
from labstage import Stage, stage_labs
from real_servers import provisioned

from advisor.core.errors import MycnfError
from advisor.core.model import exact_size
from probes.stop import StopSignal
from probes.workload.own_driver import choose_driver

FOLDER = os.path.join(TOP, "examples", "lab")
PAGE = os.path.join(TOP, "docs", "experiments", "lab.md")
RESULTS = os.path.join(TOP, "docs", "experiments", "lab.json")
RIPE = 615.0  # seconds of uptime from which on an audit uses counters
WINDOW = 60.0
BRIEF = Times(5.0, 20.0, aged=3600)  # for a dry run, which adds to the server's uptime
SEED = 20
TERMINATED = 128 + signal.SIGTERM


def main() -> int:
    """Run the selected labs; 1 if one of them got worse or could not be measured."""
    asked = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # removes the server and its control group
    chosen = _chosen(asked)
    if asked.peers and (absent := labpeers.missing(asked.tuner)):
        sys.exit(f"lab: {', '.join(absent)} must be installed for --peers")
    with tempfile.TemporaryDirectory(prefix="lab-work-") as folder:
        stages = _advise_labs(chosen, asked, asked.work or folder)
        return 0 if asked.dry_run or asked.advise else _measure_labs(stages, asked)


def _chosen(asked: argparse.Namespace) -> list[Lab]:
    every = labs(FOLDER)
    chosen = [_short_trial(lab, asked) for lab in every if not asked.only or lab.name in asked.only]
    if unknown := set(asked.only) - {lab.name for lab in every}:
        sys.exit(f"lab: there is no {', '.join(sorted(unknown))} in examples/lab")
    return chosen


def _advise_labs(chosen: list[Lab], asked: argparse.Namespace, work: str) -> list[tuple[Lab, Stage | MycnfError]]:
    """The advice for each server, printed as it arrives; default servers are only audited, not measured."""
    every = [*chosen, *(default_labs(work) if asked.peers else ())]
    times = BRIEF._replace(load=asked.uptime) if asked.dry_run else Times(asked.uptime, WINDOW)
    peers = partial(labpeers.ask_tools, tuner=asked.tuner) if asked.peers else labpeers.nobody
    stages = []
    for lab, stage in zip(every, stage_labs(every, work, times, asked.together, peers), strict=True):
        print(f"{lab.name}: {_plan(lab)}")
        _tell(stage)
        stages.append((lab, stage))
    return stages[: len(chosen)]


def _measure_labs(stages: list[tuple[Lab, Stage | MycnfError]], asked: argparse.Namespace) -> int:
    trying = bool(asked.seconds or asked.rounds or asked.uptime < RIPE)
    print(f"about {sum(length(lab) for lab, _ in stages) / 60:.0f} minutes", flush=True)
    rows = {} if trying else labpage.saved_rows(RESULTS)
    for lab, stage in stages:
        rows[lab.name] = row = _row(lab, stage)
        print(labpage.line(row), flush=True)
        if not trying:
            labpage.keep(RESULTS, rows)
            with open(PAGE, "w", encoding="utf-8") as page:
                page.write(labpage.page(rows[name] for name in sorted(rows)))
    return int(any(row.verdict in ("skipped", "worse") for row in rows.values()))


def _row(lab: Lab, stage: Stage | MycnfError) -> labpage.Row:
    """A lab's row, with the error if it could not be measured."""
    try:
        if isinstance(stage, MycnfError):
            raise stage
        with (
            tempfile.TemporaryDirectory(prefix="lab-") as place,
            filled_server(lab, provisioned(lab.server), place, None, StopSignal()) as served,
        ):
            result = measure_rounds(lab, served, choose_driver("auto"), stage.files, SEED)
    except MycnfError as error:
        return labpage.blank(lab, skipped=str(error))
    return labpage.row_of(lab, stage.advice, result)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tools/lab", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--dry-run", action="store_true", help="print what would be applied, measure nothing")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this server alone")
    parser.add_argument("--work", metavar="DIR", help="keep what was advised here, and go on from it")
    parser.add_argument("--together", type=int, default=1, help="servers that are aged at a time")
    parser.add_argument("--advise", action="store_true", help="end once all are audited")
    parser.add_argument("--peers", action="store_true", help="ask other tools too, and of default servers")
    parser.add_argument("--tuner", default="", metavar="FILE", help="the mysqltuner.pl to run with --peers")
    parser.add_argument("--seconds", type=int, help="length of a block and of its warm-up, to try the mechanics")
    parser.add_argument("--rounds", type=int, help=f"rounds, to try the mechanics ({FEWEST_ROUNDS} or more count)")
    parser.add_argument("--uptime", type=float, help=f"seconds of load before the audit ({RIPE:g} count)")
    asked = parser.parse_args()
    asked.tuner = asked.tuner and os.path.abspath(asked.tuner)  # tools run in a directory of their own
    asked.uptime = asked.uptime or (BRIEF.load if asked.dry_run else RIPE)
    return asked


def _short_trial(lab: Lab, asked: argparse.Namespace) -> Lab:
    return lab._replace(
        seconds=asked.seconds or lab.seconds,
        rounds=asked.rounds or lab.rounds,
        warm=min(lab.warm, asked.seconds or lab.warm),
    )


def _plan(lab: Lab) -> str:
    limit = f" in {exact_size(lab.memory)} of memory" if lab.memory else ""
    load = f"{lab.workload.name} by {lab.threads} on {lab.tables} x {lab.rows:,} rows ({lab.access})"
    blocks = f"{lab.metric.name} ({lab.metric.better} is better) in {lab.rounds} rounds of {lab.seconds} s each"
    return f"{lab.fault or 'nothing'} of {lab.server}{limit}; {load}; {blocks}"


def _tell(stage: Stage | MycnfError) -> None:
    if isinstance(stage, MycnfError):
        print(f"  not audited: {stage}", flush=True)
        return
    for finding in stage.report["findings"]:
        for action in finding["actions"]:
            if action["option_line"]:
                print(f"  {finding['code']} {finding['name']}: {action['option_line']}")
    print(f"  findings without a line: {', '.join(stage.advice.left) or 'none'}")
    print(f"  rules skipped: {', '.join(skipped['code'] for skipped in stage.report['skipped']) or 'none'}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
