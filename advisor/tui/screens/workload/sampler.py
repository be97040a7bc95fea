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

EVERY = 2.0  # seconds between two samples
RETRY_AFTER = 3.0  # seconds between attempts to reconnect


class Sampler:
    """Samples until stopped; reconnects after a lost connection."""

    def __init__(self, app: App[Any], session: Callable[[], Session]) -> None:
        self._app, self._open = app, session
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
        while not self._stop.is_set():
            notes: Notes = []
            reading = read_counters(session, notes, with_text=False)
            if session.lost or self._stop.is_set():
                break
            if reading.status:
                first = first or reading
                self._post(SampleRead(sample_of(reading, first)))
            self._stop.wait(EVERY)
        if not self._stop.is_set():
            self._post(ConnectionLost(session.lost))

    def _post(self, message: BackgroundMessage) -> None:
        message.source = self
        self._app.post_message(message)
