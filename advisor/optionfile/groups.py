"""The groups of an option file that a program reads, and how servers split it into lines."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from advisor.core.model import Target


def groups_read(target: "Target", program: str = "server", suffix: str = "") -> frozenset[str]:
    """Return the groups, in lower case, that a server of this version or (`client`) its clients read.

    Servers compare groups case-insensitively, so compare `group.lower()`. With a suffix (`--defaults-group-suffix`) the
    server reads each group with the suffix too. Source: "The following groups are read" in each server's `--verbose
    --help`; [mysql_cluster] and [mariadb-11] are listed by 9.7.4 and 11.8.9, not by 8.0.15 and 11.4.5.
    """
    names = _server_groups(target) if program == "server" else _client_groups(target)
    return frozenset(names) | frozenset(name + suffix.lower() for name in names)


def _server_groups(target: "Target") -> set[str]:
    groups = {"mysqld", "server", f"mysqld-{target.series}"}
    if target.is_mariadb:
        groups |= {"mariadb", "mariadbd", f"mariadb-{target.series}", f"mariadbd-{target.series}"}
        groups |= {"client-server", "galera"}
        if target.since("mariadb", 11, 8):
            groups |= {f"mariadb-{target.version[0]}", f"mariadbd-{target.version[0]}"}
    elif target.since("mysql", 9, 7):
        groups.add("mysql_cluster")
    return groups


def _client_groups(target: "Target") -> set[str]:
    return {"client", "client-server", "client-mariadb"} if target.is_mariadb else {"client"}


class Dialect(NamedTuple):
    """How one server splits a file into lines and includes.

    `whole_lines`: it reads lines of any length; otherwise it continues after 4094 bytes as on a new line.
    `lenient_includes`: it strips a comment after an include path, and reads the whole path if the file ends after it;
    otherwise the comment is part of the path, and the last byte is dropped as if it were the newline.
    """

    whole_lines: bool
    lenient_includes: bool


def dialect_of(flavour: str, version: tuple[int, ...] | None = None) -> Dialect:
    """Return the dialect of a version, or of the flavour's newest.

    The source of 8.0.27 has whole lines, that of 8.0.15 does not; includes between 8.0.27 and 9.7.4 were not tested.
    """
    if flavour == "mariadb":
        return Dialect(whole_lines=False, lenient_includes=False)
    whole_lines = version is None or version >= (8, 0, 27)
    return Dialect(whole_lines, lenient_includes=version is None or version >= (9, 7))


NEWEST_DIALECT = dialect_of("mysql")
