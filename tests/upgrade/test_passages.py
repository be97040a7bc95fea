"""What passages report about behaviours, compared with what running servers of both sides do."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymysql
import pytest
from real_servers import Binaries, Start
from upgrade_comparison import Moved

from advisor.catalog.targets import EXAMINED
from advisor.core.model import Confidence, Target
from advisor.upgrade.behaviours import BEHAVIOUR_CHANGES, GONE, NONE, BehaviourChange
from probes.sandbox import Sandbox, SandboxError

SERVERS = ("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.4", "mariadb-11.8")
# Passages that tests of their own ask about.
APART = {
    "binlog_error_action", "innodb_io_capacity_max", "master_info_repository", "query_cache_type",
    "slave_connections_needed_for_purge",
}  # fmt: skip
ASKED_HERE = [p for p in BEHAVIOUR_CHANGES if p.asked and p.option not in APART]

# No question is about Performance Schema, which takes a third of a start of MySQL.
STARTED = ("--server-id=1", "--performance-schema=OFF")

Run = Callable[[str], "str | tuple[Any, ...] | None"]


@contextmanager
def session(server: Sandbox) -> Iterator[Run]:
    """Runs statements in one session: the first row, or the number of the error as `error 1020`."""
    connection = server.connect(autocommit=True)

    def run(statement: str) -> str | tuple[Any, ...] | None:
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
                row: tuple[Any, ...] | None = cursor.fetchone()
                return row
        except pymysql.Error as error:
            return f"error {error.args[0]}"

    yield run
    connection.close()


def variable(one: Run, name: str) -> str | None:
    """A global variable's value, None where there is none of that name."""
    row = one(f"SHOW GLOBAL VARIABLES LIKE '{name}'")
    return None if row is None else str(row[1])


def made_with(one: Run, plugin: str) -> bool:
    """Whether an account can be made that logs in by the plugin."""
    failed = one(f"CREATE USER x_{plugin}@localhost IDENTIFIED WITH {plugin}")
    one(f"DROP USER IF EXISTS x_{plugin}@localhost")
    return failed is None


def foreign_key(one: Run, other: Run) -> str:
    """What becomes of a foreign key that points at no unique key."""
    one("CREATE TABLE t.parent (a INT, KEY (a)) ENGINE=InnoDB")
    failed = one("CREATE TABLE t.child (a INT, FOREIGN KEY (a) REFERENCES t.parent (a)) ENGINE=InnoDB")
    return {None: NONE, "error 6125": "ON"}.get(failed, str(failed))


def collation(one: Run, other: Run) -> str:
    """The collation of a column with CHARACTER SET utf8mb4 alone."""
    one("CREATE TABLE t.words (a VARCHAR(9) CHARACTER SET utf8mb4)")
    row = one("SELECT collation_name FROM information_schema.columns WHERE table_schema='t' AND table_name='words'")
    return {"utf8mb4_uca1400_ai_ci": "uca1400_ai_ci for Unicode"}.get(str(row[0]), "(none)") if row else ""


def recursion(one: Run, other: Run) -> str:
    """How a recursive query ends that needs 5,000 steps."""
    row = one("WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5000) SELECT MAX(n) FROM r")
    warned = one("SHOW WARNINGS")
    return {"error 3636": "an error", (1001,): "a warning" if warned else "silence"}.get(row, str(row))


def snapshots(gone: str) -> Callable[[Run, Run], str]:
    """Whether a row that changed since the snapshot may be changed; `gone` where it may."""

    def ask(one: Run, other: Run) -> str:
        one("CREATE TABLE IF NOT EXISTS t.seen (a INT PRIMARY KEY, b INT) ENGINE=InnoDB")
        one("REPLACE INTO t.seen VALUES (1, 1)")
        for statement in ("BEGIN", "SELECT * FROM t.seen"):
            one(statement)
        other("UPDATE t.seen SET b = b + 1")
        failed = one("UPDATE t.seen SET b = b + 1")
        one("ROLLBACK")
        return {None: gone, "error 1020": "ON"}.get(failed, str(failed))

    return ask


