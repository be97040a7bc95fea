"""Connections by socket, TCP and TLS, and the threads that serve them: checked by counters; no others get in."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pymysql
import pytest
from probe_environment import ground_of, prepared, served

from advisor.catalog.targets import parse_target
from probes.experiment import BlockMeasurement, ProbeError, ProbeRequest, RunPlan, Turn
from probes.registry import load
from probes.sandbox import Binary
from probes.server_probes.connections import (
    PORT_OPTIONS,
    THREAD_EACH,
    THREAD_POOL,
    ConnectionCase,
    Connections,
    ConnectionsBench,
    _require_closed_port,
    preconditions,
)
from probes.server_probes.mechanism import BlockActivity, check_preconditions
from probes.stop import StopSignal
from probes.workload import sysbench
from probes.workload.load import CONNECT_SELECT, OLTP, Access, Login, Task

MADE = "threads created/connection"
SMALL = {"threads": "2", "driver": "mycnf"}
NO_TLS = "mysql-5.7"  # built with yaSSL, which stops at TLS 1.1


@contextmanager
def bench_of(
    binary: Binary, templates: Path, directory: Path, **choices: str
) -> Iterator[tuple[ConnectionsBench, RunPlan]]:
    """A bench and its plan; all that was made is gone afterwards."""
    ground, connections = ground_of(templates, directory, binary), load("connections")
    plan = connections.plan(ground, ProbeRequest(str(directory), choices={**SMALL, **choices}))
    with prepared(connections, ground, directory, StopSignal(), **{**SMALL, **choices}) as (bench, _):
        assert isinstance(bench, ConnectionsBench)
        yield bench, plan
    assert list(directory.iterdir()) == []


def block(bench: ConnectionsBench, plan: RunPlan, place: int, number: int = 1) -> BlockMeasurement:
    """A second of the variant at that place."""
    return bench.measure(plan.variants[place], Turn(number, 1, number, 100 * number + place), StopSignal())


@pytest.mark.servers("mysql-5.7", "mariadb-11.8", whole="mysql-8.0 mysql-9.7 mariadb-10.11")
def test_each_transport_is_the_one_that_was_asked_for(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Storms make a connection for each SELECT, kept connections none; TCP and TLS are counted by host and server."""
    with bench_of(binary, templates, tmp_path) as (bench, plan):
        found = {variant.name: block(bench, plan, place) for place, variant in enumerate(plan.variants)}
        facts = bench.facts()
    assert {name: b.invalid for name, b in found.items() if b.invalid} == {}
    ways = ["socket", "TCP"] if binary.name == NO_TLS else ["socket", "TCP", "TLS"]
    assert [variant.name for variant in plan.variants] == [
        f"{load}, {way}, 2 connections" for load in ("storm", "kept") for way in ways
    ]
    for name, measured in found.items():
        assert measured.counters["TLS handshakes/connection"] == (1 if "TLS" in name else 0)
        assert measured.counters["TLS sessions resumed/connection"] == 0
        assert measured.metrics["tps"] > 0
    assert ("TLS" in facts) == (binary.name != NO_TLS)


