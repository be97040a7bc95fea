"""SCH: rules about the definitions of tables: full AUTO_INCREMENT columns, missing keys, engines, redundant indexes."""

from __future__ import annotations

from advisor.core.model import Action, Confidence, Severity
from rules.core import Docs, Span, rule
from rules.core.context import MissingFact
from rules.core.network import uses_galera
from rules.durability import writes_binary_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.core.model import Finding
    from advisor.facts.server import AutoIncrement, EngineTable, RedundantIndex, UnkeyedTable
    from rules.core.context import RuleContext


NEAR, AT_END = 0.80, 0.95  # of the greatest value
SOON, MONTH = 365.0, 30.0  # days
SMALL = 65535  # types up to this value mostly number fixed lists, which do not grow
LISTED = 3
RANK = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@rule(
    "SCH001",
    "auto-increment-near-end",
    confidence=Confidence.LIKELY,
    summary="An AUTO_INCREMENT column has nearly used up the values of its type; then inserts fail.",
    needs=("schema",),
    evidence=("SCH-01", "ASK-SCH-01", "ASK-SCH-05", "ASK-SCH-06"),
    docs=Docs(
        why="After the maximum of its type every insert that needs a new value fails, with error 1062, 1467 or, on "
        "MariaDB, 167. At a constant rate the last 20 % last a quarter of the time since the first row, and the last 5 "
        "% a nineteenth. Changing the type copies the table, which takes hours or days for a large table. So 80 % is a "
        "warning and 95 % an error. With an earlier snapshot (--since) that was taken with --schema too, the rate "
        "decides: less than a year is a warning, less than 30 days, or less than a year above 95 %, an error. TINYINT "
        "and SMALLINT columns often number lists that do not grow: without a known rate they are one step less severe.",
        fix="Change the column to BIGINT (BIGINT UNSIGNED if it is UNSIGNED). ALTER TABLE … MODIFY copies the table "
        "and blocks writes to it, except on MariaDB 11.2 and later; gh-ost and pt-online-schema-change copy in the "
        "background. Write the whole definition of the column, with its comment. Columns that refer to it need the "
        "same type. The servers refuse to change a column of a foreign key, even with foreign_key_checks = OFF: drop "
        "the foreign key, change both columns, and create it again. gh-ost refuses tables with foreign keys.",
        risk="The copy needs disk space for a second table, and replicas apply the ALTER after the source. Programs "
        "that hold the value in 32 bits fail above 2,147,483,647.",
        exceptions="Lists that get no new rows. A table that can start again at 1 after TRUNCATE.",
        reconsider_when="The next value, AUTO_INCREMENT in information_schema.TABLES, below 80 % of the type. MySQL "
        "8.0 and later show a stored value there, unless information_schema_stats_expiry is 0.",
    ),
)
def auto_increment_near_end(context: RuleContext) -> Iterator[Finding]:
    """Report columns above 80 % of their type, and those that reach its end within a year."""
    columns = context.schema.auto_increments
    if columns is None:
        raise MissingFact(context.reason_unread("schema.auto_increment"))
    rated = [(severity, column) for column in columns if (severity := _severity(column)) is not None]
    rated.sort(key=lambda pair: (RANK.index(pair[0]), -_used_share(pair[1])))
    if rated:
        listed = " ".join(_column_words(column) for _, column in rated[:LISTED])
        more = len(rated) - LISTED
        also = f" {more} more {'column is' if more == 1 else 'columns are'} near the end too." if more > 0 else ""
        yield auto_increment_near_end.finding(
            f"Inserts will fail at the end of an AUTO_INCREMENT column. {listed}{also}",
            severity=rated[0][0],
            help=_remedy(context, [column for _, column in rated]),
        )


def _remedy(context: RuleContext, columns: list[AutoIncrement]) -> str:
    if all(column.type.lower().startswith("bigint") for column in columns):
        return "find which statement inserted so large a value: a BIGINT column does not get there by counting"
    if context.target.since("mariadb", 11, 2):
        return "change the type to BIGINT in time: ALTER TABLE copies the table, while others write to it"
    return (
        "change the type to BIGINT in time: ALTER TABLE copies the table and blocks writes; gh-ost does not block them"
    )


def _used_share(column: AutoIncrement) -> float:
    return (column.next - 1) / column.greatest if column.greatest else 0.0


def days_left(column: AutoIncrement) -> float | None:
    """Days until the end at the rate since an earlier snapshot; None without a rate, or if nothing was inserted."""
    if not column.per_day or column.greatest is None:
        return None
    return max(0, column.greatest - column.next) / column.per_day


