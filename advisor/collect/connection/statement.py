"""What a statement of the closed list is, and the texts of the long ones."""

from __future__ import annotations

from typing import NamedTuple

TAG = "/* mycnf */ "
NUMBER = "{number}"
NAME = "{name}"
ALL = "all"
MYSQL = "MySQL"
MARIADB = "MariaDB"

_REACH = (
    "CASE WHEN {socket} OR Host IN ('localhost', '127.0.0.1', '::1', @@hostname) THEN 'here' "
    "WHEN INSTR(Host, '%') > 0 OR Host = '' THEN 'anywhere' ELSE 'there' END AS reach"
)

# For each kind a count and at most three names. The inner DISTINCT is redundant, but without it 5.7 groups
# incorrectly.
_KINDS = (
    "SELECT plugin, anonymous, bare, super, files, reach, COUNT(*), "
    "SUBSTRING_INDEX(GROUP_CONCAT(User, '@', Host ORDER BY User, Host SEPARATOR ', '), ', ', 3), grants, plain, admin "
    "FROM ({accounts}) AS accounts GROUP BY plugin, anonymous, bare, super, files, reach, grants, plain, admin "
    "ORDER BY bare DESC, anonymous DESC, super DESC, admin DESC, grants DESC, files DESC, reach LIMIT 50"
)


class Statement(NamedTuple):
    """A statement: its exact text, the servers it is for, its purpose, and the privilege it needs.

    `needs` is empty if every account may send it. `driver` marks statements that PyMySQL itself sends, without a
    tag. `columns` is the number of columns in the result, 0 if no code depends on it.
    """

    name: str
    sql: str
    servers: str
    why: str
    needs: str = ""
    driver: bool = False
    columns: int = 0

    def text(self, number: int | None = None, name: str | None = None) -> str:
        """The text as sent: tagged, with the number and the name inserted; the name is sent in hexadecimal."""
        sql = self.sql if number is None else self.sql.replace(NUMBER, str(int(number)))
        if name is not None:
            sql = sql.replace(NAME, f"0x{name.encode('utf-8', 'surrogateescape').hex()}")
        return sql if self.driver else TAG + sql


def _kinds(accounts: str, socket: str) -> str:
    """The statement for these accounts; `socket` is the condition for those that the socket alone lets in."""
    return _KINDS.replace("{accounts}", accounts.replace("{reach}", _REACH.replace("{socket}", socket)))


_ACCOUNTS_MYSQL = (
    "SELECT DISTINCT User, Host, plugin, User = '' AS anonymous, authentication_string = '' AND plugin IN "
    "('mysql_native_password', 'sha256_password', 'caching_sha2_password') AS bare, Super_priv = 'Y' AS super, "
    "File_priv = 'Y' AS files, Grant_priv = 'Y' AS grants, ssl_type = '' AS plain, {admin} AS admin, "
    "{reach} FROM mysql.user AS account WHERE account_locked = 'N'"
)

_DYNAMIC = (
    "EXISTS (SELECT 1 FROM mysql.global_grants AS given WHERE given.USER = account.User AND given.HOST = account.Host "
    "AND PRIV IN ('SYSTEM_VARIABLES_ADMIN', 'SET_USER_ID', 'SET_ANY_DEFINER', 'ROLE_ADMIN'))"
)
_SOCKET = "plugin = 'auth_socket'"
ACCOUNTS_DYNAMIC_SQL = _kinds(_ACCOUNTS_MYSQL.replace("{admin}", _DYNAMIC), _SOCKET)
ACCOUNTS_USER_SQL = _kinds(_ACCOUNTS_MYSQL.replace("{admin}", "NULL"), _SOCKET)

