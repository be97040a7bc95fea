"""BLK: rules about transactions that stay open: idle ones, old read views, and prepared ones without a session."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_duration
from rules.blocking.blockers import (
    LIST_PREPARED,
    WAITED,
    doing,
    held_text,
    kill_action,
    look_action,
    rows,
    sentence,
    session_name,
    sessions_wait,
    transactions_of,
)
from rules.core import Docs, rule
from rules.core.advice import present
from rules.core.counters import MINIMUM_WINDOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts.workload import Blocking, ServerSession
    from rules.core.context import RuleContext

IDLE_WITH_LOCKS = 600  # seconds
IDLE_WITH_VIEW = 3600  # seconds
OLD = 600  # seconds
NOT_SHORT = 60  # seconds; younger transactions are named by no rule about the history
GROWN_HISTORY = 100_000
REPORTED_HISTORY = 1_000_000  # long-undo-history reports it from here on
LENGTH = "innodb_history_list_length"


@rule(
    "BLK008",
    "transaction-left-open",
    needs=("server",),
    evidence=("BLK-01", "BLK-08", "INNV-07"),
    summary="Idle sessions have kept a transaction open for a long time.",
    docs=Docs(
        why="An open transaction keeps its row locks and its metadata locks, and with a read view it keeps purge from "
        "removing old row versions. An idle session with an open transaction is often a client with autocommit off, or "
        "one that skipped its commit after an error. The rule reports 10 minutes without a statement if the "
        "transaction has locked or changed rows, and an hour, as a note, if it has only read. These thresholds are "
        "ours.",
        fix="Have the client commit or roll back. Find which program it is by the account and host; look at what the "
        "session did. KILL ends it if the client is gone. On MariaDB idle_transaction_timeout, by default off, ends "
        "such sessions.",
        risk="KILL rolls back all changes of the transaction, except after XA PREPARE: then it keeps its locks without "
        "a session (BLK010).",
        exceptions="A dump or a backup that keeps a consistent view in one session and copies in others.",
        reconsider_when="The transaction has ended at the next audit.",
    ),
)
def transaction_left_open(context: RuleContext) -> Iterator[Finding]:
    """Report idle sessions in a transaction that no session waits for yet; the oldest is named."""
    blocking = transactions_of(context)
    blockers = {root.session.id for root in blocking.roots}
    idle = [one for one in blocking.sessions if one.is_idle and one.transaction and one.id not in blockers]
    sessions = sorted(
        (one for one in idle if one.seconds >= _limit(one)), key=lambda one: (not _holds(one), -one.seconds)
    )
    if sessions:
        first = sessions[0]
        more = len(sessions) - 1
        others = f" So do {more:,} more." if more > 1 else " So does one more." if more else ""
        yield transaction_left_open.finding(
            f"{sentence(session_name(first))} keeps a transaction open, {doing(first)}.{held_text(first)}{others}",
            help="have the client commit or roll back, or kill the session if the client is gone",
            severity=None if _holds(first) else Severity.NOTE,
            actions=present(look_action(context, first), kill_action(context, first)),
        )


def _holds(session: ServerSession) -> bool:
    opened = session.transaction
    return opened is not None and bool(opened.rows_locked or opened.rows_modified)


def _limit(session: ServerSession) -> int:
    return IDLE_WITH_LOCKS if _holds(session) else IDLE_WITH_VIEW


@rule(
    "BLK009",
    "history-grows-behind-transaction",
    confidence=Confidence.LIKELY,
    needs=("server", "workload"),
    evidence=("INNA-12", "INNV-07", "BLK-06", "BLK-09"),
    summary="The history list grows while an old transaction is open.",
    docs=Docs(
        why="Purge removes old row versions that no transaction can read any more. While an old transaction has a read "
        "view, they accumulate (history list): undo files grow, and reads slow down. The rule reports growth in the "
        "window, 100,000 or more, and a transaction of 10 minutes or more; these are our thresholds. INNODB_TRX does "
        "not show whether a transaction has a read view. SHOW ENGINE INNODB STATUS does (Trx read view), on MySQL only "
        "for transactions that have changed rows; at READ COMMITTED the view ends with its statement. "
        "long-undo-history reports a million and more.",
        fix="Look at the oldest transaction. Let a backup or a report finish. End an idle session; read long reports "
        "on a replica.",
        risk="KILL rolls back all changes of the transaction.",
        exceptions="A backup or a dump, which needs its view; the history shrinks when it is done.",
        reconsider_when="A history that falls by itself within an hour.",
    ),
)
def history_grows_behind_transaction(context: RuleContext) -> Iterator[Finding]:
    """Report a growing history list while an old transaction is open."""
    lengths, oldest = history_lengths(context), oldest_transaction(context)
    if lengths is None or oldest is None or context.workload.seconds < MINIMUM_WINDOW:
        return
    before, after = lengths
    if _age(oldest) >= OLD and after > before and GROWN_HISTORY <= after < REPORTED_HISTORY:
        guess = "" if oldest.is_idle else " It may be a backup or a report: then let it finish."
        yield history_grows_behind_transaction.finding(
            f"The history list grew from {before:,} to {after:,} in {format_duration(context.workload.seconds)}. "
            f"The oldest transaction is that of {session_name(oldest)}, {doing(oldest)}.{held_text(oldest)}{guess}",
            help="look at the oldest transaction, and end it if its client has left it open",
            actions=(look_action(context, oldest),),
        )


def history_lengths(context: RuleContext) -> tuple[int, int] | None:
    """The history list length at both ends of the window; None if it was not read twice."""
    window, blocking = context.workload, transactions_of(context)
    first, last = (sample.status.get(LENGTH) for sample in (window.first, window.last))
    if first is None or last is None:
        first, last = context.server.innodb_metrics.get("trx_rseg_history_len"), blocking.history
    return None if first is None or last is None else (first, last)


def oldest_transaction(context: RuleContext) -> ServerSession | None:
    """The session with the oldest transaction; None if it was not read, or if none has been open for a minute."""
    blocking = context.server.blocking
    opened = [one for one in (blocking.sessions if blocking else ()) if _age(one) >= NOT_SHORT]
    return max(opened, key=_age, default=None)


def _age(session: ServerSession) -> int:
    return session.transaction.age or 0 if session.transaction else 0


@rule(
    "BLK010",
    "prepared-transaction-left",
    confidence=Confidence.LIKELY,
    needs=("server",),
    evidence=("BLK-07", "BLK-08", "BLK-09"),
    summary="A transaction without a session has been open for a long time; it is probably a prepared XA transaction.",
    docs=Docs(
        why="After XA PREPARE a transaction outlives its session and a restart. Until XA COMMIT or XA ROLLBACK it "
        "keeps its row locks, on MySQL 8.0 and later also its metadata locks, and no KILL ends it. Usually its "
        "coordinator crashed. The thresholds are our choice: 10 minutes, or 5 seconds if sessions wait for rows that "
        "no session has locked. On a replica there is no finding, because such transactions wait there for their "
        "source.",
        fix="XA RECOVER lists prepared transactions (since MySQL 8.0 with XA_RECOVER_ADMIN). Decide as the coordinator "
        "did: XA COMMIT or XA ROLLBACK, with the xid from XA RECOVER CONVERT XID (MySQL) or XA RECOVER FORMAT='SQL' "
        "(MariaDB).",
        risk="If the other participants committed and this one is rolled back, or the reverse, their data differ.",
        exceptions="A coordinator that is about to recover.",
        reconsider_when="XA RECOVER lists nothing.",
    ),
)
def prepared_transaction_left(context: RuleContext) -> Iterator[Finding]:
    """Report old transactions without a session."""
    replication = context.server.replication
    if replication is not None and replication.is_replica:
        return
    blocking = transactions_of(context)
    stuck = _behind_no_session(blocking)
    longest = max((one.waiting or 0 for one in stuck), default=0)
    least = min(longest, OLD) if longest >= WAITED else OLD
    left = [one for one in blocking.detached if one.state == "RUNNING" and (one.age or 0) >= least]
    if left:
        oldest = max(left, key=lambda one: one.age or 0)
        more = len(left) - 1
        others = f" There are {more:,} more." if more > 1 else " There is one more." if more else ""
        behind = f"{sessions_wait(len(stuck), longest)} for rows, probably behind it."
        others += f" {behind}" if longest >= WAITED else ""
        yield prepared_transaction_left.finding(
            f"A transaction without a session has been open for {format_duration(oldest.age or 0)} and locks "
            f"{rows(oldest.rows_locked)}. It is probably a prepared XA transaction.{others}",
            help="list prepared transactions with XA RECOVER, and commit or roll them back",
            actions=(LIST_PREPARED,),
        )


def _behind_no_session(blocking: Blocking) -> list[ServerSession]:
    """The sessions that wait for rows at the end of whose chain no session is; empty if the longest wait has one.

    Of many waits the longest are read: that the blocker of another one is unknown means nothing.
    """
    waiting = [one for one in blocking.sessions if one.waits_for_row]
    known = {wait.waiter for wait in blocking.waits}
    first = {one.id for one in waiting if one.id not in known}
    longest = max(waiting, key=lambda one: (one.waiting or 0, one.id in first), default=None)
    if not blocking.rows_read or longest is None or longest.id not in first:
        return []
    behind = {number for root in blocking.roots if root.session.id in first for number in root.waiters}
    return [one for one in waiting if one.id in first | behind]
