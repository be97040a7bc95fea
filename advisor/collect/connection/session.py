"""Send statements from the closed list, within limits, and convert errors to reasons for unavailable parts."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from pymysql import err

from advisor.collect.connection.connect import DEFAULT_LIMITS, connect, connect_error, error_text
from advisor.collect.connection.statements import (
    KILL_OWN,
    LIMITS_MARIADB,
    LIMITS_MYSQL,
    OWN_RUNNING,
    READ_ONLY,
    STATEMENTS,
)
from advisor.collect.connection.wire import MAX_ANSWER_BYTES, AnswerTooSlow, ProtocolError, StatementNotListed
from advisor.core.errors import ConnectError
from advisor.facts import Unavailable
from advisor.facts.snapshot import LARGEST_NUMBER

if TYPE_CHECKING:
    from advisor.collect.connection.connect import ConnectionLimits
    from advisor.collect.connection.options import Account
    from advisor.collect.connection.statement import Statement
    from advisor.collect.connection.wire import Wire


PASSWORD_EXPIRED = 1820  # MariaDB lets the account in by default, MySQL if disconnect_on_expired_password is off
# Errors for missing privileges, from MySQL's mysqld_error.h; 1227 is for missing global privileges.
_DENIED = frozenset({1044, 1045, 1142, 1143, 1227, 1345, 1370, 3118})
# The statement exceeded a limit: max_execution_time, max_statement_time, lock_wait_timeout, or KILL QUERY.
_STOPPED = frozenset({1205, 1317, 1907, 1969, 3024})
# The connection is lost: client errors, shutdown, KILL CONNECTION, idle timeout.
_GONE = frozenset({0, 1053, 1927, 1080, 1152, 1158, 1159, 1160, 1161, 2006, 2013, 2014, 2055, 4031})
# The server lacks the table, variable, plugin or syntax.
_UNKNOWN = frozenset({1046, 1049, 1064, 1109, 1146, 1193, 1235, 1286, 1289})
_TIMEOUTS_BORNE = 2
SHORT_SQL_LENGTH = 100  # characters of a statement shown in a reason

Row = tuple[str | None, ...]


class Rows(NamedTuple):
    """The result of a statement: column names and rows, as text; invalid UTF-8 is kept by surrogateescape."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]

    def dicts(self) -> tuple[dict[str, str | None], ...]:
        """Each row as a dictionary by column name."""
        return tuple(dict(zip(self.names, row, strict=True)) for row in self.rows)


class StatementFailed(Exception):  # noqa: N818 - turned into a skipped part, never an error of the run
    """A statement failed; the message says what it would need."""


class ConnectionLost(StatementFailed):
    """The connection is lost, so nothing more can be read."""


class Session:
    """A connection, the number of statements sent, and its state; owned by one thread, but any may call `shut`."""

    __slots__ = ("account", "connection_id", "limits", "lost", "sent_before", "setup", "timeouts", "unlimited", "wire")

    def __init__(self, account: Account, wire: Wire, limits: ConnectionLimits) -> None:
        self.account = account
        self.wire = wire
        self.limits = limits
        self.sent_before = 0
        self.timeouts = 0
        self.lost = ""
        self.unlimited = ""
        self.connection_id = 0
        self.setup: list[tuple[Statement, int | None]] = []

    @property
    def sent(self) -> int:
        """Statements sent so far, including the driver's and those of an abandoned connection."""
        return self.sent_before + self.wire.sent

    def bound(self) -> None:
        """From now on, limit the total time and size of the server's answers."""
        self.wire.allowance.bound(self.limits.whole)

    def shut(self) -> None:
        """Interrupt a pending wait; may be called from another thread that wants to quit at once."""
        self.wire.shut()

    def close(self) -> None:
        """Close the connection; never fails."""
        with suppress(err.Error, OSError):
            self.wire.close()


def open_session(account: Account, limits: ConnectionLimits = DEFAULT_LIMITS) -> Session:
    """Open a read-only session whose statements the server limits too; raises ConnectError."""
    session = Session(account, connect(account, limits), limits)
    session.connection_id = session.wire.handshake_id
    try:
        send_setup(session, READ_ONLY)
        set_server_limits(session, flavour_of(session.wire.server_version, "", {}))
    except StatementFailed as reason:
        session.close()
        raise ConnectError(f"{account.place}: {reason}; nothing could be asked") from reason
    return session


def set_server_limits(session: Session, flavour: str) -> None:
    """Set limits for statements and waits on the server; raises ConnectionLost.

    `session.unlimited` is the reason if the server refuses.
    """
    seconds = session.limits.statement
    session.unlimited = ""
    try:
        if flavour == "mariadb":
            send_setup(session, LIMITS_MARIADB, seconds)
        else:
            send_setup(session, LIMITS_MYSQL, seconds * 1000)
    except ConnectionLost:
        raise
    except StatementFailed as reason:
        session.unlimited = str(reason)


