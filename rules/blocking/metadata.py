"""BLK: rules about waits for metadata locks, global locks, flushes and named locks."""

from __future__ import annotations

from advisor.core.model import Action, Confidence, Severity, format_duration
from rules.blocking.blockers import (
    LIST_PREPARED,
    LONG_WAIT,
    MANY_WAITERS,
    WAITED,
    blocking_of,
    cancel_action,
    doing,
    held_text,
    kill_action,
    look_action,
    sentence,
    session_name,
    sessions_wait,
    severity_of,
)
from rules.core import Docs, rule
from rules.core.advice import present
from rules.core.network import uses_galera

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts.workload import Blocking, OpenTransaction, RootBlocker, ServerSession
    from rules.core.context import RuleContext

TABLE_STATE, FLUSH_STATE, NAMED_STATE = "Waiting for table metadata lock", "Waiting for table flush", "User lock"
ENGINE_STATE = "Waiting for table level lock"  # of engines without row locks
GLOBAL_STATES = ("Waiting for global read lock", "Waiting for commit lock", "Waiting for backup lock")
GLOBAL_SCOPES = frozenset({"GLOBAL", "COMMIT", "BACKUP LOCK"})
NAMED_SCOPE = "USER LEVEL LOCK"
CHANGING = frozenset({"EXCLUSIVE", "SHARED_NO_WRITE", "SHARED_NO_READ_WRITE"})  # what a change of a table waits for
NAMED_WAIT = 60  # seconds
MOST_NAMED = 3  # sessions that may hold a lock
OPEN_TRANSACTIONS = Action(
    statement="SELECT trx_mysql_thread_id, trx_started, trx_rows_locked, trx_rows_modified "
    "FROM information_schema.INNODB_TRX ORDER BY trx_started LIMIT 5;",
    risk="none; lists the oldest open transactions",
)
TABLE_LOCKS = Action(
    statement="SELECT OBJECT_SCHEMA, OBJECT_NAME, PROCESSLIST_ID, EXTERNAL_LOCK FROM performance_schema.table_handles "
    "JOIN performance_schema.threads ON THREAD_ID = OWNER_THREAD_ID WHERE INTERNAL_LOCK IS NOT NULL;",
    risk="none; lists the sessions that use such tables, and those that wait for them",
)
HELD = {
    ("GLOBAL", "SHARED"): "the global read lock (FLUSH TABLES WITH READ LOCK)",
    ("COMMIT", "SHARED"): "the global read lock (FLUSH TABLES WITH READ LOCK)",
    ("BACKUP LOCK", "SHARED"): "the backup lock (LOCK INSTANCE FOR BACKUP)",
}


def _roots(context: RuleContext, scopes: frozenset[str] | None) -> list[RootBlocker]:
    """The first blockers whose own lock is of these scopes; None stands for tables and other objects."""
    others = GLOBAL_SCOPES | {NAMED_SCOPE}
    return [
        root
        for root in blocking_of(context).roots
        if not root.wait.for_rows and (root.wait.lock in scopes if scopes is not None else root.wait.lock not in others)
    ]


def _waiting(context: RuleContext, *states: str) -> list[ServerSession]:
    """The sessions in these states, the longest wait first."""
    found = [one for one in blocking_of(context).sessions if one.state in states]
    return sorted(found, key=lambda one: -one.seconds)


def _likely_holders(blocking: Blocking, longest: ServerSession) -> list[ServerSession]:
    """The sessions that probably delay the longest wait: by the plugin's locks, or older.

    Those that wait for a row themselves are left out if there are others.
    """
    held = [one for one in (blocking.session(number) for number, _ in blocking.holders) if one.waiting is None]
    older = [one for one in blocking.sessions if _age(one) >= longest.seconds]
    free = [one for one in older if one.waiting is None]
    return sorted(held or free or [one for one in older if one.waits_for_row], key=lambda one: -_age(one))


def _older_statements(blocking: Blocking, longest: ServerSession) -> list[ServerSession]:
    """The statements that began before the longest wait and run, or wait for a row; the oldest first."""
    running = [
        one for one in blocking.sessions if one.command != "Sleep" and (one.waiting is None or one.waits_for_row)
    ]
    return sorted((one for one in running if _age(one) >= longest.seconds), key=lambda one: -_age(one))


def _probably_for(running: list[ServerSession]) -> str:
    """A sentence on the oldest of these statements, for which others probably wait; empty without one."""
    if not running:
        return ""
    others = len(running) - 1
    more = f", or {'another' if others == 1 else f'one of {others:,} others'} that began before" if others else ""
    return f" Probably for {session_name(running[0])}{_comma(doing(running[0]))}{more}."


