"""Passed checks: reported with their numbers where the facts were read, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rule_cases import Case, context_of_case

from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from rules import all_rules
from rules.core.passed import CHECKED_PARTS, passed_checks

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding
    from probes.sandbox import Sandbox
    from rules.core.context import RuleContext

NAMES = {rule.name for rule in all_rules()}
WINDOW: dict[str, Any] = {
    "seconds": 10.0,
    "uptime": 86400.0,
    "rises": {"innodb_buffer_pool_read_requests": 5000, "innodb_buffer_pool_reads": 20, "sort_merge_passes": 1},
}


def known(tmp_path: Path, **words: Any) -> RuleContext:
    """A quiet server."""
    server = {"variables": {"max_connections": "151"}, "status": {"max_used_connections": "12", "open_files": "3"}}
    made: RuleContext = context_of_case(Case("", "", "mysql-8.0.15", server=server, **words), tmp_path)
    return made


def test_rules_of_the_looks_exist() -> None:
    """Each part names rules of the list, and no part is named twice."""
    assert [name for look in CHECKED_PARTS for name in look.rules if name not in NAMES] == []
    assert len({look.part for look in CHECKED_PARTS}) == len(CHECKED_PARTS)


def test_numbers_are_shown_where_nothing_was_found(tmp_path: Path) -> None:
    """A part without a finding has its numbers; one whose numbers aren't there is left out."""
    passed = dict(passed_checks(known(tmp_path), [], NAMES))
    assert passed["connections"].startswith("12 of 151 used at most, in ")
    assert "buffer pool" not in passed
    assert "memory" not in passed


def test_a_window_without_the_counters_of_a_part_omits_it(tmp_path: Path) -> None:
    """Samples that lack a counter, as some servers and texts do, leave its part out."""
    whole = dict(passed_checks(known(tmp_path, workload=WINDOW), [], NAMES))
    assert whole["buffer pool"] == "2.0 of 500 page requests a second went to disk"
    rises = {name: count for name, count in WINDOW["rises"].items() if name != "innodb_buffer_pool_reads"}
    assert "buffer pool" not in dict(passed_checks(known(tmp_path, workload=WINDOW | {"rises": rises}), [], NAMES))


def test_an_error_log_without_events_passes(tmp_path: Path) -> None:
    """What was read without an event has its beginning; an old event, or a log that was not read, has nothing."""
    log: dict[str, Any] = {"since": "2026-11-01 10:00:00"}
    error_log = {"taken_at": "2026-11-25T12:00:00+00:00"}
    events = {"crash": {"count": 1, "first": "2026-01-01 10:00:00", "last": "2026-01-01 10:00:00"}}

    def log_text(**server: Any) -> str | None:
        made = context_of_case(Case("", "", "mysql-8.0.15", server=error_log | server), tmp_path)
        return dict(passed_checks(made, [], NAMES)).get("error log")

    assert log_text(error_log=log) == "no crash, failed start, corruption or full disk from 2026-11-01 10:00 UTC on"
    text = log | {"read_from": "text", "until": "2026-11-02 11:00:00"}
    of_text = "no crash, failed start, corruption or full disk from 2026-11-01 10:00 to 2026-11-02 11:00 UTC"
    assert log_text(error_log=text) == of_text
    assert log_text(error_log=log | {"events": events}) is None
    assert log_text() is None


def test_open_files_are_those_of_innodb_too(tmp_path: Path) -> None:
    """Most descriptors are InnoDB's, which Open_files leaves out; without that counter nothing was looked at."""
    status = {"innodb_num_open_files": "89", "threads_connected": "6"}
    server: dict[str, Any] = {"variables": {"open_files_limit": "698"}, "status": {**status, "open_files": "12"}}
    passed = dict(passed_checks(context_of_case(Case("", "", "mariadb-10.11", server=server), tmp_path), [], NAMES))
    assert passed["open files"] == "at least 107 of 698 file descriptors in use"
    server["status"] = status
    assert "open files" not in dict(
        passed_checks(context_of_case(Case("", "", "mariadb-10.11", server=server), tmp_path), [], NAMES)
    )


def test_a_finding_replaces_its_part(tmp_path: Path) -> None:
    """Where a rule has found something its part is not fine; neither is one that no rule could look at."""
    quiet = known(tmp_path)
    rule = next(r for r in all_rules() if r.name == "few-connections-left")
    finding: Finding = rule.finding("Few are left.")
    assert "connections" not in dict(passed_checks(quiet, [finding], NAMES))
    assert "connections" not in dict(
        passed_checks(quiet, [], NAMES - {"few-connections-left", "connections-refused"} - RULES)
    )


RULES = {name for look in CHECKED_PARTS if look.part == "connections" for name in look.rules}


@pytest.mark.servers("mysql-9.7", "mariadb-11.8")
def test_a_real_server(any_server: Sandbox) -> None:
    """A default server has room for connections and files, and says how much it used."""
    from advisor.analysis.context import build_context

    facts = collect_from_account(Account(user="root", socket=any_server.socket), CollectRequest(window=0.0))
    passed = dict(passed_checks(build_context(facts), [], NAMES))
    assert {"connections", "commits"} <= set(passed)
    assert passed["commits"].endswith("at each commit") or "no binary log" in passed["commits"]


