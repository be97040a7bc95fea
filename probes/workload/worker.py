"""A process of our own driver: several connections, one thread each, that run a workload and count.

It is started by `own_driver.run_own_load`, reads its orders as JSON from stdin, and writes its report as JSON to
stdout.
"""

from __future__ import annotations

import json
import math
import os
import random
import resource
import threading
import time
from typing import TYPE_CHECKING, Any

from probes.workload.load import PARETO_SHAPE, Login

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PARETO_POWER = math.log(PARETO_SHAPE) / math.log(1 - PARETO_SHAPE)
# Errors that sysbench ignores too: deadlock, lock wait timeout, and a row that changed since the snapshot (MariaDB).
REPEATED = (1213, 1205, 1020)
PER_DOUBLING = 16  # latency buckets per doubling: each is 4.4 % wider than the one before
C_GROUPS, PAD_GROUPS = 10, 5
POLL = 0.002


class WorkerOrders:
    """The orders from the JSON input."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.socket: str = fields["socket"]
        self.login = Login(**fields["login"])
        self.database: str = fields["database"]
        self.tables: int = fields["tables"]
        self.rows: int = fields["rows"]
        self.steps: list[tuple[list[str], int]] = fields["steps"]
        self.bracketed: bool = fields["bracketed"]
        self.connecting: bool = fields["connecting"]
        self.span: int = fields["span"]
        self.kind: str = fields["kind"]
        self.keys: list[int] = _read_keys(fields["keys_file"])
        self.connections: int = fields["connections"]
        self.seconds: int = fields["seconds"]
        self.seed: int = fields["seed"]
        self.go: str = fields["go"]


class ConnectionCounts:
    """The counts of one connection by second, and the latencies of transactions by second and bucket."""

    def __init__(self, seconds: int) -> None:
        self.transactions = [0] * seconds
        self.queries = [0] * seconds
        self.latencies: list[dict[int, int]] = [{} for _ in range(seconds)]
        self.errors = 0
        self.broken = ""
        self.elapsed = 0.0


def run_worker(fields: dict[str, Any]) -> None:
    """Connect, wait for the start, run transactions until the time is up, and report."""
    import pymysql

    orders = WorkerOrders(fields)
    way = orders.login.options(orders.socket)
    connections = [
        pymysql.connect(**way, database=orders.database, autocommit=True, defer_connect=orders.connecting)
        for _ in range(orders.connections)
    ]
    print("ready", flush=True)
    begin = _wait_for_start(orders.go)
    used = _cpu_seconds()
    tallies = [ConnectionCounts(orders.seconds) for _ in connections]
    threads = [
        threading.Thread(target=_send_transactions, args=(connection, orders, begin, tally, orders.seed + place))
        for place, (connection, tally) in enumerate(zip(connections, tallies, strict=True))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(_report(tallies, _cpu_seconds() - used)), flush=True)


def _wait_for_start(go: str) -> float:
    """The start time, on the clock that all processes share, once the file exists."""
    while not os.path.exists(go):
        time.sleep(POLL)
    with open(go, encoding="ascii") as text:
        begin = float(text.read())
    time.sleep(max(0.0, begin - time.monotonic()))
    return begin


def _send_transactions(connection: Any, orders: WorkerOrders, begin: float, tally: ConnectionCounts, seed: int) -> None:
    import pymysql

    draw = KeyDraw(orders, seed)
    end = begin + orders.seconds
    last = orders.seconds - 1
    now = time.monotonic()
    try:
        while now < end:
            started = now
            whole, sent = _send_transaction(connection, orders, draw)
            now = time.monotonic()
            # Transactions still running when the time was up belong to the last second, so that sums match the
            # server's counters.
            second = min(last, int(now - begin))
            tally.queries[second] += sent
            if whole:
                tally.transactions[second] += 1
                bucket = int(math.log2(max(1e-6, now - started)) * PER_DOUBLING)
                tally.latencies[second][bucket] = tally.latencies[second].get(bucket, 0) + 1
            else:
                tally.errors += 1
        tally.elapsed = now - begin
    except (pymysql.Error, OSError) as error:
        tally.broken = str(error)


def _send_transaction(connection: Any, orders: WorkerOrders, draw: KeyDraw) -> tuple[bool, int]:
    """Run one transaction; returns whether it succeeded, and the number of statements sent."""
    import pymysql

    sent = 0
    if orders.connecting:
        connection.connect()
    try:
        if orders.bracketed:
            sent += 1
            connection.query("BEGIN")
        for statements, times in orders.steps:
            for _ in range(times):
                values = draw.values()
                for statement in statements:
                    sent += 1
                    connection.query(statement.format_map(values))
        if orders.bracketed:
            sent += 1
            connection.query("COMMIT")
    except pymysql.Error as error:
        if not (error.args and error.args[0] in REPEATED):
            raise
        connection.query("ROLLBACK")
        return False, sent + 1
    finally:
        if orders.connecting and connection.open:
            connection.close()
    return True, sent


class KeyDraw:
    """Draws the values for statements, lazily."""

    def __init__(self, orders: WorkerOrders, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - load, no secret
        self._orders = orders
        self._id = self._by_kind()

    def values(self) -> dict[str, Any]:
        """A new draw of all values that a statement may contain."""
        return _LazyValues(self._random, self._orders, self._id())

    def _by_kind(self) -> Callable[[], int]:
        uniform, keys, rows = self._random.random, self._orders.keys, self._orders.rows
        count = len(keys) or rows
        power = PARETO_POWER if self._orders.kind == "pareto" else 1.0
        if keys:
            return lambda: keys[int(count * uniform() ** power)]
        return lambda: 1 + int(count * uniform() ** power)


class _LazyValues(dict[str, Any]):
    """The values of one draw; long texts are generated only if a statement uses them."""

    def __init__(self, source: random.Random, orders: WorkerOrders, key: int) -> None:
        table = f"sbtest{1 if orders.tables == 1 else 1 + source.randrange(orders.tables)}"
        super().__init__(id=key, end=key + orders.span - 1, table=table)
        self._source, self._rows = source, orders.rows

    def __missing__(self, name: str) -> Any:
        if name == "k":
            return 1 + self._source.randrange(self._rows)
        return random_digits(self._source, C_GROUPS if name == "c" else PAD_GROUPS)


def random_digits(source: random.Random, groups: int) -> str:
    """Random text in sysbench's format: groups of eleven digits, separated by hyphens."""
    text = f"{source.randrange(10 ** (11 * groups)):0{11 * groups}d}"
    return "-".join(text[place : place + 11] for place in range(0, len(text), 11))


def _read_keys(path: str | None) -> list[int]:
    if path is None:
        return []
    with open(path, encoding="ascii") as lines:
        return [int(line) for line in lines]


def add_histograms(histograms: Iterable[dict[Any, int]]) -> dict[int, int]:
    """Add several histograms by bucket; buckets from JSON are strings."""
    total: dict[int, int] = {}
    for histogram in histograms:
        for bucket, count in histogram.items():
            total[int(bucket)] = total.get(int(bucket), 0) + count
    return total


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _report(tallies: Sequence[ConnectionCounts], cpu: float) -> dict[str, Any]:
    return {
        "transactions": [sum(second) for second in zip(*(tally.transactions for tally in tallies), strict=True)],
        "queries": [sum(second) for second in zip(*(tally.queries for tally in tallies), strict=True)],
        "latencies": [add_histograms(second) for second in zip(*(tally.latencies for tally in tallies), strict=True)],
        "errors": sum(tally.errors for tally in tallies),
        "broken": next((tally.broken for tally in tallies if tally.broken), ""),
        "elapsed": [tally.elapsed for tally in tallies],
        "cpu": cpu,
    }