def _age(session: ServerSession) -> int:
    """How long the session has been in its transaction or statement, in seconds."""
    opened = session.transaction.age or 0 if session.transaction else 0
    return max(opened, 0 if session.command == "Sleep" else session.seconds)


@rule(
    "BLK004",
    "metadata-lock-queue",
    needs=("server",),
    options=("lock_wait_timeout",),
    evidence=("BLK-01", "BLK-04", "BLK-08", "CONA-16", "BLK-09"),
    summary="Sessions wait for a metadata lock that another session holds on their table.",
    docs=Docs(
        why="ALTER TABLE and other DDL wait for all transactions that have used the table, even read-only ones. While "
        "they wait, later statements on the table wait behind them (with ALGORITHM=COPY those that write), so one idle "
        "transaction blocks the table. lock_wait_timeout ends the wait: by default after a year on MySQL and a day on "
        "MariaDB. MySQL 8.0 and later show which session holds the lock, with performance_schema = ON; MySQL 5.7 does "
        "so with the instrument wait/lock/metadata/sql/mdl. On MariaDB mycnf reads the plugin METADATA_LOCK_INFO, "
        "which shows no waits. Without them the finding names the oldest transactions as likely holders. Sessions in "
        "state Waiting for table level lock wait for a table of MyISAM or another engine without row locks; mycnf does "
        "not read for whom, but performance_schema.table_handles shows it. Waits are as old as their statements, which "
        "may have worked before: an ALTER TABLE waits at its end too. The thresholds, 5 seconds and 10 for such a "
        "table, are our choice.",
        fix="End the waiting DDL (KILL QUERY): the sessions behind it continue at once, and nothing is lost. Or end "
        "the holder, if it is an idle client. Run DDL with SET SESSION lock_wait_timeout = 5, and retry it.",
        risk="KILL QUERY: the DDL has to be run again; a change of a MyISAM table stops halfway. KILL rolls back the "
        "holder's transaction.",
        exceptions="A holder that is a backup, a report or a replication applier: end the DDL instead.",
        reconsider_when="The waits are gone at the next audit.",
    ),
)
def metadata_lock_queue(context: RuleContext) -> Iterator[Finding]:
    """Report the holders of metadata locks that sessions wait for; likely ones where the server does not show them."""
    blocking = blocking_of(context)
    waiting = _waiting(context, TABLE_STATE)
    # A session that waits without a known blocker, as for a prepared transaction, holds nothing that others wait for.
    roots = [root for root in _roots(context, None) if root.session.state not in (TABLE_STATE, FLUSH_STATE)]
    for root in roots[:3]:
        if root.longest >= WAITED:
            waiter = blocking.session(root.wait.waiter)
            changes = root.wait.wanted in CHANGING
            count = max(len(root.waiters), len(waiting) if len(roots) == 1 else 0)
            yield metadata_lock_queue.finding(
                f"{sessions_wait(count, root.longest)} for a metadata lock on "
                f"{root.wait.name or 'an object'}. {sentence(session_name(root.session))} holds it"
                f"{_comma(doing(root.session))}.{held_text(root.session)}",
                help="end the waiting DDL, or the session that holds the lock"
                if changes
                else "let the session that holds the lock finish, or end it",
                severity=severity_of(root, Severity.WARNING),
                actions=present(
                    look_action(context, root.session),
                    cancel_action(context, waiter) if changes else None,
                    kill_action(context, root.session),
                ),
            )
    known = {wait.waiter for wait in blocking.waits}
    if not roots and any(one.id not in known for one in waiting) and waiting[0].seconds >= WAITED:
        yield _likely_queue(context, waiting)
    rows_of_engine = _waiting(context, ENGINE_STATE)
    if rows_of_engine and rows_of_engine[0].seconds >= LONG_WAIT:
        yield _engine_queue(context, rows_of_engine)


def _comma(text: str) -> str:
    return f", {text}" if text else ""


