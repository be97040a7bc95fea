"""A fleet of snapshots: real servers, each varied into many with other names, values and counters."""

from __future__ import annotations

import glob
import json
import os
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from real_servers import lacking, names_of, provisioned, quickly

from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.facts.snapshot import encode_snapshot
from probes.sandbox import SandboxError, start_server

SEED = 7
RECORDED = "examples/snapshots/*.json"
WINDOW = 6.0  # seconds; rules accept no shorter window
DAYS = 86400
PATCHES = {
    "5.7": (5, 7, 9, 22, 30, 38, 44),
    "8.0": (8, 0, 15, 21, 28, 34, 43),
    "9.7": (9, 7, 0, 1, 3, 4),
    "10.11": (10, 11, 2, 6, 11, 16, 19),
    "11.4": (11, 4, 2, 3, 5),
    "11.8": (11, 8, 2, 4, 9),
}
# Typical lines that every server accepts, some of them good, some bad.
OPTIONS = """[client]
port = 3306

[mysqld]
port = 3306
max_connections = 300
thread_cache_size = 50
table_open_cache = 4000
read_buffer_size = 8M
read_rnd_buffer_size = 4M
sort_buffer_size = 16M
join_buffer_size = 4M
tmp_table_size = 64M
max_heap_table_size = 32M
innodb_buffer_pool_size = 256M
innodb_flush_log_at_trx_commit = 2
innodb_flush_method = O_DIRECT
innodb_io_capacity = 400
sync_binlog = 100
slow_query_log
long_query_time = 0.5
wait_timeout = 600
skip_name_resolve
character_set_server = utf8mb4
loose_query_cache_type = 1
loose_query_cache_size = 32M
"""
SIZES = ("innodb_buffer_pool_size", "sort_buffer_size", "read_buffer_size", "join_buffer_size", "tmp_table_size")


def write(top: str, folder: str, count: int) -> None:
    """That many different snapshots below the folder, in ten folders named 000 to 009."""
    with tempfile.TemporaryDirectory() as scratch:
        asked = [*_recorded_snapshots(top), *_asked_snapshots(scratch)]
    for order in range(count):
        place = os.path.join(folder, f"{order * 10 // count:03}")
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, f"db{order:06}.json"), "wb") as file:
            file.write(vary_snapshot(asked[order % len(asked)], order))


def _recorded_snapshots(top: str) -> Iterator[bytes]:
    """Recorded snapshots of servers."""
    for name in sorted(glob.glob(os.path.join(top, RECORDED))):
        with open(name, "rb") as file:
            yield file.read()


def _asked_snapshots(scratch: str) -> Iterator[bytes]:
    """Snapshots of the available servers, each with its defaults and with an option file."""
    options = os.path.join(scratch, "my.cnf")
    with open(options, "w", encoding="utf-8") as file:
        file.write(OPTIONS)
    for name in names_of(()):
        if lacking(name):
            continue
        binary = provisioned(name)
        for option_file in (None, options):
            try:
                with start_server(binary, option_file=option_file, arguments=quickly(binary)) as server:
                    yield encode_snapshot(
                        collect_from_account(Account(user="root", socket=server.socket), CollectRequest(window=WINDOW))
                    )
            except SandboxError as error:
                print(f"{name}: {error}")


def vary_snapshot(recorded: bytes, order: int) -> bytes:
    """The snapshot as another server: name, patch, sizes, age, counters and option files differ."""
    dice = random.Random(SEED + order)  # noqa: S311 - no secret comes of it
    snapshot = json.loads(recorded)
    _variables(snapshot["server"], order, dice)
    age = dice.randrange(1, 400) * DAYS + dice.randrange(DAYS)
    snapshot["server"]["status"].update(_counters(snapshot["server"]["status"], dice, str), uptime=str(age))
    if snapshot.get("workload"):
        _window(snapshot["workload"], age, dice)
    for file in (snapshot.get("files") or {"files": ()})["files"]:
        file["text"] = _lines(file["text"] or "", order, dice)
    return msgspec.json.format(msgspec.json.encode(snapshot), indent=1) + b"\n"


def _variables(server: dict[str, Any], order: int, dice: random.Random) -> None:
    variables = server["variables"]
    series = ".".join(server["version"].split(".")[:2])
    first, second, *patches = PATCHES.get(series, (*map(int, series.split(".")), 0))
    version = f"{first}.{second}.{dice.choice(patches)}"
    variables["version"] = variables["version"].replace(server["version"], version)
    server["version"] = version
    variables.update(hostname=f"db{order:06}", port=str(dice.choice((3306, 3306, 3307))))
    variables.update(max_connections=str(dice.choice((151, 500, 1000, 4000, order % 5000 + 10))))
    for name in SIZES:
        if dice.random() < 0.5:  # noqa: PLR2004 - half of them stay
            variables[name] = str(dice.randrange(1, 4096) << dice.choice((12, 16, 20)))


def _window(window: dict[str, Any], age: int, dice: random.Random) -> None:
    """Vary the counters of a window, with the second sample never below the first."""
    first, last = window["first"], window["last"]
    rises = {name: last["status"].get(name, count) - count for name, count in first["status"].items()}
    before = _counters(first["status"], dice, int)
    after = {name: count + int(max(0, rises[name]) * dice.uniform(0.5, 20)) for name, count in before.items()}
    length = last["at"] - first["at"]
    first.update(at=float(age), status=before)
    last.update(at=age + length, status=after)


def _counters(status: dict[str, Any], dice: random.Random, kind: Callable[[int], Any]) -> dict[str, Any]:
    """Each number multiplied by a factor between a half and two."""
    drawn = dice.uniform
    return {name: kind(int(int(value) * drawn(0.5, 2))) for name, value in _numbers(status.items())}


def _numbers(counters: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in counters if str(value).isdecimal())


def _lines(text: str, order: int, dice: random.Random) -> str:
    """The text without a fifth of its lines, except headers, and with a unique comment."""
    kept = [line for line in text.splitlines() if line.startswith("[") or dice.random() < 0.8]  # noqa: PLR2004
    return "\n".join([*kept, f"# of server {order}", ""])
