"""A server with 10,000 tables and 1,000 connections, some of them busy, for comparing audit tools."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from real_servers import provisioned, quickly

from probes.sandbox import Sandbox, start_server

TABLES = int(os.environ.get("TABLES", "10000"))
CONNECTIONS = int(os.environ.get("CONNECTIONS", "1000"))
SPARE = 50  # further connections, for the tools
SCHEMAS = 20
MAKERS = 4
CROWDS = 4  # processes that hold the connections
BUSY = 5  # busy connections per process
ACCOUNTS = ("mycnf", "tuner", "app")
MYISAM = 50  # one in so many tables is a MyISAM table
TABLE = (
    "CREATE TABLE t{number:04} (id INT PRIMARY KEY AUTO_INCREMENT, k INT NOT NULL, pad VARCHAR(60) NOT NULL, KEY (k)) "
    "ENGINE = {engine}"
)
ROWS = "INSERT INTO t{number:04} (k, pad) VALUES (1, REPEAT('a', 60)), (2, REPEAT('b', 60)), (3, REPEAT('c', 60))"
# The data need not survive a power failure, and the servers are restarted before they are audited.
WHILE_MAKING = (
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-flush-method=nosync",
    "--skip-innodb-doublewrite",
    "--innodb-stats-auto-recalc=0",
    "--skip-log-bin",
    "--loose-sync-frm=0",
)


@contextlib.contextmanager
def big(name: str, spare: int = SPARE) -> Iterator[Sandbox]:
    """The server with that name, with defaults except max_connections, with its tables and connections."""
    binary = provisioned(name)
    with start_server(binary, arguments=(*quickly(binary), *WHILE_MAKING)) as sandbox:
        _accounts(sandbox)
        with ThreadPoolExecutor(MAKERS) as pool:
            list(pool.map(partial(_schema, sandbox), range(SCHEMAS)))
        sandbox.restart((*quickly(binary), f"--max-connections={CONNECTIONS + spare}"))
        with _crowds(sandbox.socket):
            yield sandbox


def _accounts(sandbox: Sandbox) -> None:
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        for account in ACCOUNTS:
            cursor.execute(f"CREATE USER {account}@localhost")
            cursor.execute(f"GRANT ALL ON *.* TO {account}@localhost")


def _schema(sandbox: Sandbox, order: int) -> None:
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE s{order:02}")
        cursor.execute(f"USE s{order:02}")
        for number in range(TABLES // SCHEMAS):
            engine = "MyISAM" if number % MYISAM == MYISAM - 1 else "InnoDB"
            cursor.execute(TABLE.format(number=number, engine=engine))
            cursor.execute(ROWS.format(number=number))


@contextlib.contextmanager
def _crowds(socket: str) -> Iterator[None]:
    """Processes that share the connections, once all are open.

    They end with this process, because their pipes are closed.
    """
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bigcrowd.py")
    command = [sys.executable, program, socket, str(CONNECTIONS // CROWDS), str(BUSY)]
    begun = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(CROWDS)]
    try:
        if not all(process.stdout and process.stdout.readline() for process in begun):
            raise RuntimeError("the connections could not all be opened")
        yield
    finally:
        for process in begun:
            process.communicate()  # closes the pipe that it reads
