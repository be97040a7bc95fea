"""Read the risks in the definitions of tables for --schema, within a limit of time and of tables that are opened."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.connection.schema_statements import (
    COLUMNS_MARIADB,
    COLUMNS_MYSQL_5,
    HIDDEN_KEYS,
    KEYLESS_MARIADB,
    KEYLESS_MYSQL_5,
    LARGE_TABLES,
    NEXT_VALUES,
    REDUNDANT_MARIADB,
    REDUNDANT_MYSQL,
    REDUNDANT_MYSQL_5,
    SCHEMAS,
    STORED_STATISTICS,
    TABLE_KINDS,
    TABLES_MARIADB,
    TABLES_MYSQL_5,
    UNCOMPARED_MARIADB,
    VISIBILITY,
    VISIBLE,
)
from advisor.collect.connection.session import ConnectionLost, StatementFailed, send, send_setup, whole_number
from advisor.facts import Unavailable
from advisor.facts.server import AutoIncrement, EngineTable, RedundantIndex, SchemaRisks, UnkeyedTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from advisor.collect.connection.session import Notes, Row, Session
    from advisor.collect.connection.statement import Statement
    from advisor.collect.server.server import Greeting

DEFAULT_SECONDS = 5.0
DEFAULT_TABLES = 1000  # opened in half a second on a fast server, and in two on a slow one
PART = "schema"
AUTO_INCREMENT, KEYS, ENGINES, INDEXES = (
    f"{PART}.{name}" for name in ("auto_increment", "keys", "engines", "redundant_indexes")
)
HIDDEN = f"{PART}.other_tables"  # those that the account has no privilege on
_DICTIONARY = (8, 0)  # MySQL: tables are described without opening them
_GENERATED_KEYS = (8, 0, 30)
_SYS_ON_MARIADB = (10, 6)
_LONGEST = 8.0  # seconds for one statement; the client waits ten
_SHORTEST = 0.05  # seconds; with less no statement is sent
_NAMED = 3  # schemas that a reason names
_HALF = 2  # of a type; columns that used less are left out
_MOST_TABLES, _MOST_OF_SCHEMA = 2000, 20_000  # rows: the limits of the statements about tables, and about one schema
_PARTITION = re.compile(r"#[pP]#.*")
_ESCAPED = re.compile(r"@([0-9a-f]{4})")


class SchemaLimits(NamedTuple):
    """How long to read, in seconds, and how many tables MySQL 5.7 and MariaDB may open for it."""

    seconds: float = DEFAULT_SECONDS
    tables: int = DEFAULT_TABLES


class _Reading:
    """The session with the time that is left for it."""

    def __init__(self, session: Session, greeting: Greeting, limits: SchemaLimits, notes: Notes) -> None:
        self.session, self.greeting, self.limits, self.notes = session, greeting, limits, notes
        self.began = time.monotonic()

    def rows(self, statement: Statement, name: str | None = None) -> tuple[Row, ...]:
        """The rows of a statement that ends with the time left; raises StatementFailed with the reason."""
        left = self.limits.seconds - self.spent
        if left < _SHORTEST:
            raise StatementFailed(self._out_of_time())
        try:
            return send(self.session, statement, int(min(left, _LONGEST) * 1000), name).rows
        except ConnectionLost:
            raise
        except StatementFailed as reason:
            over = self.limits.seconds - self.spent < _SHORTEST
            raise StatementFailed(self._out_of_time() if over else str(reason)) from reason

    def read_part(self, part: str, read: Callable[[], tuple[Row, ...]]) -> tuple[Row, ...] | None:
        """The rows, or None with the reason noted for the part."""
        try:
            return read()
        except StatementFailed as reason:
            self.notes.append(Unavailable(part, str(reason)))
            return None

    @property
    def spent(self) -> float:
        """Seconds since the reading began."""
        return time.monotonic() - self.began

    def _out_of_time(self) -> str:
        return f"not finished within {self.limits.seconds:g} s; allow more with --schema-time"


def read_schema(
    session: Session, greeting: Greeting, limits: SchemaLimits, taken_at: str, notes: Notes
) -> SchemaRisks | None:
    """Read the risks, with a reason in `notes` for each part left out; None if no schema can be listed."""
    reading = _Reading(session, greeting, limits, notes)
    listed = reading.read_part(PART, lambda: reading.rows(SCHEMAS))
    if listed is None:
        return None
    sizes = {row[0]: whole_number(row[1]) or 0 for row in listed if row[0]}
    if not _sees_every_table(reading) and not sizes:
        return None
    dictionary = not greeting.is_mariadb and greeting.number >= _DICTIONARY
    found = _from_dictionary(reading) if dictionary else _from_open_tables(reading, sizes)
    return SchemaRisks(sum(sizes.values()), len(sizes), taken_at, round(reading.spent, 3), *found)


Found = tuple[
    tuple[AutoIncrement, ...] | None,
    tuple[UnkeyedTable, ...] | None,
    tuple[EngineTable, ...] | None,
    tuple[RedundantIndex, ...] | None,
]


def _sees_every_table(reading: _Reading) -> bool:
    """Whether the account has a global privilege that shows every table; noted if not."""
    granted = reading.read_part(HIDDEN, lambda: reading.rows(VISIBILITY))
    if granted and whole_number(granted[0][0]):
        return True
    if granted is not None:
        reading.notes.append(Unavailable(HIDDEN, f"needs {VISIBLE}"))
    return False


def _from_dictionary(reading: _Reading) -> Found:
    """MySQL 8.0 and later."""
    session, version = reading.session, reading.greeting.number
    reading.read_part(PART, lambda: _set_up(session, STORED_STATISTICS))
    if version >= _GENERATED_KEYS:
        reading.read_part(KEYS, lambda: _set_up(session, HIDDEN_KEYS))
    values = reading.read_part(AUTO_INCREMENT, lambda: reading.rows(NEXT_VALUES))
    kinds = reading.read_part(KEYS, lambda: reading.rows(TABLE_KINDS))
    _note_cut(reading, KEYS, kinds, _MOST_TABLES)
    _note_cut(reading, ENGINES, kinds, _MOST_TABLES)
    unkeyed = [(row[0] or "", row[1] or "") for row in kinds or () if row[3] == "0"]
    counted = _with_rows(reading, unkeyed)
    redundant = reading.read_part(INDEXES, lambda: reading.rows(REDUNDANT_MYSQL))
    return (
        None if values is None else tuple(_near_end(map(_auto_increment, values))),
        None if kinds is None else counted,
        None if kinds is None else tuple(_engine(*row[:3]) for row in kinds if row[2] != "InnoDB"),
        None if redundant is None else tuple(map(_redundant, redundant)),
    )


def _note_cut(reading: _Reading, part: str, rows: tuple[Row, ...] | None, most: int, of: str = "") -> None:
    """Note that an answer ended at the limit of its statement, so that there may be more."""
    if rows is not None and len(rows) >= most:
        reading.notes.append(Unavailable(part, f"only the first {most:,} tables{of} were read"))


def _set_up(session: Session, statement: Statement) -> tuple[Row, ...]:
    send_setup(session, statement)
    return ()


def _from_open_tables(reading: _Reading, sizes: dict[str, int]) -> Found:
    """MySQL 5.7 and MariaDB: keys from InnoDB's dictionary, the rest by opening the tables of the schemas that fit."""
    mariadb = reading.greeting.is_mariadb
    keyless = reading.read_part(KEYS, lambda: reading.rows(KEYLESS_MARIADB if mariadb else KEYLESS_MYSQL_5))
    _note_cut(reading, KEYS, keyless, _MOST_TABLES)
    unkeyed = _with_rows(reading, sorted({_table_name(row) for row in keyless or ()}))
    examined, values, engines = _open_schemas(reading, sizes)
    return (
        tuple(_near_end(values)) if examined or not sizes else None,
        None if keyless is None else unkeyed,
        tuple(engines) if examined or not sizes else None,
        _redundant_of(reading, examined, sizes),
    )


