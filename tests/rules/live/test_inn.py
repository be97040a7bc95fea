"""The rules about InnoDB, before real servers that are set and driven badly."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from advice_carried_out import tried
from counter_windows import SECONDS, lasting, rising
from msgspec.structs import replace
from process_checks import eventually, first_row
from rule_cases import Case, context_of_case, host_of

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.core.model import Severity
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from real_servers import Start

    from advisor.core.model import Finding
    from advisor.facts import Facts, Host
    from probes.sandbox import Sandbox

OURS = [rule for rule in all_rules() if rule.family in ("INN", "LOG")]
LATER = 86400.0
CAPACITY = 100  # pages a second, the least that can be set
SET = """[mysqld]
innodb_buffer_pool_size = 4500M
innodb_buffer_pool_dump_at_shutdown = OFF
innodb_adaptive_flushing = OFF
innodb_max_dirty_pages_pct_lwm = 60
innodb_max_dirty_pages_pct = 40
innodb_flush_sync = OFF
innodb_old_blocks_time = 0
innodb_fast_shutdown = 2
innodb_strict_mode = OFF
innodb_file_per_table = OFF
innodb_data_file_path = ibdata1:12M:autoextend:max:500M
innodb_stats_on_metadata = ON
innodb_stats_persistent = OFF
innodb_undo_log_truncate = ON
innodb_autoinc_lock_mode = 0
transaction_isolation = READ-UNCOMMITTED
innodb_log_write_ahead_size = 512
innodb_flush_log_at_trx_commit = 2
innodb_flush_log_at_timeout = 10
"""
OF_THE_FILE = {
    "rounded-up-buffer-pool",
    "cold-pool-after-restart",
    "no-adaptive-flushing",
    "low-mark-above-dirty-maximum",
    "throttled-checkpoints",
    "scans-displace-the-pool",
    "shutdown-like-a-crash",
    "lax-table-options",
    "tables-in-the-system-tablespace",
    "system-tablespace-with-an-end",
    "statistics-on-metadata-queries",
    "forgotten-statistics",
    "undo-truncation-without-tablespaces",
    "table-locked-auto-increment",
    "dirty-reads",
    "narrow-write-ahead",
    "delayed-log-flush",
    "tiny-redo-log",
}
STARVED = """[mysqld]
innodb_buffer_pool_size = 64M
innodb_log_file_size = 16M
innodb_io_capacity = 100
innodb_io_capacity_max = 150
innodb_adaptive_hash_index = ON
innodb_change_buffering = all
innodb_flush_log_at_trx_commit = 2
log_bin = binlog
server_id = 1
binlog_format = STATEMENT
innodb_autoinc_lock_mode = 2
"""
CROWDED = """[mysqld]
innodb_dedicated_server = ON
innodb_buffer_pool_size = 8M
innodb_doublewrite_pages = 4
innodb_undo_log_truncate = OFF
innodb_flush_log_at_trx_commit = 2
skip_log_bin
"""
SMALL_LOG = """[mysqld]
innodb_buffer_pool_size = 64M
innodb_log_file_size = 4M
innodb_flush_log_at_trx_commit = 2
"""
# A third of a start of MySQL, and the rules of InnoDB ask it nothing.
QUICKLY = ("--performance-schema=OFF",)
DEFAULT_CAPACITY = 200
FULL = 80
NVME = host_of({"disks": [{"kernel_name": "nvme0n1", "transport": "nvme"}]})
DOUBLINGS = 16  # of one row
UPDATES = """CREATE PROCEDURE t.change_rows(n INT) BEGIN
DECLARE i INT DEFAULT 0; DECLARE r INT;
WHILE i < n DO
SET r = 1 + FLOOR(RAND() * 65536);
UPDATE t.x SET v = RAND(), k = FLOOR(RAND() * 1000000) WHERE id = r; SET i = i + 1;
END WHILE; END"""


def facts_of(sandbox: Sandbox) -> Facts:
    """What an audit reads of the server, as if it had been up for a day longer."""
    return lasting(collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=0.0)), LATER)


def found(facts: Facts) -> dict[str, Finding]:
    """The findings of these families by rule."""
    return {f.name: f for f in run_rules(build_context(facts), OURS).findings}


def better(findings: dict[str, Finding]) -> str:
    """The advised lines of the findings, as a file goes on."""
    return "\n".join(a.option_line for f in findings.values() for a in f.actions if a.option_line) + "\n"


def written(tmp_path: Path, text: str) -> Path:
    """The text as an option file."""
    file = tmp_path / "my.cnf"
    file.write_text(text, "utf-8")
    return file


@contextmanager
def driven(sandbox: Sandbox) -> Iterator[None]:
    """Four sessions change rows at random in a table of some 30M, for the block."""
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE t")
        cursor.execute(
            "CREATE TABLE t.x (id INT AUTO_INCREMENT PRIMARY KEY, v DOUBLE, k INT, f CHAR(255) NOT NULL, KEY (k)) "
            "ENGINE = InnoDB CHARACTER SET latin1"
        )
        cursor.execute("INSERT INTO t.x (v, k, f) VALUES (1, 1, REPEAT('x', 255))")
        for _ in range(DOUBLINGS):
            cursor.execute("INSERT INTO t.x (v, k, f) SELECT v, RAND() * 1000000, f FROM t.x")
        cursor.execute(UPDATES)
    over = Event()

    def change() -> None:
        with sandbox.connect(autocommit=True) as session, session.cursor() as cursor:
            while not over.is_set():
                cursor.execute("CALL t.change_rows(200)")

    threads = [Thread(target=change) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_settings_that_a_file_shows(start: Start, tmp_path: Path) -> None:
    """A MySQL 5.7 with nearly every bad setting runs, each is found, and with the advice in its file it starts."""
    sandbox = start("mysql-5.7", option_file=written(tmp_path, SET))
    facts = replace(facts_of(sandbox), host=None)  # whose free memory tells whether such a pool fits
    findings = found(facts)
    assert set(findings) >= OF_THE_FILE
    assert "SET GLOBAL innodb_old_blocks_time = 1000;" in tried(sandbox, findings)
    sandbox.close()
    assert start("mysql-5.7", option_file=written(tmp_path, SET + better(findings))).running


def test_a_redo_log_that_fills(start: Start, tmp_path: Path) -> None:
    """A MariaDB whose writing is held back is found by its checkpoint age, and its change buffer and numbers too."""
    sandbox = start("mariadb-10.11", option_file=written(tmp_path, STARVED))
    with driven(sandbox):
        findings = held_back(sandbox)
    assert set(findings) >= {
        "corrupting-change-buffer",
        "fruitless-adaptive-hash-index",
        "interleaved-ids-in-statement-log",
        "starved-flushing",
    }
    sent = tried(sandbox, findings)
    raised = next(statement for statement in sent if statement.startswith("SET GLOBAL innodb_io_capacity_max"))
    assert sent.index(raised) < sent.index("SET GLOBAL innodb_io_capacity = 200;")


def held_back(sandbox: Sandbox, capacity: int = CAPACITY, host: Host | None = None) -> dict[str, Finding]:
    """What is found in a window in which writing is held back, which a busy host may write too slowly for at first."""
    findings: dict[str, Finding] = {}

    def is_writing_held_back() -> bool:
        facts = in_window(sandbox, innodb_buffer_pool_pages_flushed=int(2 * capacity * SECONDS))
        findings.clear()
        findings.update(found(facts if host is None else replace(facts, host=host)))
        return "starved-flushing" in findings

    eventually(is_writing_held_back, what=lambda: f"starved-flushing among {sorted(findings)}")
    return findings


@pytest.mark.servers("mysql-5.7", whole="mysql-8.0")
def test_the_default_capacity_on_nvme(server_name: str, start: Start, tmp_path: Path) -> None:
    """Untouched, the capacity of 200 and 5.7's neighbors are found on NVMe under load, and idle neither is found."""
    sandbox = start(server_name, option_file=written(tmp_path, SMALL_LOG))
    idle = replace(lasting(in_window(sandbox), LATER), host=NVME)
    assert {"starved-flushing", "flush-neighbors-on-ssd"}.isdisjoint(found(idle))
    with driven(sandbox):
        findings = held_back(sandbox, DEFAULT_CAPACITY, NVME)
    assert "the default" in findings["starved-flushing"].message
    assert ("flush-neighbors-on-ssd" in findings) == (server_name == "mysql-5.7")
    sent = tried(sandbox, findings)
    assert {"SET GLOBAL innodb_io_capacity_max = 4000;", "SET GLOBAL innodb_io_capacity = 2000;"} <= set(sent)


