"""The cost of each statement of an audit on a server with 10,000 tables and accounts and 1,000 sessions.

usage: python tools/figures/statementcost.py [--write] [SERVER]…

Prints a row per statement: median and maximum in milliseconds, by the clock and by the processor time of the server's
thread that executes it, which other work on the machine hardly changes. --write also saves the rows in
docs/experiments/statement-cost.json and writes them into docs/statements.md, keeping those of other servers. TABLES=,
CONNECTIONS=, ACCOUNTS= and ROUNDS= change the sizes. Takes some minutes and two gigabytes of disk per server. Exit 1 if
a statement that is not of --schema needs more than 200 ms of processor time.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

import pymysql
from bigmade import CONNECTIONS, SPARE, TABLES, big
from real_servers import lacking

from advisor.collect import collect
from advisor.collect.connection import session
from advisor.collect.connection.options import ConnectRequest
from advisor.collect.connection.statement import NAME, NUMBER, Statement
from advisor.collect.connection.statements import STATEMENTS
from advisor.collect.server.schema import SchemaLimits
from probes.sandbox import Sandbox

SERVERS = ("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.8")
ACCOUNTS = int(os.environ.get("ACCOUNTS", "10000"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
LIMIT = 0.2  # seconds of processor time of a statement that is not of --schema
PRIVILEGED = 10  # one account in so many has privileges that rules are about
AT_ONCE = 500  # accounts that one statement creates
TRANSACTIONS = 200  # sessions that are in a transaction
WAITING = 50  # sessions that wait for a row
MILLISECONDS = 1000
# The number of the operating system's thread that serves a connection.
THREAD = {
    "mysql": "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {}",
    "mariadb": "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = {}",
}
WRITE = "--write"
COSTS = os.path.join(TOP, "docs", "experiments", "statement-cost.json")
PAGE_MAKER = os.path.join(TOP, "tools", "statementpage.py")
HEADINGS = "  clock ms    (max)    cpu ms    (max)  statement"


class Cost(NamedTuple):
    """One execution of a statement in seconds: by the clock, and the processor time of the server's thread."""

    clock: float
    processor: float


Costs = dict[str, list[Cost]]


def main() -> int:
    """Print a table for each server; 1 if a statement takes longer than the limit."""
    over, asked = False, sys.argv[1:]
    for name in [word for word in asked if word != WRITE] or SERVERS:
        if reason := lacking(name):
            print(f"{name}: not measured: {reason}")
            continue
        costs = measure(name)
        load = os.getloadavg()[0]
        print(f"\n{name}: {TABLES:,} tables, {ACCOUNTS:,} accounts, {CONNECTIONS:,} sessions; load average {load:.1f}")
        print(HEADINGS)
        for row in sorted(costs, key=lambda text: -_median(costs[text], 1)):
            print(_line(row, costs[row]), flush=True)
        if WRITE in asked:
            _write(name, costs, load)
        over = over or any(_is_slow(row, costs[row]) for row in costs)
    return int(over)


def _write(name: str, costs: Costs, load: float) -> None:
    """Save the rows of a server, and write the page of statements."""
    with open(COSTS, encoding="utf-8") as file:
        kept = json.load(file)
    rows = {
        statement: [round(each(times, 1) * MILLISECONDS, 2) for each in (_median, _most)]
        for statement, times in sorted(costs.items())
    }
    sizes = {"tables": TABLES, "accounts": ACCOUNTS, "sessions": CONNECTIONS, "rounds": ROUNDS}
    sizes |= {"transactions": min(TRANSACTIONS, CONNECTIONS), "waits": WAITING}
    today = time.strftime("%Y-%m-%d", time.gmtime())
    kept[name] = {**sizes, "date": today, "load": round(load, 1), "cpu_ms_median_and_maximum": rows}
    with open(COSTS, "w", encoding="utf-8") as file:
        json.dump(kept, file, indent=1, sort_keys=True)
        file.write("\n")
    subprocess.run([sys.executable, PAGE_MAKER], check=True)


def _line(name: str, costs: list[Cost]) -> str:
    cells = (
        f"{value * MILLISECONDS:8.1f}" for place in (0, 1) for value in (_median(costs, place), _most(costs, place))
    )
    return f"  {'  '.join(cells)}  {name}"


def _median(costs: list[Cost], place: int) -> float:
    return statistics.median(cost[place] for cost in costs)


def _most(costs: list[Cost], place: int) -> float:
    return max(cost[place] for cost in costs)


