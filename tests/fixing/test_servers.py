"""Fixed files before real servers: safe fixes leave every value, and refused files start after unsafe ones."""

from __future__ import annotations

import functools
import os
import random
import re
from pathlib import Path

import pytest
from fix_text import findings, fixed, judged
from process_checks import first_row
from real_servers import Start
from verdict_agreement import HOST, Ask, asker, refused_lines

from advisor.catalog import Catalog, load
from probes.sandbox import Binary

FILES = int(os.environ.get("MYCNF_FIXED_FILES", "4"))
SEED = os.environ.get("MYCNF_FUZZ_SEED", "1")
# Every server takes each of these lines; each has something to fix, on one of them at least.
SAFE = """innodb_flush_log_at_trx_commit = 7
innodb_flush_log_at_trx_commit=7
read_buffer_size=10KB  # a comment
max_allowed_packet = "64megs"
max_connections = 100
max-connections = 50
sort_buffer_size = 1
max_binlog_size=100000000
read_only=maybe
optimizer_switch=index_merge=off
optimizer_switch=mrr=on
key_buffer_size=16M
hot.key_buffer_size=1M
hot.key_buffer_size=2M
general_log=1abc
general_log
long_query_time=2000000000
net_buffer_length=1000
lock_wait_timeout=0
binlog_cache_size=5000
slow_query_log=/var/log/slow.log
maximum-sort_buffer_size=1M
sort_buffer_size=2M
local_infile=2
"""
SCRATCH = r"mycnf-sandbox-\w+"  # the data directory of one question is in it
KINDS = frozenset({"bool", "int", "uint", "double", "enum", "set", "flagset"})
VALUES = ("", "=1", "=0", "=ON", "=maybe", "=10KB", "=7", "=1000", "=99999999999", "=2 # why", "=OFF")
OLD_NAMES = "slave_net_timeout=5\nslave-compressed-protocol=ON\nskip-slave-start\n"
REFUSED = """innodb_bufer_pool_size = 64M
max_conections=50  # mistyped
no_such_thing_anywhere=1
query_cache_size=1M
query_cache_type=0
innodb_file_format=Barracuda
sort_buffer_size
expire_logs_days=7
aria_pagecache_buffer_size=64M
innodb_redo_log_capacity=1.5G
bulk_insert_buffer_size=0.5M
character_set_server=utf8
server_id=1
tx_isolation=READ-COMMITTED
innodb_undo_logs=64
log_warnings=2
sql_mode='ANSI_QUOTES,NO_AUTO_CREATE_USER'
ansi=1
"""


@pytest.fixture(scope="session")
def ask(binary: Binary, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Puts lines of a [mysqld] group to the server, the same ones once."""
    return functools.lru_cache(maxsize=4)(asker(binary, tmp_path_factory.mktemp("asked")))


def shown(ask: Ask, lines: str, catalog: Catalog) -> dict[str, str]:
    """What the server prints for every option, but for what the host decides and what does nothing."""
    answer = ask(lines)
    assert not answer.refused, f"{lines}\n{answer.said}"
    known = {name: catalog.get(name) for name in answer.values}
    idle = {"server_uid"} | {name for name, option in known.items() if option is not None and option.ignored}
    values = {name: value for name, value in answer.values.items() if name not in HOST | idle}
    return {name: re.sub(SCRATCH, "", value) for name, value in values.items()}


def text_of(lines: str) -> bytes:
    """The lines as an option file."""
    return f"[mysqld]\n{lines}\n".encode()


def lines_of(text: bytes) -> str:
    """The lines of an option file that begins with its one group."""
    return text.decode().removeprefix("[mysqld]\n").rstrip("\n")


@pytest.mark.parametrize("lines", [SAFE, SAFE + OLD_NAMES], ids=["traps", "old names"])
def test_safe_fixes_leave_every_value(lines: str, ask: Ask, binary: Binary) -> None:
    """What the server prints for each option is the same before and after, though many lines changed."""
    catalog, target = load(binary.target), str(binary.target)
    after = fixed(text_of(lines), target)
    assert len(set(after.splitlines()) ^ set(text_of(lines).splitlines())) > 10
    assert shown(ask, lines_of(after), catalog) == shown(ask, lines, catalog)
    assert {code for code, kind in findings(after, target) if kind == "safe"} == set()


@pytest.mark.servers("mysql-9.7")
def test_old_names_become_new_ones(ask: Ask, binary: Binary) -> None:
    """Where one variable has two names, the file ends up with the new ones and the server with the same values."""
    after = lines_of(fixed(text_of(OLD_NAMES), str(binary.target)))
    assert after.split() == ["replica_net_timeout=5", "replica-compressed-protocol=ON", "skip-replica-start"]
    assert shown(ask, after, load(binary.target)) == shown(ask, OLD_NAMES, load(binary.target))


def test_a_refused_file_starts_after_unsafe_fixes(
    ask: Ask, binary: Binary, server_name: str, start: Start, tmp_path: Path
) -> None:
    """The server stops at the file, and starts with it once the unsafe fixes are made."""
    target = str(binary.target)
    assert ask(REFUSED).refused
    after = fixed(text_of(REFUSED), target, unsafe=True)
    assert refused_lines(judged(after, target)) == []
    file = tmp_path / "my.cnf"
    file.write_bytes(after)
    sandbox = start(server_name, option_file=file, arguments=["--performance-schema=OFF"])  # it starts in less time
    asked = "@@innodb_buffer_pool_size, @@bulk_insert_buffer_size, @@max_connections"
    assert first_row(sandbox, f"SELECT {asked}") == (64 << 20, 512 << 10, 50)


def settings(catalog: Catalog, chance: random.Random) -> str:
    """Some forty lines, many of them for the same option, in the spellings that people use."""
    names = [name for name, raw in catalog.options.items() if raw["kind"] in KINDS and "plugin" not in raw]
    lines = []
    for name in chance.sample(sorted(names), 25):
        for _ in range(chance.choice((1, 1, 2))):
            prefix = chance.choice(("", "", "", "loose_", "skip-", "enable_", "maximum-"))
            spelt = prefix + (name.replace("_", "-") if chance.random() < 0.5 else name)
            lines.append(spelt + chance.choice(VALUES))
    chance.shuffle(lines)
    return "\n".join(lines)


def accepted(number: int, ask: Ask, catalog: Catalog) -> str:
    """Made-up lines that the server takes: those that the verdict calls refused are left out, and whole files else."""
    target = str(catalog.target)
    for attempt in range(20):
        lines = settings(catalog, random.Random(f"{SEED} {number} {attempt} {target}"))  # noqa: S311 - repeatable
        stops = {line.placed.line.number for line in refused_lines(judged(text_of(lines), target))}
        lines = "\n".join(line for at, line in enumerate(lines.split("\n"), 2) if at not in stops)
        if not ask(lines).refused:
            return lines
    raise AssertionError(f"{target} stops at twenty files in a row that the verdict lets pass")


@pytest.mark.parametrize("number", range(FILES))
def test_safe_fixes_of_made_up_files_leave_every_value(number: int, ask: Ask, binary: Binary) -> None:
    """In any file the server prints the same for every option after its safe fixes."""
    catalog = load(binary.target)
    lines = accepted(number, ask, catalog)
    after = fixed(text_of(lines), str(binary.target))
    assert shown(ask, lines_of(after), catalog) == shown(ask, lines, catalog)
