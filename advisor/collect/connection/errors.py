"""Connection errors as one line with the reason and the remedy."""

from __future__ import annotations

import re
import ssl
from typing import TYPE_CHECKING

from advisor.core.errors import ConnectError
from advisor.redaction.secrets import escape_text

if TYPE_CHECKING:
    from advisor.collect.connection.options import Account

# Server and client error numbers: from MySQL's mysqld_error.h and errmsg.h, and MariaDB's own.
BY_SYSTEM_USER = 1698
ACCESS_DENIED = (1044, 1045, BY_SYSTEM_USER)
_REMEDIES = {
    1040: "the server has no connection left; raise max_connections, or try again later",
    1129: "the server blocks this host after too many broken connections; run FLUSH HOSTS (mysqladmin flush-hosts)",
    1130: "the server accepts no connection from this host; create the account for it, or connect by socket",
    1203: "the account has all its connections in use; raise its MAX_USER_CONNECTIONS",
    1226: "the account is at a resource limit; raise it with ALTER USER",
    1524: "the account uses a plugin that the server hasn't loaded; give it another with ALTER USER",
    1820: "the account's password has expired; set a new one with ALTER USER",
    1862: "the account's password has expired; set a new one with ALTER USER",
    3118: "the account is locked; unlock it with ALTER USER … ACCOUNT UNLOCK",
    3159: "the server takes encrypted connections only; add --ssl-mode required",
    3032: "the server is in offline mode and lets in only accounts with CONNECTION_ADMIN",
    4031: "the server closed the connection for being idle",
    4151: "the account is locked; unlock it with ALTER USER … ACCOUNT UNLOCK",
}
_CAN_T_CONNECT = (2002, 2003, 2005)
_LOST = (2006, 2013)
_PLUGIN = (2054, 2058, 2059, 2061, 1251, 1275)
_TLS = 2026
_LONGEST = 512  # characters; the maximum length of error messages in servers


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


def _error_by_number(account: Account, code: int, said: str) -> ConnectError:
    if code in ACCESS_DENIED:
        return _access_denied_error(account, code, said)
    if code in _PLUGIN:
        return _plugin_error(account, said)
    if code in _LOST:
        return ConnectError(
            f"{account.place} took the connection but gave no proper answer in time; is a MySQL or MariaDB server "
            "behind it, and does it respond?"
        )
    if code == _TLS:
        return ConnectError(f"{account.place} offers no TLS; leave --ssl-mode out, or switch TLS on at the server")
    remedy = _REMEDIES.get(code)
    if remedy:
        return ConnectError(f"{account.place}: {remedy}")
    return ConnectError(f"{account.place} refused the connection: {said} (error {code}); check host, port and account")


def _access_denied_error(account: Account, code: int, said: str) -> ConnectError:
    remedy = "check user and password, or give another account with --user and --ask-password"
    if code == BY_SYSTEM_USER:
        remedy = (
            "the account may belong to the system user of that name: run mycnf as "
            f"{escape_text(account.user)}, or see --user"
        )
    elif "password: NO" in said or not account.password:
        remedy = "add --ask-password, or put the password under [client] in an option file (--defaults-file)"
    elif account.socket and not account.ssl_mode:
        remedy += "; an account that requires TLS needs --ssl-mode required"
    # The user name may come from an option file, so it is escaped like any untrusted text.
    return ConnectError(
        f"{account.place} denied access to user {escape_text(account.user)!r} ({account.credential_source}); {remedy}"
    )


def _plugin_error(account: Account, said: str) -> ConnectError:
    match = re.search(r"plugin '(?:b'|b\\')?([\w-]+)|^(\w+) would show", said)
    name = next((g for g in match.groups() if g), "its plugin") if match else "its plugin"
    if "would show" in said:
        return ConnectError(
            f"the server asks for the password in a way that anybody on the way could read ({name}); "
            "connect by socket or with --ssl-mode verify-ca"
        )
    return ConnectError(
        f"user {escape_text(account.user)!r} logs in with {name}, which mycnf's driver doesn't speak; "
        "create an account for mycnf with another plugin (mycnf grants prints one)"
    )


def _tls_error(account: Account, error: ssl.SSLError) -> ConnectError:
    reason = escape_text(getattr(error, "verify_message", "") or error.reason or str(error)).lower().replace("_", " ")
    remedy = "check --ssl-ca, --ssl-cert and --ssl-key"
    if "protocol" in reason or "version" in reason:
        remedy = "the server's TLS is too old for this host; connect by socket, or with --ssl-mode disabled"
    elif "mismatch" in reason:
        remedy = "connect by a name that the certificate is made for, or with --ssl-mode verify-ca"
    return ConnectError(f"TLS with {account.place} failed: {reason}; {remedy}")


def _missing_package_error(error: RuntimeError) -> ConnectError:
    package = "PyNaCl" if "nacl" in str(error).lower() else "cryptography"
    return ConnectError(f"this account's way to log in needs the Python package {package}; install it beside mycnf")


def _unreachable_error(account: Account, error: OSError) -> ConnectError:
    if isinstance(error, TimeoutError):
        return ConnectError(
            f"{account.place} did not answer in time; check the address, firewalls and the server's load"
        )
    if isinstance(error, ConnectionRefusedError):
        return ConnectError(f"nothing listens at {account.place}; is the server running?")
    if isinstance(error, PermissionError):
        return ConnectError(f"{account.place} may not be used by this system user; run mycnf as another, or use --host")
    reason = escape_text(error.strerror or str(error))
    return ConnectError(f"{account.place} can't be reached ({reason}); check the address, or give --socket or --host")
