"""Suggested files: started by the servers they are for, silent to the rules, and different by host and workload."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from advisor.analysis import run_rules
from advisor.catalog.targets import SERIES, parse_target
from advisor.collect.host.host import host_from_options, parse_ram
from advisor.core.model import Severity, Target
from advisor.report.suggested_file import option_file
from advisor.suggest import judge_text, suggest
from advisor.suggest.choices import WORKLOADS
from advisor.verdict.settings import Settings
from rules import all_rules
from rules.core.areas import find_evidence as evidence
from rules.core.context import RuleContext

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
SLOW_LOG = {"slow_query_log", "long_query_time"}
COMPLAINTS = re.compile(r"\[(?:warning|error)\][^\n]*", re.IGNORECASE)


def lines(suggestion: Suggestion) -> dict[str, str]:
    """Options and values as the file sets them."""
    return {choice.option: choice.value for choice in suggestion.choices}


def complaints(sandbox: Sandbox) -> set[str]:
    """The warnings and errors of a server's last start, without numbers and paths.

    Where servers of other tests take the host's I/O contexts, a start tries io_setup again.
    """
    lines = COMPLAINTS.findall(sandbox.read_log())
    return {re.sub(r"[\d/][\w./-]*", "", line) for line in lines if "io_setup()" not in line}


def test_the_server_starts_with_it_and_keeps_every_value(
    server_name: str, server: Server, start: Start, tmp_path: Path
) -> None:
    """A server complains of nothing that it is silent of by default, and runs as the file sets."""
    usual = server(server_name)
    suggestion = suggest(parse_target(str(usual.binary.target)), STARTED, "oltp")
    file = tmp_path / "my.cnf"
    file.write_text(option_file(suggestion, "a test"), "utf-8")
    own = start(server_name, option_file=file)
    if suggestion.target.is_mysql:
        own.restart()  # the first start warns that it makes a redo log of another size, and an identity
    assert complaints(own) - complaints(usual) == set()
    settings = Settings.from_file(judge_text(suggestion.target, file.read_text("utf-8")))
    with own.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        running = {name.lower(): value for name, value in cursor.fetchall()}
    assert {name: running[name] for name in lines(suggestion)} == {n: settings.text(n) for n in lines(suggestion)}


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_no_rule_reports_it(target: Target, host: str, workload: str) -> None:
    """No rule warns of a suggested file on the host that it is for, and each line is as the server takes it."""
    suggestion = suggest(target, HOSTS[host], workload)
    verdict = judge_text(target, option_file(suggestion, host))
    known = RuleContext(target, verdict.catalog, Settings.from_file(verdict), verdict, host=HOSTS[host])
    assert [f for f in run_rules(known, all_rules()).findings if f.severity is not Severity.NOTE] == []
    assert set(verdict.effective) == set(lines(suggestion))
    defaults = {name: verdict.catalog.get(name).default for name in lines(suggestion)}
    assert [name for name, line in verdict.effective.items() if line.value == defaults[name]] == []


def test_every_line_has_a_basis() -> None:
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


@pytest.mark.parametrize(("workload", "pool"), [("oltp", "52G"), ("mixed", "52G"), ("analytic", "49G"), ("dev", "1G")])
def test_a_pool_by_the_workload(workload: str, pool: str) -> None:
    """The pool is what everything else leaves: long statements need more, and a developer's data is small."""
    host = host_from_options(ram="64G", cpus=16, disk="nvme", tar=None)
    assert lines(suggest(parse_target("mysql-8.4"), host, workload))["innodb_buffer_pool_size"] == pool


@pytest.mark.parametrize(("cpus", "pool"), [(4, "324G"), (64, "322G"), (256, "320G")])
def test_a_pool_that_every_number_of_instances_divides(cpus: int, pool: str) -> None:
    """MySQL 8.4 rounds a pool up to its chunks times its instances, which depend on the processors."""
    host = host_from_options(ram="382G", cpus=cpus, disk="nvme", tar=None)
    assert lines(suggest(parse_target("mysql-8.4"), host, "oltp"))["innodb_buffer_pool_size"] == pool