def _likely_queue(context: RuleContext, waiting: list[ServerSession]) -> Finding:
    """The finding where the server does not show the holder."""
    blocking = blocking_of(context)
    holders, prepared = _likely_holders(blocking, waiting[0]), _left_prepared(context, waiting[0])
    single = len(holders) == 1
    named = holders[0] if holders and (single or not blocking.transactions_read) else None
    look, locks = look_action(context, named) if named else None, _show_locks(context)
    recover = LIST_PREPARED if prepared else None
    return metadata_lock_queue.finding(
        f"{sessions_wait(len(waiting), waiting[0].seconds)} for a metadata lock on a table. "
        f"{_likely_holder_text(blocking, holders, prepared)}{_younger_text(blocking, holders)}",
        help="end the DDL if one waits, or commit or roll back the prepared transaction"
        if prepared and not holders
        else "end the DDL if one waits, or the session that holds the lock",
        confidence=Confidence.LIKELY,
        severity=Severity.ERROR if len(waiting) >= MANY_WAITERS and waiting[0].seconds >= LONG_WAIT else None,
        actions=present(look, locks, recover)
        if single and blocking.transactions_read
        else present(locks, OPEN_TRANSACTIONS, look, recover),
    )


def _likely_holder_text(blocking: Blocking, holders: list[ServerSession], prepared: OpenTransaction | None) -> str:
    """Which session probably holds the lock; a process list shows statements alone, no idle transactions."""
    first = f"{session_name(holders[0])}{_comma(doing(holders[0]))}" if holders else ""
    if not blocking.transactions_read:
        idle = "it may be an idle session with an open transaction"
        return f"The process list does not show the holder: {idle}{f', or {first}' if first else ''}."
    left = f"a transaction without a session, open for {format_duration(prepared.age or 0)}" if prepared else ""
    if len(holders) == 1:
        other = f" Or by {left}." if left else ""
        return f"The lock is probably held by {first}.{held_text(holders[0])}{other}"
    if holders:
        named = [f"{session_name(one)}{_comma(doing(one))}" for one in holders[:MOST_NAMED]]
        more = f", or {len(holders) - MOST_NAMED:,} more" if len(holders) > MOST_NAMED else ""
        more += f"; or {left}" if left else ""
        return f"The server does not show which of {len(holders):,} sessions holds it: {'; or '.join(named)}{more}."
    if left:
        return f"The lock is probably held by {left}: XA RECOVER lists prepared ones."
    return "No transaction is older, so LOCK TABLES or other DDL may hold the lock."


def _left_prepared(context: RuleContext, longest: ServerSession) -> OpenTransaction | None:
    """The oldest transaction without a session that began before the wait, where it keeps its metadata locks."""
    if not context.target.since("mysql", 8):
        return None
    detached = blocking_of(context).detached
    left = [one for one in detached if one.state == "RUNNING" and (one.age or 0) >= longest.seconds]
    return max(left, key=lambda one: one.age or 0, default=None)


def _younger_text(blocking: Blocking, holders: list[ServerSession]) -> str:
    """A sentence on the transactions that began after the waiting statement: its wait may have begun later still."""
    younger = [one for one in blocking.sessions if one.transaction and one.waiting is None and one not in holders]
    if not younger or blocking.holders:
        return ""
    first = max(younger, key=_age)
    name = f"{session_name(first)}{_comma(doing(first))}"
    return f" If the statement is an ALTER TABLE that waits at its end, {name}, may hold the lock too."


def _engine_queue(context: RuleContext, waiting: list[ServerSession]) -> Finding:
    """The finding about a table whose engine locks it as a whole; audits do not read by which session."""
    running = [one for one in _older_statements(blocking_of(context), waiting[0]) if one.waiting is None]
    return metadata_lock_queue.finding(
        f"{sessions_wait(len(waiting), waiting[0].seconds)} for a table of MyISAM, MEMORY or "
        f"another engine that locks whole tables.{_probably_for(running)}",
        help="let the statement that uses the table finish, or end it; InnoDB tables lock rows instead",
        confidence=Confidence.LIKELY,
        severity=Severity.ERROR if len(waiting) >= MANY_WAITERS else None,
        actions=present(
            TABLE_LOCKS if context.text("performance_schema") == "ON" else None,
            look_action(context, running[0]) if running else None,
        ),
    )


def _show_locks(context: RuleContext) -> Action | None:
    """The statement that makes the server show metadata locks; None if it shows them already, or is managed.

    A Galera node replicates INSTALL SONAME, so it would wait behind the lock itself, and behind a global read lock so
    does every node.
    """
    if context.server.managed or (context.server.blocking and context.server.blocking.holders):
        return None
    if context.target.is_mariadb:
        if uses_galera(context) or _waiting(context, *GLOBAL_STATES):
            return None
        plugin = "'metadata_lock_info'"
        return Action(
            statement=f"INSTALL SONAME {plugin};",
            risk="loads a plugin that shows the holders of metadata locks",
            undo=f"UNINSTALL SONAME {plugin};",
        )
    if context.text("performance_schema") != "ON":
        return None
    if context.target.since("mysql", 8):  # the instrument is on by default
        return Action(
            statement="SELECT object_schema, object_name, waiting_pid, blocking_pid FROM sys.schema_table_lock_waits;",
            risk="none; lists which session waits for which",
        )
    change = "UPDATE performance_schema.setup_instruments SET ENABLED = '{}' WHERE NAME = 'wait/lock/metadata/sql/mdl';"
    return Action(
        statement=change.format("YES"),
        risk="shows the locks that sessions take from then on, not those they hold already",
        undo=change.format("NO"),
    )


