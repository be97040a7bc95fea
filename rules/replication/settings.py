"""REP: rules about how a replica applies changes and stores its position, and when a source acknowledges commits."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_size
from rules.core import Docs, Span, rule
from rules.core.advice import (
    advise,
    help_line,
    present,
    replica_keyword,
)
from rules.core.context import REMOVE_LINE
from rules.core.subject import find_line, variable_subject
from rules.durability import uses_innodb_binary_log, writes_binary_log
from rules.replication import (
    APPLIED_POSITION,
    LOGS_UPDATES,
    ORDER,
    PARALLEL_BY,
    SEMI_SYNC,
    WORKERS,
    advise_first,
    advise_while_stopped,
    available_name,
    explicit_name,
    skips_by_gtid,
    upper_value,
    worker_count,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

MYSQL = (Span("mysql"),)
# MySQL 8.0.26 renamed most replica options; both names are accepted since then.
EXEC_MODE = ("replica_exec_mode", "slave_exec_mode")
CONVERSIONS = ("replica_type_conversions", "slave_type_conversions")
ORDER_WITHOUT_LOG = (8, 0, 19)  # from this version on the commit order is preserved without a binary log


@rule(
    "REP004",
    "idempotent-replica",
    confidence=Confidence.LIKELY,
    summary="The replica overwrites rows that already exist and ignores rows that are missing.",
    options=EXEC_MODE,
    evidence=("ASK-REP-03",),
    docs=Docs(
        why="A row that exists before it is inserted, or is missing when it is changed, shows that the replica's data "
        "differs. In this mode replication silently continues and the difference remains.",
        fix="Set STRICT, compare the data and rebuild the replica where it differs.",
        risk="Replication stops at the next such row, as it should.",
        exceptions="Sources that write to each other in a ring, and an hour of repair.",
        reconsider_when="A comparison of all tables that finds no difference.",
    ),
)
def idempotent_replica(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured replica_exec_mode = IDEMPOTENT."""
    name = explicit_name(context, EXEC_MODE)
    if name and context.text(name) == "IDEMPOTENT":
        action = advise_first(context, EXEC_MODE, "STRICT", risk="replication stops at the next row that differs")
        yield idempotent_replica.finding(
            "Existing rows are overwritten and missing rows are ignored; the data silently diverges.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "REP005",
    "lossy-replica-conversions",
    summary="The replica truncates values that don't fit its columns, without an error.",
    options=CONVERSIONS,
    evidence=("ASK-REP-03", "REPL-02"),
    docs=Docs(
        why="ALL_LOSSY lets a replica store a value in a smaller type. A source's 300 arrived in a TINYINT column as "
        "127, and replication continued.",
        fix="Keep ALL_NON_LOSSY alone, or remove the line, and give the replica's columns the source's types.",
        risk="Replication stops at a table whose columns are smaller than the source's.",
        exceptions="A change of column types that is run on the replicas first.",
        reconsider_when="Column types that are the same on source and replica: then nothing is converted.",
    ),
)
def lossy_replica_conversions(context: RuleContext) -> Iterator[Finding]:
    """Report explicitly allowed type conversions that lose data."""
    name = explicit_name(context, CONVERSIONS)
    allowed = (context.text(name) or "").split(",") if name else []
    if name and "ALL_LOSSY" in allowed:
        yield lossy_replica_conversions.finding(
            "Values that do not fit a column of the replica are truncated instead of stopping replication.",
            variable_subject(context, name),
            help="keep ALL_NON_LOSSY alone, or remove the line",
        )


