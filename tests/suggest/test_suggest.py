"""Suggested files: started by the servers they are for, silent to the rules, and different by host and workload."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from advisor.analysis.engine import run_rules
from advisor.catalog.targets import SERIES, parse_target
from advisor.collect.declared import host_from_options
from advisor.core.model import Severity, Target
from advisor.report.suggested_file import option_file
from advisor.suggest import judge_text, suggest
from advisor.suggest.choices import WORKLOADS
from advisor.verdict.settings import Settings
from rules import all_rules
from rules.core.context import RuleContext
from rules.core.evidence import find_evidence as evidence

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Server, Start

    from advisor.facts import Host
    from advisor.suggest import Suggestion
    from probes.sandbox import Sandbox

TARGETS = [Target(flavour, patch) for flavour, series in SERIES.items() for patch in series.values()]
HOSTS = {
    "small": host_from_options(ram="600M", cpus=1, disk=None, tar=None),
    "spinning": host_from_options(ram="7G", cpus=4, disk="hdd", tar=None),
    "large": host_from_options(ram="380G", cpus=96, disk="nvme", tar=None),
    "unknown": host_from_options(ram=None, cpus=8, disk=None, tar=None),
}
# A server that is started takes room for its redo log, in a share of the memory.
STARTED = host_from_options(ram="2G", cpus=4, disk="hdd", tar=None)
COMPLAINTS = re.compile(r"\[(?:warning|error)\][^\n]*", re.IGNORECASE)


def lines(suggestion: Suggestion) -> dict[str, str]:
    """Options and values as the file says them."""
    return {choice.option: choice.value for choice in suggestion.choices}


def complaints(sandbox: Sandbox) -> set[str]:
    """The warnings and errors of a server's last start, without numbers and paths."""
    return {re.sub(r"[\d/][\w./-]*", "", line) for line in COMPLAINTS.findall(sandbox.read_log())}


def test_the_server_starts_with_it_and_keeps_every_value(
    server_name: str, server: Server, start: Start, tmp_path: Path
) -> None:
    """A server complains of nothing that it is silent of by default, and runs as the file says."""
    usual = server(server_name)
    suggestion = suggest(parse_target(str(usual.binary.target)), STARTED, "oltp")
    file = tmp_path / "my.cnf"
    file.write_text(option_file(suggestion, "a test"), "utf-8")
    own = start(server_name, option_file=file)
    if suggestion.target.is_mysql:
        own.restart()  # the first start warns that it makes a redo log of another size, and an identity
    assert complaints(own) - complaints(usual) == set()
    effective = judge_text(suggestion.target, file.read_text("utf-8")).effective
    with own.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        running = {name.lower(): value for name, value in cursor.fetchall()}
    wanted = {name: effective[name].value for name in lines(suggestion)}
    assert {name: running[name] for name in wanted} == {
        name: {"TRUE": "ON", "FALSE": "OFF"}.get(value or "", value) for name, value in wanted.items()
    }


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_no_rule_speaks_against_it(target: Target, host: str, workload: str) -> None:
    """No rule warns of a suggested file on the host that it is for, and each line is as the server takes it."""
    suggestion = suggest(target, HOSTS[host], workload)
    verdict = judge_text(target, option_file(suggestion, host))
    known = RuleContext(target, verdict.catalog, Settings.from_file(verdict), verdict, host=HOSTS[host])
    assert [f for f in run_rules(known, all_rules()).findings if f.severity is not Severity.NOTE] == []
    assert set(verdict.effective) == set(lines(suggestion))
    defaults = {name: verdict.catalog.get(name).default for name in lines(suggestion)}
    assert [name for name, line in verdict.effective.items() if line.value == defaults[name]] == []


def test_every_line_rests_on_something() -> None:
    """Each line has a reason in a whole sentence, and evidence that the store holds."""
    seen = set()
    for target in TARGETS:
        for host in HOSTS.values():
            for choice in suggest(target, host, "oltp").choices:
                seen.add(choice.option)
                assert choice.reason.endswith(".")
                assert all(evidence(one) for one in choice.evidence)
                assert choice.evidence or choice.option == "character_set_server"
    assert {"innodb_buffer_pool_size", "innodb_redo_log_capacity", "innodb_log_file_size", "local_infile"} <= seen


@pytest.mark.parametrize(("workload", "pool"), [("oltp", "44G"), ("mixed", "41G"), ("analytic", "38G"), ("dev", "16G")])
def test_a_pool_by_the_workload(workload: str, pool: str) -> None:
    """The share of the memory goes by what else needs it."""
    host = host_from_options(ram="64G", cpus=16, disk="nvme", tar=None)
    assert lines(suggest(parse_target("mysql-8.4"), host, workload))["innodb_buffer_pool_size"] == pool


@pytest.mark.parametrize(("cpus", "pool"), [(4, "267G"), (64, "266G"), (256, "264G")])
def test_a_pool_that_every_number_of_instances_divides(cpus: int, pool: str) -> None:
    """MySQL 8.4 rounds a pool up to its chunks times its instances, which go by the processors."""
    host = host_from_options(ram="382G", cpus=cpus, disk="nvme", tar=None)
    assert lines(suggest(parse_target("mysql-8.4"), host, "oltp"))["innodb_buffer_pool_size"] == pool


def test_little_memory_gets_no_pool_and_no_redo_log() -> None:
    """Where a share of the memory is no more than the default nothing is said."""
    host: Host = host_from_options(ram="350M", cpus=1, disk=None, tar=None)
    assert lines(suggest(parse_target("mysql-9.7"), host, "oltp")) == {}


def test_what_is_not_known_is_said() -> None:
    """Without memory and disks their lines are left out, and the file says so."""
    suggestion = suggest(parse_target("mysql-9.7"), HOSTS["unknown"], "oltp")
    text = option_file(suggestion, "a host")
    assert suggestion.choices == ()
    assert "give --ram" in text.replace("\n# ", " ")
    assert "give --disk" in text.replace("\n# ", " ")


def test_durability_is_never_traded() -> None:
    """No workload gets a line that loses commits or pages."""
    never = {"innodb_flush_log_at_trx_commit", "sync_binlog", "innodb_doublewrite", "innodb_checksum_algorithm"}
    for target in TARGETS:
        for workload in WORKLOADS:
            assert not never & set(lines(suggest(target, HOSTS["large"], workload)))