@pytest.mark.parametrize(
    ("part", "status", "rises"),
    [
        ("buffer pool", {}, {"innodb_buffer_pool_read_requests": 4010, "innodb_buffer_pool_reads": 945}),
        ("connections", {"max_used_connections": "140"}, {}),
        ("threads", {}, {"threads_created": 900, "connections": 1000}),
        ("temporary tables", {}, {"created_tmp_disk_tables": 80, "created_tmp_tables": 90}),
        ("table cache", {}, {"table_open_cache_overflows": 500, "table_open_cache_hits": 5000}),
        ("sorts", {}, {"sort_merge_passes": 500}),
        ("joins", {}, {"select_full_join": 100}),
        ("row locks", {}, {"innodb_row_lock_waits": 100, "innodb_row_lock_time": 50_000}),
        ("open files", {"open_files": "4000", "innodb_num_open_files": "700", "threads_connected": "5"}, {}),
        ("redo log", {"innodb_checkpoint_age": "900", "innodb_checkpoint_max_age": "1000"}, {}),
        # Rates below the rules' thresholds, and shares far beyond them.
        ("buffer pool", {}, {"innodb_buffer_pool_read_requests": 100, "innodb_buffer_pool_reads": 90}),
        ("threads", {}, {"threads_created": 9, "connections": 10}),
        ("temporary tables", {}, {"created_tmp_disk_tables": 9, "created_tmp_tables": 10}),
        ("table cache", {}, {"table_open_cache_overflows": 9, "table_open_cache_hits": 10}),
    ],
)
def test_no_unhealthy_figure_is_fine(tmp_path: Path, part: str, status: dict[str, str], rises: dict[str, int]) -> None:
    """A rule may be silent because nothing can be advised; a figure beyond its threshold is not called fine."""
    server: dict[str, Any] = {
        "variables": {"max_connections": "151", "open_files_limit": "5000", "innodb_log_file_size": "100663296"},
        "status": {"max_used_connections": "12", "open_files": "3", "innodb_num_open_files": "9", **status},
    }
    server["status"].setdefault("threads_connected", "6")
    sound = {**server["status"], "max_used_connections": "12", "open_files": "3", "innodb_num_open_files": "9"}
    sound |= {"innodb_checkpoint_age": "100", "innodb_checkpoint_max_age": "1000"}
    healthy = dict.fromkeys(rises, 0) | {name: 2 for name in rises if name == "innodb_buffer_pool_read_requests"}
    wrong = []
    for counters, risen in ((sound, healthy), (server["status"], rises)):
        workload = {"seconds": 10.0, "uptime": 86400.0, "rises": risen, "redo": 1000}
        case = Case("", "", "mariadb-10.11", server={**server, "status": counters}, workload=workload)
        wrong.append(part in dict(passed_checks(context_of_case(case, tmp_path), [], NAMES)))
    assert wrong == [True, False]


def test_memory_that_is_nearly_taken_is_not_fine(tmp_path: Path) -> None:
    """A process within a twentieth of the memory is no passed check, where no size is set explicitly too."""
    server: dict[str, Any] = {
        "variables": {"max_connections": "151", "innodb_buffer_pool_size": "134217728"},
        "status": {"max_used_connections": "12", "threads_running": "1"},
    }
    passes: list[bool] = []
    for resident in (1 << 30, (8 << 30) - (64 << 20)):
        host: dict[str, Any] = {"memory": {"total": 8 << 30}, "process": {"resident": resident}}
        case = Case("", "", "mariadb-10.11", server=server, host=host)
        passes.append("memory" in dict(passed_checks(context_of_case(case, tmp_path), [], NAMES)))
    assert passes == [True, False]


@pytest.mark.parametrize("name", ["redo-log-disabled", "unsynced-data-files", "file-system-without-barriers"])
def test_commits_are_not_fine_where_syncs_have_no_effect(name: str, tmp_path: Path) -> None:
    """Both options of commits are at 1, and a finding says that what they sync is not on disk."""
    server = {"variables": {"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "1", "log_bin": "ON"}}
    known = context_of_case(Case("", "", "mysql-8.4", server=server), tmp_path)
    rule = next(r for r in all_rules() if r.name == name)
    assert "commits" in dict(passed_checks(known, [], NAMES))
    assert "commits" not in dict(passed_checks(known, [rule.finding("Syncs are without effect.")], NAMES))


def test_a_configured_delay_is_named(tmp_path: Path) -> None:
    """A delayed replica that applies on time is behind by its delay, and the check that it passed says so."""
    rows = [
        {"Channel_Name": "", "Seconds_Behind_Master": "3600", "SQL_Delay": "3600"},
        {"Channel_Name": "eu", "Seconds_Behind_Master": "1", "SQL_Delay": "0"},
        {"Channel_Name": "us", "Seconds_Behind_Master": ""},
    ]
    made = context_of_case(Case("", "", "mysql-8.0.15", server={"replication": {"replica_rows": rows}}), tmp_path)
    line = dict(passed_checks(made, [], NAMES))["replication"]
    assert line == "0 s behind its source beyond its configured delay of 1 h, 1 s behind its source of channel eu"
