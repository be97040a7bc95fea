"""MySQL's log statistics beyond status counters: redo log full warnings, and bytes of binary log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.connection.session import ask, whole_number
from advisor.collect.connection.statements import BINARY_LOG_BYTES, REDO_WAITS
from advisor.facts.server import RedoWaits

if TYPE_CHECKING:
    from advisor.collect.connection.session import Notes, Session
    from advisor.collect.server.server import Greeting

_CAPACITY = "innodb_redo_log_capacity"  # versions with this option log a warning if the redo log is full


def read_redo_waits(session: Session, greeting: Greeting, notes: Notes) -> RedoWaits | None:
    """Warnings about a full redo log since startup; None if the server has no such warnings or did not answer."""
    if not _has_schema(greeting) or _CAPACITY not in greeting.variables:
        return None
    answer = ask(session, REDO_WAITS, "server.redo_waits", notes)
    if not answer or not answer.rows:
        return None
    count, newest = (whole_number(text) for text in answer.rows[0])
    return None if count is None else RedoWaits(count, newest)


def read_binary_log_bytes(session: Session, greeting: Greeting, notes: Notes) -> int | None:
    """Bytes of binary log since startup; None without a binary log, if a status counter has it, or on failure."""
    if not _has_schema(greeting) or greeting.variables.get("log_bin") != "ON":
        return None
    answer = ask(session, BINARY_LOG_BYTES, "server.binary_log_bytes", notes)
    return whole_number(answer.rows[0][0]) if answer and answer.rows else None


def _has_schema(greeting: Greeting) -> bool:
    return not greeting.is_mariadb and greeting.variables.get("performance_schema", "").upper() == "ON"
