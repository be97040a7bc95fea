"""All external inputs by reader: how an input is generated, and what the product does with it.

A reader may raise MycnfError, which is a one-line message for the user; any other exception is a defect.
"""

from __future__ import annotations

import io
import json
import os
import random
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any, NamedTuple
from unittest.mock import patch

import documents
import hosttars
import ringfiles
import seeds
import senttexts
import tomltexts
from line import Line
from mangling import ENDINGS, TARGETS, lint, mangle
from packets import Server
from putting import dice, put
from reading import ENDS, FIRST, line
from strange import document

from advisor.catalog import load as load_catalog
from advisor.catalog.targets import parse_target

Make = Callable[[random.Random], bytes]
Read = Callable[[bytes, str], object]


class Reader(NamedTuple):
    """How inputs are generated, what is done with one in a scratch folder, and its share of a million inputs."""

    make: Make
    read: Read
    share: int


def _target(data: bytes) -> Any:
    """A target that depends only on the bytes."""
    return parse_target(TARGETS[zlib.crc32(data) % len(TARGETS)])


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    with patch.dict(os.environ, variables):
        yield


# Option files


def _option_file(chance: random.Random) -> bytes:
    if chance.random() < 0.5:
        lines = [line(chance) + chance.choice(ENDS) for _ in range(chance.randrange(1, 12))]
        return chance.choice(FIRST) + b"".join(lines)
    real = seeds.files("option-file") or [b"[mysqld]\nport = 3306\n"]
    return mangle(chance.choice(real), real, chance)[: 2 * seeds.LARGEST]


def _resolve_data(data: bytes) -> Any:
    from advisor.optionfile import resolve

    def load_file(path: str) -> bytes:
        if path == "my.cnf":
            return data
        raise FileNotFoundError(2, "No such file or directory", path)

    target = _target(data)
    return resolve(["my.cnf"], flavour=target.flavour, version=target.version, loader=load_file), target


def _read_options(data: bytes, _folder: str) -> None:
    from advisor.optionfile import parse
    from advisor.optionfile.reader import render

    _resolve_data(data)
    assert render(parse(data, "my.cnf")) == data, "the file isn't given back as it was"


def _judge_options(data: bytes, _folder: str) -> None:
    from advisor.verdict import judge_file

    resolved, target = _resolve_data(data)
    judge_file(resolved, load_catalog(target))


# Documents that carry options


def _read_carrier(name: str) -> Read:
    def read(data: bytes, folder: str) -> None:
        from advisor.carriers.recognise import carrier_of
        from advisor.commands.carrier_texts import resolved_text

        put(b"MYSQLD_OPTS='--port=1 --x'\nA=\"b\n", folder, "env")
        carrier = carrier_of(data, name, name, folder)
        if carrier is None:
            return
        catalog = load_catalog(_target(data))
        for one in carrier.sets:
            one.read(catalog)
        resolved_text(carrier)
        for number in range(1, min(carrier.document.lines, 30) + 1):
            carrier.document.masked_line(number)

    return read


def _yaml(chance: random.Random) -> bytes:
    return documents.mostly(documents.yaml(chance), seeds.files("yaml"), chance)


def _hcl(chance: random.Random) -> bytes:
    return documents.mostly(documents.hcl(chance), seeds.files("hcl"), chance)


def _declared_document(chance: random.Random) -> bytes:
    return documents.mostly(documents.declared_document(chance), seeds.files("declared"), chance)


def _unit(chance: random.Random) -> bytes:
    return documents.mostly(documents.unit(chance), seeds.files("unit"), chance)


def _dockerfile(chance: random.Random) -> bytes:
    return documents.mostly(documents.dockerfile(chance), [], chance)


_SET = {"Value": "500", "Metadata": {"Timestamp": 1, "User": "root", "Host": "localhost"}}
_SET_2 = {"Value": "2G", "Metadata": {"Timestamp": 1, "User": "root"}}
PERSISTED = [
    json.dumps(tree).encode()
    for tree in (
        {"Version": 1, "mysql_server": {"max_connections": _SET, "mysql_server_static_options": {"back_log": _SET}}},
        {"Version": 2, "mysql_dynamic_variables": {"sql_mode": _SET_2}, "mysql_static_variables": {"port": _SET_2}},
        {"Version": 2, "mysql_dynamic_parse_early_variables": {"a.b": _SET_2, "report_password": _SET}},
    )
]


def _persisted_document(chance: random.Random) -> bytes:
    return document(PERSISTED, chance)


# Documents written by mycnf


def _snapshot(chance: random.Random) -> bytes:
    return document(seeds.small_snapshots(), chance)


