"""The closed list: every statement that mycnf can send to a server, including the driver's own.

`{number}` stands for digits and `{name}` for a schema's name in hexadecimal; nothing else in a text varies. `send`
refuses any other statement. `schema_statements` has those for `--schema`.
"""

from __future__ import annotations

import re

from advisor.collect.connection.schema_statements import SCHEMA_STATEMENTS
from advisor.collect.connection.statement import (
    ACCOUNTS_DYNAMIC_SQL,
    ACCOUNTS_GLOBAL_PRIV_SQL,
    ACCOUNTS_USER_SQL,
    ALL,
    APPLIER_ERRORS_SQL,
    APPLIER_TIMES_SQL,
    MARIADB,
    METADATA_SQL,
    MYSQL,
    NAME,
    NUMBER,
    PROCESSLIST_SQL,
    ROW_WAITS_SQL,
    THREADS_SQL,
    TOP_DIGESTS_SQL,
    TOP_STATEMENTS_SQL,
    TOP_WAITS_SQL,
    Statement,
)
from advisor.collect.error_log_messages import BACKTRACE, MESSAGES, NOT_RETRIED

SET_NAMES = Statement("set-names", "SET NAMES utf8mb4", ALL, "sets the encoding of text", driver=True)
AUTOCOMMIT = Statement(
    "autocommit",
    "SET AUTOCOMMIT = 1",
    ALL,
    "no transaction stays open after a statement; MySQL can report it as on when it is off, so it is always sent",
    driver=True,
)
READ_ONLY = Statement(
    "read-only",
    "SET SESSION TRANSACTION READ ONLY",
    ALL,
    "an additional safeguard: the session cannot write to tables",
)
IDENTITY = Statement(
    "identity",
    "SELECT VERSION(), @@version_comment, CONNECTION_ID(), CURRENT_USER()",
    ALL,
    "which server this is, whether a proxy is in between, and which account was used",
    columns=4,
)
VARIABLES = Statement("variables", "SHOW GLOBAL VARIABLES", ALL, "the running value of every setting", columns=2)
LIMITS_MYSQL = Statement(
    "limits-mysql",
    "SET SESSION max_execution_time = {number}, lock_wait_timeout = 2, wait_timeout = 3600, "
    "sql_select_limit = 18446744073709551615, sql_big_selects = 1",
    MYSQL,
    "limits our own SELECTs (milliseconds) and lock waits (seconds); the session outlives the sampling window",
)
LIMITS_MARIADB = Statement(
    "limits-mariadb",
    "SET SESSION max_statement_time = {number}, lock_wait_timeout = 2, wait_timeout = 3600, "
    "sql_select_limit = 18446744073709551615, sql_big_selects = 1",
    MARIADB,
    "limits our own statements and their lock waits (seconds); the session outlives the sampling window",
)
STATUS = Statement("status", "SHOW GLOBAL STATUS", ALL, "counters, once at each end of the sampling window", columns=2)
ORIGINS_MYSQL = Statement(
    "origins-mysql",
    "SELECT VARIABLE_NAME, VARIABLE_SOURCE, VARIABLE_PATH, FLOOR(UNIX_TIMESTAMP(SET_TIME)), SET_USER, SET_HOST "
    "FROM performance_schema.variables_info",
    "MySQL 8.0 and later",
    "what set each variable: a file, the command line, a persisted value, or the default; and which account ran SET, "
    "and when",
    columns=6,
)
ORIGINS_MARIADB = Statement(
    "origins-mariadb",
    "SELECT VARIABLE_NAME, GLOBAL_VALUE_ORIGIN, GLOBAL_VALUE_PATH FROM information_schema.SYSTEM_VARIABLES",
    MARIADB,
    "who set each variable: a file, the command line, a statement, or the default",
    columns=3,
)
PLUGINS = Statement(
    "plugins", "SHOW PLUGINS", ALL, "which options exist depends on the plugins that are loaded", columns=5
)
ENGINES = Statement("engines", "SHOW ENGINES", ALL, "which storage engines can be used", columns=6)
INNODB_STATUS = Statement(
    "innodb-status",
    "SHOW ENGINE INNODB STATUS",
    ALL,
    "the redo position and checkpoint; sent once, or at both ends of the window where no counter has the position. "
    "Sections that quote SQL (transactions, deadlocks, foreign keys) are discarded on receipt",
    "PROCESS",
    columns=3,
)
METRICS_MYSQL = Statement(
    "innodb-metrics-mysql",
    "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE STATUS = 'enabled'",
    MYSQL,
    "InnoDB's own counters, those that are enabled already",
    "PROCESS",
    columns=2,
)
METRICS_MARIADB = Statement(
    "innodb-metrics-mariadb",
    "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE ENABLED = 1",
    MARIADB,
    "InnoDB's own counters, those that are enabled already",
    "PROCESS",
    columns=2,
)
DATA_SIZES = Statement(
    "data-sizes",
    "SELECT COUNT(*), SUM(clustered_index_size + sum_of_other_index_sizes) * @@GLOBAL.innodb_page_size, "
    "SUM(clustered_index_size) * @@GLOBAL.innodb_page_size, SUM(n_rows), "
    "MAX(clustered_index_size + sum_of_other_index_sizes) * @@GLOBAL.innodb_page_size FROM mysql.innodb_table_stats",
    ALL,
    "how much InnoDB data there is, from one small statistics table; no table of users is opened",
    "SELECT on mysql.innodb_table_stats",
    columns=5,
)
MEMORY = Statement(
    "memory",
    "SELECT SUM(CURRENT_NUMBER_OF_BYTES_USED), "
    "SUM(IF(EVENT_NAME LIKE 'memory/innodb/%', CURRENT_NUMBER_OF_BYTES_USED, 0)) "
    "FROM performance_schema.memory_summary_global_by_event_name",
    "servers where performance_schema is on",
    "the memory that the server accounts for",
    "SELECT on performance_schema.memory_summary_global_by_event_name",
    columns=2,
)
_WHICH_KINDS = (
    "how many accounts of which kind there are: anonymous, without a password, with SUPER or what replaces it, with "
    "FILE, with GRANT OPTION, without REQUIRE SSL, from anywhere; no password and no hash is read out"
)
ACCOUNTS_DYNAMIC = Statement(
    "accounts-dynamic",
    ACCOUNTS_DYNAMIC_SQL,
    "MySQL 8.0 and later",
    _WHICH_KINDS,
    "SELECT on mysql.user and SELECT on mysql.global_grants",
    columns=11,
)
ACCOUNTS_MYSQL = Statement(
    "accounts-mysql",
    ACCOUNTS_USER_SQL,
    "MySQL 5.7, and later without SELECT on mysql.global_grants",
    _WHICH_KINDS,
    "SELECT on mysql.user",
    columns=11,
)
ACCOUNTS_MARIADB = Statement(
    "accounts-mariadb",
    ACCOUNTS_GLOBAL_PRIV_SQL,
    MARIADB,
    _WHICH_KINDS,
    "SELECT on mysql.global_priv",
    columns=11,
)
GROUP_MEMBERS = Statement(
    "group-members",
    "SELECT MEMBER_STATE, COUNT(*), SUM(MEMBER_ID IN ('', @@server_uuid)) "
    "FROM performance_schema.replication_group_members GROUP BY MEMBER_STATE",
    "MySQL with group replication, before 8.0.2 or where group-queues is refused",
    "how many members of the group are in which state, and in which this one is",
    "SELECT on performance_schema.replication_group_members",
    columns=3,
)
# A group has nine members at most.
GROUP_QUEUES = Statement(
    "group-queues",
    "SELECT MEMBER_STATE, MEMBER_ROLE, MEMBER_VERSION, MEMBER_ID IN ('', @@server_uuid), COUNT_TRANSACTIONS_IN_QUEUE, "
    "COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE FROM performance_schema.replication_group_members "
    "LEFT JOIN performance_schema.replication_group_member_stats USING (CHANNEL_NAME, MEMBER_ID) LIMIT 64",
    "MySQL 8.0.2 and later with group replication",
    "the state, role and version of each member of the group, and how many transactions wait in its queues",
    "SELECT on performance_schema.replication_group_member_stats",
    columns=6,
)
APPLIER_TIMES = Statement(
    "applier-times",
    APPLIER_TIMES_SQL,
    "MySQL 8.0.1 and later, only on replicas and group members",
    "the age of the transactions that a replica is applying and has applied, how many workers are busy or wait for a "
    "lock, and the table that a worker's error names; the rest of the error is discarded, and statements in it are "
    "never read",
    "SELECT on performance_schema.replication_applier_status_by_worker",
    columns=10,
)
APPLIER_ERRORS = Statement(
    "applier-errors",
    APPLIER_ERRORS_SQL,
    "MySQL 5.7 with performance_schema, replicas whose applier stopped with an error",
    "the table that a worker's error names, which SHOW SLAVE STATUS does not show; the rest of the error is discarded, "
    "and statements in it are never read",
    "SELECT on performance_schema.replication_applier_status_by_worker",
    columns=2,
)
_WHO_WAITS = (
    "which sessions have been in a transaction for longest, how many rows it locks and changed, and which wait for a "
    "lock; no statement is read"
)
SESSIONS_THREADS = Statement(
    "sessions-threads",
    THREADS_SQL,
    "MySQL with performance_schema, where at most 100 sessions wait for rows (MySQL 5.7)",
    _WHO_WAITS,
    "PROCESS and SELECT on performance_schema.threads",
    columns=12,
)
SESSIONS_PROCESSLIST = Statement(
    "sessions-processlist",
    PROCESSLIST_SQL,
    "MariaDB, and MySQL without performance_schema, where at most 100 sessions wait for rows",
    _WHO_WAITS,
    "PROCESS",
    columns=12,
)
ROW_WAITS_MYSQL = Statement(
    "row-waits-mysql",
    ROW_WAITS_SQL,
    "MySQL 8.0.1 and later, where a session waits for a row",
    "which sessions block the 20 longest waits for rows",
    "SELECT on performance_schema.data_lock_waits",
    columns=2,
)
ROW_WAITS_INNODB = Statement(
    "row-waits-innodb",
    "SELECT requesting_trx_id, blocking_trx_id FROM information_schema.INNODB_LOCK_WAITS LIMIT 5050",
    "MariaDB and MySQL 5.7, where a session waits for a row, and at most 100 do",
    "which transactions wait for which",
    "PROCESS",
    columns=2,
)
METADATA_LOCKS_MYSQL = Statement(
    "metadata-locks-mysql",
    METADATA_SQL,
    "MySQL with performance_schema, where a session waits for a metadata, global, backup or named lock",
    "which sessions hold the metadata locks that others wait for",
    "SELECT on performance_schema.metadata_locks",
    columns=11,
)
METADATA_LOCKS_MARIADB = Statement(
    "metadata-locks-mariadb",
    "SELECT THREAD_ID, LOCK_MODE, LOCK_TYPE, TABLE_SCHEMA, TABLE_NAME, USER, HOST, COMMAND, TIME, STATE "
    "FROM information_schema.METADATA_LOCK_INFO JOIN information_schema.PROCESSLIST ON ID = THREAD_ID "
    "WHERE THREAD_ID <> CONNECTION_ID() ORDER BY TIME DESC LIMIT 1000",
    "MariaDB with the plugin METADATA_LOCK_INFO, where a session waits for a metadata, backup or named lock",
    "which sessions hold metadata locks; the plugin shows no waits",
    "PROCESS",
    columns=10,
)
# What InnoDB logs if sessions, or the log writer thread on their behalf, wait for space: 8.0.30 and later.
_REDO_FULL = (
    "DATA LIKE 'Threads are unable to reserve space in redo log%' "
    "OR DATA LIKE 'Redo log is running out of free space, pausing user threads%' "
    "OR DATA LIKE 'Redo log writer is waiting for a new redo log file%'"
)
_HOURLY = "'denied', 'aborted', 'connections', 'redo', 'files', 'table_full'"  # kinds of which there may be thousands
_ERRNO = (("28", "disk_full"), ("30", "read_only"), ("24", "files"), ("5 ", "io_error"))  # 5 also begins others
_SINGLE = "'start', 'ready', 'stopping', 'stop', 'abort', 'exit', 'crash'"  # kinds whose order matters
# The table has up to 5 MB, about 35,000 messages. Comparing codes as numbers takes half the time of comparing texts;
# LIMIT keeps the optimizer from evaluating the kind once for each of its uses.
_COUNTED = (
    "SELECT kind, detail, COUNT(*), FLOOR(UNIX_TIMESTAMP(MIN(LOGGED))), FLOOR(UNIX_TIMESTAMP(MAX(LOGGED))), "
    "SUM(current), TIMESTAMPDIFF(SECOND, MAX(IF(current, LOGGED, NULL)), NOW(6)), FLOOR(UNIX_TIMESTAMP(MIN(begins))) "
    "FROM (SELECT {kind} AS kind, "
    "IF(ERROR_CODE = 'MY-013951', REGEXP_SUBSTR(DATA, 'signal [0-9]{1,3}'), '') AS detail, LOGGED, "
    "LOGGED >= NOW(6) - INTERVAL (SELECT VARIABLE_VALUE FROM performance_schema.global_status "
    "WHERE VARIABLE_NAME = 'Uptime') SECOND "
    "AND LOGGED >= COALESCE((SELECT SET_TIME FROM performance_schema.variables_info "
    "WHERE VARIABLE_NAME = 'innodb_redo_log_capacity'), LOGGED) AS current, "
    "(SELECT MIN(LOGGED) FROM performance_schema.error_log) AS begins "
    "FROM performance_schema.error_log LIMIT 1000000) AS messages WHERE kind IS NOT NULL "
    "GROUP BY kind, detail, FLOOR(UNIX_TIMESTAMP(LOGGED) / {bucket}) ORDER BY MIN(LOGGED) DESC LIMIT 1000"
)


