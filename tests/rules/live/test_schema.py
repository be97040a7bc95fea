"""The rules about the definitions of tables, on real servers that have each fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pymysql
import pytest
from live_server import Live
from real_servers import quickly
from replication_pair import pair, until, written

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.privileges import schema_grants_for
from advisor.collect.server.schema import SchemaLimits
from advisor.core.model import Severity
from probes.sandbox import start_server
from probes.sandbox.server import free_port
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from real_servers import Binaries, Start

    from advisor.core.model import Finding
    from advisor.facts import Facts

SERVERS = ("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.8")
OURS = [rule for rule in all_rules() if rule.family == "SCH"]
STATES = "SELECT MEMBER_STATE, COUNT(*) FROM performance_schema.replication_group_members GROUP BY MEMBER_STATE"
PATIENT = SchemaLimits(60.0)
FAULTS = (
    "CREATE DATABASE shop",
    "CREATE TABLE shop.orders (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT, b INT, KEY a (a), KEY ab (a, b))",
    "INSERT INTO shop.orders (id) VALUES (2000000000)",
    "CREATE TABLE shop.`or``ders é` (id TINYINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 230",
    "CREATE TABLE shop.half (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 1100000000",
    "CREATE TABLE shop.log (at INT)",
    "CREATE TABLE shop.`lo-g 2` (at INT)",
    "CREATE TABLE shop.parts (at INT) PARTITION BY HASH (at) PARTITIONS 2",
    "CREATE TABLE shop.uniq (at INT NOT NULL, UNIQUE (at))",
    "CREATE TABLE shop.prefix (at VARCHAR(20) NOT NULL, UNIQUE (at(3)))",
    "CREATE TABLE shop.nullable (at INT, UNIQUE (at))",
    "CREATE TABLE shop.old (id INT PRIMARY KEY) ENGINE = MyISAM",
    "CREATE TABLE shop.cache (id INT PRIMARY KEY) ENGINE = MEMORY",
    "CREATE VIEW shop.v AS SELECT * FROM shop.log",
)


def read(server: Live, user: str = "root", limits: SchemaLimits = PATIENT) -> Facts:
    """The facts with the definitions of tables."""
    return collect_from_account(server.account(user), CollectRequest(window=0.0, schema=limits))


def found(facts: Facts) -> dict[str, Finding]:
    """The findings about the definitions of tables, by code."""
    return {finding.code: finding for finding in run_rules(build_context(facts), OURS).findings}


@pytest.fixture(scope="module")
def default_server(server_name: str, binaries: Binaries, templates: Path) -> Iterator[Live]:
    """A running default server that only these tests use."""
    binary = binaries(server_name)
    with start_server(binary, arguments=quickly(binary), templates=templates) as sandbox:
        yield Live(server_name, sandbox)


@pytest.fixture
def live(default_server: Live) -> Iterator[Live]:
    """This server without tables of users; those of the test are dropped."""
    yield default_server
    default_server.run("DROP DATABASE IF EXISTS shop", "DROP DATABASE IF EXISTS small")


@pytest.mark.servers(*SERVERS)
def test_faults_are_found(server_name: str, start: Start) -> None:
    """Each fault is found with the names of its tables, and nothing is missing; the advice can be carried out."""
    server = Live(server_name, start(server_name, arguments=["--log-bin=b", "--server-id=1", "--binlog-format=ROW"]))
    server.run(*FAULTS)
    facts = read(server)
    risks = facts.schema_risks
    assert risks is not None
    assert [part for part in facts.unavailable if part.part.startswith("schema")] == []
    assert [(one.table, one.next) for one in risks.auto_increments or ()] == [
        ("orders", 2000000001),
        ("or`ders é", 230),
        ("half", 1100000000),
    ]
    assert {one.table for one in risks.without_key or ()} == {"log", "lo-g 2", "parts", "prefix", "nullable"}
    assert {(one.table, one.engine) for one in risks.other_engines or ()} == {("old", "MyISAM"), ("cache", "MEMORY")}
    assert [(one.index, one.covered_by) for one in risks.redundant_indexes or ()] == [("a", "ab")]
    findings = found(facts)
    assert set(findings) == {"SCH001", "SCH006", "SCH007"}  # few rows and no replica: SCH004 stays silent
    assert findings["SCH001"].severity is Severity.WARNING
    assert "`shop`.`orders`.`id` (int" in findings["SCH001"].message
    assert "`shop`.`or``ders é`.`id`" in findings["SCH001"].message
    (action,) = findings["SCH007"].actions
    assert action.statement is not None
    server.run(action.statement)
    assert "SCH007" not in found(read(server))
    if action.undo:
        server.run(action.undo)
        assert "SCH007" in found(read(server))
    server.run("INSERT INTO shop.orders (id) VALUES (2100000000)")
    later = found(read(server))["SCH001"]
    assert later.severity is Severity.ERROR
    assert "next value is 2,100,000,001" in later.message


@pytest.mark.servers(*SERVERS)
def test_an_answer_that_ends_at_its_limit_is_not_called_complete(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where as many tables were read as a statement may return, the audit says that there may be more."""
    monkeypatch.setattr("advisor.collect.server.schema._MOST_TABLES", 2)
    monkeypatch.setattr("advisor.collect.server.schema._MOST_OF_SCHEMA", 2)
    live.run(*FAULTS)
    facts = read(live)
    assert facts.reason_missing("schema.keys") == "only the first 2 tables were read"
    assert facts.reason_missing("schema.engines").startswith("only the first 2 tables")
    by_schema = live.is_mariadb or live.name == "mysql-5.7"
    cut = "only the first 2 tables of `shop` were read"
    wanted = cut if by_schema else "schema.auto_increment was not collected"
    assert facts.reason_missing("schema.auto_increment") == wanted


