"""The statements of the closed list that are sent only with --schema; each is bounded by the time that is left.

MySQL 8.0 and later reads its data dictionary. MySQL 5.7 and MariaDB open each table that they describe, so they are
asked about one schema at a time.
"""

from __future__ import annotations

from advisor.collect.connection.statement import MARIADB, MYSQL, NAME, NUMBER, Statement

MYSQL_8 = "MySQL 8.0 and later, with --schema"
MYSQL_5 = "MySQL 5.7, with --schema"
MARIADB_ONLY = f"{MARIADB}, with --schema"
VISIBLE = "REFERENCES"  # global: shows the definitions of all tables, and gives access to no row
STATISTICS = "SELECT on mysql.innodb_table_stats"
SYS = "SELECT on sys.*"
# Milliseconds left.
_IN_MYSQL = f"SELECT /*+ MAX_EXECUTION_TIME({NUMBER}) */ "
_IN_MARIADB = f"SET STATEMENT max_statement_time = {NUMBER}e-3 FOR SELECT "
_OWN = "('mysql', 'sys', 'performance_schema', 'information_schema', 'ndbinfo')"

STORED_STATISTICS = Statement(
    "schema-statistics",
    "SET SESSION information_schema_stats_expiry = 0",
    MYSQL_8,
    "the next values of AUTO_INCREMENT are current, and the server stores no statistics for us",
)
HIDDEN_KEYS = Statement(
    "schema-hidden-keys",
    "SET SESSION show_gipk_in_create_table_and_information_schema = ON",
    "MySQL 8.0.30 and later, with --schema",
    "generated primary keys are visible to this session, so a table that has one is not reported",
)
SCHEMAS = Statement(
    "schema-sizes",
    f"SELECT TABLE_SCHEMA, COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN {_OWN} "
    "GROUP BY TABLE_SCHEMA ORDER BY COUNT(*), TABLE_SCHEMA LIMIT 10000",
    f"{MYSQL} and {MARIADB}, with --schema",
    "how many tables and views each schema has; names alone are read, so no table is opened",
    columns=2,
)
VISIBILITY = Statement(
    "schema-visibility",
    "SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE IN ('SELECT', 'REFERENCES') "
    "AND GRANTEE = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')",
    f"{MYSQL} and {MARIADB}, with --schema",
    "whether the account can list every table, or only those that it has a privilege on",
    columns=1,
)
LARGE_TABLES = Statement(
    "schema-rows",
    "SELECT database_name, table_name, n_rows FROM mysql.innodb_table_stats WHERE n_rows >= 1000 "
    "ORDER BY n_rows DESC LIMIT 5000",
    f"{MYSQL} and {MARIADB}, with --schema, if tables without a primary key were found",
    "how many rows those tables have, from one small statistics table; no table of users is opened",
    STATISTICS,
    columns=3,
)


def _type_limit() -> str:
    sizes = (("tinyint", 8), ("smallint", 16), ("mediumint", 24), ("int", 32), ("bigint", 64))
    cases = " ".join(f"WHEN '{name}' THEN {(1 << bits - 1) - 1}" for name, bits in sizes)
    return f"CASE c.DATA_TYPE {cases} END * IF(c.COLUMN_TYPE LIKE '%unsigned%', 2.0, 1.0)"