@rule(
    "BLK005",
    "global-lock-blocks-sessions",
    needs=("server",),
    evidence=("BLK-01", "BLK-04", "BLK-08", "BLK-09"),
    summary="Sessions wait for a global read lock or a backup lock.",
    docs=Docs(
        why="FLUSH TABLES WITH READ LOCK stops all writes until UNLOCK TABLES or the end of its session; LOCK INSTANCE "
        "FOR BACKUP stops DDL, and so does MariaDB's BACKUP STAGE BLOCK_DDL; BLOCK_COMMIT stops commits too. Backups "
        "use them, usually for seconds. A backup that hangs, or a session that keeps the lock and was left open, stops "
        "the server. The threshold, 10 seconds, is our choice.",
        fix="Check whether a backup is running, and let it finish. If there is none, end the session that holds the "
        "lock: UNLOCK TABLES in it, or KILL. If the lock itself waits for a long statement, end the session of the "
        "FLUSH with KILL: those behind it continue, on MySQL except at the tables of the long statement. Do not use "
        "KILL QUERY where the state of the FLUSH is Waiting for table flush: its session then keeps the global read "
        "lock. Let backups hold such locks for less time: xtrabackup and mariabackup with backup locks, mysqldump with "
        "--single-transaction.",
        risk="KILL makes the backup that holds the lock useless.",
        exceptions="A backup that is about to finish.",
        reconsider_when="The waits are gone at the next audit.",
    ),
)
def global_lock_blocks_sessions(context: RuleContext) -> Iterator[Finding]:
    """Report sessions that wait for a global read lock, commit lock or backup lock."""
    waiting = _waiting(context, *GLOBAL_STATES)
    if not waiting or waiting[0].seconds < LONG_WAIT:
        return
    roots, blocking = _roots(context, GLOBAL_SCOPES), blocking_of(context)
    if roots and roots[0].wait.held == "INTENTION_EXCLUSIVE":
        yield _delayed_lock(context, waiting, roots)
        return
    known = {wait.waiter for wait in blocking.waits}
    if not roots and all(one.id in known for one in waiting):
        return  # another rule names the session at the end of the chain
    shown = [blocking.session(number) for number, name in blocking.holders if not name]
    holder = roots[0].session if roots else shown[0] if shown else None
    lock = _held_words(roots[0]) if roots else "such a lock"
    running = None if holder else next(iter(_older_statements(blocking, waiting[0])), None)
    who = (
        f"{sentence(session_name(holder))} holds {lock}{_comma(doing(holder))}."
        if holder
        else f"{_shown_by(blocking)} does not show the session that holds it."
    )
    name = f"{session_name(running)}{_comma(doing(running))}" if running else ""
    guess = "It is probably a backup" + (f"; or the lock is still waiting itself, for {name}." if name else ".")
    yield global_lock_blocks_sessions.finding(
        f"{sessions_wait(len(waiting), waiting[0].seconds)} in state {waiting[0].state}. {who} {guess}",
        help="let a running backup finish; if none is running, end the session that holds the lock"
        + (", or with KILL that of the FLUSH TABLES that waits itself" if name else ""),
        severity=Severity.ERROR if len(waiting) >= MANY_WAITERS else None,
        confidence=None if roots else Confidence.LIKELY,
        actions=(look_action(context, holder),) if holder else present(_flush_action(context)),
    )


def _delayed_lock(context: RuleContext, waiting: list[ServerSession], roots: list[RootBlocker]) -> Finding:
    """The finding if the global lock itself waits, for statements that began before it."""
    first, blocking = roots[0], blocking_of(context)
    waiter = blocking.session(first.wait.waiter)
    lock = HELD.get((first.wait.lock, first.wait.wanted), f"a lock ({first.wait.lock})")
    others = f" and {len(roots) - 1:,} more" if len(roots) > 1 else ""
    return global_lock_blocks_sessions.finding(
        f"{sessions_wait(len(waiting), waiting[0].seconds)} in state {waiting[0].state}. "
        f"{sentence(session_name(waiter))} asks for {lock} and waits for {session_name(first.session)}"
        f"{_comma(doing(first.session))}{others}; later statements wait behind it.",
        help="let what it waits for finish, or end the statement that asks for the lock: those behind it continue",
        severity=Severity.ERROR if len(waiting) >= MANY_WAITERS else None,
        actions=present(look_action(context, first.session), cancel_action(context, waiter)),
    )