@pytest.mark.servers(*SERVERS)
def test_values_after_a_restart_are_current(live: Live) -> None:
    """The next value is that of the last insert, before and after a restart, and no statistics of ours are stored."""
    live.run(*FAULTS[:3])
    assert _next_value(live) == 2000000001
    live.run("INSERT INTO shop.orders (id) VALUES (2050000000)")
    assert _next_value(live) == 2050000001
    live.sandbox.restart()
    assert _next_value(live) in (2050000000, 2050000001)  # 8.0 has the last value until the table is opened


def _next_value(server: Live) -> int:
    (column,) = (read(server).schema_risks or pytest.fail("nothing was read")).auto_increments or ()
    return column.next


@pytest.mark.servers(*SERVERS)
def test_empty_server_has_no_finding(live: Live) -> None:
    """A server without tables of users has no finding, and nothing is missing."""
    facts = read(live)
    assert facts.schema_risks is not None
    assert facts.schema_risks.tables == 0
    assert [part for part in facts.unavailable if part.part.startswith("schema")] == []
    assert found(facts) == {}


@pytest.mark.servers(*SERVERS)
def test_granted_account_reads_definitions_but_no_row(live: Live) -> None:
    """The grants of --schema show every table and no row; an account without them is reported as such."""
    live.run(*FAULTS)
    with live.user("mycnf", "IDENTIFIED BY ''") as user:
        bare = read(live, user)
        assert bare.schema_risks is None
        assert _reasons(bare)["schema.other_tables"] == "needs REFERENCES"
        live.run("GRANT REFERENCES ON *.* TO 'mycnf'@'%'")
        assert _reasons(read(live, user))["schema.redundant_indexes"] == "needs SELECT on sys.*"
        live.run("GRANT PROCESS ON *.* TO 'mycnf'@'%'", "GRANT SELECT ON mysql.innodb_table_stats TO 'mycnf'@'%'")
        live.run(*(grant.statement("'mycnf'@'%'") for grant in schema_grants_for(live.sandbox.binary.target)))
        mine, root = read(live, user), read(live)
        assert [part for part in mine.unavailable if part.part.startswith("schema")] == []
        assert mine.schema_risks is not None
        assert root.schema_risks is not None
        for part in ("tables", "auto_increments", "without_key", "other_engines", "redundant_indexes"):
            assert getattr(mine.schema_risks, part) == getattr(root.schema_risks, part), part
        connection = live.sandbox.connect(user=user)
        with connection, connection.cursor() as cursor, pytest.raises(Exception, match="denied"):
            cursor.execute("SELECT * FROM shop.log")


