"""One sample of a server's counters, with no more statements than that takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.innodb import counts_lsn, innodb_status
from advisor.collect.options import account
from advisor.collect.send import open_session
from advisor.collect.server import greet
from advisor.collect.workload import read_counters, sample_at
from advisor.core.errors import ConnectError

if TYPE_CHECKING:
    from advisor.collect.asking import Notes
    from advisor.collect.options import ConnectRequest
    from advisor.facts import Sample


def read_once(request: ConnectRequest) -> tuple[dict[str, str], Sample]:
    """The server's variables and its counters now, at its own uptime.

    The redo position is read from InnoDB's status where no counter tells it, and is None where the account may not.
    Raises ConnectError where no connection can be had or it is lost on the way.
    """
    notes: Notes = []
    session = open_session(account(request))
    session.bound()
    try:
        variables = greet(session, notes).variables
        reading = read_counters(session, notes, with_text=False)
        text = "" if counts_lsn(reading.status) else innodb_status(session, notes)
    finally:
        session.close()
    if not variables or "uptime" not in reading.status:
        raise ConnectError(session.lost or f"the server told no counters: {notes[0].reason if notes else 'no answer'}")
    return variables, sample_at(reading.status, float(reading.uptime), text)
