"""What a real server is asked and what is kept of its answers; the servers' own logs and tables are the judges."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING

import pytest
from general_log import logged, ours, unlisted
from process_checks import eventually
from short_timeouts import PATIENT, hurried, hurry

from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection import session as session_module
from advisor.collect.connection.connect import ConnectionLimits, connect
from advisor.collect.connection.options import Account
from advisor.collect.connection.statement import TAG
from advisor.collect.connection.statements import DATA_SIZES, KILL_OWN, OWN_RUNNING
from advisor.collect.server.server import has_lsn_counter, redo_position
from advisor.collect.server.workload import read_counters, read_workload
from advisor.core.errors import ConnectError
from advisor.facts.snapshot import load, save
from advisor.redaction import MASK

if TYPE_CHECKING:
    from pathlib import Path

    from live_server import Live
    from real_servers import Start

    from advisor.collect.connection.session import Session
    from advisor.collect.connection.wire import AnswerLimits, Wire
    from advisor.facts import Unavailable

NO_WINDOW = CollectRequest(window=0)
AT_ONCE = CollectRequest(window=0.01)
MOST_STATEMENTS = 25


def test_few_statements_are_sent_and_counted(live: Live, tmp_path: Path) -> None:
    """The general log shows as many statements as the facts count, at most 25, all of them listed."""
    with live.general_log(tmp_path / "general.log") as log:
        facts = collect_from_account(live.account(), AT_ONCE)
    entries = logged(log)
    sent = ours(entries)
    assert len(sent) == facts.statements
    assert 10 < len(sent) <= MOST_STATEMENTS
    assert {one.text for one in unlisted(entries)}.isdisjoint(sent)


def test_no_transaction_stays_open(live: Live) -> None:
    """Between two statements of ours INNODB_TRX has no transaction of our connection, which exists all the while."""
    seen: list[tuple[int, int]] = []

    def look(_seconds: float) -> None:
        rows = live.run(
            "SELECT (SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'watched'), "
            "(SELECT COUNT(*) FROM information_schema.INNODB_TRX t JOIN information_schema.PROCESSLIST p "
            "ON p.ID = t.trx_mysql_thread_id WHERE p.USER = 'watched')"
        )
        seen.append((rows[0][0], rows[0][1]))

    with live.user("watched", "IDENTIFIED BY 'Some-Pass1'") as user:
        live.run(f"GRANT SELECT ON mysql.* TO '{user}'@'%'")
        collect_from_account(live.account(user, b"Some-Pass1"), AT_ONCE, look)
    assert seen == [(1, 0)]


def test_the_session_cannot_write(live: Live) -> None:
    """Our session is read-only and uses autocommit, as the server sees it."""
    from advisor.collect.connection.session import open_session

    session = open_session(live.account())
    try:
        with session.wire.cursor() as cursor, pytest.raises(Exception, match="not on the closed list"):
            cursor.execute("CREATE TABLE mysql.t (a INT)")
        assert session.wire.get_autocommit()
    finally:
        session.close()


def test_answers_are_the_servers_own(live: Live) -> None:
    """Variables, version, plugins and engines are what the server reports to any account."""
    server = collect_from_account(live.account(), NO_WINDOW).server
    variables = {name.lower(): value for name, value in live.run("SHOW GLOBAL VARIABLES")}
    moving = {n for n in variables if re.search(r"timestamp|gtid|rand_seed|insert_id|identity|pseudo", n)}
    assert {n: v for n, v in server.variables.items() if n not in moving and v != MASK} == {
        n: v for n, v in variables.items() if n not in moving and server.variables[n] != MASK
    }
    assert server.flavour == ("mariadb" if live.is_mariadb else "mysql")
    assert variables["version"].startswith(server.version)
    assert live.name.endswith(".".join(server.version.split(".")[:2]))
    assert [plugin.name for plugin in server.plugins] == [row[0] for row in live.run("SHOW PLUGINS")]
    assert server.engines["innodb"] == "DEFAULT"
    assert server.managed == ""
    assert server.uptime >= 0


def test_sources_of_values_are_kept(live: Live) -> None:
    """Where the server knows who set a variable, it is kept; 5.7 doesn't know, and that is said."""
    facts = collect_from_account(live.account(), NO_WINDOW)
    if live.name == "mysql-5.7":
        assert facts.server.origins == {}
        assert "8.0" in facts.reason_missing("server.origins")
    else:
        assert facts.server.origins["datadir"].source in ("COMMAND_LINE", "COMMAND-LINE", "CONFIG")
        assert facts.server.origins["sort_buffer_size"].source in ("COMPILED", "COMPILE-TIME")