@rule(
    "REP006",
    "unsupported-commit-order",
    summary="The replica is configured to keep the commit order but lacks required settings, so it refuses to start.",
    targets=(Span("mysql", before=(9, 5)),),
    options=(*ORDER, *PARALLEL_BY, *WORKERS),
    evidence=("ASK-REP-04", "REPL-03"),
    docs=Docs(
        why="Parallel appliers can keep the commit order only with the parallel type LOGICAL_CLOCK, and before 8.0.19 "
        "only if the replica logs the changes that it applies. The server starts, but START REPLICA or START SLAVE "
        "fails with an error.",
        fix="Set the parallel type to LOGICAL_CLOCK, with the applier stopped. Before 8.0.19 also switch on the binary "
        "log and the logging of replicated changes, which needs a restart.",
        risk="A replica that logs replicated changes writes more.",
        exceptions="Servers that neither replicate nor belong to a replication group: there the line has no effect.",
        reconsider_when="A replica that starts with these lines. 5.7 and 8.0.15 were tested; for later versions the "
        "manual requires LOGICAL_CLOCK.",
    ),
)
def unsupported_commit_order(context: RuleContext) -> Iterator[Finding]:
    """Report commit order preservation without LOGICAL_CLOCK or the required binary log."""
    needs = missing_for_commit_order(context)
    name = explicit_name(context, ORDER) or explicit_name(context, PARALLEL_BY)
    if name and upper_value(context, ORDER) == "ON" and (workers := worker_count(context)) and needs:
        yield unsupported_commit_order.finding(
            f"START {replica_keyword(context)} fails with an error: to keep the commit order with "
            f"{workers} worker{'s' if workers > 1 else ''} it needs {' and '.join(needs)}.",
            variable_subject(context, name),
            help=f"give the replica {' and '.join(needs)}",
            confidence=None if context.target.version < ORDER_WITHOUT_LOG else Confidence.LIKELY,
        )


def missing_for_commit_order(context: RuleContext) -> list[str]:
    """The requirements of commit order preservation that the server lacks, as text."""
    needs = ["the parallel type LOGICAL_CLOCK"] if upper_value(context, PARALLEL_BY) == "DATABASE" else []
    if context.target.version < ORDER_WITHOUT_LOG:
        needs += [] if writes_binary_log(context) else ["a binary log"]
        needs += ["log_slave_updates = ON"] if upper_value(context, LOGS_UPDATES) == "OFF" else []
    return needs


@rule(
    "REP007",
    "unordered-parallel-replica",
    confidence=Confidence.LIKELY,
    summary="Parallel workers commit in any order, so the replica shows states that the source never had.",
    targets=MYSQL,
    options=(*ORDER, *WORKERS),
    evidence=("REPL-03", "BLOG-02"),
    docs=Docs(
        why="A transaction may become visible on the replica before one that the source committed earlier, and a "
        "replica that crashes or stops with an error can have gaps in what it applied. MySQL keeps the order by "
        "default since 8.0.27.",
        fix="With the applier stopped, set replica_preserve_commit_order (slave_preserve_commit_order before 8.0.26) "
        "to ON.",
        risk="Workers wait for each other's commits. Before 8.0.27 it needs the parallel type LOGICAL_CLOCK, before "
        "8.0.19 also the binary log and the logging of replicated changes.",
        exceptions="Replicas that serve no reads and are never promoted.",
        reconsider_when="Readers for which the order of changes does not matter.",
    ),
)
def unordered_parallel_replica(context: RuleContext) -> Iterator[Finding]:
    """Report two or more workers without commit order preservation."""
    about_order, about_workers = explicit_name(context, ORDER), explicit_name(context, WORKERS)
    name = about_order or about_workers
    if name and upper_value(context, ORDER) == "OFF" and worker_count(context) > 1:
        action = None if missing_for_commit_order(context) else advise_while_stopped(context, ORDER, "ON")
        yield unordered_parallel_replica.finding(
            f"{worker_count(context)} workers commit in any order: readers of the replica can see a change "
            "before one that "
            "the source made earlier.",
            variable_subject(context, name),
            severity=None if about_order else Severity.NOTE,
            help=help_line(action)
            or f"set {available_name(context, ORDER)} = ON, which also needs "
            f"{' and '.join(missing_for_commit_order(context))}",
            actions=present(action),
        )


