"""Short timeouts, only where a server is made to be silent: a busy host may be slow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from advisor.collect.connection import session as session_module
from advisor.collect.connection.connect import ConnectionLimits
from advisor.collect.connection.session import Rows, Session
from advisor.collect.connection.statement import Statement
from advisor.collect.connection.wire import Wire

PATIENT = ConnectionLimits(connect=60, read=60, statement=60, answer=120, whole=600)
SHORT = 0.5  # seconds


def hurry(session: Session) -> None:
    """Give a session short timeouts for answers and for a second connection."""
    session.limits = session.limits._replace(connect=SHORT, read=SHORT)
    session.wire._read_timeout = SHORT


@contextmanager
def hurried(statement: Statement, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In the block, the client uses a short timeout for this statement and the normal one for others."""
    usual = session_module._ask

    def ask(wire: Wire, text: str) -> Rows:
        patience = wire._read_timeout
        wire._read_timeout = SHORT if text == statement.text() else patience
        try:
            return usual(wire, text)
        finally:
            wire._read_timeout = patience

    with monkeypatch.context() as patched:
        patched.setattr(session_module, "_ask", ask)
        yield