def _is_slow(name: str, costs: list[Cost]) -> bool:
    return not name.startswith("schema") and _most(costs, 1) > LIMIT


def measure(name: str) -> Costs:
    """The cost of each statement in each round."""
    with big(name, TRANSACTIONS + WAITING + SPARE) as sandbox:
        _add_accounts(sandbox)
        costs: Costs = {}
        with _transactions(sandbox):
            for _ in range(ROUNDS):
                with _time_statements(sandbox, costs):
                    collect.collect(_request(sandbox))
        return costs


def _request(sandbox: Sandbox) -> collect.CollectRequest:
    connection = ConnectRequest(socket=sandbox.socket, user="mycnf")
    return collect.CollectRequest(connection, 0.0, schema=SchemaLimits(60.0))


@contextlib.contextmanager
def _time_statements(sandbox: Sandbox, costs: Costs) -> Iterator[None]:
    """Add the cost of each statement that is sent in the block to `costs`."""
    send = session._ask  # noqa: SLF001 - every statement passes through it
    threads: dict[int, str] = {}

    def ask(wire: Any, text: str) -> session.Rows:
        number = wire.handshake_id
        if number not in threads:
            threads[number] = _clock_file(sandbox, number)
        processor, clock = _processor_seconds(threads[number]), time.perf_counter()
        answer = send(wire, text)
        took = time.perf_counter() - clock
        cost = Cost(took, _processor_seconds(threads[number]) - processor)
        costs.setdefault(_statement_name(text), []).append(cost)
        return answer

    session._ask = ask  # noqa: SLF001
    try:
        yield
    finally:
        session._ask = send  # noqa: SLF001


def _statement_name(text: str) -> str:
    """The name of the statement that was sent."""
    return next((one.name for one in STATEMENTS if _is_text_of(one, text)), text)


def _is_text_of(statement: Statement, text: str) -> bool:
    """Whether the text is that of the statement, whatever its number and name."""
    first, *rest = re.split(f"{re.escape(NUMBER)}|{re.escape(NAME)}", statement.text())
    return text == first if not rest else text.startswith(first) and all(part in text for part in rest)


def _clock_file(sandbox: Sandbox, number: int) -> str:
    """The kernel's file with the processor time of the thread that serves a connection."""
    flavour = "mariadb" if sandbox.binary.target.is_mariadb else "mysql"
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute(THREAD[flavour].format(number))
        (thread,) = cursor.fetchone()
    return f"/proc/{sandbox.pid}/task/{thread}/schedstat"


def _processor_seconds(path: str) -> float:
    with open(path, encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def _add_accounts(sandbox: Sandbox) -> None:
    """Create accounts of applications, some with privileges that rules are about."""
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        for first in range(0, ACCOUNTS, AT_ONCE):
            names = [_account(number) for number in range(first, min(first + AT_ONCE, ACCOUNTS))]
            cursor.execute("CREATE USER " + ", ".join(f"{name} IDENTIFIED BY 'Long-enough-1'" for name in names))
            cursor.execute("GRANT PROCESS, FILE ON *.* TO " + ", ".join(names[::PRIVILEGED]))


def _account(number: int) -> str:
    return f"'user{number}'@'{'%' if number % 3 else f'10.0.0.{number % 256}'}'"


@contextlib.contextmanager
def _transactions(sandbox: Sandbox) -> Iterator[None]:
    """Sessions with an open transaction, and others that wait for a row of the first, for the block."""
    count = min(TRANSACTIONS, CONNECTIONS)
    with contextlib.ExitStack() as stack:
        for number in range(count):
            connection = stack.enter_context(sandbox.connect())
            connection.cursor().execute(f"UPDATE s01.t{number:04} SET k = k + 1 WHERE id = 1")  # noqa: S608
        waiting = [threading.Thread(target=_wait, args=(sandbox.connect(),), daemon=True) for _ in range(WAITING)]
        for thread in waiting:
            thread.start()
        while _waits(sandbox) < WAITING:
            time.sleep(0.1)
        yield


def _wait(connection: pymysql.Connection[Any]) -> None:
    with contextlib.suppress(pymysql.err.MySQLError, OSError), connection.cursor() as cursor:
        cursor.execute("SET innodb_lock_wait_timeout = 3600")
        cursor.execute("UPDATE s01.t0000 SET k = k + 1 WHERE id = 1")
        connection.rollback()


def _waits(sandbox: Sandbox) -> int:
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")
        return int(cursor.fetchone()[1])


if __name__ == "__main__":
    sys.exit(main())
