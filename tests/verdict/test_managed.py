"""Parameters of managed services are judged by variable, by the provider's list, and by its manual."""

from __future__ import annotations

from typing import Any

import pytest
from rule_cases import declared_set

from advisor.catalog import load
from advisor.catalog.managed import platform_parameters
from advisor.catalog.targets import parse_target
from advisor.commands.managed import managed_findings
from advisor.core.model import Finding
from advisor.verdict.declared import Instance, ProviderParameter, is_allowed
from advisor.verdict.managed import ManagedVerdict, judge_managed
from advisor.verdict.settings import Settings
from rules import file_rules, parameter_rules
from rules.core.context import NO_HOST, NO_HOUSE

RDS = "rds-mysql-8.0"
# On Aurora nothing may be advised about these.
NOT_ON_AURORA = (
    "innodb_log_file_size", "innodb_buffer_pool_instances", "innodb_buffer_pool_chunk_size", "innodb_doublewrite",
    "innodb_change_buffer_max_size", "thread_handling", "innodb_max_dirty_pages_pct", "innodb_page_cleaners",
    "innodb_io_capacity", "innodb_io_capacity_max", "innodb_flush_method", "innodb_redo_log_capacity",
    "innodb_flush_neighbors", "innodb_log_buffer_size", "thread_cache_size", "sync_binlog", "innodb_read_io_threads",
    "innodb_write_io_threads", "innodb_thread_concurrency", "innodb_flush_log_at_trx_commit", "skip_name_resolve",
)  # fmt: skip


def judged(target: str, *options: tuple[str, ...], instance: Instance | None = None, **more: Any) -> ManagedVerdict:
    """The verdict on a few parameters."""
    known = parse_target(target)
    return judge_managed(declared_set({"options": options, **more}, known), load(known), instance=instance)


def found(target: str, *options: tuple[str, ...], notation: str = "", **more: Any) -> list[Finding]:
    """The findings about a few parameters, of all rules."""
    known = parse_target(target)
    declared = declared_set({"options": options, **more}, known)._replace(notation=notation)
    return managed_findings(declared, known, [*file_rules(), *parameter_rules()], NO_HOST, NO_HOUSE)


def test_formulas_are_evaluated_for_an_instance() -> None:
    """With an instance a formula is a value for the rules, without one it is unknown."""
    formula = ("max_connections", "{DBInstanceClassMemory/12582880}")
    values = Settings.from_file(judged(RDS, formula, instance=Instance(memory=1 << 36)).file)
    assert values.number("max_connections") == 5461
    assert Settings.from_file(judged(RDS, formula).file).text("max_connections") is None


def test_values_that_no_user_set_are_not_judged() -> None:
    """A provider's list also shows parameters that users cannot set; only the values that users set are judged."""
    rows = {
        "port": {"modifiable": False, "source": "system"},
        "query_cache_size": {"allowed": "0-1", "source": "engine-default"},
        "max_connections": {"allowed": "1-100", "source": "user", "data_type": "integer"},
    }
    verdict = judged(RDS, ("port", "1"), ("query_cache_size", "9"), ("max_connections", "500"), ranges=rows)
    assert [(p.rule, p.line.placed.line.name) for p in verdict.problems] == [
        ("refused-parameter-value", "max_connections")
    ]


@pytest.mark.parametrize(
    ("value", "allowed", "kind", "expected"),
    [
        ("5", "1-10", "integer", True),
        ("11", "1-10", "integer", False),
        ("-1", "-1-10", "integer", True),
        ("ON", "0,1", "boolean", False),
        ("row", "ROW,STATEMENT,MIXED", "enumeration", True),
        ("ROWS", "ROW,STATEMENT,MIXED", "enumeration", False),
        ("ROWS", "ROW,STATEMENT,MIXED", "string", False),
        ("AUTO", "AUTO,0-100", "integer", True),
        ("101", "AUTO,0-100", "integer", False),
        ("READ-COMMITTED", "READ-UNCOMMITTED,READ-COMMITTED", "string", True),
        ("A,B", "A,B,C", "list", True),
        ("A,D", "A,B,C", "list", False),
        ("2.5", "0-10", "float", True),
        ("any text", "", "string", True),
        ("abc", "[a-z]+", "string", True),
        ("30", "0-10,20-40", "integer", True),
    ],
)
def test_allowed_values(value: str, allowed: str, kind: str, expected: bool) -> None:
    """Ranges, words and lists are compared, and what is not understood is allowed."""
    row = ProviderParameter("x", allowed=allowed, data_type=kind)
    assert (not allowed or is_allowed(value, row)) is expected