@pytest.mark.servers("mysql-8.0", "mariadb-11.8")
def test_blocks_of_another_transport_are_invalid(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """A driver that encrypts nothing, takes the socket, or keeps its connections, makes each block say so."""
    with bench_of(binary, templates, tmp_path, loads="storm") as (bench, plan):
        task_of = bench._task_of
        spoilt = {
            "plain": lambda task: task._replace(login=task.login._replace(encrypted=False)),
            "socket": lambda task: task._replace(login=task.login._replace(port=None, encrypted=False)),
            "kept": lambda task: task._replace(workload=OLTP["oltp_point_select"]),
        }

        def spoil(how: str, place: int) -> str:
            bench._task_of = lambda variant: spoilt[how](task_of(variant))
            return block(bench, plan, place).invalid

        reasons = [spoil("plain", 2), spoil("socket", 1), spoil("kept", 0)]
    for words, name in zip(reasons, ("TLS handshakes/", "TCP connections/", "connections/"), strict=True):
        assert words.startswith(name), reasons


@pytest.mark.servers("mysql-9.7", "mariadb-10.11", whole="mysql-5.7 mysql-8.0 mariadb-11.8")
def test_the_port_lets_in_one_account_with_a_password(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Root and accounts without a password are refused by TCP; nothing listens on other addresses."""
    with bench_of(binary, templates, tmp_path, transports="socket,tcp") as (bench, _):
        sandbox = bench.server.sandbox
        login = bench._task_of(load_variant(bench)).login
        assert login.password
        assert bench.server.query("SELECT user FROM mysql.user WHERE host <> 'localhost'") == ((login.user,),)
        for user, password in (("root", ""), (login.user, ""), ("", ""), ("mysql.session", "")):
            with pytest.raises(pymysql.err.OperationalError):
                pymysql.connect(host="127.0.0.1", port=sandbox.port, user=user, password=password, ssl_disabled=True)
        assert listening(sandbox.pid) == {f"0100007F:{sandbox.port:04X}"}
        assert bench.server.variable("bind_address") == "127.0.0.1"


def load_variant(bench: ConnectionsBench) -> object:
    """A variant by TCP."""
    return ConnectionCase("storm", 2, "TCP").variant


def listening(pid: int) -> set[str]:
    """The addresses of TCP and TCP6 on which a process listens, as the kernel prints them."""
    sockets = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        target = os.readlink(entry)
        if target.startswith("socket:["):
            sockets.add(target[8:-1])
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text("ascii").splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in sockets:
                found.add(words[1])
    return found


@pytest.mark.servers("mariadb-10.11")
def test_a_server_that_lets_root_in_by_tcp_is_ended(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """MariaDB's root has no password at 127.0.0.1: where that account is left, the server ends at once."""
    with served(binary, templates, tmp_path) as it:
        port = it.open_port(*PORT_OPTIONS)
        with pytest.raises(ProbeError, match="accepts root by TCP"):
            _require_closed_port(it, port)
        assert not it.sandbox.running


def test_a_password_is_in_a_file_that_its_owner_alone_reads(tmp_path: Path) -> None:
    """sysbench's command line, which others on the host may read, has none."""
    login = Login("probe", "Secret_1", 3307, encrypted=True)
    task = Task("/nowhere", str(tmp_path), CONNECT_SELECT, Access(), 1, 100, login=login)
    command = sysbench._command(task, 1)
    assert not [word for word in command if "Secret_1" in word]
    assert {"--mysql-ssl=on", "--mysql-port=3307", "--mysql-user=probe"} <= set(command)
    made = tmp_path / "sysbench.cnf"
    assert made.read_text() == "mysql-password=Secret_1\n"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600


@pytest.mark.servers("mysql-9.7", "mariadb-11.8", whole="mysql-5.7 mysql-8.0 mariadb-10.11")
def test_threads_are_kept_or_created(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """A thread for each connection without the cache, hardly any with it; the other way round it is no result."""
    with bench_of(binary, templates, tmp_path, compare="thread-cache") as (bench, plan):
        kept, made = block(bench, plan, 0), block(bench, plan, 1)
        bench.server.apply_settings = lambda settings: False  # type: ignore[method-assign]  # noqa: ARG005
        unset = block(bench, plan, 0, 2)
        bench.server.query("SET GLOBAL thread_cache_size = 64")
        set_anyway = block(bench, plan, 1, 2)
    assert (kept.invalid, made.invalid) == ("", "")
    assert kept.counters["threads created/connection"] < 0.5
    assert made.counters["threads created/connection"] > 0.9
    assert unset.invalid.startswith("threads created/connection")
    assert set_anyway.invalid.startswith("threads created/connection")


@pytest.mark.servers("mariadb-10.11", "mariadb-11.8")
def test_a_pool_of_threads_serves_connections(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """The pool has threads where it is switched on alone."""
    with bench_of(binary, templates, tmp_path, compare="thread-handling", loads="kept") as (bench, plan):
        each, pooled = block(bench, plan, 0), block(bench, plan, 1)
        bench.server.apply_settings = lambda settings: False  # type: ignore[method-assign]  # noqa: ARG005
        still_pooled = block(bench, plan, 0, 2)
    assert [v.settings["thread_handling"] for v in plan.variants] == [THREAD_EACH, THREAD_POOL]
    assert (each.invalid, pooled.invalid) == ("", "")
    assert each.counters["threads in the pool"] == 0 < pooled.counters["threads in the pool"]
    assert still_pooled.invalid.startswith("threads in the pool")


@pytest.mark.parametrize(
    ("case", "counters", "message"),
    [
        (ConnectionCase("storm", 1), {"Connections": 97}, "connections/transaction 0.97"),
        (ConnectionCase("storm", 1), {"Connections": 120}, "connections/transaction 1.2"),
        (ConnectionCase("kept", 1), {"Connections": 5}, "connections/transaction 0.05"),
        (ConnectionCase("storm", 1), {"Connections": 100, "Ssl_finished_accepts": 1}, "TLS handshakes/connection 0.01"),
        (
            ConnectionCase("storm", 1, "TLS"),
            {"Connections": 100, "Ssl_finished_accepts": 89},
            "TLS handshakes/connection 0.89",
        ),
        (
            ConnectionCase("storm", 8, "socket", {"thread_cache_size": "8"}),
            {"Connections": 100, "Threads_created": 50},
            "",
        ),
        (
            ConnectionCase("storm", 8, "socket", {"thread_cache_size": "16"}),
            {"Connections": 100, "Threads_created": 20},
            "",
        ),
        (
            ConnectionCase("storm", 8, "socket", {"thread_cache_size": "16"}),
            {"Connections": 100, "Threads_created": 30},
            MADE,
        ),
        (
            ConnectionCase("storm", 8, "socket", {"thread_cache_size": "0"}),
            {"Connections": 100, "Threads_created": 80},
            MADE,
        ),
        (ConnectionCase("storm", 1), {"Connections": 100, "TCP connections accepted": 70}, ""),
    ],
)
def test_what_makes_a_block_invalid(case: ConnectionCase, counters: dict[str, int], message: str) -> None:
    """Each bound separately; caches that are neither none nor enough, and other traffic of the host, are no reason."""
    seen = BlockActivity(1.0, 100, 0, case.threads, counters, {})
    invalid = check_preconditions(preconditions({case.variant.name: case}), case.variant, seen).invalid
    assert invalid.startswith(message)
    assert bool(invalid) == bool(message)


@pytest.mark.servers(NO_TLS)
def test_tls_that_clients_refuse_is_left_out_by_name(binary: Binary, tmp_path: Path) -> None:
    """Without being asked for it is left out, with the reason; by name it is refused."""
    ground, connections = ground_of(tmp_path, tmp_path, binary), load("connections")
    plan = connections.plan(ground, ProbeRequest(str(tmp_path)))
    assert plan.notes == ("TLS is skipped: mysql-5.7 does not support TLSv1.2, which clients require.",)
    assert "TLS" not in " ".join(plan.limits)
    with pytest.raises(ProbeError, match="choose transports=socket,tcp"):
        connections.plan(ground, ProbeRequest(str(tmp_path), choices={"transports": "socket,tls"}))


def test_a_dry_run_names_the_port() -> None:
    """What is created includes the listener, for the comparison that needs it alone; MySQL has no thread pool."""
    binary = Binary("mysql-8.0", "/nowhere/server", parse_target("mysql-8.0"), "8.0.43")
    ground = ground_of(Path("/"), Path("/"), binary)

    def made(**choices: str) -> str:
        return " ".join(Connections().plan(ground, ProbeRequest("/", choices=choices)).cost.creates)

    assert "free port of 127.0.0.1" in made(transports="socket,tcp")
    assert "random password" in made(transports="socket,tcp")
    assert "port" not in made(compare="thread-cache")
    with pytest.raises(ProbeError, match="no built-in thread pool"):
        made(compare="thread-handling")
