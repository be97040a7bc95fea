"""Read a running server's counters every few seconds, in a thread that owns its session."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from advisor.core.errors import MycnfError
from advisor.tui.messages import Gone, Sampled, Told

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from advisor.collect.connection.session import Notes, Session

EVERY = 2.0  # seconds between two samples
AGAIN = 3.0  # seconds until a server that went away is tried again


class Sampler:
    """Samples until it is stopped; after a lost connection it tries again and goes on."""

    def __init__(self, app: App[Any], session: Callable[[], Session]) -> None:
        self._app, self._open = app, session
        self._stop = threading.Event()
        self._session: Session | None = None
        self._thread = threading.Thread(target=self._run, name="samples", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End at once, whatever it is waiting for; returns without waiting."""
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
                    self._tell(Gone(str(error)))
            finally:
                if self._session is not None:
                    self._session.close()
                    self._session = None
            self._stop.wait(AGAIN)

    def _sample(self, session: Session) -> None:
        """Samples for as long as the session stands."""
        from advisor.collect.server.workload import read_counters, sample_of

        first = None
        while not self._stop.is_set():
            notes: Notes = []
            reading = read_counters(session, notes, with_text=False)
            if session.lost or self._stop.is_set():
                break
            if reading.status:
                first = first or reading
                self._tell(Sampled(sample_of(reading, first)))
            self._stop.wait(EVERY)
        if not self._stop.is_set():
            self._tell(Gone(session.lost))

    def _tell(self, message: Told) -> None:
        message.source = self
        self._app.post_message(message)