def test_flushing_that_starts_late(start: Start, tmp_path: Path) -> None:
    """A MariaDB whose low-water mark is 0 runs with a full redo log under load; it takes the advice, which ends it.

    How far the age then falls depends on whether the disk or the sessions are faster; INNA-33 is the measurement.
    """
    sandbox = start("mariadb-11.8", option_file=written(tmp_path, SMALL_LOG.replace("= 4M", "= 16M")))
    assert "late-flushing" not in found(lasting(in_window(sandbox), LATER))
    with driven(sandbox):
        eventually(lambda: age_percent(sandbox) >= FULL, what="a full redo log")
        findings = found(in_window(sandbox, com_update=100))
        with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(findings["late-flushing"].actions[0].statement)
        assert "late-flushing" not in found(in_window(sandbox, com_update=100))


def age_percent(sandbox: Sandbox) -> int:
    """The checkpoint age of a MariaDB in percent of its maximum."""
    return 100 * counter(sandbox, "Innodb_checkpoint_age") // counter(sandbox, "Innodb_checkpoint_max_age")


def counter(sandbox: Sandbox, name: str) -> int:
    """A status counter of a running server."""
    return int(str(first_row(sandbox, f"SHOW GLOBAL STATUS LIKE '{name}'")[1]))


def in_window(sandbox: Sandbox, **least: int) -> Facts:
    """What an audit reads, with a window that ends when the counters have risen so far."""
    with rising(sandbox, **least) as risen:
        account = Account(user="root", socket=sandbox.socket)
        facts = collect_from_account(
            account, CollectRequest(window=SECONDS), lambda _: eventually(risen, what=f"{least}")
        )
    return lasting(facts, LATER)


