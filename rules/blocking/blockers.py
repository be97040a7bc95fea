"""BLK: rules about sessions that wait for rows that another session has locked; parts that all rules here share."""
# ruff: noqa: S608 - the statements are printed, with numbers alone

from __future__ import annotations

from advisor.core.model import Action, Confidence, Severity, format_duration
from rules.core import Docs, rule
from rules.core.advice import present
from rules.core.context import MissingFact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts.workload import Blocking, RootBlocker, ServerSession
    from rules.core.context import RuleContext

WAITED = 5  # seconds; a shorter wait is common under load
LONG_WAIT, MANY_WAITERS = 10, 10  # from both on, it is an error
MANY_ROWS = 10_000  # a rollback of fewer takes a second at most
AT_A_STATEMENT = frozenset({"Query", "Execute"})  # commands whose time is that of the statement
KILL_STATEMENTS = {"rds": "CALL mysql.rds_kill", "aurora": "CALL mysql.rds_kill", "azure": "CALL mysql.az_kill"}
MOST = 3  # findings of one rule
CURRENT_WAITS = "innodb_row_lock_current_waits"
ACKNOWLEDGEMENT = "semi-sync ACK"  # part of the state of a commit that waits for a replica
GROUP_COMMIT = "waiting for handler commit"  # MySQL 8.0 and later: the state of commits behind another one
LIST_PREPARED = Action(statement="XA RECOVER;", risk="none; on MySQL 8.0 and later it needs XA_RECOVER_ADMIN")


def blocking_of(context: RuleContext) -> Blocking:
    """The open transactions and waits; raises MissingFact if they were not read."""
    if context.server.blocking is None:
        raise MissingFact(
            context.refusal("server.blocking")
            or "needs open transactions and lock waits (PROCESS, at most 100 sessions that wait for rows)"
        )
    return context.server.blocking


def transactions_of(context: RuleContext) -> Blocking:
    """As `blocking_of`; raises MissingFact for a process list too, which shows no transactions and no row locks."""
    blocking = blocking_of(context)
    if not blocking.transactions_read:
        raise MissingFact("needs open transactions, which a process list does not show")
    return blocking


def session_name(session: ServerSession) -> str:
    """The session in a message: `connection 12 (app@10.0.0.5)`."""
    account = session.account.removesuffix("@")  # replication appliers have no host
    if session.is_server_thread and account:
        return f"the server's own thread {session.id} ({account})"
    return f"connection {session.id}{f' ({account})' if account else ''}"