def _error_log() -> str:
    """Each kind of message by the minute, or by the hour: how many, and the times of the first and the last."""
    coded = " ".join(f"WHEN {code} THEN '{one.kind}'" for one in MESSAGES for code in one.codes)
    worded = " ".join(f"WHEN DATA LIKE '{one.like}' THEN '{one.kind}'" for one in MESSAGES if one.like)
    errnos = " ".join(f"WHEN DATA LIKE '%rror number {n}%' OR DATA LIKE '%errno {n}%' THEN '{k}'" for n, k in _ERRNO)
    kind = (
        f"CASE CAST(SUBSTRING(ERROR_CODE, 4) AS UNSIGNED) {coded} ELSE CASE "
        f"WHEN SUBSYSTEM = 'InnoDB' AND ({_REDO_FULL}) THEN 'redo' "
        f"WHEN ERROR_CODE = 'MY-{BACKTRACE:06d}' AND DATA LIKE '%got signal%' THEN 'crash' "
        "WHEN ERROR_CODE = 'MY-010584' AND DATA LIKE '%Error_code: MY-0%' AND (DATA NOT LIKE '%Error_code: MY-002%' "
        f"OR DATA REGEXP 'Error_code: MY-0020(26|54|58|59|61)') AND {NOT_RETRIED} THEN 'replication' "
        f"WHEN PRIO NOT IN ('Error', 'Warning') THEN NULL {worded} {errnos} END END"
    )
    bucket = f"CASE WHEN kind IN ({_HOURLY}) THEN 3600 WHEN kind IN ({_SINGLE}) THEN 0.001 ELSE 60 END"
    return _COUNTED.replace("{kind}", kind).replace("{bucket}", bucket)