@rule(
    "REP008",
    "parallel-by-database",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Transactions are assigned to workers by database, so a single worker applies each busy database.",
    targets=(Span("mysql", before=(9, 5)),),
    options=(*PARALLEL_BY, *WORKERS),
    evidence=("BLOG-02", "REPL-03"),
    docs=Docs(
        why="With the parallel type DATABASE, two transactions of one database are never applied in parallel. "
        "LOGICAL_CLOCK applies transactions in parallel that the source committed together, or that its write sets "
        "show to be independent; it is the default since 8.0.27, and the only type since 9.5.",
        fix="With the applier stopped, set the parallel type to LOGICAL_CLOCK.",
        risk="If the commit order is not kept, two transactions of one database may become visible in reverse order.",
        exceptions="Sources with many databases that are equally busy.",
        reconsider_when="A replica whose lag is no smaller with LOGICAL_CLOCK.",
    ),
)
def parallel_by_database(context: RuleContext) -> Iterator[Finding]:
    """Report two or more workers that are assigned by database."""
    name = explicit_name(context, PARALLEL_BY) or explicit_name(context, WORKERS)
    if name and upper_value(context, PARALLEL_BY) == "DATABASE" and worker_count(context) > 1:
        action = advise_while_stopped(context, PARALLEL_BY, "LOGICAL_CLOCK")
        yield parallel_by_database.finding(
            f"{worker_count(context)} workers share the work by database: one worker applies all changes of a "
            "database.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "REP009",
    "replica-position-in-files",
    confidence=Confidence.LIKELY,
    summary="The replica stores its position in a file, which can be stale after a crash.",
    targets=(Span("mysql", before=(8, 3)),),
    options=(APPLIED_POSITION, *PARALLEL_BY, *WORKERS, "relay_log_recovery"),
    evidence=("REPL-04", "ASK-REP-09", "ASK-REP-24"),
    docs=Docs(
        why="A row in an InnoDB table is committed together with the changes that were applied; a file is written "
        "afterwards. After a crash the replica then applies some changes again, or stops at a duplicate key. FILE is "
        "the default of 5.7, TABLE that of 8.0. In an option file without the line the default is reported if other "
        "lines show that the server is a replica. master_info_repository is not reported: it holds the receiver's "
        "position, which a crash leaves further behind in the table than in the file (relay-logs-not-recovered).",
        fix="With the replica stopped, set relay_log_info_repository to TABLE with SET GLOBAL, then write the line; on "
        "8.0 remove the line. Set relay_log_recovery = ON too, which needs a restart; relay-logs-not-recovered names "
        "the exceptions.",
        risk="It can be changed only while the replica is stopped. After several workers have applied changes, a "
        "restart with a new line alone keeps the file: 5.7 and 8.0 revert the setting, and log that.",
        exceptions="Replicas with GTIDs, which skip what they have: there is no finding if a file has them ON, or if "
        "all channels have automatic positions or received GTIDs.",
        reconsider_when="A replica that was killed under load and continued without a duplicate.",
    ),
)
def replica_position_in_files(context: RuleContext) -> Iterator[Finding]:
    """Report the position of what was applied if it is stored in a file, explicitly or by default."""
    name, chosen = APPLIED_POSITION, context.is_set(APPLIED_POSITION)
    hint = name if chosen else _replica_variable(context)
    if context.text(name) == "FILE" and hint and not skips_by_gtid(context):
        modern = context.target.since("mysql", 8)  # whose default is TABLE
        action = advise_while_stopped(context, (name,), "TABLE")
        if modern and action:
            action = action._replace(option_line=None, argument=None, place=None) if action.statement else None
        yield replica_position_in_files.finding(
            f"{name} is FILE{'' if chosen else ' by default'}: the replica stores its position after it has applied "
            "the changes. After a crash in between it applies changes twice.",
            variable_subject(context, hint),
            severity=None if chosen else Severity.NOTE,
            help=f"with the replica stopped, set {name} to TABLE with SET GLOBAL, then "
            + (REMOVE_LINE if modern else "write the line"),
            actions=present(action),
        )