def send_setup(session: Session, statement: Statement, number: int | None = None) -> None:
    """Send a statement that sets up the session, and remember it for a possible reconnect."""
    send(session, statement, number)
    session.setup.append((statement, number))


def send(session: Session, statement: Statement, number: int | None = None, name: str | None = None) -> Rows:
    """Send one statement from the closed list and return its result.

    Raises StatementNotListed before anything is sent for any other statement; StatementFailed with the reason if the
    server refuses, returns other columns, or a limit ends it; ConnectionLost if the connection is lost; ConnectError if
    the server lets the account in only to set a new password. After a client
    timeout, the statement is killed and a new connection replaces the old one.
    """
    if statement not in STATEMENTS:
        raise StatementNotListed(f"not on the closed list: {statement.sql}")
    if session.lost:
        raise ConnectionLost(session.lost)
    try:
        answer = _ask(session.wire, statement.text(number, name))
    except err.Error as error:
        if error.args[:1] == (PASSWORD_EXPIRED,):
            raise connect_error(session.account, error) from error
        raise _reason(session, statement, error) from error
    return _required_columns(answer, statement)


def _ask(wire: Wire, text: str) -> Rows:
    with wire.cursor() as cursor:
        cursor.execute(text)
        names = tuple(column[0] for column in cursor.description or ())
        return Rows(tuple(_text(n) or "" for n in names), tuple(tuple(map(_text, row)) for row in cursor.fetchall()))


def _required_columns(answer: Rows, statement: Statement) -> Rows:
    """Check that the result has the columns that the statement selects, because readers of the rows rely on them."""
    wanted, fewest = statement.columns, min(map(len, (answer.names, *answer.rows)))
    if fewest < wanted or any(len(row) != len(answer.names) for row in answer.rows):
        raise StatementFailed(
            f"the server's answer has {fewest} columns, and {wanted or len(answer.names)} were asked for"
        )
    if not wanted and len(answer.rows) * sum(map(len, answer.names)) > MAX_ANSWER_BYTES:
        raise StatementFailed("the server's answer has too many rows and columns for each row to name its columns")
    if not wanted or len(answer.names) == wanted:
        return answer
    return Rows(answer.names[:wanted], tuple(row[:wanted] for row in answer.rows))


def _text(value: object) -> str | None:
    return (
        value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else None if value is None else str(value)
    )


def _reason(session: Session, statement: Statement, error: err.Error) -> StatementFailed:
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    if isinstance(error, ProtocolError):
        session.lost = f"the server was given up during {statement.sql!r}: {error.args[-1]}"
        return ConnectionLost(session.lost)
    if code in _DENIED:
        return StatementFailed(f"needs {statement.needs or 'more privileges'}")
    if code in _STOPPED:
        return StatementFailed(
            f"the server gave no answer within {session.limits.statement} s: {_shortened_sql(statement)}"
        )
    if code in _UNKNOWN:
        return StatementFailed(f"this server doesn't know it: {_shortened_sql(statement)}")
    if code in _GONE:
        return _handle_silence(session, statement, error)
    return StatementFailed(f"the server refused {_shortened_sql(statement)!r}: {error_text(error)} (error {code})")


def _shortened_sql(statement: Statement) -> str:
    """The start of the statement, enough to identify it in docs/statements.md, which has the full text."""
    return (
        statement.sql
        if len(statement.sql) <= SHORT_SQL_LENGTH
        else statement.sql[: SHORT_SQL_LENGTH - 2].rstrip() + " …"
    )


def _handle_silence(session: Session, statement: Statement, error: err.Error) -> StatementFailed:
    """Distinguish a lost server from a slow one; if it is slow, kill the statement and reconnect."""
    overran = isinstance(error.__context__, TimeoutError)
    session.timeouts += overran
    if session.wire.allowance.over:
        session.lost = f"the server was given up: its answers took more than {session.limits.whole:g} s"
        return ConnectionLost(session.lost)
    fate = _reconnect(session) if overran and session.timeouts <= _TIMEOUTS_BORNE else ""
    seconds = session.limits.answer if isinstance(error.__context__, AnswerTooSlow) else session.limits.read
    if fate:
        return StatementFailed(f"no answer within {seconds:g} s, so it was {fate}: {statement.sql}")
    during = f"during {statement.sql!r}"
    session.lost = (
        f"the server was given up {during}: no answer within {seconds:g} s"
        if overran
        else f"the connection was lost {during}"
    )
    return ConnectionLost(session.lost)


def _reconnect(session: Session) -> str:
    """Replace the connection by a second one; returns what happened to the statement, or an empty string on failure."""
    try:
        second = connect(session.account, session.limits, session.wire.allowance)
    except ConnectError:
        return ""
    session.sent_before += session.wire.sent
    session.wire, first_id = second, session.connection_id
    session.connection_id = second.handshake_id
    try:
        ended = _kill_own_statement(second, first_id)
        for statement, number in session.setup:
            _ask(second, statement.text(number))
    except err.Error:
        return ""
    return "ended" if ended else "given up"


