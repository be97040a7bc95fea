"""Audits of managed servers advise nothing that their users cannot do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from rule_cases import Case, context_of_case

from advisor.analysis import run_rules
from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.core.model import Action
from rules import all_rules
from rules.core.statements import place_of, possible_on_platform, service_value

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding

# Settings that cause advice on a self-managed server, and names that users of Aurora cannot change.
FILE = """
innodb_log_file_size = 4M
innodb_log_buffer_size = 1G
innodb_buffer_pool_size = 8G
innodb_buffer_pool_instances = 64
innodb_change_buffer_max_size = 50
innodb_max_dirty_pages_pct = 5
innodb_max_dirty_pages_pct_lwm = 0
innodb_page_cleaners = 1
innodb_doublewrite = OFF
innodb_flush_method = nosync
innodb_flush_log_at_trx_commit = 0
innodb_flush_neighbors = 2
innodb_io_capacity = 20
innodb_io_capacity_max = 40
innodb_adaptive_flushing = OFF
innodb_thread_concurrency = 1
innodb_lru_scan_depth = 100
innodb_read_io_threads = 1
sync_binlog = 0
thread_cache_size = 0
thread_stack = 128K
sort_buffer_size = 256M
max_allowed_packet = 1K
"""
NOT_ON_AURORA = (
    "innodb_log_file_size", "innodb_buffer_pool_instances", "innodb_buffer_pool_chunk_size", "innodb_doublewrite",
    "innodb_change_buffer_max_size", "thread_handling", "innodb_max_dirty_pages_pct", "innodb_page_cleaners",
    "innodb_io_capacity", "innodb_io_capacity_max", "innodb_flush_method", "innodb_redo_log_capacity", "sync_binlog",
    "innodb_flush_neighbors", "innodb_log_buffer_size", "thread_cache_size", "innodb_flush_log_at_trx_commit",
    "innodb_adaptive_flushing", "innodb_thread_concurrency", "innodb_read_io_threads",
)  # fmt: skip
WORKLOAD = {
    "seconds": 60.0,
    "redo": 900_000_000,
    "rises": {"Innodb_log_waits": 500, "Connections": 6000, "Threads_created": 6000, "Questions": 60000},
    "gauges": {"Innodb_buffer_pool_pages_dirty": [90000, 95000], "Innodb_buffer_pool_pages_total": [100000, 100000]},
}


def findings_on(folder: Path, managed: str) -> list[Finding]:
    """All findings of an audit of a server with these settings."""
    case = Case("", "", "mysql-8.0.43", file=FILE, server={"managed": managed}, workload=WORKLOAD)
    return list(run_rules(context_of_case(case, folder), all_rules()).findings)


def advice_of(findings: list[Finding]) -> str:
    """All that the findings are about or advise, without those about the server's own lines."""
    own = [f for f in findings if not f.code.startswith(("OPT", "PAR"))]
    return " ".join(f"{f.canonical} {f.help} {[a[:2] for a in f.actions]}" for f in own)


@pytest.mark.parametrize("name", NOT_ON_AURORA)
def test_nothing_is_advised_that_users_of_aurora_cannot_change(name: str, tmp_path: Path) -> None:
    """On Aurora no finding is about the variable, and none advises to set it."""
    assert re.search(rf"\b{name}\b", advice_of(findings_on(tmp_path, "aurora"))) is None


def test_self_managed_servers_get_that_advice(tmp_path: Path) -> None:
    """The same settings elsewhere are reported, so that the absence on Aurora means something."""
    own = advice_of(findings_on(tmp_path, ""))
    assert sum(re.search(rf"\b{name}\b", own) is not None for name in NOT_ON_AURORA) >= 8


def test_what_users_of_aurora_can_change_is_still_advised(tmp_path: Path) -> None:
    """Buffers of sessions are reported on Aurora, with the group and a plain number."""
    found = [f for f in findings_on(tmp_path, "aurora") if f.canonical == "sort_buffer_size"]
    assert found
    lines = [a.option_line or "" for f in found for a in f.actions]
    assert lines
    assert not any(re.search(r"\d[KMG]$", line) for line in lines)
    assert any("the DB parameter group" in a.risk for f in found for a in f.actions)


def test_places_and_values_of_the_platforms(tmp_path: Path) -> None:
    """Cluster-level parameters belong to the cluster's group, and sizes are numbers of bytes."""
    target = context_of_case(Case("", "", "aurora-mysql-3", file="port = 1"), tmp_path).target
    assert place_of(target, "binlog_format") == "the DB cluster parameter group"
    assert place_of(target, "max_connections") == "the DB parameter group"
    switch, word = load(target).get("slow_query_log"), load(target).get("gtid_mode")
    assert [service_value(target, switch, v) for v in ("64M", "500", "ON", "OFF")] == ["67108864", "500", "1", "0"]
    assert service_value(target, word, "ON") == service_value(parse_target("azure-mysql-8.0"), switch, "ON") == "ON"


def test_numbers_that_a_platform_takes(tmp_path: Path) -> None:
    """Of a service that takes only certain sizes, the next larger one is advised."""
    azure, cloud = parse_target("azure-mysql-8.0"), parse_target("cloudsql-mysql-8.0")
    redo, temporary = load(azure).get("innodb_log_file_size"), load(cloud).get("tmp_table_size")
    assert [service_value(azure, redo, v) for v in ("48M", "512M", "1025M")] == ["268435456", "536870912", "2147483648"]
    assert service_value(cloud, temporary, "32M") == "33554432"


@pytest.mark.parametrize(("line", "possible"), [("tmp_table_size = 64M", True), ("tmp_table_size = 128M", False)])
def test_values_that_a_platform_does_not_take(line: str, possible: bool, tmp_path: Path) -> None:
    """A finding whose only advice is a value above the platform's limit is left out."""
    context = context_of_case(Case("", "", "cloudsql-mysql-8.0", file="port = 1"), tmp_path)
    (finding, *_) = findings_on(tmp_path, "")
    advised = finding._replace(code="TMP001", canonical=None, help="", actions=(Action(line),))
    assert bool(possible_on_platform(context, [advised])) is possible


def test_a_parameter_has_no_line(tmp_path: Path) -> None:
    """What is removed from an option file is reset in the parameter group."""
    found = [f for f in findings_on(tmp_path, "rds") if f.code == "DUR004"]
    assert [f.help.partition(":")[0] for f in found] == ["reset it in the DB parameter group"]
    assert not any("remove the line" in f.help for f in findings_on(tmp_path, "azure") if f.code != "OPT008")


def test_findings_of_self_managed_servers_do_not_change(tmp_path: Path) -> None:
    """Without a platform all findings stay as they are."""
    context = context_of_case(Case("", "", "mysql-8.0.43", file="", server={}), tmp_path)
    found = findings_on(tmp_path, "")
    assert possible_on_platform(context, found) == found
