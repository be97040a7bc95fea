"""What an account did to a server, read off the logs that a real one wrote."""

from __future__ import annotations

import time

import pytest
from real_servers import Server
from server_logs import Load, Logs, logged


def written(logs: Logs, rows: int) -> Load:
    """The account's load by the logs once they show so many rows: a server writes behind its answers."""
    patience = time.monotonic() + 600
    while (load := logs.of("logged")).rows < rows and time.monotonic() < patience:
        time.sleep(0.02)
    return load


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_statements_are_counted_and_timed(server_name: str, server: Server) -> None:
    """Each account has its own connections, statements, rows and longest statement; the server is left as it was."""
    sandbox = server(server_name)
    asking = "SELECT @@GLOBAL.long_query_time, @@GLOBAL.general_log, @@GLOBAL.slow_query_log_file"
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(asking)
        before = cursor.fetchone()
        cursor.execute("CREATE USER logged@localhost")
        try:
            with logged(sandbox) as logs:
                for _ in range(2):
                    with sandbox.connect(user="logged", autocommit=True) as other, other.cursor() as asked:
                        asked.execute("SELECT SLEEP(0.05)")
                        asked.execute("SELECT 1\nUNION SELECT 2")
                load, nobody = written(logs, 4), logs.of("nobody")
        finally:
            cursor.execute("DROP USER logged@localhost")
        cursor.execute(asking)
        assert cursor.fetchone() == before
    assert load.connections == 2
    assert load.statements in (6, 8)  # a driver sets the character set, and autocommit where it is off
    assert load.longest_sql == "SELECT SLEEP(0.05);"
    assert 0.05 <= load.longest < load.seconds
    assert load.rows >= 4
    assert (nobody.connections, nobody.statements, nobody.rows) == (0, 0, 0)