NEXT_VALUES = Statement(
    "schema-auto-increment",
    f"{_IN_MYSQL}t.TABLE_SCHEMA, t.TABLE_NAME, c.COLUMN_NAME, c.COLUMN_TYPE, t.AUTO_INCREMENT "
    "FROM information_schema.TABLES t JOIN information_schema.COLUMNS c "
    "ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME "
    f"WHERE t.TABLE_SCHEMA NOT IN {_OWN} AND c.EXTRA LIKE '%auto_increment%' "
    f"AND t.AUTO_INCREMENT > 0.5 * {_type_limit()} ORDER BY t.AUTO_INCREMENT / ({_type_limit()}) DESC LIMIT 100",
    MYSQL_8,
    "AUTO_INCREMENT columns that have used more than half of their type",
    columns=5,
)
TABLE_KINDS = Statement(
    "schema-tables",
    f"{_IN_MYSQL}t.TABLE_SCHEMA, t.TABLE_NAME, t.ENGINE, EXISTS (SELECT 1 FROM information_schema.COLUMNS c "
    "WHERE c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME AND c.COLUMN_KEY = 'PRI') AS has_key "
    f"FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA NOT IN {_OWN} AND t.TABLE_TYPE = 'BASE TABLE' "
    "AND t.ENGINE IS NOT NULL HAVING has_key = 0 OR t.ENGINE <> 'InnoDB' LIMIT 2000",
    MYSQL_8,
    "tables of other engines than InnoDB, and tables without a primary key or a unique key that replaces one",
    columns=4,
)
_REDUNDANT = (
    "r.table_schema, r.table_name, r.redundant_index_name, r.redundant_index_columns, r.dominant_index_name, "
    "r.dominant_index_columns"
)
REDUNDANT_MYSQL = Statement(
    "schema-redundant-indexes",
    f"{_IN_MYSQL}{_REDUNDANT} FROM (SELECT * FROM sys.schema_redundant_indexes WHERE subpart_exists = 0 LIMIT 200) "
    "AS r WHERE NOT EXISTS "
    "(SELECT 1 FROM information_schema.STATISTICS s WHERE s.TABLE_SCHEMA = r.table_schema "
    "AND s.TABLE_NAME = r.table_name AND s.INDEX_NAME IN (r.redundant_index_name, r.dominant_index_name) "
    "AND (s.COLUMN_NAME IS NULL OR s.COLLATION = 'D' OR s.IS_VISIBLE = 'NO'))",
    MYSQL_8,
    "redundant indexes by the server's own view, without those that it does not compare: of prefixes or expressions, "
    "in descending order, and invisible ones",
    SYS,
    columns=6,
)
REDUNDANT_MYSQL_5 = Statement(
    "schema-redundant-indexes-5.7",
    f"{_IN_MYSQL}{_REDUNDANT} FROM sys.schema_redundant_indexes AS r WHERE r.subpart_exists = 0 LIMIT 200",
    f"{MYSQL_5}, within the limit of tables",
    "redundant indexes by the server's own view, without those of prefixes, whose lengths it does not compare",
    SYS,
    columns=6,
)
REDUNDANT_MARIADB = Statement(
    "schema-redundant-indexes-mariadb",
    f"{_IN_MARIADB}{_REDUNDANT} FROM sys.schema_redundant_indexes AS r WHERE r.table_schema = {NAME} "
    "AND r.subpart_exists = 0 LIMIT 200",
    "MariaDB 10.6 and later, with --schema, one schema at a time",
    "redundant indexes by the server's own view, without those of prefixes, whose lengths it does not compare",
    SYS,
    columns=6,
)
UNCOMPARED_MARIADB = Statement(
    "schema-uncompared-indexes-mariadb",
    f"{_IN_MARIADB}TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS "
    f"WHERE TABLE_SCHEMA = {NAME} AND (COLLATION = 'D' OR IGNORED = 'YES') LIMIT 10000",
    "MariaDB 10.6 and later, with --schema, where the view has redundant indexes",
    "indexes in descending order and ignored ones, which the view does not compare",
    columns=2,
)
_KEYLESS = (
    "FROM information_schema.INNODB_SYS_INDEXES i JOIN information_schema.INNODB_SYS_TABLES t USING (TABLE_ID) "
    "WHERE i.NAME = 'GEN_CLUST_INDEX' AND t.NAME NOT LIKE 'mysql/%' AND t.NAME NOT LIKE '%/#sql%' LIMIT 2000"
)
KEYLESS_MYSQL_5 = Statement(
    "schema-without-key-5.7",
    f"{_IN_MYSQL}t.NAME {_KEYLESS}",
    MYSQL_5,
    "InnoDB tables without a primary key or a unique key that replaces one, from InnoDB's dictionary; "
    "no table is opened",
    "PROCESS",
    columns=1,
)
KEYLESS_MARIADB = Statement(
    "schema-without-key-mariadb",
    f"{_IN_MARIADB}CONVERT(CONVERT(SUBSTRING_INDEX(t.NAME, '/', 1) USING binary) USING filename), "
    "CONVERT(CONVERT(SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(t.NAME, '/', -1), '#P#', 1), '#p#', 1) "
    f"USING binary) USING filename) {_KEYLESS}",
    MARIADB_ONLY,
    "InnoDB tables without a primary key or a unique key that replaces one, from InnoDB's dictionary; "
    "no table is opened",
    "PROCESS",
    columns=2,
)
_COLUMNS = (
    "TABLE_NAME, COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS "
    f"WHERE TABLE_SCHEMA = {NAME} AND EXTRA LIKE '%auto_increment%' LIMIT 20000"
)
_TABLES = (
    "TABLE_NAME, ENGINE, AUTO_INCREMENT FROM information_schema.TABLES "
    f"WHERE TABLE_SCHEMA = {NAME} AND ENGINE IS NOT NULL AND (ENGINE <> 'InnoDB' OR AUTO_INCREMENT > 63) LIMIT 20000"
)
COLUMNS_MYSQL_5 = Statement(
    "schema-columns-5.7",
    f"{_IN_MYSQL}{_COLUMNS}",
    f"{MYSQL_5}, one schema at a time",
    "the types of the AUTO_INCREMENT columns of one schema",
    columns=3,
)
COLUMNS_MARIADB = Statement(
    "schema-columns-mariadb",
    f"{_IN_MARIADB}{_COLUMNS}",
    f"{MARIADB_ONLY}, one schema at a time",
    "the types of the AUTO_INCREMENT columns of one schema",
    columns=3,
)
TABLES_MYSQL_5 = Statement(
    "schema-tables-5.7",
    f"{_IN_MYSQL}{_TABLES}",
    f"{MYSQL_5}, one schema at a time, within the limit of tables",
    "the engines and the next AUTO_INCREMENT values of one schema; the server opens each of its tables",
    columns=3,
)
TABLES_MARIADB = Statement(
    "schema-tables-mariadb",
    f"{_IN_MARIADB}{_TABLES}",
    f"{MARIADB_ONLY}, one schema at a time, within the limit of tables",
    "the engines and the next AUTO_INCREMENT values of one schema; the server opens each of its tables",
    columns=3,
)

SCHEMA_STATEMENTS: tuple[Statement, ...] = (
    STORED_STATISTICS,
    HIDDEN_KEYS,
    SCHEMAS,
    VISIBILITY,
    NEXT_VALUES,
    TABLE_KINDS,
    LARGE_TABLES,
    REDUNDANT_MYSQL,
    REDUNDANT_MYSQL_5,
    REDUNDANT_MARIADB,
    UNCOMPARED_MARIADB,
    KEYLESS_MYSQL_5,
    KEYLESS_MARIADB,
    COLUMNS_MYSQL_5,
    COLUMNS_MARIADB,
    TABLES_MYSQL_5,
    TABLES_MARIADB,
)
