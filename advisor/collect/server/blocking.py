"""Read which sessions block others: open transactions, waits for rows, and metadata locks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.connection.session import ask, whole_number
from advisor.collect.connection.statements import (
    METADATA_LOCKS_MARIADB,
    METADATA_LOCKS_MYSQL,
    ROW_WAITS_INNODB,
    ROW_WAITS_MYSQL,
    SESSIONS_PROCESSLIST,
    SESSIONS_THREADS,
)
from advisor.facts import Unavailable
from advisor.facts.workload import LOCK_WAIT, ROWS, Blocking, LockWait, OpenTransaction, ServerSession, is_wait_state

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.collect.connection.session import Notes, Row, Session
    from advisor.collect.server.server import Greeting
    from advisor.facts.server import Plugin

PART = "server.blocking"
# With more waits for one row, MariaDB and MySQL 5.7 compare each lock with each other while InnoDB stands still: 4 s
# with 1,000 waits.
MOST_ROW_WAITS = 100
_SHORT = 5  # seconds; sessions with a younger transaction are left out unless they block or wait
LONG_STATEMENT = 10  # seconds; the statements about sessions list these too
MOST_SESSIONS = 512
_NAME_LENGTH = 130  # characters of a schema and a table
# What a metadata lock on a table or another object waits for, and the lock types that delay it.
_STRONG = ("SHARED_NO_READ_WRITE", "EXCLUSIVE")
_WRITE_BLOCKERS = ("SHARED_READ_ONLY", "SHARED_NO_WRITE", *_STRONG)
_WRITERS = ("SHARED_WRITE", "SHARED_WRITE_LOW_PRIO")
_DELAYED_BY = {
    "SHARED": ("EXCLUSIVE",),
    "SHARED_HIGH_PRIO": ("EXCLUSIVE",),
    "SHARED_READ": _STRONG,
    "SHARED_WRITE": _WRITE_BLOCKERS,
    "SHARED_WRITE_LOW_PRIO": _WRITE_BLOCKERS,
    "SHARED_UPGRADABLE": ("SHARED_UPGRADABLE", "SHARED_NO_WRITE", *_STRONG),
    "SHARED_READ_ONLY": (*_WRITERS, *_STRONG),
    "SHARED_NO_WRITE": (*_WRITERS, "SHARED_UPGRADABLE", "SHARED_NO_WRITE", *_STRONG),
    "SHARED_NO_READ_WRITE": ("SHARED_READ", *_WRITERS, "SHARED_UPGRADABLE", *_WRITE_BLOCKERS),
}
# Global, commit, backup and schema locks have three types; the exclusive one excludes all.
_SCOPED = {"INTENTION_EXCLUSIVE": ("SHARED", "EXCLUSIVE"), "SHARED": ("INTENTION_EXCLUSIVE", "EXCLUSIVE")}
_SCOPES = frozenset({"GLOBAL", "COMMIT", "BACKUP LOCK", "SCHEMA", "TABLESPACE"})


class MetadataLock(NamedTuple):
    """A metadata lock of a session, granted or pending, on an object."""

    owner: int
    scope: str
    name: str
    mode: str
    granted: bool


class BlockingReading(NamedTuple):
    """What was read about blocking, and the number of sessions that wait for each kind of lock."""

    blocking: Blocking | None
    states: dict[str, int]


def read_blocking(
    session: Session, greeting: Greeting, row_waits: int, plugins: tuple[Plugin, ...], notes: Notes
) -> BlockingReading:
    """Open transactions and waits for locks, from at most three statements; the last two only if a session waits.

    `row_waits` is the number of sessions that wait for rows, from a counter at the end of the window.
    """
    modern = not greeting.is_mariadb and greeting.number >= (8, 0, 1)
    if row_waits > MOST_ROW_WAITS and not modern:
        notes.append(Unavailable(PART, _crowd_reason(row_waits)))
        return BlockingReading(None, {})
    threads = not greeting.is_mariadb and greeting.variables.get("performance_schema", "").upper() == "ON"
    answer = ask(session, SESSIONS_THREADS if threads else SESSIONS_PROCESSLIST, PART, notes)
    if answer is None:
        return BlockingReading(None, {})
    listing = _sessions(answer.rows)
    rows = _row_waits(session, listing, notes, modern=modern, threads=threads)
    locks = _metadata(session, greeting, listing, plugins, notes, threads=threads)
    waits = (*(rows or ()), *(locks.waits if locks else ()))
    holders = locks.holders if locks else ()
    named = {number for wait in waits for number in (wait.waiter, wait.blocker)} | {number for number, _ in holders}
    blocking = Blocking(
        sessions=tuple(one for one in listing.sessions.values() if one.id in named or _matters(one)),
        detached=listing.detached,
        waits=waits,
        holders=holders,
        rows_read=rows is not None,
        metadata_read=locks is not None and locks.certain,
        history=listing.history,
    )
    return BlockingReading(blocking, listing.states)


def _matters(session: ServerSession) -> bool:
    """Whether a session that blocks none is kept: it waits, or its transaction or statement is not short."""
    opened = session.transaction
    return session.waiting is not None or opened is None or opened.age is None or opened.age >= _SHORT


def _crowd_reason(waits: int) -> str:
    return (
        f"{waits} sessions wait for rows: on this version InnoDB would stall while it lists more than {MOST_ROW_WAITS} "
        "waits"
    )


class _SessionListing(NamedTuple):
    sessions: dict[int, ServerSession]
    by_transaction: dict[str, int]
    detached: tuple[OpenTransaction, ...]
    states: dict[str, int]
    history: int | None


def _sessions(rows: Iterable[Row]) -> _SessionListing:
    """The rows of the statement about sessions, by the kind that trx_state names."""
    sessions: dict[int, ServerSession] = {}
    by_transaction: dict[str, int] = {}
    detached: list[OpenTransaction] = []
    states: dict[str, int] = {}
    history = None
    for row in rows:
        number, kind = whole_number(row[0]), row[7]
        if kind == "history":
            history = number
        elif kind == "state":
            states[row[5] or ""] = number or 0
        elif number == 0:
            detached += [one] if (one := _transaction(row)) else []
        elif number is not None:
            sessions[number] = session_of(number, row[1:6], _transaction(row))
            by_transaction |= {row[6]: number} if row[6] else {}
    return _SessionListing(
        sessions, by_transaction, tuple(detached), {name: n for name, n in states.items() if name}, history
    )


def session_of(number: int, row: Row, transaction: OpenTransaction | None = None) -> ServerSession:
    """The session with that connection id, from its user, host, command, seconds and state."""
    user, host, command, seconds, state = row
    host = re.sub(r":[0-9]{1,5}$", "", host or "")
    account = f"{user or ''}@{host}" if user or host else ""
    return ServerSession(number, account, command or "", max(0, whole_number(seconds) or 0), state or "", transaction)


def _transaction(row: Row) -> OpenTransaction | None:
    if row[7] is None:
        return None
    age, locked, modified, waited = (whole_number(text) for text in row[8:12])
    return OpenTransaction(row[7], age, locked or 0, modified or 0, waited if row[7] == LOCK_WAIT else None)


def _row_waits(
    session: Session, listing: _SessionListing, notes: Notes, *, modern: bool, threads: bool
) -> tuple[LockWait, ...] | None:
    """The waits for rows; None if there are some whose blockers could not be read."""
    if not any(one.transaction and one.transaction.state == LOCK_WAIT for one in listing.sessions.values()):
        return ()
    if modern and not threads:
        notes.append(Unavailable(PART, "needs performance_schema, which is off, to show which session blocks which"))
        return None
    answer = ask(session, ROW_WAITS_MYSQL if modern else ROW_WAITS_INNODB, PART, notes)
    if answer is None:
        return None
    read = whole_number if modern else listing.by_transaction.get
    pairs = {(read(waiter or ""), read(blocker or "")) for waiter, blocker in answer.rows}
    return tuple(LockWait(waiter, blocker, ROWS) for waiter, blocker in sorted(_numbers(pairs)) if waiter != blocker)


def _numbers(pairs: Iterable[tuple[int | None, int | None]]) -> Iterable[tuple[int, int]]:
    return ((waiter, blocker) for waiter, blocker in pairs if waiter and blocker)


class _Locks(NamedTuple):
    waits: tuple[LockWait, ...]
    holders: tuple[tuple[int, str], ...]
    certain: bool


def _metadata(
    session: Session,
    greeting: Greeting,
    listing: _SessionListing,
    plugins: tuple[Plugin, ...],
    notes: Notes,
    *,
    threads: bool,
) -> _Locks | None:
    """Who waits for whose metadata locks; None if some wait and the locks could not be read."""
    waiting = {one.id for one in listing.sessions.values() if is_wait_state(one.state)}
    if not waiting:
        return _Locks((), (), certain=True)
    if not greeting.is_mariadb:
        return _mysql_locks(session, listing, notes) if threads else None
    if not any(one.name.upper() == "METADATA_LOCK_INFO" and one.status == "ACTIVE" for one in plugins):
        return None
    answer = ask(session, METADATA_LOCKS_MARIADB, PART, notes)
    return None if answer is None else _mariadb_locks(answer.rows, listing, waiting)


def _mysql_locks(session: Session, listing: _SessionListing, notes: Notes) -> _Locks | None:
    answer = ask(session, METADATA_LOCKS_MYSQL, PART, notes)
    if answer is None:
        return None
    locks = []
    for row in answer.rows:
        number = whole_number(row[5])
        if number is not None:
            locks.append(MetadataLock(number, row[0] or "", _name(row[1], row[2]), row[3] or "", row[4] == "GRANTED"))
            listing.sessions.setdefault(number, session_of(number, row[6:11]))
    # A wait that has no pending lock here is that for a flush; or the instrument is off, as in 5.7 by default.
    seen = any(not lock.granted for lock in locks)
    seconds = {number: one.seconds for number, one in listing.sessions.items()}
    return _Locks(metadata_waits(locks, seconds), (), certain=True) if seen else None


def _name(schema: str | None, name: str | None) -> str:
    return ".".join(part for part in (schema, name) if part)[:_NAME_LENGTH]


def metadata_waits(locks: list[MetadataLock], seconds: dict[int, int]) -> tuple[LockWait, ...]:
    """Which pending lock waits for which granted one; if for none, for the oldest pending one that excludes it.

    `seconds` is how long each session has been in its state.
    """
    waits = []
    for pending in (lock for lock in locks if not lock.granted):
        others = [
            lock
            for lock in locks
            if (lock.scope, lock.name) == (pending.scope, pending.name) and lock.owner != pending.owner
        ]
        others.sort(key=lambda lock: -seconds.get(lock.owner, 0))
        excluding = [lock for lock in others if _delays(pending.scope, lock.mode, pending.mode)]
        holding = [lock for lock in excluding if lock.granted] or excluding[:1]
        waits += [
            LockWait(pending.owner, lock.owner, lock.scope, lock.name, lock.mode, pending.mode) for lock in holding
        ]
    return tuple(dict.fromkeys(waits))


def _delays(scope: str, held: str, wanted: str) -> bool:
    """Whether a lock of the first type on an object delays one of the second."""
    if "EXCLUSIVE" in (held, wanted) and "INTENTION_EXCLUSIVE" not in (held, wanted):
        return True
    if scope in _SCOPES:
        return held in _SCOPED.get(wanted, ()) or "EXCLUSIVE" in (held, wanted)
    return held in _DELAYED_BY.get(wanted, ())


# Lock types of MariaDB's plugin that exclude others for as long as they are held.
_LONG_HELD = ("NO_READ_WRITE", "READ_ONLY", "EXCLUSIVE", "BACKUP_FTWRL", "BACKUP_WAIT", "BACKUP_BLOCK")


def _mariadb_locks(rows: Iterable[Row], listing: _SessionListing, waiting: set[int]) -> _Locks:
    """The holders of locks on tables of which a waiter holds a weaker lock, and of locks that exclude others."""
    locks = []
    for row in rows:
        number = whole_number(row[0])
        if number is not None:
            locks.append(MetadataLock(number, row[2] or "", _name(row[3], row[4]), row[1] or "", granted=True))
            listing.sessions.setdefault(number, session_of(number, row[5:10]))
    wanted = {
        (lock.scope, lock.name) for lock in locks if lock.owner in waiting and lock.name and "Table" in lock.scope
    }
    holders = {
        lock.owner: lock.name
        for lock in locks
        if lock.owner not in waiting
        and ((lock.scope, lock.name) in wanted or any(mode in lock.mode for mode in _LONG_HELD))
    }
    return _Locks((), tuple(holders.items()), certain=False)