def test_the_account_that_ran_set_is_kept(live: Live) -> None:
    """MySQL 8.0 and later name who ran SET GLOBAL and when, to any account; mycnf's own SET SESSION is not named."""
    if live.is_mariadb or live.name == "mysql-5.7":
        origins = collect_from_account(live.account(), NO_WINDOW).server.origins
        assert not any(origin.set_by for origin in origins.values())
        return
    ((before,),) = live.run("SELECT @@GLOBAL.sync_binlog")
    live.run(f"SET GLOBAL sync_binlog = {before}")
    ((now,),) = live.run("SELECT UNIX_TIMESTAMP()")
    with live.user("watched", "IDENTIFIED BY ''") as name:
        origins = collect_from_account(live.account(name), NO_WINDOW).server.origins
    setters = {name: origin.set_by for name, origin in origins.items() if origin.set_by}
    assert not any(setter.account.startswith("watched@") for setter in setters.values())
    assert setters["sync_binlog"].account == "root@localhost"
    assert 0 <= int(now) - setters["sync_binlog"].at < 3600


def counted_up(live: Live) -> None:
    """Wait until the status counter holds all redo: 9.7 brings it up to date a moment after the write."""
    (row,) = live.run("SHOW ENGINE INNODB STATUS")
    written = int(re.search(r"Log sequence number\s+(\d+)", row[2])[1])

    def counted() -> bool:
        status = {name.lower(): value for name, value in live.run("SHOW GLOBAL STATUS LIKE 'Innodb%lsn%'")}
        return not has_lsn_counter(status) or (redo_position(status, "") or 0) >= written

    eventually(counted, what=f"a status counter of {written}")


def test_the_redo_position_moves_with_writes(live: Live) -> None:
    """Rows written within the window show as redo and as counters, on every series by its own counter."""

    def write(_seconds: float) -> None:
        live.run(
            "CREATE DATABASE IF NOT EXISTS w",
            "CREATE TABLE IF NOT EXISTS w.t (a VARCHAR(4000)) ENGINE=InnoDB",
            "INSERT INTO w.t VALUES (REPEAT('x', 4000))",
            "INSERT INTO w.t SELECT a FROM w.t",
        )
        counted_up(live)

    workload = collect_from_account(live.account(), AT_ONCE, write).workload
    live.run("DROP DATABASE w")
    assert workload is not None
    assert workload.first.lsn is not None
    assert workload.last.lsn is not None
    assert workload.last.lsn - workload.first.lsn > 8000
    assert (workload.delta("com_insert") or 0) + (workload.delta("com_insert_select") or 0) == 2
    assert workload.seconds > 0


def test_data_is_counted_without_opening_it(live: Live) -> None:
    """A table's size shows in the sum of the statistics."""
    before = collect_from_account(live.account(), NO_WINDOW).server.data
    live.run(
        "CREATE DATABASE w", "CREATE TABLE w.t (a INT PRIMARY KEY, b CHAR(200)) ENGINE=InnoDB",
        "INSERT INTO w.t VALUES (1, 'x'), (2, 'y')", "ANALYZE TABLE w.t",
    )  # fmt: skip
    after = collect_from_account(live.account(), NO_WINDOW).server.data
    live.run("DROP DATABASE w")
    assert before is not None
    assert after is not None
    assert after.innodb_tables == before.innodb_tables + 1
    assert after.innodb_bytes - before.innodb_bytes == 16384
    assert after.rows - before.rows == 2


def test_the_host_is_proved(live: Live) -> None:
    """A local server behind its own socket gets the facts of this host, and the process is the server's."""
    facts = collect_from_account(live.account(), NO_WINDOW)
    assert facts.host is not None, facts.reason_missing("host")
    assert facts.host.process is not None
    assert facts.host.process.pid == live.sandbox.pid
    assert facts.server.link.peer_pid == live.sandbox.pid
    assert facts.files is not None
    assert "--no-defaults" in facts.files.command_line
    assert facts.files.files == ()


