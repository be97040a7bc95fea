"""sbtest tables, as sysbench creates them, filled quickly inside the server."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, NamedTuple

from probes.workload.worker import C_GROUPS, PAD_GROUPS, random_digits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.stop import StopSignal

DATABASE = "sbtest"
SEED_ROWS = 20_000  # rows of texts that all tables are built from, and rows per INSERT
SEED_BATCH = 1_000
ROW_BYTES = 235  # a row with its secondary key, in pages as full as ascending inserts leave them
CONSTANT = ("a" * 119, "q" * 59)
COLUMNS = "(id {key} NOT NULL, k INT NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id))"  # noqa: E501 - one line of SQL


class TableShape(NamedTuple):
    """The shape of the tables: their number and rows, and the options after ENGINE in CREATE TABLE.

    `filler` is digits (sysbench's random texts) or constant (compresses as well as possible). `key_on_k` creates
    sysbench's secondary index.
    """

    rows: int
    tables: int = 1
    engine: str = "InnoDB"
    filler: str = "digits"
    key_on_k: bool = True
    database: str = DATABASE

    @property
    def bytes(self) -> int:
        """The approximate uncompressed size on disk."""
        return self.rows * self.tables * ROW_BYTES


def fill_tables(connection: Any, shape: TableShape, stop: StopSignal) -> None:
    """Create sbtest1, sbtest2, …, replacing existing tables; ends early if `stop` is set.

    The connection is root's on a throwaway server. The session does not write to the binary log, and the server
    commits without flushing during the fill.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION sql_log_bin = 0")
        cursor.execute("SELECT @@global.innodb_flush_log_at_trx_commit")
        (flush,) = cursor.fetchone()
        cursor.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 0")
        try:
            _fill_seed_table(cursor, shape)
            for number in range(1, shape.tables + 1):
                _fill_table(cursor, shape, f"{shape.database}.sbtest{number}", stop)
            cursor.execute(f"DROP TABLE {shape.database}.seed")
        finally:
            cursor.execute(f"SET GLOBAL innodb_flush_log_at_trx_commit = {flush}")


def _fill_seed_table(cursor: Any, shape: TableShape) -> None:
    cursor.execute(f"CREATE DATABASE IF NOT EXISTS {shape.database} CHARACTER SET latin1")
    cursor.execute(f"DROP TABLE IF EXISTS {shape.database}.seed")
    cursor.execute(f"CREATE TABLE {shape.database}.seed {COLUMNS.format(key='INT')} ENGINE=InnoDB")
    rows = _seed_values(shape.filler)
    for _ in range(0, min(shape.rows, SEED_ROWS), SEED_BATCH):
        values = ",".join(next(rows) for _ in range(SEED_BATCH))
        cursor.execute(f"INSERT INTO {shape.database}.seed VALUES {values}")  # noqa: S608 - digits of our own


def _seed_values(filler: str) -> Iterator[str]:
    source = random.Random(1)  # noqa: S311 - load, no secret
    number = 0
    while True:
        number += 1
        c, pad = (
            CONSTANT if filler == "constant" else (random_digits(source, C_GROUPS), random_digits(source, PAD_GROUPS))
        )
        yield f"({number},0,'{c}','{pad}')"


def _fill_table(cursor: Any, shape: TableShape, table: str, stop: StopSignal) -> None:
    cursor.execute(f"DROP TABLE IF EXISTS {table}")
    cursor.execute(f"CREATE TABLE {table} {COLUMNS.format(key='INT')} ENGINE={shape.engine}")
    # In key order, so that pages fill up as with sysbench, and in transactions of a few megabytes.
    for base in range(0, shape.rows, SEED_ROWS):
        if stop.is_set():
            return
        cursor.execute(
            f"INSERT INTO {table} (id, k, c, pad) SELECT id + {base}, 1 + FLOOR(RAND({base + 1}) * {shape.rows}), "  # noqa: S608
            f"c, pad FROM {shape.database}.seed WHERE id <= {min(SEED_ROWS, shape.rows - base)} ORDER BY id"
        )
    if shape.key_on_k:
        cursor.execute(f"CREATE INDEX k_{table.rpartition('sbtest')[2]} ON {table} (k)")
    cursor.execute(f"ANALYZE TABLE {table}")
    cursor.fetchall()
