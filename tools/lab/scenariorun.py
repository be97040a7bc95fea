"""Run a scenario: audit its server, apply the advice as printed, and audit again."""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any, NamedTuple

import labpeers
import pymysql
from labadvice import advice_of, apply
from labaudit import audit_report
from labfolder import LabError
from live_server import Live
from peertold import of_mysqltuner
from scenario import Scenario
from steps import Stage, stage_scenario
from topology import servers, wait_until, write_file

from advisor.catalog import load
from probes.sandbox import SandboxError

FIRST = 3  # findings among which the fault must be
# A throwaway server runs as the user who started it, and its root has no password; in a container the kernel's killer
# of processes is not configured.
THROWAWAY = ("SEC016", "SEC023", "SYS011")
SERIOUS = ("error", "warning")
Finding = dict[str, Any]


class Outcome(NamedTuple):
    """What an audit reported about a scenario, and what its advice did.

    `rank` is the place of the first finding about the fault, 0 without one. `false` are errors and warnings that the
    scenario does not list, `refused` printed statements with the server's answer, `applied` what was executed or
    written. `after` is gone, better, unchanged, worse, by hand, or empty where nothing was wrong. `tuner` says whether
    MySQLTuner named the fault, None if it was not asked, `tuner_lines` how many warnings it printed.
    """

    name: str
    title: str
    server: str
    topology: str
    expected: tuple[str, ...]
    rank: int
    codes: tuple[str, ...]
    false: tuple[str, ...]
    refused: tuple[str, ...]
    applied: tuple[str, ...]
    after: str
    tuner: bool | None = None
    tuner_lines: int = 0
    error: str = ""

    @property
    def found(self) -> bool:
        """Whether the fault was among the first findings; for servers in order, whether there was no false finding."""
        return 0 < self.rank <= FIRST if self.expected else not self.false


def run_scenario(scenario: Scenario, tuner: str = "") -> Outcome:
    """Start the servers, break them, audit, apply the advice and audit again; an error is part of the outcome."""
    with tempfile.TemporaryDirectory(prefix="lab-") as place:
        try:
            with servers(scenario, place) as running, stage_scenario(scenario, running, place) as stage:
                return _judge_stage(scenario, stage, tuner)
        except (LabError, SandboxError) as error:
            return _blank(scenario)._replace(error=str(error))


def _judge_stage(scenario: Scenario, stage: Stage, tuner: str) -> Outcome:
    server = stage.servers[scenario.audit]
    before = _findings(scenario, server)
    outcome = _judge(scenario, before)
    if tuner:
        statements = list(of_mysqltuner(labpeers.mysqltuner_output(tuner, server.sandbox)))
        named = scenario.tuner and any(re.search(scenario.tuner, one.words) for one in statements)
        outcome = outcome._replace(tuner=bool(named), tuner_lines=len(statements))
    if not scenario.found:
        return outcome
    if scenario.after.by_hand:
        return outcome._replace(after="by hand")
    try:
        return _apply_advice(scenario, stage, outcome, before)
    except (LabError, SandboxError) as error:
        return outcome._replace(error=f"after the advice: {error}")


def _apply_advice(scenario: Scenario, stage: Stage, outcome: Outcome, before: list[Finding]) -> Outcome:
    """The outcome with what became of the findings once the advice was applied."""
    server, after = stage.servers[scenario.audit], scenario.after
    done, refused = execute_statements(server, before)
    for step in after.steps:
        stage.carry_out(step if step.on else step.model_copy(update={"on": scenario.audit}))
    outcome = outcome._replace(applied=(*done, *write_lines(server, before, stage.place)), refused=refused)
    if after.until:
        wait_until(stage.servers[after.on or scenario.audit], after.until, after.equals)
    later = _findings(scenario, server)
    return outcome._replace(after=_compare(scenario, before, later))


def _findings(scenario: Scenario, server: Live) -> list[Finding]:
    """The findings of an audit, without those that are true of every throwaway server."""
    report = audit_report(server.sandbox.socket, scenario.window, scenario.aged, scenario.arguments)
    return [finding for finding in report["findings"] if finding["code"] not in THROWAWAY]


def _judge(scenario: Scenario, findings: list[Finding]) -> Outcome:
    codes = [finding["code"] for finding in findings]
    rank = next((place for place, code in enumerate(codes, 1) if code in scenario.found), 0)
    expected = {*scenario.found, *scenario.others}
    false = [
        f"{finding['code']} {finding['name']}: {finding['message']}"
        for finding in findings
        if finding["code"] in scenario.absent or (finding["severity"] in SERIOUS and finding["code"] not in expected)
    ]
    return _blank(scenario)._replace(rank=rank, codes=tuple(codes), false=tuple(false))


def _blank(scenario: Scenario) -> Outcome:
    return Outcome(
        scenario.name, scenario.title, scenario.server, scenario.topology, scenario.found, 0, (), (), (), (), ""
    )


def execute_statements(server: Live, findings: list[Finding]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Execute each printed statement; returns those that were accepted, and the others with the server's answer."""
    done, refused = [], []
    for action in (action for finding in findings for action in finding["actions"]):
        if (statement := action["statement"]) is None:
            continue
        try:
            server.run(*statement.rstrip(";").split("; "))
            done.append(statement)
        except pymysql.err.MySQLError as error:
            refused.append(f"{statement}: {error.args[-1]}")
    return tuple(done), tuple(refused)


def write_lines(server: Live, findings: list[Finding], place: str) -> tuple[str, ...]:
    """Write the option lines of actions without a statement, and restart the server; returns the lines."""
    lines = [
        {**finding, "actions": [action for action in finding["actions"] if action["statement"] is None]}
        for finding in findings
    ]
    advice = advice_of({"findings": lines}).lines
    if advice:
        _restart_with(server, place, lines)
    return advice


def _restart_with(server: Live, place: str, findings: list[Finding]) -> None:
    path = str(server.sandbox.option_file or write_file(place, "advised", ""))
    with open(path, "rb") as file:
        data = file.read()
    made = apply(data, advice_of({"findings": findings}), load(server.sandbox.binary.target))
    with open(path, "wb") as file:
        file.write(made)
    os.chmod(path, 0o644)
    server.sandbox.option_file = path
    server.sandbox.stop()
    server.sandbox.restart()


def _compare(scenario: Scenario, before: list[Finding], later: list[Finding]) -> str:
    """How the findings changed: gone, better (a lower severity), unchanged or worse (new errors or warnings)."""
    known = {*(finding["code"] for finding in before), *scenario.others}
    if any(finding["severity"] in SERIOUS and finding["code"] not in known for finding in later):
        return "worse"
    left = [finding["severity"] for finding in later if finding["code"] in scenario.found]
    if not left:
        return "gone"
    first = [finding["severity"] for finding in before if finding["code"] in scenario.found]
    order = ("note", "warning", "error")
    return "better" if max(map(order.index, left)) < max(map(order.index, first)) else "unchanged"
