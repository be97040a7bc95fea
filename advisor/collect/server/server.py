"""Read a running server's variables with their origins, plugins, engines, InnoDB and memory."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.connection import session as session_module
from advisor.collect.connection.session import (
    ConnectionLost,
    Notes,
    ask,
    name_value_dict,
    set_server_limits,
    whole_number,
)
from advisor.collect.connection.statements import (
    ACCOUNTS_DYNAMIC,
    ACCOUNTS_MARIADB,
    ACCOUNTS_MYSQL,
    DATA_SIZES,
    ENGINES,
    IDENTITY,
    INNODB_STATUS,
    MEMORY,
    METRICS_MARIADB,
    METRICS_MYSQL,
    ORIGINS_MARIADB,
    ORIGINS_MYSQL,
    PLUGINS,
    VARIABLES,
)
from advisor.facts import Unavailable
from advisor.facts.server import Accounts, DataSizes, Link, Plugin, Server, VariableOrigin, VariableSetter
from advisor.redaction import redact_value

if TYPE_CHECKING:
    from advisor.collect.connection.session import Row, Session


_ORIGINS_SINCE = (8, 0)
_DYNAMIC_SINCE = (8, 0)  # dynamic privileges

# MySQL records SET SESSION as well, so for these it names mycnf's own account.
SET_BY_MYCNF = frozenset(
    {
        *("autocommit", "lock_wait_timeout", "max_execution_time", "sql_big_selects", "sql_select_limit"),
        *("transaction_read_only", "tx_read_only", "wait_timeout"),
        *("character_set_client", "character_set_connection", "character_set_results", "collation_connection"),
    }
)
LONGEST = 500  # maximum characters of a version, a comment and an account; servers have fewer than 200

# Status counters of the redo position in MySQL 8.0.30 and later, and in MariaDB.
_LSN_COUNTERS = ("innodb_redo_log_current_lsn", "innodb_lsn_current")
_SECTION = re.compile(r"^-{3,}\n(?P<title>[A-Z][A-Z /&]+)\n-{3,}\n", re.MULTILINE)

# The sections that contain only numbers. The others quote statements, and thus users' data.
_KEPT_SECTIONS = (
    "BACKGROUND THREAD",
    "FILE I/O",
    "INSERT BUFFER AND ADAPTIVE HASH INDEX",
    "LOG",
    "BUFFER POOL AND MEMORY",
    "ROW OPERATIONS",
)


class Greeting(NamedTuple):
    """The facts that all further statements depend on."""

    version: str
    comment: str
    link: Link
    variables: dict[str, str]
    flavour: str

    @property
    def is_mariadb(self) -> bool:
        """Whether the server is MariaDB."""
        return self.flavour == "mariadb"

    @property
    def number(self) -> tuple[int, ...]:
        """The version as numbers."""
        return session_module.version_numbers(self.version)


def read_greeting(session: Session, notes: Notes) -> Greeting:
    """Read the server's identity and variables, and set the session's limits."""
    answer = ask(session, IDENTITY, "server.identity", notes)
    row = answer.rows[0] if answer and answer.rows else [None] * 4
    version, comment, connection, user = [(text or "")[:LONGEST] for text in row]
    version = version or session.wire.server_version[:LONGEST]  # from the handshake
    link = Link(
        via="socket" if session.account.socket else "tcp",
        user=user,
        peer_pid=session.wire.peer_pid,
        tls=session.wire.tls,
        # The handshake has only the lower 32 bits of the id.
        proxied=(at := whole_number(connection)) is not None and at % (1 << 32) != session.connection_id,
    )
    variables = {
        name: redact_value(name, value)
        for name, value in name_value_dict(ask(session, VARIABLES, "server.variables", notes)).items()
    }
    greeting = Greeting(version, comment, link, variables, session_module.flavour_of(version, comment, variables))
    _limit(session, greeting.flavour, notes)
    return greeting


def read_server(session: Session, greeting: Greeting, notes: Notes) -> Server:
    """Read everything except counters and replication; what the account may not read is noted and left empty."""
    variables = greeting.variables
    return Server(
        flavour=greeting.flavour,
        version=session_module.version_number(greeting.version),
        version_comment=greeting.comment,
        vendor=session_module.vendor_of(greeting.flavour, greeting.version, greeting.comment),
        link=greeting.link,
        variables=variables,
        status={},
        origins=_origins(session, greeting, notes),
        plugins=_plugins(session, notes),
        engines=name_value_dict(ask(session, ENGINES, "server.engines", notes)),
        innodb_metrics=innodb_metrics(session, notes, mariadb=greeting.is_mariadb),
        data=data_sizes(session, notes),
        instrumented_bytes=_memory(session, variables, notes),
        managed=session_module.managed_by(greeting.version, greeting.comment, variables),
        accounts=read_accounts(session, greeting, notes),
    )


def _limit(session: Session, flavour: str, notes: Notes) -> None:
    """Set the limits again, now that the flavour is certain, if the server refused them before."""
    if session.unlimited and not session.lost:
        with suppress(ConnectionLost):
            set_server_limits(session, flavour)
    if session.unlimited:
        notes.append(Unavailable("server.limits", session.unlimited))


def _origins(session: Session, greeting: Greeting, notes: Notes) -> dict[str, VariableOrigin]:
    if not greeting.is_mariadb and greeting.number < _ORIGINS_SINCE:
        notes.append(Unavailable("server.origins", "needs MySQL 8.0 or later; before, who set a variable is inferred"))
        return {}
    statement = ORIGINS_MARIADB if greeting.is_mariadb else ORIGINS_MYSQL
    answer = ask(session, statement, "server.origins", notes)
    rows = answer.rows if answer else ()
    return {name.lower(): _origin(name.lower(), row) for name, *row in rows if name}


def _origin(name: str, row: list[str | None]) -> VariableOrigin:
    """The origin of a variable; MySQL adds a time for each, and a user only if the last change was a SET."""
    source, path, *setter = row
    at, user, host = setter or (None, None, None)
    if not user or name in SET_BY_MYCNF:
        return VariableOrigin(source or "", path or "")
    account = f"{user}@{host}"[:LONGEST] if host else user[:LONGEST]
    return VariableOrigin(source or "", path or "", VariableSetter(account, whole_number(at) or 0))


def _plugins(session: Session, notes: Notes) -> tuple[Plugin, ...]:
    answer = ask(session, PLUGINS, "server.plugins", notes)
    rows = answer.rows if answer else ()
    return tuple(Plugin(r[0] or "", r[1] or "", r[2] or "", r[3] or "") for r in rows)


def _memory(session: Session, variables: dict[str, str], notes: Notes) -> int | None:
    """The memory that performance_schema accounts for, in bytes.

    None if it is off or counts only itself, as in 5.7 by default.
    """
    if variables.get("performance_schema", "").upper() != "ON":
        notes.append(Unavailable("server.memory", "needs performance_schema, which is off"))
        return None
    answer = ask(session, MEMORY, "server.memory", notes)
    if not answer or not answer.rows:
        return None
    total, by_innodb = (whole_number(text) for text in answer.rows[0])
    if not by_innodb:
        notes.append(Unavailable("server.memory", "needs the memory instruments of performance_schema, which are off"))
        return None
    return total


def read_accounts(session: Session, greeting: Greeting, notes: Notes) -> tuple[Accounts, ...] | None:
    """The accounts that are not locked, by kind; None if the account may not read them, with the reason noted.

    Without the privilege to read dynamic privileges they are read without these.
    """
    statement = ACCOUNTS_MARIADB if greeting.is_mariadb else ACCOUNTS_MYSQL
    if greeting.is_mariadb or greeting.number < _DYNAMIC_SINCE:
        answer = ask(session, statement, "server.accounts", notes)
    else:
        refused: Notes = []
        answer = ask(session, ACCOUNTS_DYNAMIC, "server.accounts", refused)
        if answer is None:
            answer = ask(session, statement, "server.accounts", [])
            reason = refused[0].reason
            lacks = "needs SELECT on mysql.global_grants" if reason.startswith("needs ") else reason
            notes += refused if answer is None else [Unavailable("server.accounts.dynamic", lacks)]
    return None if answer is None else tuple(map(_kind, answer.rows))


def _kind(row: Row) -> Accounts:
    plugin, anonymous, bare, supreme, files, reach, count, names, grants, plain, admin = row
    return Accounts(
        plugin=plugin or "",
        anonymous=anonymous == "1",
        passwordless=bare == "1",
        supreme=supreme == "1",
        reach=reach or "",
        count=whole_number(count) or 0,
        names=names or "",
        files=files == "1",
        grants=grants == "1",
        plain=plain == "1",
        admin=None if admin is None else admin == "1",
    )


def innodb_status(session: Session, notes: Notes) -> str:
    """SHOW ENGINE INNODB STATUS without the sections that quote SQL; empty if not available."""
    answer = ask(session, INNODB_STATUS, "server.innodb_status", notes)
    return without_sql(answer.rows[0][-1] or "") if answer and answer.rows else ""


def without_sql(text: str) -> str:
    """The sections of an InnoDB status that contain only numbers, each once."""
    parts = _SECTION.split(text)
    # A quoted statement may look like a section heading; the real heading comes after all sections that quote
    # statements.
    bodies = dict(zip(parts[1::2], parts[2::2], strict=False))
    return "".join(f"---\n{title}\n---\n{bodies[title]}" for title in _KEPT_SECTIONS if title in bodies)


def redo_position(status: dict[str, str], innodb_text: str) -> int | None:
    """The redo position in bytes: from a counter if the server has one, else from the status text."""
    counted = [at for counter in _LSN_COUNTERS if (at := whole_number(status.get(counter))) is not None]
    match = re.search(r"^Log sequence number\s+(\d+)", innodb_text, re.MULTILINE)
    return counted[0] if counted else whole_number(match[1] if match else None)


def has_lsn_counter(status: dict[str, str]) -> bool:
    """Whether a status counter has the redo position, so that the status text is not needed for it."""
    return any(counter in status for counter in _LSN_COUNTERS)


def innodb_metrics(session: Session, notes: Notes, *, mariadb: bool) -> dict[str, int]:
    """InnoDB's enabled metrics since they were enabled."""
    answer = ask(session, METRICS_MARIADB if mariadb else METRICS_MYSQL, "server.innodb_metrics", notes)
    rows = answer.rows if answer else ()
    return {name: value for name, text in rows if name and (value := whole_number(text)) is not None}


def data_sizes(session: Session, notes: Notes) -> DataSizes | None:
    """Bytes of InnoDB data and indexes, from the server's statistics."""
    answer = ask(session, DATA_SIZES, "server.data", notes)
    if not answer or not answer.rows:
        return None
    tables, total, clustered, rows, largest = (whole_number(text) or 0 for text in answer.rows[0])
    return DataSizes(
        innodb_bytes=total, innodb_tables=tables, clustered_bytes=clustered, rows=rows, largest_bytes=largest
    )
