"""Start servers with option files, and compare the running values with the verdict."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pymysql
import pytest
from option_file_generator import compose
from process_checks import eventually
from pymysql.constants import ER
from real_servers import Start
from verdict_agreement import judge_lines, refused_lines

from advisor.catalog import Catalog
from probes.sandbox import Sandbox
from probes.sandbox.errors import SandboxError

# Variables that depend on the host even if set: its open files limit, its disk, its load.
HOST = frozenset(["open_files_limit", "innodb_thread_sleep_delay"])
HOST_MARIADB = HOST | {"table_open_cache_instances", "innodb_log_write_ahead_size"}
# Variables that a low open files limit reduces.
FILES = frozenset(["max_connections", "table_open_cache", "table_cache", "innodb_open_files"])
FEW_FILES = 10_000
# From 8.4 on the default number of instances for a pool of this size depends on the processors.
PROCESSORS = frozenset(["innodb_buffer_pool_size", "innodb_buffer_pool_chunk_size", "innodb_page_cleaners"])
LARGE_POOL = 1 << 30
# Not modelled: a prime number that grows with the pool, if it is set below its minimum.
NOT_TOLD = frozenset(["innodb_adaptive_hash_index_cells"])
# Performance Schema takes a third of a start. It is kept where a line is about it, or about the plugin that needs it.
NEEDS_INSTRUMENTS = ("performance", "group_replication")
WORDS = {"TRUE": "ON", "FALSE": "OFF", "YES": "ON", "NO": "OFF", "(No default value)": "", "NULL": ""}


class Compared(NamedTuple):
    """The number of compared settings of a file, and those with another running value."""

    settings: int
    wrong: list[str]


Run = Callable[[list[str]], dict[str, str] | None]


@pytest.fixture
def run(start: Start, server_name: str, tmp_path: Path) -> Run:
    """SHOW GLOBAL VARIABLES with these lines in the [mysqld] group; None if the server does not start.

    The server runs without Performance Schema, unless a line is about it or about Group Replication.
    """

    def variables(lines: list[str]) -> dict[str, str] | None:
        file = tmp_path / "my.cnf"
        needed = any(word in line.lower() for word in NEEDS_INSTRUMENTS for line in lines)
        first = [] if needed else ["performance_schema=OFF"]
        file.write_text("\n".join(["[mysqld]", *first, *lines, ""]), encoding="utf-8")
        try:
            sandbox = start(server_name, option_file=file)
        except SandboxError as error:
            print(f"not started: {error}")
            return None
        try:
            return shown(sandbox)
        finally:
            sandbox.close()

    return variables


def shown(sandbox: Sandbox) -> dict[str, str]:
    """The global variables by name; limits that the file sets for sessions are lifted first."""
    with _let_in(sandbox) as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION tmp_table_size=16777216, max_heap_table_size=16777216")
        cursor.execute("SET SESSION sql_big_selects=1, sql_select_limit=18446744073709551615")
        cursor.execute("SHOW GLOBAL VARIABLES")
        return {name.lower(): value for name, value in cursor.fetchall()}


def _let_in(sandbox: Sandbox) -> Any:
    """A connection; with max_connections = 1 the one that checked the start may still be closing."""
    found: list[Any] = []

    def enter() -> bool:
        try:
            found.append(sandbox.connect())
        except pymysql.OperationalError as error:
            if error.args[0] not in (ER.CON_COUNT_ERROR, ER.TOO_MANY_USER_CONNECTIONS):
                raise
        return bool(found)

    eventually(enter, what="a connection that the server lets in")
    return found[0]


def compare(lines: list[str], variables: dict[str, str], catalog: Catalog) -> Compared:
    """Compare every variable that the lines set, except those that depend on the host."""
    verdict = judge_lines("\n".join(lines), catalog)
    refused = {line.canonical for line in refused_lines(verdict)}
    left = _decided_by_host(lines, variables, catalog) | NOT_TOLD | refused
    settings, wrong = 0, []
    for name, line in verdict.effective.items():
        option = line.option
        variable = name if name in variables or option is None else option.variable or name
        if name in left or variable not in variables:
            continue
        settings += 1
        predicted = line.running if line.running is not None else line.value
        if not same(predicted or "", variables[variable]):
            wrong.append(
                f"{name}={line.placed.line.raw}: runs as {variables[variable]!r}, help was to say {line.value!r} and "
                f"show said {line.running!r}"
            )
    return Compared(settings, wrong)


def _decided_by_host(lines: list[str], variables: dict[str, str], catalog: Catalog) -> frozenset[str]:
    found = HOST_MARIADB if catalog.target.is_mariadb else HOST
    if int(variables["open_files_limit"]) < FEW_FILES:
        found |= FILES
    instances = any("pool" in line and "instances" in line and not line.endswith("=0") for line in lines)
    large = int(variables["innodb_buffer_pool_size"]) >= LARGE_POOL
    return found | PROCESSORS if catalog.target.since("mysql", 8, 4) and large and not instances else found


def same(predicted: str, running: str) -> bool:
    """Whether both values are equal apart from notation, or from the folder of a path."""
    plain, runs = WORDS.get(predicted, predicted), WORDS.get(running, running)
    if predicted.startswith("(host name)") or runs.endswith("/" + plain):
        return True
    try:
        return float(plain) == float(runs)
    except ValueError:
        return plain == runs


def composed(catalog: Catalog, seed: str, run: Run) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Generated files with the running values; a file with which the server does not start is split in halves."""
    chance = random.Random(f"{seed} {catalog.target}")  # noqa: S311 - no secrets here
    while True:
        yield from _in_halves(compose(catalog, chance), run)


def _in_halves(lines: list[str], run: Run) -> Iterator[tuple[list[str], dict[str, str]]]:
    variables = run(lines)
    if variables is not None:
        yield lines, variables
    elif len(lines) > 3:  # server_id and two more
        middle = len(lines) // 2
        for half in (lines[1:middle], lines[middle:]):
            yield from _in_halves([lines[0], *half], run)