@pytest.mark.parametrize(
    ("ram", "cpus", "low", "high"),
    [("2G", 2, 0.25, 0.5), ("16G", 8, 0.6, 0.85), ("512G", 64, 0.8, 0.9), ("2T", 128, 0.8, 0.92)],
)
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_no_fixed_share_of_the_memory(target: Target, ram: str, cpus: int, low: float, high: float) -> None:
    """The share that the pool gets grows with the memory, as what else is needed doesn't grow as fast."""
    host = host_from_options(ram=ram, cpus=cpus, disk="ssd", tar=None)
    pool = parse_ram(lines(suggest(target, host, "oltp"))["innodb_buffer_pool_size"])
    assert low < pool / parse_ram(ram) < high


@pytest.mark.parametrize(
    ("ram", "disk", "size"), [("2G", "ssd", None), ("8G", "ssd", "1G"), ("64G", "ssd", "2G"), ("1T", "hdd", "4G")]
)
def test_a_redo_log_by_the_pool_and_the_disk(ram: str, disk: str, size: str | None) -> None:
    """The log grows with the pool, to what recovery from the disks allows."""
    host = host_from_options(ram=ram, cpus=8, disk=disk, tar=None)
    assert lines(suggest(parse_target("mysql-8.4"), host, "oltp")).get("innodb_redo_log_capacity") == size


def test_connections_by_processors_and_memory() -> None:
    """More for many processors, fewer where idle ones would take the pool's memory, and else the default."""
    found = []
    for ram, cpus in (("1G", 2), ("2G", 2), ("8G", 8), ("64G", 16), ("256G", 64)):
        host = host_from_options(ram=ram, cpus=cpus, disk="ssd", tar=None)
        found.append(lines(suggest(parse_target("mysql-8.4"), host, "oltp")).get("max_connections"))
    assert found == ["50", "100", None, "500", "1000"]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_a_binary_log_that_survives_and_ends(target: Target) -> None:
    """Where the version has none by default: synced, as rows, and purged after a week; none for a developer."""
    host = host_from_options(ram="8G", cpus=4, disk="ssd", tar=None)
    written = lines(suggest(target, host, "oltp"))
    assert ("log_bin" in written) is not target.since("mysql", 8)
    assert written.get("sync_binlog") == ("1" if target.is_mariadb else None)
    assert {"expire_logs_days", "binlog_expire_logs_seconds"} & set(written) or target.since("mysql", 8)
    assert "log_bin" not in lines(suggest(target, host, "dev"))


def test_little_memory_gets_no_pool_and_no_redo_log() -> None:
    """Where a share of the memory is no more than the default nothing is said."""
    host: Host = host_from_options(ram="350M", cpus=1, disk=None, tar=None)
    assert set(lines(suggest(parse_target("mysql-9.7"), host, "oltp"))) == {*SLOW_LOG, "max_connections"}


def test_what_is_not_known_is_said() -> None:
    """Without memory and disks their lines are left out, and a comment in the file names them."""
    suggestion = suggest(parse_target("mysql-9.7"), HOSTS["unknown"], "oltp")
    text = option_file(suggestion, "a host")
    assert set(lines(suggestion)) == SLOW_LOG
    assert "use --ram" in text.replace("\n# ", " ")
    assert "use --disk" in text.replace("\n# ", " ")


def test_durability_is_never_traded() -> None:
    """No workload gets a line that loses commits or pages."""
    never = {"innodb_flush_log_at_trx_commit", "innodb_doublewrite", "innodb_checksum_algorithm"}
    for target in TARGETS:
        for workload in WORKLOADS:
            written = lines(suggest(target, HOSTS["large"], workload))
            assert not never & set(written)
            assert written.get("sync_binlog", "1") == "1"


def test_what_local_infile_is_switched_off_for() -> None:
    """It stops statements; a compromised server asks clients with either setting, as SEC004 says."""
    made = suggest(parse_target("mariadb-11.4"), HOSTS["small"], "oltp")
    (reason,) = (choice.reason for choice in made.choices if choice.option == "local_infile")
    assert "LOAD DATA LOCAL" in reason
    assert "compromised" not in reason
