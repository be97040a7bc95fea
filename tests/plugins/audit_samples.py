"""Audits with handwritten findings on a recorded server, including hostile ones."""

from __future__ import annotations

from functools import cache

from hostile_findings import SECRET, nasty
from msgspec.structs import replace
from mycnf_command import CHECKOUT

from advisor.analysis.audited import AuditResult
from advisor.analysis.context import build_context
from advisor.core.model import Action, Confidence, Finding, LocalResult, Location, Severity, SkippedCheck
from advisor.facts import Facts, FileCopy, OptionFiles, Unavailable
from advisor.facts.snapshot import load

SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"
HOSTILE = "db|1 `<b>` @team #12 [x](http://y) \x1b[31m\u202e ~a~ **b** \n# c"


@cache
def recorded() -> Facts:
    """The facts of the recorded server."""
    return load(str(SNAPSHOT))


def audited(*findings: Finding, facts: Facts | None = None) -> AuditResult:
    """The findings as an audit of the recorded server."""
    known = facts or recorded()
    return AuditResult(known, build_context(known, None), findings, (), rule_codes=("TST001", "TST002", "OPT001"))


def nasty_audit() -> AuditResult:
    """Hostile findings with hostile actions, on a server with hostile texts."""
    read = recorded()
    server = replace(read.server, variables={**read.server.variables, "hostname": HOSTILE})
    server = replace(server, version_comment=HOSTILE, managed=HOSTILE)
    files = replace(read.files or OptionFiles(), files=(FileCopy(HOSTILE, None), FileCopy("/etc/my.cnf", "")))
    facts = replace(read, server=server, files=files, lost=HOSTILE, unavailable=(Unavailable("host", HOSTILE),))
    found = [f._replace(actions=(_action(f),), local=_local(), set_by=HOSTILE) for f in nasty()[0].findings]
    made = audited(*found, facts=facts)
    return made._replace(
        skipped=(SkippedCheck("TST001", HOSTILE), SkippedCheck("TST002", HOSTILE)),
        suppressed=((found[0], HOSTILE), (found[1], f"password = '{SECRET}'")),
    )


def _action(f: Finding) -> Action:
    line = f"{f.option} = {f.value}"
    return Action(
        line,
        f"SET GLOBAL {line};",
        HOSTILE,
        restart=bool(f.help),
        undo=HOSTILE,
        watch=HOSTILE,
        place=f.location,
        replaces=line,
    )


def _local() -> LocalResult:
    return LocalResult("scan", HOSTILE, "worse", HOSTILE)


def many(count: int) -> AuditResult:
    """That many findings of realistic length, most severe first."""
    action = Action(
        "read_buffer_size = 128K", "SET GLOBAL read_buffer_size = 131072;", "none", undo="SET GLOBAL x = 1;"
    )
    found = [
        Finding(
            f"TST{number:04}",
            "one-of-many",
            list(Severity)[3 * number // count],
            Confidence.LIKELY,
            "The setting is what nobody would choose who had seen what it does under load. " * 2,
            help="write something else",
            option="read_buffer_size",
            value="8M",
            location=Location("/etc/mysql/mariadb.conf.d/90-tuning.cnf", number + 1),
            evidence=("RBS-01", "RBS-02", "ASK-01"),
            actions=(action,),
        )
        for number in range(count)
    ]
    return audited(*found)
