"""Servers that a consultant tuned, at work: an audit says nothing worse than a note of any of the six."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from live_server import Live
from replication_pair import written

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.core.model import Severity
from rules import all_rules

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Start

TUNED = """[mysqld]
server_id = 1
log_bin = binlog
binlog_format = ROW
sync_binlog = 1
innodb_flush_log_at_trx_commit = 1
innodb_buffer_pool_size = 256M
innodb_io_capacity = 1000
innodb_io_capacity_max = 2000
innodb_print_all_deadlocks = ON
max_connections = 100
thread_cache_size = 32
table_open_cache = 2000
table_definition_cache = 1400
open_files_limit = 10000
skip_name_resolve = ON
slow_query_log = ON
long_query_time = 1
tmp_table_size = 32M
max_heap_table_size = 32M
character_set_server = utf8mb4
local_infile = OFF
"""
GTIDS = "gtid_mode = ON\nenforce_gtid_consistency = ON\nrelay_log_recovery = ON\nsecure_file_priv = NULL\n"
WEEK = "binlog_expire_logs_seconds = 604800\n"
ALONE = f"{WEEK}innodb_log_file_size = 256M\nlog_slave_updates = ON\ngtid_strict_mode = ON\n"
MORE = {
    "mysql-5.7": f"{GTIDS}innodb_flush_method = O_DIRECT\nexpire_logs_days = 7\nlog_slave_updates = ON\n"
    "innodb_log_file_size = 128M\nmaster_info_repository = TABLE\nrelay_log_info_repository = TABLE\n"
    "query_cache_type = 0\nquery_cache_size = 0\nsymbolic_links = OFF\n",
    "mysql-8.0": f"{GTIDS}{WEEK}innodb_flush_method = O_DIRECT\ninnodb_log_file_size = 128M\n",
    "mysql-9.7": f"{GTIDS}{WEEK}innodb_redo_log_capacity = 256M\n",
    "mariadb-10.11": f"{ALONE}innodb_flush_method = O_DIRECT\n",
    "mariadb-11.4": f"{ALONE}slave_connections_needed_for_purge = 0\n",
    "mariadb-11.8": f"{ALONE}slave_connections_needed_for_purge = 0\n",
}
# True of a throwaway server, which only its own user reaches, of a host where that is root, and of old series.
ASIDE = {"passwordless-account", "server-as-root", "end-of-life"}


def work(server: Live, stop: threading.Event) -> None:
    """Write, read and change rows of its own, a transaction each, until told to stop."""
    connection = server.sandbox.connect(autocommit=False)
    with connection, connection.cursor() as cursor:
        while not stop.is_set():
            cursor.execute("INSERT INTO a.t (v) VALUES (1)")
            own = cursor.lastrowid
            cursor.execute("SELECT v FROM a.t WHERE i = %s", (own,))
            cursor.execute("UPDATE a.t SET v = v + 1 WHERE i = %s", (own,))
            connection.commit()


def test_a_tuned_server_at_work(server_name: str, start: Start, tmp_path: Path) -> None:
    """No error and no warning, of any family, while sessions read and write."""
    file = written(tmp_path, "tuned.cnf", TUNED + MORE[server_name])
    server = Live(server_name, start(server_name, option_file=file))
    server.run("CREATE DATABASE a", "CREATE TABLE a.t (i INT AUTO_INCREMENT PRIMARY KEY, v INT)")
    stop = threading.Event()
    sessions = [threading.Thread(target=work, args=(server, stop)) for _ in range(2)]
    for session in sessions:
        session.start()
    try:
        facts = collect_from_account(server.account(), CollectRequest(window=1.0))
    finally:
        stop.set()
        for session in sessions:
            session.join()
    findings = [
        finding for finding in run_rules(build_context(facts), all_rules()).findings if finding.name not in ASIDE
    ]
    assert facts.workload is not None
    assert server.run("SELECT COUNT(*) > 0 FROM a.t") == ((1,),)
    assert [(finding.code, finding.message) for finding in findings if finding.severity is not Severity.NOTE] == []
