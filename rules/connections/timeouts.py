"""CON: rules about lock wait timeouts, idle timeouts and login timeouts."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, exact_duration
from rules.core import MOST, Docs, Span, rule
from rules.core.advice import advise, default_number, help_line, present
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding
    from rules.core.context import RuleContext

KEPT_ALIVE = 30  # seconds: the shortest time after which HikariCP pings or replaces a connection (CONV-04)
HOUR = 3600
DAY = 24 * HOUR
MINUTE = 60
ROW_WAIT = 50  # seconds: the default of innodb_lock_wait_timeout in every series
SHORT_PAUSE = 10  # seconds; below, an ordinary pause of a client or of the network ends its session
# The pause that ends a session, and what fails by it.
NETWORK_WAITS = {
    "net_read_timeout": ("pauses in the middle of a statement or of LOAD DATA LOCAL", "imports"),
    "net_write_timeout": ("reads nothing of a result", "dumps and exports"),
}
LOCK_WAITS = ("innodb_lock_wait_timeout", "lock_wait_timeout")


@rule(
    "CON011",
    "idle-connections-cut",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The server closes idle sessions sooner than connection pools can refresh them.",
    options=("wait_timeout",),
    quiet={"wait_timeout": (KEPT_ALIVE + 1, MOST)},
    evidence=("CONV-04",),
    docs=Docs(
        why="A connection pool must ping or replace an idle connection before the server closes it, or the next "
        "statement fails (the server has gone away). HikariCP, a pool for Java, accepts no ping interval and no "
        "lifetime below 30 seconds, and recommends a lifetime several seconds below the server's limit.",
        fix="Set wait_timeout a few seconds above 30, and the pools' lifetime below it.",
        risk="Sessions that clients forgot stay a little longer.",
        exceptions="Programs that connect for each request and close their sessions, such as most PHP programs.",
        reconsider_when="A rate of Aborted_clients near zero.",
    ),
)
def idle_connections_cut(context: RuleContext) -> Iterator[Finding]:
    """Report wait_timeout that is shorter than the keepalive interval of connection pools."""
    seconds = context.number("wait_timeout")
    if seconds and seconds <= KEPT_ALIVE and context.is_set("wait_timeout"):
        yield idle_connections_cut.finding(
            f"The server closes sessions after {exact_duration(seconds)} without a statement, before a connection "
            "pool that pings every 30 s can keep them alive.",
            variable_subject(context, "wait_timeout"),
            help="set it a few seconds above 30, and the lifetime of the clients' pools below it",
        )


@rule(
    "CON012",
    "interactive-timeout-alone",
    severity=Severity.NOTE,
    summary="The idle timeout is set for interactive clients only.",
    options=("interactive_timeout",),
    evidence=("CONA-08",),
    docs=Docs(
        why="interactive_timeout applies to clients that identify themselves as interactive when they connect, as the "
        "mysql program does. A session of any other program ends after wait_timeout: with interactive_timeout = 60 "
        "alone that was 28800 seconds on the servers that we tested.",
        fix="Set wait_timeout as well, or remove the line.",
        risk="A shorter wait_timeout ends idle connections of pools, which must refresh them sooner.",
        exceptions="Servers that are used only interactively, with the mysql program.",
        reconsider_when="Nothing.",
    ),
)
def interactive_timeout_alone(context: RuleContext) -> Iterator[Finding]:
    """Report a shortened interactive_timeout without a wait_timeout: most programs are not interactive clients."""
    people, programs = context.number("interactive_timeout"), context.number("wait_timeout")
    if not people or not programs or not context.is_set("interactive_timeout") or context.is_set("wait_timeout"):
        return
    if people < programs:
        yield interactive_timeout_alone.finding(
            f"Only sessions of interactive clients end after {exact_duration(people)}; those of "
            "programs stay idle for "
            f"{exact_duration(programs)} (wait_timeout).",
            variable_subject(context, "interactive_timeout"),
            help="set wait_timeout as well, or remove the line",
        )


@rule(
    "CON013",
    "no-lock-wait",
    summary="Statements do not wait for locks: they fail as soon as another session holds one.",
    targets=(Span("mariadb"),),
    options=LOCK_WAITS,
    quiet=dict.fromkeys(LOCK_WAITS, (1, MOST)),
    evidence=("CONA-09",),
    docs=Docs(
        why="On MariaDB, 0 does not mean unlimited: a statement that meets a locked row or table fails at once with "
        "error 1205. With innodb_lock_wait_timeout = 0 every conflict between two writers is an error; with "
        "lock_wait_timeout = 0, so is each ALTER TABLE, TRUNCATE or other DDL on a table that an open transaction has "
        "read.",
        fix="Remove the line.",
        risk="Statements wait for locks again, and keep their threads and their own locks meanwhile.",
        exceptions="Programs that retry at once. SELECT ... NOWAIT does the same for one statement.",
        reconsider_when="Nothing.",
    ),
)
def no_lock_wait(context: RuleContext) -> Iterator[Finding]:
    """Report lock wait timeouts of 0."""
    for name in LOCK_WAITS:
        if context.number(name) == 0 and context.is_set(name):
            usual = default_number(context, name)
            risk = "statements wait for locks again; open sessions keep their limit"
            action = advise(context, name, usual, risk=risk, watch="Innodb_row_lock_waits") if usual else None
            what = "row" if name.startswith("innodb") else "table"
            actions = present(action, _deadlock_detection(context) if what == "row" else None)
            yield no_lock_wait.finding(
                f"{name} = 0 means no wait at all: a statement that meets a locked {what} fails with error 1205.",
                variable_subject(context, name),
                help=" and ".join(map(help_line, actions)),
                actions=actions,
            )


def _deadlock_detection(context: RuleContext) -> Action | None:
    """The action that switches detection on where it is off: sessions that wait again would hang in a deadlock."""
    if context.explicit_switch("innodb_deadlock_detect") is not False:
        return None
    risk = "more work where hundreds of sessions wait for one row"
    return advise(context, "innodb_deadlock_detect", "ON", risk=risk, watch="Innodb_row_lock_time_max")


@rule(
    "CON014",
    "row-waits-for-hours",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="A statement may wait more than an hour for a row that another session holds.",
    options=("innodb_lock_wait_timeout",),
    quiet={"innodb_lock_wait_timeout": (0, HOUR)},
    docs=Docs(
        why="While it waits, a statement keeps its connection and its locks, so others queue up behind it, although "
        "its client has long given up. The default is 50 seconds. That an hour is too long is an opinion.",
        fix="Remove the line, and set the time in the session of the job that needs it.",
        risk="A job that relied on the long wait fails with error 1205.",
        exceptions="Servers for batch jobs, without interactive users.",
        reconsider_when="Innodb_row_lock_time_max, in milliseconds, far below the limit.",
    ),
)
def row_waits_for_hours(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_lock_wait_timeout of more than an hour."""
    seconds = context.number("innodb_lock_wait_timeout")
    if seconds and seconds > HOUR and context.is_set("innodb_lock_wait_timeout"):
        action = advise(
            context, "innodb_lock_wait_timeout", ROW_WAIT, watch="Innodb_row_lock_time_max",
            risk="statements that wait longer fail with error 1205; open sessions keep their limit",
        )  # fmt: skip
        yield row_waits_for_hours.finding(
            f"A statement may wait {exact_duration(seconds)} for a row, and keeps its own locks meanwhile.",
            variable_subject(context, "innodb_lock_wait_timeout"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "CON028",
    "metadata-wait-for-days",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="DDL may wait more than a day for its metadata lock, and meanwhile blocks all later statements on the "
    "table.",
    options=("lock_wait_timeout",),
    quiet={"lock_wait_timeout": (0, DAY)},
    evidence=("CONA-16",),
    docs=Docs(
        why="ALTER TABLE waits for the sessions that use the table, and while it waits, later statements on the table "
        "wait behind it, even reads. lock_wait_timeout ends both waits. The default is a year on MySQL and a day on "
        "MariaDB; that more than a day is too long is an opinion.",
        fix="Set lock_wait_timeout to an hour or less, globally or in the sessions that run DDL.",
        risk="DDL and backups that wait longer fail with error 1205.",
        exceptions="Servers whose DDL sessions set the timeout themselves.",
        reconsider_when="No statement that ever waited long for a metadata lock.",
    ),
)
def metadata_wait_for_days(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured lock_wait_timeout of more than a day."""
    name = "lock_wait_timeout"
    seconds = context.number(name)
    if seconds and seconds > DAY and context.is_set(name):
        action = advise(
            context, name, HOUR, risk="statements that wait longer fail with error 1205; open sessions keep their limit"
        )
        yield metadata_wait_for_days.finding(
            f"DDL may wait {exact_duration(seconds)} for its metadata lock, and later statements on the table wait "
            "behind it.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "CON015",
    "slow-handshakes",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="A client that never logs in can hold a connection for more than a minute.",
    options=("connect_timeout",),
    quiet={"connect_timeout": (0, MINUTE)},
    evidence=("CONA-10", "CONA-26", "CONA-27"),
    docs=Docs(
        why="A TCP connection counts as soon as the server accepts it, before the login. On the servers that we "
        "tested, max_connections silent connections kept ordinary accounts out with error 1040, and one more kept "
        "root out too, until connect_timeout ended them. The default is 10 seconds. That a minute is too long is an "
        "opinion.",
        fix="Remove the line. It does not cover the server's own lookups of host names: slow ones are a matter of the "
        "name server.",
        risk="Clients on very slow links fail to log in.",
        exceptions="Servers that only trusted hosts can reach.",
        reconsider_when="A firewall that limits new connections.",
        disagree="pt-variable-advisor warns from 11 seconds on.",
    ),
)
def slow_handshakes(context: RuleContext) -> Iterator[Finding]:
    """Report connect_timeout of more than a minute."""
    seconds, usual = context.number("connect_timeout"), default_number(context, "connect_timeout")
    if seconds and seconds > MINUTE and context.is_set("connect_timeout"):
        risk = "clients on very slow links fail to log in"
        action = advise(context, "connect_timeout", usual, risk=risk, watch="Aborted_connects") if usual else None
        yield slow_handshakes.finding(
            f"A client that never logs in holds a connection for {seconds:,} s; enough of them keep all others out.",
            variable_subject(context, "connect_timeout"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "CON016",
    "autocommit-off",
    confidence=Confidence.LIKELY,
    summary="Every session begins a transaction with its first statement, and keeps it open until COMMIT.",
    options=("autocommit",),
    quiet={"autocommit": ("TRUE",)},
    evidence=("CONA-11",),
    docs=Docs(
        why="Without autocommit a session that has read a table keeps a transaction and a metadata lock on the table, "
        "even while it is idle. On the servers that we tested, ALTER TABLE waited for such a session until its "
        "timeout. At REPEATABLE READ, the default, old row versions cannot be purged meanwhile. Changes of programs "
        "that do not commit are lost when they end.",
        fix="Leave autocommit on, and switch it off or begin transactions in the programs that need it.",
        risk="Programs that rely on it then commit each statement separately: check each program before the change.",
        exceptions="Programs that were written for it and end each transaction, even read-only ones.",
        reconsider_when="No transaction older than a minute over a busy day.",
    ),
)
def autocommit_off(context: RuleContext) -> Iterator[Finding]:
    """Report autocommit = OFF for all sessions."""
    if context.settings.on("autocommit") is False and context.is_set("autocommit"):
        yield autocommit_off.finding(
            "Every session keeps a transaction open from its first statement on, even if it is idle or only reads; DDL "
            "waits for it.",
            variable_subject(context, "autocommit"),
            help="leave it on here, and switch it off in the sessions of the programs that need it",
        )


@rule(
    "CON017",
    "deadlocks-time-out",
    confidence=Confidence.LIKELY,
    summary="Deadlock detection is off: sessions in a deadlock wait for the default innodb_lock_wait_timeout.",
    options=("innodb_deadlock_detect",),
    quiet={"innodb_deadlock_detect": ("TRUE",)},
    evidence=("CONA-12",),
    docs=Docs(
        why="With innodb_deadlock_detect off, two sessions that wait for each other wait until "
        "innodb_lock_wait_timeout ends, on the servers that we tested. Then the statements fail with error 1205, but "
        "each transaction stays open and keeps its other locks, unless innodb_rollback_on_timeout = ON. If you switch "
        "it off, shorten that time, which is 50 seconds by default. With detection on, one of them is rolled back at "
        "once.",
        fix="Switch it on, or set innodb_lock_wait_timeout to a few seconds.",
        risk="Deadlock detection costs time where hundreds of sessions wait for one row.",
        exceptions="Workloads that never lock two rows in different orders.",
        reconsider_when="No row lock wait that ever ran into its timeout.",
    ),
)
def deadlocks_time_out(context: RuleContext) -> Iterator[Finding]:
    """Report disabled deadlock detection with innodb_lock_wait_timeout at its default or longer."""
    seconds = context.number("innodb_lock_wait_timeout")
    if seconds is None or seconds < ROW_WAIT or not context.is_set("innodb_deadlock_detect"):
        return
    if context.settings.on("innodb_deadlock_detect") is False:
        action = _deadlock_detection(context)
        yield deadlocks_time_out.finding(
            f"Deadlocks are not detected: two sessions that wait for each other hang for {exact_duration(seconds)}.",
            variable_subject(context, "innodb_deadlock_detect"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "CON030",
    "short-network-timeouts",
    confidence=Confidence.LIKELY,
    summary="The server ends a session as soon as its client or the network pauses for a few seconds in a statement.",
    options=tuple(NETWORK_WAITS),
    quiet=dict.fromkeys(NETWORK_WAITS, (SHORT_PAUSE, MOST)),
    evidence=("CONA-18",),
    docs=Docs(
        why="net_read_timeout applies while the server waits for the rest of a statement or of a LOAD DATA LOCAL file, "
        "net_write_timeout while it waits for a client to read a result. With both at 1 second, the servers that we "
        "tested ended a session whose statement came in two parts 3 seconds apart, and one that paused 2 seconds while "
        "it read 64 MB. A dump, an export or a client on a busy host pauses longer now and then. The defaults are 30 "
        "and 60 seconds. That fewer than 10 are too few is our choice. Idle sessions are not affected: their limit is "
        "wait_timeout.",
        fix="Remove the line.",
        risk="The session and the locks of a client that disappears in the middle of a statement remain for longer.",
        exceptions="Servers whose clients are all near and fetch small results.",
        reconsider_when="Aborted_clients that stays the same over a week with a nightly dump.",
    ),
)
def short_network_timeouts(context: RuleContext) -> Iterator[Finding]:
    """Report explicitly configured network timeouts of a few seconds."""
    for name, (pause, failing) in NETWORK_WAITS.items():
        seconds, usual = context.number(name), default_number(context, name)
        if seconds and seconds < SHORT_PAUSE and usual and context.is_set(name):
            action = advise(
                context, name, usual, watch="Aborted_clients",
                risk="the session of a client that is gone remains for longer; open sessions keep their limit",
            )  # fmt: skip
            yield short_network_timeouts.finding(
                f"A session ends when its client {pause} for {exact_duration(seconds)}; {failing} fail.",
                variable_subject(context, name),
                help=help_line(action),
                actions=present(action),
            )


IDLE = "wait_timeout"
WEEK, DEFAULT_IDLE = 7 * DAY, 8 * HOUR


@rule(
    "CON032",
    "idle-sessions-kept",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The server keeps idle sessions for more than a week.",
    options=(IDLE,),
    quiet={IDLE: (0, WEEK)},
    evidence=("CONA-20",),
    docs=Docs(
        why="A client that vanishes without closing its connection, as behind a firewall, leaves a session that "
        "counts toward max_connections, with its memory, its locks and its open transaction. The servers ask for a "
        "TCP keepalive, by which Linux ends it after about two hours by default. If a proxy or a load balancer "
        "answers in the client's place, only wait_timeout ends it. The default is 8 hours. That a week is too long is "
        "an opinion.",
        fix="Remove the line, and let connection pools replace their connections within 8 hours.",
        risk="Programs that never use a connection for longer than the new time must reconnect.",
        exceptions="Clients that cannot reconnect.",
        reconsider_when="No sessions in the process list that have been idle for days.",
    ),
)
def idle_sessions_kept(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured wait_timeout of more than a week."""
    seconds = context.number(IDLE)
    if seconds and seconds > WEEK and context.is_set(IDLE):
        usual = default_number(context, IDLE) or DEFAULT_IDLE
        action = advise(context, IDLE, usual, risk="open sessions keep their limit", watch="Threads_connected")
        yield idle_sessions_kept.finding(
            f"A session that its client abandoned may stay open for {exact_duration(seconds)}, and counts toward "
            "max_connections.",
            variable_subject(context, IDLE),
            help=help_line(action),
            actions=present(action),
        )