ACCOUNTS_GLOBAL_PRIV_SQL = _kinds(
    "SELECT DISTINCT User, Host, CONCAT_WS(' or ', COALESCE(JSON_VALUE(Priv, '$.plugin'), 'mysql_native_password'), "
    "REPLACE(TRIM(BOTH '\"' FROM REPLACE(REPLACE(JSON_EXTRACT(Priv, '$.auth_or[*].plugin'), '[', ''), ']', '')), "
    "'\", \"', ' or ')) AS plugin, "
    "User = '' AS anonymous, COALESCE(JSON_VALUE(Priv, '$.authentication_string'), '') = '' AND "
    "COALESCE(JSON_VALUE(Priv, '$.plugin'), 'mysql_native_password') IN "
    "('mysql_native_password', 'mysql_old_password') AS bare, "
    "CAST(JSON_VALUE(Priv, '$.access') AS UNSIGNED) & 32768 > 0 AS super, "
    "CAST(JSON_VALUE(Priv, '$.access') AS UNSIGNED) & 512 > 0 AS files, "
    "CAST(JSON_VALUE(Priv, '$.access') AS UNSIGNED) & 1024 > 0 AS grants, "
    "COALESCE(JSON_VALUE(Priv, '$.ssl_type'), '0') = '0' AS plain, "
    "CAST(JSON_VALUE(Priv, '$.access') AS UNSIGNED) & 1073741824 > 0 AS admin, "
    "{reach} FROM mysql.global_priv WHERE "
    "COALESCE(JSON_VALUE(Priv, '$.account_locked'), '0') = '0' AND JSON_VALUE(Priv, '$.is_role') IS NULL",
    "JSON_VALUE(Priv, '$.plugin') = 'unix_socket' AND JSON_EXTRACT(Priv, '$.auth_or') IS NULL",  # no other way in
)

# InnoDB shows its times in the time zone of the host, NOW() in that of the session.
_AGE = "TIMESTAMPDIFF(SECOND, {time}, CONVERT_TZ(NOW(), @@session.time_zone, 'SYSTEM'))"
_WAITS = "({p}STATE LIKE 'Waiting for % lock' OR {p}STATE IN ('User lock', 'Waiting for table flush'))"

# Four kinds of rows, named by trx_state: the number of sessions that wait for each kind of lock (state); sessions with
# their transactions; transactions without a session (ID 0); and, from _HISTORY, the history list length (history).
_SESSIONS = (
    "SELECT COUNT(*), NULL, NULL, NULL, MAX({p}TIME), {p}STATE, NULL, 'state', NULL, NULL, NULL, NULL "
    "FROM {table} WHERE {waits} GROUP BY {p}STATE UNION ALL "
    "(SELECT {p}ID, {user}, {p}HOST, {p}COMMAND, {p}TIME, {p}STATE, trx_id, trx_state, age, trx_rows_locked, "
    "trx_rows_modified, waited FROM {table} LEFT JOIN (SELECT trx_id, trx_mysql_thread_id, trx_state, {age} AS age, "
    "trx_rows_locked, trx_rows_modified, {waited} AS waited FROM information_schema.INNODB_TRX "
    "WHERE trx_mysql_thread_id NOT IN (0, CONNECTION_ID()) ORDER BY trx_started LIMIT 128) AS oldest "
    "ON trx_mysql_thread_id = {p}ID WHERE {p}ID <> CONNECTION_ID() AND (trx_id IS NOT NULL OR {waits} "
    "OR {p}COMMAND IN ('Query', 'Execute') AND {p}TIME >= 10) ORDER BY trx_id IS NULL, {waits} DESC, {p}TIME DESC "
    "LIMIT 512) UNION ALL (SELECT 0, NULL, NULL, NULL, NULL, NULL, trx_id, trx_state, {age}, trx_rows_locked, "
    "trx_rows_modified, NULL FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = 0 "
    "ORDER BY trx_started LIMIT 64)"
)

_HISTORY = (
    " UNION ALL (SELECT COUNT, NULL, NULL, NULL, NULL, NULL, NULL, 'history', NULL, NULL, NULL, NULL "
    "FROM information_schema.INNODB_METRICS WHERE NAME = 'trx_rseg_history_len')"
)

# performance_schema shows replication appliers under the account that started them, and running events under none.
_CLIENT = (
    "IF(NAME LIKE '%one_connection' OR NAME LIKE 'thread/mysqlx/%', PROCESSLIST_USER, "
    "IF(NAME LIKE '%event_worker', 'event_scheduler', 'system user'))"
)


def _sessions(table: str, prefix: str = "", user: str = "USER") -> str:
    """The statement about sessions, from a table whose columns have a prefix."""
    ages = {name: _AGE.format(time=time) for name, time in (("age", "trx_started"), ("waited", "trx_wait_started"))}
    return _SESSIONS.format(table=table, p=prefix, user=user, waits=_WAITS.format(p=prefix), **ages)


THREADS_SQL = _sessions("performance_schema.threads", "PROCESSLIST_", _CLIENT) + _HISTORY
PROCESSLIST_SQL = _sessions("information_schema.PROCESSLIST")

