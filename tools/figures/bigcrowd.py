"""Open connections, some of which run statements, until the pipe to this process is closed.

usage: python tools/figures/bigcrowd.py SOCKET CONNECTIONS BUSY
"""

from __future__ import annotations

import random
import select
import sys
from typing import Any

import pymysql

PAUSE = 0.02  # seconds between two statements of all connections together
TABLES = 100  # tables that are read and written
READ, WRITE = "SELECT pad FROM t{:04} WHERE id = 2", "UPDATE t{:04} SET k = k + 1 WHERE id = 2"


def main() -> int:
    """Open the connections, let each read a row, report that, and keep a few busy."""
    socket, count, busy = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    dice = random.Random(count)  # noqa: S311 - no secret
    where: dict[str, Any] = {"unix_socket": socket, "user": "app", "database": "s00", "ssl_disabled": True}
    opened = [pymysql.connect(**where, autocommit=True) for _ in range(count)]
    for connection in opened:
        _say(connection, READ, dice)
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], PAUSE)[0]:
        connection = dice.choice(opened[:busy])
        _say(connection, READ, dice)
        _say(connection, WRITE, dice)
    for connection in opened:
        connection.close()
    return 0


def _say(connection: pymysql.Connection[Any], statement: str, dice: random.Random) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement.format(dice.randrange(TABLES)))
        cursor.fetchall()


if __name__ == "__main__":
    sys.exit(main())
