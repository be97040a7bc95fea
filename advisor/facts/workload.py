"""What the server did: samples of its counters, the window between two, and the sessions that block others."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct, field

# Counters of a sample that are not the server's: bytes of the file system that holds the data directory.
SPACE = ("host_data_size", "host_data_free")
# Milliseconds in which a disk of the host was busy; followed by the kernel's name of the disk.
DISK_BUSY = "host_disk_busy_ms:"


class Sample(Struct, frozen=True):
    """Status counters at one moment.

    `at` is the server's uptime clock in seconds, `lsn` the redo position in bytes where known, `query_time` the
    seconds that all statements took so far, where the server counts them (MariaDB).
    """

    at: float
    status: dict[str, int] = field(default_factory=dict)
    lsn: int | None = None
    query_time: float | None = None


class Workload(Struct, frozen=True):
    """The first and the last sample of a window."""

    first: Sample
    last: Sample

    @property
    def seconds(self) -> float:
        """The length of the window."""
        return max(0.0, self.last.at - self.first.at)

    def delta(self, counter: str) -> int | None:
        """The increase of a counter in the window; None if it is missing or was reset."""
        before, after = self.first.status.get(counter), self.last.status.get(counter)
        if before is None or after is None or after < before:
            return None
        return after - before

    def rate(self, counter: str) -> float | None:
        """A counter's increase per second in the window; None if unknown."""
        rise = self.delta(counter)
        return None if rise is None or self.seconds <= 0 else rise / self.seconds

    @property
    def redo_rate(self) -> float | None:
        """Bytes of redo written per second, from the log sequence number."""
        if self.first.lsn is None or self.last.lsn is None or self.seconds <= 0:
            return None
        return max(0, self.last.lsn - self.first.lsn) / self.seconds


class BusyHour(Struct, frozen=True):
    """The busiest hour of one kind (redo, connections, temporary tables) that was sampled: its samples, in order.

    The times are UTC in ISO 8601. The server ran through it without a restart.
    """

    of: str
    began_at: str
    ended_at: str
    samples: tuple[Sample, ...]

    @property
    def workload(self) -> Workload:
        """The hour as a window."""
        return Workload(self.samples[0], self.samples[-1])

    def most(self, counter: str) -> int | None:
        """The highest value of a counter in the samples; None if it is in none."""
        return max((s.status[counter] for s in self.samples if counter in s.status), default=None)

    def least(self, counter: str) -> int | None:
        """The lowest value of a counter in the samples; None if it is in none."""
        return min((s.status[counter] for s in self.samples if counter in s.status), default=None)


class SampledHours(Struct, frozen=True):
    """What `mycnf sample` recorded of a server: the period, the number of samples, the busiest hour of each kind."""

    since: str
    until: str
    samples: int
    hours: tuple[BusyHour, ...] = ()

    def hour(self, of: str) -> BusyHour | None:
        """The busiest hour of a kind, if one has at least two samples."""
        return next((hour for hour in self.hours if hour.of == of and len(hour.samples) > 1), None)


# What a server's own summary tables rank by time: waits, kinds of statements, and statements without their values.
WAIT_EVENTS, STATEMENT_KINDS, DIGESTS = "waits", "statements", "digests"


class EventTotal(Struct, frozen=True):
    """How often an event occurred and its time in seconds, since the server started.

    `rows` of the summary table have its name: statements that begin alike are added up.
    """

    name: str
    count: int
    seconds: float
    rows: int = 1


NO_EVENTS = "performance_schema is off, or its consumer for these events"


class TopEvents(Struct, frozen=True):
    """One reading of a summary table, the longest time first; `clock` is local, in seconds.

    `reason` says why there are no rows. `complete` is False if the table has more rows, of less time.
    """

    of: str
    rows: tuple[EventTotal, ...]
    clock: float
    reason: str = ""
    complete: bool = True


ROWS = "rows"  # `LockWait.lock` of InnoDB's row locks
SERVER_THREADS = frozenset({"", "system user", "event_scheduler"})
LOCK_WAIT, ROLLING_BACK = "LOCK WAIT", "ROLLING BACK"


class OpenTransaction(Struct, frozen=True):
    """A transaction of InnoDB: its state (RUNNING, LOCK WAIT, ROLLING BACK, COMMITTING), its age in seconds, its rows.

    `waiting` is for how many seconds it has waited for a row, None if it does not wait.
    """

    state: str
    age: int | None = None
    rows_locked: int = 0
    rows_modified: int = 0
    waiting: int | None = None

    @property
    def is_rolling_back(self) -> bool:
        """Whether the transaction is being rolled back, as after KILL of its session, which may still look idle."""
        return self.state == ROLLING_BACK


class ServerSession(Struct, frozen=True):
    """A session by its connection id; `seconds` is how long its statement has run, or how long it has been idle.

    `account` is user@host without the port; the user is `system user` for replication appliers, and may be empty.
    """

    id: int
    account: str = ""
    command: str = ""
    seconds: int = 0
    state: str = ""
    transaction: OpenTransaction | None = None

    @property
    def is_idle(self) -> bool:
        """Whether the session runs no statement, and no rollback."""
        return self.command == "Sleep" and not self.is_server_thread and not self.is_rolling_back

    @property
    def is_server_thread(self) -> bool:
        """Whether it is a replication applier or another thread of the server, and not a client's."""
        return self.account.rpartition("@")[0] in SERVER_THREADS

    @property
    def is_rolling_back(self) -> bool:
        """Whether the session's transaction is being rolled back."""
        return self.transaction is not None and self.transaction.is_rolling_back

    @property
    def waits_for_row(self) -> bool:
        """Whether its transaction waits for a row lock."""
        return self.transaction is not None and self.transaction.waiting is not None

    @property
    def waiting(self) -> int | None:
        """For how many seconds the session has waited for a lock; None if it does not."""
        if self.transaction is not None and self.transaction.waiting is not None:
            return self.transaction.waiting
        return self.seconds if is_wait_state(self.state) else None


