"""Starts servers with option files, and compares what they run with to what the verdict foretold."""

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

from advisor.catalog.load import Catalog
from probes.sandbox import Sandbox
from probes.sandbox.errors import SandboxError

# What the host decides wherever it is set: its limit on open files, its disk, its load.
HOST = frozenset(["open_files_limit", "innodb_thread_sleep_delay"])
HOST_MARIADB = HOST | {"table_open_cache_instances", "innodb_log_write_ahead_size"}
# What a limit on open files lowers, where it is as low as this.
FILES = frozenset(["max_connections", "table_open_cache", "table_cache", "innodb_open_files"])
FEW_FILES = 10_000
# From 8.4 on the processors decide how many instances a pool of this size has, where no line says it.
PROCESSORS = frozenset(["innodb_buffer_pool_size", "innodb_buffer_pool_chunk_size", "innodb_page_cleaners"])
LARGE_POOL = 1 << 30
# Not modelled: a prime number that grows with the pool, where it is set below its least value.
NOT_TOLD = frozenset(["innodb_adaptive_hash_index_cells"])
WORDS = {"TRUE": "ON", "FALSE": "OFF", "YES": "ON", "NO": "OFF", "(No default value)": "", "NULL": ""}


class Compared(NamedTuple):
    """How many settings of a file were looked at, and those with which the server runs otherwise."""

    settings: int
    wrong: list[str]


Run = Callable[[list[str]], dict[str, str] | None]


@pytest.fixture
def run(start: Start, server_name: str, tmp_path: Path) -> Run:
    """What SHOW GLOBAL VARIABLES says with the lines in the [mysqld] group; None where the server doesn't start."""

    def variables(lines: list[str]) -> dict[str, str] | None:
        file = tmp_path / "my.cnf"
        file.write_text("[mysqld]\n" + "\n".join(lines) + "\n", encoding="utf-8")
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
    """The global variables, by name; what the file may forbid to a session is allowed again first."""
    with _let_in(sandbox) as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION tmp_table_size=16777216, max_heap_table_size=16777216")
        cursor.execute("SET SESSION sql_big_selects=1, sql_select_limit=18446744073709551615")
        cursor.execute("SHOW GLOBAL VARIABLES")
        return {name.lower(): value for name, value in cursor.fetchall()}


def _let_in(sandbox: Sandbox) -> Any:
    """A connection; a file may allow one at a time, and the one that saw the server ready may still be leaving."""
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
    """Every option that the lines set and that is a variable, but what the host decides."""
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
        told = line.running if line.running is not None else line.value
        if not same(told or "", variables[variable]):
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


def same(told: str, running: str) -> bool:
    """Whether both say the same but for the notation of words and numbers, or for the folder that a path is made in."""
    plain, runs = WORDS.get(told, told), WORDS.get(running, running)
    if told.startswith("(host name)") or runs.endswith("/" + plain):
        return True
    try:
        return float(plain) == float(runs)
    except ValueError:
        return plain == runs


def composed(catalog: Catalog, seed: str, run: Run) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Made-up files with what the server ran with; one that doesn't start is tried again in halves."""
    chance = random.Random(f"{seed} {catalog.target}")  # noqa: S311 - no secrets here
    while True:
        yield from _in_halves(compose(catalog, chance), run)


def _in_halves(lines: list[str], run: Run) -> Iterator[tuple[list[str], dict[str, str]]]:
    variables = run(lines)
    if variables is not None:
        yield lines, variables
    elif len(lines) > 3:  # the server's id and two more
        middle = len(lines) // 2
        for half in (lines[1:middle], lines[middle:]):
            yield from _in_halves([lines[0], *half], run)
