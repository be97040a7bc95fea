"""Load on real servers: both drivers do what they say, and nothing of them outlives its end."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from mycnf_command import CHECKOUT
from probe_environment import children, served
from process_checks import PATIENCE, alive, eventually
from real_servers import Binaries

from probes.experiment import ProbeError, Turn, Variant
from probes.rounds import SEEDS_PER_ROUND, SEEDS_PER_RUN
from probes.sandbox import Binary, sweep
from probes.server_probes import read_ahead, under_load
from probes.server_probes.under_load import WorkloadBench, driver_share
from probes.server_probes.variant_server import VariantServer
from probes.stop import StopSignal
from probes.workload import sysbench
from probes.workload.load import OLTP, Access, LoadResult, StatementMix, Task, TransactionStep, simple_ranges
from probes.workload.own_driver import choose_driver, run_load
from probes.workload.tables import TableShape, fill_tables

ROWS, THREADS = 2000, 3
DRIVERS = ["mycnf", "sysbench"]


def driver(word: str) -> str:
    """A driver by its word; the test skips where it isn't installed."""
    if word == "sysbench" and sysbench.sysbench_version() is None:
        pytest.skip("sysbench is not installed")
    return choose_driver(word)


@pytest.fixture(scope="module")
def filled(
    server_name: str, binaries: Binaries, templates: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VariantServer]:
    """A server with one small table."""
    with served(binaries(server_name), templates, tmp_path_factory.mktemp("load")) as it:
        fill_tables(it.connection(), TableShape(ROWS, tables=2), StopSignal())
        yield it


def task(it: VariantServer, workload: str = "oltp_read_write", kind: str = "uniform") -> Task:
    """A load on its tables."""
    return Task(it.sandbox.socket, it.scratch_folder, OLTP[workload], Access(kind), THREADS, ROWS, tables=2)


@pytest.mark.servers("mysql-9.7")
@pytest.mark.parametrize("word", DRIVERS)
def test_the_driver_takes_the_seed_of_any_run(filled: VariantServer, word: str) -> None:
    """A run's seed has 31 bits, and those of its rounds and blocks come behind it."""
    seed = ((1 << 31) - 1) * SEEDS_PER_RUN + 3 * SEEDS_PER_ROUND
    ran = run_load(driver(word), task(filled)._replace(seed=seed), 1, StopSignal())
    assert ran is not None
    assert ran.transactions > 0


@pytest.mark.servers("mysql-8.0", "mariadb-11.8", whole="mysql-5.7 mysql-9.7 mariadb-10.11")
@pytest.mark.parametrize("word", DRIVERS)
def test_the_driver_counts_what_the_server_counts(filled: VariantServer, word: str) -> None:
    """Queries and commits are the server's own, but for what connecting and rolling back takes, and in clear text."""
    before = filled.status()
    ran = run_load(driver(word), task(filled, kind="pareto"), 2, StopSignal())
    after = filled.status()
    assert ran is not None
    assert ran.transactions == after["Com_commit"] - before["Com_commit"] > 0
    others = after["Questions"] - before["Questions"] - ran.queries
    assert 0 <= others <= 3 * THREADS + 2 + 2 * ran.repeated
    assert ran.queries >= 20 * ran.transactions
    assert len(ran.qps) == len(ran.tps) >= 1
    assert 0 < ran.p95 <= ran.p99
    assert len(ran.p99_by_second) >= 1  # the last second may end before its report
    assert all(ran.p99_by_second)
    assert after["Ssl_accepts"] == before["Ssl_accepts"]  # through a socket it would be the load that is measured
    if word == "mycnf":
        assert (sum(ran.tps), sum(ran.qps)) == (ran.transactions, ran.queries)


@pytest.mark.servers("mysql-9.7", whole="mariadb-11.8")
@pytest.mark.parametrize("word", DRIVERS)
@pytest.mark.parametrize("workload", [OLTP["oltp_write_only"]._replace(script=None), simple_ranges(10)])
def test_statements_without_a_bundled_script_run_too(filled: VariantServer, word: str, workload: StatementMix) -> None:
    """What sysbench has no script for is sent from one of our making, and by our own driver alike."""
    load = task(filled)._replace(workload=workload)
    before = filled.status()
    ran = run_load(driver(word), load, 1, StopSignal())
    after = filled.status()
    assert ran is not None
    sent = sum(after[name] - before[name] for name in ("Com_select", "Com_insert", "Com_update", "Com_delete"))
    brackets = 2 * (ran.transactions + ran.repeated) if load.workload.bracketed else 0
    assert ran.queries - brackets - 2 * THREADS <= sent <= ran.queries + 2 * ran.repeated


