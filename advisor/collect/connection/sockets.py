"""Find the Unix sockets of servers, and the processes that listen on them."""

from __future__ import annotations

import os
import pwd
import socket
import stat
import struct

from advisor.core.errors import ConnectError

# The packages of Debian and Ubuntu; of Red Hat and SUSE; the tarballs of MySQL and MariaDB.
USUAL_SOCKETS = (
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/run/mysql/mysql.sock",
    "/tmp/mysql.sock",  # noqa: S108 - the default of MySQL's own builds; we only look, and never write there
)
ACCOUNTS = ("mysql", "mariadb")  # system users that packages run servers as
_LISTENING = "00010000"  # the flag of a listening socket in /proc/net/unix, see proc(5)


def default_socket() -> str:
    """The first usual socket that exists, MYSQL_UNIX_PORT first.

    A socket that anyone could create, such as one in /tmp, is used only if it belongs to root, to a server's system
    user or to us: its listener gets the password. Raises ConnectError with the remedy if there is none.
    """
    configured = os.environ.get("MYSQL_UNIX_PORT")
    if configured and is_socket(configured):
        return configured
    for path in USUAL_SOCKETS:
        if is_socket(path) and _is_trustworthy(path):
            return path
    seen, foreign = listening_sockets(), next(filter(is_socket, USUAL_SOCKETS), "")
    hint = f"; a server seems to listen on {seen[0]}" if seen else ""
    if foreign:
        hint = f"; {foreign} belongs to {_owner(foreign)}, and anybody may create one there, so it must be named"
    raise ConnectError(
        f"no server socket in the usual places ({', '.join(USUAL_SOCKETS)}){hint}; give --socket or "
        "--host. Without a server: "
        "mycnf audit --demo audits a recorded one, mycnf lint FILE checks an option file"
    )


def is_socket(path: str) -> bool:
    """Whether the path is a Unix socket."""
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _is_trustworthy(path: str) -> bool:
    """Whether only root or one of the known users can have made a file."""
    try:
        if not os.stat(os.path.dirname(path)).st_mode & stat.S_IWOTH:
            return True
        return runs_servers(os.stat(path).st_uid)
    except OSError:
        return False


def runs_servers(user: int) -> bool:
    """Whether a user may be trusted with a password for a server: root, the present user, or one of packages."""
    try:
        return user in (0, os.geteuid()) or pwd.getpwuid(user).pw_name in ACCOUNTS
    except KeyError:
        return False


def _owner(path: str) -> str:
    try:
        number = os.stat(path).st_uid
        return f"user {pwd.getpwuid(number).pw_name}"
    except OSError:
        return "another user"
    except KeyError:
        return f"user {number}"


def listening_sockets(table: str = "/proc/net/unix") -> list[str]:
    """Paths of listening sockets on this host whose name suggests a server."""
    paths = {path for path, _ in listening_inodes(table)}
    return sorted(p for p in paths if p.endswith(".sock") and ("mysql" in p or "maria" in p) and "mysqlx" not in p)


def listening_inodes(table: str = "/proc/net/unix") -> list[tuple[str, str]]:
    """Path and inode of every listening socket on this host that has a path."""
    try:
        with open(table, encoding="utf-8", errors="surrogateescape") as rows:
            fields = [row.split(maxsplit=7) for row in rows]
    except OSError:
        return []
    listed = [f for f in fields if len(f) == 8 and f[3] == _LISTENING]  # noqa: PLR2004 - columns of the table
    return [(f[7].strip(), f[6]) for f in listed]


def peer_pid(connected: socket.socket) -> int:
    """The process that listens on a connected Unix socket; 0 if the kernel does not report it."""
    return _peer(connected)[0]


def peer_user(connected: socket.socket) -> int:
    """The user of the process that listens on a connected Unix socket; -1 if the kernel does not report it."""
    return _peer(connected)[1]


def _peer(connected: socket.socket) -> tuple[int, int]:
    if connected.family != socket.AF_UNIX:
        return 0, -1
    try:
        credentials = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    except OSError:
        return 0, -1
    pid, user, _ = struct.unpack("3i", credentials)
    return pid, user
