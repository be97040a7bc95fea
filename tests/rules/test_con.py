"""What the rules about connections, threads and waits say and advise, number by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rule_cases import Case, context_of_case

from advisor.facts.host import Cpu, Host
from rules import all_rules, find_rule

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding

MYSQL, MARIADB = "mysql-9.7.4", "mariadb-10.11"
POOL = "thread_handling = pool-of-threads\n"
METADATA, GLOBAL = "Waiting for table metadata lock", "Waiting for global read lock"
DAY = "in a window of 10 s, server up 1 d"
AT_START = {
    "small-thread-stack",
    "spare-port-without-address",
    "unused-thread-pool",
    "backlog-cut-by-kernel",
}


def first(rule: str, target: str, folder: Path, **words: Any) -> Finding:
    """The first finding of the rule in a small case."""
    found = find_rule(rule)
    assert found is not None
    return next(iter(found.check(context_of_case(Case(rule, "", target, **words), folder))))


def server(status: dict[str, int] | None = None, **variables: str) -> dict[str, Any]:
    """A server with these variables and counters."""
    return {"variables": variables, "status": status or {}}


@pytest.mark.parametrize(
    ("rule", "target", "file", "line"),
    [
        ("small-thread-stack", MYSQL, "thread_stack = 192K", "thread_stack = 1M"),
        ("packet-below-dump", MYSQL, "max_allowed_packet = 512K", "max_allowed_packet = 64M"),
        (
            "replica-packet-below-statements", MYSQL, "replica_max_allowed_packet = 1M",
            "replica_max_allowed_packet = 1G",
        ),
        ("thread-cache-off", MYSQL, "thread_cache_size = 0", "thread_cache_size = 9"),
        ("thread-cache-off", MARIADB, "thread_cache_size = 0", "thread_cache_size = 151"),
        ("thread-cache-off", MARIADB, "thread_cache_size = 0\nmax_connections = 40", "thread_cache_size = 40"),
        ("no-lock-wait", MARIADB, "lock_wait_timeout = 0", "lock_wait_timeout = 86400"),
        ("row-waits-for-hours", MYSQL, "innodb_lock_wait_timeout = 9999", "innodb_lock_wait_timeout = 50"),
        ("slow-handshakes", MARIADB, "connect_timeout = 100", "connect_timeout = 10"),
        ("deadlocks-time-out", MYSQL, "innodb_deadlock_detect = OFF", "innodb_deadlock_detect = ON"),
    ],
)  # fmt: skip
def test_advice_for_a_file(rule: str, target: str, file: str, line: str, tmp_path: Path) -> None:
    """The advised line is the version's own default, and the cache never exceeds the number of connections."""
    found = first(rule, target, tmp_path, file=file)
    assert [a.option_line for a in found.actions] == [line]
    assert found.help == f"write {line}"


@pytest.mark.parametrize(
    ("peak", "connections", "kept"), [(5, 500, 9), (80, 500, 80), (257, 500, 256), (400, 100, 100), (300, 256, 256)]
)
def test_threads_to_keep(peak: int, connections: int, kept: int, tmp_path: Path) -> None:
    """As many threads are kept as were connected, no fewer than by default, and no more than 256 or all connections."""
    running = server({"max_used_connections": peak}, max_connections=str(connections))
    found = first("thread-cache-off", MYSQL, tmp_path, file="thread_cache_size = 0", server=running)
    assert found.actions[0].option_line == f"thread_cache_size = {kept}"


def test_no_peak_no_limit(tmp_path: Path) -> None:
    """Where a server reports neither its peak nor its limit the default remains."""
    found = first("thread-cache-off", MYSQL, tmp_path, file="thread_cache_size = 0", server=server())
    assert found.actions[0].option_line == "thread_cache_size = 9"


@pytest.mark.parametrize(("peak", "advised"), [(75, 151), (76, 152), (300, 600)])
def test_connections_to_allow(peak: int, advised: int, tmp_path: Path) -> None:
    """Twice the peak is advised, and no less than the default of 151."""
    running = server({"uptime": 864000, "max_used_connections": peak})
    found = first("oversized-connection-limit", MYSQL, tmp_path, file="max_connections = 9000", server=running)
    assert found.actions[0].option_line == f"max_connections = {advised}"
    assert found.message == f"9,000 connections are allowed, and at most {peak} were in use at once; server up 10 d."


@pytest.mark.parametrize(("cpus", "size", "groups", "says"), [
    (1.0, "1", 16, "16 statements at once, on 1 processor."),
    (0.9, "1", 2, "2 statements at once, on 0.9 processors."),
    (2.6, "3", 16, "16 statements at once, on 2.6 processors."),
])  # fmt: skip
def test_groups_for_the_processors(cpus: float, size: str, groups: int, says: str, tmp_path: Path) -> None:
    """One group for each processor is advised, and at least one."""
    host = {"cgroup": {"cpus": cpus}}
    file = f"{POOL}thread_pool_size = {groups}"
    found = first("thread-pool-unlike-processors", MARIADB, tmp_path, file=file, host=host)
    assert found.message == f"The thread pool runs about {says}"
    assert [a.option_line for a in found.actions] == [f"thread_pool_size = {size}"]