def _severity(column: AutoIncrement) -> Severity | None:
    used, days = _used_share(column), days_left(column)
    if days is not None:
        if days < MONTH or (used >= AT_END and days < SOON):
            return Severity.ERROR
        return Severity.WARNING if days < SOON else Severity.NOTE if used >= NEAR else None
    if used < NEAR:
        return None
    if column.per_day == 0:
        return Severity.NOTE
    small = column.greatest is not None and column.greatest <= SMALL
    rank = (0 if used >= AT_END else 1) + small
    return RANK[rank]


def _column_words(column: AutoIncrement) -> str:
    name = quoted_name(column.schema, column.table, column.column)
    percent = int(100 * _used_share(column))
    days = days_left(column)
    rate = ""
    if column.per_day is not None:
        rate = f" and {_values_a_day(column.per_day)}" if column.per_day else " and none was used since"
    left = f", which leaves {_whole_days(days)}" if days is not None else ""
    return (
        f"{name} ({column.type}) has used {percent} %: the next value is {column.next:,} of "
        f"{column.greatest:,}{rate}{left}."
    )


def _values_a_day(number: float) -> str:
    if number < 1:
        return "less than one value is used a day"
    return "1 value is used a day" if round(number) == 1 else f"{number:,.0f} values are used a day"


def _whole_days(days: float) -> str:
    if days < 1:
        return "less than a day"
    return "1 day" if round(days) == 1 else f"{days:,.0f} days"