def _reasons(facts: Facts) -> dict[str, str]:
    return {part.part: part.reason for part in facts.unavailable}


@pytest.mark.servers("mysql-5.7", "mariadb-10.11", "mariadb-11.8")
def test_limit_of_tables_is_kept(live: Live) -> None:
    """MySQL 5.7 and MariaDB open no table above the limit; the report names what was left out, and keys are read."""
    live.run(*FAULTS, "CREATE DATABASE small", "CREATE TABLE small.t (id TINYINT AUTO_INCREMENT PRIMARY KEY)")
    live.run("INSERT INTO small.t VALUES (125)")
    facts = read(live, limits=SchemaLimits(60.0, 1))
    assert facts.schema_risks is not None
    assert [one.table for one in facts.schema_risks.auto_increments or ()] == ["t"]
    assert len(facts.schema_risks.without_key or ()) == 5
    reasons = _reasons(facts)
    assert "1 of 2 schemas" in reasons["schema.auto_increment"]
    assert "`shop`" in reasons["schema.auto_increment"]
    assert "schema.redundant_indexes" in reasons


@pytest.mark.servers(*SERVERS)
def test_time_limit_is_kept(live: Live) -> None:
    """Without time left, nothing is read, and the reason is given."""
    live.run(*FAULTS)
    facts = read(live, limits=SchemaLimits(0.0))
    assert facts.schema_risks is None
    (reason,) = [part.reason for part in facts.unavailable if part.part == "schema"]
    assert reason == "not finished within 0 s; allow more with --schema-time"
    assert run_rules(build_context(facts), OURS).findings == ()


@pytest.mark.servers("mysql-9.7")
def test_generated_primary_keys_count(live: Live) -> None:
    """A generated invisible primary key is a primary key, also on servers that hide it."""
    generated, shown = "sql_generate_invisible_primary_key", "show_gipk_in_create_table_and_information_schema"
    live.run(f"SET GLOBAL {generated} = ON", f"SET GLOBAL {shown} = OFF")
    try:
        live.run("CREATE DATABASE shop", "CREATE TABLE shop.log (at INT)")
        risks = read(live).schema_risks
    finally:
        live.run(f"SET GLOBAL {generated} = DEFAULT", f"SET GLOBAL {shown} = DEFAULT")
    assert risks is not None
    assert risks.without_key == ()


@pytest.mark.servers("mysql-8.0", "mysql-9.7", "mariadb-11.8")
def test_indexes_that_the_view_does_not_compare(live: Live) -> None:
    """An index of an expression, or in descending order, is not redundant, even if the view reports it."""
    last = "b DESC" if live.is_mariadb else "(LOWER(b))"
    live.run(
        "CREATE DATABASE shop", f"CREATE TABLE shop.t (a INT, b VARCHAR(9), c INT, KEY f (a, {last}), KEY ac (a, b, c))"
    )
    risks = read(live).schema_risks
    assert risks is not None
    assert risks.redundant_indexes == ()


@pytest.mark.servers(*SERVERS)
def test_an_index_is_not_redundant_to_a_prefix(live: Live) -> None:
    """The view calls a whole column redundant to its prefix; an index that begins with a unique one is called that."""
    live.run(
        "CREATE DATABASE shop", "CREATE TABLE shop.t (a VARCHAR(99), b INT, KEY p (a(5)), KEY q (a), KEY r (a, b))"
    )
    live.run("CREATE TABLE shop.u (id INT PRIMARY KEY, b INT, KEY idb (id, b))")
    facts = read(live)
    assert facts.schema_risks is not None
    redundant = {(one.index, one.covered_by) for one in facts.schema_risks.redundant_indexes or ()}
    assert redundant == {("q", "r"), ("idb", "PRIMARY")}
    live.run("DROP TABLE shop.t")
    assert "`idb` of `shop`.`u` begins with all columns of the unique" in found(read(live))["SCH007"].message


