"""What rules may read: parts that are absent say why, counters are believed late, and memory has three numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from rule_cases import Case, context_of_case

from advisor.analysis import run_rules, select_rules
from advisor.analysis.context import build_context
from advisor.commands.collect import DEMO
from advisor.facts import Unavailable
from advisor.facts.snapshot import load as load_facts
from rules import find_rule
from rules.core.context import MissingFact, RuleContext
from rules.core.counters import events_text, steady_window, window_text
from rules.core.subject import Subject, variable_subject
from rules.sizing.memory import idle_session, memory_at_rest, memory_budget, pool_that_fits, session_total

MIB = 1 << 20


def known(target: str, tmp_path: Path, **words: object) -> RuleContext:
    """What may be known of a small case."""
    made: RuleContext = context_of_case(Case("", "", target, **words), tmp_path)
    return made


@pytest.mark.parametrize("part", ["server", "workload", "host", "files", "findings"])
def test_an_absent_part_says_why(part: str, tmp_path: Path) -> None:
    """Reading a part that is absent raises MissingFact with the reason, which the engine reports."""
    empty = known("mysql-9.7.4", tmp_path)
    assert not empty.has(part)
    with pytest.raises(MissingFact, match=r"server|host|rules"):
        getattr(empty, part)


def test_a_rule_that_lacks_something_says_so_at_once(tmp_path: Path) -> None:
    """A rule that needs a running server raises MissingFact before it looks at anything."""
    rule = find_rule("small-redo-log")
    assert rule is not None
    with pytest.raises(MissingFact):
        next(rule.check(known("mysql-9.7.4", tmp_path)))


@pytest.mark.parametrize(
    ("workload", "lacks"),
    [({"uptime": 60.0}, "an uptime of 10 min"), ({"seconds": 1.0}, "window of 5 s")],
    ids=["just started", "short window"],
)
def test_counters_are_believed_late(workload: dict[str, float], lacks: str, tmp_path: Path) -> None:
    """A server that started just now, or a window of a second, gives no rates."""
    with pytest.raises(MissingFact, match=lacks):
        steady_window(known("mysql-9.7.4", tmp_path, server={}, workload=workload))


def test_a_window_in_words(tmp_path: Path) -> None:
    """Messages about counters include the window and the uptime."""
    window = steady_window(known("mysql-9.7.4", tmp_path, server={}, workload={}))
    assert window_text(window) == "in a window of 10 s, server up 1 d"


def test_end_of_life_needs_the_hosts_clock(tmp_path: Path) -> None:
    """Without the host's clock the rule is skipped with the reason."""
    rule = find_rule("end-of-life")
    assert rule is not None
    with pytest.raises(MissingFact, match="clock"):
        list(rule.check(known("mysql-5.7.22", tmp_path, server={}, host={})))


def test_a_template_is_unknown(tmp_path: Path) -> None:
    """A value that a template fills in is neither number nor text, and not explicitly configured."""
    half = known("mysql-9.7.4", tmp_path, file="innodb_buffer_pool_size = {{ pool }}")
    assert half.number("innodb_buffer_pool_size") is None
    assert half.text("innodb_buffer_pool_size") is None


def test_the_line_of_a_variable_that_was_set_at_run_time(tmp_path: Path) -> None:
    """A running value that comes from elsewhere is not blamed on the file's line."""
    running = known(
        "mysql-9.7.4",
        tmp_path,
        file="sort_buffer_size = 1M",
        server={"variables": {"sort_buffer_size": "9"}, "origins": {"sort_buffer_size": "DYNAMIC"}},
    )
    of = variable_subject(running, "sort_buffer_size")
    assert of == Subject("sort_buffer_size", "sort_buffer_size", "9", None, None)
    assert variable_subject(running, "no_such_variable").value is None


def test_secrets_are_masked_in_subjects(tmp_path: Path) -> None:
    """The value of a secret option is never in a finding."""
    rule = find_rule("plaintext-secret")
    assert rule is not None
    secret = known("mariadb-10.11", tmp_path, file="[client]\npassword = hunter2\n[mysqld]\nwsrep_sst_auth = a:hunter2")
    found = list(rule.check(secret))
    assert len(found) == 2
    assert "hunter2" not in repr(found)


def test_three_numbers_of_memory(tmp_path: Path) -> None:
    """Measured is the process, likely follows the peak of connections, the ceiling all that are allowed."""
    running = known(
        "mariadb-10.11",
        tmp_path,
        file="innodb_buffer_pool_size = 1G\nquery_cache_type = ON\nquery_cache_size = 64M",
        server={"variables": {"max_connections": "100"}, "status": {"max_used_connections": 10, "threads_running": 2}},
        host={"memory": {"total": 8 << 30}, "process": {"resident": 1200 * MIB}},
    )
    estimate = memory_budget(running)
    assert estimate is not None
    assert estimate.measured == 1200 * MIB
    assert estimate.likely is not None
    assert (1024 + 64) * MIB < estimate.likely < estimate.ceiling
    assert estimate.ceiling > 100 * estimate.per_session
    assert estimate.sentence.startswith("1.2G measured, ")
    assert "100 connections" in estimate.sentence


def test_memory_that_the_server_accounts_for_itself(tmp_path: Path) -> None:
    """Without a process to look at, nothing is measured where the server doesn't account for its memory."""
    running = known("mysql-9.7.4", tmp_path, server={"variables": {"max_connections": "10"}}, host={})
    estimate = memory_budget(running)
    assert estimate is not None
    assert estimate.measured is None


