"""The rules about connections, threads and waits, before real servers that are set and driven badly."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
from advice_carried_out import tried
from counter_windows import SECONDS, lasting, rising, wait_for
from process_checks import eventually

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from real_servers import Start

    from advisor.core.model import Finding
    from advisor.facts import Facts
    from probes.sandbox import Sandbox

OURS = [rule for rule in all_rules() if rule.family == "CON"]
LATER = 8 * 86400.0
OFTEN = 60
BURSTS = 4
BURST = 80
FILE = """[mysqld]
max_connections = 60
max_user_connections = 60
thread_stack = 192K
thread_cache_size = 0
host_cache_size = 0
max_connect_errors = 1000
max_allowed_packet = 512K
slave_max_allowed_packet = 256K
extra_max_connections = 5
thread_pool_size = 16
interactive_timeout = 60
innodb_lock_wait_timeout = 7200
lock_wait_timeout = 0
connect_timeout = 3600
autocommit = 0
innodb_deadlock_detect = OFF
"""
OF_THE_FILE = {
    "user-limit-without-effect",
    "small-thread-stack",
    "thread-cache-off",
    "uncached-host-names",
    "uncounted-connect-errors",
    "packet-below-dump",
    "replica-packet-below-statements",
    "spare-port-without-address",
    "unused-thread-pool",
    "interactive-timeout-alone",
    "no-lock-wait",
    "row-waits-for-hours",
    "slow-handshakes",
    "autocommit-off",
    "deadlocks-time-out",
}
POOL = """[mariadb]
thread_handling = pool-of-threads
thread_pool_size = 4000
thread_pool_max_threads = 30
max_connections = 100
"""
DRIVEN = """[mysqld]
max_connections = 2000
thread_cache_size = 1
wait_timeout = 30
create_admin_listener_thread = ON
innodb_thread_concurrency = 1
back_log = 65535
"""


def facts_of(sandbox: Sandbox, wait: Callable[[float], object] | None = None) -> Facts:
    """What an audit reads of the server; with a window where there is something to do in it."""
    request = CollectRequest(window=SECONDS if wait else 0.0)
    return collect_from_account(Account(user="root", socket=sandbox.socket), request, wait or time.sleep)


def found(facts: Facts) -> dict[str, Finding]:
    """The findings of this family by rule."""
    return {f.name: f for f in run_rules(build_context(facts), OURS).findings}


def written(tmp_path: Path, text: str) -> Path:
    """The text as an option file."""
    file = tmp_path / "my.cnf"
    file.write_text(text, "utf-8")
    return file


def test_settings_that_undo_each_other(start: Start, tmp_path: Path) -> None:
    """A MariaDB server with every bad setting of the family runs, each is found, and the advice runs as printed."""
    # Other hosts may knock, which one rule is about; no account but root of this host is there to let them in.
    file = written(tmp_path, FILE)
    sandbox = start("mariadb-10.11", option_file=file, arguments=["--bind-address=0.0.0.0"], tcp=True)
    findings = found(facts_of(sandbox))
    assert set(findings) >= OF_THE_FILE
    assert "SET GLOBAL lock_wait_timeout = 86400;" in tried(sandbox, findings)


def test_a_pool_too_large_and_too_small(start: Start, tmp_path: Path) -> None:
    """A pool with more groups than processors and fewer threads than connections is found at both ends."""
    sandbox = start("mariadb-11.8", option_file=written(tmp_path, POOL))
    findings = found(facts_of(sandbox))
    assert {"starved-thread-pool", "thread-pool-unlike-processors"} <= set(findings)
    assert "unused-thread-pool" not in findings
    assert "SET GLOBAL thread_pool_max_threads = 100;" in tried(sandbox, findings)


def test_a_server_driven_to_its_limits(start: Start, tmp_path: Path) -> None:
    """Refusals, failed logins, forgotten sessions, new threads and a crowd are found by the counters that they move."""
    sandbox = start("mysql-9.7", option_file=written(tmp_path, DRIVEN))
    quiet = lasting(facts_of(sandbox), LATER)
    if quiet.host is None or not quiet.host.usable_cpus or quiet.host.usable_cpus > 64:
        pytest.skip("needs the server's host, with 64 processors or fewer")
    names = set(found(quiet))
    assert {"oversized-connection-limit", "idle-connections-cut", "spare-port-without-address"} <= names
    if quiet.host.usable_cpus > 1:
        assert "idle-processors-by-limit" in names
    if quiet.host.os and (quiet.host.os.listen_backlog_max or 65535) < 65535:
        assert "backlog-cut-by-kernel" in names
    with crowd(sandbox, int(2 * quiet.host.usable_cpus) + 2):
        findings = found(lasting(facts_of(sandbox, lambda _: trouble(sandbox)), LATER))
    assert {
        "connections-refused", "aborted-connects", "aborted-clients", "threads-made-anew",
        "more-running-than-processors",
    } <= set(findings)  # fmt: skip
    assert tried(sandbox, {"": findings["threads-made-anew"]})
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"SET GLOBAL max_connections = {BURST}")
    assert "few-connections-left" in found(facts_of(sandbox))


@contextmanager
def crowd(sandbox: Sandbox, sessions: int) -> Iterator[None]:
    """That many sessions that run a statement until the block ends."""
    connections = [plainly(sandbox) for _ in range(sessions)]
    numbers = [_number(connection) for connection in connections]
    threads = [Thread(target=_sleep, args=(connection,)) for connection in connections]
    for thread in threads:
        thread.start()
    wait_for(sandbox, threads_running=sessions)
    try:
        yield
    finally:
        with sandbox.connect() as connection, connection.cursor() as cursor:
            for number in numbers:
                cursor.execute(f"KILL {number}")
        for thread in threads:
            thread.join()


def _number(connection: pymysql.Connection[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT CONNECTION_ID()")
        return int(cursor.fetchall()[0][0])


def _sleep(connection: pymysql.Connection[Any]) -> None:
    try:
        connection.query("DO SLEEP(300)")
    except pymysql.MySQLError:
        return


def trouble(sandbox: Sandbox) -> None:
    """Within the window: wrong names, sessions that are cut while idle, a burst of connections, and a refusal."""
    for _ in range(OFTEN):
        with pytest.raises(pymysql.OperationalError):
            plainly(sandbox, user="nobody")
    for _ in range(BURSTS):
        with ExitStack() as stack:
            for _ in range(BURST):
                stack.enter_context(plainly(sandbox))
    with ExitStack() as stack, rising(sandbox, aborted_clients=OFTEN) as cut:
        for _ in range(OFTEN):
            stack.enter_context(plainly(sandbox, init_command="SET SESSION wait_timeout = 1"))
        _refused(sandbox)
        eventually(cut, what="all of them are cut")


def plainly(sandbox: Sandbox, **options: Any) -> pymysql.Connection[Any]:
    """A connection without TLS, which would take longer than all the rest."""
    return sandbox.connect(ssl_disabled=True, **options)


def _refused(sandbox: Sandbox) -> None:
    """One connection too many, the one that is kept for administrators included."""
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE USER guest")
        cursor.execute("SET GLOBAL max_connections = 1")
        with pytest.raises(pymysql.OperationalError, match="Too many connections"):
            plainly(sandbox, user="guest")
        cursor.execute("SET GLOBAL max_connections = 2000")


@pytest.mark.parametrize(
    ("statement", "lock"),
    [
        ("ALTER TABLE d.t COMMENT = 'x'", "table metadata lock"),
        ("SELECT GET_LOCK('a lock of the test', 600), RELEASE_LOCK('a lock of the test')", "user-level lock"),
    ],
    ids=["metadata", "GET_LOCK"],
)
@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11")
def test_a_crowd_behind_a_lock(server_name: str, start: Start, statement: str, lock: str) -> None:
    """Sessions that wait for a lock are counted with that lock, not as sessions that need processors."""
    sandbox = start(server_name)
    with plainly(sandbox, autocommit=False) as holder, holder.cursor() as cursor:
        cursor.execute("CREATE DATABASE d")
        cursor.execute("CREATE TABLE d.t (a INT) ENGINE=InnoDB")
        cursor.execute("SELECT * FROM d.t")  # and no COMMIT
        cursor.execute("SELECT GET_LOCK('a lock of the test', 0)")
        facts = facts_of(sandbox)
        if facts.host is None or not facts.host.usable_cpus or facts.host.usable_cpus > 64:
            pytest.skip("needs the server's host, with 64 processors or fewer")
        count = int(2 * facts.host.usable_cpus) + 4
        waiting = [plainly(sandbox) for _ in range(count)]
        threads = [Thread(target=_wait, args=(connection, statement)) for connection in waiting]
        for thread in threads:
            thread.start()
        try:
            _until(sandbox, count)
            finding = found(lasting(facts_of(sandbox, lambda _: None), LATER))["more-running-than-processors"]
        finally:
            holder.rollback()
            cursor.execute("SELECT RELEASE_LOCK('a lock of the test')")
            for thread in threads:
                thread.join()
    assert f"{count:,} waited for a {lock}" in finding.message
    assert finding.help.startswith("find who holds the lock")


def _wait(connection: pymysql.Connection[Any], statement: str) -> None:
    connection.query(statement)


def _until(sandbox: Sandbox, count: int) -> None:
    """Come back once so many sessions wait for a lock."""
    with sandbox.connect() as connection, connection.cursor() as cursor:
        seen = 0
        while seen < count:
            cursor.execute(
                "SELECT COUNT(*) FROM information_schema.PROCESSLIST "
                "WHERE STATE LIKE 'Waiting for %metadata%' OR STATE = 'User lock'"
            )
            seen = int(cursor.fetchall()[0][0])