def quoted_name(*parts: str) -> str:
    """A qualified name as statements write it."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


MANY_ROWS = 10_000  # a scan of fewer rows takes milliseconds
MEMBER_STATES = ("ONLINE", "RECOVERING")
LOCAL = frozenset(
    {"MYISAM", "ARIA", "MEMORY", "ARCHIVE"}
)  # engines that keep rows on this server, without transactions
REMOTE = frozenset(
    {"BLACKHOLE", "CONNECT", "FEDERATED", "S3", "SPIDER"}
)  # engines whose rows are elsewhere, or nowhere
MOST_READ, MOST_INDEXES = 2000, 200  # rows of the statements that read them
LOCKED = "the ALTER waits for transactions on the table, and new statements wait behind it"
HINTS = "statements that name the index in a hint fail"


def _unkeyed_tables(context: RuleContext) -> tuple[UnkeyedTable, ...]:
    tables = context.schema.without_key
    if tables is None:
        raise MissingFact(context.reason_unread("schema.keys"))
    return tables


def _engines(context: RuleContext) -> tuple[EngineTable, ...]:
    tables = context.schema.other_engines
    if tables is None:
        raise MissingFact(context.reason_unread("schema.engines"))
    return tables


def _in_group(context: RuleContext) -> bool:
    replication = context.server.replication if context.has("server") else None
    return replication is not None and replication.group_state in MEMBER_STATES


def _list_tables(tables: Sequence[UnkeyedTable | EngineTable]) -> str:
    """`3 tables (a, b, c)`, with names of three at most."""
    names = ", ".join(quoted_name(table.schema, table.table) for table in tables[:LISTED])
    more = ", …" if len(tables) > LISTED else ""
    least = "at least " if len(tables) >= MOST_READ else ""
    return f"{least}{len(tables):,} {'table' if len(tables) == 1 else 'tables'} ({names}{more})"


def _prevention(context: RuleContext) -> str:
    """The setting that refuses new tables without a primary key, on servers that have one."""
    if context.target.is_mariadb:
        return "; innodb_force_primary_key = ON refuses new tables without one"
    return "; sql_require_primary_key = ON refuses new tables without one" if _can_require(context) else ""


def _can_require(context: RuleContext) -> bool:
    return context.target.since("mysql", 8, 0, 13)


@rule(
    "SCH002",
    "unkeyed-table-in-group",
    severity=Severity.ERROR,
    summary="Group Replication refuses writes to tables without a primary key.",
    needs=("server", "schema"),
    targets=(Span("mysql"),),
    evidence=("SCH-02", "ASK-SCH-04", "ASK-GRP-09", "SCH-07"),
    docs=Docs(
        why="A member certifies changes by their keys. It refuses inserts, updates and deletes on tables that have "
        "neither a primary key nor a unique key of columns that are NOT NULL, with error 3098. It does not refuse "
        "CREATE TABLE without a key.",
        fix="Add a primary key of existing columns on the primary: the group accepts the ALTER and replicates it. On a "
        "member whose group replication is stopped it would be a transaction that the group lacks. If no columns are "
        "unique, fill a new table that has an AUTO_INCREMENT key with INSERT … SELECT, and rename it. From 8.0.30 "
        "sql_generate_invisible_primary_key = ON gives new tables an invisible key.",
        risk="ALTER TABLE … ADD PRIMARY KEY rebuilds the table. With a new AUTO_INCREMENT column each member numbers "
        "the rows in its own order: rows may differ between members without an error. A new column changes SELECT * "
        "unless it is invisible (8.0.23 and later).",
        exceptions="Tables that are only read.",
        reconsider_when="A primary key in each table.",
    ),
)
def unkeyed_table_in_group(context: RuleContext) -> Iterator[Finding]:
    """Report tables without a key on a member of a replication group."""
    tables = _unkeyed_tables(context)
    if tables and _in_group(context):
        yield unkeyed_table_in_group.finding(
            f"Group Replication refuses writes to {_list_tables(tables)}: there is no primary key.",
            help=f"add a primary key to each, on the primary{_prevention(context)}",
        )


@rule(
    "SCH003",
    "unkeyed-table-in-galera",
    summary="Galera replicates tables without a primary key slowly and without a defined row order.",
    needs=("server", "schema"),
    targets=(Span("mariadb"),),
    evidence=("SCH-03", "ASK-GAL-19"),
    docs=Docs(
        why="Without a key the nodes find each changed row by a scan of the table. MariaDB's documentation says that "
        "DELETE is not supported on such tables (on 10.11 one worked), and that the order of their rows may differ "
        "between nodes.",
        fix="Add a primary key of existing columns. If none are unique, fill a new table that has an AUTO_INCREMENT "
        "key with INSERT … SELECT, and rename it.",
        risk="ALTER TABLE … ADD PRIMARY KEY rebuilds the table, and blocks the whole cluster meanwhile with "
        "wsrep_OSU_method = TOI. With a new AUTO_INCREMENT column each node numbers the rows in its own order: on two "
        "nodes of MariaDB 10.11 that both had inserted, 119 of 299 rows differed afterwards, without an error.",
        exceptions="Small tables that only get inserts.",
        reconsider_when="A primary key in each table.",
    ),
)
def unkeyed_table_in_galera(context: RuleContext) -> Iterator[Finding]:
    """Report tables without a key on a Galera node."""
    tables = _unkeyed_tables(context)
    if tables and uses_galera(context):
        yield unkeyed_table_in_galera.finding(
            f"Galera needs a primary key in each table; {_list_tables(tables)} without one can differ between nodes.",
            help=f"add a primary key to each; the ALTER blocks the cluster{_prevention(context)}",
        )


@rule(
    "SCH004",
    "unkeyed-table-in-row-log",
    confidence=Confidence.LIKELY,
    summary="Without a primary key, replicas scan whole tables to find the rows that a row event changes.",
    needs=("server", "schema"),
    evidence=("SCH-04", "ASK-SCH-02", "SCH-07"),
    docs=Docs(
        why="A row event has no statement: the replica looks for each row by its key. Without a primary key, or a "
        "unique key of columns that are NOT NULL, it uses another index if there is one. Otherwise it scans the table: "
        "MySQL 8.0 and later once for each event, MySQL 5.7 and MariaDB once for each changed row. There a DELETE of a "
        "thousand rows takes a thousand scans, and the replica falls behind.",
        fix="Add a primary key of existing columns. If none are unique, fill a new table that has an AUTO_INCREMENT "
        "key with INSERT … SELECT, and rename it. Tables with fewer than 10,000 rows are reported as a note.",
        risk="ALTER TABLE … ADD PRIMARY KEY rebuilds the table, and blocks writes if it adds an AUTO_INCREMENT column, "
        "which the replica may number in another order: rows then differ without an error. A new column changes SELECT "
        "* unless it is invisible (MySQL 8.0.23, MariaDB 10.3).",
        exceptions="Tables that only get inserts. Binary logs without replicas, which are replayed only for a restore.",
        reconsider_when="A primary key in each table that is updated.",
    ),
)
def unkeyed_table_in_row_log(context: RuleContext) -> Iterator[Finding]:
    """Report tables without a key where rows are replicated, and large ones wherever rows are logged."""
    tables = _unkeyed_tables(context)
    in_cluster = _in_group(context) or (context.target.is_mariadb and uses_galera(context))
    if not tables or in_cluster or context.text("binlog_format") not in ("ROW", None):
        return
    replication = context.server.replication
    is_replica = replication is not None and replication.is_replica
    has_replicas = replication is not None and replication.replicas_connected > 0 and writes_binary_log(context)
    large = [table for table in tables if table.rows is None or table.rows >= MANY_ROWS]
    if not (is_replica or has_replicas) and not (writes_binary_log(context) and large):
        return
    known_large = [table for table in large if table.rows is not None]
    severe = bool(known_large) and (is_replica or has_replicas)
    scan = "Replicas scan" if is_replica or has_replicas else "A replica would scan"
    yield unkeyed_table_in_row_log.finding(
        f"{scan} {_list_tables(known_large or large or tables)} for changed rows: there is no primary key.",
        help=f"add a primary key to each{_prevention(context)}",
        severity=Severity.WARNING if severe else Severity.NOTE,
    )


@rule(
    "SCH005",
    "unreplicated-engine",
    summary="In a cluster, tables of engines other than InnoDB are not replicated, or refuse writes.",
    needs=("server", "schema"),
    evidence=("SCH-02", "SCH-03", "ASK-SCH-04", "ASK-GAL-19"),
    docs=Docs(
        why="Group Replication refuses writes to tables of other engines. Galera replicates their definitions, but not "
        "their rows: each node has its own. MariaDB can replicate MyISAM and Aria if wsrep_mode has REPLICATE_MYISAM "
        "or REPLICATE_ARIA.",
        fix="ALTER TABLE … ENGINE = InnoDB, for one table after the other. A group also needs a primary key in each.",
        risk="The ALTER copies the table and blocks writes to it, except inserts on MariaDB 11.2 and later. On Galera, "
        "rows that differ between nodes still do: an UPDATE of a row that only one node had put the other node out of "
        "the cluster.",
        exceptions="On Galera, tables that are meant to differ between nodes, such as caches in MEMORY. In a group, "
        "tables that are only read.",
        reconsider_when="Only InnoDB tables.",
    ),
)
def unreplicated_engine(context: RuleContext) -> Iterator[Finding]:
    """Report tables of other engines on members of a replication group and on Galera nodes."""
    tables = [table for table in _engines(context) if table.engine.upper() not in REMOTE]
    if tables and _in_group(context):
        yield unreplicated_engine.finding(
            f"Group Replication refuses writes to {_list_tables(tables)}: the engine is not InnoDB.",
            help="ALTER TABLE … ENGINE = InnoDB for each; the ALTER copies the table",
            severity=Severity.ERROR,
        )
    elif context.target.is_mariadb and uses_galera(context):
        modes = context.text("wsrep_mode") or ""
        lacking = [table for table in tables if f"REPLICATE_{table.engine.upper()}" not in modes]
        if lacking:
            yield unreplicated_engine.finding(
                f"Galera does not replicate the rows of {_list_tables(lacking)}: the engine is not InnoDB.",
                help="ALTER TABLE … ENGINE = InnoDB for each; first compare its rows on all nodes",
            )


@rule(
    "SCH006",
    "tables-without-transactions",
    severity=Severity.NOTE,
    summary="Tables of MyISAM, Aria, MEMORY or ARCHIVE have no transactions, and MEMORY loses its rows at a restart.",
    needs=("server", "schema"),
    evidence=("SCH-05", "ASK-SCH-06"),
    docs=Docs(
        why="These engines have no transactions: a rollback keeps their changes, a consistent dump needs a lock, and "
        "MyISAM tables that were written to may need a repair after a crash. MEMORY tables are empty after a restart; "
        "at the first use of such a table a source logs a DELETE or TRUNCATE, so that replicas empty it too.",
        fix="ALTER TABLE … ENGINE = InnoDB, after checking how the table is used.",
        risk="The ALTER copies the table and blocks writes to it, except inserts on MariaDB 11.2 and later. "
        "InnoDB takes more space than MyISAM and ARCHIVE.",
        exceptions="MEMORY caches that the application refills; archives that are only read.",
        reconsider_when="Tables that can be lost.",
    ),
)
def tables_without_transactions(context: RuleContext) -> Iterator[Finding]:
    """Report tables of engines without transactions, outside clusters."""
    tables = [table for table in _engines(context) if table.engine.upper() in LOCAL]
    if not tables or _in_group(context) or (context.target.is_mariadb and uses_galera(context)):
        return
    kinds = sorted({table.engine for table in tables})
    engines = f"the engines are {', '.join(kinds)}" if len(kinds) > 1 else f"the engine is {kinds[0]}"
    yield tables_without_transactions.finding(
        f"There are no transactions in {_list_tables(tables)}: {engines}.",
        help="ALTER TABLE … ENGINE = InnoDB where changes must be rolled back, or survive a crash",
    )


@rule(
    "SCH007",
    "redundant-indexes",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Indexes that repeat the first columns of another index, or begin with a unique one, cost writes and "
    "memory.",
    needs=("server", "schema"),
    evidence=("SCH-06", "ASK-SCH-03", "ASK-SCH-06"),
    docs=Docs(
        why="Each insert, delete and change of an indexed column maintains the index as well, and its pages take space "
        "in the buffer pool. The server's view sys.schema_redundant_indexes names indexes that another index can "
        "replace, and those that begin with all columns of a unique index. Indexes on prefixes or expressions and "
        "descending, invisible and ignored indexes are left out, as the view does not compare them. mycnf never "
        "reports unused indexes: counters since the start do not show those that a monthly report or a replica needs.",
        fix="Make the index invisible first (MySQL 8.0) or ignored (MariaDB 10.6), watch the application for a full "
        "business cycle, and then drop it. MySQL 5.7 can only drop it.",
        risk="A statement that names the index in FORCE INDEX, USE INDEX or IGNORE INDEX fails with error 1176 once it "
        "is hidden or dropped. The shorter index can be faster for scans, as it has fewer pages. A unique index is "
        "only reported if another unique one covers it.",
        exceptions="A narrow index that many statements scan as a whole, and a longer one that has all columns that "
        "statements read.",
        reconsider_when="Statements that are slower without it.",
    ),
)
def redundant_indexes(context: RuleContext) -> Iterator[Finding]:
    """Report the indexes that the server's own view names."""
    rows = context.schema.redundant_indexes
    if rows is None:
        raise MissingFact(context.reason_unread("schema.redundant_indexes"))
    if not rows:
        return
    # The view has a row for each index that covers another one.
    indexes = tuple({(row.schema, row.table, row.index): row for row in reversed(rows)}.values())[::-1]
    first = indexes[0]
    count = len(indexes)
    least = "At least " if len(rows) >= MOST_INDEXES else ""
    also = f" {least}{count - 1:,} more {'is' if count == 2 else 'are'} redundant." if count > 1 else ""  # noqa: PLR2004
    repeats = "begins with all columns of the unique index" if _is_longer(first) else "repeats the first columns of"
    yield redundant_indexes.finding(
        f"Index `{_tick(first.index)}` of {quoted_name(first.schema, first.table)} {repeats} "
        f"`{_tick(first.covered_by)}`.{also}",
        help="each write maintains such an index; hide it first where the server can, and drop it later",
        actions=tuple(_hide(context, index) for index in indexes[:LISTED]),
    )