def test_through_tcp_no_host_is_claimed(live: Live) -> None:
    """The same server reached by TCP might run anywhere: neither host nor files are reported, with the reason."""
    account = live.account()
    account = type(account)("tcp", b"Some-Pass1", host="127.0.0.1", port=live.sandbox.port or 0)
    with live.user("tcp", "IDENTIFIED BY 'Some-Pass1'"):
        facts = collect_from_account(account, NO_WINDOW)
    assert facts.host is None
    assert facts.files is None
    assert "TCP" in facts.reason_missing("host")
    assert facts.server.link.via == "tcp"


def test_a_snapshot_holds_it_all(live: Live, tmp_path: Path) -> None:
    """What was read of a real server comes back from disk unchanged."""
    facts = collect_from_account(live.account(), AT_ONCE)
    save(facts, str(tmp_path / "snap"))
    assert load(str(tmp_path / "snap")) == facts


def test_a_replica_is_known_without_its_password(live: Live) -> None:
    """A configured replica shows its rows; the password of its source is nowhere in the facts."""
    word = "SOURCE" if live.name == "mysql-9.7" else "MASTER"
    change = "REPLICATION SOURCE" if live.name == "mysql-9.7" else "MASTER"
    live.run(f"CHANGE {change} TO {word}_HOST='127.0.0.1', {word}_USER='repl', {word}_PASSWORD='hunter2'")
    try:
        facts = collect_from_account(live.account(), NO_WINDOW)
    finally:
        live.run(f"RESET {'REPLICA' if live.name == 'mysql-9.7' else 'SLAVE'} ALL")
    assert facts.server.replication is not None
    assert facts.server.replication.is_replica
    assert facts.server.replication.replica_rows[0][f"{word.capitalize()}_User"] == "repl"
    assert "hunter2" not in repr(facts)


def test_no_sql_of_others_is_kept(live: Live) -> None:
    """A transaction that is open while we look shows in the server's status text, and not in what is kept of it."""
    connection = live.sandbox.connect()
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT 'hunter2' FROM mysql.innodb_table_stats FOR UPDATE")
        facts = collect_from_account(live.account(), NO_WINDOW)
    connection.close()
    assert "Log sequence number" in facts.server.innodb_status
    assert "BUFFER POOL" in facts.server.innodb_status
    assert "TRANSACTION" not in facts.server.innodb_status
    assert "hunter2" not in repr(facts)