def detached(one: Run, other: Run) -> str:
    """Whether another session may commit a prepared transaction, which then can't use temporary tables."""
    one("CREATE TABLE t.prepared (a INT) ENGINE=InnoDB")
    for statement in ("XA START 'a'", "INSERT INTO t.prepared VALUES (1)", "XA END 'a'", "XA PREPARE 'a'"):
        one(statement)
    committed = other("XA COMMIT 'a'")
    if committed:
        one("XA COMMIT 'a'")
    one("XA START 'b'")
    temporary = one("CREATE TEMPORARY TABLE t.passing (a INT) ENGINE=InnoDB")
    for statement in ("XA END 'b'", "XA ROLLBACK 'b'"):
        one(statement)
    return {(None, "error 4091"): "ON", ("error 1397", None): NONE}.get((committed, temporary), f"{committed}")


def new_account(one: Run, other: Run) -> str:
    """The plugin of an account made without more words."""
    one("CREATE USER fresh@localhost IDENTIFIED BY 'Abc.1234'")
    row = one("SELECT plugin FROM mysql.user WHERE user = 'fresh'")
    return str(row[0]) if row else ""


def mixed(one: Run, other: Run) -> str:
    """Whether a transaction may change a MyISAM table beside one of InnoDB."""
    one("CREATE TABLE t.safe (a INT) ENGINE=InnoDB")
    one("CREATE TABLE t.unsafe (a INT) ENGINE=MyISAM")
    for statement in ("BEGIN", "INSERT INTO t.safe VALUES (1)"):
        one(statement)
    failed = one("INSERT INTO t.unsafe VALUES (1)")
    one("ROLLBACK")
    return "ON" if failed == "error 1785" else NONE


def x_plugin(one: Run, other: Run) -> str:
    """Whether the X Plugin is loaded, on its port."""
    row = one("SELECT plugin_status FROM information_schema.plugins WHERE plugin_name = 'mysqlx'")
    return "ON" if row == ("ACTIVE",) and variable(one, "mysqlx_port") == "33060" else "not loaded"


def gtids(one: Run, other: Run) -> str:
    """Whose global identifiers there are, if any."""
    return "MariaDB's" if variable(one, "gtid_domain_id") is not None else str(variable(one, "gtid_mode"))


def stale(one: Run, other: Run) -> str:
    """For how long information_schema.tables keeps what it showed: NONE where it shows what is."""
    look = "SELECT auto_increment FROM information_schema.tables WHERE table_schema = 't' AND table_name = 'counted'"
    one("CREATE TABLE t.counted (a INT AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB")
    one(look)
    one("INSERT INTO t.counted VALUES (1), (2), (3)")
    return NONE if one(look) == (4,) else str(variable(one, "information_schema_stats_expiry"))


QUESTIONS: dict[tuple[str, str], Callable[[Run, Run], str]] = {
    ("restrict_fk_on_non_standard_key", "ON"): foreign_key,
    ("character_set_collations", "uca1400_ai_ci for Unicode"): collation,
    ("max_recursive_iterations", "a warning"): recursion,
    ("innodb_snapshot_isolation", "ON"): snapshots(NONE),
    ("innodb_snapshot_isolation", GONE): snapshots(GONE),
    ("xa_detach_on_prepare", "ON"): detached,
    ("mysql_native_password", GONE): lambda one, _: "ON" if made_with(one, "mysql_native_password") else GONE,
    ("authentication_policy", "caching_sha2_password"): new_account,
    ("default_authentication_plugin", "caching_sha2_password"): new_account,
    ("caching_sha2_password", GONE): lambda one, _: "ON" if made_with(one, "caching_sha2_password") else GONE,
    ("caching_sha2_password", "not loaded"):
        lambda one, _: "ON" if made_with(one, "caching_sha2_password") else "not loaded",
    ("mysqlx", "ON"): x_plugin,
    ("gtid_mode", "ON"): lambda one, _: variable(one, "gtid_mode") or NONE,
    ("gtid_mode", "MariaDB's"): gtids,
    ("enforce_gtid_consistency", "ON"): mixed,
    ("binlog_expire_logs_seconds", "2592000"):
        lambda one, _: variable(one, "binlog_expire_logs_seconds") or str(variable(one, "expire_logs_days")),
    ("information_schema_stats_expiry", "86400"): stale,
}  # fmt: skip


