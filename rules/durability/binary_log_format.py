"""BIN: rules about the format of the binary log: statement-based logs, and MariaDB's log in files of InnoDB."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core import MOST, Docs, Span, rule
from rules.core.advice import advise, set_default, with_replica_stopped
from rules.core.subject import variable_subject, verdict_subject
from rules.durability import (
    INNODB_ENGINE,
    ISOLATION,
    log_bin_line,
    switches_off,
    uses_innodb_binary_log,
    writes_binary_log,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding
    from rules.core.context import RuleContext

MARIADB_12_3 = (Span("mariadb", since=(12, 3)),)
SOURCE, REPLICA = "rpl_semi_sync_master_enabled", "rpl_semi_sync_slave_enabled"
# Options that the InnoDB-based binary log does not use, with what takes their place.
WITHOUT_EFFECT = {
    "sync_binlog": "innodb_flush_log_at_trx_commit alone decides when commits are on disk",
    "binlog_checksum": "each page of the log has a CRC32 checksum",
    "tc_heuristic_recover": "prepared transactions are always resolved as the binary log says",
    "init_rpl_role": "semi-synchronous replication, which it belongs to, is not supported",
}

REPLICAS_FIRST = "; change replicas first: with STATEMENT and a binary log they stop at a row (error 1666)"


def level_without_statements(context: RuleContext) -> str:
    """The default isolation level if InnoDB refuses writes at it while statements are logged; else empty."""
    levels = (context.text(name) for name in ISOLATION)
    return next((level for level in levels if level in ("READ-COMMITTED", "READ-UNCOMMITTED")), "")


def row_format_action(context: RuleContext) -> Action | None:
    """The action that sets binlog_format = ROW; MySQL 8.0 and later refuse it while a replica's threads run."""
    risk = "sessions that are open keep their format; larger logs" + (REPLICAS_FIRST if context.target.is_mysql else "")
    action = advise(context, "binlog_format", "ROW", risk=risk)
    return with_replica_stopped(context, action) if context.target.since("mysql", 8) else action