def _open_schemas(
    reading: _Reading, sizes: dict[str, int]
) -> tuple[list[str], list[AutoIncrement | None], list[EngineTable]]:
    """The schemas whose tables were opened, the smallest first, their AUTO_INCREMENT columns, and other engines."""
    room = reading.limits.tables
    examined: list[str] = []
    values: list[AutoIncrement | None] = []
    engines: list[EngineTable] = []
    late = ""
    for schema, size in sorted(sizes.items(), key=lambda item: (item[1], item[0])):
        if size > room or late:
            continue
        try:
            tables, columns = _one_schema(reading, schema)
        except StatementFailed as reason:
            late = str(reason)
            continue
        room -= size
        examined.append(schema)
        engines += [_engine(schema, row[0], row[1]) for row in tables if row[1] != "InnoDB"]
        values += [_auto_increment((schema, row[0], *columns[row[0]], row[2])) for row in tables if row[0] in columns]
    limit = f"more than {reading.limits.tables} tables would be opened; allow more with --schema-tables"
    _note_left_out(reading, sizes, examined, late or limit)
    return examined, values, engines


def _one_schema(reading: _Reading, schema: str) -> tuple[tuple[Row, ...], dict[str | None, Row]]:
    mariadb = reading.greeting.is_mariadb
    tables = reading.rows(TABLES_MARIADB if mariadb else TABLES_MYSQL_5, schema)
    columns = reading.rows(COLUMNS_MARIADB if mariadb else COLUMNS_MYSQL_5, schema)
    _note_cut(reading, ENGINES, tables, _MOST_OF_SCHEMA, f" of `{schema}`")
    _note_cut(reading, AUTO_INCREMENT, max(tables, columns, key=len), _MOST_OF_SCHEMA, f" of `{schema}`")
    return tables, {row[0]: row[1:] for row in columns}


