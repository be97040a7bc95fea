"""Tables under load: sbtest tables as sysbench creates them, and MyISAM or Aria tables for full scans."""

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
NON_TEXT_BYTES = 5  # bytes of a row that are not text: flags and an INT
CHAR_MAXIMUM = 255
INITIAL_LENGTH = 10  # characters of a row before it grows
SHORTEST, LONGEST = 20, 4000  # bytes per row


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


class ScanTable(NamedTuple):
    """A table of about that many `bytes`.

    `engine` is MyISAM or Aria, `row_length` is in bytes. `fragmented` is the percentage of rows that grew after other
    rows had been written behind them. If it is above 0, or rows are `varying`, rows are VARCHAR, otherwise CHAR.
    """

    bytes: int
    row_length: int = 57
    engine: str = "MyISAM"
    fragmented: int = 0
    database: str = "scans"
    varying: bool = False

    @property
    def name(self) -> str:
        """The table name with its database."""
        return f"{self.database}.scan"

    @property
    def rows(self) -> int:
        """The number of rows for that many bytes."""
        return max(1, self.bytes // self.row_length)

    @property
    def is_dynamic(self) -> bool:
        """Whether rows have different lengths."""
        return self.varying or self.fragmented > 0

    @property
    def query(self) -> str:
        """A statement that reads every row: no row has that id, and it is not indexed."""
        return f"SELECT COUNT(*) FROM {self.name} WHERE id = 0"  # noqa: S608 - a name of our own

    @property
    def file(self) -> str:
        """The data file, relative to the data directory."""
        return f"{self.database}/scan{'.MYD' if self.engine == 'MyISAM' else '.MAD'}"


def create_table(connection: Any, scan: ScanTable, stop: StopSignal) -> None:
    """Create the table, replacing an existing one; ends early if `stop` is set."""
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION sql_log_bin = 0")
        cursor.execute(f"CREATE DATABASE IF NOT EXISTS {scan.database} CHARACTER SET latin1")
        cursor.execute(f"DROP TABLE IF EXISTS {scan.name}, {scan.database}.seed")
        cursor.execute(f"CREATE TABLE {scan.database}.seed (id INT NOT NULL) ENGINE=MyISAM")
        numbers = ",".join(f"({n})" for n in range(1, min(SEED_ROWS, scan.rows) + 1))
        cursor.execute(f"INSERT INTO {scan.database}.seed VALUES {numbers}")  # noqa: S608 - numbers of our own
        cursor.execute(f"CREATE TABLE {scan.name} ({_columns(scan)}) {_storage_options(scan)}")
        for base in range(0, scan.rows, SEED_ROWS):
            if stop.is_set():
                return
            cursor.execute(_insert(scan, base))
        if scan.fragmented:
            # The rows no longer fit in their place, so the rest of each is moved to the end of the file.
            grown = f"pad = REPEAT('x', {_text_width(scan)})"
            cursor.execute(f"UPDATE {scan.name} SET {grown} WHERE {_grows_condition(scan, 'id')}")  # noqa: S608
        cursor.execute(f"DROP TABLE {scan.database}.seed")
        cursor.execute(f"FLUSH TABLES {scan.name}")


def _text_width(scan: ScanTable) -> int:
    return max(1, scan.row_length - NON_TEXT_BYTES)


def _columns(scan: ScanTable) -> str:
    if scan.is_dynamic:
        return f"id INT NOT NULL, pad VARCHAR({_text_width(scan)}) NOT NULL"
    whole, rest = divmod(_text_width(scan), CHAR_MAXIMUM)
    widths = [CHAR_MAXIMUM] * whole + ([rest] if rest else [])
    return "id INT NOT NULL" + "".join(f", pad{n} CHAR({width}) NOT NULL DEFAULT ''" for n, width in enumerate(widths))


def _storage_options(scan: ScanTable) -> str:
    # Aria's own row format uses its page cache; these two are read like MyISAM's.
    crash_safe = " TRANSACTIONAL=0" if scan.engine == "Aria" else ""
    return f"ENGINE={scan.engine} ROW_FORMAT={'DYNAMIC' if scan.is_dynamic else 'FIXED'}{crash_safe}"


def _insert(scan: ScanTable, base: int) -> str:
    number = f"id + {base}"
    which = f"FROM {scan.database}.seed WHERE id <= {min(SEED_ROWS, scan.rows - base)}"
    if not scan.is_dynamic:
        return f"INSERT INTO {scan.name} (id) SELECT {number} {which}"
    width = _text_width(scan)
    text = f"REPEAT('x', IF({_grows_condition(scan, number)}, {min(INITIAL_LENGTH, width)}, {width}))"
    return f"INSERT INTO {scan.name} SELECT {number}, {text} {which}"


def _grows_condition(scan: ScanTable, number: str) -> str:
    return f"({number}) % 100 < {scan.fragmented}"