def _is_longer(index: RedundantIndex) -> bool:
    """Whether the index has more columns than the unique one that makes it redundant."""
    return index.columns.startswith(f"{index.covering_columns},")


def _tick(name: str) -> str:
    return name.replace("`", "``")


def _hide(context: RuleContext, index: RedundantIndex) -> Action:
    """Hide or drop the index; servers refuse to hide a unique one that serves as primary key."""
    error = 4174 if context.target.is_mariadb else 3522
    other = f"hide {quoted_name(index.covered_by)}" if index.columns == index.covering_columns else "add a primary key"
    as_key = f"; {other} instead if error {error} says that this one is the primary key"
    risk = f"{LOCKED}; {HINTS}{'' if index.covered_by == 'PRIMARY' else as_key}"
    risk += "; statements that read only its columns read the table instead" if _is_longer(index) else ""
    alter = f"ALTER TABLE {quoted_name(index.schema, index.table)}"
    name = quoted_name(index.index)
    if context.target.is_mariadb:
        return Action(
            statement=f"{alter} ALTER INDEX {name} IGNORED;",
            undo=f"{alter} ALTER INDEX {name} NOT IGNORED;",
            risk=risk,
        )
    if context.target.since("mysql", 8, 0):
        return Action(
            statement=f"{alter} ALTER INDEX {name} INVISIBLE;",
            undo=f"{alter} ALTER INDEX {name} VISIBLE;",
            risk=risk,
        )
    return Action(statement=f"{alter} DROP INDEX {name};", risk=f"{LOCKED}; {HINTS}")
