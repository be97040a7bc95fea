"""Record advisor/demo/series.json: five minutes of a throwaway server under load, with an incident in them.

usage: python tools/demo_series.py [--server NAME]

The server has the buffer pool of the one in advisor/demo/recording.json. After two minutes a transaction changes rows
that most sessions change too, and stays open for 70 seconds; then a variable is set that makes InnoDB flush more.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

from real_servers import lacking, provisioned

from advisor.collect.host.live_load import LoadReader
from advisor.collect.server.workload import sample_at
from advisor.commands.collect import DEMO_SERIES
from advisor.tui.screens.workload.rates import RecordedSeries, add_sample, write_series
from advisor.tui.screens.workload.sampler import EVERY, changed_variables
from probes.sandbox import start_server

if TYPE_CHECKING:
    from collections.abc import Callable

    from probes.sandbox import Sandbox

ARGUMENTS = ("--innodb-buffer-pool-size=256M", "--innodb-log-file-size=64M", "--max-connections=2000")
WARM_UP, SECONDS = 20.0, 300.0
BLOCKED, RELEASED, FLUSHED = 110.0, 180.0, 225.0  # seconds from the first sample
SESSIONS, ROWS, HOT = 12, 400_000, 40
REST = 0.004  # seconds between two statements of a session, so that the host is not saturated
ABOUT = "recorded load; a transaction held rows for 70 s"


def main() -> int:
    """Record and write the series."""
    parser = argparse.ArgumentParser(description="record the demo's series")
    parser.add_argument("--server", default="mariadb-10.11")
    name = parser.parse_args().server
    if reason := lacking(name):
        sys.exit(f"demo_series: {reason}")
    with start_server(provisioned(name), arguments=ARGUMENTS) as server:
        fill(server)
        over = threading.Event()
        threads = [threading.Thread(target=work, args=(server, over, n), daemon=True) for n in range(SESSIONS)]
        for thread in threads:
            thread.start()
        time.sleep(WARM_UP)
        series = record(server)
        over.set()
        for thread in threads:
            thread.join()
    write_series(DEMO_SERIES, series)
    size = os.path.getsize(DEMO_SERIES)
    print(f"wrote {os.path.relpath(DEMO_SERIES, TOP)}: {len(series.samples)} samples, {size:,} bytes")
    return 0


def fill(server: Sandbox) -> None:
    """A table larger than a third of the buffer pool."""
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE shop")
        cursor.execute(
            "CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, total INT, note CHAR(200), KEY (customer)) "
            "ENGINE=InnoDB"
        )
        for first in range(0, ROWS, 2000):
            rows = ",".join(f"({n},{n % 5000},{n % 97},REPEAT('x',200))" for n in range(first, first + 2000))
            cursor.execute(f"INSERT INTO shop.orders VALUES {rows}")  # noqa: S608 - numbers of our own


def work(server: Sandbox, over: threading.Event, number: int) -> None:
    """One session: mostly point reads, ranges and updates, of which some change the same few rows."""
    chance = random.Random(number)  # noqa: S311 - a load, no secret
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SET innodb_lock_wait_timeout = 600")
        while not over.is_set():
            send_statement(cursor, chance)
            over.wait(REST * chance.uniform(0.5, 1.5))


READ = "SELECT total, note FROM shop.orders WHERE id = %(key)s"
SUM = "SELECT SUM(total) FROM shop.orders WHERE customer = %(customer)s"
RANGE = "SELECT note, COUNT(*) FROM shop.orders WHERE id BETWEEN %(key)s AND %(key)s + 300 GROUP BY note"
WRITE = "UPDATE shop.orders SET total = total + 1, note = REPEAT('y', 200) WHERE id = %(key)s"
WRITE_HOT = "UPDATE shop.orders SET total = total + 1 WHERE id = %(hot)s"
STATEMENTS = {READ: 60, SUM: 15, RANGE: 2, WRITE: 20, WRITE_HOT: 3}  # with how often each is sent


def send_statement(cursor: Any, chance: random.Random) -> None:
    """Send one statement, drawn by how often each is sent."""
    (statement,) = chance.choices(list(STATEMENTS), list(STATEMENTS.values()))
    drawn = {"key": chance.randrange(ROWS), "customer": chance.randrange(5000), "hot": chance.randrange(HOT)}
    cursor.execute(statement, drawn)


def record(server: Sandbox) -> RecordedSeries:
    """The samples of five minutes with the incident among them."""
    kept: tuple[Any, ...] = ()
    changes: list[Any] = []
    reader = LoadReader(server.pid, *device_of(server.datadir))
    blocker = server.connect(autocommit=False)
    began, step, variables = time.monotonic(), 0, variables_of(server)
    hold = f"UPDATE shop.orders SET total = 0 WHERE id < {HOT}"  # noqa: S608 - a number of our own
    steps: list[tuple[float, Callable[[], object]]] = [
        (BLOCKED, lambda: blocker.cursor().execute(hold)),
        (RELEASED, blocker.rollback),
        (FLUSHED, lambda: execute(server, "SET GLOBAL innodb_max_dirty_pages_pct = 5")),
    ]
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        while (now := time.monotonic() - began) <= SECONDS:
            cursor.execute("SHOW GLOBAL STATUS")
            status = {key.lower(): value for key, value in cursor.fetchall()}
            sample = sample_at(status, now)
            sample.status.update(reader.read())
            kept = add_sample(kept, sample)
            after = variables_of(server)
            changes += changed_variables(variables, after, now)
            variables = after
            if step < len(steps) and now >= steps[step][0]:
                steps[step][1]()
                step += 1
            time.sleep(max(0.0, EVERY - (time.monotonic() - began - now)))
    return RecordedSeries(kept, tuple(changes), ABOUT)


def variables_of(server: Sandbox) -> dict[str, str]:
    """The server's global variables."""
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        return {name.lower(): value for name, value in cursor.fetchall()}


def execute(server: Sandbox, statement: str) -> None:
    """Run a statement on a connection of its own."""
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(statement)


def device_of(path: str) -> tuple[str, list[str]]:
    """The block device below a directory, and the disks below that, which is the same one here."""
    number = os.stat(path).st_dev
    try:
        name = os.path.basename(os.path.realpath(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"))
    except OSError:
        return "", []
    return (name, [name]) if not name.startswith("0:") else ("", [])


if __name__ == "__main__":
    sys.exit(main())