def key(passage: BehaviourChange) -> tuple[str, str]:
    """What distinguishes passages."""
    return passage.option, passage.after


def answers(server: Sandbox) -> dict[tuple[str, str], str]:
    """What a server does in each of the questions."""
    with session(server) as one, session(server) as other:
        one("CREATE DATABASE t")
        found = {}
        for about, question in QUESTIONS.items():
            found[about] = question(one, other)
            one("DROP DATABASE t")
            one("DROP USER IF EXISTS fresh@localhost")
            one("CREATE DATABASE t")
    return found


@pytest.fixture(scope="module")
def seen() -> dict[str, dict[tuple[str, str], str]]:
    """What untouched servers do, by their names: each is asked once."""
    return {}


def target_of(name: str, binaries: Binaries) -> Target:
    """The version of a server; skips by name where it is another than that of the catalog."""
    target = binaries(name).target
    if target not in EXAMINED:
        pytest.skip(f"{name} is {target} here; the catalog is of another patch")
    return target


@pytest.mark.parametrize("passage", ASKED_HERE, ids=lambda p: f"{p.option}-{p.after}")
def test_servers_of_both_sides_do_as_reported(
    passage: BehaviourChange, binaries: Binaries, start: Start, seen: dict[str, dict[tuple[str, str], str]]
) -> None:
    """On each way on which a passage is reported as certain both servers behave as reported."""
    targets = {name: target_of(name, binaries) for name in SERVERS}
    for name in SERVERS:
        if name not in seen:
            server = start(name, arguments=STARTED)
            seen[name] = answers(server)
            server.close()
    ways = [w for w in itertools.permutations(SERVERS, 2) if passage.when(targets[w[0]], targets[w[1]])]
    assert ways
    does = {way: tuple(seen[name][key(passage)] for name in way) for way in ways}
    assert does == dict.fromkeys(ways, (passage.before, passage.after))


@pytest.mark.parametrize(
    "way",
    [("mysql-5.7", "mysql-8.0"), ("mariadb-10.11", "mysql-8.0"), ("mariadb-10.11", "mysql-9.7"),
     ("mariadb-10.11", "mariadb-11.8"), ("mysql-9.7", "mariadb-11.8")],
    ids="-".join,
)  # fmt: skip
def test_the_lines_bring_the_old_behaviour_back(
    way: tuple[str, str], binaries: Binaries, start: Start, tmp_path: Path
) -> None:
    """With the passages' lines the new server does what the old one did."""
    old, new = (target_of(name, binaries) for name in way)
    passages = [p for p in ASKED_HERE if p.keep and p.when(old, new)]
    assert passages
    file = tmp_path / "kept.cnf"
    file.write_text("\n".join(["[mysqld]", "server_id = 1", *(str(p.keep) for p in passages), ""]))
    found = answers(start(way[1], option_file=file, arguments=STARTED[1:]))
    # Without identifiers MySQL says OFF where MariaDB says nothing.
    kept = {key(p): "OFF" if p.option == "gtid_mode" else p.before for p in passages}
    assert {about: found[about] for about in kept} == kept


@pytest.mark.parametrize("name", SERVERS)
def test_a_binary_log_that_cannot_be_opened(name: str, binaries: Binaries, start: Start, tmp_path: Path) -> None:
    """MySQL stops where its next binary log can't be opened, MariaDB goes on without one."""
    target = target_of(name, binaries)
    folder = tmp_path / "logs"
    folder.mkdir()
    for place in (tmp_path, folder):
        place.chmod(0o777)
    server = start(name, arguments=[*STARTED, f"--log-bin={folder}/binlog"])
    with session(server) as one:
        one("CREATE DATABASE t")
        one("CREATE TABLE t.kept (a INT) ENGINE=InnoDB")
        folder.rename(tmp_path / "elsewhere")
        stopped = one("FLUSH BINARY LOGS")
        taken = one("INSERT INTO t.kept VALUES (1)")
    assert (stopped == "error 1598", taken is None) == (target.is_mysql, target.is_mariadb)
    if target.is_mariadb:
        assert "Turning logging off" in server.read_log()


