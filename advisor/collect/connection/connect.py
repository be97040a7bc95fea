"""Open a connection to a server; errors are one line with the reason and the remedy."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any, NamedTuple

from pymysql import err

from advisor.collect.connection.errors import connect_error
from advisor.collect.connection.limits import AnswerLimits
from advisor.collect.connection.sockets import is_socket
from advisor.collect.connection.wire import ProtocolError, StatementNotListed, Wire
from advisor.core.errors import ConnectError
from advisor.redaction.secrets import escape_text

if TYPE_CHECKING:
    from advisor.collect.connection.options import Account


class ConnectionLimits(NamedTuple):
    """Timeouts in seconds: for connecting, for one read or write of the client, and for one statement at the server.

    The last one is set only if the server supports it. `answer` is for one complete answer, however fast its
    parts arrive, and `whole` is for all answers of an audit.
    """

    connect: float = 5.0
    read: float = 10.0
    statement: int = 5
    answer: float = 20.0
    whole: float = 120.0


DEFAULT_LIMITS = ConnectionLimits()


def connect(account: Account, limits: ConnectionLimits = DEFAULT_LIMITS, allowance: AnswerLimits | None = None) -> Wire:
    """Open a connection with autocommit on; raises ConnectError with the reason and the remedy.

    `allowance` continues the limits of the connection that this one replaces. TLS mode `preferred` (the default on
    TCP) connects without TLS if the server offers none or only obsolete versions, as the servers' own clients do. On a
    Unix socket TLS is used only if requested.
    """
    if account.socket and not is_socket(account.socket):
        raise ConnectError(
            f"there is no server socket {account.socket}; is the server running? Else give --socket or --host"
        )
    mode = account.ssl_mode or ("disabled" if account.socket else "preferred")
    allowance = allowance or AnswerLimits(limits.answer)
    try:
        return _open(account, mode, limits, allowance)
    except ssl.SSLError:
        return _open(account, "disabled", limits, allowance)


def _open(account: Account, mode: str, limits: ConnectionLimits, allowance: AnswerLimits) -> Wire:
    seconds = {"connect_timeout": limits.connect, "read_timeout": limits.read, "write_timeout": limits.read}
    try:
        wire = Wire(allowance, **_address(account), **_tls(account, mode), **seconds)
        wire.connect()
    except (ConnectError, StatementNotListed):
        raise
    except ProtocolError as error:
        raise _check_transport(account) from error
    except ssl.SSLError as error:
        if mode == "preferred":
            raise
        raise connect_error(account, error) from error
    except (err.Error, OSError, RuntimeError) as error:
        cause = getattr(error, "original_exception", None)
        if mode == "preferred" and isinstance(cause, ssl.SSLError):
            raise cause from error
        raise connect_error(account, error) from error
    except Exception as error:  # the driver indexes, unpacks and asserts while it reads a greeting
        raise _check_transport(account) from error
    return wire


def _check_transport(account: Account) -> ConnectError:
    return ConnectError(f"what answers at {account.place} doesn't speak the MySQL protocol; check host and port")


def _address(account: Account) -> dict[str, Any]:
    where = {"unix_socket": account.socket} if account.socket else {"host": account.host, "port": account.port}
    return {"user": account.user, "password": account.password, **where}


def _tls(account: Account, mode: str) -> dict[str, Any]:
    """The driver's TLS arguments for one of the five modes of the servers' clients."""
    if mode == "disabled":
        return {"ssl_disabled": True}
    if mode == "preferred" and not account.ssl_cert:
        return {}
    try:
        return {"ssl": _context(account, mode)}
    except OSError as error:
        given = (("ca", account.ssl_ca), ("cert", account.ssl_cert), ("key", account.ssl_key))
        files = " or ".join(f"--ssl-{name} {escape_text(path)}" for name, path in given if path)
        why = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise ConnectError(f"{files} can't be used ({why}); name a file of certificates") from error


def _context(account: Account, mode: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=account.ssl_ca if mode.startswith("verify") else None)
    # The certificates that servers generate fail the strict verification of Python 3.13.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.check_hostname = mode == "verify-identity"
    context.verify_mode = ssl.CERT_REQUIRED if mode.startswith("verify") else ssl.CERT_NONE
    if account.ssl_cert:
        context.load_cert_chain(account.ssl_cert, account.ssl_key)
    return context