@pytest.mark.parametrize(
    ("file", "usable", "fits"),
    [
        ("", 512 << 30, 435 << 30),
        ("", 16 << 30, 12 << 30),
        ("", 2 << 30, 896 * MIB),
        ("", 1 << 30, 128 * MIB),
        ("innodb_buffer_pool_size = 9G\ninnodb_buffer_pool_instances = 8", 16 << 30, 12 << 30),
        ("", 100 * MIB, 64 * MIB),
    ],
)
def test_a_pool_that_fits(file: str, usable: int, fits: int, tmp_path: Path) -> None:
    """The pool is what system, server and sessions leave, in whole steps, or whole megabytes below a step."""
    here = known("mysql-8.0.15", tmp_path, file=file, host={"memory": {"total": usable}})
    assert pool_that_fits(here, usable) == fits


def test_a_control_group_holds_less_of_the_system(tmp_path: Path) -> None:
    """In a container of 1G the pool may be larger than on a machine of 1G, whose system is in that memory too."""
    group = {"memory": {"total": 64 << 30}, "cgroup": {"limit": 1 << 30}}
    machine = {"memory": {"total": 1 << 30}}
    pools = [pool_that_fits(known("mariadb-10.11", tmp_path, host=host), 1 << 30) for host in (group, machine)]
    assert pools == [384 * MIB, 256 * MIB]


@pytest.mark.parametrize(
    ("file", "helps"),
    [
        ("binlog_cache_size = 256M\nlog_bin = b\nserver_id = 1", "binlog_cache_size may take 16G of it, 64 sessions"),
        ("innodb_buffer_pool_size = 9G\nsort_buffer_size = 8M", "innodb_buffer_pool_size may take 9G of it"),
        ("innodb_buffer_pool_size = 4G\nsort_buffer_size = 128M", "sort_buffer_size may take 8G of it, 64 sessions"),
    ],
)
def test_the_largest_part_is_named(file: str, helps: str, tmp_path: Path) -> None:
    """Where loaded memory is more than the host has, the option that adds most to it is named with what it adds."""
    file = f"innodb_buffer_pool_size = 1G\n{file}\nmax_connections = 151"
    rule = find_rule("memory-over-budget")
    assert rule is not None
    (found,) = rule.check(known("mysql-5.7.22", tmp_path, file=file, host={"memory": {"total": 10 << 30}, "cpus": 16}))
    assert helps in found.help
    assert found.message.startswith("With all 151 connections open and 64 of them active, the server takes up to ")
    assert found.message.endswith(", and may use only 10G of memory.")


@pytest.mark.parametrize(("tables", "more"), [(200, 0), (201, 32 << 10), (30_200, 30_000 << 15)])
def test_tables_in_use_are_part_of_the_server_at_rest(tables: int, more: int, tmp_path: Path) -> None:
    """What `at_rest` was measured with includes a few tables; each further one counts."""
    bare, loaded = (
        context_of_case(Case("", "", "mysql-9.7.4", server={"status": {"open_table_definitions": n}}), tmp_path)
        for n in (0, tables)
    )
    assert memory_at_rest(loaded) - memory_at_rest(bare) == more


@pytest.mark.parametrize(("status", "sessions"), [
    ({"max_used_connections": 3, "uptime": 86400}, 3),
    ({"max_used_connections": 3, "uptime": 86399}, 151),
    ({"max_used_connections": 3, "uptime": 9999999, "uptime_since_flush_status": 3600}, 151),
    ({"max_used_connections": 400, "uptime": 60}, 400),
    ({"max_used_connections": 900, "uptime": 60}, 500),
    ({}, 500),
])  # fmt: skip
def test_sessions_of_a_server_that_has_just_started(status: dict[str, int], sessions: int, tmp_path: Path) -> None:
    """After a restart or FLUSH STATUS the connection peak is too young to size the pool by it."""
    here = known("mysql-9.7.4", tmp_path, file="max_connections = 500", server={"status": status})
    assert session_total(here) == sessions * idle_session(here)


def test_reasons_of_skipped_rules_have_one_form() -> None:
    """A rule is skipped because it needs something, or because of what the collector noted; there is no third form."""
    facts = load_facts(DEMO)
    server = replace(
        facts.server, blocking=None, accounts=None, error_log=None, status={**facts.server.status, "uptime": "60"}
    )
    thin = replace(
        facts,
        host=None,
        workload=None,
        files=None,
        sampled=None,
        server=server,
        unavailable=(Unavailable("workload", "the server restarted within the sampling window"),),
    )
    noted = {"the server restarted within the sampling window"} | {
        f"{part} was not collected" for part in ("host", "files", "server.blocking")
    }
    for known in (build_context(thin, None), build_context(replace(thin, workload=facts.workload), None)):
        reasons = {skip.reason for skip in run_rules(known, select_rules(None, None)).skipped}
        assert reasons
        assert {reason for reason in reasons - noted if not reason.startswith("needs ")} == set()


@pytest.mark.parametrize(
    ("rate", "text"),
    [(1.0, "1.0"), (1.04, "1.0"), (1.46, "1.5"), (5.0, "5"), (9.96, "10"), (40.2, "40"), (1e4, "10,000")],
)
def test_events_a_second_take_the_plural(rate: float, text: str) -> None:
    """No sentence says "1 times a second"."""
    assert events_text(rate) == text