@pytest.mark.parametrize("name", SERVERS)
def test_an_expiry_without_a_replica(name: str, binaries: Binaries, start: Start) -> None:
    """From MariaDB 11.4 on no old binary log is removed while no replica is connected; the line brings it back."""
    waits = target_of(name, binaries).since("mariadb", 11, 4)
    expiry = "--expire-logs-days=1" if name == "mysql-5.7" else "--binlog-expire-logs-seconds=60"
    server = start(name, arguments=[*STARTED, "--log-bin=b", expiry], small=False)
    first = os.path.join(server.datadir, "b.000001")
    with session(server) as one:
        one("FLUSH BINARY LOGS")
        os.utime(first, (1e9, 1e9))
        one("FLUSH BINARY LOGS")
        assert os.path.exists(first) is waits
        if waits:
            one("SET GLOBAL slave_connections_needed_for_purge = 0")
            one("FLUSH BINARY LOGS")
        assert not os.path.exists(first)


@pytest.mark.parametrize("name", [name for name in SERVERS if name not in ("mysql-8.0", "mysql-9.7")])
def test_a_query_cache_with_a_size(name: str, binaries: Binaries, start: Start) -> None:
    """A size alone switches MariaDB's query cache on and MySQL's not, and the line switches it off again."""
    is_mariadb = target_of(name, binaries).is_mariadb
    for last, expected in (([], "ON" if is_mariadb else "OFF"), (["--query-cache-size=0"], "OFF")):
        server = start(name, arguments=[*STARTED, "--query-cache-size=16M", *last])
        with session(server) as one:
            assert variable(one, "query_cache_type") == expected
        server.close()


@pytest.mark.parametrize("name", SERVERS)
def test_flushing_below_a_thousand_pages(name: str, binaries: Binaries, start: Start) -> None:
    """Of a low innodb_io_capacity the newest MySQL flushes twice as much at most, and the others 2000 pages."""
    newest = target_of(name, binaries).since("mysql", 8, 4)
    for last, expected in (([], "1000" if newest else "2000"), (["--innodb-io-capacity-max=2000"], "2000")):
        server = start(name, arguments=[*STARTED, "--innodb-io-capacity=500", *last])
        with session(server) as one:
            assert variable(one, "innodb_io_capacity_max") == expected
        server.close()


def test_a_low_capacity_is_needed(moved: Moved) -> None:
    """The lower maximum is reported for capacities of which twice is less than 2000, with the line that keeps it."""
    for text, expected in (("innodb_io_capacity = 999", "innodb_io_capacity_max = 2000"), ("", "")):
        for after in ("mysql-8.4", "mysql-9.7"):
            (change,) = (
                c
                for c in moved(f"[mysqld]\n{text}\n", "mysql-8.0", after).defaults
                if c.option == "innodb_io_capacity_max"
            )
            assert (change.after == "twice innodb_io_capacity", change.keep) == (bool(text), expected or change.keep)


def test_an_expiry_is_needed(moved: Moved) -> None:
    """Without an expiry in the file nothing was removed before, and nothing is said."""
    for text, expected in (("", False), ("expire_logs_days = 5", True)):
        options = {c.option for c in moved(f"[mysqld]\nlog_bin = b\n{text}\n", "mariadb-10.6", "mariadb-11.8").defaults}
        assert ("slave_connections_needed_for_purge" in options) is expected


