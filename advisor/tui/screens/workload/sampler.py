"""Read a running server's counters every few seconds, in a thread with its own session."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from advisor.core.errors import MycnfError
from advisor.tui.messages import BackgroundMessage, ConnectionLost, SampleRead

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from advisor.collect.connection.session import Notes, Session
    from advisor.collect.host.live_load import LoadReader
    from advisor.facts.host import Host
    from advisor.tui.screens.workload.samples import VariableChange

EVERY = 2.0  # seconds between two samples
VARIABLES_EVERY = 10.0  # seconds between two readings of the variables
RETRY_AFTER = 3.0  # seconds between attempts to reconnect


class Sampler:
    """Samples until stopped; reconnects after a lost connection."""

    def __init__(self, app: App[Any], session: Callable[[], Session], host: Callable[[], Host | None]) -> None:
        self._app, self._open, self._host = app, session, host
        self._stop = threading.Event()
        self._session: Session | None = None
        self._thread = threading.Thread(target=self._run, name="samples", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop at once without waiting for the thread."""
        self._stop.set()
        if self._session is not None:
            with suppress(OSError):
                self._session.shut()

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

        first = None
        host, variables = _HostLoad(self._host), _Variables()
        while not self._stop.is_set():
            notes: Notes = []
            reading = read_counters(session, notes, with_text=False)
            load = host.read()
            if session.lost or self._stop.is_set():
                break
            if reading.status:
                first = first or reading
                sample = sample_of(reading, first)
                sample.status.update(load)
                self._post(SampleRead(sample, variables.changes(session, sample.at)))
            self._stop.wait(EVERY)
        if not self._stop.is_set():
            self._post(ConnectionLost(session.lost))

    def _post(self, message: BackgroundMessage) -> None:
        message.source = self
        self._app.post_message(message)


class _HostLoad:
    """The load of the server's host, if it was proved to be this one; the proof may come with a later audit."""

    def __init__(self, host: Callable[[], Host | None]) -> None:
        self._find, self._pid, self._reader = host, 0, None

    _reader: LoadReader | None

    def read(self) -> dict[str, int]:
        """The counters of the host; empty for another one."""
        host = self._find()
        pid = host.process.pid if host is not None and host.process is not None else 0
        if pid != self._pid:
            from advisor.collect.host.live_load import load_reader

            self._pid, self._reader = pid, load_reader(host)
        return self._reader.read() if self._reader is not None else {}


class _Variables:
    """The global variables, read every few samples to tell what changed."""

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
    from advisor.redaction.secrets import redact_value
    from advisor.tui.screens.workload.samples import VariableChange

    return tuple(
        VariableChange(at, name, redact_value(name, before[name]), redact_value(name, value))
        for name, value in sorted(now.items())
        if name in before and before[name] != value and name not in SELF_CHANGING
    )