@pytest.mark.servers("mysql-9.7")
def test_the_driver_counts_its_own_work_in_the_time_of_the_load(filled: VariantServer) -> None:
    """Transactions that end after the time is up take their time; starting and connecting is no part of the load."""
    sleeps = StatementMix("sleeps", (TransactionStep(("DO SLEEP(0.6)",)),))
    ran = run_load("mycnf", task(filled)._replace(workload=sleeps, threads=1), 1, StopSignal())
    assert ran is not None
    assert ran.transactions == 2
    assert ran.seconds >= 1.2
    assert ran.cpu is not None
    assert ran.cpu < 0.05


@pytest.mark.parametrize(("processors", "share"), [(1, 0.8), (2, 0.4), (4, 0.2), (256, 0.2)])
def test_a_driver_uses_one_processor_for_each_connection(processors: int, share: float) -> None:
    """On many processors four connections can be the limit with a small share of them all."""
    ran = LoadResult(10.0, 1, 1, 0, 1.0, 1.0, (), (), (), cpu=8.0)
    assert driver_share(ran, 4, processors) == share


def quiet_server(counters: dict[str, int]) -> VariantServer:
    """A server whose counters grow by so much with each look, and which takes any setting."""
    looks = itertools.count()

    def status() -> dict[str, int]:
        look = next(looks)
        return {name: look * step for name, step in counters.items()}

    return SimpleNamespace(  # type: ignore[return-value]
        explain_errors=contextlib.nullcontext,
        begin_round=lambda _: None,
        apply_settings=lambda _: False,
        differing_value=lambda *_: None,
        status=status,
        purge_binary_logs=lambda: None,
    )


@pytest.mark.parametrize(("transactions", "noted"), [(99, True), (100, False)])
def test_the_p99_of_few_transactions_is_noted(monkeypatch: pytest.MonkeyPatch, transactions: int, noted: bool) -> None:
    """Below a hundred transactions no whole one is slower than the p99."""
    ran = LoadResult(1.0, transactions, transactions, 0, 1.0, 1.0, (), (), ())
    monkeypatch.setattr(under_load, "run_load", lambda *_: ran)
    server = quiet_server({})
    sent = Task("", "", OLTP["oltp_update_non_index"], Access(), 1, 1)
    bench = WorkloadBench(server, "mycnf", lambda _: sent, warm_seconds=0)
    bench.measure(Variant("any", {}), Turn(1, 1), StopSignal())
    assert (bench.notes() == ()) is not noted
    assert any("any" in note and "p99" in note for note in bench.notes()) is noted


@pytest.mark.parametrize(("ahead", "noted"), [(0, True), (90, True), (110, False)])
def test_random_read_ahead_that_did_not_run_is_noted(monkeypatch: pytest.MonkeyPatch, ahead: int, noted: bool) -> None:
    """MySQL 8.0 read no page ahead at random in long scans, and the variant looked like one without an effect."""
    ran = LoadResult(1.0, 1000, 1000, 0, 1.0, 1.0, (), (), ())
    monkeypatch.setattr(under_load, "run_load", lambda *_: ran)
    server = quiet_server({"Innodb_pages_read": 10_000, read_ahead.RANDOM_READ_AHEAD: ahead})
    sent = Task("", "", OLTP["oltp_point_select"], Access(), 1, 1)
    checks = read_ahead._preconditions(read_ahead.SHORTEST)
    bench = read_ahead.ReadAheadBench(server, "mycnf", lambda _: sent, warm_seconds=0, preconditions=checks)
    for name in ("linear (56)", "linear and random"):
        bench.measure(Variant(name, read_ahead.SETTINGS[name], group="points"), Turn(1, 1), StopSignal())
    assert [note.partition(":")[0] for note in bench.notes()] == ["linear and random"] * noted


