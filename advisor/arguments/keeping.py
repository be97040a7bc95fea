"""Words of the commands that keep what they see, from one time to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.arguments import connection, isolated, report

if TYPE_CHECKING:
    import argparse


def sample(p: argparse.ArgumentParser) -> None:
    """Words of `mycnf sample`."""
    p.add_argument("--list", action="store_true", help="the servers that were sampled, with their busiest hours")
    p.add_argument(
        "--print-timer", action="store_true", help="print a line for cron and units for systemd that call it, and stop"
    )
    connection(p)


def history(p: argparse.ArgumentParser) -> None:
    """Words of `mycnf history`."""
    p.add_argument(
        "words", nargs="*", metavar="SERVER", help="a server's name or id (default: list all), or add and snapshots"
    )
    p.add_argument("--last", type=int, default=10, metavar="N", help="how many changes, the newest first (default: 10)")
    p.add_argument("--select", action="append", metavar="RULES", help="only these codes, names or families")
    p.add_argument("--ignore", action="append", metavar="RULES", help="all but these codes, names or families")
    report(p, "history")
    isolated(p)


def keep(p: argparse.ArgumentParser) -> None:
    """The wish to keep what is collected."""
    p.add_argument(
        "--keep", action="store_true", help="keep a snapshot for mycnf history too (100 a server, for its owner alone)"
    )
