"""The error logs of real servers: crashed, killed, started wrongly, with damaged pages, on a full disk, healthy."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pymysql
import pytest
from process_checks import eventually

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.connect import DEFAULT_LIMITS
from advisor.collect.connection.options import Account
from advisor.collect.connection.session import open_session
from advisor.collect.logs import read_error_table
from advisor.collect.pasted import facts_of_texts
from advisor.collect.privileges import grants_for
from advisor.collect.server.server import read_greeting
from probes.sandbox import SandboxError
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from real_servers import Start

    from advisor.collect.connection.session import Notes
    from advisor.core.model import Finding
    from advisor.facts import Facts
    from probes.sandbox import Sandbox

PAGE = 16384
LOST = (2006, 2013)  # the server ended


def logged(facts: Facts) -> dict[str, Finding]:
    """The findings about the error log, by code."""
    rules = [rule for rule in all_rules() if rule.family == "ERR"]
    return {finding.code: finding for finding in run_rules(build_context(facts), rules).findings}


def read(server: Sandbox, user: str = "root") -> Facts:
    """What an audit without a window reads through the socket."""
    return collect_from_account(Account(user=user, socket=server.socket), CollectRequest(window=0.0))


def end_by(server: Sandbox, number: signal.Signals) -> None:
    """Send a signal and wait for the end of the server."""
    os.kill(server.pid, number)
    eventually(lambda: not server.running, what="the server ends")


def run(server: Sandbox, *statements: str) -> None:
    """Run statements as root."""
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.mark.servers
def test_crashes_and_kills_are_found_and_shutdowns_are_not(server_name: str, start: Start, tmp_path: Path) -> None:
    """A crash report and a kill each become one finding, by the file or by its text; a normal restart none."""
    server = start(server_name, small=True)
    server.restart()
    assert logged(read(server)) == {}
    end_by(server, signal.SIGSEGV)
    server.restart()
    assert set(logged(read(server))) == {"ERR001"}
    end_by(server, signal.SIGKILL)
    server.restart()
    found = logged(read(server))
    assert set(found) == {"ERR001", "ERR002"}
    assert found["ERR001"].message.startswith("The server crashed once (signal 11): 20")
    copy = tmp_path / "error.log"
    copy.write_bytes(Path(server.error_log).read_bytes())
    facts = facts_of_texts([str(copy)])
    assert facts.server.version == server.binary.target.number
    assert {code: finding.message for code, finding in logged(facts).items()} == {
        code: finding.message for code, finding in found.items()
    }


@pytest.mark.servers("mysql-9.7")
def test_the_table_is_enough(server_name: str, start: Start, tmp_path: Path) -> None:
    """Through TCP an ordinary account finds the same by performance_schema.error_log, and nothing without the grant."""
    log = tmp_path / "error.log"
    server = start(server_name, arguments=(f"--log-error={log}",), tcp=True)
    run(server, "CREATE USER reader@'%' IDENTIFIED BY 'Some-Pass1'")
    account = Account("reader", b"Some-Pass1", host="127.0.0.1", port=server.port or 0)
    for grant in grants_for(server.binary.target):
        if not grant.optional:
            run(server, grant.statement("reader@'%'"))
    end_by(server, signal.SIGABRT)
    server.restart()
    end_by(server, signal.SIGKILL)
    server.restart()
    without = collect_from_account(account, CollectRequest(window=0.0))
    assert without.server.error_log is None
    assert without.reason_missing("server.error_log") == "needs SELECT on performance_schema.error_log"
    for grant in grants_for(server.binary.target):
        run(server, grant.statement("reader@'%'"))
    facts = collect_from_account(account, CollectRequest(window=0.0))
    assert facts.server.error_log is not None
    assert facts.server.error_log.read_from == "table"
    assert set(logged(facts)) == {"ERR001", "ERR002"}
    by_file = logged(read(server))
    assert {code: finding.message for code, finding in logged(facts).items()} == {
        code: finding.message for code, finding in by_file.items()
    }


@pytest.mark.servers("mysql-9.7")
def test_the_table_has_damaged_myisam_tables(server_name: str, start: Start) -> None:
    """Their messages have no code of their own, and are found by their text in performance_schema.error_log too."""
    server = start(server_name)
    run(
        server,
        "CREATE DATABASE d",
        "CREATE TABLE d.m (id INT PRIMARY KEY) ENGINE = MyISAM",
        "INSERT INTO d.m VALUES (1), (2)",
    )
    run(server, "FLUSH TABLES")
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@datadir")
        index = Path(cursor.fetchall()[0][0]) / "d" / "m.MYI"
        text = index.read_bytes()
        index.write_bytes(text[:1024] + b"\xff" * (len(text) - 1024))
        with pytest.raises(pymysql.err.MySQLError):
            cursor.execute("SELECT * FROM d.m WHERE id = 1")
    notes: Notes = []
    session = open_session(Account(user="root", socket=server.socket), DEFAULT_LIMITS)
    try:
        log = read_error_table(session, read_greeting(session, notes), notes).error_log
    finally:
        session.close()
    assert log is not None, notes
    assert [event.kind for event in log.events] == ["crashed_table"]


@pytest.mark.servers("mysql-9.7", "mariadb-11.8", whole="mysql-5.7 mysql-8.0 mariadb-10.11 mariadb-11.4")
def test_failed_starts_are_notes(server_name: str, start: Start) -> None:
    """Starts with wrong options are a note, and what they log of corruption is not reported."""
    server = start(server_name, small=True)
    before = server.arguments
    for wrong in ("--innodb-page-size=4k", "--no-such-option=1"):
        with pytest.raises(SandboxError):
            server.restart((*before, wrong))
    server.restart(before)
    found = logged(read(server))
    assert set(found) == {"ERR003"}
    assert found["ERR003"].severity == "note"
    assert found["ERR003"].message.startswith("The server failed to start 2 times (wrong option): ")


@pytest.mark.servers("mysql-9.7", "mariadb-11.8", whole="mysql-5.7 mysql-8.0 mariadb-10.11 mariadb-11.4")
def test_a_damaged_page_is_found(server_name: str, start: Start) -> None:
    """A page whose bytes were overwritten is an error, whether or not the server stops when a statement reads it."""
    server = start(server_name, small=True)
    rows = ["INSERT INTO d.t(b) SELECT b FROM d.t"] * 8
    run(server, "CREATE DATABASE d", "CREATE TABLE d.t (a INT AUTO_INCREMENT PRIMARY KEY, b CHAR(200)) ENGINE=InnoDB",
        "INSERT INTO d.t(b) VALUES (REPEAT('x', 200))", *rows)  # fmt: skip
    server.stop()
    file = Path(server.datadir) / "d" / "t.ibd"
    data = bytearray(file.read_bytes())
    for page in range(4, len(data) // PAGE):
        data[page * PAGE + 8000 : page * PAGE + 8100] = bytes(100)
        data[page * PAGE + 9000 : page * PAGE + 9004] = b"junk"
    file.write_bytes(bytes(data))
    server.restart()
    with pytest.raises(pymysql.err.MySQLError) as caught:
        run(server, "SELECT COUNT(*) FROM d.t WHERE b LIKE '%y'")
    if caught.value.args[0] in LOST:
        eventually(lambda: not server.running, what="the server ends")
        server.restart()
    found = logged(read(server))
    assert found["ERR007"].severity == "error"
    assert set(found) <= {"ERR001", "ERR002", "ERR007"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """An ext4 file system of 500 MB on a loop device; needs root."""
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")
    image, place = tmp_path / "image", tmp_path / "disk"
    image.touch()
    os.truncate(image, 500 << 20)
    place.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", image], check=True)
    if subprocess.run(["mount", "-o", "loop", image, place], check=False, capture_output=True).returncode != 0:
        pytest.skip("no loop device can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.servers("mysql-9.7", "mariadb-11.8", whole="mysql-5.7 mysql-8.0 mariadb-10.11 mariadb-11.4")
def test_a_full_disk_is_found(server_name: str, start: Start, small_disk: Path) -> None:
    """Rows that do not fit on the disk become ERR010, also if the server crashes by it."""
    server = start(server_name, small=True)
    server.stop()
    shutil.copytree(server.datadir, small_disk / "data", symlinks=True)  # the log stays where it can be written
    server.datadir = str(small_disk / "data")
    server.restart()
    run(server, "CREATE DATABASE d", "CREATE TABLE d.t (a INT AUTO_INCREMENT PRIMARY KEY, b LONGBLOB) ENGINE=InnoDB",
        "SET GLOBAL max_allowed_packet = 67108864")  # fmt: skip
    rows = ["INSERT INTO d.t(b) VALUES (REPEAT('x', 8000000))"] * 70
    with pytest.raises(pymysql.err.MySQLError):
        run(server, *rows)
    server.kill()
    found = logged(facts_of_texts([server.error_log]))
    assert "ERR010" in found
    assert set(found) <= {"ERR001", "ERR010", "ERR012"}