def _replica_variable(context: RuleContext) -> str | None:
    """The variable for a finding on a server that is a replica or whose file has replica options; otherwise None."""
    if context.has("server"):
        part = context.server.replication
        return APPLIED_POSITION if part and part.is_replica else None
    return next((name for name in (*WORKERS, *PARALLEL_BY, "relay_log_recovery") if context.is_set(name)), None)


@rule(
    "REP010",
    "relay-logs-never-purged",
    confidence=Confidence.LIKELY,
    summary="Applied relay logs are never purged, so they fill the replica's disk.",
    options=("relay_log_purge",),
    evidence=("ASK-REP-03", "REPL-05"),
    docs=Docs(
        why="A second copy of everything that the source sends is kept. Both vendors warn that, together with "
        "relay_log_recovery, the data can be inconsistent after a crash.",
        fix="Set relay_log_purge to ON.",
        risk="Relay logs that were applied are removed when the applier changes to the next one; tools that read them "
        "to repair another replica fail.",
        exceptions="Failover tools such as MHA, which compare relay logs, with a job of their own that purges them.",
        reconsider_when="A job that purges relay logs, and its schedule.",
    ),
)
def relay_logs_never_purged(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured relay_log_purge = OFF."""
    if context.settings.on("relay_log_purge") is False and context.is_set("relay_log_purge"):
        action = advise(context, "relay_log_purge", "ON", risk="relay logs that were applied are removed")
        yield relay_logs_never_purged.finding(
            "Relay logs are kept after they were applied and eventually fill the disk.",
            variable_subject(context, "relay_log_purge"),
            help=f"{help_line(action) or 'set it to ON'}, unless a failover tool such as MHA needs and purges them",
            actions=present(action),
        )


@rule(
    "REP011",
    "tight-relay-log-limit",
    confidence=Confidence.LIKELY,
    summary="The limit on relay logs is smaller than two of them, so the receiver waits although nothing can be "
    "removed.",
    targets=(Span("mysql", before=(8, 4)), Span("mariadb")),
    options=("relay_log_space_limit",),
    evidence=("REPL-06", "ASK-REP-28"),
    docs=Docs(
        why="A relay log is removed only when the next one is being read. With a limit below twice the size of a relay "
        "log, the receiver waits for space before any can be freed, and continues by exceeding the limit. MySQL 9.7 "
        "ends the relay log early instead and keeps the limit; so does the code of 8.4. Both are not reported. If the "
        "source is lost, so are the changes that the replica has not fetched.",
        fix="Raise the limit to several times max_relay_log_size, or remove it.",
        risk="Relay logs take more of the disk while the replica is behind.",
        restart=True,
        exceptions="None: a smaller max_relay_log_size keeps the limit.",
        reconsider_when="A receiver that never waits for space.",
    ),
)
def tight_relay_log_limit(context: RuleContext) -> Iterator[Finding]:
    """Report relay_log_space_limit below two relay logs."""
    limit = context.number("relay_log_space_limit")
    size = context.number("max_relay_log_size") or context.number("max_binlog_size")
    if limit and size and context.is_set("relay_log_space_limit") and limit < 2 * size:
        yield tight_relay_log_limit.finding(
            f"A limit of {format_size(limit)} holds fewer than two relay logs of {format_size(size)}; the receiver "
            "waits for space while no relay log can be removed, and then exceeds the limit.",
            variable_subject(context, "relay_log_space_limit"),
            help=f"set it to several times {format_size(size)}, the size of a relay log, or lower that",
        )


@rule(
    "REP012",
    "half-switched-gtid-mode",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="gtid_mode is left at a transitional value.",
    targets=MYSQL,
    options=("gtid_mode",),
    evidence=("REPL-07",),
    docs=Docs(
        why="The permissive modes exist to switch a topology to GTIDs online, one step at a time. A source in such a "
        "mode accepts no replica with auto-positioning, so file and position must be found by hand at a failover.",
        fix="Finish the switch: gtid_mode = ON and enforce_gtid_consistency = ON once no transaction without a GTID "
        "is left on any replica.",
        risk="A replica that still gets transactions without a GTID stops. enforce_gtid_consistency = ON refuses some "
        "statements, such as a transaction that changes InnoDB and MyISAM tables (error 1785).",
        exceptions="While the switch is in progress.",
        reconsider_when="A switch that is in progress.",
    ),
)
def half_switched_gtid_mode(context: RuleContext) -> Iterator[Finding]:
    """Report gtid_mode left at a permissive value."""
    mode = context.text("gtid_mode") or ""
    if mode.endswith("_PERMISSIVE") and context.is_set("gtid_mode"):
        line = find_line(context, "gtid_mode")
        number = line.raw if line is not None and (line.raw or "").isdigit() else None  # 1, meant as ON
        is_mode = f"{number} means {mode}, which" if number else mode
        yield half_switched_gtid_mode.finding(
            f"gtid_mode = {is_mode} is a step of the switch to GTIDs; replicas of this server cannot use "
            "auto-positioning.",
            variable_subject(context, "gtid_mode"),
            severity=Severity.WARNING if number else None,
            help="finish the switch with gtid_mode = ON once every replica has only transactions with GTIDs",
        )


@rule(
    "REP013",
    "semi-sync-after-commit",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The source commits before a replica has the change, so other sessions see changes that a failover can "
    "undo.",
    options=tuple(f"{name}_{what}" for name in SEMI_SYNC for what in ("enabled", "wait_point")),
    evidence=("ASK-REP-05", "ASK-REP-25", "REPL-08"),
    docs=Docs(
        why="With AFTER_COMMIT the change is visible on the source while it waits for the replica's acknowledgment. If "
        "the source then fails, other sessions have read and used data that is not on the replica that takes over. "
        "AFTER_SYNC waits before the commit. It is MySQL's default, AFTER_COMMIT is MariaDB's.",
        fix="Set the wait point to AFTER_SYNC.",
        risk="A source that crashed while commits waited has them after its restart, although no replica may have "
        "them: after a failover it must not follow the new source before it is compared or rebuilt.",
        exceptions="Failovers that always wait for the old source to come back. The InnoDB-based binary log of MariaDB "
        "12.3 has no AFTER_SYNC, and no finding.",
        reconsider_when="A failover plan that was written for AFTER_COMMIT.",
        disagree="MariaDB keeps AFTER_COMMIT as its default, and documents a failover plan for either.",
    ),
)
def semi_sync_after_commit(context: RuleContext) -> Iterator[Finding]:
    """Report semisynchronous replication with the wait point AFTER_COMMIT, where the server has the other."""
    if uses_innodb_binary_log(context):
        return
    for name in SEMI_SYNC:
        enabled, point = f"{name}_enabled", f"{name}_wait_point"
        if context.is_set(enabled) and context.settings.on(enabled) and context.text(point) == "AFTER_COMMIT":
            action = advise(
                context, point, "AFTER_SYNC", risk="a source that crashes keeps commits that no replica has",
                watch=f"{name[0].upper()}{name[1:]}_no_tx",
            )  # fmt: skip
            yield semi_sync_after_commit.finding(
                "Other sessions see a change before any replica has it; a failover in between undoes it.",
                variable_subject(context, point if context.is_set(point) else enabled),
                help=help_line(action) or f"write {point} = AFTER_SYNC",
                actions=present(action),
            )
