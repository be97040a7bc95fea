"""Which defaults are reported as changed, with which weight, and the lines that keep them."""

from __future__ import annotations

import itertools

import pytest
from upgrade_comparison import Moved, verdict_on

from advisor.catalog import load
from advisor.catalog.targets import SERIES
from advisor.core.model import Confidence, Severity, Target
from advisor.report.upgrade import fragment
from advisor.upgrade.behaviours import BEHAVIOUR_CHANGES, GONE, NONE, BehaviourChange
from advisor.upgrade.change import WARNING_AREAS, Area, DefaultChange
from advisor.upgrade.defaults import _meanings
from advisor.upgrade.keep import judge_added_lines
from advisor.verdict import Outcome

# Plugins that are no options of the server where they are built in, and what is not an option any more.
NO_OPTIONS = ("caching_sha2_password", "mysql_native_password", "master_info_repository")
NEWEST = [Target(flavour, version) for flavour, series in SERIES.items() for version in series.values()]


def changed_defaults(moved: Moved, before: str, after: str, lines: str = "") -> dict[str, DefaultChange]:
    """The changed defaults by option, under a file with these lines."""
    return {c.option: c for c in moved(f"[mysqld]\n{lines}\n", before, after).defaults}


@pytest.mark.parametrize(
    ("way", "option", "values", "keep"),
    [
        ("mysql-5.7 mysql-8.0", "character_set_server", ("latin1", "utf8mb4"), "character_set_server = latin1"),
        ("mysql-5.7 mysql-8.4", "log_bin", ("OFF", "ON"), "skip_log_bin"),
        ("mysql-9.7 mariadb-11.8", "log_bin", ("ON", "OFF"), "log_bin = binlog"),
        ("mysql-8.0 mysql-9.7", "innodb_flush_method", ("fsync", "O_DIRECT"), "innodb_flush_method = fsync"),
        ("mysql-5.7 mysql-9.7", "innodb_flush_method", ("", "O_DIRECT"), "innodb_flush_method = fsync"),
        ("mysql-8.0 mysql-9.7", "innodb_log_buffer_size", ("16M", "64M"), "innodb_log_buffer_size = 16M"),
        ("mysql-5.7 mysql-8.4", "mysql_native_password", ("ON", "OFF"), "mysql_native_password = ON"),
        ("mysql-5.7 mysql-9.7", "mysql_native_password", ("ON", GONE), None),
        ("mysql-5.7 mysql-9.7", "tls_version", ("TLSv1,TLSv1.1,TLSv1.2", "TLSv1.2,TLSv1.3"), None),
        ("mysql-5.7 mariadb-10.11", "ssl", ("ON", "OFF"), None),
        ("mariadb-10.11 mariadb-11.8", "character_set_collations", ("(none)", "uca1400_ai_ci for Unicode"),
         "character_set_collations ="),
        ("mariadb-10.11 mariadb-11.8", "innodb_snapshot_isolation", ("OFF", "ON"), "innodb_snapshot_isolation = OFF"),
        ("mysql-9.7 mariadb-11.8", "optimizer_switch",
         ("mrr=on,mrr_cost_based=on", "mrr=off,mrr_cost_based=off"), "optimizer_switch = mrr=on,mrr_cost_based=on"),
        ("mysql-5.7 mysql-8.0", "optimizer_switch",
         ("skip_scan=(none),derived_condition_pushdown=(none)", "skip_scan=on,derived_condition_pushdown=on"),
         "optimizer_switch = skip_scan=off,derived_condition_pushdown=off"),
        ("mariadb-11.4.5 mysql-9.7", "gtid_mode", (NONE, "ON"), "gtid_mode = OFF"),
        ("mysql-8.0 mariadb-11.8", "caching_sha2_password", ("ON", "not loaded"), "plugin_load_add = auth_mysql_sha2"),
        ("mysql-8.0 mariadb-11.8.3", "caching_sha2_password", ("ON", GONE), None),
        ("mysql-8.0 mariadb-11.4.9", "caching_sha2_password", ("ON", "not loaded"),
         "plugin_load_add = auth_mysql_sha2"),
        ("mysql-8.0 mariadb-10.11", "caching_sha2_password", ("ON", GONE), None),
        ("mysql-8.0.15 mysql-5.7", "innodb_undo_tablespaces", ("2", "0"), None),
        ("mysql-5.7 mysql-8.0", "replica_parallel_workers", ("0", "4"), "replica_parallel_workers = 0"),
        ("mysql-8.0.22 mysql-9.7", "replica_parallel_workers", ("0", "4"), "replica_parallel_workers = 1"),
    ],
)  # fmt: skip
def test_values_and_line(moved: Moved, way: str, option: str, values: tuple[str, str], keep: str | None) -> None:
    """A change is reported with both values as one writes them, and the line to add, or why there is none."""
    change = changed_defaults(moved, *way.split())[option]
    assert ((change.before, change.after), change.keep) == (values, keep)
    assert bool(change.lost) == (keep is None)
    assert change.message