def test_durability_and_fixes_in_the_terms_of_the_document() -> None:
    """A rule about durability works for a group, and its fix is a line of the document with plain numbers."""
    options = (("innodb_flush_log_at_trx_commit", "2"), ("read_buffer_size", "67108864"))
    findings = {f.canonical: f for f in found(RDS, *options, notation="terraform")}
    assert findings["innodb_flush_log_at_trx_commit"].code == "DUR001"
    assert findings["innodb_flush_log_at_trx_commit"].help.startswith('write value = "1"')
    assert 'value = "' in findings["read_buffer_size"].help
    assert not findings["read_buffer_size"].help.endswith("K")
    assert all("[mysqld]" not in f.message + f.help for f in findings.values())


@pytest.mark.parametrize("name", NOT_ON_AURORA)
def test_not_changeable_on_aurora(name: str) -> None:
    """What Aurora's manual calls not modifiable, without effect, or does not list, cannot be advised."""
    assert not platform_parameters(parse_target("aurora-mysql-3")).can_change(name)


def test_changeable_on_aurora() -> None:
    """What the manual lists as modifiable can be advised, and on RDS so can the size of the redo log."""
    aurora = platform_parameters(parse_target("aurora-mysql-3"))
    assert all(
        map(aurora.can_change, ("max_connections", "innodb_buffer_pool_size", "long_query_time", "binlog_format"))
    )
    assert platform_parameters(parse_target(RDS)).can_change("innodb_log_file_size")
    assert platform_parameters(parse_target("aurora-mysql-2")).can_change("innodb_flush_log_at_trx_commit")


@pytest.mark.parametrize(
    ("target", "name", "message"),
    [
        ("rds-mariadb-10.6", "innodb_redo_log_capacity", "Only MySQL knows innodb_redo_log_capacity."),
        ("rds-mysql-5.7", "innodb_redo_log_capacity", "was introduced in MySQL 8.0.30"),
        (RDS, "aria_pagecache_buffer_size", "Only MariaDB knows aria_pagecache_buffer_size."),
        (RDS, "query_cache_size", "query_cache_size was removed in 8.0.3."),
    ],
)
def test_parameters_of_other_versions_and_flavours(target: str, name: str, message: str) -> None:
    """A parameter that another version or flavour has is no typing error: the message says which server has it."""
    (problem,) = judged(target, (name, "1")).problems
    assert problem.rule == "unknown-parameter"
    assert message in problem.message
    assert problem.help == f"remove {name}"


@pytest.mark.parametrize(
    ("name", "help_"),
    [
        ("max_conections", "did you mean max_connections?"),
        ("time_zoen", "did you mean time_zone?"),
        ("innodb_something_else", "compare with the provider's list of parameters"),
    ],
)
def test_suggested_names_are_as_close_as_in_option_files(name: str, help_: str) -> None:
    """A name is suggested after a slip of the keyboard only: none for a name that merely shares its beginning."""
    assert [p.help for p in judged("aurora-mysql-2", (name, "1")).problems] == [help_]


def test_switches_of_cloud_sql_are_in_lower_case() -> None:
    """Advice for Cloud SQL writes on and off, as its flags are written."""
    (finding,) = found("cloudsql-mysql-8.0", ("local_infile", "on"), notation="terraform")
    assert finding.help == 'write value = "off"'


def test_secrets_are_masked() -> None:
    """A secret in a parameter does not reach a finding."""
    findings = found(RDS, ("init_connect", "SET PASSWORD = 'hunter2'"), ("wsrep_sst_auth", "root:hunter2"))
    assert "hunter2" not in str(findings)


def test_hostile_parameters_end_in_findings() -> None:
    """Names and values of any length and kind are judged, without an exception and without long messages."""
    options = (
        ("x" * 50_000, "1"),
        ("sort_buffer_size", "9" * 5_000 + "K"),
        ("max_connections", "{" * 5_000),
        ("max_connections", "9" * 5_000),
        ("sql_mode", "\x1b[31m" * 100),
        ("\x1b[2J", "1"),
        ("wait_timeout", "-1"),
        ("long_query_time", "1e400"),
    )
    row = {"allowed": "1-100", "data_type": "integer"}
    for ranges in ({}, {"max_connections": row, "sort_buffer_size": row, "wait_timeout": row}):
        findings = found("rds-mariadb-10.11", *options, ranges=ranges)
        assert findings
        assert "\x1b" not in "".join(f.message + f.help for f in findings)
        assert max(len(f.message + f.help) for f in findings if f.code.startswith("PAR")) < 600