@pytest.mark.servers("mysql-8.0")
@pytest.mark.parametrize("word", DRIVERS)
def test_a_connecting_load_connects_for_each_transaction(filled: VariantServer, word: str) -> None:
    """The server counts a connection for each transaction of both drivers, and hardly any that broke."""
    load = task(filled)._replace(workload=OLTP["oltp_point_select"]._replace(script=None, connecting=True))
    before = filled.status()
    ran = run_load(driver(word), load, 1, StopSignal())
    after = filled.status()
    assert ran is not None
    assert 0 <= after["Connections"] - before["Connections"] - ran.transactions <= 3 * THREADS
    assert after["Aborted_clients"] - before["Aborted_clients"] <= THREADS


@pytest.mark.servers("mysql-8.0")
@pytest.mark.parametrize("word", DRIVERS)
def test_a_stop_ends_the_driver_at_once(filled: VariantServer, word: str) -> None:
    """A stopped load gives nothing, and none of its processes is left."""
    stop = StopSignal()
    chosen = driver(word)
    before = children()  # other tests of this process keep some running
    thread = threading.Thread(target=_stop_once_connected, args=(filled, stop))
    thread.start()
    assert run_load(chosen, task(filled), 600, stop) is None
    thread.join()
    assert [words for pid, words in children().items() if pid not in before] == []


def _stop_once_connected(it: VariantServer, stop: StopSignal) -> None:
    connection = it.sandbox.connect()
    with connection, connection.cursor() as cursor:

        def connected() -> bool:
            cursor.execute("SHOW GLOBAL STATUS LIKE 'Threads_connected'")
            return int(cursor.fetchone()[1]) > THREADS

        try:
            eventually(connected, what="the driver connects")
        finally:
            stop.say("cancelled")


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
@pytest.mark.parametrize("word", DRIVERS)
def test_a_server_that_dies_is_reported_with_its_last_words(
    binary: Binary, templates: Path, tmp_path: Path, word: str
) -> None:
    """The run ends with one line on the server, and its directory and the driver are gone."""
    with pytest.raises(ProbeError, match="was killed in the middle of the run") as caught:
        _run_until_it_dies(binary, templates, tmp_path, driver(word))
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    assert [words for words in children().values() if str(tmp_path) in words] == []


def _run_until_it_dies(binary: Binary, templates: Path, directory: Path, chosen: str) -> None:
    with served(binary, templates, directory) as it:
        fill_tables(it.connection(), TableShape(ROWS, tables=2), StopSignal())
        killer = threading.Thread(target=_kill_once_loaded, args=(it,))
        killer.start()
        with it.explain_errors():
            run_load(chosen, task(it), 600, StopSignal())


def _kill_once_loaded(it: VariantServer) -> None:
    before = it.status()["Questions"]
    try:
        eventually(lambda: it.status()["Questions"] > before + 500, what="the load comes")
    finally:
        os.kill(it.sandbox.pid, signal.SIGKILL)


OWNER = """
import os, sys, threading, time
from advisor.core.model import Target
from pathlib import Path
from types import SimpleNamespace
sys.path.insert(0, "tests/plugins")
from probe_environment import children, served
from probes.sandbox import Binary
from probes.stop import StopSignal
from probes.workload.own_driver import run_load
from probes.workload.load import OLTP, Access
from probes.workload.tables import TableShape, fill_tables
from probes.workload.load import Task
with served(eval(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])) as it:
    fill_tables(it.connection(), TableShape(2000), StopSignal())
    task = Task(it.sandbox.socket, it.scratch_folder, OLTP["oltp_read_write"], Access(), 3, 2000)
    def show():
        while len(children()) < 2:
            time.sleep(0.05)
        print(*children(), flush=True)
    threading.Thread(target=show).start()
    run_load(sys.argv[4], task, 600, StopSignal())
"""


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
@pytest.mark.parametrize("word", DRIVERS)
def test_kill_9_of_the_owner_ends_server_and_driver(binary: Binary, templates: Path, tmp_path: Path, word: str) -> None:
    """After kill -9 in the middle of a load neither server nor driver runs on, and the next sweep removes the rest."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, repr(binary), str(templates), str(tmp_path), driver(word)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
    )
    assert process.stdout is not None
    pids = [int(word) for word in process.stdout.readline().split()]
    process.kill()
    process.wait(PATIENCE)
    assert len(pids) >= 2
    eventually(lambda: not any(alive(pid) for pid in pids), what="server and driver die with their owner")
    assert len(sweep(tmp_path)) == 1
    assert list(tmp_path.iterdir()) == []