def _load_snapshot(data: bytes, folder: str) -> Any:
    from advisor.facts.snapshot import load

    return load(put(data, folder))


def _judge_snapshot(data: bytes, folder: str) -> None:
    from advisor.cli.parser import build_parser
    from advisor.commands.audit import run

    kind = ("text", "json", "markdown", "html")[zlib.crc32(data) % 4]
    words = ["--isolated", "--snapshot", put(data, folder), "--format", kind, "-o", os.path.join(folder, "out")]
    with redirect_stderr(io.StringIO()), _environment(XDG_STATE_HOME=folder):
        run(build_parser("audit").parse_args(["audit", *words]))


_FINDING = {
    "path": "my.cnf", "code": "OPT001", "name": "unknown-option", "group": "mysqld", "option": "x", "value": None,
}  # fmt: skip
BASELINES = [json.dumps({"version": 1, "findings": [_FINDING | {"count": n}, _FINDING]}).encode() for n in (1, 3)]


def _baseline(chance: random.Random) -> bytes:
    return document(BASELINES, chance)


def _read_baseline(data: bytes, folder: str) -> None:
    from advisor.analysis.baseline import BaselineReading, amend_baseline, apply_baseline, count_gone, read_baseline
    from advisor.core.model import Confidence, Finding, Location, Severity

    path = put(data, folder)
    place = Location(os.path.join(folder, "my.cnf"), 2, 1, 2, 5)
    finding = Finding("OPT001", "unknown-option", Severity.ERROR, Confidence.CERTAIN, "x", location=place, option="x")
    known = read_baseline(path)
    readings = [BaselineReading(place.path, (finding, finding), (place.path,))]
    apply_baseline(known, readings)
    count_gone(known, readings, frozenset({"OPT001"}))
    amend_baseline(path, finding, place.path, "because")


def _read_ring(data: bytes, folder: str) -> None:
    from advisor.state import sample_ring
    from advisor.state.busiest_hours import summarize_samples

    path = put(data, folder)
    head, entries = sample_ring.read(path)
    summarize_samples(entries)
    sample_ring.last(path, head)
    if len(entries) < sample_ring.MAX_SLOTS:
        sample_ring.append(path, head, sample_ring.RingSample(1_795_262_400, 1, None, {"questions": 1}))


def _kept_snapshot(data: bytes, folder: str) -> None:
    from advisor.state.history import list_servers, newest_first

    place = os.path.join(folder, "state", "mycnf", "history", "s")
    os.makedirs(place, exist_ok=True)
    put(data, place, "20261121T050100-0.json")
    with _environment(XDG_STATE_HOME=os.path.join(folder, "state")):
        for kept in list_servers(lambda _: None):
            list(newest_first(kept.paths, lambda _: None))


def _results(chance: random.Random) -> bytes:
    return document([_result()], chance)


def _result() -> bytes:
    """A probe result as it is saved."""
    block = {"round": 1, "began": 1.5, "seconds": 1.0, "metrics": {"latency": 10.5}, "series": {}}
    blocks = [block, block | {"round": 2}]
    arm = {"name": "16K", "settings": {"read_buffer_size": "16384"}, "blocks": blocks, "point": 16384.0}
    return json.dumps(
        {
            "schema": "1.0", "tool": "0", "probe": "read-buffer", "began_at": "2026-11-20T04:00:00Z", "seconds": 9.0,
            "ended": "rounds", "place": {"host": "h", "path": "/", "file_system": "ext4", "device": "sda"},
            "metrics": [{"name": "latency", "unit": "us", "better": "less"}], "arms": [arm, arm | {"name": "2M"}],
            "baseline": "16K", "axis": "bytes", "server": "mariadb-10.11.19", "parameters": {"a": "b"}, "evidence": [],
        }
    ).encode()  # fmt: skip


def _read_result(data: bytes, folder: str) -> None:
    from probes.results import latest_results, read_all

    place = os.path.join(folder, "state", "mycnf", "probes")
    os.makedirs(place, exist_ok=True)
    put(data, place, "read-buffer-x-abc.json")
    with _environment(XDG_STATE_HOME=os.path.join(folder, "state")):
        latest_results(read_all(), "h")


def _read_row(data: bytes, folder: str) -> None:
    from advisor.fleet.run_directory import HOSTS, ROWS, hosts_of, read_row, rows_of

    os.makedirs(os.path.join(folder, ROWS), exist_ok=True)
    put(data, os.path.join(folder, ROWS), "db1.row")
    read_row(folder, "db1")
    put(data, folder, HOSTS)
    rows_of(folder, hosts_of(folder)[:3])


