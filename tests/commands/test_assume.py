"""Which server a file is judged for where the target is not given."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from mycnf_command import CHECKOUT

from advisor.analysis.context import target_of
from advisor.catalog.targets import newest_target
from advisor.commands import guess_target
from advisor.facts.snapshot import load

if TYPE_CHECKING:
    from mycnf_command import Mycnf

CASES = [
    ("[mysqld]\nport=3306\n", "mysql", "no option or group shows"),
    ("[mariadb]\nport=3306\n", "mariadb", "[mariadb]"),
    ("[mysqld]\naria_pagecache_buffer_size=1G\n", "mariadb", "aria_pagecache_buffer_size"),
    ("[mysqld]\nskip-aria_log_purge_type\n", "mariadb", "aria_log_purge_type"),
    ("[mysqld]\nwsrep_on=1\n", "mariadb", "wsrep_on is known only to builds with Galera"),
    ("[mysqld]\nmysqlx_port=33060\n", "mysql", "mysqlx_port"),
    ("[mysqld]\nloose-mysqlx-port=33060\n", "mysql", "mysqlx_port"),
    # Clients of both have it, and so had both servers what is older than MariaDB.
    ("[client]\ndefault-character-set=utf8mb4\n[mysqld]\nport=3306\n", "mysql", "no option or group shows"),
    ("[mysqld]\nmyisam-recover=BACKUP\ninnodb_additional_mem_pool_size=2M\n", "mysql", "no option or group shows"),
    ("[mysqld]\nlog_slow_queries=/a\nwsrep_on=1\n", "mariadb", "wsrep_on is known only to builds with Galera"),
    # MySQL 5.7 had the query cache: it proves nothing.
    ("[mysqld]\nquery_cache_size=0\n", "mysql", "no option or group shows"),
]


@pytest.mark.parametrize(("text", "flavour", "why"), CASES)
def test_flavour(mycnf: Mycnf, text: str, flavour: str, why: str) -> None:
    """The flavour comes from what only one flavour knows, the series is always its newest, and stderr says so."""
    ended = mycnf("lint", "--exit-zero", "-", stdin=text.encode())
    assert ended.code == 0
    assert newest_target(flavour).label in ended.err
    assert why in ended.err


def test_a_cluster_with_an_option_of_mysql_is_perconas(mycnf: Mycnf) -> None:
    """MySQL Community has no Galera: beside its options those of a cluster are Percona XtraDB Cluster's."""
    ended = mycnf("lint", "--exit-zero", "-", stdin=b"[mysqld]\nwsrep_on=1\nmysqlx_port=33060\n")
    assert newest_target("mysql", "pxc").label in ended.err
    assert "mysqlx_port is known to MySQL only, and wsrep_on to builds with Galera" in ended.err


def test_an_option_of_every_mysql_is_no_sign_of_percona(mycnf: Mycnf) -> None:
    """Percona documents a value of flow control that only it has; the option is MySQL's."""
    ended = mycnf("lint", "--exit-zero", "-", stdin=b"[mysqld]\nloose_group_replication_flow_control_mode=DISABLED\n")
    assert newest_target("mysql").label in ended.err
    assert "Percona" not in ended.err


def test_removed_options_choose_no_old_series(mycnf: Mycnf) -> None:
    """An option that only old series have stays an error of the newest one: a guess must not hide it."""
    ended = mycnf("lint", "-", stdin=b"[mysqld]\nmysqlx_port=33060\ninnodb_file_format=Barracuda\n")
    assert ended.code == 1
    assert "removed-option" in ended.out


WRITTEN = [
    ("[mariadb-10.11]\nport=3306\n", "MariaDB 10.11.19", "its group [mariadb-10.11]"),
    ("[mysqld-5.7]\nport=3306\n", "MySQL 5.7.44", "its group [mysqld-5.7]"),
    ("[mysqld]\nport=1\n[mysqld-5.7]\n[mysqld-8.0]\n", "MySQL 8.0.43", "its group [mysqld-8.0]"),
    (
        "[mysqld]\nbasedir=/usr/local/mysql-8.0.36-linux-glibc2.28-x86_64\n",
        "MySQL 8.0.36",
        "basedir names mysql-8.0.36",
    ),
    ("[mysqld]\nbasedir=C:/Program Files/MySQL/MySQL Server 8.0/\n", "MySQL 8.0.43 on Windows", "MySQL Server 8.0"),
    ("[mysqld]\ndatadir=/opt/bitnami/mariadb/data\n", "MariaDB", "opt/bitnami/mariadb"),
    ("# http://dev.mysql.com/doc/refman/8.0/en/x.html\n[mysqld]\nport=1\n", "MySQL 8.0.43", "refman/8.0"),
    ("# The Percona Server 5.7 configuration file.\n[mysqld]\nport=1\n", "Percona Server 5.7.", "a comment names"),
    ("[mysqld]\nlog_slow_rate_type=query\n", "Percona Server 8.4.", "log_slow_rate_type is known to Percona Server"),
    ("[mysqld]\npxc_strict_mode=ENFORCING\n", "Percona XtraDB Cluster 8.4.", "pxc_strict_mode"),
    ("[mariadb]\nlog_bin\nbinlog_storage_engine=innodb\n", "MariaDB 12.3.", "introduced in MariaDB 12.3.1"),
    ("[mysqld]\nuserstat=ON\npxc_strict_mode=DISABLED\n", "Percona XtraDB Cluster", "pxc_strict_mode is known to"),
    # A group says more than a comment, and a comment of the other flavour says nothing.
    ("# dev.mysql.com/doc/refman/8.0/en/\n[mysqld-5.7]\nport=1\n", "MySQL 5.7.44", "its group [mysqld-5.7]"),
    ("# dev.mysql.com/doc/refman/8.0/en/\n[mariadb]\nport=1\n", "MariaDB", "its group [mariadb]"),
]


