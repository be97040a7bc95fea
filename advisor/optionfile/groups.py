"""Which groups of an option file a program reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.core.model import Target


def groups_read(target: Target, program: str = "server", suffix: str = "") -> frozenset[str]:
    """The groups that the server of this version reads, or (`client`) its clients, in lower case.

    Servers compare groups without regard to case, so compare `group.lower()`. With a suffix
    (`--defaults-group-suffix`) each group counts with it too.
    Source: "The following groups are read" in each server's `--verbose --help`; [mysql_cluster] and
    [mariadb-11] are there in 9.7.4 and 11.8.9, not in 8.0.15 and 11.4.5.
    """
    names = _server(target) if program == "server" else _client(target)
    return frozenset(names) | frozenset(name + suffix.lower() for name in names)


def _server(target: Target) -> set[str]:
    groups = {"mysqld", "server", f"mysqld-{target.series}"}
    if target.is_mariadb:
        groups |= {"mariadb", "mariadbd", f"mariadb-{target.series}", f"mariadbd-{target.series}"}
        groups |= {"client-server", "galera"}
        if target.since("mariadb", 11, 8):
            groups |= {f"mariadb-{target.version[0]}", f"mariadbd-{target.version[0]}"}
    elif target.since("mysql", 9, 7):
        groups.add("mysql_cluster")
    return groups


def _client(target: Target) -> set[str]:
    return {"client", "client-server", "client-mariadb"} if target.is_mariadb else {"client"}
