"""Sessions that fill a server's buffers, and keep them filled while they are measured."""
# ruff: noqa: S608 - the statements are made of our own numbers

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pymysql
from pymysql.cursors import SSCursor

from probes.sandbox import Sandbox

ROW = 830  # bytes of a row of `t` in a sort or join buffer
REPEATED = 8  # times the text of a row is sent: a result of a few hundred rows must not fit in the socket's buffer
FULL = 0.85  # share of a buffer that is filled; what does not fit would go to files, and the buffer would be freed
FIRST = 1000  # rows, which are then doubled
FEW = 300  # rows of the joined table
PATIENCE = 3600  # seconds that the server waits for the client to read on
WIDE = 7500  # bytes of a row of `wide`; two of them fill a page
NAMES = ("sort_buffer_size", "join_buffer_size", "tmp_table_size", "max_heap_table_size", "innodb_buffer_pool_size")


class Sizes(NamedTuple):
    """The buffer sizes of the server in bytes; `table` is an in-memory temporary table."""

    sort: int
    join: int
    table: int
    pool: int

    def rows(self, size: int) -> int:
        """The number of rows of `t` that nearly fill that many bytes."""
        return max(1, int(size * FULL) // ROW)


def sizes(sandbox: Sandbox) -> Sizes:
    """The buffer sizes of a running server."""
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(f'@@GLOBAL.{name}' for name in NAMES)}")
        sort, join, table, heap, pool = map(int, cursor.fetchone() or ())
    return Sizes(sort, join, min(table, heap), pool)


def statements(size: Sizes) -> dict[str, str]:
    """One statement for each load; all keep their buffers until their result has been read."""
    sorted_rows, joined, grouped = size.rows(size.sort), size.rows(size.join), size.rows(size.table)
    group = f"FROM t WHERE id <= {grouped} GROUP BY g"
    return {
        "sort": f"SELECT id, REPEAT(pad, {REPEATED}) FROM t WHERE id <= {sorted_rows} ORDER BY s",
        "join": f"SELECT STRAIGHT_JOIN a.id, REPEAT(a.pad, {REPEATED}), b.pad FROM t a JOIN t b ON a.k = b.k "
        f"WHERE a.id <= {joined} AND b.id <= {FEW}",
        "scan": f"SELECT id, REPEAT(pad, {REPEATED}) FROM m",
        "temporary table": f"SELECT id + 0 AS g, REPEAT(MIN(pad), {REPEATED}) {group} ORDER BY NULL",
        "temporary table, sorted": f"SELECT id + 0 AS g, REPEAT(MIN(pad), {REPEATED}), MAX(s) AS o {group} "
        f"HAVING g <= {sorted_rows} ORDER BY o",
        "grouped part, joined": f"SELECT STRAIGHT_JOIN d.g, REPEAT(d.m, {REPEATED}) FROM (SELECT id + 0 AS g, "
        f"MIN(k) AS k, MIN(pad) AS m {group}) d JOIN t b ON d.k = b.k WHERE b.id <= {FEW}",
    }


def make_tables(sandbox: Sandbox, size: Sizes) -> None:
    """Create the database `filling` with its tables.

    `t` is in InnoDB and has enough rows for each buffer; `m` has its first thousand rows in MyISAM.
    """
    wanted = max(FIRST, size.rows(max(size.sort, size.join, size.table)))
    first = ", ".join(f"({n}, {n * 7919 % 1000}, REPEAT('{n % 10}', 800))" for n in range(1, FIRST + 1))
    columns = "id INT PRIMARY KEY AUTO_INCREMENT, k INT NOT NULL, s INT NOT NULL, pad VARCHAR(800) NOT NULL"
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE filling CHARACTER SET latin1")
        cursor.execute("USE filling")
        cursor.execute(f"CREATE TABLE t ({columns})")
        cursor.execute(f"CREATE TABLE m ({columns}) ENGINE = MyISAM")
        for table in ("t", "m"):
            cursor.execute(f"INSERT INTO {table} (k, s, pad) VALUES {first}")
        rows = FIRST
        while rows < wanted:
            # The ids of the copies have gaps, the values of k have none.
            cursor.execute(f"INSERT INTO t (id, k, s, pad) SELECT id + {rows}, k + {rows}, s, pad FROM t")
            rows *= 2
        # Sort buffers are allocated for the number of rows in the statistics.
        cursor.execute("ANALYZE TABLE t")


def warm_up(sandbox: Sandbox, size: Sizes) -> None:
    """Write as much as the pool holds, so that each of its pages has been touched."""
    wanted = size.pool // (2 * WIDE) * 2
    with sandbox.connect(autocommit=True, database="filling") as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE wide (id INT PRIMARY KEY AUTO_INCREMENT, pad VARCHAR(7500) NOT NULL)")
        rows = 64
        cursor.execute(f"INSERT INTO wide (pad) VALUES {', '.join(['(REPEAT(CHAR(97), 7500))'] * rows)}")
        while rows < wanted:
            more = min(rows, wanted - rows)
            cursor.execute(f"INSERT INTO wide (pad) SELECT pad FROM wide LIMIT {more}")
            rows += more


@contextlib.contextmanager
def connected(sandbox: Sandbox, count: int) -> Iterator[list[pymysql.Connection[Any]]]:
    """That many sessions, which are closed at the end of the block without reading the rest of their results."""
    with ThreadPoolExecutor(count) as pool:
        waits = f"SET net_write_timeout = {PATIENCE}"
        opened = [
            pool.submit(sandbox.connect, autocommit=True, database="filling", init_command=waits) for _ in range(count)
        ]
        sessions = [one.result() for one in opened]
        try:
            yield sessions
        finally:
            for session in sessions:
                session._force_close()  # type: ignore[attr-defined]  # close() would read it all


def each(sessions: list[pymysql.Connection[Any]], *statements: str) -> None:
    """Execute these statements in all sessions at the same time, and read the results."""

    def say(session: pymysql.Connection[Any]) -> None:
        with session.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
                cursor.fetchall()

    with ThreadPoolExecutor(len(sessions)) as pool:
        list(pool.map(say, sessions))


@contextlib.contextmanager
def held(sandbox: Sandbox, count: int, statement: str) -> Iterator[None]:
    """In the block, that many sessions have read the first row of their result and keep the rest pending."""

    def begin(session: pymysql.Connection[Any]) -> Any:
        cursor = session.cursor(SSCursor)
        cursor.execute(statement)
        cursor.fetchone()
        return cursor

    with connected(sandbox, count) as sessions, ThreadPoolExecutor(count) as pool:
        cursors = list(pool.map(begin, sessions))
        try:
            yield
        finally:
            for cursor in cursors:
                if cursor._result is not None:
                    cursor._result.unbuffered_active = False  # closing the cursor would read the rest