def _note_left_out(reading: _Reading, sizes: dict[str, int], examined: list[str], why: str) -> None:
    left = [schema for schema in sizes if schema not in examined]
    if left:
        names = ", ".join(f"`{schema}`" for schema in left[:_NAMED]) + (", …" if len(left) > _NAMED else "")
        tables = sum(sizes[schema] for schema in left)
        words = f"{len(left)} of {len(sizes)} schemas with {tables} tables were skipped ({names}): {why}"
        reading.notes += [Unavailable(AUTO_INCREMENT, words), Unavailable(ENGINES, words)]


def _redundant_of(reading: _Reading, examined: list[str], sizes: dict[str, int]) -> tuple[RedundantIndex, ...] | None:
    """MySQL 5.7's view reads all schemas at once; MariaDB's is read for one schema at a time, if it has the view."""
    if reading.greeting.is_mariadb:
        if reading.greeting.number < _SYS_ON_MARIADB:
            reading.notes.append(Unavailable(INDEXES, "needs the sys schema (MariaDB 10.6 and later)"))
            return None
        return _redundant_by_schema(reading, examined, len(sizes))
    if len(examined) < len(sizes):
        reading.notes.append(Unavailable(INDEXES, "the view of MySQL 5.7 would open the tables that were skipped"))
        return None
    rows = reading.read_part(INDEXES, lambda: reading.rows(REDUNDANT_MYSQL_5))
    return None if rows is None else tuple(map(_redundant, rows))


def _redundant_by_schema(reading: _Reading, examined: list[str], schemas: int) -> tuple[RedundantIndex, ...] | None:
    indexes: list[RedundantIndex] = []
    for done, schema in enumerate(examined):
        try:
            rows = reading.rows(REDUNDANT_MARIADB, schema)
            uncompared = set(reading.rows(UNCOMPARED_MARIADB, schema)) if rows else set()
        except StatementFailed as reason:
            reading.notes.append(Unavailable(INDEXES, _after(str(reason), done, schemas)))
            return tuple(indexes) if done else None
        indexes += [_redundant(row) for row in rows if not uncompared & {(row[1], row[2]), (row[1], row[4])}]
    if len(examined) < schemas:
        reading.notes.append(
            Unavailable(INDEXES, f"{schemas - len(examined)} of {schemas} schemas were skipped, like their tables")
        )
    return tuple(indexes) if examined or not schemas else None


def _after(reason: str, done: int, schemas: int) -> str:
    """A reason for what is missing; a missing privilege alone keeps its form, from which the GRANT is printed."""
    return f"{schemas - done} of {schemas} schemas were skipped: {reason}" if done else reason


def _with_rows(reading: _Reading, tables: Iterable[tuple[str, str]]) -> tuple[UnkeyedTable, ...]:
    """The tables with their rows, the largest first; rows of partitions are added up."""
    named = list(tables)
    stored = reading.read_part(f"{KEYS}.rows", lambda: reading.rows(LARGE_TABLES)) if named else ()
    if stored is None:
        return tuple(UnkeyedTable(schema, table) for schema, table in named)
    counts: dict[tuple[str, str], int] = {}
    for schema, table, rows in stored:
        name = schema or "", _PARTITION.sub("", table or "")
        counts[name] = counts.get(name, 0) + (whole_number(rows) or 0)
    found = [UnkeyedTable(schema, table, counts.get((schema, table), 0)) for schema, table in named]
    return tuple(sorted(found, key=lambda table: (-(table.rows or 0), table.schema, table.table)))


def _table_name(row: Row) -> tuple[str, str]:
    """Schema and table of an InnoDB table; MySQL 5.7 has only the escaped name of its file.

    Letters outside ASCII stay escaped then.
    """
    if len(row) > 1:
        return row[0] or "", row[1] or ""
    schema, _, table = (row[0] or "").partition("/")
    return _unescape_name(schema), _unescape_name(_PARTITION.sub("", table))


def _unescape_name(name: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), name)


def _auto_increment(row: Row) -> AutoIncrement | None:
    schema, table, column, kind, value = row
    following = whole_number(value)
    return None if following is None else AutoIncrement(schema or "", table or "", column or "", kind or "", following)


def _near_end(values: Iterable[AutoIncrement | None]) -> Iterator[AutoIncrement]:
    """The columns that have used more than half of their type, the fullest first."""
    for column in sorted(filter(None, values), key=_used_share, reverse=True):
        if _used_share(column) * _HALF > 1:
            yield column


def _used_share(column: AutoIncrement) -> float:
    return column.next / column.greatest if column.greatest else 0.0


def _engine(schema: str | None, table: str | None, engine: str | None) -> EngineTable:
    return EngineTable(schema or "", table or "", engine or "")


def _redundant(row: Row) -> RedundantIndex:
    schema, table, index, columns, other, covering = (text or "" for text in row)
    return RedundantIndex(schema, table, index, columns, other, covering)
