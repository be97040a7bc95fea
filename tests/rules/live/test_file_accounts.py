"""The accounts with the FILE privilege, as real servers report them, where secure_file_priv is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from advisor.analysis import run_rules, select_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.core.model import Severity

if TYPE_CHECKING:
    from real_servers import Start

    from advisor.core.model import Finding
    from probes.sandbox import Sandbox


def found(server: Sandbox) -> tuple[Finding, ...]:
    """What SEC005 reports for a server."""
    facts = collect_from_account(Account(user="root", socket=server.socket), CollectRequest(window=0.0))
    return run_rules(build_context(facts), select_rules(["SEC005"], None)).findings


@pytest.mark.servers("mariadb")
def test_the_default_is_reported_with_the_accounts(server_name: str, start: Start) -> None:
    """MariaDB lets files be anywhere by default: nothing is said until an account besides root's has FILE."""
    server = start(server_name)
    assert found(server) == ()
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE USER plain@'%' IDENTIFIED BY 'Some-Pass1'")
        cursor.execute("CREATE USER loader@'%' IDENTIFIED BY 'Some-Pass1'")
        cursor.execute("GRANT FILE ON *.* TO loader@'%'")
    (finding,) = found(server)
    assert finding.severity is Severity.NOTE  # the server has no networking
    assert finding.message.startswith("1 account (loader@%) with the FILE privilege may read and write files")


@pytest.mark.servers("mysql")
def test_mysql_reports_it_too(server_name: str, start: Start) -> None:
    """On MySQL the empty value is explicit; an account of a lesser kind is named as well."""
    server = start(server_name, arguments=["--secure-file-priv="])
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE USER loader@'198.51.100.%' IDENTIFIED BY 'Some-Pass1'")
        cursor.execute("GRANT FILE ON *.* TO loader@'198.51.100.%'")
    (finding,) = found(server)
    assert finding.severity in {Severity.WARNING, Severity.NOTE}
    assert "loader@198.51.100.%" in finding.message
