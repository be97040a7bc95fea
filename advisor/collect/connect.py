"""Open a connection to a server, or say in one line why not and what to do."""

from __future__ import annotations

import ssl
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from pymysql import err

from advisor.collect.refusals import refusal
from advisor.collect.sockets import is_socket
from advisor.collect.wire import Wire
from advisor.exits import ConnectError

if TYPE_CHECKING:
    from advisor.collect.options import Account

# What the driver lets through when the other end talks nonsense: not a server, or a broken one.
_NONSENSE = (ValueError, IndexError, KeyError, TypeError, AttributeError, AssertionError, struct.error)


class Limits(NamedTuple):
    """Seconds: to connect, for one answer at the client, and for one statement at the server where that works."""

    connect: float = 5.0
    read: float = 10.0
    statement: int = 5


DEFAULT_LIMITS = Limits()


def connect(account: Account, limits: Limits = DEFAULT_LIMITS) -> Wire:
    """A connection with autocommit on; raises ConnectError with one line of what went wrong and what to do.

    TLS `preferred` (the default on TCP) goes on without it where the server has none, as the servers' own clients do,
    or only versions that are too old; on a Unix socket TLS is used only where it is asked for.
    """
    if account.socket and not is_socket(account.socket):
        raise ConnectError(
            f"there is no server socket {account.socket}; is the server running? Else give --socket or --host"
        )
    mode = account.ssl_mode or ("disabled" if account.socket else "preferred")
    try:
        return _open(account, mode, limits)
    except ssl.SSLError:
        return _open(account, "disabled", limits)


def _open(account: Account, mode: str, limits: Limits) -> Wire:
    try:
        wire = Wire(
            **_address(account), **_tls(account, mode), connect_timeout=limits.connect, read_timeout=limits.read
        )
        wire.connect()
    except ssl.SSLError as error:
        if mode == "preferred":
            raise
        raise refusal(account, error) from error
    except (err.Error, OSError, RuntimeError) as error:
        cause = getattr(error, "original_exception", None)
        if mode == "preferred" and isinstance(cause, ssl.SSLError):
            raise cause from error
        raise refusal(account, error) from error
    except _NONSENSE as error:
        raise ConnectError(
            f"what answers at {account.place} doesn't speak the MySQL protocol; check host and port"
        ) from error
    return wire


def _address(account: Account) -> dict[str, Any]:
    where = {"unix_socket": account.socket} if account.socket else {"host": account.host, "port": account.port}
    return {"user": account.user, "password": account.password, **where}


def _tls(account: Account, mode: str) -> dict[str, Any]:
    """What the driver wants to know about TLS in one of the five modes of the servers' clients."""
    if mode == "disabled":
        return {"ssl_disabled": True}
    if mode == "preferred" and not account.ssl_cert:
        return {}
    try:
        return {"ssl": _context(account, mode)}
    except OSError as error:
        raise ConnectError(
            f"--ssl-ca, --ssl-cert or --ssl-key can't be used ({error.strerror}); check the files"
        ) from error


def _context(account: Account, mode: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=account.ssl_ca if mode.startswith("verify") else None)
    # The certificates that servers make for themselves fail the strict check of Python 3.13.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.check_hostname = mode == "verify-identity"
    context.verify_mode = ssl.CERT_REQUIRED if mode.startswith("verify") else ssl.CERT_NONE
    if account.ssl_cert:
        context.load_cert_chain(account.ssl_cert, account.ssl_key)
    return context
