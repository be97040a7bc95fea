"""Read a running server's counters every few seconds, in a thread with its own session."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from advisor.core.errors import MycnfError
from advisor.tui.workers import BackgroundMessage, ConnectionLost, Notice, SampleRead, TopEventsRead

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from advisor.collect.connection.session import Notes, Session
    from advisor.collect.host.live_load import LoadReader
    from advisor.facts import Facts
    from advisor.facts.host import Host
    from advisor.facts.workload import TopEvents
    from advisor.tui.screens.workload.rates import VariableChange

EVERY = 2.0  # seconds between two samples
VARIABLES_EVERY = 10.0  # seconds between two readings of the variables
LAG_EVERY = 10.0  # seconds between two readings of the replica status
TOP_EVERY = 10.0  # seconds between two readings of a summary table
RETRY_AFTER = 3.0  # seconds between attempts to reconnect


class Sampler:
    """Samples until stopped; reconnects after a lost connection."""

    def __init__(self, app: App[Any], session: Callable[[], Session], facts: Callable[[], Facts | None]) -> None:
        self._app, self._open, self._facts = app, session, facts
        self._stop, self._wake = threading.Event(), threading.Event()
        self.watched = ""
        self._session: Session | None = None
        self._thread = threading.Thread(target=self._run, name="samples", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop at once without waiting for the thread."""
        self._stop.set()
        self._wake.set()
        if (session := self._session) is not None:  # which the thread may close at any time
            with suppress(OSError):
                session.shut()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._session = self._open()
                self._sample(self._session)
            except MycnfError as error:
                if not self._stop.is_set():
                    self._post(ConnectionLost(str(error)))
            finally:
                if self._session is not None:
                    self._session.close()
                    self._session = None
            self._stop.wait(RETRY_AFTER)

    def _sample(self, session: Session) -> None:
        """Sample until the connection is lost."""
        from advisor.collect.server.workload import read_counters, sample_of

        first, failed = None, False
        host, variables, top, lag = _HostLoad(), _Variables(), _TopReader(), _Lag()
        while not self._stop.is_set():
            notes: Notes = []
            reading = read_counters(session, notes, with_text=False)
            facts = self._facts()
            load = host.read(facts.host if facts else None) | lag.read(session, facts)
            if session.lost or self._stop.is_set():
                break
            if reading.status:
                first = first or reading
                sample = sample_of(reading, first)
                sample.status.update(load)
                self._post(SampleRead(sample, variables.changes(session, sample.at)))
            elif notes and not failed:  # the screens would wait for a first sample
                failed = True
                self._app.post_message(Notice(f"The counters cannot be read: {notes[0].reason}", "warning"))
            if message := top.read(session, self.watched):
                self._post(message)
            self._pause()
        if not self._stop.is_set():
            self._post(ConnectionLost(session.lost))

    def watch(self, of: str) -> None:
        """From now on read this summary table of events too, the first time at once; none for an empty name."""
        self.watched = of
        self._wake.set()

    def _pause(self) -> None:
        """Wait for the next sample, or until another summary table is asked for."""
        self._wake.wait(EVERY)
        self._wake.clear()

    def _post(self, message: BackgroundMessage) -> None:
        message.source = self
        self._app.post_message(message)


class _HostLoad:
    """The load of the server's host, if it was proved to be this one; the proof may come with a later audit."""

    def __init__(self) -> None:
        self._pid = 0
        self._reader: LoadReader | None = None

    def read(self, host: Host | None) -> dict[str, int]:
        """The counters of the host; empty for another one."""
        pid = host.process.pid if host is not None and host.process is not None else 0
        if pid != self._pid:
            from advisor.collect.host.live_load import load_reader

            self._pid, self._reader = pid, load_reader(host)
        return self._reader.read() if self._reader is not None else {}


class _Lag:
    """How far a replica is behind, read every few samples and repeated between them."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._read_at = float("-inf")

    def read(self, session: Session, facts: Facts | None) -> dict[str, int]:
        """The lag in seconds; empty if the server is no replica, or its replication is stopped."""
        replication = facts.server.replication if facts else None
        if facts is None or replication is None or not replication.replica_rows:
            return {}
        if time.monotonic() - self._read_at >= LAG_EVERY:
            from advisor.collect.server.replication import read_lag
            from advisor.tui.screens.workload.counters import LAG

            self._read_at, lag = time.monotonic(), read_lag(session, facts.server)
            self._known = {} if lag is None else {LAG: lag}
        return self._known


class _TopReader:
    """Reads the summary table that a screen shows, every few samples."""

    def __init__(self) -> None:
        self._first: TopEvents | None = None
        self._last: TopEvents | None = None

    def read(self, session: Session, of: str) -> TopEventsRead | None:
        """The first and the newest reading; None if none is wanted, or the last is recent."""
        from advisor.collect.server.workload import read_top_events

        if not of:
            self._first = self._last = None
            return None
        if self._last is not None and self._last.of == of and time.monotonic() - self._last.clock < TOP_EVERY:
            return None
        self._last = read_top_events(session, of)
        if self._first is None or self._first.of != of or _reset(self._first, self._last):
            self._first = self._last
        return TopEventsRead(self._first, self._last)


def _reset(first: TopEvents, last: TopEvents) -> bool:
    """Whether the table was emptied (TRUNCATE) since the first reading."""
    before = {row.name: row.count for row in first.rows}
    return any(row.count < before.get(row.name, 0) for row in last.rows)


class _Variables:
    """The global variables, read every few samples to find what changed."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._read_at = -VARIABLES_EVERY

    def changes(self, session: Session, at: float) -> tuple[VariableChange, ...]:
        """The variables that changed since the last reading; empty between readings."""
        if 0 <= at - self._read_at < VARIABLES_EVERY:
            return ()
        from advisor.collect.connection.session import ask, name_value_dict
        from advisor.collect.connection.statements import VARIABLES

        self._read_at = at
        now = name_value_dict(ask(session, VARIABLES, "server.variables", []))
        before, self._values = self._values, now or self._values
        return changed_variables(before, now, at)


def changed_variables(before: dict[str, str], now: dict[str, str], at: float) -> tuple[VariableChange, ...]:
    """The variables that both readings have with different values, without those that servers change themselves."""
    from advisor.preflight.changes import SELF_CHANGING
    from advisor.redaction import redact_value
    from advisor.tui.screens.workload.rates import VariableChange

    return tuple(
        VariableChange(at, name, redact_value(name, before[name]), redact_value(name, value))
        for name, value in sorted(now.items())
        if name in before and before[name] != value and name not in SELF_CHANGING
    )
