"""What options do, in words: for every option that a rule is about and for those that option files set most."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pymysql
import pytest
from process_checks import eventually
from real_servers import Start

from advisor.catalog import load, presence
from advisor.catalog.presence import all_descriptions, describe_option, find_presence
from advisor.catalog.targets import SERIES
from advisor.core.model import Target
from rules import all_rules
from rules._index import BY_OPTION

CATALOGS = [load(Target(flavour, patch)) for flavour, series in SERIES.items() for patch in series.values()]
KNOWN = {name for catalog in CATALOGS for name in catalog.options}
OPTIONS = sorted({name for names in BY_OPTION.values() for name in names} & KNOWN)
OPTIONS_OF_RULES = sorted({name for rule in all_rules() for name in rule.options})
MOST_USED = 150
SETTING = re.compile(r"(?:loose[-_])?([A-Za-z][\w-]*)\s*(?:=|$)")
SERVER_GROUP = re.compile(r"\[(mysqld|mariadbd?|server|galera|mariadb|mysqld-\S+|mariadb-\S+)\]")


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_of_a_rule_is_described(name: str) -> None:
    """Every option that is advised to be changed has a description of what it does."""
    assert describe_option(name), f"add {name} to a file of advisor/catalog/data/descriptions"


def test_every_option_of_a_rule_is_described() -> None:
    """Those that only an audit reads, of plugins and of other builds too."""
    assert [name for name in OPTIONS_OF_RULES if not any(describe_option(name, c.get(name)) for c in CATALOGS)] == []


def test_the_most_used_options_are_described(shared: Path) -> None:
    """The options that most option files of the corpus set, counted once a file."""
    counts: Counter[str] = Counter()
    for path in sorted((shared / "corpus").rglob("*.cnf")):
        counts.update(_options_set(path))
    often = [name for name, _ in counts.most_common() if name in KNOWN][:MOST_USED]
    assert [name for name in often if not any(describe_option(name, c.get(name)) for c in CATALOGS)] == []


def _options_set(path: Path) -> set[str]:
    names, inside = set(), False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.lstrip().startswith("["):
            inside = bool(SERVER_GROUP.match(line.strip()))
        elif inside and (found := SETTING.match(line.strip())):
            names.add(found[1].lower().replace("-", "_"))
    return names


@pytest.mark.parametrize("name", sorted(all_descriptions()))
def test_a_description_is_a_short_paragraph_of_an_option_that_exists(name: str) -> None:
    """One to four sentences that fit a screen of 80 by 24, about an option that some version knows."""
    text = describe_option(name)
    assert name in KNOWN or name in OPTIONS_OF_RULES or find_presence(name) is not None
    assert text == " ".join(text.split())
    assert text.endswith(".")
    assert 6 <= len(text.split()) <= 90


def test_an_alias_is_described_by_what_it_stands_for() -> None:
    """Another spelling without a paragraph of its own has that of the option that it sets."""
    aliases = [
        option for catalog in CATALOGS for name in catalog.options if (option := catalog.get(name)) and option.alias_of
    ]
    described = [o for o in aliases if o.name not in all_descriptions() and o.alias_of in all_descriptions()]
    assert described
    for option in described:
        assert describe_option(option.name, option) == all_descriptions()[option.alias_of or ""]


def test_a_description_that_is_read_alone_is_that_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """One option is looked up without parsing hundreds, with the same text; names that nobody described have none."""
    whole = dict(all_descriptions())
    monkeypatch.setattr(presence, "_descriptions", {})
    assert {name: describe_option(name) for name in whole} == whole
    for other in ("", "no_such_option", "port = 1", 'port"', "por"):
        assert describe_option(other) == ""


ROW_EVENTS = ("--log-bin=binlog", "--server-id=1", "--binlog-format=ROW", "--default-storage-engine=InnoDB")
INDEX_LOG = ("--slow-query-log=1", "--log-queries-not-using-indexes=1")


@pytest.mark.servers("mysql-5.7", "mariadb-10.11", whole="mysql-8.0 mysql-9.7 mariadb-11.4 mariadb-11.8")
def test_descriptions_of_limits_are_what_servers_do(server_name: str, start: Start) -> None:
    """What a limit refuses, and what stays possible, as the descriptions of four options state it."""
    server = start(server_name, arguments=(*ROW_EVENTS, *INDEX_LOG))
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE described")
        connection.select_db("described")
        cursor.execute("CREATE TABLE rows_of (id INT PRIMARY KEY AUTO_INCREMENT, k INT, v LONGTEXT, KEY (k))")
        cursor.execute("INSERT INTO rows_of (k, v) VALUES (1, 'a'), (2, 'b'), (3, 'c')")

        cursor.execute("SELECT k FROM rows_of")
        cursor.execute("SELECT v FROM rows_of WHERE v = 'end'")
        cursor.execute("SELECT @@datadir, @@slow_query_log_file")
        log = Path(*cursor.fetchone())
        eventually(lambda: b"'end'" in log.read_bytes(), what="the full scan in the slow log")
        described = describe_option("log_queries_not_using_indexes")
        assert "in MariaDB also most that scan a whole index" in described
        assert (b"SELECT k FROM" in log.read_bytes()) is server.binary.target.is_mariadb

        cursor.execute("CREATE TEMPORARY TABLE existing (i INT)")
        cursor.execute("SET SESSION TRANSACTION READ ONLY")
        cursor.execute("INSERT INTO existing VALUES (1)")
        assert _refused(cursor, "CREATE TEMPORARY TABLE another (i INT)") == 1792
        assert "still be changed, but none can be created" in describe_option("transaction_read_only")
        cursor.execute("SET SESSION TRANSACTION READ WRITE")
        cursor.execute("DROP TEMPORARY TABLE existing")

        refused = _refused(cursor, "SET GLOBAL max_user_connections = 9")
        assert refused == (1290 if server.binary.target.is_mariadb else None)
        assert "A MariaDB server that was started with zero refuses" in describe_option("max_user_connections")

        cursor.execute("SET GLOBAL max_binlog_cache_size = 8192")
        cursor.execute("SET GLOBAL binlog_cache_size = 4096")
    with server.connect(database="described", autocommit=False) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO rows_of (v) VALUES ('first')")
        refusals = [_refused(cursor, "INSERT INTO rows_of (v) VALUES (REPEAT('x', 5000))") for _ in range(4)]
        assert refusals[-1] == 1197
        connection.commit()
        cursor.execute("SELECT COUNT(*) FROM rows_of WHERE k IS NULL")
        assert cursor.fetchone() == (1 + refusals.count(None),)
        assert "the transaction stays open" in describe_option("max_binlog_cache_size")


@pytest.mark.servers("mysql-5.7", "mariadb-10.11", whole="mysql-8.0 mysql-9.7 mariadb-11.4 mariadb-11.8")
def test_writes_of_a_recovered_server_are_as_described(server_name: str, start: Start) -> None:
    """innodb_force_recovery blocks writes on MySQL at once, on MariaDB from 5 on."""
    server = start(server_name, arguments=("--default-storage-engine=InnoDB",))
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE described")
        cursor.execute("CREATE TABLE described.written (i INT)")
        cursor.execute("SET GLOBAL innodb_fast_shutdown = 0")
    refusals = {}
    for value in (1, 4, 5) if server.binary.target.is_mariadb else (1,):
        server.stop()
        server.restart([f"--innodb-force-recovery={value}", *(a for a in server.arguments if a == "--skip-ssl")])
        with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
            refusals[value] = _refused(cursor, "INSERT INTO described.written VALUES (1)")
    assert refusals == ({1: None, 4: None, 5: 1836} if server.binary.target.is_mariadb else {1: 1881})
    described = describe_option("innodb_force_recovery")
    assert "MySQL blocks INSERT, UPDATE and DELETE with every value" in described
    assert "MariaDB still accepts writes up to 4" in described


def _refused(cursor: pymysql.cursors.Cursor, statement: str) -> int | None:
    """The number of the error that a statement ends with; None if it succeeds."""
    try:
        cursor.execute(statement)
    except pymysql.MySQLError as error:
        number: int = error.args[0]
        return number
    return None
