"""PastedFacts: the facts about a server from one text or directory, and which of them are incomplete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.connection.session import whole_number
from advisor.core.errors import MycnfError
from advisor.facts.workload import Blocking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.collect.error_log import ReadLog
    from advisor.facts import Host
    from advisor.facts.storage import Mount, Space
    from advisor.facts.workload import ServerSession
    from advisor.verdict.declared import ProviderParameter


FORMS = (
    "the text of SHOW GLOBAL VARIABLES, SHOW GLOBAL STATUS, SHOW REPLICA STATUS and SHOW PROCESSLIST, of mysqladmin "
    "variables or extended-status, a directory of pt-stalk, what pt-mysql-summary and pt-summary print, or an error log"
)
SAME = ("server_uuid", "hostname", "port", "datadir", "version")  # variables that distinguish servers

# Names that every version has regardless of plugins, across the alphabet, so that a missing one shows a truncated
# text.
_VARIABLES = (
    *("auto_increment_increment", "back_log", "character_set_server", "datadir", "flush_time", "general_log"),
    *("hostname", "init_connect", "join_buffer_size", "key_buffer_size", "log_error", "max_connections"),
    *("net_read_timeout", "open_files_limit", "port", "read_buffer_size", "server_id", "table_open_cache"),
    *("updatable_views_with_limit", "version", "wait_timeout"),
)

_COUNTERS = (
    *("aborted_clients", "bytes_received", "com_select", "connections", "created_tmp_tables", "handler_write"),
    *("key_reads", "max_used_connections", "open_tables", "questions", "select_scan", "sort_rows"),
    *("table_locks_immediate", "threads_connected", "uptime"),
)
_SESSION_VARIABLE = "pseudo_thread_id"  # in MySQL 5.1 the global variables contain it too, with the value 0

# MySQL 5.7 and later, which also have the other counter, have it only in the session status; older versions and
# MariaDB have it in the global status with the value 0.
_SESSION_COUNTER, _ZERO, _SINCE_57 = "last_query_cost", re.compile(r"0(?:\.0+)?"), "com_group_replication_start"

_OF_SESSION = re.compile(
    r"(?:bytes_received|bytes_sent|com|compression|created_tmp|handler|last_query|max_execution_time|opened_table"
    r"|questions|select|slow_queries|sort|ssl|table_open_cache|rows|feature|memory_used|optimizer|subquery|tmp"
    r"|busy_time|cpu_time|empty_queries|executed|access_denied|update_scan|delete_scan)(?:_|s?$).*"
)
_MIN_COUNT = 10  # the session sent less than one in so many statements

SESSION_COUNTERS = (
    "these are the counters of one session, and counters that each session counts separately were skipped: the text of "
    "SHOW GLOBAL STATUS has the server's"
)


class TextError(MycnfError):
    """A text cannot be read, or has no facts about a server; the message is one line with the remedy."""


class PastedSessions(NamedTuple):
    """The sessions of a process list that wait or run a long statement, and what is counted over all.

    `states` has the number of sessions by the lock that they wait for, `replicas` is the number of servers that read
    the binary log.
    """

    sessions: tuple[ServerSession, ...]
    states: dict[str, int]
    replicas: int

    @property
    def blocking(self) -> Blocking:
        """What rules on blocking know: neither transactions nor who blocks whom."""
        return Blocking(self.sessions, rows_read=False, metadata_read=False, transactions_read=False)


class PastedFacts(NamedTuple):
    """The contents of `path`: tables of variables, and samples of status counters in order.

    Of many samples, only those that a window needs are kept. Names are lower case, values as printed. `innodb_text` is
    InnoDB's status without the sections that quote statements, `host` describes the machine, `mounts` are its file
    systems with their space. `lacks` says why the variables are incomplete, `counters_lack` why the counters are.
    `replicas` has a row for each source of the server, None if unknown. `at` is when the text was written, in seconds
    since 1970. `error_log` is what an error log contains. `parameters` is a provider's list, which
    shows the values that users set. `sessions` is what a process list shows.
    """

    path: str
    variables: tuple[dict[str, str], ...] = ()
    samples: tuple[dict[str, str], ...] = ()
    innodb_text: str = ""
    host: Host | None = None
    mounts: tuple[tuple[Mount, Space | None], ...] = ()
    lacks: str = ""
    at: float = 0.0
    replicas: tuple[dict[str, str | None], ...] | None = None
    counters_lack: str = ""
    error_log: ReadLog | None = None
    parameters: tuple[ProviderParameter, ...] = ()
    sessions: PastedSessions | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it contains nothing about a server."""
        return not (
            self.variables
            or self.samples
            or self.counters_lack
            or self.innodb_text
            or self.host
            or self.replicas is not None
            or self.error_log is not None
            or self.parameters
            or self.sessions is not None
        )


def missing_variables(variables: Mapping[str, str]) -> str:
    """Why these are not all of a server's variables; empty if they are."""
    missing = [name for name in _VARIABLES if name not in variables]
    if missing:
        return _incomplete_message("variables", missing, len(variables), "SHOW GLOBAL VARIABLES")
    if variables.get(_SESSION_VARIABLE, "0") != "0":
        return (
            "these are the variables of one session, which may have changed some of them: the text of SHOW GLOBAL "
            "VARIABLES has the server's"
        )
    return ""


def missing_counters(counters: Mapping[str, str]) -> str:
    """Why these are not all of a server's counters; empty if they are."""
    missing = [name for name in _COUNTERS if name not in counters]
    return _incomplete_message("counters", missing, len(counters), "SHOW GLOBAL STATUS") if missing else ""


def _incomplete_message(what: str, missing: list[str], count: int, ask: str) -> str:
    named = missing[0] if len(missing) == 1 else f"{missing[0]} and {len(missing) - 1} more"
    return f"the text has {count} {what}, not all: it lacks {named}, which every server has; give all of {ask}"


def is_session_status(counters: Mapping[str, str]) -> bool:
    """Whether they come from SHOW STATUS without GLOBAL.

    That is the case if the session sent only few of the server's statements.
    """
    cost = counters.get(_SESSION_COUNTER)
    if cost is not None and (_SINCE_57 in counters or not _ZERO.fullmatch(cost)):
        return True
    sent, all_sent, connections = (whole_number(counters.get(name)) for name in ("questions", "queries", "connections"))
    if sent is None or all_sent is None or connections is None:
        return False
    return sent * _MIN_COUNT < all_sent and sent < connections


def without_session_counters(counters: Mapping[str, str]) -> dict[str, str]:
    """The counters without those that each session counts separately."""
    return {name: value for name, value in counters.items() if not _OF_SESSION.fullmatch(name)}