@pytest.mark.servers(*SERVERS)
def test_replicas_scan_tables_without_key(server_name: str, start: Start, tmp_path: Path) -> None:
    """A replica reads a table without a key for each changed row, or for each event; the source has a warning."""
    source, replica = pair(server_name, start, tmp_path)
    source.run("SET GLOBAL binlog_format = 'ROW'")
    rows = ",".join(f"({n}, '')" for n in range(500))
    source.run(
        "CREATE TABLE a.t (a INT, b CHAR(100))",
        f"INSERT INTO a.t VALUES {rows}",  # noqa: S608 - numbers
        *["INSERT INTO a.t SELECT a + (SELECT COUNT(*) FROM a.t), b FROM a.t"] * 5,
    )
    until(lambda: _rows(replica) == 16000)
    before = _reads(replica)
    source.run("UPDATE a.t SET b = 'x' WHERE a >= 15800")
    until(lambda: replica.run("SELECT COUNT(*) FROM a.t WHERE b = 'x'") == ((200,),))
    reads = _reads(replica) - before
    by_row = server_name == "mysql-5.7" or server_name.startswith("mariadb")
    print(server_name, "rows read by the replica:", reads)
    assert (reads > 200 * 15000) is by_row
    source.run("ANALYZE TABLE a.t")
    finding = found(read(source))["SCH004"]
    assert finding.severity is Severity.WARNING
    assert "`a`.`t`" in finding.message


def _rows(server: Live) -> int:
    try:
        return int(server.run("SELECT COUNT(*) FROM a.t")[0][0])
    except Exception:  # noqa: BLE001 - the table does not exist yet
        return 0


def _reads(server: Live) -> int:
    return int(server.run("SHOW GLOBAL STATUS LIKE 'Handler_read_rnd_next'")[0][1])


GROUP = """[mysqld]
plugin_load_add = group_replication.so
server_id = 1
log_bin = b
gtid_mode = ON
enforce_gtid_consistency = ON
group_replication_group_name = aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa
group_replication_local_address = 127.0.0.1:{port}
group_replication_group_seeds = 127.0.0.1:{port}
group_replication_start_on_boot = OFF
"""


@pytest.mark.servers("mysql-9.7")
def test_group_refuses_writes(server_name: str, start: Start, tmp_path: Path) -> None:
    """On a member of a group, tables without a key and of other engines are errors, and the server refuses writes."""
    file = written(tmp_path, "member.cnf", GROUP.format(port=free_port()))
    server = Live(server_name, start(server_name, option_file=file, tcp=True))
    server.run("SET sql_log_bin = 0", *FAULTS)
    server.run("RESET BINARY LOGS AND GTIDS", "SET GLOBAL group_replication_bootstrap_group = ON")
    server.run("START GROUP_REPLICATION")
    until(lambda: server.run(STATES) == (("ONLINE", 1),))
    until(lambda: server.run("SELECT @@super_read_only") == ((0,),))
    findings = found(read(server))
    assert {"SCH002", "SCH005"} <= set(findings)
    assert {"SCH004", "SCH006"}.isdisjoint(findings)
    assert findings["SCH002"].severity is findings["SCH005"].severity is Severity.ERROR
    for statement in ("INSERT INTO shop.log VALUES (1)", "INSERT INTO shop.old VALUES (1)"):
        with pytest.raises(pymysql.err.MySQLError, match="external plugin") as refused:
            server.run(statement)
        assert refused.value.args[0] == 3098
    server.run("INSERT INTO shop.uniq VALUES (1)")