@pytest.mark.parametrize(
    ("before", "after", "lines", "silent"),
    [
        ("mysql-5.7", "mysql-8.0", "sql_mode = ANSI", "sql_mode"),
        ("mysql-5.7", "mysql-9.7", "slave_parallel_workers = 2", "replica_parallel_workers"),
        ("mysql-5.7", "mysql-9.7", "replica_parallel_workers = 2", "replica_parallel_workers"),
        ("mysql-5.7", "mysql-9.7", "innodb_io_capacity = 1000", "innodb_io_capacity_max"),  # 2000 on both
        ("mysql-5.7", "mysql-8.0", "innodb_io_capacity = 500", "innodb_io_capacity_max"),
        ("mysql-5.7", "mysql-9.7", "skip_grant_tables", "event_scheduler"),  # DISABLED on both
        ("mariadb-10.11", "mariadb-11.8", "ssl_cert = /c\nssl_key = /k", "ssl"),  # which these lines switch on
        ("mysql-5.7", "mariadb-10.11", "ssl_cert = /c\nssl_key = /k", "ssl"),
        ("mariadb-10.11", "mysql-8.0", "ssl_ca = /a\nssl_cert = /c\nssl_key = /k", "ssl"),
        ("mysql-5.7", "mysql-9.7", "expire_logs_days = 3", "binlog_expire_logs_seconds"),
        ("mysql-5.7", "mysql-8.0", "character_set_server = latin1", "collation_server"),
        ("mysql-5.7", "mysql-8.0", "loose_mysqlx = OFF", "mysqlx"),
        ("mysql-5.7", "mysql-9.7", "slow_query_log = 1", "innodb_doublewrite"),  # TRUE and ON are one
        ("mysql-5.7", "mysql-9.7", "slow_query_log = 1", "lower_case_table_names"),  # the host's own
        ("mysql-5.7", "mysql-9.7", "slow_query_log = 1", "group_replication_ssl_mode"),  # of a plugin not loaded
        ("mysql-5.7.22", "mysql-5.7", "slow_query_log = 1", "optimizer_switch"),  # what was done before
        ("mysql-8.0", "mariadb-11.8", "expire_logs_days = 7", "binlog_expire_logs_seconds"),  # one expiry, two names
        ("mariadb-10.11", "mysql-8.0", "expire_logs_days = 7", "binlog_expire_logs_seconds"),
        ("mariadb-10.11", "mysql-9.7", "expire_logs_days = 7", "binlog_expire_logs_seconds"),  # a line to write sets it
        ("mysql-5.7", "mysql-8.0", "log_warnings = 1", "log_error_verbosity"),
        ("mysql-5.7", "mysql-8.4", "skip_ssl", "tls_version"),
        ("mysql-8.0", "mysql-9.7", "innodb_dedicated_server = ON", "innodb_flush_method"),
        ("mysql-9.7", "mariadb-11.8", "ansi", "sql_mode"),
        ("mysql-5.7", "mysql-8.0", "skip_log_bin", "log_replica_updates"),  # OFF without a binary log
        ("mysql-8.0", "mariadb-11.8", "skip_log_bin", "log_slave_updates"),
        ("mysql-5.7", "mysql-8.0", "performance_schema = OFF", "performance_schema_max_mutex_classes"),
        ("mysql-8.0", "mariadb-11.8", "performance_schema = ON", "performance_schema_digests_size"),  # it chooses one
        ("mysql-8.4", "mysql-9.7", "slow_query_log = 1", "mysql_native_password"),  # off in 8.4 already
        ("mysql-5.7", "mariadb-10.11", "query_cache_size = 0", "query_cache_type"),
    ],
)
def test_what_is_not_reported(moved: Moved, before: str, after: str, lines: str, silent: str) -> None:
    """Nothing is reported of what the file sets, under any name, what follows from it, or another notation."""
    assert silent not in changed_defaults(moved, before, after, lines)


