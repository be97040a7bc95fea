"""Audit a lab's server under load as a user would: by the command and its JSON output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from labfolder import Lab, LabError
from labserver import OptionFileServer, task_of

from probes.sandbox import Sandbox
from probes.stop import StopSignal
from probes.workload.own_driver import run_load

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATIENCE = 120.0  # seconds in addition to the window
LONGEST = 600.0  # maximum seconds of load while all tools run

Told = dict[str, str]  # output by the name of the program
Peers = Callable[[Sandbox], Told]


class Times(NamedTuple):
    """Seconds of load before the audit's window, of that window, and to add to the server's uptime.

    The addition simulates a longer uptime, to see what an audit would report.
    """

    load: float
    window: float
    aged: int = 0


class Asking(NamedTuple):
    """How a server is audited: the times, the other tools to run, and the signal to stop."""

    times: Times
    peers: Peers
    leaving: StopSignal


def audit_lab(lab: Lab, served: OptionFileServer, driver: str, asking: Asking) -> tuple[dict[str, Any], Told]:
    """The report of an audit at the end of the lab's load, and the output of the other tools right after it.

    Raises LabError if the load or the audit fails.
    """
    stop, failed = StopSignal(), []

    def run() -> None:
        try:
            run_load(driver, task_of(lab, served, 1), asking.times.load + asking.times.window + LONGEST, stop)
        except Exception as error:  # noqa: BLE001  said by the thread that waits for it
            failed.append(error)

    thread = threading.Thread(target=run, name="lab-load")
    thread.start()
    try:
        if asking.leaving.wait(asking.times.load):
            raise LabError(f"{lab.name}: left before it was audited")
        report = audit_report(served.sandbox.socket, asking.times.window, asking.times.aged)
        printed = asking.peers(served.sandbox)
    finally:
        stop.say("audited")
        thread.join()
    if failed:
        raise LabError(f"{lab.name}: the load broke off: {failed[0]}")
    return report, printed


def audit_report(socket: str, window: float, aged: int, arguments: tuple[str, ...] = ()) -> dict[str, Any]:
    """The report of `audit --format json` on the server at this socket; raises LabError if the audit fails."""
    live = ["--window", f"{window:g}", "--socket", socket, "--user", "root", *arguments]
    form = ["audit", "--format", "json", "--fail-on", "never", "--isolated"]
    with tempfile.TemporaryDirectory(prefix="lab-home-") as home:
        if aged:
            snapshot = os.path.join(home, "aged.json")
            _mycnf(["collect", "-o", snapshot, *live], home, window + PATIENCE)
            _age(snapshot, aged)
            printed = _mycnf([*form, "--snapshot", snapshot], home, PATIENCE)
        else:
            printed = _mycnf([*form, *live], home, window + PATIENCE)
    report: dict[str, Any] = json.loads(printed)
    return report


def _mycnf(words: list[str], home: str, timeout: float) -> str:
    # Earlier measurements and snapshots of this host must not affect the experiment.
    alone = {**os.environ, "HOME": home, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home, "PYTHONPATH": TOP}
    command = [sys.executable, "-m", "advisor", *words]
    try:
        ran = subprocess.run(command, env=alone, cwd=home, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as error:
        raise LabError(f"mycnf {words[0]} had not ended after {timeout:g} s") from error
    if ran.returncode != 0:
        raise LabError(f"mycnf {words[0]} ended with {ran.returncode}: {ran.stderr.strip()}")
    return ran.stdout


def _age(snapshot: str, seconds: int) -> None:
    with open(snapshot, encoding="utf-8") as file:
        facts = json.load(file)
    for sample in facts["workload"].values():
        sample["at"] += seconds
    status = facts["server"]["status"]
    status["uptime"] = str(int(status["uptime"]) + seconds)
    with open(snapshot, "w", encoding="utf-8") as file:
        json.dump(facts, file)