def _kill_own_statement(second: Wire, number: int) -> bool:
    """Kill the statement of the first connection, if the second one can verify that it is ours.

    A load balancer may have routed the second connection to another server, and a restarted server counts connection
    ids from one again: then the id belongs to another connection or to none. The check stays valid until the next
    statement of that connection, because a server never reuses an id while it runs.
    """
    with suppress(err.ProgrammingError, err.OperationalError):
        answer = _ask(second, OWN_RUNNING.text(number))
        if answer.rows == ((str(second.handshake_id), "1"),):
            _ask(second, KILL_OWN.text(number))
            return True
    return False


Notes = list[Unavailable]


def ask(session: Session, statement: Statement, part: str, notes: Notes) -> Rows | None:
    """The result of the statement; None if it fails, with the reason noted for the part that it would have filled."""
    try:
        return send(session, statement)
    except StatementFailed as reason:
        notes.append(Unavailable(part, str(reason)))
        return None


def name_value_dict(answer: Rows | None) -> dict[str, str]:
    """Rows of name and value as a dictionary with lower-case names."""
    rows = answer.rows if answer else ()
    return {row[0].lower(): row[1] or "" for row in rows if row[0]}


# Limited in length: servers print no longer numbers, and Python refuses to convert more than 4,300 digits.
_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,2})?", re.IGNORECASE)


def whole_number(text: str | None) -> int | None:
    """An integer as servers print sums (12, 12.00, 1.2e10); None for anything else."""
    if text is None or not _NUMBER.fullmatch(text):
        return None
    found = int(text) if text.lstrip("-").isdigit() else int(float(text))
    return found if abs(found) < LARGEST_NUMBER else None


# Variables that one flavour has in every supported series and the other does not.
_MARIADB_ONLY = ("gtid_domain_id", "aria_pagecache_buffer_size")
_MYSQL_ONLY = ("server_uuid", "gtid_purged")

# Signs of managed platforms: their own variables and directories, and words in version and comment.
_MANAGED_VARIABLES = (("aurora", "aurora_version"), ("azure", "aad_auth_only"))
_MANAGED_PATHS = (("rds", ("/rdsdbbin/", "/rdsdbdata/")),)
_MANAGED_WORDS = (("cloudsql", "(google)"), ("cloudsql", "-google"), ("heatwave", "mysql enterprise - cloud"))
_DIGITS = 9  # digits in one part of a version
_VENDORS = (
    *(("Percona", "percona"), ("MariaDB", "mariadb"), ("GreatSQL", "greatsql"), ("AliSQL", "alisql")),
    *(("PolarDB", "polardb"), ("StoneDB", "stonedb"), ("ShannonBase", "shannon"), ("TiDB", "tidb")),
    ("OceanBase", "oceanbase"),
)


def flavour_of(version: str, comment: str, variables: dict[str, str]) -> str:
    """mysql or mariadb: by variables that only one of them has, or by the version texts if there are no variables."""
    if any(name in variables for name in _MARIADB_ONLY):
        return "mariadb"
    if any(name in variables for name in _MYSQL_ONLY):
        return "mysql"
    return "mariadb" if "mariadb" in f"{version} {comment}".lower() else "mysql"


def version_number(version: str) -> str:
    """The digits of a version text: 10.11.6 of 5.5.5-10.11.6-MariaDB-log, 8.0.36 of 8.0.36-28.1-log."""
    match = re.match(r"(?:5\.5\.5-)?([0-9]{1,9}(?:\.[0-9]{1,9})+)", version)
    return match[1] if match else version


def version_numbers(version: str) -> tuple[int, ...]:
    """A version text as numbers; parts that are not numbers, or are too long, are left out."""
    return tuple(int(n) for n in version_number(version).split(".") if n.isdecimal() and len(n) <= _DIGITS)


def vendor_of(flavour: str, version: str, comment: str) -> str:
    """The vendor: MySQL, Percona, MariaDB, …; a fork without a name of its own counts as its flavour."""
    text = f"{version} {comment}".lower()
    named = next((vendor for vendor, word in _VENDORS if word in text), "")
    return named or ("MariaDB" if flavour == "mariadb" else "MySQL")


def managed_by(version: str, comment: str, variables: dict[str, str]) -> str:
    """The managed platform (aurora, rds, azure, cloudsql, heatwave); empty for a self-managed server."""
    by_variable = next((platform for platform, name in _MANAGED_VARIABLES if name in variables), "")
    folders = (variables.get("basedir", ""), variables.get("datadir", ""))
    by_path = next((platform for platform, starts in _MANAGED_PATHS if any(f.startswith(starts) for f in folders)), "")
    text = f"{version} {comment}".lower()
    return by_variable or by_path or next((platform for platform, word in _MANAGED_WORDS if word in text), "")
