"""Words of the command that lays two sides beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.arguments import connection, reading, report

if TYPE_CHECKING:
    import argparse

SIDE = (
    "an option file (a path, several joined by commas, -), a snapshot, a target's defaults (mysql-8.4), or a server: "
    "server (as the connection options say), a socket's path, host:port, tcp:HOST, defaults:FILE, login:NAME or "
    "group:SUFFIX"
)


def diff(p: argparse.ArgumentParser) -> None:
    """Words of `mycnf diff`."""
    p.add_argument("a", metavar="A", help=SIDE)
    p.add_argument("b", metavar="B", help="the same")
    p.add_argument(
        "--target",
        action="append",
        metavar="T",
        help="server that a file is read for (default: the other side's; twice: one for each of two files)",
    )
    p.add_argument("--only", action="append", metavar="PATTERN", help="these variables alone, such as 'innodb_*'")
    p.add_argument("--ignore", action="append", metavar="PATTERN", help="all but these variables")
    p.add_argument("--all", action="store_true", help="count what differs by nature too, and print everything whole")
    report(p, "diff")
    reading(p)
    connection(p)
