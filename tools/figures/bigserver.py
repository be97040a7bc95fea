"""Audit a server with 10,000 tables and 1,000 connections, compare with MySQLTuner, and update docs/peers.md.

usage: python tools/figures/bigserver.py [SERVER]…

Takes some minutes and two gigabytes of disk per server (TABLES=, CONNECTIONS= for less). TUNER= names the mysqltuner.pl
to run instead of the installed one.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins"), os.path.join(TOP, "tools", "lab")]

from bigmade import CONNECTIONS, TABLES, big
from bigpage import put, section
from figure import Figure
from labpeers import PEERS
from real_servers import lacking
from server_logs import Load, logged

from probes.sandbox import Sandbox, SandboxError

SERVERS = ("mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.8")
TOOLS = ("mycnf", "mysqltuner")
ACCOUNTS = {"mycnf": "mycnf", "mysqltuner": "tuner"}
TUNER = os.environ.get("TUNER", "")
TUNER_COMMAND = ["perl", os.path.abspath(TUNER)] if TUNER else ["mysqltuner"]
ROUNDS = 3
PATIENCE = 300.0  # seconds
FASTER = 10  # times
TOO_LONG = 124  # the exit code that timeout(1) uses; such a tool is not timed again
PERL_DIES = re.compile(r"^.+ at \S+ line \d+", re.MULTILINE)


class Ran(NamedTuple):
    """One run of a tool: wall-clock and CPU seconds (of its own processes), and its output."""

    seconds: float
    processor: float
    code: int
    text: str


class Took(NamedTuple):
    """A tool's cost on a server: seconds of each run, median CPU seconds, and its load on the server.

    `ended_error` is the error that ended it, or "".
    """

    seconds: tuple[float, ...]
    processor: float
    ended_error: str
    load: Load

    @property
    def median(self) -> float:
        """The median seconds of a run."""
        return statistics.median(self.seconds)


def figures(top: str) -> Iterator[Figure]:  # noqa: ARG001 - every family is called alike
    """Speed relative to MySQLTuner, number of statements compared with its, and the load on the server."""
    for name in SERVERS:
        if reason := _lacking(name):
            yield Figure(f"audit of {name} with {TABLES:,} tables", None, reason_missing=reason)
            continue
        try:
            took = measure(name)
        except (SandboxError, RuntimeError) as error:
            yield Figure(f"audit of {name} with {TABLES:,} tables", None, reason_missing=str(error))
            continue
        ours, theirs = took["mycnf"], took["mysqltuner"]
        about = f"{name}, {TABLES:,} tables, {CONNECTIONS:,} connections"
        yield Figure(f"{about}: MySQLTuner / audit", theirs.median / ours.median, "times", ">=", FASTER)
        share = ours.load.statements / theirs.load.statements
        yield Figure(f"{about}: statements / MySQLTuner's", share, "times", "<=", 1)
        yield Figure(f"{about}: longest statement", ours.load.longest, "s", "<=", 1)
        yield Figure(f"{about}: rows examined a table", ours.load.rows / TABLES, "", "<=", 3)


def main() -> int:
    """Measure, and write the section of the page."""
    costs = {}
    for name in sys.argv[1:] or SERVERS:
        if reason := _lacking(name):
            print(f"{name}: not measured: {reason}")
            continue
        costs[name] = measure(name)
        print(name, *costs[name].items(), sep="\n  ", flush=True)
    put(TOP, section(costs, _version()))
    return int(any(t["mycnf"].median * FASTER > t["mysqltuner"].median for t in costs.values()))


def measure(name: str) -> dict[str, Took]:
    """The cost of each tool: timed in turn, then once each while the server logs all statements."""
    with big(name) as sandbox, tempfile.TemporaryDirectory(prefix="big-") as home:
        runs: dict[str, list[Ran]] = {tool: [] for tool in TOOLS}
        for _ in range(ROUNDS):
            for tool in TOOLS:
                if all(run.code != TOO_LONG for run in runs[tool]):
                    runs[tool].append(_run(tool, sandbox, home))
        took = {}
        for tool in TOOLS:
            with logged(sandbox) as logs:
                _run(tool, sandbox, home)
            timed = runs[tool]
            processor = statistics.median(run.processor for run in timed)
            load = logs.of(ACCOUNTS[tool])
            took[tool] = Took(tuple(run.seconds for run in timed), processor, _end(timed), load)
        return took


def _run(tool: str, sandbox: Sandbox, home: str) -> Ran:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(
        _command(tool, sandbox, home),
        cwd=TOP,
        env={**os.environ, "HOME": home},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as running:
        try:
            text, _ = running.communicate(timeout=PATIENCE)
            code = running.returncode
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)  # with the client that it runs
            text, code = running.communicate()[0], TOO_LONG
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if tool == "mycnf" and code:
        raise RuntimeError(f"mycnf audit ended with {code}: {text}")
    return Ran(seconds, processor, code, text)


def _end(runs: Sequence[Ran]) -> str:
    """The first run's error message in Perl's format, or its exit code; empty without an error."""
    failed = next((run for run in runs if run.code), None)
    if failed is None:
        return ""
    if failed.code == TOO_LONG:
        return f"it was ended after {PATIENCE:.0f} s"
    ending = PERL_DIES.search(failed.text)
    return ending[0] if ending else f"exit code {failed.code}"


def _command(tool: str, sandbox: Sandbox, home: str) -> Sequence[str]:
    # MySQLTuner's client gets the socket from ~/.my.cnf (labpeers.py), which sets no account for mycnf.
    account = ACCOUNTS[tool]
    with open(os.path.join(home, ".my.cnf"), "w", encoding="utf-8") as file:
        file.write(f"[client]\nuser={account}\nsocket={sandbox.socket}\n")
    if tool == "mycnf":
        options = ["--socket", sandbox.socket, "--user", account, "--window", "0", "--fail-on", "never"]
        return [sys.executable, "-m", "advisor", "audit", "--format", "text", *options]
    words = (account if word == "root" else word.format(socket=sandbox.socket) for word in PEERS[tool])
    return [*TUNER_COMMAND, *words]


def _lacking(name: str) -> str:
    if not TUNER and shutil.which("mysqltuner") is None:
        return "no MySQLTuner (apt-get install mysqltuner, or TUNER=FILE)"
    return lacking(name) or ""


def _version() -> str:
    help_ = [*TUNER_COMMAND, "--help"]
    ran = subprocess.run(help_, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    version = re.search(r"MySQLTuner (\d[\d.]*)", ran.stdout + ran.stderr)
    return version[1] if version else "of unknown version"


if __name__ == "__main__":
    sys.exit(main())