@pytest.mark.servers("mysql-5.7", "mariadb")  # later MySQL refuses locks on its statistics table
def test_a_statement_that_overruns_is_killed(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table locked by another makes one part absent with the reason; our statement is ended and the rest is read."""
    holder = live.sandbox.connect()
    with holder.cursor() as cursor, hurried(DATA_SIZES, monkeypatch):
        cursor.execute("LOCK TABLES mysql.innodb_table_stats WRITE")
        facts = collect_from_account(live.account(), CollectRequest(window=0, limits=PATIENT))
        cursor.execute("UNLOCK TABLES")
    holder.close()
    assert facts.lost == ""
    assert facts.server.data is None
    assert re.search(r"no answer within [\d.]+ s, so it was ended", facts.reason_missing("server.data"))
    assert facts.server.replication is not None
    assert facts.server.status
    left = live.run("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '/* mycnf */%'")
    assert left == ((0,),)


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11")  # freezing and killing are the same on the others
def test_a_silent_statement_is_followed_by_a_second_connection(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a time-out a second connection looks for the statement of the first, by its number, and goes on from there.

    By then the server, awake again, may have answered: nothing is killed but that statement, and only while it runs.
    """

    def freeze(_seconds: float) -> None:
        live.freeze()
        hurry(session)

    def thaw_and_connect(account: Account, limits: ConnectionLimits, allowance: AnswerLimits) -> Wire:
        os.kill(live.sandbox.pid, signal.SIGCONT)
        return connect(account, PATIENT, allowance)

    with live.general_log(tmp_path / "general.log") as log, monkeypatch.context() as patched:
        session = session_module.open_session(live.account(), PATIENT)
        patched.setattr(session_module, "connect", thaw_and_connect)
        notes: list[Unavailable] = []
        try:
            first = read_counters(session, notes, with_text=False)
            workload = read_workload(session, first, 0.01, notes, freeze)
            again = read_counters(session, notes, with_text=False)
        finally:
            os.kill(live.sandbox.pid, signal.SIGCONT)
            session.close()
    assert workload is None
    assert "no answer within 0.5 s" in notes[0].reason
    assert again.status
    assert session.lost == ""
    texts = [(entry.connection, entry.text) for entry in logged(log) if entry.command == "Query"]
    number = next(connection for connection, text in texts if TAG in text)
    assert [text for _, text in texts].count(OWN_RUNNING.text(number)) == 1
    assert {text for _, text in texts if "KILL" in text} <= {KILL_OWN.text(number)}
    assert len(ours(logged(log))) == session.sent


def test_a_hung_server_is_one_line(live: Live) -> None:
    """A server that takes connections and answers nothing ends in one line, and doesn't hang us."""
    live.freeze()
    try:
        with pytest.raises(ConnectError, match="did not answer properly in time"):
            collect_from_account(live.account(), CollectRequest(window=0, limits=ConnectionLimits(connect=1, read=0.5)))
    finally:
        os.kill(live.sandbox.pid, signal.SIGCONT)


def test_a_server_that_hangs_on_the_way_keeps_what_was_read(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server stopped within the window is given up after the time-out, with all that it said before."""
    opened: list[Session] = []

    def keep(account: Account, limits: ConnectionLimits) -> Session:
        opened.append(session_module.open_session(account, limits))
        return opened[0]

    def freeze(_seconds: float) -> None:
        live.freeze()
        hurry(opened[0])

    monkeypatch.setattr("advisor.collect.collect.open_session", keep)
    try:
        facts = collect_from_account(live.account(), CollectRequest(window=0.01, limits=PATIENT), freeze)
    finally:
        os.kill(live.sandbox.pid, signal.SIGCONT)
    assert re.fullmatch(r"the server was given up during '[^']+': no answer within 0\.5 s", facts.lost)
    assert facts.server.variables
    assert facts.server.status
    assert facts.workload is None
    assert facts.reason_missing("server.replication") == facts.lost


@pytest.mark.parametrize("name", ["mysql-8.0", "mariadb-10.11"])
def test_a_server_killed_on_the_way_keeps_what_was_read(name: str, start: Start) -> None:
    """A server that dies within the window leaves everything read until then, and the facts say that it was lost."""
    victim = start(name)
    facts = collect_from_account(
        Account("root", socket=victim.socket), AT_ONCE, lambda _: os.kill(victim.pid, signal.SIGKILL)
    )
    assert "lost" in facts.lost
    assert facts.server.variables["datadir"]
    assert facts.server.origins
    assert facts.workload is None
    assert "lost" in facts.reason_missing("workload")


@pytest.mark.parametrize("name", ["mysql-5.7", "mysql-8.0", "mariadb-10.11"])
def test_option_files_are_copied_without_secrets(name: str, start: Start, tmp_path: Path) -> None:
    """The files that the server was started with are read, includes and all, but for the secrets in them.

    What its init_file set is distinguished from what an account set.
    """
    folder = tmp_path / "conf.d"
    folder.mkdir()
    (folder / "a.cnf").write_text("[mysqld]\nreport_password=hunter2\nreport_host=replica1\n", encoding="utf-8")
    main = tmp_path / "my.cnf"
    first = tmp_path / "init.sql"
    first.write_text("SET GLOBAL sync_binlog = 7;\n", encoding="utf-8")
    main.write_text(f"[mysqld]\nmax_connections=77\ninit_file={first}\n!includedir {folder}\n", encoding="utf-8")
    for path in (main, folder / "a.cnf"):
        path.chmod(0o640)
    server = start(name, option_file=main)
    facts = collect_from_account(Account("root", socket=server.socket), NO_WINDOW)
    assert facts.files is not None
    assert [file.path for file in facts.files.files] == [str(main), str(folder / "a.cnf")]
    assert [file.included for file in facts.files.files] == [False, True]
    assert facts.files.files[1].text == f"[mysqld]\nreport_password={MASK}\nreport_host=replica1\n"
    assert facts.files.files[1].secret_lines == (2,)
    assert facts.files.files[0].mode == 0o640
    assert facts.server.variables["max_connections"] == "77"
    assert "hunter2" not in repr(facts)
    if name != "mysql-5.7":
        assert facts.server.origins["max_connections"].path == str(main)
    if name == "mysql-8.0":
        setter = facts.server.origins["sync_binlog"].set_by
        assert setter
        assert setter.is_init_file