def _flush_action(context: RuleContext) -> Action | None:
    """The statement that names sessions which ran FLUSH lately; None without Performance Schema."""
    if context.text("performance_schema") != "ON":
        return None
    return Action(
        statement="SELECT PROCESSLIST_ID, PROCESSLIST_USER, PROCESSLIST_HOST, SQL_TEXT "
        "FROM performance_schema.events_statements_history JOIN performance_schema.threads USING (THREAD_ID) "
        "WHERE EVENT_NAME = 'statement/sql/flush';",
        risk="none; lists the FLUSH statements among the last ten of each session",
    )


def _shown_by(blocking: Blocking) -> str:
    return "The server" if blocking.transactions_read else "The process list"


def _held_words(root: RootBlocker) -> str:
    return HELD.get((root.wait.lock, root.wait.held), f"a lock of type {root.wait.held} ({root.wait.lock})")


@rule(
    "BLK006",
    "flush-waits-for-statement",
    confidence=Confidence.LIKELY,
    needs=("server",),
    evidence=("BLK-04", "BLK-08", "BLK-09"),
    summary="FLUSH TABLES waits for a long statement, and later statements wait behind it.",
    docs=Docs(
        why="FLUSH TABLES of MySQL closes each table, and waits for the statements that use it. New statements on that "
        "table wait until the old ones end, even after the FLUSH was killed or timed out. ANALYZE TABLE caused the "
        "same on MySQL 5.7.22 and 8.0.15, and not on 9.7. On MariaDB 10.11 and 11.8 neither FLUSH TABLES nor later "
        "statements waited. The threshold, 10 seconds, is our choice.",
        fix="Let the long statement finish, or end it with KILL QUERY. Do not run FLUSH TABLES while reports or "
        "backups run.",
        risk="The statement that is ended has to be run again.",
        exceptions="A backup, which begins with a flush.",
        reconsider_when="The waits are gone at the next audit.",
    ),
)
def flush_waits_for_statement(context: RuleContext) -> Iterator[Finding]:
    """Report sessions that wait for a table flush, with the oldest statement."""
    waiting = _waiting(context, FLUSH_STATE)
    if not waiting or waiting[0].seconds < LONG_WAIT:
        return
    running = _older_statements(blocking_of(context), waiting[0])
    yield flush_waits_for_statement.finding(
        f"{sessions_wait(len(waiting), waiting[0].seconds)} for a table flush.{_probably_for(running)}",
        help="let the oldest statement finish, or end it; do not flush tables while it runs",
        severity=Severity.ERROR if len(waiting) >= MANY_WAITERS else None,
        actions=(look_action(context, running[0]),) if running else (),
    )


@rule(
    "BLK007",
    "named-lock-queue",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    needs=("server",),
    evidence=("BLK-01", "BLK-09"),
    summary="Many sessions wait for a GET_LOCK lock.",
    docs=Docs(
        why="GET_LOCK gives a named lock to one session, until it releases the lock or ends; the end of a transaction "
        "does not release it. Each session that waits holds a connection. Ten sessions and a minute are our "
        "thresholds, because a few waiting sessions are often intended.",
        fix="Look at the session that holds the lock. Let programs call GET_LOCK with a short time limit and try "
        "again.",
        risk="None from looking.",
        exceptions="Programs that use such a lock to elect a leader or to queue for work.",
        reconsider_when="The waits are gone at the next audit.",
    ),
)
def named_lock_queue(context: RuleContext) -> Iterator[Finding]:
    """Report many long waits for a named lock."""
    waiting = _waiting(context, NAMED_STATE)
    if len(waiting) < MANY_WAITERS or waiting[0].seconds < NAMED_WAIT:
        return
    roots = _roots(context, frozenset({NAMED_SCOPE}))
    who = f" {sentence(session_name(roots[0].session))} holds it{_comma(doing(roots[0].session))}." if roots else ""
    yield named_lock_queue.finding(
        f"{sessions_wait(len(waiting), waiting[0].seconds)} for a GET_LOCK lock.{who}",
        help="look at the session that holds the lock"
        if roots
        else "SELECT IS_USED_LOCK('name of the lock') returns the connection that holds it; look what it does",
        actions=(look_action(context, roots[0].session),) if roots else (),
    )