def test_a_pool_without_a_free_page(start: Start, tmp_path: Path) -> None:
    """A MySQL 9.7 with a tiny pool makes sessions wait for pages, and writes each few of them with a doublewrite."""
    sandbox = start("mysql-9.7", option_file=written(tmp_path, CROWDED))
    findings: dict[str, Finding] = {}

    def is_batching_advised() -> bool:
        findings.update(found(in_window(sandbox, innodb_buffer_pool_wait_free=100, innodb_dblwr_writes=500)))
        return "innodb_doublewrite_pages = 128" in better(findings)

    with driven(sandbox):
        eventually(is_batching_advised, what="200 pages a second, which a busy host may not write at once")
    assert {"free-page-waits", "overruled-dedicated-server", "growing-undo-files"} <= set(findings)
    tried(sandbox, findings)


@pytest.mark.servers("mariadb-10.11", "mariadb-11.4", "mysql-8.0", "mysql-9.7")
def test_files_that_a_method_buffers(server_name: str, start: Start, tmp_path: Path) -> None:
    """A server configured to use fsync is reported, in the same words as its file; one with O_DIRECT is not."""
    for method, finds in (("fsync", True), ("O_DIRECT", False)):
        file = tmp_path / "my.cnf"
        file.write_text(f"[mysqld]\ninnodb_buffer_pool_size = 4G\ninnodb_flush_method = {method}\n", "utf-8")
        sandbox = start(server_name, option_file=file, arguments=QUICKLY)
        facts = replace(
            collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=0.0)), host=None
        )
        options = [f.option for f in run_rules(build_context(facts), OURS).findings if f.name == "double-buffering"]
        case = Case("", "", f"{facts.server.flavour}-{facts.server.version}", file.read_text("utf-8"))
        written = [
            f.option for f in run_rules(context_of_case(case, tmp_path), OURS).findings if f.name == "double-buffering"
        ]
        assert options == written == ["innodb_flush_method"] * finds, method
        sandbox.close()