ERROR_LOG = Statement(
    "error-log",
    _error_log(),
    "MySQL 8.0.22 and later with performance_schema",
    "how many messages of which kind the error log has, and when: crashes, corruption, full disks and others, and "
    "warnings that the redo log was full since the start and since its size was set; no text of the log is read out",
    "SELECT on performance_schema.error_log",
    columns=8,
)
BINARY_LOG_BYTES = Statement(
    "binary-log-bytes",
    "SELECT SUM_NUMBER_OF_BYTES_WRITE FROM performance_schema.file_summary_by_event_name "
    "WHERE EVENT_NAME = 'wait/io/file/sql/binlog'",
    "MySQL with performance_schema and a binary log",
    "how many bytes of binary log were written since the start (MariaDB has a status counter for it)",
    "SELECT on performance_schema.file_summary_by_event_name",
    columns=1,
)
REPLICAS = Statement(
    "replicas",
    "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_COMMAND LIKE 'Binlog Dump%'",
    "MySQL with performance_schema and a binary log",
    "how many replicas read this server's binary log (MariaDB has a status counter for it)",
    "SELECT on performance_schema.threads",
    columns=1,
)
REPLICA_STATUS = Statement(
    "replica-status",
    "SHOW REPLICA STATUS",
    "MySQL 8.0.22 and later",
    "whether this server is a replica, and how far behind; sent once, on a replica before and after the window",
    "REPLICATION CLIENT",
)
SLAVE_STATUS = Statement(
    "slave-status",
    "SHOW SLAVE STATUS",
    "MySQL before 8.0.22",
    "whether this server is a replica, and how far behind; sent once, on a replica before and after the window",
    "REPLICATION CLIENT",
)
ALL_SLAVES_STATUS = Statement(
    "all-slaves-status",
    "SHOW ALL SLAVES STATUS",
    MARIADB,
    "whether this server is a replica, of one source or many, and how far behind; sent once, on a replica before and "
    "after the window",
    "SLAVE MONITOR",
)
_WATCHED = "the app's workload screen, every ten seconds while it shows them; with performance_schema"
TOP_WAITS = Statement(
    "top-waits",
    TOP_WAITS_SQL,
    _WATCHED,
    "which events the server has waited for longest since its start, by the names of events",
    "SELECT on performance_schema.events_waits_summary_global_by_event_name",
    columns=3,
)
TOP_STATEMENTS = Statement(
    "top-statements",
    TOP_STATEMENTS_SQL,
    _WATCHED,
    "which kinds of statements (select, update) took longest since the start; no text of a statement",
    "SELECT on performance_schema.events_statements_summary_global_by_event_name",
    columns=3,
)
TOP_DIGESTS = Statement(
    "top-digests",
    TOP_DIGESTS_SQL,
    _WATCHED,
    "which statements took longest since the start, as the server writes them without values; only if a key asks",
    "SELECT on performance_schema.events_statements_summary_by_digest",
    columns=3,
)
OWN_RUNNING = Statement(
    "own-running",
    "SELECT CONNECTION_ID(), COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {number} "
    "AND INFO LIKE '/* mycnf */%' AND USER = SUBSTRING_INDEX(USER(), '@', 1)",
    ALL,
    "whether a statement of ours that overran the client's time limit still runs under its connection's number; behind "
    "a balancer, or after a restart, that number may belong to another session, and then nothing is killed",
    columns=2,
)
KILL_OWN = Statement(
    "kill-own",
    "KILL QUERY {number}",
    ALL,
    "ends our own statement, from a second connection of the same account, when it overran the client's time limit; "
    "sent only once own-running has seen it there",
)

