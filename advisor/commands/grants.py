"""`mycnf grants`: the least-privileged account that an audit can use, as statements with their reasons."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, NamedTuple

from advisor import exits
from advisor.catalog.targets import parse_target

if TYPE_CHECKING:
    import argparse

    from advisor.model import Target

ACCOUNT = "'mycnf'@'localhost'"
_EVERY_KIND = "_aA1"  # validate_password wants one character of each kind


class Grant(NamedTuple):
    """One privilege and what an audit reads with it."""

    privilege: str
    on: str
    why: str


_PROCESS = Grant("PROCESS", "*.*", "InnoDB's status and counters: redo position, checkpoint age, purge lag")
_SIZES = Grant("SELECT", "mysql.innodb_table_stats", "how much InnoDB data there is, without opening a table of users")
_MEMORY = Grant(
    "SELECT",
    "performance_schema.memory_summary_global_by_event_name",
    "the memory that the server accounts for, where performance_schema is on",
)
_MYSQL = (
    _PROCESS,
    Grant("REPLICATION CLIENT", "*.*", "whether the server is a replica, and of whom"),
    _SIZES,
    _MEMORY,
    Grant("SELECT", "performance_schema.threads", "how many replicas read this server's binary log"),
    Grant("SELECT", "performance_schema.replication_group_members", "how many servers are in its replication group"),
)
_MARIADB = (
    _PROCESS,
    Grant("SLAVE MONITOR", "*.*", "whether the server is a replica, and of whom"),
    _SIZES,
    _MEMORY,
)


def run(args: argparse.Namespace) -> int:
    """Print the statements for the target's account, with a password made for this once."""
    print(statements(parse_target(args.target), secrets.token_urlsafe(18) + _EVERY_KIND), end="")
    return exits.OK


def statements(target: Target, password: str) -> str:
    """CREATE USER and GRANTs for a target, one statement a line, each under the comment that says why."""
    lines = [
        f"-- The account that mycnf needs on {target.label}: it reads settings and counters, and can change nothing.",
        "-- Without one of the grants an audit still runs and says what it had to skip.",
        "",
        "-- The password was made just now and is nowhere else. Keep it in an option file of mode 0600:",
        "--   [mycnf]",
        "--   user = mycnf",
        f"--   password = {password}",
        *_without_password(target),
        "-- Two connections at most: the second ends a statement of the first that takes too long.",
        f"CREATE USER {ACCOUNT} IDENTIFIED BY '{password}' WITH MAX_USER_CONNECTIONS 2;",
    ]
    for grant in _MARIADB if target.is_mariadb else _MYSQL:
        lines += ["", f"-- {grant.why}", f"GRANT {grant.privilege} ON {grant.on} TO {ACCOUNT};"]
    return "\n".join(lines) + "\n"


def _without_password(target: Target) -> list[str]:
    if not target.is_mariadb:
        return []
    return [
        "-- Or no password: IDENTIFIED VIA unix_socket lets in the system user mycnf, and nobody else, by the socket."
    ]
