"""The memory of real servers while sessions fill their buffers, step by step, saved as snapshots."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

from pymysql.err import OperationalError
from real_servers import provisioned
from session_load import connected, each, held, make_tables, sizes, statements, warm_up

from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.facts import Facts
from advisor.facts.snapshot import load, save
from probes.sandbox import Sandbox, start_server

SESSIONS = 64
SPARE = 6  # further connections: ours, and one that is just closing
PREPARED = 50  # per session
SETTINGS = {
    "defaults": (),
    "larger": (
        "--innodb-buffer-pool-size=256M",
        "--sort-buffer-size=8M",
        "--join-buffer-size=4M",
        "--read-buffer-size=1M",
        "--read-rnd-buffer-size=1M",
        "--tmp-table-size=24M",
        "--max-heap-table-size=24M",
        "--loose-temptable-max-ram=2G",
    ),
}
FIELDS = {"VmRSS": "resident", "VmHWM": "peak", "RssFile": "files"}
PREPARE = "PREPARE p{n} FROM 'SELECT a.id, b.pad FROM t a JOIN t b ON a.k = b.k WHERE a.id = {n} ORDER BY b.s'"


class Step(NamedTuple):
    """One measurement of a server: the memory of its process from the kernel, and an audit's facts at the same time.

    `files` is the part of `resident` that is mapped files, including the program; `peak` is since the start.
    """

    name: str
    resident: int
    peak: int
    files: int
    facts: Facts


def measure(server: str, setting: str) -> Iterator[Step]:
    """A server at rest, warm, with idle sessions, and under one load after another; raises SandboxError."""
    arguments = [f"--max-connections={SESSIONS + SPARE}", *SETTINGS[setting]]
    binary = provisioned(server)
    if binary.target.since("mariadb", 11, 4):
        arguments.append("--skip-ssl")  # otherwise it first generates a key of 4096 bits
    with start_server(binary, arguments=arguments) as sandbox:
        yield _look(sandbox, "at rest")
        size = sizes(sandbox)
        make_tables(sandbox, size)
        warm_up(sandbox, size)
        yield _look(sandbox, "warm")
        with connected(sandbox, SESSIONS) as sessions:
            yield _look(sandbox, "connected")
            each(sessions, "SELECT pad FROM t WHERE id = 5")
            yield _look(sandbox, "read a row")
            each(sessions, *(PREPARE.format(n=n) for n in range(PREPARED)))
            yield _look(sandbox, "prepared")
        for name, statement in statements(size).items():
            try:
                with held(sandbox, SESSIONS, statement):
                    yield _look(sandbox, name)
            except OperationalError as error:  # a lost session affects only this load
                print(f"{server}, {setting}, {name}: {error}", file=sys.stderr)
                if not sandbox.running:
                    raise sandbox.ended_error(f"under the load {name!r}") from error


def saved_steps(folder: str, server: str, setting: str) -> list[Step]:
    """The steps saved in that folder; measured and saved if they are missing."""
    index = os.path.join(folder, f"{server}-{setting}.json")
    if not os.path.exists(index):
        steps = list(measure(server, setting))
        os.makedirs(folder, exist_ok=True)
        for number, step in enumerate(steps):
            save(step.facts, _snapshot(index, number))
        with open(index, "w", encoding="utf-8") as file:
            json.dump([step[:-1] for step in steps], file, indent=1)
    with open(index, encoding="utf-8") as file:
        return [Step._make([*row, load(_snapshot(index, number))]) for number, row in enumerate(json.load(file))]


def _snapshot(index: str, number: int) -> str:
    return f"{index.removesuffix('.json')}-{number:02}.snapshot"


def _look(sandbox: Sandbox, name: str) -> Step:
    facts = collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=0.0))
    with open(f"/proc/{sandbox.pid}/status", encoding="utf-8") as status:
        rows = dict(line.split(":", 1) for line in status)
    return Step(name, **{field: int(rows[word].split()[0]) << 10 for word, field in FIELDS.items()}, facts=facts)