@pytest.mark.parametrize(("threads", "says"), [(1, "1 thread in"), (2, "2 threads in")])
def test_no_limit_inside_innodb(threads: int, says: str, tmp_path: Path) -> None:
    """Where InnoDB lets in fewer threads than there are processors, no limit is advised."""
    file = f"innodb_thread_concurrency = {threads}"
    found = first("idle-processors-by-limit", MYSQL, tmp_path, file=file, host={})
    assert found.message == f"InnoDB lets {says} at once, on 4 processors."
    assert [a.option_line for a in found.actions] == ["innodb_thread_concurrency = 0"]


@pytest.mark.parametrize(("threads", "severity"), [(16, "warning"), (63, "warning"), (64, None), (100, None)])
def test_a_limit_for_a_crowd(threads: int, severity: str | None, tmp_path: Path) -> None:
    """On 128 processors a limit of 64 threads or more is a limit for a crowd, and nothing is said of it."""
    rule = find_rule("idle-processors-by-limit")
    assert rule is not None
    file = f"innodb_thread_concurrency = {threads}"
    known = context_of_case(Case("", "", MYSQL, file=file, host={}), tmp_path)
    known.parts["host"] = Host(cpu=Cpu(logical=128, online=tuple(range(128)), kinds=(), cores=128, sockets=1))
    assert [f.severity.value for f in rule.check(known)] == ([severity] if severity else [])


@pytest.mark.parametrize(("name", "needs", "target"), [
    ("create_admin_listener_thread", "admin_address", MYSQL), ("extra_max_connections", "extra_port", MARIADB),
])  # fmt: skip
def test_what_a_spare_port_lacks(name: str, needs: str, target: str, tmp_path: Path) -> None:
    """The option that would open the port is named for each flavour."""
    found = first("spare-port-without-address", target, tmp_path, file=f"{name} = 1")
    assert found.message == f"{name} has no effect: no port is opened for it, because {needs} is not set."
    assert needs in found.help


@pytest.mark.parametrize(("file", "says"), [
    ("thread_pool_size = 8", "thread_pool_size has no effect"),
    (
        "thread_pool_stall_limit = 9\nthread_pool_size = 8",
        "thread_pool_size and thread_pool_stall_limit have no effect",
    ),
])  # fmt: skip
def test_sizes_of_no_pool(file: str, says: str, tmp_path: Path) -> None:
    """One or several options of the pool make a sentence."""
    assert first("unused-thread-pool", MARIADB, tmp_path, file=file).message.startswith(says)


@pytest.mark.parametrize(("count", "says"), [(1, "1 connection was"), (2, "2 connections were")])
def test_refusals(count: int, says: str, tmp_path: Path) -> None:
    """Refused connections are reported with their window, and with what one more might take."""
    found = first(
        "connections-refused", MYSQL, tmp_path, server=server(max_connections="151"),
        workload={"rises": {"connection_errors_max_connections": count}},
    )  # fmt: skip
    assert found.message == f"{says} refused {DAY}: all 151 were in use."
    assert "each further connection takes about" in found.help


@pytest.mark.parametrize(("cpus", "says"), [(1.0, "there is 1 processor."), (2.0, "there are 2 processors.")])
def test_a_crowd(cpus: float, says: str, tmp_path: Path) -> None:
    """The smaller of both samples is reported, with the number of processors."""
    found = first(
        "more-running-than-processors", MYSQL, tmp_path, server={}, host={"cgroup": {"cpus": cpus}},
        workload={"gauges": {"threads_running": [40, 12]}},
    )  # fmt: skip
    expected = f"12 sessions or more ran statements at both ends of {DAY.removeprefix('in ')}; {says}"
    assert found.message == expected


