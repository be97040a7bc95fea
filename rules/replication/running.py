"""REP: rules about the replication state of a running server, as a replica and as a source."""

from __future__ import annotations

from advisor.core.model import Action, Confidence, Severity
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present, replica_statement, source_keyword
from rules.core.subject import variable_subject
from rules.replication import (
    LOGS_UPDATES,
    PARALLEL_BY,
    SEMI_SYNC,
    WORKERS,
    advise_first,
    available_name,
    channel_name,
    channel_suffix,
    missing_confirmations,
    received_position_age,
    replica_channels,
    upper_value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext


PLAIN, SUPER, RECOVERY = "read_only", "super_read_only", "relay_log_recovery"
CONFIRMING = ("rpl_semi_sync_replica", "rpl_semi_sync_slave")
RISK_OF_WRITE_SETS = (
    "replicas older than 8.0.27 need replica_preserve_commit_order = ON first (slave_preserve_commit_order before "
    "8.0.26): it is OFF by default, and changes then become visible in an order that the source never had"
)


@rule(
    "REP014",
    "semi-sync-not-in-force",
    summary="Semi-synchronous replication is switched on, but commits do not wait for a replica.",
    needs=("server",),
    options=tuple(f"{name}_enabled" for name in (*SEMI_SYNC, *CONFIRMING)),
    evidence=("ASK-REP-05", "ASK-REP-15"),
    docs=Docs(
        why="A source whose replicas don't confirm within the timeout continues without them, which only status "
        "variables and its error log show. Commits are then no safer than with asynchronous replication. Without any "
        "replica the next commit waits for the whole timeout first. A replica whose receiver connected before it was "
        "switched on, or whose source lacks it, confirms nothing.",
        fix="Find out why the replicas do not confirm: check whether they are connected, and whether semi-synchronous "
        "replication is switched on there too. Or switch it off here. After switching it on at a replica, restart its "
        "receiver.",
        risk="Commits that wait for a replica take a network round trip longer, or the timeout if it hangs.",
        exceptions="A replica that is briefly disconnected. A read-only replica that is prepared to become a source: "
        "its source side is not reported.",
        reconsider_when="The status variable is ON, and a replica is counted as a client.",
    ),
)
def semi_sync_not_in_force(context: RuleContext) -> Iterator[Finding]:
    """Report enabled semisynchronous replication that no replica acknowledges."""
    channels = replica_channels(context)
    if not channels or context.text(PLAIN) == "OFF":
        yield from _unconfirmed_source(context)
    connected = [channel for channel in channels if channel.get("io_running") == "Yes"]
    for name in CONFIRMING:
        enabled = context.settings.on(f"{name}_enabled")
        if connected and enabled and context.server.status.get(f"{name}_status") == "OFF":
            yield semi_sync_not_in_force.finding(
                f"{name}_enabled is ON, but {name}_status is OFF: this replica confirms nothing to its source.",
                variable_subject(context, f"{name}_enabled"),
                severity=Severity.NOTE,
                confidence=Confidence.LIKELY,
                help=f"restart the receiver: {_receiver_restarts(context, connected, several=len(channels) > 1)}; "
                "if it stays OFF, the source lacks it",
            )


def _receiver_restarts(context: RuleContext, channels: list[dict[str, str]], *, several: bool) -> str:
    """The statements that restart the receivers of these channels, and no other channel's."""
    return "; ".join(
        replica_statement(context, verb, channel_name(channel), " IO_THREAD", several=several)
        for channel in channels
        for verb in ("STOP", "START")
    )


def _unconfirmed_source(context: RuleContext) -> Iterator[Finding]:
    for name in SEMI_SYNC:
        if context.settings.on(f"{name}_enabled") and (missing := missing_confirmations(context, name)):
            message, remedy = missing
            yield semi_sync_not_in_force.finding(message, variable_subject(context, f"{name}_enabled"), help=remedy)


@rule(
    "REP018",
    "replica-by-file-position",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The replica uses file and position, although GTIDs are enabled.",
    needs=("server",),
    options=("gtid_mode",),
    evidence=("REPL-04", "REPL-10"),
    docs=Docs(
        why="With GTIDs a replica knows which changes it has, even after a crash or with a new source. With file and "
        "position it relies on a number that is valid for one source only, and on MariaDB on a file that a crash can "
        "leave behind.",
        fix="On MySQL set SOURCE_AUTO_POSITION = 1 (MASTER_AUTO_POSITION before 8.0.23), on MariaDB MASTER_USE_GTID = "
        "slave_pos, with the replica stopped.",
        risk="The source must still have the binary logs that the replica lacks. Several sources of a MariaDB replica "
        "need a gtid_domain_id each: in a common domain the receiver of one of them stops with error 1236.",
        exceptions="Sources without GTIDs, and tools that start a replica at a position.",
        reconsider_when="A source without GTIDs.",
    ),
)
def replica_by_file_position(context: RuleContext) -> Iterator[Finding]:
    """Report a channel without auto-positioning on a server with GTIDs, unless its source sends none."""
    channels = replica_channels(context)
    own = ", once each of its sources has a gtid_domain_id of its own" if len(channels) > 1 else ""
    for channel in channels:
        unsent = channel.get("io_running") == "Yes" and channel.get("retrieved_gtid_set") == ""
        of_mysql = context.text("gtid_mode") == "ON" and channel.get("auto_position") == "0" and not unsent
        if of_mysql or channel.get("using_gtid") == "No":
            source = source_keyword(context)
            how = f"{source}_AUTO_POSITION = 1" if of_mysql else f"{source}_USE_GTID = slave_pos{own}"
            yield replica_by_file_position.finding(
                f"The replica{channel_suffix(channel)} uses file and position, which are valid for this source only.",
                help=f"stop the replica and give it {how}",
            )


@rule(
    "REP024",
    "relay-logs-not-recovered",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="After a crash the replica applies changes twice, or continues with truncated relay logs.",
    targets=(Span("mysql", before=(8, 4)),),
    options=(RECOVERY, *WORKERS, *PARALLEL_BY),
    evidence=("REPL-14", "ASK-REP-24", "ASK-REP-32"),
    docs=Docs(
        why="In a table, the default since 8.0, the receiver's position is saved only every sync_source_info "
        "(sync_master_info) events, 10,000 by default. A replica with file and position that was killed fetches events "
        "again that its relay logs have: it applies them twice, or stops with error 1062. On a running replica that is "
        "a warning. In a file the position is saved at each event. Relay logs are not: a crash of the system can cut "
        "them off, and the applier stops with error 1594 (13121 on 8.0). With relay_log_recovery the replica discards "
        "its relay logs and continues after what it has applied. MySQL 8.4 and later find the end of their relay logs "
        "at the start. In an option file, mycnf recognizes a replica by lines for parallel appliers, and gtid_mode = "
        "ON shows that it needs no position.",
        fix="Set relay_log_recovery to ON.",
        risk="At each start all relay logs that weren't applied yet are fetched again, so the source must still have "
        "its binary logs. After a crash a replica with several workers first fills gaps from the old relay logs: if "
        "these are damaged, replication does not start (error 1872 on 5.7.22 and 8.0.15).",
        restart=True,
        exceptions="Semi-synchronous replicas, which have confirmed what they would discard, are not reported.",
        reconsider_when="Auto-positioning by GTID, with which the replica requests what it lacks.",
        disagree="MySQL's manual lists it among the safest settings; MariaDB's warns of it on such replicas.",
    ),
)
def relay_logs_not_recovered(context: RuleContext) -> Iterator[Finding]:
    """Report a replica with file positions and relay_log_recovery = OFF."""
    confirms = any(context.settings.on(f"{name}_enabled") for name in CONFIRMING)
    subject = _file_position_variable(context)
    if subject and context.settings.on(RECOVERY) is False and not confirms:
        action = advise(context, RECOVERY, "ON", risk="relay logs are fetched again at each start")
        seldom = received_position_age(context)
        yield relay_logs_not_recovered.finding(
            f"The replica uses file and position, and saves its receiver's position only {seldom}: after a crash it "
            "receives changes again and applies them twice."
            if seldom
            else "The replica uses file and position, and trusts relay logs that a crash may have truncated.",
            variable_subject(context, subject),
            severity=Severity.WARNING if seldom and context.has("server") else None,
            help=help_line(action),
            actions=present(action),
        )


def _file_position_variable(context: RuleContext) -> str | None:
    """The variable for the finding if the running replica, or else the file's, uses file positions; otherwise None."""
    if context.has("server"):
        by_file = any(channel.get("auto_position") == "0" for channel in replica_channels(context))
        return RECOVERY if by_file else None
    lines = [name for name in (RECOVERY, *WORKERS, *PARALLEL_BY) if context.is_set(name)]
    return lines[0] if lines and context.text("gtid_mode") != "ON" else None


@rule(
    "REP019",
    "replica-updates-not-logged",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The replica writes a binary log without the changes that it applies, so it misses nearly everything.",
    needs=("server",),
    options=LOGS_UPDATES,
    evidence=("REPL-11", "ASK-REP-19"),
    docs=Docs(
        why="A replica's own replicas, and a restore from its backup and binary logs, then miss all changes that came "
        "from the source. Logging replicated changes is the default on MySQL since 8.0, but not on MariaDB. If more "
        "servers read this binary log than this server has sources, at least one of them is not a source: that is a "
        "warning.",
        fix="Switch the logging of replicated changes on, or the binary log off. Replicas of this server must then be "
        "rebuilt, because the changes that they missed are not sent later.",
        risk="The replica writes each change twice, as the source does.",
        restart=True,
        exceptions="Servers that keep a log of local changes only, on purpose. Two servers that replicate from each "
        "other: each reads only what the other wrote.",
        reconsider_when="A log that contains what its readers need.",
    ),
)
def replica_updates_not_logged(context: RuleContext) -> Iterator[Finding]:
    """Report a replica whose binary log lacks the changes that it applies."""
    channels = replica_channels(context)
    if not channels or not context.settings.on("log_bin") or upper_value(context, LOGS_UPDATES) != "OFF":
        return
    part = context.server.replication
    readers = part.replicas_connected if part else 0
    chained = readers > len(channels)  # in a pair or a ring, a source reads this log too
    action = advise_first(context, LOGS_UPDATES, "ON", risk="the replica writes each change twice")
    yield replica_updates_not_logged.finding(
        "The replica's binary log contains only what is written here, none of the changes that it applies."
        + _who_misses_changes(readers, chained=chained),
        variable_subject(context, available_name(context, LOGS_UPDATES)),
        severity=Severity.WARNING if chained else None,
        help=help_line(action) + ("; then rebuild the replicas of this server" if chained else ""),
        actions=present(action),
    )


def _who_misses_changes(readers: int, *, chained: bool) -> str:
    """A sentence, after a space, about the servers that read the log; empty if each may be a source."""
    if chained:
        who = f" {readers} servers read the log, and at least one of them is not a source of this replica: it misses"
    elif readers == 1:
        who = " A server reads the log: unless that is this replica's source, it misses"
    else:
        return ""
    return f"{who} everything applied here."


@rule(
    "REP020",
    "commit-order-tracking",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The source records only which transactions were committed together, so its replicas run few in parallel.",
    needs=("server",),
    targets=(Span("mysql", since=(8, 0), before=(8, 4)),),
    options=("binlog_transaction_dependency_tracking",),
    evidence=("BLOG-02", "REPL-03"),
    docs=Docs(
        why="With write sets workers can apply transactions on different rows in parallel, even if the source "
        "committed them one after the other. The gain is largest where few sessions write or storage is fast. Since "
        "8.4 write sets are the only method.",
        fix="First, set replica_preserve_commit_order = ON (slave_preserve_commit_order before 8.0.26) on every "
        "replica older than 8.0.27: its default is OFF there. Then set binlog_transaction_dependency_tracking to "
        "WRITESET.",
        risk="A replica that does not keep the commit order shows states that the source never had: with write sets, "
        "even two transactions of one session can commit in reverse order. The source keeps hashes in memory. Tables "
        "without a primary key, and those that foreign keys refer to, gain nothing. The option is deprecated since "
        "8.0.35: remove it again before an upgrade to 8.4.",
        exceptions="Replicas that are never behind, or that apply with a single worker. If one older than 8.0.27 "
        "cannot keep the commit order: WRITESET_SESSION, which keeps the order within each session.",
        reconsider_when="Replicas whose lag is no smaller with write sets.",
    ),
)
def commit_order_tracking(context: RuleContext) -> Iterator[Finding]:
    """Report a source with replicas that tracks dependencies by commit order."""
    part = context.server.replication
    if part is None or not part.replicas_connected or context.text("transaction_write_set_extraction") == "OFF":
        return
    name = "binlog_transaction_dependency_tracking"
    if context.text(name) == "COMMIT_ORDER":
        action = advise(context, name, "WRITESET", risk=RISK_OF_WRITE_SETS)
        yield commit_order_tracking.finding(
            f"{part.replicas_connected} replica{'s read' if part.replicas_connected > 1 else ' reads'} this binary "
            "log, which shows their workers only which transactions were committed together.",
            variable_subject(context, name),
            help=f"{help_line(action)}, once every replica keeps the commit order (before 8.0.27 the default is OFF)",
            actions=present(action),
        )


@rule(
    "REP017",
    "writable-replica",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Clients or administrators can write to the replica, and the data diverges from the source.",
    options=(PLAIN, SUPER),
    file_targets=(Span("mysql"),),
    evidence=("REPL-09", "ASK-REP-09", "ASK-REP-18", "ASK-REP-16"),
    docs=Docs(
        why="A row that was written only on a replica stops replication when the source inserts the same key, and is "
        "lost, or blocks a failover, when the roles change. read_only stops ordinary accounts, not replication. On "
        "MySQL accounts with SUPER, or CONNECTION_ADMIN from 8.0 on, still write; super_read_only stops them too, and "
        "includes read_only. On MariaDB 10.11 and later, accounts need READ ONLY ADMIN to write, not SUPER. In an "
        "option file the rule recognizes a replica by read_only = ON. The finding is a warning if transactions were "
        "written on the replica itself and no server replicates from it. With MySQL's GTIDs an audit with a window "
        "counts them; MariaDB's gtid_binlog_pos shows the last one until later changes are applied.",
        fix="Set super_read_only = ON on MySQL, read_only = ON on MariaDB.",
        risk="Programs that write to the replica get errors. Promoting it must switch the setting off. SET GLOBAL "
        "waits for statements that write and for LOCK TABLES; new writes wait behind it.",
        exceptions="Servers that replicate from each other, and replicas with their own databases. Not reported: "
        "Galera nodes, which take writes, and members of group replication, which switches super_read_only itself.",
        reconsider_when="Applications that are meant to write here.",
    ),
)
def writable_replica(context: RuleContext) -> Iterator[Finding]:
    """Report a replica without read_only, or with read_only alone if super_read_only exists."""
    part = context.server.replication if context.has("server") else None
    if part is not None:
        replica = bool(replica_channels(context)) and not (part.galera or part.group_members)
    else:
        replica = context.explicit_switch(PLAIN) is True and not context.has("server")  # a file shows no more
    if not replica:
        return
    open_to = context.text(PLAIN), context.text(SUPER)
    written = _own_writes(context) if part is not None else ""
    severity = Severity.WARNING if written and part is not None and not part.replicas_connected else None
    if "OFF" not in open_to:
        if written and context.target.is_mariadb:
            yield _written_although_read_only(written, severity)
        return
    action = _read_only_action(context)
    yield writable_replica.finding(
        f"The server is a replica, but clients may write to it: read_only is OFF.{written}"
        if open_to[0] == "OFF"
        else "read_only applies to ordinary accounts only: super_read_only is OFF, so accounts with "
        f"{_exempt_privilege(context)} can write.{written}",
        variable_subject(context, PLAIN if open_to[0] == "OFF" or context.is_set(PLAIN) else SUPER),
        severity=severity,
        help=f"{help_line(action)}{_who_writes(context) if written else ''}",
        actions=present(action),
    )


@rule(
    "REP029",
    "writes-refused",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The server refuses writes, but it is not a replica.",
    needs=("server",),
    options=(PLAIN, SUPER),
    evidence=("REPL-09", "ASK-REP-16"),
    docs=Docs(
        why="Each write of an ordinary account gets error 1290. Replicas are made read-only, and a replica that is "
        "promoted keeps the setting until it is cleared. The finding is a warning if replicas follow this server: it "
        "is then probably the source, and applications cannot write.",
        fix="SET GLOBAL read_only = OFF if applications should write here; that clears super_read_only too. Remove "
        "both from the option file, or a restart sets them again.",
        risk="Two servers that accept writes diverge: make sure that no other server is the source.",
        exceptions="Archives, and servers in a failover or a migration. Members of Galera and of group replication, "
        "managed services, and servers with innodb_read_only = ON are not reported.",
        reconsider_when="A server that only replication or administrators should change.",
    ),
)
def writes_refused(context: RuleContext) -> Iterator[Finding]:
    """Report read_only on a server that is known to be no replica and no member of a cluster."""
    part, server = context.server.replication, context.server
    if part is None or part.is_replica or part.galera or part.group_members or part.group_state or server.managed:
        return
    if context.text(PLAIN) != "ON" or context.text("innodb_read_only") == "ON":
        return
    name = SUPER if context.text(SUPER) == "ON" else PLAIN
    followers = part.replicas_connected
    whom = "all clients" if name == SUPER else f"accounts without {_exempt_privilege(context)}"
    yield writes_refused.finding(
        f"{name} is ON, and the server is not a replica: writes of {whom} are refused."
        + (f" {followers} replica{'s follow' if followers > 1 else ' follows'} it." if followers else ""),
        variable_subject(context, name),
        severity=Severity.WARNING if followers else None,
        help="if applications should write here, make sure that no other server is the source, then run SET GLOBAL "
        "read_only = OFF; remove a line that sets it, too",
    )


def _written_although_read_only(written: str, severity: Severity | None) -> Finding:
    return writable_replica.finding(
        f"The replica is read-only, but an administrator's account or an event wrote to it.{written}",
        severity=severity,
        help="read with mysqlbinlog what it changed, then repeat it on the source or rebuild this replica",
    )


def _own_writes(context: RuleContext) -> str:
    """A sentence, after a space, about transactions written on the replica itself; empty if none are known."""
    if context.target.is_mariadb:
        return _own_position(context)
    written = _own_transactions(context)
    some = f"{written:,} transaction{'s were' if written > 1 else ' was'} written here in the window."
    return f" {some}" if written else ""


def _own_position(context: RuleContext) -> str:
    """A sentence about a transaction with MariaDB's own server_id beyond what was applied in its domain.

    Empty where a channel continues from gtid_current_pos, which includes the server's own transactions.
    """
    if any(channel.get("using_gtid") == "Current_Pos" for channel in replica_channels(context)):
        return ""
    from advisor.core.gtid import parse_positions  # lazily: lint knows no position

    logged, applied = (
        parse_positions(context.server.variables.get(name, "")) or () for name in ("gtid_binlog_pos", "gtid_slave_pos")
    )
    reached = {position.domain: position for position in applied}
    own = next((one for one in logged if one.domain in reached and str(one.server) == context.text("server_id")), None)
    if own is None or own.sequence <= reached[own.domain].sequence:
        return ""
    strict = context.settings.on("gtid_strict_mode") and upper_value(context, LOGS_UPDATES) == "ON"
    stops = " gtid_strict_mode is ON, so the next transaction from its source stops the applier." if strict else ""
    applied_up_to = f"transactions from its source were applied up to {reached[own.domain]}."
    return f" Transaction {own} was written here; {applied_up_to}{stops}"


def _own_transactions(context: RuleContext) -> int:
    """The transactions that the replica itself wrote in the window, by MySQL's GTIDs; 0 if unknown."""
    part = context.server.replication if context.has("server") else None
    before = next((state.own_transactions for state in (part.earlier if part else None) or ()), None)
    uuid = context.server.variables.get("server_uuid", "") if part else ""
    if before is None or not uuid:
        return 0
    from advisor.core.gtid import count, of_server, parse_set

    executed = parse_set(next((row.get("executed_gtid_set", "") for row in replica_channels(context)), "")) or {}
    return max(0, count(of_server(executed, uuid)) - before)


def _who_writes(context: RuleContext) -> str:
    """Where writes may come from that are not an application's, for the help."""
    scheduled = context.text("event_scheduler") == "ON"
    return "; events write too: look for STATUS = ENABLED in information_schema.EVENTS" if scheduled else ""


def _exempt_privilege(context: RuleContext) -> str:
    """The privilege with which an account may write although read_only is ON."""
    if context.target.since("mariadb", 10, 11):
        return "READ ONLY ADMIN"
    return "CONNECTION_ADMIN or SUPER" if context.target.since("mysql", 8) else "SUPER"


def _read_only_action(context: RuleContext) -> Action | None:
    """The action that enables super_read_only, or read_only if the target lacks it; undoing it restores both."""
    name = PLAIN if context.text(SUPER) is None else SUPER
    action = advise(context, name, "ON", risk="clients that write here get errors", watch="Com_insert")
    undone = action and action.undo and name == SUPER and context.text(PLAIN) == "OFF"
    return action._replace(undo=f"SET GLOBAL {PLAIN} = OFF;") if action and undone else action