@rule(
    "BIN003",
    "statement-based-log",
    confidence=Confidence.LIKELY,
    summary="Changes are replicated as statements, which may have a different effect on a replica.",
    options=("binlog_format",),
    triggers=ISOLATION,
    quiet={"binlog_format": ("ROW", "MIXED")},
    evidence=("ASK-14", "ASK-BIN-03", "ASK-BIN-35", "ASK-BIN-37"),
    docs=Docs(
        why="Nondeterministic statements, and all with LIMIT without ORDER BY, can change other rows on a replica or "
        "in a restore. MySQL made ROW its default in 5.7.7; MariaDB's default MIXED logs rows where it knows that a "
        "statement is unsafe. At READ-COMMITTED and READ-UNCOMMITTED InnoDB needs row-based logging, and refuses all "
        "writes without it.",
        fix="Set ROW, or remove the line.",
        risk="Changes of many rows make larger binary logs. A MySQL replica that has STATEMENT and logs what it "
        "applies stops at the first row (error 1666): change replicas first. Filters by database (replicate_do_db, "
        "binlog_do_db) then judge the database of the table instead of the default database. In tables without a "
        "primary key a replica has to search each changed row, by a scan if no index helps.",
        exceptions="Replicas with other table definitions, which rely on statements.",
        reconsider_when="A topology in which each statement is known to be safe.",
    ),
)
def statement_based_log(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured binlog_format = STATEMENT."""
    if context.text("binlog_format") == "STATEMENT" and context.is_set("binlog_format") and writes_binary_log(context):
        level = level_without_statements(context)
        advice, actions = set_default(context, "binlog_format", "ROW", row_format_action(context))
        effect = f"At {level} InnoDB refuses all writes while statements are logged (error 1665)."
        yield statement_based_log.finding(
            effect
            if level
            else "Statements are logged as text; nondeterministic statements can have a different effect on a replica.",
            variable_subject(context, "binlog_format"),
            confidence=Confidence.CERTAIN if level else None,
            help=advice,
            actions=actions,
        )


INTERLEAVED = 2  # the value of innodb_autoinc_lock_mode


@rule(
    "INN031",
    "interleaved-ids-in-statement-log",
    confidence=Confidence.LIKELY,
    summary="Replicas may give rows other AUTO_INCREMENT numbers than the source did.",
    options=("innodb_autoinc_lock_mode", "binlog_format"),
    quiet={"binlog_format": ("ROW", "MIXED"), "innodb_autoinc_lock_mode": (0, MOST)},
    evidence=("INNV-08", "ASK-BIN-38"),
    docs=Docs(
        why="With innodb_autoinc_lock_mode = 2, the default of MySQL 8.0 and later, statements that run at the same "
        "time take numbers in turn. A statement-based binary log records only the first number of each statement, so a "
        "replica, or a restore from the log, can number the other rows differently. Both vendors call the combination "
        "unsafe.",
        fix="Set binlog_format to ROW, or innodb_autoinc_lock_mode to 1, which needs a restart.",
        risk="Row events make larger logs; with mode 1 inserts wait for a bulk insert into the same table.",
        exceptions="Servers whose binary log is never read, tables without AUTO_INCREMENT, and tables that get one row "
        "per statement.",
        reconsider_when="Nothing.",
    ),
)
def interleaved_ids_in_statement_log(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_autoinc_lock_mode = 2 with a statement-based binary log."""
    mode, log = context.number("innodb_autoinc_lock_mode"), context.text("binlog_format")
    if mode != INTERLEAVED or log != "STATEMENT" or not writes_binary_log(context):
        return
    if level_without_statements(context):
        return  # nothing is written: statement-based-log
    advice, actions = set_default(context, "binlog_format", "ROW", row_format_action(context))
    yield interleaved_ids_in_statement_log.finding(
        "innodb_autoinc_lock_mode is 2 and statements are logged, so replicas may number rows differently.",
        variable_subject(context, "binlog_format" if context.is_set("binlog_format") else "innodb_autoinc_lock_mode"),
        help=advice,
        actions=actions,
    )


TRUST = "log_bin_trust_function_creators"


@rule(
    "BIN011",
    "unchecked-functions-in-statement-log",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Stored functions are created without a check, and the statement-based binary log repeats their calls on "
    "replicas.",
    options=(TRUST,),
    quiet={TRUST: ("FALSE",)},
    evidence=("ASK-BIN-02",),
    docs=Docs(
        why="With OFF a function must be declared DETERMINISTIC, NO SQL or READS SQL DATA, and its creator needs "
        "SUPER. With ON a function that returns or inserts UUID() is created; the binary log then holds the statement "
        "that calls it, and a replica computes different rows. A row-based log holds the rows themselves.",
        fix="Set binlog_format to ROW, or log_bin_trust_function_creators to OFF.",
        risk="With OFF, accounts without SUPER cannot create functions or triggers (error 1419), and functions without "
        "such a declaration cannot be created. Most managed services grant no SUPER: use ROW there.",
        exceptions="Servers whose stored functions are all deterministic. That they change no rows is not enough: "
        "INSERT … VALUES (f()) is logged as it is written.",
        reconsider_when="A list of all stored functions, each of them deterministic.",
    ),
)
def unchecked_functions_in_statement_log(context: RuleContext) -> Iterator[Finding]:
    """Report log_bin_trust_function_creators with a statement-based binary log."""
    if context.explicit_switch(TRUST) and context.text("binlog_format") == "STATEMENT" and writes_binary_log(context):
        action = advise(context, TRUST, "OFF", risk="functions without a declaration cannot be created any more")
        advice, actions = set_default(context, TRUST, "OFF", action)
        yield unchecked_functions_in_statement_log.finding(
            "Functions are created without a check, and the binary log holds the statements that call them: a "
            "nondeterministic function can change other rows on a replica.",
            variable_subject(context, TRUST),
            help=advice,
            actions=actions,
        )


@rule(
    "BIN012",
    "innodb-binary-log-not-enabled",
    confidence=Confidence.LIKELY,
    summary="binlog_storage_engine needs log_bin without a value, and log_bin is missing or names a file.",
    targets=MARIADB_12_3,
    options=(INNODB_ENGINE,),
    evidence=("IBLOG-01",),
    docs=Docs(
        why="The InnoDB-based binary log takes its file names from the server (binlog-000000.ibb), so log_bin must be "
        "written without a value. Without log_bin no binary log is written. After the change the server ignores its "
        "logs in the old format, and replicas cannot read them.",
        fix="Write log_bin without a value; a directory is set with binlog_directory.",
        risk="The new binary log starts empty, in files of max_binlog_size (1G by default) that are allocated in "
        "advance. Preserve the GTID state first, as MariaDB's manual describes for the change of a primary with "
        "replicas.",
        restart=True,
        exceptions="A log_bin in a file that mycnf did not read.",
        reconsider_when="A server of this version that starts with the lines and logs.",
    ),
)
def innodb_binary_log_not_enabled(context: RuleContext) -> Iterator[Finding]:
    """Report binlog_storage_engine without log_bin, or with a file name in it."""
    if not uses_innodb_binary_log(context) or context.has("server"):
        return
    line = log_bin_line(context)
    if line is None or switches_off(line):
        yield innodb_binary_log_not_enabled.finding(
            "No binary log is written: binlog_storage_engine selects its format, and log_bin enables it.",
            variable_subject(context, INNODB_ENGINE),
            help="add log_bin, without a value",
        )
    elif line.placed.line.value:
        yield innodb_binary_log_not_enabled.finding(
            "The InnoDB-based binary log takes no file name: MariaDB's manual requires log_bin without a value.",
            verdict_subject(line),
            help="write log_bin without a value; binlog_directory sets the directory",
        )


@rule(
    "BIN013",
    "innodb-binary-log-on-galera-node",
    confidence=Confidence.LIKELY,
    summary="The InnoDB-based binary log does not work with Galera.",
    targets=MARIADB_12_3,
    options=(INNODB_ENGINE,),
    evidence=("IBLOG-02",),
    docs=Docs(
        why="Galera reads transactions from the traditional binary log. MariaDB's manual says that the InnoDB-based "
        "one cannot be used with Galera Cluster.",
        fix="Remove binlog_storage_engine from the node.",
        risk="None: the traditional binary log is the default.",
        restart=True,
        exceptions="None.",
        reconsider_when="A release whose manual supports both together.",
    ),
)
def innodb_binary_log_on_galera_node(context: RuleContext) -> Iterator[Finding]:
    """Report binlog_storage_engine on a Galera node."""
    if not uses_innodb_binary_log(context):
        return
    from rules.core.network import uses_galera

    if uses_galera(context):
        yield innodb_binary_log_on_galera_node.finding(
            "The InnoDB-based binary log cannot be used on a Galera node.",
            variable_subject(context, INNODB_ENGINE),
            help="remove binlog_storage_engine: Galera needs the traditional binary log",
        )


@rule(
    "BIN014",
    "innodb-binary-log-with-semi-sync",
    confidence=Confidence.LIKELY,
    summary="Semi-synchronous replication does not work with the InnoDB-based binary log.",
    targets=MARIADB_12_3,
    options=(INNODB_ENGINE,),
    evidence=("IBLOG-03",),
    docs=Docs(
        why="MariaDB's manual calls semi-synchronous replication unsupported in the first version of this binary log, "
        "whose commits have no second phase before which AFTER_SYNC could wait. Enabling it fails with error 4248, so "
        "no commit waits for a replica, and a failover can lose commits that clients believe to be durable.",
        fix="Keep the traditional binary log where commits have to be on a replica, or remove the semi-sync options.",
        risk="Without semi-sync a failover can lose the last commits.",
        restart=True,
        exceptions="None.",
        reconsider_when="A release whose manual supports both together.",
    ),
)
def innodb_binary_log_with_semi_sync(context: RuleContext) -> Iterator[Finding]:
    """Report semi-synchronous replication that is switched on beside binlog_storage_engine."""
    switch = next((name for name in (SOURCE, REPLICA) if context.explicit_switch(name)), None)
    if switch and uses_innodb_binary_log(context):
        yield innodb_binary_log_with_semi_sync.finding(
            "Semi-synchronous replication is not supported with the InnoDB-based binary log (error 4248).",
            variable_subject(context, switch),
            help=f"remove {switch}, or remove binlog_storage_engine where commits have to be on a replica",
        )


@rule(
    "BIN015",
    "unencrypted-innodb-binary-log",
    confidence=Confidence.LIKELY,
    summary="encrypt_binlog does not work with the InnoDB-based binary log.",
    targets=MARIADB_12_3,
    options=(INNODB_ENGINE,),
    evidence=("IBLOG-02",),
    docs=Docs(
        why="encrypt_binlog is not supported with the InnoDB-based binary log, so its files contain the changes "
        "in clear text, those of encrypted tables too.",
        fix="Encrypt the file system, or keep the traditional binary log.",
        risk="None.",
        restart=True,
        exceptions="Binary logs on an encrypted file system.",
        reconsider_when="A release whose manual supports both together.",
    ),
)
def unencrypted_innodb_binary_log(context: RuleContext) -> Iterator[Finding]:
    """Report encrypt_binlog beside binlog_storage_engine."""
    if context.explicit_switch("encrypt_binlog") and uses_innodb_binary_log(context):
        yield unencrypted_innodb_binary_log.finding(
            "The InnoDB-based binary log is not encrypted: encrypt_binlog is not supported with it.",
            variable_subject(context, "encrypt_binlog"),
            help="encrypt the file system of the logs, or remove binlog_storage_engine",
        )


@rule(
    "BIN016",
    "unused-by-innodb-binary-log",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Options of the traditional binary log have no effect with the InnoDB-based one.",
    targets=MARIADB_12_3,
    options=(INNODB_ENGINE,),
    evidence=("IBLOG-02", "IBLOG-04"),
    docs=Docs(
        why="The InnoDB-based binary log is written through InnoDB's redo log. sync_binlog, binlog_checksum, "
        "tc_heuristic_recover and init_rpl_role belong to the traditional log, and have no effect here.",
        fix="Remove the lines; innodb_flush_log_at_trx_commit decides what a crash can lose.",
        risk="None.",
        exceptions="Files that servers with the traditional binary log read too.",
        reconsider_when="A release whose manual gives the option an effect.",
    ),
)
def unused_by_innodb_binary_log(context: RuleContext) -> Iterator[Finding]:
    """Report options of the traditional binary log that are set beside binlog_storage_engine."""
    if not uses_innodb_binary_log(context):
        return
    for name, instead in WITHOUT_EFFECT.items():
        if context.is_set(name):
            yield unused_by_innodb_binary_log.finding(
                f"{name} has no effect with the InnoDB-based binary log: {instead}.",
                variable_subject(context, name),
                help="remove the line",
            )


@rule(
    "BIN017",
    "innodb-binary-log-without-gtid",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Replicas read the InnoDB-based binary log by GTID only, and this server's default is file and position.",
    targets=MARIADB_12_3,
    options=(INNODB_ENGINE,),
    evidence=("IBLOG-01", "IBLOG-02"),
    docs=Docs(
        why="The InnoDB-based binary log has no file positions: a replica connects by GTID, or not at all. Replicas "
        "should be MariaDB 12.3 or later. master_use_gtid = no makes file and position the default of this server's "
        "own replication, which fails as soon as its source uses this binary log too, such as after a failover.",
        fix="Remove master_use_gtid, or set it to slave_pos.",
        risk="CHANGE MASTER with an explicit MASTER_USE_GTID keeps that setting.",
        restart=True,
        exceptions="Servers that never replicate from another one.",
        reconsider_when="A release whose binary log in InnoDB has file positions.",
    ),
)
def innodb_binary_log_without_gtid(context: RuleContext) -> Iterator[Finding]:
    """Report master_use_gtid = no beside binlog_storage_engine."""
    by_file = context.text("master_use_gtid") in {"NO", "0"} and context.is_set("master_use_gtid")
    if by_file and uses_innodb_binary_log(context):
        yield innodb_binary_log_without_gtid.finding(
            "The InnoDB-based binary log is read by GTID only; but this server's default is replication by file and "
            "position.",
            variable_subject(context, "master_use_gtid"),
            help="write master_use_gtid = slave_pos",
        )
