"""Which server a file is judged for when nobody said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from advisor.catalog.targets import newest_target

if TYPE_CHECKING:
    from mycnf_command import Mycnf

CASES = [
    ("[mysqld]\nport=3306\n", "mysql", "no option or group shows"),
    ("[mariadb]\nport=3306\n", "mariadb", "[mariadb]"),
    ("[mariadb-10.11]\nport=3306\n", "mariadb", "[mariadb-10.11]"),
    ("[mysqld]\naria_pagecache_buffer_size=1G\n", "mariadb", "aria_pagecache_buffer_size"),
    ("[mysqld]\nskip-aria_log_purge_type\n", "mariadb", "aria_log_purge_type"),
    ("[mysqld]\nwsrep_on=1\n", "mariadb", "wsrep_on is known only to builds with Galera"),
    ("[mysqld]\nwsrep_provider=none\nmysqlx_port=33060\n", "mysql", "mysqlx_port"),
    ("[mysqld]\nmysqlx_port=33060\n", "mysql", "mysqlx_port"),
    ("[mysqld]\nloose-mysqlx-port=33060\n", "mysql", "mysqlx_port"),
    # MySQL 5.7 knew the query cache: it tells nothing.
    ("[mysqld]\nquery_cache_size=0\n", "mysql", "no option or group shows"),
]


@pytest.mark.parametrize(("text", "flavour", "why"), CASES)
def test_flavour(mycnf: Mycnf, text: str, flavour: str, why: str) -> None:
    """The flavour comes from what only one flavour knows, the series is always its newest, and stderr says so."""
    ended = mycnf("lint", "--exit-zero", "-", stdin=text.encode())
    assert ended.code == 0
    assert newest_target(flavour).label in ended.err
    assert why in ended.err


def test_removed_options_choose_no_old_series(mycnf: Mycnf) -> None:
    """An option of old series only stays an error of the newest one: a guess must not hide it."""
    ended = mycnf("lint", "-", stdin=b"[mysqld]\nmysqlx_port=33060\ninnodb_file_format=Barracuda\n")
    assert ended.code == 1
    assert "removed-option" in ended.out
