"""Read a running server's variables with their origins, plugins, engines, InnoDB and memory."""

from __future__ import annotations

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
    ENGINES,
    IDENTITY,
    MEMORY,
    ORIGINS_MARIADB,
    ORIGINS_MYSQL,
    PLUGINS,
    VARIABLES,
)
from advisor.collect.server import innodb
from advisor.facts import Unavailable
from advisor.facts.server import Accounts, Link, Plugin, Server, VariableOrigin
from advisor.redaction.secrets import redact_value

if TYPE_CHECKING:
    from advisor.collect.connection.session import Row, Session


_ORIGINS_SINCE = (8, 0)
_DYNAMIC_SINCE = (8, 0)  # dynamic privileges
LONGEST = 500  # maximum characters of a version, a comment and an account; servers have fewer than 200


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
    told = answer.rows[0] if answer and answer.rows else [None] * 4
    version, comment, connection, user = [(text or "")[:LONGEST] for text in told]
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
        innodb_metrics=innodb.innodb_metrics(session, notes, mariadb=greeting.is_mariadb),
        data=innodb.data_sizes(session, notes),
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
    return {name.lower(): VariableOrigin(source or "", path or "") for name, source, path in rows if name}


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