def test_a_replicas_files(binaries: Binaries, start: Start, tmp_path: Path) -> None:
    """MySQL 8.0 and MariaDB take a replica's connection over from the files of 5.7; 9.7 no longer reads them."""
    for name in ("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11"):
        target_of(name, binaries)
    files = ("master.info", "relay-log.info")
    old = start("mysql-5.7", arguments=STARTED)
    with session(old) as one:
        one("CHANGE MASTER TO MASTER_HOST = 'source.example', MASTER_USER = 'u'")
    for file in files:
        shutil.copy(os.path.join(old.datadir, file), tmp_path / file)
    assert host(with_files("mysql-8.0", files, start, tmp_path), "SHOW SLAVE STATUS") == "source.example"
    assert host(with_files("mariadb-10.11", files, start, tmp_path), "SHOW SLAVE STATUS") == "source.example"
    assert host(with_files("mysql-9.7", files, start, tmp_path), "SHOW REPLICA STATUS") is None


@pytest.mark.parametrize("name", ["mysql-8.0", "mariadb-10.11"])
@pytest.mark.parametrize("mode", [1, 2])
def test_data_after_a_shutdown_as_in_a_crash(name: str, mode: int, binaries: Binaries, start: Start) -> None:
    """The servers after 5.7 take its data over if it ended with innodb_fast_shutdown = 1, and stop after one with 2."""
    for of in ("mysql-5.7", name):
        target_of(of, binaries)
    server = start("mysql-5.7", arguments=["--innodb-fast-shutdown=2"])
    with session(server) as one:
        one("CREATE DATABASE t")
        one("CREATE TABLE t.kept (a INT) ENGINE=InnoDB")
        one(f"SET GLOBAL innodb_fast_shutdown = {mode}")
    server.stop()
    server.binary = binaries(name)
    if mode == 1:
        server.restart([])
        return
    with pytest.raises(SandboxError, match="Upgrade after a crash is not supported"):
        server.restart([])


@pytest.mark.parametrize(
    ("way", "value", "told"),
    [
        ("mysql-5.7 mysql-8.0", 2, True),
        ("mysql-5.7 mysql-9.7", 2, True),
        ("mysql-5.7 mariadb-10.11", 2, True),
        ("mysql-5.7 mysql-8.0", 1, False),
        ("mysql-5.7.22 mysql-5.7", 2, False),  # the redo log stays the same
        ("mariadb-10.11 mariadb-11.8", 2, False),
        ("mariadb-10.11 mysql-8.0", 2, False),  # a dump is loaded
    ],
)
def test_a_shutdown_as_in_a_crash_is_told(moved: Moved, way: str, value: int, *, told: bool) -> None:
    """The path has what to run before the last shutdown, if the new server takes the data and could not start on it."""
    words = moved(f"[mysqld]\ninnodb_fast_shutdown = {value}\n", *way.split()).path.words
    assert ("SET GLOBAL innodb_fast_shutdown = 1" in words) is told


def with_files(name: str, files: tuple[str, ...], start: Start, folder: Path) -> Sandbox:
    """A server that finds these files in its data directory when it starts."""
    server = start(name, arguments=[*STARTED, "--skip-slave-start"])
    server.stop()
    owner = os.stat(server.datadir)
    for file in files:
        shutil.copy(folder / file, server.datadir)
        os.chown(os.path.join(server.datadir, file), owner.st_uid, owner.st_gid)
    server.restart()
    return server


def host(server: Sandbox, statement: str) -> str | None:
    """The source that a replica is set up with."""
    with session(server) as one:
        row = one(statement)
    return None if row is None else str(row[1])


def test_sure_only_where_both_were_asked(moved: Moved) -> None:
    """A passage is certain between two versions that were asked, and only if the tests here ask about it."""
    sure = {p.option for p in BEHAVIOUR_CHANGES if p.asked}
    for before, after in itertools.permutations(sorted(EXAMINED, key=str), 2):
        met = {p.option for p in BEHAVIOUR_CHANGES if p.when(before, after)} - {"innodb_buffer_pool_instances"}
        confidences = {c.option: c.confidence for c in moved("", before, after).defaults if c.option in met}
        assert {option for option, how in confidences.items() if how is Confidence.CERTAIN} == sure & confidences.keys()
    assert set(QUESTIONS) == {key(p) for p in ASKED_HERE}
    unasked = {c.option: c.confidence for c in moved("", "mysql-5.7", "mysql-9.7").defaults}
    assert unasked["mysqlx"] is Confidence.LIKELY