def sentence(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def sessions_wait(count: int, longest: int) -> str:
    """`1 session has waited up to 8 s`; a statement may have worked before it waited."""
    return f"{'1 session has waited' if count == 1 else f'{count:,} sessions wait'} up to {format_duration(longest)}"


def doing(session: ServerSession) -> str:
    """What the session does now, as part of a message; empty if unknown."""
    if session.is_rolling_back:
        return "rolling back"
    if session.is_idle:
        return f"idle for {format_duration(session.seconds)}"
    state = session.state or session.command
    if session.is_server_thread or session.command not in AT_A_STATEMENT:
        return f"in state {state}" if session.command else ""  # the time of an applier is that of its event
    return f"running for {format_duration(session.seconds)}{f' (state {session.state})' if session.state else ''}"


def is_doing(session: ServerSession) -> str:
    """As `doing`, with its verb: `has been idle for 5 s`, `is rolling back`."""
    text = doing(session)
    return f"{'has been' if text.startswith(('idle', 'running')) else 'is'} {text}"


def held_text(session: ServerSession) -> str:
    """A sentence on the session's transaction: its age, and the rows it locks and changed; empty without one."""
    opened = session.transaction
    if opened is None:
        return ""
    age = "" if opened.age is None else f" has been open for {format_duration(opened.age)},"
    return f" Its transaction{age} locks {rows(opened.rows_locked)} and has changed {rows(opened.rows_modified)}."


def rows(count: int) -> str:
    """`1 row`, `3,000 rows`."""
    return "1 row" if count == 1 else f"{count:,} rows"


def severity_of(root: RootBlocker, usual: Severity) -> Severity:
    """An error if many sessions have waited for long, otherwise the usual severity."""
    return Severity.ERROR if len(root.waiters) >= MANY_WAITERS and root.longest >= LONG_WAIT else usual


def look_action(context: RuleContext, session: ServerSession) -> Action:
    """The statement that shows what a session did or does, for this flavour."""
    keeps_history = context.target.is_mysql and context.text("performance_schema") == "ON"
    if keeps_history and session.is_idle:
        statement = (
            "SELECT EVENT_ID, SQL_TEXT FROM performance_schema.events_statements_history "
            f"JOIN performance_schema.threads USING (THREAD_ID) WHERE PROCESSLIST_ID = {session.id} ORDER BY EVENT_ID;"
        )
    elif keeps_history:
        statement = (
            "SELECT PROCESSLIST_HOST, PROCESSLIST_TIME, PROCESSLIST_STATE, PROCESSLIST_INFO "
            f"FROM performance_schema.threads WHERE PROCESSLIST_ID = {session.id};"
        )
    else:
        statement = (
            f"SELECT HOST, DB, COMMAND, TIME, STATE, INFO FROM information_schema.PROCESSLIST WHERE ID = {session.id};"
        )
    return Action(statement=statement, risk="none; the text of a statement can contain data")


def kill_action(context: RuleContext, session: ServerSession) -> Action | None:
    """The statement that ends an idle client's session, with what that rolls back; None for all other sessions.

    A session that has neither locked nor changed rows may be that of a backup.
    """
    opened = session.transaction
    if not session.is_idle or opened is None or not (opened.rows_locked or opened.rows_modified):
        return None
    changed = opened.rows_modified
    long = ", which takes about as long as the changes took," if changed >= MANY_ROWS else ""
    undone = f"rolls back {rows(changed)} that it changed{long} and " if changed else ""
    return Action(
        statement=_kill(context, session.id),
        risk=f"{undone}closes the connection of its client, so ask its owner first",
    )


def _kill(context: RuleContext, number: int) -> str:
    call = KILL_STATEMENTS.get(context.server.managed)
    return f"{call}({number});" if call else f"KILL {number};"


def cancel_action(context: RuleContext, session: ServerSession) -> Action | None:
    """The statement that ends a waiting statement; None for the server's own threads, and on managed platforms."""
    if session.is_server_thread or context.server.managed:
        return None
    return Action(
        statement=f"KILL QUERY {session.id};",
        risk="the waiting statement fails and has to be run again later; the sessions behind it continue",
    )


def _row_blockers(context: RuleContext, *, idle: bool) -> list[RootBlocker]:
    """The first blockers of chains of row locks, whose statement is over or not."""
    blocking = transactions_of(context)
    if not blocking.rows_read:
        raise MissingFact(context.reason_unread("server.blocking"))
    roots = [root for root in blocking.roots if root.wait.for_rows and root.session.command]
    # What a session waits for itself may not have been read: many waits, or a prepared transaction without a session.
    return [root for root in roots if root.session.is_idle is idle and not root.session.waits_for_row][:MOST]


@rule(
    "BLK001",
    "idle-session-blocks-rows",
    needs=("server",),
    evidence=("BLK-01", "BLK-02", "BLK-05", "BLK-08"),
    summary="Sessions wait for rows that an idle session has locked in an open transaction.",
    docs=Docs(
        why="A transaction keeps its row locks until it ends. A client that changed rows and then does something else "
        "(calls another service, waits for a user, lost its commit) keeps them as well. Other sessions wait until "
        "innodb_lock_wait_timeout, by default 50 seconds, and fail. The rule follows chains of waits to the session "
        "that waits for none. It reports 5 seconds without a statement and of waiting, which are our thresholds; from "
        "ten sessions and 10 seconds on it is an error.",
        fix="Look at what the session did, and have its client commit or roll back. KILL ends the session if the "
        "client does not. Then find the place in the program that leaves the transaction open.",
        risk="KILL rolls back all changes of the transaction. With millions of rows that takes about as long as the "
        "changes did, and cannot be stopped. A transaction after XA PREPARE is not rolled back: it keeps its locks "
        "without a session (BLK010).",
        exceptions="A session of a person who is at work in it; ask first. The rule prints no KILL for replication "
        "appliers.",
        reconsider_when="The waits are gone at the next audit.",
    ),
)
def idle_session_blocks_rows(context: RuleContext) -> Iterator[Finding]:
    """Report idle sessions whose row locks others wait for."""
    for root in _row_blockers(context, idle=True):
        if root.longest >= WAITED and root.session.seconds >= WAITED:
            yield idle_session_blocks_rows.finding(
                f"{_waits(context, root)} behind {session_name(root.session)}, which has locked rows and "
                f"{is_doing(root.session)}.{held_text(root.session)}",
                help="look at what the session did, have its client commit or roll back, or kill it",
                severity=severity_of(root, Severity.WARNING),
                actions=present(look_action(context, root.session), kill_action(context, root.session)),
            )


def _waits(context: RuleContext, root: RootBlocker) -> str:
    """How many sessions wait, and for how long; of more than 20 waits for rows, an audit reads the longest."""
    waits = {wait.waiter for wait in blocking_of(context).waits if wait.for_rows}
    behind = (context.server.counter(CURRENT_WAITS) or 0) > len(waits)
    least = "At least " if behind else ""
    return f"{least}{sessions_wait(len(root.waiters), root.longest)}"


@rule(
    "BLK002",
    "statement-blocks-rows",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    needs=("server",),
    evidence=("BLK-01", "BLK-02", "BLK-08", "BLK-09"),
    summary="Sessions wait for rows that a long active transaction has locked.",
    docs=Docs(
        why="The session that blocks the others is running a statement: a large UPDATE or DELETE, a bulk load, a "
        "statement without an index that locks every row it reads, or a replication applier. It may also be a commit "
        "that waits for a semi-synchronous replica, or the rollback after a KILL. The rule reports a transaction of 10 "
        "seconds or more that others have waited for as long; these are our thresholds. From ten sessions on it is a "
        "warning, and so are sessions that wait for each other: InnoDB ends a deadlock only if all of them wait for "
        "rows, and innodb_deadlock_detect is ON.",
        fix="Look at the statement. Usually it is best to let it finish, and to make it smaller next time: change rows "
        "in batches of some thousands, with an index for the WHERE. If the others cannot wait, KILL QUERY ends it. In "
        "a transaction of several statements its row locks then remain until the client rolls back, or KILL ends the "
        "session.",
        risk="KILL QUERY rolls back what the statement changed, which can take longer than to let it finish. Do not "
        "end an applier this way: replication stops with error 1317.",
        exceptions="Loads and changes that were planned.",
        reconsider_when="The waits are gone at the next audit.",
    ),
)
def statement_blocks_rows(context: RuleContext) -> Iterator[Finding]:
    """Report long transactions at work whose row locks others wait for."""
    for root in _row_blockers(context, idle=False):
        opened = root.session.transaction
        if opened is not None and (opened.age or 0) >= LONG_WAIT and root.longest >= LONG_WAIT:
            yield statement_blocks_rows.finding(
                f"{_waits(context, root)} behind {session_name(root.session)}, which has locked rows and "
                f"{is_doing(root.session)}.{held_text(root.session)}",
                help=_statement_remedy(root.session),
                severity=Severity.WARNING if len(root.waiters) >= MANY_WAITERS else None,
                actions=(look_action(context, root.session),),
            )
    yield from _deadlocks(blocking_of(context))


def _deadlocks(blocking: Blocking) -> Iterator[Finding]:
    """A finding about sessions that wait for each other; InnoDB ends deadlocks of row locks alone."""
    sessions = [blocking.session(number) for number in blocking.circular]
    longest = max((one.waiting or 0 for one in sessions), default=0)
    if longest >= LONG_WAIT:
        more = f" and {len(sessions) - MOST:,} more" if len(sessions) > MOST else ""
        names = ", ".join(session_name(one) for one in sessions[:MOST])
        yield statement_blocks_rows.finding(
            f"A deadlock that InnoDB does not end: {names}{more} have waited for each other up to "
            f"{format_duration(longest)}.",
            help="end one of these sessions, or wait for its time limit; programs should take row locks and GET_LOCK "
            "locks in one order",
            severity=Severity.WARNING,
        )


def _statement_remedy(session: ServerSession) -> str:
    """What to do about a session that blocks rows and runs a statement, by what that statement does now."""
    if session.waiting is not None:
        return "it waits itself for the lock that its state names: end that wait first"
    if session.is_rolling_back:
        return "let the rollback finish: a restart of the server would only repeat it"
    if ACKNOWLEDGEMENT in session.state:
        return (
            "its commit waits for a semi-synchronous replica: look at the replicas, and at the time limit of the wait"
        )
    if session.state == GROUP_COMMIT:
        return "its commit waits: look for a semi-synchronous replica that does not answer, and for a slow or full disk"
    return "look at its statement; usually let it finish, and change rows in smaller batches next time"


@rule(
    "BLK003",
    "crowd-waits-for-rows",
    needs=("server", "workload"),
    evidence=("BLK-03", "BLK-09"),
    summary="Many sessions wait for rows, and the session that blocks them was not read.",
    docs=Docs(
        why="Innodb_row_lock_current_waits counts the sessions that wait for a row now. At both ends of the window "
        "there were ten or more, which is our threshold. MariaDB and MySQL 5.7 compare each waiting lock with each "
        "other when INNODB_TRX is read, and InnoDB stalls meanwhile: for 2 to 4 seconds with 1,000 waits. With more "
        "than 100 waits, mycnf therefore does not read it there.",
        fix="SHOW ENGINE INNODB STATUS lists the transactions with their age and thread; on MySQL those that have only "
        "read or locked rows in share mode are missing. The blocking transaction is usually the oldest that does not "
        "wait (LOCK WAIT).",
        risk="None from looking.",
        exceptions="A queue in a table, whose readers wait by design.",
        reconsider_when="The waits are gone at the next audit.",
    ),
)
def crowd_waits_for_rows(context: RuleContext) -> Iterator[Finding]:
    """Report many waits for rows if the blockers were not read."""
    window, read = context.workload, context.server.blocking
    counts = [sample.status.get(CURRENT_WAITS, 0) for sample in (window.first, window.last)]
    if min(counts) >= MANY_WAITERS and window.seconds >= WAITED and (read is None or not read.rows_read):
        yield crowd_waits_for_rows.finding(
            f"{min(counts):,} sessions or more wait for rows at both ends of the window. The session that blocks them "
            "was not read.",
            help="find the oldest transaction without LOCK WAIT",
            actions=(
                Action(statement="SHOW ENGINE INNODB STATUS;", risk="none; the text of a statement can contain data"),
            ),
        )