def test_settings_that_hold_a_server_back(start: Start, tmp_path: Path) -> None:
    """A server that takes such lines gets findings for them, and starts with the advised lines instead."""
    file = tmp_path / "my.cnf"
    lines = ["innodb_use_native_aio = OFF", "innodb_max_purge_lag = 100000", "innodb_max_undo_log_size = 100G"]
    lines.append("innodb_undo_log_truncate = ON")
    file.write_text("\n".join(["[mysqld]", *lines, "innodb_flush_method = O_DIRECT_NO_FSYNC\n"]), "utf-8")
    sandbox = start("mysql-5.7", option_file=file)
    facts = collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=0.0))
    found = [f for f in run_rules(build_context(facts), all_rules()).findings if f.code.startswith(("INN", "DUR"))]
    assert {f.name for f in found} >= {
        "native-aio-off",
        "purge-lag-without-delay",
        "undo-truncation-without-tablespaces",
        "data-files-without-sync",
    }
    advised = [a.option_line for f in found for a in f.actions if a.option_line]
    assert {"innodb_flush_method = O_DIRECT", "innodb_use_native_aio = ON"} <= set(advised)
    sandbox.stop()
    file.write_text("\n".join(["[mysqld]", *advised, ""]), "utf-8")
    sandbox.restart()
    facts = collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=0.0))
    assert not {f.name for f in run_rules(build_context(facts), all_rules()).findings} & {
        f.name for f in found if f.actions
    }


def test_a_pool_that_is_kept_free(start: Start, tmp_path: Path) -> None:
    """MariaDB's default depth keeps most of a small pool free while pages are read; with the advice it is used."""
    file = written(tmp_path, SMALL_LOG.replace("= 64M", "= 16M").replace("= 4M", "= 96M"))
    sandbox = start("mariadb-11.8", option_file=file)
    findings: dict[str, Finding] = {}

    def is_pool_kept_free() -> bool:
        findings.update(found(in_window(sandbox, innodb_buffer_pool_reads=int(200 * SECONDS))))
        return "pages-kept-free" in findings

    with driven(sandbox):
        eventually(is_pool_kept_free, what="100 pages read a second, which a busy host may not read at once")
        free = counter(sandbox, "Innodb_buffer_pool_pages_free")
        with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(findings["pages-kept-free"].actions[0].statement)
        eventually(
            lambda: counter(sandbox, "Innodb_buffer_pool_pages_free") < free // 2,
            what="a pool that is used",
        )


def test_changes_that_wait_for_purge(start: Start, tmp_path: Path) -> None:
    """A MySQL 8.0 delays changes behind an open transaction; without the limit they are not delayed."""
    limits = "innodb_max_purge_lag = 100\ninnodb_max_purge_lag_delay = 100000\n"
    sandbox = start("mysql-8.0", option_file=written(tmp_path, SMALL_LOG + limits), arguments=QUICKLY)
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE mysql.x (i INT PRIMARY KEY, v INT)")
        cursor.execute("INSERT INTO mysql.x VALUES (1, 1)")
        assert "changes-delayed-for-purge" not in found(facts_of(sandbox))
        with sandbox.connect() as reader, reader.cursor() as reading:
            reading.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            for _ in range(300):
                cursor.execute("UPDATE mysql.x SET v = v + 1")
            finding = found(facts_of(sandbox))["changes-delayed-for-purge"]
            for action in finding.actions:
                cursor.execute(action.statement)
            assert "changes-delayed-for-purge" not in found(facts_of(sandbox))


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace, which makes a call of the server fail")
@pytest.mark.servers("mysql-8.0", "mariadb-11.4")
def test_a_server_that_gets_no_asynchronous_io(server_name: str, start: Start, tmp_path: Path) -> None:
    """Where io_setup fails, as at fs.aio-max-nr, the server runs with native AIO off, and that is a warning."""
    sandbox = start(server_name, option_file=written(tmp_path, SMALL_LOG), arguments=QUICKLY)
    assert "native-aio-off" not in found(facts_of(sandbox))
    sandbox.stop()
    failing = ["-e", "trace=io_setup", "-e", "inject=io_setup:error=EAGAIN"]
    command = [shutil.which("strace") or "", "-f", "-D", "-qq", "-o", "/dev/null", *failing, *sandbox.command()]
    with patch.object(sandbox, "command", lambda: command):
        sandbox.restart()
    finding = found(replace(facts_of(sandbox), host=host_of({"os": {"kernel": "6.1", "aio_max": 9, "aio_used": 9}})))
    assert finding["native-aio-off"].severity is Severity.WARNING
    assert "9 of 9 requests are in use" in finding["native-aio-off"].message