class LockWait(Struct, frozen=True):
    """One session waits for another: connection ids, and the lock.

    `lock` is `rows`, or the object type of a metadata lock (TABLE, GLOBAL, COMMIT, BACKUP LOCK, USER LEVEL LOCK …),
    `name` its schema and table, `held` the type of the lock that the blocker has, or waits for before the waiter, and
    `wanted` the type that the waiter waits for.
    """

    waiter: int
    blocker: int
    lock: str
    name: str = ""
    held: str = ""
    wanted: str = ""

    @property
    def for_rows(self) -> bool:
        """Whether the waiter waits for rows, not for a metadata lock or a named lock."""
        return self.lock == ROWS


class Blocking(Struct, frozen=True):
    """Open transactions and waits at the end of the window; no statement was read.

    `sessions` are those that wait for a lock or block another, and of the 128 oldest transactions and the long
    statements those of 5 seconds or more; `detached`
    are transactions without a session, such as prepared XA transactions. `waits` are the waits whose blocker is known;
    `holders` are sessions that hold metadata locks on the tables that others wait for, where the server does not show
    who waits for whom. `rows_read` and `metadata_read` say whether the blockers were read, if there were waits;
    `transactions_read` is False for a process list, which shows sessions alone. `history` is the history list length,
    None if not read here.
    """

    sessions: tuple[ServerSession, ...] = ()
    detached: tuple[OpenTransaction, ...] = ()
    waits: tuple[LockWait, ...] = ()
    holders: tuple[tuple[int, str], ...] = ()
    rows_read: bool = True
    metadata_read: bool = True
    history: int | None = None
    transactions_read: bool = True

    def session(self, number: int) -> ServerSession:
        """The session with that connection id; only its id is known if it was not read."""
        return next((session for session in self.sessions if session.id == number), ServerSession(number))

    @property
    def roots(self) -> tuple[RootBlocker, ...]:
        """The sessions at the end of all chains that wait for no other, with the most waiters first."""
        direct: dict[int, list[LockWait]] = {}
        for wait in self.waits:
            direct.setdefault(wait.waiter, []).append(wait)
        blocked: dict[int, set[int]] = {}
        locks: dict[int, list[LockWait]] = {}
        for waiter in direct:
            for wait in _last_waits(waiter, direct):
                blocked.setdefault(wait.blocker, set()).add(waiter)
                locks.setdefault(wait.blocker, []).append(wait)
        known = {session.id: session for session in self.sessions}
        roots = [_root(known, number, waiters, locks[number]) for number, waiters in blocked.items()]
        # Of many waits for rows, the longest are read: a session can wait although its own waits were not read.
        first = [root for root in roots if not root.session.waits_for_row]
        reached = frozenset[int]().union(*(root.waiters for root in first))
        roots = [*first, *(root for root in roots if root.session.waits_for_row and root.waiters - reached)]
        return tuple(sorted(roots, key=lambda root: (-len(root.waiters), root.session.id)))

    @property
    def circular(self) -> tuple[int, ...]:
        """The sessions that wait for each other, and those behind them: their chains have no end."""
        ended = frozenset[int]().union(*(root.waiters for root in self.roots))
        return tuple(sorted({wait.waiter for wait in self.waits} - ended))


class RootBlocker(NamedTuple):
    """A session that others wait for, directly or through others, and that waits for none itself.

    `wait` is the longest wait for a lock that it holds itself; `longest` is the longest of all waits in seconds.
    """

    session: ServerSession
    waiters: frozenset[int]
    wait: LockWait
    longest: int


def is_wait_state(state: str) -> bool:
    """Whether a thread state is a wait for a lock of tables, metadata, backups, or a named lock."""
    return state in ("User lock", "Waiting for table flush") or (
        state.startswith("Waiting for ") and state.endswith(" lock")
    )


def _last_waits(waiter: int, direct: dict[int, list[LockWait]]) -> list[LockWait]:
    """The last wait of each chain that begins at a waiter; a deadlock has none."""
    seen, ahead, last = {waiter}, [waiter], []
    while ahead:
        for wait in direct.get(ahead.pop(), ()):
            if wait.blocker not in direct:
                last.append(wait)
            elif wait.blocker not in seen:
                seen.add(wait.blocker)
                ahead.append(wait.blocker)
    return last


def _root(known: dict[int, ServerSession], number: int, waiters: set[int], locks: list[LockWait]) -> RootBlocker:
    def seconds(waiter: int) -> int:
        return (known[waiter].waiting or 0) if waiter in known else 0

    own = max(locks, key=lambda wait: (seconds(wait.waiter), -wait.waiter))
    longest = max(map(seconds, waiters))
    return RootBlocker(known.get(number, ServerSession(number)), frozenset(waiters), own, longest)