@pytest.mark.parametrize(("text", "label", "why"), WRITTEN)
def test_the_file_names_its_server(mycnf: Mycnf, text: str, label: str, why: str) -> None:
    """A group, a path, a package's comment or a vendor's option names the version or build, and stderr says which."""
    ended = mycnf("lint", "--exit-zero", "-", stdin=text.encode())
    assert f"checked for {label}" in ended.err
    assert why in ended.err


SERVICE = "[wampmysqld]\nport=3306\nmax_connections=100\ninnodb_buffer_pool_size=1G\ndatadir=D:/wamp/data\n"


def test_windows_by_its_paths(mycnf: Mycnf) -> None:
    """A file with drive letters is that of a server on Windows, which has its own options, values and groups."""
    text = "[mysqld]\ndatadir=C:/data\nenable-named-pipe\nlower_case_table_names=2\n"
    text += "innodb_flush_method=unbuffered\nskip-shared_memory\n"
    ended = mycnf("lint", "--target", "mysql-8.4", "-", stdin=text.encode())
    assert (ended.code, ended.out.count("OPT0")) == (0, 0)
    assert "on Windows" in ended.out
    assert "effect" not in mycnf("lint", "--target", "mysql-8.4", "-", stdin=SERVICE.encode()).out


def test_the_platform_that_is_named_decides(mycnf: Mycnf) -> None:
    """--platform decides before the paths; a full version without it is that of a server on Linux."""
    text = b"[mysqld]\nnamed_pipe=ON\nlower_case_table_names=2\n"
    assert "Windows only" in mycnf("lint", "--target", "mysql-8.4", "-", stdin=text).out
    assert "named_pipe" not in mycnf("lint", "--target", "mysql-8.4", "--platform", "windows", "-", stdin=text).out
    paths = b"[mysqld]\ndatadir=C:/data\nnamed_pipe=ON\n"
    assert "Windows only" in mycnf("lint", "--target", "mysql-8.0.15", "-", stdin=paths).out
    assert "Windows only" in mycnf("lint", "--target", "mysql-8.4", "--platform", "linux", "-", stdin=paths).out


def test_a_fork_is_not_predicted_to_refuse_to_start(mycnf: Mycnf) -> None:
    """A server that was not examined gets notes about names and values that MySQL refuses."""
    compose = (
        "services:\n  db:\n    image: greatsql/greatsql:8.0.32-25\n    command: mysqld --innodb_bufer_pool_size=1G"
    )
    ended = mycnf(
        "lint", "--format", "json", "--stdin-filename", "compose.yml", "-", stdin=f"{compose} --port=x\n".encode()
    )
    assert "GreatSQL 8.0.32" in ended.err
    assert '"error"' not in ended.out.replace('"error": 0', "")
    assert "will not start" not in ended.out


@pytest.mark.parametrize(
    ("comment", "label"),
    [
        ("Percona Server (GPL), Release 28, Revision 47601f19", "Percona Server 8.4.3"),
        ("Percona XtraDB Cluster (GPL), Release rel27, Revision 8dd8a0e, WSREP version 26.1.4.3", "Percona XtraDB"),
        ("MySQL Enterprise Server - Commercial", "MySQL Enterprise 8.4.3"),
        ("GreatSQL, Release 25, Revision 79f57097e3f", "GreatSQL 8.4.3"),
        ("MySQL Community Server - GPL", "MySQL 8.4.3"),
    ],
)
def test_a_running_server_names_its_build(comment: str, label: str) -> None:
    """A server's version_comment shows whose build it is, and the target says so."""
    facts = load(str(CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"))
    server = structs.replace(facts.server, version="8.4.3", version_comment=comment, flavour="mysql", vendor="")
    assert target_of(server).label.startswith(label)


PARTS = [
    *("# ", "Percona ", "percona ", "XtraDB Cluster", "Server", " 8.0", "5.7.22", " template", " configuration"),
    *("/en/", "http://dev.mysql.com/doc/refman/", "mysql-", "MariaDB ", "MySQL Server ", "/opt/", "percona-server-"),
    *("\u017f", "\u0663.\u0664"),  # a long s and Arabic digits, which patterns take for s and digits
]


@given(st.lists(st.sampled_from(PARTS), max_size=7).map("".join))
def test_texts_that_are_not_matched_name_no_server(text: str) -> None:
    """What is left out before the patterns are tried would not have matched them."""
    found = re.search(guess_target.VERSIONED_PATH, text)
    tried = guess_target._versioned_path(text)
    assert (found and found.span()) == (tried and tried.span())
    matched = [flavour for pattern, flavour, _ in guess_target.PACKAGE_COMMENTS if re.search(pattern, text)]
    assert [flavour for flavour, *_ in guess_target._package_comment(text)] == matched