@pytest.mark.parametrize(
    ("way", "lines", "option", "values"),
    [
        ("mysql-8.0 mysql-9.7", "innodb_dedicated_server = OFF", "innodb_flush_method", ("fsync", "O_DIRECT")),
        ("mysql-5.7 mysql-8.0", "log_bin = b\nserver_id = 1", "log_replica_updates", ("OFF", "ON")),
        ("mysql-5.7 mariadb-10.11", "query_cache_size = 64M", "query_cache_type", ("OFF", "ON")),
        ("mysql-5.7 mariadb-11.8", "expire_logs_days = 7", "slave_connections_needed_for_purge", (NONE, "1")),
    ],
)
def test_what_is_reported_beside_such_lines(
    moved: Moved, way: str, lines: str, option: str, values: tuple[str, str]
) -> None:
    """A line that repeats the default hides no change, and a line may be what makes it matter."""
    before, after = way.split()
    change = changed_defaults(moved, before, after, lines)[option]
    assert (change.before, change.after) == values
    assert change.keep


def test_switches_that_the_file_leaves_out(moved: Moved) -> None:
    """A line of some switches sets these alone: the others change as without it, and the file's stay as they are."""
    line = "optimizer_switch = 'index_merge_intersection=off'"
    change = changed_defaults(moved, "mysql-5.7", "mysql-8.0", line)["optimizer_switch"]
    assert (change.before, change.after) == (
        "skip_scan=(none),derived_condition_pushdown=(none)", "skip_scan=on,derived_condition_pushdown=on"
    )  # fmt: skip
    assert str(change.keep).endswith("skip_scan=off,derived_condition_pushdown=off")
    assert "index_merge_intersection=on" not in str(change.keep)
    assert "optimizer_switch" not in changed_defaults(moved, "mysql-9.7", "mysql-9.7", line)
    named = "optimizer_switch = 'mrr=off,mrr_cost_based=off'"
    assert "optimizer_switch" not in changed_defaults(moved, "mysql-9.7", "mariadb-11.8", named)


def test_collation_follows_the_character_set(moved: Moved) -> None:
    """A file that names the set alone gets another collation, and can keep the old one."""
    change = changed_defaults(moved, "mysql-5.7", "mysql-8.0", "character_set_server = utf8mb4")["collation_server"]
    assert (change.before, change.after) == ("utf8mb4_general_ci", "utf8mb4_0900_ai_ci")
    assert change.keep == "collation_server = utf8mb4_general_ci"
    back = changed_defaults(moved, "mysql-8.0", "mariadb-10.11", "character_set_server = utf8mb4")["collation_server"]
    assert (back.keep, "utf8mb4_0900_ai_ci" in back.lost) == (None, True)


def test_members_that_are_gone(moved: Moved) -> None:
    """Where the new server lacks a mode, the rest is kept, and the mode named; where nothing else moved, no line is."""
    back = changed_defaults(moved, "mariadb-10.11", "mysql-8.0")["sql_mode"]
    assert back.keep == "sql_mode = STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
    assert "NO_AUTO_CREATE_USER" in back.message
    gone = changed_defaults(moved, "mysql-5.7", "mysql-8.0")["sql_mode"]
    assert (gone.keep, gone.area) == (None, Area.REST)


def test_no_binary_log_no_matter(moved: Moved) -> None:
    """How the binary log is written has no weight where there is none."""
    assert changed_defaults(moved, "mysql-5.7", "mariadb-10.11")["sync_binlog"].area is Area.REST
    logged = changed_defaults(moved, "mysql-5.7", "mariadb-10.11", "log_bin = x\nserver_id = 1")["sync_binlog"]
    assert (logged.area, logged.severity) == (Area.DURABILITY, Severity.WARNING)


def test_instances_by_the_size_of_the_pool(moved: Moved) -> None:
    """The number of instances has another default since 8.4, which has no effect on a pool below 1G."""
    option = "innodb_buffer_pool_instances"
    assert option in changed_defaults(moved, "mysql-8.0", "mysql-8.4", "innodb_buffer_pool_size = 8G")
    assert option not in changed_defaults(moved, "mysql-8.0", "mysql-8.4", "innodb_buffer_pool_size = 800M")
    assert option not in changed_defaults(moved, "mysql-8.0", "mysql-8.4")


