"""An account's load on a server from the server's logs: counts from the general log, times from the slow log."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from probes.sandbox import Sandbox

SAID = re.compile(r"^(?:.*\t)?\s*(?P<id>\d+) (?P<command>Connect|Query|Prepare|Execute)\t(?P<words>.*)$", re.MULTILINE)
TIMED = re.compile(
    r"^# User@Host: (?P<account>[^\[\s]+)\[.*\n(?:# (?!Query_time).*\n)*"
    r"# Query_time: (?P<seconds>[\d.]+)\s+Lock_time: [\d.]+\s+Rows_sent: \d+\s+Rows_examined: (?P<rows>\d+).*\n"
    r"(?:# (?!administrator).*\n)*(?:use .*\n)?(?:SET timestamp=.*\n)?(?P<sql>.*(?:\n(?!#).*)*)",
    re.MULTILINE,
)
SWITCHES: dict[str, str | int] = {
    "log_output": "FILE",
    "long_query_time": 0,
    "min_examined_row_limit": 0,
    "general_log": 1,
    "slow_query_log": 1,
}
LONG = 100  # characters of a statement


class Load(NamedTuple):
    """Connections and statements of an account; total and longest seconds in the server, and rows examined."""

    connections: int
    statements: int
    seconds: float
    longest: float
    longest_sql: str
    rows: int


class Logs:
    """The general log and the slow log of a server."""

    def __init__(self, folder: str) -> None:
        self.general = os.path.join(folder, "every.log")
        self.slow = os.path.join(folder, "timed.log")

    def of(self, account: str) -> Load:
        """The load of one account since the logs were started."""
        with open(self.general, encoding="utf-8", errors="replace") as file:
            lines = list(SAID.finditer(file.read()))
        own = {one["id"] for one in lines if one["command"] == "Connect" and one["words"].startswith(f"{account}@")}
        sent = sum(one["command"] != "Connect" and one["id"] in own for one in lines)
        with open(self.slow, encoding="utf-8", errors="replace") as file:
            timed = [one for one in TIMED.finditer(file.read()) if one["account"] == account]
        longest, sql = max(((float(one["seconds"]), " ".join(one["sql"].split())) for one in timed), default=(0.0, ""))
        return Load(
            connections=len(own),
            statements=sent,
            seconds=sum(float(one["seconds"]) for one in timed),
            longest=longest,
            longest_sql=sql if len(sql) <= LONG else f"{sql[: LONG - 1]}…",
            rows=sum(int(one["rows"]) for one in timed),
        )


@contextlib.contextmanager
def logged(sandbox: Sandbox) -> Iterator[Logs]:
    """In the block, log each statement of sessions that begin in it; then restore the settings."""
    logs = Logs(sandbox.directory)
    wanted = {"general_log_file": logs.general, "slow_query_log_file": logs.slow, **SWITCHES}
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(f'@@GLOBAL.{name}' for name in wanted)}")
        before = dict(zip(wanted, cursor.fetchone() or (), strict=True))
        for name, value in wanted.items():
            cursor.execute(f"SET GLOBAL {name} = %s", (value,))
        try:
            yield logs
        finally:
            for name in reversed(wanted):
                cursor.execute(f"SET GLOBAL {name} = %s", (before[name],))