ROW_WAITS_SQL = (
    "SELECT trx_mysql_thread_id, PROCESSLIST_ID FROM (SELECT trx_id, trx_mysql_thread_id "
    "FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT' ORDER BY trx_wait_started LIMIT 20) AS waiting "
    "JOIN performance_schema.data_lock_waits ON REQUESTING_ENGINE_TRANSACTION_ID = trx_id "
    "LEFT JOIN performance_schema.threads ON THREAD_ID = BLOCKING_THREAD_ID LIMIT 1000"
)

METADATA_SQL = (
    "SELECT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, LOCK_TYPE, LOCK_STATUS, PROCESSLIST_ID, {client}, "
    "PROCESSLIST_HOST, PROCESSLIST_COMMAND, PROCESSLIST_TIME, PROCESSLIST_STATE FROM (SELECT locks.OBJECT_TYPE, "
    "locks.OBJECT_SCHEMA, locks.OBJECT_NAME, LOCK_TYPE, LOCK_STATUS, OWNER_THREAD_ID FROM (SELECT DISTINCT "
    "OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME FROM performance_schema.metadata_locks WHERE LOCK_STATUS = 'PENDING' "
    "LIMIT 8) AS wanted JOIN performance_schema.metadata_locks AS locks ON locks.OBJECT_TYPE = wanted.OBJECT_TYPE "
    "AND COALESCE(locks.OBJECT_SCHEMA, '') = COALESCE(wanted.OBJECT_SCHEMA, '') "
    "AND COALESCE(locks.OBJECT_NAME, '') = COALESCE(wanted.OBJECT_NAME, '') "
    "WHERE LOCK_STATUS IN ('GRANTED', 'PENDING') ORDER BY LOCK_STATUS, LOCK_TYPE LIMIT 200) AS held "
    "JOIN performance_schema.threads ON THREAD_ID = OWNER_THREAD_ID".replace("{client}", _CLIENT)
)

# The message of a worker's error, up to the statement that it may quote; 3030 says that another worker failed.
_WORKER_ERROR = (
    "MAX(IF(LAST_ERROR_NUMBER IN (0, 3030), NULL, LEFT(SUBSTRING_INDEX(LAST_ERROR_MESSAGE, ' on query', 1), 512)))"
)
_WORKERS = "FROM performance_schema.replication_applier_status_by_worker"

# If a worker has no transaction, the timestamps are zero and TIMESTAMPDIFF returns NULL.
APPLIER_TIMES_SQL = (
    "SELECT CHANNEL_NAME, MAX(TIMESTAMPDIFF(SECOND, APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP, NOW(6))), "
    "MIN(TIMESTAMPDIFF(SECOND, LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP, NOW(6))), "
    "COALESCE(SUM(PROCESSLIST_STATE LIKE 'Waiting for % lock'), 0), "
    "COUNT(*), SUM(APPLYING_TRANSACTION <> ''), SUM(LAST_APPLIED_TRANSACTION <> ''), "
    "MAX(TIMESTAMPDIFF(SECOND, APPLYING_TRANSACTION_START_APPLY_TIMESTAMP, NOW(6))), "
    "MAX(TIMESTAMPDIFF(SECOND, APPLYING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP, NOW(6))), "
    f"{_WORKER_ERROR} {_WORKERS} LEFT JOIN performance_schema.threads USING (THREAD_ID) GROUP BY CHANNEL_NAME LIMIT 256"
)
APPLIER_ERRORS_SQL = f"SELECT CHANNEL_NAME, {_WORKER_ERROR} {_WORKERS} GROUP BY CHANNEL_NAME LIMIT 256"

MOST_EVENTS = 100  # rows of a summary table that are read
# Summaries of the server's own instruments. A table of 10,000 digests takes about 50 ms to sort, the others a few.
_TOP = (
    "SELECT {name}, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.{table} "
    "WHERE COUNT_STAR > 0 AND {condition} ORDER BY SUM_TIMER_WAIT DESC LIMIT {most}"
)

TOP_WAITS_SQL = _TOP.format(
    most=MOST_EVENTS,
    name="EVENT_NAME",
    table="events_waits_summary_global_by_event_name",
    condition="EVENT_NAME <> 'idle'",
)

TOP_STATEMENTS_SQL = _TOP.format(
    most=MOST_EVENTS,
    name="EVENT_NAME",
    table="events_statements_summary_global_by_event_name",
    condition="SUM_TIMER_WAIT > 0",
)

TOP_DIGESTS_SQL = _TOP.format(
    most=MOST_EVENTS,
    name="CONCAT(COALESCE(SCHEMA_NAME, ''), ' ', LEFT(DIGEST_TEXT, 512))",
    table="events_statements_summary_by_digest",
    condition="DIGEST IS NOT NULL",
)
