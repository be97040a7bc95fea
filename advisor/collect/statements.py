"""The closed list: every statement that mycnf can ever send to a server, the driver's own included.

`{number}` stands for digits alone; nothing else in a text varies. What isn't here, `send` refuses to send.
"""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

TAG = "/* mycnf */ "
NUMBER = "{number}"
HEADING = (
    "Every statement that mycnf can send to a server. Ours carry the tag /* mycnf */; "
    "{number} stands for digits, nothing else varies."
)


class Statement(NamedTuple):
    """One statement: its exact text, the servers it is for, why it is sent, and the privilege it needs.

    `needs` is empty where every account may send it; `driver` marks what PyMySQL sends by itself, untagged.
    """

    name: str
    sql: str
    servers: str
    why: str
    needs: str = ""
    driver: bool = False

    def text(self, number: int | None = None) -> str:
        """What goes over the wire: tagged, with the number in its place."""
        sql = self.sql if number is None else self.sql.replace(NUMBER, str(int(number)))
        return sql if self.driver else TAG + sql


ALL = "all"
MYSQL = "MySQL"
MARIADB = "MariaDB"

SET_NAMES = Statement("set-names", "SET NAMES utf8mb4", ALL, "the driver says how text is encoded", driver=True)
AUTOCOMMIT = Statement(
    "autocommit",
    "SET AUTOCOMMIT = 1",
    "where autocommit is off",
    "the driver makes sure that no transaction stays open after a statement",
    driver=True,
)
READ_ONLY = Statement(
    "read-only",
    "SET SESSION TRANSACTION READ ONLY",
    ALL,
    "a second belt beside this list: the session can't write to tables",
)
IDENTITY = Statement(
    "identity",
    "SELECT VERSION(), @@version_comment, CONNECTION_ID(), CURRENT_USER()",
    ALL,
    "which server this is, whether a proxy stands between, and which account was given",
)
VARIABLES = Statement("variables", "SHOW GLOBAL VARIABLES", ALL, "the running value of every setting")
LIMITS_MYSQL = Statement(
    "limits-mysql",
    "SET SESSION max_execution_time = {number}, lock_wait_timeout = 2, wait_timeout = 3600, "
    "sql_select_limit = 18446744073709551615, sql_big_selects = 1",
    MYSQL,
    "bounds our own SELECTs (milliseconds) and waits for locks (seconds); the session outlives the sampling window",
)
LIMITS_MARIADB = Statement(
    "limits-mariadb",
    "SET SESSION max_statement_time = {number}, lock_wait_timeout = 2, wait_timeout = 3600, "
    "sql_select_limit = 18446744073709551615, sql_big_selects = 1",
    MARIADB,
    "bounds our own statements and their waits for locks (seconds); the session outlives the sampling window",
)
STATUS = Statement("status", "SHOW GLOBAL STATUS", ALL, "counters, once at each end of the sampling window")
ORIGINS_MYSQL = Statement(
    "origins-mysql",
    "SELECT VARIABLE_NAME, VARIABLE_SOURCE, VARIABLE_PATH FROM performance_schema.variables_info",
    "MySQL 8.0 and later",
    "who set each variable: a file, the command line, a persisted value, or nobody",
)
ORIGINS_MARIADB = Statement(
    "origins-mariadb",
    "SELECT VARIABLE_NAME, GLOBAL_VALUE_ORIGIN, GLOBAL_VALUE_PATH FROM information_schema.SYSTEM_VARIABLES",
    MARIADB,
    "who set each variable: a file, the command line, a statement, or nobody",
)
PLUGINS = Statement("plugins", "SHOW PLUGINS", ALL, "which options exist depends on the plugins that are loaded")
ENGINES = Statement("engines", "SHOW ENGINES", ALL, "which storage engines can be used")
INNODB_STATUS = Statement(
    "innodb-status",
    "SHOW ENGINE INNODB STATUS",
    ALL,
    "the redo position and checkpoint; sent once, or at both ends of the window where no counter tells the position. "
    "Sections that quote SQL (transactions, deadlocks, foreign keys) are thrown away on receipt",
    "PROCESS",
)
METRICS_MYSQL = Statement(
    "innodb-metrics-mysql",
    "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE STATUS = 'enabled'",
    MYSQL,
    "InnoDB's own counters, those that are enabled already",
    "PROCESS",
)
METRICS_MARIADB = Statement(
    "innodb-metrics-mariadb",
    "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE ENABLED = 1",
    MARIADB,
    "InnoDB's own counters, those that are enabled already",
    "PROCESS",
)
DATA_SIZES = Statement(
    "data-sizes",
    "SELECT COUNT(*), SUM(clustered_index_size + sum_of_other_index_sizes) * @@GLOBAL.innodb_page_size, "
    "SUM(clustered_index_size) * @@GLOBAL.innodb_page_size, SUM(n_rows) FROM mysql.innodb_table_stats",
    ALL,
    "how much InnoDB data there is, from one small statistics table; no table of users is opened",
    "SELECT on mysql.innodb_table_stats",
)
MEMORY = Statement(
    "memory",
    "SELECT SUM(CURRENT_NUMBER_OF_BYTES_USED), "
    "SUM(IF(EVENT_NAME LIKE 'memory/innodb/%', CURRENT_NUMBER_OF_BYTES_USED, 0)) "
    "FROM performance_schema.memory_summary_global_by_event_name",
    "where performance_schema is on",
    "the memory that the server accounts for",
    "SELECT on performance_schema.memory_summary_global_by_event_name",
)
GROUP_MEMBERS = Statement(
    "group-members",
    "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_ID <> ''",
    "MySQL with group replication",
    "how many servers are in the group",
    "SELECT on performance_schema.replication_group_members",
)
REPLICAS = Statement(
    "replicas",
    "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_COMMAND LIKE 'Binlog Dump%'",
    "MySQL with performance_schema and a binary log",
    "how many replicas read this server's binary log (MariaDB has a status counter for it)",
    "SELECT on performance_schema.threads",
)
REPLICA_STATUS = Statement(
    "replica-status",
    "SHOW REPLICA STATUS",
    "MySQL 8.0.22 and later",
    "whether this server is a replica; sent last, as it can wait for the replication threads",
    "REPLICATION CLIENT",
)
SLAVE_STATUS = Statement(
    "slave-status",
    "SHOW SLAVE STATUS",
    "MySQL before 8.0.22",
    "whether this server is a replica; sent last, as it can wait for the replication threads",
    "REPLICATION CLIENT",
)
ALL_SLAVES_STATUS = Statement(
    "all-slaves-status",
    "SHOW ALL SLAVES STATUS",
    MARIADB,
    "whether this server is a replica, of one source or many; sent last, as it can wait for the replication threads",
    "SLAVE MONITOR",
)
KILL_OWN = Statement(
    "kill-own",
    "KILL QUERY {number}",
    ALL,
    "ends our own statement, from a second connection of the same account, when it overran the client's time limit",
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
    GROUP_MEMBERS,
    REPLICAS,
    REPLICA_STATUS,
    SLAVE_STATUS,
    ALL_SLAVES_STATUS,
    KILL_OWN,
)

_ALLOWED = re.compile(
    "|".join(re.escape(s.text()).replace(re.escape(NUMBER), r"[0-9]{1,20}") for s in STATEMENTS), re.ASCII
)


def is_listed(sql: str) -> bool:
    """Whether this exact text, tag included, stands on the list."""
    return _ALLOWED.fullmatch(sql) is not None


def listing() -> str:
    """The whole list for people: text, servers, privilege and reason of each statement."""
    return "\n\n".join([HEADING, *(_described(statement) for statement in STATEMENTS)]) + "\n"


def _described(statement: Statement) -> str:
    needs = f" · needs {statement.needs}" if statement.needs else ""
    sender = " · sent by the driver" if statement.driver else ""
    why = textwrap.fill(statement.why, 100, initial_indent="    why: ", subsequent_indent="         ")
    return f"{statement.text()}\n    for: {statement.servers}{needs}{sender}\n{why}"
