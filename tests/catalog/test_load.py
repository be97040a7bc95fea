"""Loading a catalog: what is known of an option at one version."""

from __future__ import annotations

import subprocess
import sys

import pytest

from advisor.catalog import load
from advisor.catalog.targets import EXAMINED, parse_target


def test_one_option_has_its_facts() -> None:
    """An option is found by its canonical name, with kind, range and default."""
    option = load(parse_target("mysql-8.0.15")).get("sort_buffer_size")
    assert option is not None
    assert (option.kind, option.bits, option.arg) == ("uint", 64, "required")
    assert (option.min, option.default, option.scope) == (32768, "262144", "both")
    assert {"arg", "default", "min"} <= option.asked


def test_an_unknown_name_is_none() -> None:
    """A name that the server does not know gives nothing, under either way of asking."""
    catalog = load(parse_target("mysql-9.7"))
    assert catalog.get("innodb_bufer_pool_size") is None
    assert catalog.find_variable("innodb_bufer_pool_size") is None


def test_a_variable_is_found_under_any_name_of_its_option() -> None:
    """The option that sets a variable is found by the variable's name, in any case."""
    found = load(parse_target("mariadb-10.11")).find_variable("Max_Connections")
    assert found is not None
    assert found.name == "max_connections"


@pytest.mark.parametrize(
    ("name", "absent", "present"),
    [
        ("default_table_encryption", "mysql-8.0.15", "mysql-8.0.16"),
        ("innodb_redo_log_capacity", "mysql-8.0.29", "mysql-8.0.30"),
        ("replica_parallel_workers", "mysql-8.0.25", "mysql-8.0.26"),
        ("tls_ciphersuites", "mysql-8.0.15", "mysql-8.0.43"),
        ("expire_logs_days", "mysql-8.4", "mysql-8.0.43"),
        ("innodb_log_file_size", "mysql-9.7", "mysql-8.4"),
        ("query_cache_size", "mysql-8.0.11", "mysql-5.7.22"),
        ("log_slow_query", "mariadb-10.6", "mariadb-10.11"),
        ("analyze_max_length", "mariadb-10.11.13", "mariadb-10.11.14"),
        ("optimizer_max_sel_args", "mariadb-10.6.15", "mariadb-10.6.16"),
    ],
)
def test_an_option_is_there_from_the_patch_that_brought_it_to_the_one_that_took_it(
    name: str, absent: str, present: str
) -> None:
    """Patches of one series differ: what a later one brought or took away is not known to the others."""
    assert load(parse_target(absent)).get(name) is None
    assert load(parse_target(present)).get(name) is not None


@pytest.mark.parametrize(
    ("name", "version", "default"),
    [
        ("slave_parallel_workers", "mysql-8.0.26", "0"),
        ("slave_parallel_workers", "mysql-8.0.27", "4"),
        ("tls_version", "mysql-8.0.15", "TLSv1,TLSv1.1,TLSv1.2"),
        ("tls_version", "mysql-8.0.28", "TLSv1.2,TLSv1.3"),
        ("innodb_io_capacity", "mysql-8.0", "200"),
        ("innodb_io_capacity", "mysql-8.4", "10000"),
        ("gtid_mode", "mysql-8.4", "OFF"),
        ("gtid_mode", "mysql-9.7", "ON"),
        ("explicit_defaults_for_timestamp", "mariadb-10.6", "FALSE"),
        ("explicit_defaults_for_timestamp", "mariadb-10.11", "TRUE"),
        ("optimizer_prune_level", "mariadb-10.6", "1"),
        ("optimizer_prune_level", "mariadb-10.11", "2"),
    ],
)
def test_a_default_is_the_one_of_that_patch(name: str, version: str, default: str) -> None:
    """A default that changed within a series is that of the requested version."""
    option = load(parse_target(version)).get(name)
    assert option is not None
    assert option.default == default


def test_exact_only_where_that_very_server_was_asked() -> None:
    """Only a version that was asked is exact; a neighbour of it, and the series without a server, are not."""
    for target in EXAMINED:
        assert load(target).exact
    for text in ("mysql-8.4", "mariadb-10.6", "mysql-8.0", "mysql-8.0.16", "mysql-26.7"):
        assert not load(parse_target(text)).exact
    assert load(parse_target("mysql-8.4")).get("max_connections").asked == frozenset()


def test_a_substitute_says_what_it_was_read_as() -> None:
    """A newer server keeps its name, and names the version whose facts were taken."""
    catalog = load(parse_target("mysql-26.7"))
    assert str(catalog.target) == "mysql-26.7"
    assert str(catalog.read_as) == "mysql-9.7.4"


def test_plugins_options_name_their_plugin() -> None:
    """An option that a plugin brings says so; one of the server itself does not."""
    catalog = load(parse_target("mariadb-10.11"))
    assert catalog.get("server_audit_events").plugin == "server_audit"
    assert catalog.get("innodb_buffer_pool_size").plugin is None


def test_secrets_and_guards_are_marked() -> None:
    """Passwords are secret; options that guard data or the door are marked as such."""
    catalog = load(parse_target("mariadb-10.11"))
    assert catalog.get("wsrep_sst_auth").secret
    assert not catalog.get("skip_name_resolve").secret
    assert catalog.get("innodb_flush_log_at_trx_commit").durability
    assert catalog.get("skip_name_resolve").security


def test_asked_once_is_asked_for_good() -> None:
    """The same target gives the same catalog, and the same option."""
    catalog = load(parse_target("mysql-8.4"))
    assert load(parse_target("mysql-8.4")) is catalog
    assert catalog.get("port") is catalog.get("port")


def test_loading_imports_next_to_nothing() -> None:
    """Loading a catalog needs the value types and the compiled part of json, and nothing heavy."""
    code = (
        "import sys; from advisor.catalog import load; from advisor.catalog.targets import parse_target;"
        "load(parse_target('mysql-8.4'));"
        "print(*[m for m in ('dataclasses', 'pathlib', 'logging', 'subprocess', 'inspect', 'importlib.metadata',"
        " 'pydantic', 'difflib', 'decimal', 'json', 're', 'enum') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_redo_log_of_mariadb_grows_at_run_time_since_10_9() -> None:
    """What a later series made dynamic needs a restart before: advice for 10.6 must not send a statement."""
    before, after = (load(parse_target(t)).get("innodb_log_file_size") for t in ("mariadb-10.6", "mariadb-10.11"))
    assert (before.dynamic, after.dynamic) == (False, True)