# Written by users


def _configuration(chance: random.Random) -> bytes:
    return documents.mostly(tomltexts.toml(chance), seeds.files("configuration"), chance)


def _read_configuration(data: bytes, folder: str) -> None:
    from advisor.config.read import read_configuration

    read_configuration(put(data, folder, ("mycnf.toml", "pyproject.toml")[zlib.crc32(data) % 4 == 0]))


def _read_keys(data: bytes, folder: str) -> None:
    from advisor.tui.preferences import read_keymap

    os.makedirs(os.path.join(folder, "mycnf"), exist_ok=True)
    put(data, os.path.join(folder, "mycnf"), "keys.toml")
    with _environment(XDG_CONFIG_HOME=folder):
        read_keymap()


def _read_login_path(data: bytes, folder: str) -> None:
    from advisor.collect.connection.options import login_lines

    with _environment(MYSQL_TEST_LOGIN_FILE=put(data, folder, "mylogin.cnf")):
        login_lines("client")


# Received from others


def _read_host(data: bytes, folder: str) -> None:
    from advisor.collect.host import read_host
    from advisor.collect.host.archive import open_tar

    read_host(open_tar(put(data, folder)), None, "/var/lib/mysql", {"tmpdir": "/var/tmp"})  # noqa: S108 - a path in the tar


def _ask_server(data: bytes, _folder: str) -> None:
    from advisor.collect.collect import CollectRequest, collect_from_account
    from advisor.collect.connection import connect
    from advisor.collect.connection.options import Account
    from advisor.collect.connection.wire import Wire
    from advisor.facts.snapshot import encode_snapshot

    chance = random.Random(data)

    class PipedWire(Wire):
        def connect(self, sock: Any = None) -> None:
            super().connect(sock or Line(Server(chance, *seeds.server_tables(chance))))

    account = Account("reader", b"secret", host="db.example", ssl_mode="disabled")
    with patch.object(connect, "Wire", PipedWire):
        encode_snapshot(collect_from_account(account, CollectRequest(window=1.0), wait=lambda _: None))


# Whole commands


def _anything(chance: random.Random) -> bytes:
    return chance.choice((_option_file, _yaml, _unit, _dockerfile, _persisted_document))(chance)


def _run_lint(data: bytes, folder: str) -> None:
    ending = (*ENDINGS, "mysqld-auto.cnf", ".dockerfile", ".json")[zlib.crc32(data) % (len(ENDINGS) + 3)]
    ended = lint(data, ending, _target(data).label, folder)
    assert ended.code in (0, 1, 2), ended.said
    assert "internal error" not in ended.said, ended.said


READERS: dict[str, Reader] = {
    "option-file": Reader(_option_file, _read_options, 300_000),
    "verdict": Reader(_option_file, _judge_options, 40_000),
    "yaml": Reader(_yaml, _read_carrier("compose.yml"), 60_000),
    "hcl": Reader(_hcl, _read_carrier("rds.tf"), 20_000),
    "declared": Reader(_declared_document, _read_carrier("group.yaml"), 20_000),
    "unit": Reader(_unit, _read_carrier("mysql.service"), 90_000),
    "dockerfile": Reader(_dockerfile, _read_carrier("dockerfile"), 80_000),
    "persisted": Reader(_persisted_document, _read_carrier("mysqld-auto.cnf"), 70_000),
    "configuration": Reader(_configuration, _read_configuration, 80_000),
    "keys": Reader(tomltexts.keymap, _read_keys, 15_000),
    "login-path": Reader(ringfiles.login_path, _read_login_path, 15_000),
    "snapshot": Reader(_snapshot, _load_snapshot, 50_000),
    "audit-of-snapshot": Reader(_snapshot, _judge_snapshot, 2_000),
    "history": Reader(_snapshot, _kept_snapshot, 10_000),
    "baseline": Reader(_baseline, _read_baseline, 40_000),
    "ring": Reader(ringfiles.ring, _read_ring, 30_000),
    "probe-result": Reader(_results, _read_result, 15_000),
    "fleet-row": Reader(ringfiles.row, _read_row, 15_000),
    "text": Reader(senttexts.text, senttexts.read_text, 15_000),
    "text-read-back": Reader(senttexts.recorded_dice, senttexts.read_back, 5_000),
    "stalk": Reader(senttexts.stalk, senttexts.read_stalk, 5_000),
    "host-tar": Reader(hosttars.host_tar, _read_host, 8_000),
    "packets": Reader(dice, _ask_server, 15_000),
    "lint": Reader(_anything, _run_lint, 5_000),
}
