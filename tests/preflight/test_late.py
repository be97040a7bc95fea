"""What servers report for the defaults that persisted values bring along."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pymysql
import pytest

from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.preflight.sources import is_restored, may_be_persisted
from advisor.upgrade.defaults import default_collation
from advisor.verdict.words import charset_of

if TYPE_CHECKING:
    from pymysql.cursors import Cursor

    from probes.sandbox import Sandbox


def test_default_collations(any_server: Sandbox) -> None:
    """Each character set's default collation is what the server says it is."""
    with any_server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT VERSION()")
        version = cursor.fetchone()[0]
        cursor.execute("SHOW CHARACTER SET")
        real = {row[0]: row[2] for row in cursor.fetchall()}
    flavour = "mariadb" if "MariaDB" in version else "mysql"
    target = parse_target(f"{flavour}-{version.partition('-')[0]}")
    assert len(real) > 30
    assert {charset: default_collation("utf8mb3" if charset == "utf8" else charset, target) for charset in real} == {
        charset: collation.replace("utf8_", "utf8mb3_") for charset, collation in real.items()
    }
    assert all(charset_of(collation) == charset for charset, collation in real.items())


def test_which_persisted_values_come_back() -> None:
    """Those of key caches don't on 8.0.15; all others do, and so do those on later servers."""
    asked = [
        ("key_buffer_size", "mysql-8.0.15"),
        ("sort_buffer_size", "mysql-8.0.15"),
        ("key_buffer_size", "mysql-9.7.4"),
    ]
    assert [is_restored(name, parse_target(target)) for name, target in asked] == [False, True, True]


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_what_may_be_persisted(any_server: Sandbox) -> None:
    """No dynamic variable that preflight would persist is refused with error 1238."""
    with any_server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT VERSION()")
        target = parse_target(f"mysql-{cursor.fetchone()[0].partition('-')[0]}")
        catalog = load(target)
        cursor.execute("SHOW GLOBAL VARIABLES")
        names = [name for name, _ in cursor.fetchall()]
        dynamic = [n for n in names if (option := catalog.find_variable(n)) is not None and option.dynamic]
        refused = {name for name in dynamic if _never_persisted(cursor, name)}
    assert len(dynamic) > 200
    assert {name for name in refused if may_be_persisted(name, target)} == set()


def _never_persisted(cursor: Cursor, name: str) -> bool:
    """Whether the server calls the variable one that it does not persist (1238); what it takes is reset."""
    try:
        cursor.execute(f"SET PERSIST_ONLY {name} = @@GLOBAL.{name}")
    except pymysql.MySQLError as error:
        return bool(error.args[0] == 1238)
    cursor.execute(f"RESET PERSIST IF EXISTS {name}")
    return False