@pytest.mark.parametrize(("target", "waits", "rows", "says", "helps"), [
    (MYSQL, {METADATA: 10}, 0, "10 waited for a table metadata lock; no more than 2 are active.", "sys.schema_table"),
    (MARIADB, {METADATA: 9}, 0, "9 waited for a table metadata lock; no more than 3 are active.", "innodb_trx"),
    (MYSQL, {}, 11, "11 waited for a row lock; no more than 1 are active.", "sys.innodb_lock_waits"),
    (MYSQL, {"User lock": 10}, 0, "10 waited for a user-level lock; no more than 2 are active.", "IS_USED_LOCK"),
    (MYSQL, {GLOBAL: 10}, 0, "10 waited for a global read lock;", "performance_schema.metadata_locks"),
    ("mysql-5.7.22", {GLOBAL: 10}, 0, "10 waited for a global read lock;", "FLUSH TABLES WITH READ LOCK"),
    (MYSQL, {"Waiting for table flush": 10}, 0, "10 waited for a table flush;", "the oldest statement"),
    (MYSQL, {METADATA: 2}, 1, "2 waited for a table metadata lock, 1 for a row lock; there are 4", "clients' pools"),
])  # fmt: skip
def test_a_crowd_that_waits(  # noqa: PLR0917 - a row of the table
    target: str, waits: dict[str, int], rows: int, says: str, helps: str, tmp_path: Path
) -> None:
    """Sessions that wait for a lock are reported with it; clients' pools are blamed for running ones alone."""
    found = first(
        "more-running-than-processors", target, tmp_path, server={"lock_waits": waits}, host={},
        workload={"gauges": {"threads_running": [12, 40], "innodb_row_lock_current_waits": [0, rows]}},
    )  # fmt: skip
    assert says in found.message
    assert helps in found.help


@pytest.mark.parametrize(("rises", "causes"), [
    ({}, ""),
    ({"access_denied_errors": 7}, " (7 with access denied)"),
    (
        {"access_denied_errors": 7, "aborted_connects_preauth": 5},
        " (7 with access denied and 5 before they named an account)",
    ),
])  # fmt: skip
def test_why_connects_were_aborted(rises: dict[str, int], causes: str, tmp_path: Path) -> None:
    """The causes that the server reports are shown, and nothing else."""
    window = {"rises": {"aborted_connects": 20, "connections": 30, **rises}}
    found = first("aborted-connects", MARIADB, tmp_path, server={}, workload=window)
    failed = "20 connection attempts failed before a session began"
    assert found.message == f"{failed}{causes} {DAY}, with 30 new connections."
    assert found.help.endswith(", in the error log")


@pytest.mark.parametrize(("target", "variables", "where"), [
    (MARIADB, {"log_warnings": "1"}, "in the error log with log_warnings = 2"),
    (MYSQL, {"host_cache_size": "0"}, "log_error_verbosity = 3 (with host_cache_size = 0 the host cache is empty)"),
    (MYSQL, {"skip_name_resolve": "ON"}, "log_error_verbosity = 3 (with skip_name_resolve the host cache is empty)"),
    (MYSQL, {}, "(performance_schema.host_cache)"),
])  # fmt: skip
def test_where_aborted_connects_are_shown(target: str, variables: dict[str, str], where: str, tmp_path: Path) -> None:
    """The hosts are looked for where this server, with these settings, shows them."""
    window = {"rises": {"aborted_connects": 20, "connections": 30}}
    assert where in first("aborted-connects", target, tmp_path, server=server(**variables), workload=window).help


@pytest.mark.parametrize(("target", "line", "refuses"), [
    ("mysql-8.0.15", "", "logins"),
    ("mysql-8.0.15", "disconnect_on_expired_password = OFF", "statements"),
    (MARIADB, "", "statements"),
    (MARIADB, "disconnect_on_expired_password = ON", "logins"),
])  # fmt: skip
def test_what_an_expired_password_ends(target: str, line: str, refuses: str, tmp_path: Path) -> None:
    """disconnect_on_expired_password decides whether the login or the first statement fails."""
    found = first("expiring-passwords", target, tmp_path, file=f"default_password_lifetime = 90\n{line}")
    assert f"the server refuses the {refuses} of its account" in found.message


@pytest.mark.parametrize(
    ("name", "fails"), [("net_read_timeout", "imports"), ("net_write_timeout", "dumps and exports")]
)
def test_what_a_short_network_timeout_ends(name: str, fails: str, tmp_path: Path) -> None:
    """A client that pauses while it sends is ended by one timeout, one that pauses while it reads by the other."""
    assert first("short-network-timeouts", MYSQL, tmp_path, file=f"{name} = 2").message.endswith(f"; {fails} fail.")


@pytest.mark.parametrize(("file", "ends"), [
    ("", "with 30 new connections."), ("wait_timeout = 60", "with 30 new connections; idle sessions end after 1 min."),
])  # fmt: skip
def test_a_timeout_that_cuts_sessions(file: str, ends: str, tmp_path: Path) -> None:
    """A timeout is reported where it is explicitly configured."""
    window = {"rises": {"aborted_clients": 20, "connections": 30}}
    found = first("aborted-clients", MYSQL, tmp_path, file=file, server={}, workload=window)
    assert found.message == f"20 sessions ended without closing the connection {DAY}, {ends}"


def test_what_takes_a_restart() -> None:
    """A rule says that its cure takes a restart where the option is read at start-up alone."""
    assert {r.name for r in all_rules() if r.family == "CON" and r.docs.restart} == AT_START
