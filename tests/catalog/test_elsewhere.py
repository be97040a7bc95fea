"""Options of other series and flavours, and what a mistyped name most likely means."""

from __future__ import annotations

import pytest

from advisor.catalog import load
from advisor.catalog.presence import find_presence, nearest_option, nearest_vendor_option
from advisor.catalog.targets import parse_target


def test_a_removed_option_is_known_with_the_version_that_took_it() -> None:
    """An option that MySQL took away and MariaDB kept is known as both."""
    found = find_presence("query_cache_size")
    assert found is not None
    mysql, mariadb = found.span("mysql"), found.span("mariadb")
    assert mysql is not None
    assert mariadb is not None
    assert mysql.last.startswith("5.7")
    assert mysql.gone == "8.0.3"
    assert mariadb.last == "12.3"
    assert mariadb.gone is None


def test_a_successor_is_named() -> None:
    """What is documented to have replaced an option is named with it."""
    found = find_presence("tx_isolation")
    assert found is not None
    assert found.replaced_by == "transaction_isolation"


def test_one_flavour_only_and_nowhere() -> None:
    """An option of one flavour has no span in the other; a name that no version had is not known."""
    found = find_presence("aria_pagecache_buffer_size")
    assert found is not None
    assert found.span("mysql") is None
    assert find_presence("innodb_bufer_pool_size") is None


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("innodb_bufer_pool_size", "innodb_buffer_pool_size"),
        ("inodb_buffer_pool_szie", "innodb_buffer_pool_size"),
        ("max_conections", "max_connections"),
        ("qort", "port"),
        ("sort_bufer_szie", "sort_buffer_size"),
        ("character_set_sever", "character_set_server"),
        ("key_buffer", "key_buffer_size"),
        ("max_allowed", "max_allowed_packet"),
        ("innodb_buffer_pool", None),
        ("innodb_flush_log_at_trx_commi_x", "innodb_flush_log_at_trx_commit"),
        ("completely_made_up_option", None),
        ("x", None),
        ("", None),
    ],
)
def test_the_nearest_name(typed: str, meant: str | None) -> None:
    """A typo or two and missing last words are corrected; a name unlike all others is not."""
    assert nearest_option(typed, load(parse_target("mysql-8.4"))) == meant


@pytest.mark.parametrize(
    ("typed", "own", "meant"),
    [
        ("log_slow_verbositty", None, "log_slow_verbosity"),
        ("slow_query_log_use_global", None, "slow_query_log_use_global_control"),
        ("thread_pool_sizes", "thread_pool_size", None),
        ("innodb_bufer_pool_size", "innodb_buffer_pool_size", None),
        ("completely_made_up_option", None, None),
        ("", None, None),
    ],
)
def test_the_nearest_name_of_another_build(typed: str, own: str | None, meant: str | None) -> None:
    """An option of Percona Server is suggested only where it is closer than any of the target's own."""
    assert nearest_vendor_option(typed, parse_target("mysql-8.4"), own) == meant


def test_options_of_perconas_server_are_not_suggested_for_mariadb() -> None:
    """MariaDB has no build of that vendor; options that exist on Windows only are the same there."""
    target = parse_target("mariadb-11.8")
    assert nearest_vendor_option("slow_query_log_use_global_contro", target, None) is None
    assert nearest_vendor_option("name_pipe", target, None) == "named_pipe"
