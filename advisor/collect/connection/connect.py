"""Open a connection to a server; errors are one line with the reason and the remedy."""

from __future__ import annotations

import re
import ssl
from typing import TYPE_CHECKING, Any, NamedTuple

from pymysql import err

from advisor.collect.connection.sockets import is_socket
from advisor.collect.connection.wire import AnswerLimits, ProtocolError, StatementNotListed, Wire
from advisor.core.errors import ConnectError, NoListenerError
from advisor.redaction import escape_text

if TYPE_CHECKING:
    from advisor.collect.connection.options import Account


# Server and client error numbers: from MySQL's mysqld_error.h and errmsg.h, and MariaDB's own.
BY_SYSTEM_USER = 1698
ACCESS_DENIED = (1044, 1045, BY_SYSTEM_USER)

_REMEDIES = {
    1040: "max_connections is reached; one more connection is kept for an administrator's account (--user), and some "
    "servers have a port for it (--port with admin_port or extra_port)",
    1129: "the server blocks this host after too many broken connections; from another host run TRUNCATE TABLE "
    "performance_schema.host_cache on MySQL, FLUSH HOSTS on MariaDB",
    1130: "the server accepts no connection from this host; create the account for this host, or connect by socket",
    1203: "the account has all its connections in use; raise its MAX_USER_CONNECTIONS",
    1226: "the account is at a resource limit; raise it with ALTER USER",
    1524: "the account uses a plugin that the server hasn't loaded; give it another with ALTER USER",
    1820: "the account's password has expired; set a new one with ALTER USER",
    1862: "the account's password has expired; set a new one with ALTER USER",
    3118: "the account is locked; unlock it with ALTER USER … ACCOUNT UNLOCK",
    3159: "the server accepts only encrypted connections; add --ssl-mode required",
    3032: "the server is in offline mode and accepts only accounts with CONNECTION_ADMIN",
    4031: "the server closed the connection because it was idle",
    4151: "the account is locked; unlock it with ALTER USER … ACCOUNT UNLOCK",
}
_LOST = (2006, 2013)
_PLUGIN = (2054, 2058, 2059, 2061, 1251, 1275)
_TLS = 2026
_LONGEST = 512  # characters; the maximum length of error messages in servers


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
        raise NoListenerError(
            f"there is no server socket {account.socket}; is the server running? Else give --socket or --host"
        )
    mode = account.ssl_mode or ("disabled" if account.socket else "preferred")
    allowance = allowance or AnswerLimits(limits.answer)
    try:
        return _open_wire(account, mode, limits, allowance)
    except ssl.SSLError:
        return _open_wire(account, "disabled", limits, allowance)


def _open_wire(account: Account, mode: str, limits: ConnectionLimits, allowance: AnswerLimits) -> Wire:
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
    return ConnectError(f"the service at {account.place} does not speak the MySQL protocol; check host and port")


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


def error_text(error: Exception) -> str:
    """The driver's or server's message, escaped and limited to the length of server messages."""
    return escape_text(str(error.args[-1] if error.args else error)[:_LONGEST])


def connect_error(account: Account, error: Exception) -> ConnectError:
    """The ConnectError for an error of the driver, the operating system or the server."""
    if isinstance(error, ssl.SSLError):
        return _tls_error(account, error)
    if isinstance(error, RuntimeError):
        return _missing_package_error(error)
    cause = getattr(error, "original_exception", None)
    if isinstance(cause, ssl.SSLError):
        return _tls_error(account, cause)
    if isinstance(cause, OSError):
        return _unreachable_error(account, cause)
    if isinstance(error, OSError):
        return _unreachable_error(account, error)
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    return _error_by_number(account, code, error_text(error))


def _error_by_number(account: Account, code: int, message: str) -> ConnectError:
    if code in ACCESS_DENIED:
        return _access_denied_error(account, code, message)
    if code in _PLUGIN:
        return _plugin_error(account, message)
    if code in _LOST:
        return ConnectError(
            f"{account.place} accepted the connection but did not answer properly in time; is a MySQL or MariaDB "
            "server behind it, and does it respond?"
        )
    if code == _TLS:
        return ConnectError(f"{account.place} offers no TLS; omit --ssl-mode, or enable TLS on the server")
    remedy = _REMEDIES.get(code)
    if remedy:
        return ConnectError(f"{account.place}: {remedy}")
    return ConnectError(
        f"{account.place} refused the connection: {message} (error {code}); check host, port and account"
    )


def _access_denied_error(account: Account, code: int, message: str) -> ConnectError:
    remedy = "check user and password, or give another account with --user and --ask-password"
    if code == BY_SYSTEM_USER:
        remedy = (
            "the account may belong to the system user of that name: run mycnf as "
            f"{escape_text(account.user)}, or see --user"
        )
    elif "password: NO" in message or not account.password:
        remedy = "add --ask-password, or put the password under [client] in an option file (--defaults-file)"
    elif account.socket and not account.ssl_mode:
        remedy += "; an account that requires TLS needs --ssl-mode required"
    # The user name may come from an option file, so it is escaped like any untrusted text.
    return ConnectError(
        f"{account.place} denied access to user {escape_text(account.user)!r} ({account.credential_source}); {remedy}"
    )


def _plugin_error(account: Account, message: str) -> ConnectError:
    match = re.search(r"plugin '(?:b'|b\\')?([\w-]+)|^(\w+) would show", message)
    name = next((g for g in match.groups() if g), "its plugin") if match else "its plugin"
    if "would show" in message:
        user = message.rpartition(" a process of user ")[2] if account.socket else ""
        if user.isdecimal():
            return ConnectError(
                f"the server asks for the password itself ({name}), but {account.socket} belongs to a process of user "
                f"{user}, which is neither root nor you nor mysql; connect by TCP with --ssl-mode verify-ca"
            )
        return ConnectError(
            f"the server asks for the password in a way that anyone on the network path could read ({name}); connect "
            "by socket or with --ssl-mode verify-ca"
        )
    return ConnectError(
        f"user {escape_text(account.user)!r} logs in with {name}, which mycnf's driver does not support; create an "
        "account for mycnf with another plugin (mycnf grants prints one)"
    )


def _tls_error(account: Account, error: ssl.SSLError) -> ConnectError:
    reason = escape_text(getattr(error, "verify_message", "") or error.reason or str(error)).lower().replace("_", " ")
    remedy = "check --ssl-ca, --ssl-cert and --ssl-key"
    if "protocol" in reason or "version" in reason:
        remedy = "the server's TLS is too old for this host; connect by socket, or with --ssl-mode disabled"
    elif "mismatch" in reason:
        remedy = "connect by a name in the certificate, or with --ssl-mode verify-ca"
    return ConnectError(f"TLS with {account.place} failed: {reason}; {remedy}")


def _missing_package_error(error: RuntimeError) -> ConnectError:
    package = "PyNaCl" if "nacl" in str(error).lower() else "cryptography"
    return ConnectError(
        f"this account's authentication needs the Python package {package}; install it in mycnf's environment"
    )


def _unreachable_error(account: Account, error: OSError) -> ConnectError:
    if isinstance(error, TimeoutError):
        return ConnectError(
            f"{account.place} did not answer in time; check the address, firewalls and the server's load"
        )
    if isinstance(error, ConnectionRefusedError):
        return NoListenerError(f"nothing listens at {account.place}; is the server running?")
    if isinstance(error, PermissionError):
        return ConnectError(f"{account.place} may not be used by this system user; run mycnf as another, or use --host")
    reason = escape_text(error.strerror or str(error))
    return ConnectError(f"{account.place} can't be reached ({reason}); check the address, or give --socket or --host")
