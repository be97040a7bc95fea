"""The texts of the statements about sessions, transactions and locks, which `statements` lists."""

from __future__ import annotations

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


# performance_schema shows replication appliers under the account that started them.
_CLIENT = "IF(NAME LIKE '%one_connection' OR NAME LIKE 'thread/mysqlx/%', PROCESSLIST_USER, 'system user')"


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