def test_most_consequential_first(moved: Moved) -> None:
    """Data and durability come before speed, and only what touches data, accounts or replicas is a warning."""
    changes = moved("", "mysql-5.7", "mysql-8.4").defaults
    areas = [list(Area).index(c.area) for c in changes]
    assert areas == sorted(areas)
    assert [c.option for c in changes[:2]] == ["character_set_server", "collation_server"]
    assert {c.severity for c in changes if c.area in WARNING_AREAS} == {Severity.WARNING}
    assert {c.severity for c in changes if c.area not in WARNING_AREAS} == {Severity.NOTE}


def test_sureness(moved: Moved) -> None:
    """What servers of both series reported is certain, what only a catalog says is likely."""
    assert changed_defaults(moved, "mysql-5.7.22", "mysql-9.7")["sql_mode"].confidence is Confidence.CERTAIN
    assert {c.confidence for c in changed_defaults(moved, "mysql-5.7", "mysql-8.4").values()} == {Confidence.LIKELY}


@pytest.mark.parametrize("way", list(itertools.permutations(NEWEST, 2)), ids=lambda way: "-".join(map(str, way)))
def test_every_line_is_taken(moved: Moved, way: tuple[Target, Target]) -> None:
    """Between any two series, all lines to add are taken together, and each option is reported once."""
    changes = moved("", *way).defaults
    lines = [c.keep for c in changes if c.keep]
    taken = judge_added_lines(lines, verdict_on("", way[1]))
    assert {line: v.reason for line, v in taken.items() if v.outcome is not Outcome.ACCEPTED} == {}
    assert len({c.option for c in changes}) == len(changes)
    assert all(c.keep or c.lost for c in changes)


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("way", list(itertools.permutations(NEWEST, 2)), ids=lambda way: "-".join(map(str, way)))
def test_the_fragment_is_taken(moved: Moved, way: tuple[Target, Target], every: bool) -> None:
    """The fragment of an option file holds each line once, and the new server takes it as it stands."""
    move = moved("", *way)
    wanted = [c.keep for c in move.defaults if c.keep and (every or c.area is not Area.REST)]
    lines = verdict_on(fragment(move, every=every), way[1]).lines
    assert [v.placed.line.text.strip() for v in lines] == wanted
    assert {v.placed.line.text: v.reason for v in lines if v.outcome is not Outcome.ACCEPTED} == {}


def test_the_table_has_options_that_exist() -> None:
    """Every option of the table of consequences is known to one of the catalogs, or is that of a passage."""
    known = {name for target in NEWEST for name in load(target).options} | {p.option for p in BEHAVIOUR_CHANGES}
    assert set(_meanings()) <= known


@pytest.mark.parametrize("passage", BEHAVIOUR_CHANGES, ids=lambda p: f"{p.option}-{p.after}")
def test_each_passage_is_met(moved: Moved, passage: BehaviourChange) -> None:
    """Each passage is met on some way, and its option is known to the server that has it."""
    ways = [way for way in itertools.permutations(NEWEST, 2) if passage.when(*way)]
    assert ways
    for old, new in ways:
        assert passage.option in (*NO_OPTIONS, *load(old).options, *load(new).options)
        file = "innodb_buffer_pool_size = 8G" if passage.option == "innodb_buffer_pool_instances" else ""
        few = passage.option == "innodb_io_capacity_max"  # pages a second
        file = f"log_bin = b\n{passage.needs[0]} = {500 if few else '5M'}" if passage.needs else file
        change = changed_defaults(moved, str(old), str(new), file)[passage.option]
        assert (change.after, change.keep) == (passage.after, passage.keep)


@pytest.mark.parametrize(
    ("lines", "reported"),
    [
        ("", False),
        ("plugin_load_add = semisync_source.so", False),
        ("plugin_load_add = group_replication.so", True),
        ("loose_group_replication_group_name = 8a94f357-aab4-11df-86ab-c80aa9429562", True),
    ],
)
def test_group_replication_outside_of_a_group(moved: Moved, lines: str, reported: bool) -> None:
    """Its defaults change for members of a group alone; a line that keeps one is refused where the plugin isn't."""
    options = changed_defaults(moved, "mysql-8.0", "mysql-8.4", lines)
    assert bool([name for name in options if name.startswith("group_replication_")]) is reported
