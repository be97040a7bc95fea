"""The catalogs of Percona Server and Percona XtraDB Cluster, beside the help that their own test suites recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.catalog import Catalog, load
from advisor.catalog.targets import BUILD_SERIES, parse_target
from advisor.core.model import Target
from advisor.verdict import Outcome, judge_value

BUILDS = Path(__file__).resolve().parents[2] / "tools" / "catalog" / "facts" / "builds"
RECORDED = sorted(path.name for path in BUILDS.iterdir() if path.is_dir())
TARGETS = [Target("mysql", v, build) for build in ("percona", "pxc") for v in BUILD_SERIES[build].values()]
ABSENT = (Outcome.UNKNOWN, Outcome.REMOVED, Outcome.UNEXAMINED, Outcome.AMBIGUOUS)
VALUES = {"bool": "ON", "int": "1", "uint": "1", "double": "1", "string": "x", "flagset": ""}


def target_of(recorded: str) -> Target:
    """The target of a recorded help, whose folder ends with the patch or with the commit."""
    build, number, *_ = recorded.split("-")
    return parse_target(f"{build}-{number}")


def plausible_value(name: str, catalog: Catalog) -> str | None:
    """The option's default, else a value of its kind; None for what takes none or is not in the catalog."""
    option = catalog.get(name)
    if option is None or option.arg == "none":
        return None
    if option.default and not option.default.startswith("("):
        return option.default
    return option.values[0] if option.values else VALUES.get(option.kind, "")


@pytest.mark.parametrize("recorded", RECORDED)
def test_every_name_in_a_recorded_help_is_an_option(recorded: str) -> None:
    """What a server's help lists is no unknown option for that server, with a plausible value."""
    catalog = load(target_of(recorded))
    names = (BUILDS / recorded / "help-names.tsv").read_text(encoding="utf-8").split("\n")[1:-1]
    verdicts = [judge_value(n, plausible_value(n.replace("-", "_").lower(), catalog), catalog) for n in names]
    assert len(names) > 370
    assert [v.placed.line.name for v in verdicts if v.outcome in ABSENT] == []


def test_each_build_has_a_recorded_help() -> None:
    """Each series of a build that has a catalog has at least one recorded help to compare it with."""
    recorded = {(target.build, target.series) for target in map(target_of, RECORDED)}
    assert recorded == {(target.build, target.series) for target in TARGETS}


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_a_build_knows_its_own_options(target: Target) -> None:
    """Slow log, user statistics and the thread pool are options of every build, and of MySQL's own server never."""
    catalog, mysql = load(target), load(target.base)
    for name, value in (("userstat", "ON"), ("log_slow_rate_limit", "100"), ("log_slow_verbosity", "full")):
        assert judge_value(name, value, catalog).outcome is Outcome.ACCEPTED
        assert judge_value(name, value, mysql).outcome is Outcome.UNEXAMINED or mysql.get(name) is None
    assert judge_value("thread_pool_size", "16", catalog).outcome is Outcome.ACCEPTED
    assert judge_value("thread_handling", "pool-of-threads", catalog).outcome is Outcome.ACCEPTED
    assert judge_value("thread_handling", "threads", catalog).outcome is Outcome.INVALID
    ours = judge_value("pxc_strict_mode", "ENFORCING", catalog)
    assert ours.outcome is (Outcome.ACCEPTED if target.build == "pxc" else Outcome.UNKNOWN)


@pytest.mark.parametrize(
    ("name", "series", "sentence"),
    [
        ("extra_port", "8.0", "The manual of Percona Server 8.0 lists extra_port, but the server's own help does not."),
        ("log_warnings_suppress", "8.4", "but the server's own help does not."),
        ("innodb_kill_idle_transaction", "8.0", "but the server's own source does not have it."),
        ("query_cache_strip_comments", "8.0", "Percona Server (5.7) documents query_cache_strip_comments;"),
        ("no_such_thing_at_all", "8.0", "Unknown option: the help of Percona Server 8.0 does not list it."),
    ],
)
def test_what_a_manual_lists_and_the_server_lacks(name: str, series: str, sentence: str) -> None:
    """The server's own help wins over its manual; the verdict is likely and names the server."""
    found = judge_value(name, "1", load(parse_target(f"percona-{series}")))
    assert found.outcome is Outcome.UNKNOWN
    assert not found.certain
    assert sentence in found.reason


def test_later_versions_than_the_help_are_not_refused() -> None:
    """A patch or series beyond the catalogs of a build may have what the recorded help lacks."""
    for target in ("percona-8.0.99", "percona-9.1", "pxc-9.1"):
        assert judge_value("extra_port", "1", load(parse_target(target))).outcome is Outcome.UNEXAMINED


def test_what_was_not_examined_is_not_refused() -> None:
    """The source of 8.4's InnoDB was not read, and plugins are installed by scripts: neither is an error."""
    catalog = load(parse_target("percona-8.4"))
    for name in (
        "innodb_kill_idle_transaction",
        "audit_log_policy",
        "rocksdb_block_cache_size",
        "audit_log_filter.file",
    ):
        assert judge_value(name, "1", catalog).outcome is Outcome.UNEXAMINED


def test_a_plugin_that_the_file_loads_has_its_options() -> None:
    """MyRocks is known once the file loads it; TokuDB ended with 8.0.28."""
    catalog = load(parse_target("percona-8.0.27"))
    assert catalog.get("tokudb_cache_size") is not None
    assert load(parse_target("percona-8.0.28")).get("tokudb_cache_size") is None
    removed = judge_value("tokudb_cache_size", "1G", load(parse_target("percona-8.0")))
    assert removed.outcome is Outcome.REMOVED
    assert "was removed in Percona Server 8.0.28." in removed.reason
    rocksdb = catalog.get("rocksdb_block_cache_size")
    assert rocksdb is not None
    assert (rocksdb.plugin, rocksdb.default, rocksdb.min) == ("ha_rocksdb", "536870912", 1024)


def test_the_cluster_has_its_own_defaults() -> None:
    """Strict mode is ENFORCING unless the file sets it, and replication by Galera is on."""
    for series in ("5.7", "8.0", "8.4"):
        catalog = load(parse_target(f"pxc-{series}"))
        strict, on = catalog.get("pxc_strict_mode"), catalog.get("wsrep_on")
        assert strict is not None
        assert on is not None
        assert (strict.default, on.default) == ("ENFORCING", "TRUE")
        assert judge_value("wsrep_OSU_method", "RSU", catalog).outcome is Outcome.ACCEPTED


def test_plugins_of_mysql_enterprise_are_known_and_nothing_is_refused() -> None:
    """Documented options of Enterprise's plugins are named with the plugin; no server of it was asked."""
    catalog = load(parse_target("mysql-enterprise-8.4"))
    assert str(catalog.target) == "mysql-enterprise-8.4.8"
    for name, value in (("audit_log_policy", "ALL"), ("mysql_firewall_mode", "ON"), ("no_such_thing_at_all", "1")):
        assert judge_value(name, value, catalog).outcome is Outcome.UNEXAMINED
    assert "the plugin audit_log of MySQL Enterprise" in judge_value("audit_log_file", "a.log", catalog).reason
    early = load(parse_target("mysql-enterprise-8.0.33"))
    assert early.get("audit_log_flush_interval_seconds") is None
    assert early.get("audit_log_policy") is not None
