"""The rules about logins that fail although the password is right, before real servers."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

import pymysql
from rule_cases import found

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from rules import all_rules

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Start

    from probes.sandbox import Sandbox

FAILING = "failing-init-connect"
# Assignments that some servers accept and others refuse.
ASSIGNMENTS = (
    "SET query_cache_type = 0",
    "SET tx_isolation = 'READ-COMMITTED'",
    "SET transaction_isolation = 'READ-COMMITTED'",
    "SET storage_engine = InnoDB",
    "SET max_execution_time = 1000",
    "SET max_statement_time = 1",
    "SET sql_mode = 'STRICT_TRANS_TABLES,NO_AUTO_CREATE_USER'",
    "SET GLOBAL max_connections = 100",
    "SET sql_safe_updates = 1, @x = 1",
    "SET NAMES utf8mb4",
)


def logs_in(sandbox: Sandbox) -> bool:
    """Whether an account without privileges can log in and run a statement."""
    try:
        with closing(sandbox.connect(user="plain")) as client:
            client.cursor().execute("SELECT 1")
    except (pymysql.err.OperationalError, pymysql.err.InterfaceError):
        return False
    return True


def test_init_connect_fails_where_it_is_said_to(any_server: Sandbox, tmp_path: Path) -> None:
    """Each assignment in init_connect is reported if, and only if, an ordinary account cannot log in with it."""
    target = str(any_server.binary.target)
    with closing(any_server.connect()) as client:
        cursor = client.cursor()
        cursor.execute("CREATE USER plain@localhost")
        try:
            for text in ASSIGNMENTS:
                cursor.execute("SET GLOBAL init_connect = %s", (text,))
                reported = found(FAILING, target, tmp_path, f'init_connect = "{text}"')
                assert (text, bool(reported)) == (text, not logs_in(any_server))
        finally:
            cursor.execute("SET GLOBAL init_connect = ''")
            cursor.execute("DROP USER plain@localhost")


def test_no_variable_of_a_server_is_reported_as_missing(any_server: Sandbox, tmp_path: Path) -> None:
    """No variable that a server has is reported in init_connect, whether the catalog knows it as an option or not."""
    with closing(any_server.connect()) as client:
        cursor = client.cursor()
        cursor.execute("SHOW SESSION VARIABLES")
        text = "; ".join(f"SET {name} = DEFAULT" for name, _ in cursor.fetchall())
    findings = found(FAILING, str(any_server.binary.target), tmp_path, f"init_connect = '{text}'")
    assert [finding.message for finding in findings] == []


def test_accounts_of_host_names_that_no_client_has(start: Start) -> None:
    """With skip_name_resolve an account of a host name is found, and those of addresses and of localhost are not."""
    sandbox = start("mariadb-11.8", arguments=["--skip-name-resolve"])
    with closing(sandbox.connect()) as client:
        for account in ("app@'web1.example.com'", "app@'192.0.2.%'", "app@localhost", "app@'%'"):
            client.cursor().execute(f"CREATE USER {account} IDENTIFIED BY 'secret'")
    facts = collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=0.0), time.sleep)
    ours = [rule for rule in all_rules() if rule.code == "SEC031"]
    findings = run_rules(build_context(facts), ours).findings
    assert [f.message.split(" cannot")[0] for f in findings] == ["app@web1.example.com"]
