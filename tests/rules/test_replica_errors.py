"""What REP015 reports for each error of a replica, in the words in which servers show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from rule_cases import Case, context_of_case

from rules import find_rule

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding

COORDINATOR = "Coordinator stopped because there were error(s) in the worker(s)."
BEHIND, UNREADABLE = "beyond the end of the source's binary log", "cannot read an event there"
REGISTER = (
    "command COM_REGISTER_{} failed: Access denied for user 'repl'@'127.0.0.1' (using password: YES) (Errno: 1045)"
)


class Shown(NamedTuple):
    """The number and the text that a server of this target showed, and parts of what is said of it."""

    target: str
    number: str
    text: str
    meaning: str
    step: str


RECEIVER = (
    Shown("mysql-5.7.22", "1236", "replication from position > file size'", BEHIND, "compare the data"),
    Shown("mysql-9.7.4", "13114", "replication from position > file size'", BEHIND, "compare the data"),
    Shown("mariadb-11.8.9", "1236", "from impossible position; the first event 'b.000001'", BEHIND, "compare the data"),
    Shown("mysql-5.7.22", "1236", "bogus data in log event; the first event 'b.000001'", UNREADABLE, "mysqlbinlog"),
    Shown("mysql-9.7.4", "13114", "binlog truncated in the middle of event; consider", UNREADABLE, "mysqlbinlog"),
    Shown(
        "mysql-9.7.4",
        "13114",
        "Could not find first log file name in binary log index file'",
        "does not have the binary log",
        "check that this is the right source",
    ),
    Shown(
        "mysql-5.7.22",
        "1593",
        "The replication receiver thread cannot start in AUTO_POSITION mode: the master has GTID_MODE = OFF instead of",
        "gtid_mode is not ON on the source",
        "MASTER_AUTO_POSITION = 0",
    ),
    Shown(
        "mysql-5.7.22", "1597", f"Master {REGISTER.format('SLAVE')}", "lacks a privilege", "REPLICATION SLAVE ON *.*"
    ),
    Shown("mysql-9.7.4", "13120", f"Source {REGISTER.format('REPLICA')}", "lacks a privilege", "SLAVE ON *.*"),
    Shown(
        "mysql-5.7.22",
        "1153",
        "Got a packet bigger than 'slave_max_allowed_packet' bytes",
        "is larger",
        "slave_max_allowed_packet",
    ),
    Shown(
        "mysql-9.7.4", "13125", "Got a packet bigger than 'replica_max_allowed_packet' bytes", "is larger", "then start"
    ),
    Shown("mysql-5.7.22", "3118", "error connecting to master 'repl@127.0.0.1:41367'", "is locked", "ACCOUNT UNLOCK"),
    Shown("mariadb-11.8.9", "4151", "Access denied, this account is locked", "is locked", "ACCOUNT UNLOCK"),
    Shown("mysql-9.7.4", "1862", "Your password has expired.", "has expired", "CHANGE REPLICATION SOURCE TO"),
    Shown("mariadb-11.8.9", "1820", "You must SET PASSWORD", "has expired", "CHANGE MASTER TO"),
    Shown("mysql-9.7.4", "1040", "Too many connections", "no connection left", "max_connections"),
    Shown("mysql-9.7.4", "2026", "SSL connection error", "TLS", "SOURCE_SSL_CA"),
    Shown("mysql-5.7.22", "2005", "error connecting to master", "name of the source's host is unknown", "name service"),
)


def stopped(target: str, folder: Path, **row: str) -> Finding:
    """The finding about a replica with this status."""
    rule = find_rule("stopped-replica")
    assert rule is not None
    status = {"Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes", **row}
    server = {"replication": {"replica_rows": [status]}}
    (finding,) = rule.check(context_of_case(Case("stopped-replica", "", target, server=server), folder))
    return finding


@pytest.mark.parametrize("shown", RECEIVER, ids=lambda shown: f"{shown.target} {shown.number}")
def test_errors_of_the_receiver(shown: Shown, tmp_path: Path) -> None:
    """Each error of the receiver has its meaning and a next step, and nothing of the message is repeated."""
    error = {"Last_IO_Errno": shown.number, "Last_IO_Error": shown.text}
    finding = stopped(shown.target, tmp_path, Slave_IO_Running="No", **error)
    assert f"error {shown.number}: nothing more arrives." in finding.message
    assert shown.meaning in finding.message
    assert shown.step in finding.help
    assert "127.0.0.1" not in finding.message + finding.help
    assert "b.000001" not in finding.message + finding.help


@pytest.mark.parametrize(
    ("number", "meaning", "step"),
    [
        ("1008", "The database that the source dropped does not exist here.", "create it here as the source had it"),
        ("1050", "The table that the source created exists here already.", "drop or rename it here"),
        ("1051", "The table that the source dropped does not exist here.", "create it here as the source had it"),
        ("1060", "The column that the source added exists here already.", "with SET sql_log_bin = 0"),
        ("1091", "does not exist here", "create it here as the source had it"),
        ("1146", "A table that the source changed does not exist here.", "its rows are missing too"),
        ("1304", "exists here already", "drop or rename it here"),
        ("1205", "waited for a lock longer than innodb_lock_wait_timeout", "end its transaction"),
        ("1396", "The account that the source created exists here already", "drop or create the account here"),
        ("1452", "is missing here", "compare the row with the source's"),
    ],
)
def test_errors_of_the_applier(number: str, meaning: str, step: str, tmp_path: Path) -> None:
    """Each error of the applier has its meaning, and a next step that ends with a running replica."""
    finding = stopped(
        "mysql-9.7.4", tmp_path, Slave_SQL_Running="No", Last_SQL_Errno=number, Last_SQL_Error=COORDINATOR
    )
    assert meaning in finding.message
    assert step in finding.help
    assert "start the replica; details" in finding.help or "rebuild" in finding.help


def test_a_receiver_that_gives_up(tmp_path: Path) -> None:
    """While it tries, the finding says when it ends for good; after that, that it has to be started."""
    down = {"Last_IO_Errno": "2003", "Source_Retry_Count": "10", "Connect_Retry": "60"}
    tries = stopped("mysql-9.7.4", tmp_path, Slave_IO_Running="Connecting", **down)
    assert "It gives up after 10 attempts, one every 1 min, and must then be started." in tries.message
    assert "then start the replica" not in tries.help
    assert "then start the replica" in stopped("mysql-9.7.4", tmp_path, Slave_IO_Running="No", **down).help
    patient = down | {"Source_Retry_Count": "86400"}
    assert "gives up" not in stopped("mysql-8.0.15", tmp_path, Slave_IO_Running="Connecting", **patient).message


def test_the_public_key_is_fetched_by_mysql_8_alone(tmp_path: Path) -> None:
    """GET_SOURCE_PUBLIC_KEY is an option of MySQL 8.0.4 and later, not of 5.7 and MariaDB."""
    offered = {"mysql-5.7.22": "", "mariadb-11.8": "", "mysql-8.0.15": "MASTER", "mysql-9.7.4": "SOURCE"}
    for target, word in offered.items():
        help_text = stopped(target, tmp_path, Slave_IO_Running="No", Last_IO_Errno="2061").help
        assert (f"GET_{word}_PUBLIC_KEY" if word else "_SSL = 1 with CHANGE") in help_text
        assert ("PUBLIC_KEY" in help_text) is bool(word)
