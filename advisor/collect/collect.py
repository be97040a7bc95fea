"""Collect all that an audit may know of one server: its answers, its workload, its host and its files."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from advisor import __version__
from advisor.collect.around import read_around
from advisor.collect.connect import DEFAULT_LIMITS
from advisor.collect.logs import read_binary_log_bytes, read_redo_waits
from advisor.collect.options import ConnectRequest, account
from advisor.collect.replication import read_replication
from advisor.collect.send import open_session
from advisor.collect.server import greet, read_lock_waits, read_server
from advisor.collect.workload import read_counters, read_workload
from advisor.core.errors import ConnectError
from advisor.facts import SCHEMA, Facts
from advisor.facts.size_limits import fitted
from advisor.redaction.secrets import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.collect.asking import Notes
    from advisor.collect.connect import Limits
    from advisor.collect.options import Account
    from advisor.collect.send import Session
    from advisor.collect.server import Greeting
    from advisor.facts import Server, Workload

DEFAULT_WINDOW = 10.0
VERSION_PARTS = 2  # numbers, without which no series is known and no rule can be asked


@dataclass(frozen=True, slots=True)
class Request:
    """What to collect: which server, and for how many seconds to watch its counters (0: not at all)."""

    connection: ConnectRequest = field(default_factory=ConnectRequest)
    window: float = DEFAULT_WINDOW
    limits: Limits | None = None


def collect(request: Request, wait: Callable[[float], object] = time.sleep) -> Facts:
    """Facts of the server that the request names; what couldn't be read stands in `unavailable` with its reason.

    Raises ConnectError where no connection can be had, or nothing that tells the version. A server lost on the way
    leaves what was read until then, and `lost` says it. So do parts that a snapshot would have no room for.
    """
    return from_account(account(request.connection), request, wait)


def from_account(chosen: Account, request: Request, wait: Callable[[float], object] = time.sleep) -> Facts:
    """Facts of the server behind an account that is settled already; otherwise as `collect`."""
    started = time.monotonic()
    taken_at = datetime.now(UTC).isoformat(timespec="seconds")
    notes: Notes = []
    session = open_session(chosen, request.limits or DEFAULT_LIMITS)
    session.bound()
    try:
        server, workload = _ask_everything(session, request, notes, wait)
    finally:
        session.close()
    around = read_around(server, notes)
    spent = time.monotonic() - started
    facts = Facts(
        schema=SCHEMA,
        tool=f"mycnf {__version__}",
        taken_at=taken_at,
        server=server,
        workload=workload,
        host=around.host,
        files=around.files,
        service=around.service,
        unavailable=tuple(notes),
        statements=session.sent,
        seconds=max(0.0, spent - (request.window if workload else 0.0)),
        lost=session.lost,
    )
    return fitted(facts)


def _ask_everything(
    session: Session, request: Request, notes: Notes, wait: Callable[[float], object]
) -> tuple[Server, Workload | None]:
    """The server's answers in the order that loses least if it stops: replication, which may hang, is last."""
    greeting = greet(session, notes)
    if len(greeting.number) < VERSION_PARTS:
        raise ConnectError(session.lost or _untold(session, greeting, notes))
    server = read_server(session, greeting, notes)
    first = read_counters(session, notes, with_text=True)
    server = replace(server, status=first.status, innodb_status=first.innodb_text)
    workload = read_workload(session, first, request.window, notes, wait)
    server = replace(
        server,
        lock_waits=read_lock_waits(session, greeting, first.status, notes),
        redo_waits=read_redo_waits(session, greeting, notes),
        binary_log_bytes=read_binary_log_bytes(session, greeting, notes),
    )
    return replace(server, replication=read_replication(session, greeting, first.status, notes)), workload


def _untold(session: Session, greeting: Greeting, notes: Notes) -> str:
    why = f"{clean(greeting.version[:40])!r} is none" if greeting.version else notes[0].reason if notes else "no answer"
    return f"{session.account.place} told no version of MySQL or MariaDB ({why}); check host and port"
