"""Carry out the steps of a scenario on its servers; sessions and loads last until the scenario ends."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

import pymysql
from labfolder import LabError
from live_server import Live, freeze, number_of
from scenario import Data, Scenario, Step, volume_directory
from topology import PATIENCE, Servers, wait_until

from probes.stop import StopSignal
from probes.workload.load import OLTP, Access, Task
from probes.workload.own_driver import choose_driver, run_load
from probes.workload.tables import TableShape, fill_tables

LONGEST = 3600.0  # seconds of a load
FILLER = "filler"  # the file that fills a volume
KILOBYTE = 1 << 10
DATABASE = "sbtest"


class Stage:
    """The sessions, statements and loads that the steps of a scenario leave running."""

    def __init__(self, scenario: Scenario, servers: Servers, place: str) -> None:
        self.scenario = scenario
        self.servers = servers
        self.place = place
        self._stop = StopSignal()
        self._sessions: dict[tuple[str, str], pymysql.Connection[Any]] = {}
        self._threads: list[threading.Thread] = []
        self._stopped: list[Live] = []

    def carry_out(self, step: Step) -> None:
        """Carry out one step. Raises LabError if a statement is refused or a fact does not become true."""
        server = self.servers[step.on]
        try:
            if step.run:
                self._run(server, step)
            elif step.start:
                self._start(server, step)
            elif step.load:
                self._load(server, step)
            elif step.restart:
                server.sandbox.stop()
                server.sandbox.restart()
            elif step.until:
                wait_until(server, step.until, step.equals)
            elif step.fill is not None:
                fill_volume(volume_directory(self.place), step.fill)
            elif step.empty:
                os.unlink(os.path.join(volume_directory(self.place), FILLER))
            else:
                self._signal(server, step.signal)
        except pymysql.err.MySQLError as error:
            raise LabError(f"{self.scenario.name}: {step.on} refuses a step: {error.args[-1]}") from error

    def close(self) -> None:
        """End loads and sessions."""
        self._stop.say("the scenario has ended")
        for server in self._stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(server.sandbox.pid, signal.SIGCONT)
        for (node, _), session in self._sessions.items():
            with contextlib.suppress(pymysql.err.MySQLError, OSError):
                self.servers[node].run(f"KILL {number_of(session)}")  # a statement may be running in it
        for thread in self._threads:
            thread.join(PATIENCE)

    def _run(self, server: Live, step: Step) -> None:
        if not step.session:
            server.run(*step.run)
            return
        with self._session(server, step).cursor() as cursor:
            for statement in step.run:
                cursor.execute(statement)

    def _start(self, server: Live, step: Step) -> None:
        session = self._session(server, step)

        def run() -> None:
            with contextlib.suppress(pymysql.err.MySQLError, OSError, AttributeError), session.cursor() as cursor:
                cursor.execute(step.start)
                while step.every and not self._stop.wait(step.every):
                    cursor.execute(step.start)

        self._thread(run)

    def _session(self, server: Live, step: Step) -> pymysql.Connection[Any]:
        key = (step.on, step.session or f"started {len(self._sessions)}")
        if key not in self._sessions:
            self._sessions[key] = server.sandbox.connect(autocommit=True)
        return self._sessions[key]

    def _load(self, server: Live, step: Step) -> None:
        data = self.scenario.data or Data(rows=10000)
        task = Task(
            socket=server.sandbox.socket,
            scratch_folder=tempfile.mkdtemp(prefix="load-", dir=self.place),
            workload=OLTP[step.load],
            access=Access(),
            threads=step.threads,
            rows=data.rows,
            tables=data.tables,
            database=DATABASE,
        )

        def run() -> None:
            with contextlib.suppress(Exception):  # the server may have been stopped on purpose
                run_load(choose_driver("auto"), task, LONGEST, self._stop)

        self._thread(run)

    def _signal(self, server: Live, word: str) -> None:
        if word == "STOP":
            freeze(server.sandbox.pid)
            self._stopped.append(server)
        else:
            os.kill(server.sandbox.pid, getattr(signal, f"SIG{word}"))

    def _thread(self, run: Any) -> None:
        thread = threading.Thread(target=run, daemon=True, name=f"lab-{self.scenario.name}")
        thread.start()
        self._threads.append(thread)


@contextlib.contextmanager
def stage_scenario(scenario: Scenario, servers: Servers, place: str) -> Iterator[Stage]:
    """The scenario after all its steps."""
    stage = Stage(scenario, servers, place)
    try:
        if scenario.data:
            for server in servers.values():  # the rows are equal on each, and not written to the binary log
                with server.sandbox.connect(autocommit=True) as connection:
                    fill_tables(connection, TableShape(scenario.data.rows, scenario.data.tables), StopSignal())
        for step in scenario.steps:
            stage.carry_out(step)
        yield stage
    finally:
        stage.close()


def fill_volume(directory: str, left: int) -> None:
    """Write a file until so many kilobytes of the file system are left."""
    with open(os.path.join(directory, FILLER), "ab", buffering=0) as file:
        while (free := _free_bytes(directory) - left * KILOBYTE) > 0:
            file.write(bytes(min(free, 1 << 20)))
            os.fsync(file.fileno())


def _free_bytes(directory: str) -> int:
    state = os.statvfs(directory)
    return state.f_bavail * state.f_frsize
