"""The risks in the definitions of tables that `--schema` reads: names, types and keys, never rows."""

from msgspec import Struct

BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
Name = tuple[str, str]  # a schema and a table


class AutoIncrement(Struct, frozen=True):
    """An AUTO_INCREMENT column that has used more than half of its type.

    `type` is the column's type as the server prints it (`int(10) unsigned`), `next` the next value. `per_day` is the
    number of values used a day since an earlier snapshot, None if there is none.
    """

    schema: str
    table: str
    column: str
    type: str
    next: int
    per_day: float | None = None

    @property
    def greatest(self) -> int | None:
        """The greatest value of the column's type; None for a type that is no integer."""
        bits = BITS.get(self.type.lower().partition("(")[0].partition(" ")[0])
        if bits is None:
            return None
        return (1 << bits) - 1 if "unsigned" in self.type.lower() else (1 << bits - 1) - 1


class UnkeyedTable(Struct, frozen=True):
    """A table without a primary key, and without a unique key of columns that are NOT NULL.

    `rows` is their estimated number, None if unknown; tables with fewer than 1,000 rows have 0.
    """

    schema: str
    table: str
    rows: int | None = None


class EngineTable(Struct, frozen=True):
    """A table of another engine than InnoDB."""

    schema: str
    table: str
    engine: str


class RedundantIndex(Struct, frozen=True):
    """An index whose columns are the first ones of another index, by the server's own view."""

    schema: str
    table: str
    index: str
    columns: str
    covered_by: str
    covering_columns: str


class SchemaRisks(Struct, frozen=True):
    """What was read of the tables of users; each part is None if it was not read, empty if there is nothing to report.

    `tables` is the number of tables and views in `schemas` schemas that the account can list. `taken_at` is UTC in
    ISO 8601, `seconds` the time that the statements took.
    """

    tables: int
    schemas: int
    taken_at: str = ""
    seconds: float = 0.0
    auto_increments: tuple[AutoIncrement, ...] | None = None
    without_key: tuple[UnkeyedTable, ...] | None = None
    other_engines: tuple[EngineTable, ...] | None = None
    redundant_indexes: tuple[RedundantIndex, ...] | None = None
