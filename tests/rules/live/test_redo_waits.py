"""A full redo log by the server's own warnings, and the binary log by performance_schema, on real servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from advisor.analysis import run_rules, select_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.collect.privileges import grants_for
from advisor.core.model import Severity

if TYPE_CHECKING:
    from real_servers import Server, Start

    from advisor.core.model import Finding
    from advisor.facts import Facts
    from probes.sandbox import Sandbox

ROW = 3_000_000  # bytes; a few of them fill a log of 8M
ROUNDS = 40  # at most; one has sufficed


def collected(server: Sandbox, user: str) -> Facts:
    """What an audit without a window reads under that account."""
    return collect_from_account(Account(user=user, socket=server.socket), CollectRequest(window=0.0))


def found(facts: Facts) -> tuple[Finding, ...]:
    """What LOG002 says."""
    return run_rules(build_context(facts), select_rules(["LOG002"], None)).findings


LOG007 = ("LOG007",)


def tiny(facts: Facts) -> tuple[Finding, ...]:
    """What LOG007 finds."""
    return run_rules(build_context(facts), select_rules(LOG007, None)).findings


def prepare(server: Sandbox) -> None:
    """A table for large rows, and an account with exactly the privileges that are asked for."""
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE USER reader@localhost")
        for grant in grants_for(server.binary.target):
            cursor.execute(grant.statement("reader@localhost"))
        cursor.execute("CREATE DATABASE large")
        cursor.execute("CREATE TABLE large.rows_ (id INT AUTO_INCREMENT PRIMARY KEY, b LONGBLOB)")
        cursor.execute("SET GLOBAL max_allowed_packet = 67108864")


def write(server: Sandbox) -> None:
    """Five large rows in one transaction."""
    with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
        for _ in range(5):
            cursor.execute("INSERT INTO large.rows_ (b) VALUES (REPEAT('x', %s))", (ROW,))
        connection.commit()


@pytest.mark.servers("mysql-9.7")
def test_warnings_of_a_full_redo_log_are_found_and_end_with_a_larger_one(server_name: str, start: Start) -> None:
    """No rate is known without a window: the error log shows it, to an ordinary account, until the log is resized."""
    server = start(server_name, arguments=("--innodb-redo-log-capacity=8M", "--innodb-flush-log-at-trx-commit=2"))
    prepare(server)
    assert found(collected(server, "reader")) == ()
    facts = collected(server, "reader")
    for _ in range(ROUNDS):
        write(server)
        facts = collected(server, "reader")
        if facts.server.redo_waits and facts.server.redo_waits.count:
            break
    (finding,) = found(facts)
    assert finding.severity is Severity.WARNING
    assert finding.message.startswith("The redo log of 8M was full, and statements waited for space in it: ")
    (action,) = finding.actions
    assert action.statement
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(action.statement)
    assert found(collected(server, "reader")) == ()


@pytest.mark.servers("mysql-8.0", "mysql-9.7", whole="mysql-5.7")
def test_the_binary_log_is_measured(server_name: str, start: Start) -> None:
    """What an ordinary account reads is what was written, and a little for the events around it."""
    server = start(server_name, arguments=("--log-bin=binlog", "--server-id=7", "--binlog-format=ROW"))
    prepare(server)
    before = collected(server, "reader").server.binary_log_bytes
    write(server)
    after = collected(server, "reader").server.binary_log_bytes
    assert before is not None
    assert after is not None
    assert 5 * ROW < after - before < 5 * ROW + 10_000


@pytest.mark.servers("mysql-8.0", "mysql-9.7", "mariadb-11.8", whole="mysql-5.7 mariadb-10.11 mariadb-11.4")
def test_a_default_log_under_a_large_pool(server_name: str, server: Server, start: Start) -> None:
    """The default log is found under a pool of 4G that is configured, not under the default pool, nor after the advice.

    A server of MySQL 5.7 or 8.0 reads the size of its log at the start.
    """
    assert tiny(collected(server(server_name), "root")) == ()
    pool = "--innodb-buffer-pool-size=4G"
    enlarged = start(server_name, arguments=(pool,))
    (found_tiny,) = tiny(collected(enlarged, "root"))
    assert found_tiny.severity is Severity.NOTE
    (action,) = found_tiny.actions
    if action.statement and not action.restart:
        with enlarged.connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(action.statement)
    else:
        assert action.option_line
        name, _, value = action.option_line.partition(" = ")
        enlarged = start(server_name, arguments=(pool, f"--{name}={value}"))
    assert tiny(collected(enlarged, "root")) == ()