STATEMENTS: tuple[Statement, ...] = (
    SET_NAMES,
    AUTOCOMMIT,
    READ_ONLY,
    IDENTITY,
    VARIABLES,
    LIMITS_MYSQL,
    LIMITS_MARIADB,
    STATUS,
    ORIGINS_MYSQL,
    ORIGINS_MARIADB,
    PLUGINS,
    ENGINES,
    INNODB_STATUS,
    METRICS_MYSQL,
    METRICS_MARIADB,
    DATA_SIZES,
    MEMORY,
    ACCOUNTS_DYNAMIC,
    ACCOUNTS_MYSQL,
    ACCOUNTS_MARIADB,
    GROUP_MEMBERS,
    GROUP_QUEUES,
    SESSIONS_THREADS,
    SESSIONS_PROCESSLIST,
    ROW_WAITS_MYSQL,
    ROW_WAITS_INNODB,
    METADATA_LOCKS_MYSQL,
    METADATA_LOCKS_MARIADB,
    ERROR_LOG,
    BINARY_LOG_BYTES,
    REPLICAS,
    REPLICA_STATUS,
    SLAVE_STATUS,
    ALL_SLAVES_STATUS,
    APPLIER_TIMES,
    APPLIER_ERRORS,
    TOP_WAITS,
    TOP_STATEMENTS,
    TOP_DIGESTS,
    OWN_RUNNING,
    KILL_OWN,
    *SCHEMA_STATEMENTS,
)

_VARYING = ((NUMBER, r"[0-9]{1,20}"), (NAME, r"0x(?:[0-9a-f]{2}){1,256}"))


def _pattern(statement: Statement) -> str:
    pattern = re.escape(statement.text())
    for placeholder, varying in _VARYING:
        pattern = pattern.replace(re.escape(placeholder), varying)
    return pattern


_ALLOWED = re.compile("|".join(map(_pattern, STATEMENTS)), re.ASCII)


def is_listed(sql: str) -> bool:
    """Whether this exact text, including the tag, is on the list."""
    return _ALLOWED.fullmatch(sql) is not None
