"""OBS: rules about the slow query log, the general log, the error log and Performance Schema."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present, set_default
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding
    from rules.core.context import RuleContext

MYSQL = Span("mysql")
# For each option: the name that both flavours have, then the additional name in MariaDB since 10.11.
SWITCH = ("slow_query_log", "log_slow_query")
THRESHOLD = ("long_query_time", "log_slow_query_time")
FILE = ("slow_query_log_file", "log_slow_query_file")
EXAMINED = ("min_examined_row_limit", "log_slow_min_examined_row_limit")
INDEXES = "log_queries_not_using_indexes"
THROTTLE = "log_throttle_queries_not_using_indexes"
SAMPLED = "log_slow_rate_limit"
OUTPUT = "log_output"
DISCARDED = {
    "log_error": "error",
    "slow_query_log_file": "slow",
    "log_slow_query_file": "slow",
    "general_log_file": "general",
}
NOWHERE = "/dev/null"
USUAL_THRESHOLD = 10  # seconds; the default of all versions
LOGINS_LOGGED = 2  # log_warnings; below, MariaDB does not log refused logins (OBS-06)


def _explicit_name(context: RuleContext, names: tuple[str, ...]) -> str | None:
    """The first of an option's names that is set; None if none is."""
    return next((name for name in names if context.is_set(name)), None)


def _slow_log_on(context: RuleContext) -> bool:
    return any(context.settings.on(name) for name in SWITCH)


def _is_slow_log_written(context: RuleContext) -> bool:
    """Whether the slow log is enabled and has an output."""
    return _slow_log_on(context) and "NONE" not in (context.text(OUTPUT) or "").split(",")


def _is_sampled(context: RuleContext) -> bool:
    """Whether only some of the qualifying statements are logged."""
    examined = any(context.number(name) for name in EXAMINED)
    return examined or (context.number(SAMPLED) or 1) > 1


def _logs_everything(context: RuleContext) -> bool:
    """Whether the settings of the slow log let it hold every statement, once it is on."""
    name = _explicit_name(context, THRESHOLD)
    return name is not None and context.settings.real(name) == 0 and not _is_sampled(context)


@rule(
    "OBS001",
    "performance-schema-off",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Performance Schema is off: no statistics on statements, waits, locks or memory.",
    targets=(MYSQL,),
    options=("performance_schema",),
    evidence=("OBS-01",),
    docs=Docs(
        why="With performance_schema off, its tables of statements, waits, locks and memory are empty, and so are the "
        "views of the sys schema that read them. Only a restart switches it on, so the data is missing when it is "
        "needed.",
        fix="Remove the line, and restart when it suits.",
        risk="It takes additional memory: see the evidence for measurements.",
        restart=True,
        exceptions="Small hosts on which the memory matters more than the statistics, such as test hosts.",
        reconsider_when="A run of this server's own workload that is faster without it by more than the noise.",
        disagree="Old advice switches it off for speed and memory; MySQL's default has been ON since 5.6.",
    ),
)
def performance_schema_off(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured performance_schema = OFF."""
    if context.settings.on("performance_schema") is False and context.is_set("performance_schema"):
        action = advise(context, "performance_schema", "ON", risk="it takes additional memory")
        yield performance_schema_off.finding(
            "The server keeps no statistics on statements, waits and locks, and only a restart changes that.",
            variable_subject(context, "performance_schema"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "OBS002",
    "every-statement-in-slow-log",
    summary="The slow log records every statement, however fast it was.",
    options=(*THRESHOLD, *SWITCH, *EXAMINED, SAMPLED, OUTPUT),
    evidence=("OBS-02",),
    docs=Docs(
        why="With long_query_time = 0 each statement is written with its text and four lines about it: 4,000 of SELECT "
        "1 made a file of 788,000 bytes. It grows without limit, contains all data in the statements, and the slow "
        "statements are lost among the others. MySQL leaves out ALTER TABLE and other administrative statements unless "
        "log_slow_admin_statements is on.",
        fix="Set long_query_time to the shortest time that is too long here; the default is 10 seconds. Sessions that "
        "are open keep the old value.",
        risk="Tools that read the log see fewer statements.",
        exceptions="Collecting for an hour, for a tool that reads the log, with enough disk space.",
        reconsider_when="A log that is rotated and read as a whole.",
    ),
)
def every_statement_in_slow_log(context: RuleContext) -> Iterator[Finding]:
    """Report long_query_time = 0 with an enabled slow log."""
    name = _explicit_name(context, THRESHOLD)
    if name is None or not _is_slow_log_written(context) or not _logs_everything(context):
        return
    action = advise(context, name, USUAL_THRESHOLD, risk="statements below are no longer logged", watch="Slow_queries")
    yield every_statement_in_slow_log.finding(
        "Nearly every statement is written to the slow log with its text; the log grows without limit.",
        variable_subject(context, name),
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "OBS003",
    "unused-slow-log-settings",
    severity=Severity.NOTE,
    summary="The slow query log is configured but not enabled.",
    options=(*THRESHOLD, *FILE, INDEXES, *SWITCH),
    evidence=("OBS-03", "OBS-13"),
    docs=Docs(
        why="Neither a threshold nor a file name switches the slow log on: it is off until slow_query_log is ON. A "
        "server with long_query_time = 0 and nothing else wrote nothing.",
        fix="Set slow_query_log to ON, or remove the other lines.",
        risk="The log takes disk space and needs rotation.",
        exceptions="long_query_time also determines which statements Slow_queries counts, on MySQL 9.7 and MariaDB "
        "even with the log off.",
        reconsider_when="A program that enables the log when needed; slow_query_log = OFF in the file makes that "
        "explicit.",
    ),
)
def unused_slow_log_settings(context: RuleContext) -> Iterator[Finding]:
    """Report settings of a slow log that is neither enabled nor disabled explicitly."""
    wanted = (*THRESHOLD, *FILE, INDEXES) if context.explicit_switch(INDEXES) else (*THRESHOLD, *FILE)
    name = _explicit_name(context, wanted)
    unknown = all(context.settings.on(switch) is None for switch in SWITCH)
    if name is None or unknown or _slow_log_on(context) or _explicit_name(context, SWITCH):
        return
    action, first = None, _before_slow_log(context)
    if not first:
        risk = "the log takes disk space and needs rotation"
        action = advise(context, SWITCH[0], "ON", risk=risk, watch="Slow_queries")
    limit = f", and {_index_limit(context)}" if _is_index_log_unlimited(context) else ""
    yield unused_slow_log_settings.finding(
        f"{name} is set, but no slow log is written while slow_query_log is OFF.",
        variable_subject(context, name),
        help=first or f"{help_line(action)}{limit}",
        actions=present(action),
    )


def _before_slow_log(context: RuleContext) -> str:
    """Help where a slow log that is switched on would hold every statement, or be discarded; empty otherwise."""
    if _logs_everything(context):
        return "remove the line, or write a threshold above 0 and slow_query_log = ON: with 0 all statements are logged"
    lines = [context.file_verdict.effective.get(name) for name in FILE]
    if any(line is not None and line.placed.line.value == NOWHERE for line in lines):
        return f"remove the line, or name a file that is kept and write slow_query_log = ON: {NOWHERE} discards the log"
    if "NONE" in (context.text(OUTPUT) or "").split(","):
        return f"remove the line, or {OUTPUT} = {context.text(OUTPUT)}, which discards the log, before you switch it on"
    return ""


@rule(
    "OBS004",
    "log-output-none",
    summary="A log is enabled, but nothing is kept: log_output is NONE, or its file is /dev/null or a directory.",
    options=(OUTPUT, *SWITCH, "general_log", *DISCARDED),
    evidence=("OBS-04", "OBS-12"),
    docs=Docs(
        why="NONE among the values of log_output overrides FILE and TABLE: with the slow log on, 4,000 statements that "
        "qualified left nothing in the file and nothing in mysql.slow_log. An error log in /dev/null leaves no trace "
        "of a crash, of corruption or of a failed start. A slow or general log whose file is a directory is not "
        "written, with an error in the error log.",
        fix="Set log_output to FILE and name a file that is kept, or switch the logs off. The general log, and a slow "
        "log with long_query_time = 0, then hold every statement: switch these off. The error log has no switch.",
        risk="The logs are written, and take disk space.",
        exceptions="An error log that goes to the system's log too (log_syslog of MySQL 5.7, log_error_services since "
        "8.0). To disable another log, use its own switch.",
        reconsider_when="An entry in one of the two logs.",
    ),
)
def log_output_none(context: RuleContext) -> Iterator[Finding]:
    """Report an enabled log whose output is log_output = NONE."""
    yield from _discarded_files(context)
    on = [
        name
        for name, there in (("slow", _slow_log_on(context)), ("general", context.settings.on("general_log")))
        if there
    ]
    if not on or _is_slow_log_written(context) or "NONE" not in (context.text(OUTPUT) or "").split(","):
        return
    actions = _instead_of_discarding(context, on)
    yield log_output_none.finding(
        f"The {' and the '.join(on)} log {'are' if len(on) > 1 else 'is'} on, but log_output = {context.text(OUTPUT)} "
        f"discards {'them' if len(on) > 1 else 'it'}.",
        variable_subject(context, OUTPUT),
        help=" and ".join(map(help_line, actions)),
        actions=actions,
    )


def _instead_of_discarding(context: RuleContext, on: list[str]) -> tuple[Action, ...]:
    """Switch off a log that would hold every statement if it were written, and write the others."""
    everything = {"general": "general_log", "slow": _explicit_name(context, SWITCH) or SWITCH[0]}
    if not _logs_everything(context):
        del everything["slow"]
    names = [everything[log] for log in on if log in everything]
    off = [advise(context, name, "OFF", risk="none: nothing is written now") for name in names]
    if len(names) == len(on):
        return present(*off)
    risk = "the log is written, and takes disk space"
    return present(*off, advise(context, OUTPUT, "FILE", risk=risk, watch="Slow_queries"))


def _discarded_files(context: RuleContext) -> Iterator[Finding]:
    """Logs whose file is /dev/null, if they are written."""
    files = "FILE" in (context.text(OUTPUT) or "FILE").split(",")
    written = {
        "error": not _logs_errors_to_system(context),
        "slow": files and _slow_log_on(context),
        "general": files and context.settings.on("general_log"),
    }
    for name, log in DISCARDED.items():
        line = context.file_verdict.effective.get(name)
        if line is not None and log != "error" and (line.value or "").endswith("/") and written[log]:
            yield log_output_none.finding(
                f"The {log} log has a directory in place of a file, so the server does not write it.",
                variable_subject(context, name),
                help="write the name of a file in it",
            )
        if line is not None and line.placed.line.value == NOWHERE and written[log]:
            yield log_output_none.finding(
                f"The {log} log is written to {NOWHERE}, which discards it.",
                variable_subject(context, name),
                help="name a file that is kept"
                if log == "error"
                else "name a file that is kept, or switch the log off",
            )


def _logs_errors_to_system(context: RuleContext) -> bool:
    """Whether the error log goes to the system's log too; its sink there ignores log_error."""
    services = (context.text("log_error_services") or "").lower()
    return bool(context.settings.on("log_syslog")) or "syseventlog" in services


@rule(
    "OBS005",
    "unlimited-index-log",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Every statement that scans a table, however small, goes into the slow log.",
    options=(INDEXES, *SWITCH, *THRESHOLD, *EXAMINED, THROTTLE, SAMPLED, OUTPUT),
    evidence=("OBS-05",),
    docs=Docs(
        why="log_queries_not_using_indexes logs each statement that reads a whole table, however fast; MariaDB also "
        "logs most that read a whole index. 300 reads of a table of a few rows made a log of 67,000 bytes. Small "
        "tables are read that way on purpose, so the log fills with statements that need no tuning.",
        fix="Limit it: log_throttle_queries_not_using_indexes on MySQL is a number per minute; min_examined_row_limit "
        "on both servers leaves out statements that examined few rows.",
        risk="min_examined_row_limit also leaves out slow statements that examined few rows and waited.",
        exceptions="A few hours, to look for missing indexes.",
        reconsider_when="A log of this server that stays small.",
    ),
)
def unlimited_index_log(context: RuleContext) -> Iterator[Finding]:
    """Report log_queries_not_using_indexes without a limit."""
    if _is_slow_log_written(context) and _is_index_log_unlimited(context):
        yield unlimited_index_log.finding(
            "Each statement that reads a whole table is logged, however small the table and fast the statement.",
            variable_subject(context, INDEXES),
            help=_index_limit(context),
        )


def _is_index_log_unlimited(context: RuleContext) -> bool:
    """Whether a slow log, once it is on, holds all statements without an index, and not every statement anyway."""
    name = _explicit_name(context, THRESHOLD)
    everything = name is not None and context.settings.real(name) == 0
    limited = everything or _is_sampled(context) or bool(context.number(THROTTLE))
    return bool(context.explicit_switch(INDEXES)) and not limited


def _index_limit(context: RuleContext) -> str:
    """What limits the statements without an index that are logged."""
    if context.target.is_mariadb:
        return "set min_examined_row_limit to the rows that are worth an index"
    return "set log_throttle_queries_not_using_indexes (statements a minute), or min_examined_row_limit"


@rule(
    "OBS006",
    "warnings-not-logged",
    severity=Severity.NOTE,
    summary="The error log leaves out warnings or, on MariaDB, refused logins.",
    options=("log_error_verbosity", "log_warnings"),
    evidence=("OBS-06",),
    docs=Docs(
        why="With log_error_verbosity = 1 MySQL logs only errors and, from 8.0 on, system messages: settings that it "
        "changed at start-up and deprecations are not logged. MariaDB logs a refused login as a warning with "
        "log_warnings = 2, its default, and not with 1 or 0.",
        fix="Remove the line.",
        risk="A longer log.",
        exceptions="Logs that are flooded with one warning: suppress only that warning if the version can "
        "(log_error_suppression_list).",
        reconsider_when="A log that warnings make unreadable.",
    ),
)
def warnings_not_logged(context: RuleContext) -> Iterator[Finding]:
    """Report an error log level that leaves out warnings."""
    for name, enough in (
        ("log_error_verbosity", 2),
        ("log_warnings", LOGINS_LOGGED if context.target.is_mariadb else 1),
    ):
        value = context.number(name)
        if value is None or value >= enough or not context.is_set(name):
            continue
        action = advise(context, name, 2, risk="a longer log", watch="Aborted_connects")
        advice, actions = set_default(context, name, "2", action)
        yield warnings_not_logged.finding(
            f"With {name} = {value} the error log leaves out "
            + (
                "refused logins."
                if context.target.is_mariadb
                else "warnings, such as settings that the server changed."
            ),
            variable_subject(context, name),
            help=advice,
            actions=actions,
        )
        return


@rule(
    "OBS007",
    "status-in-error-log",
    summary="InnoDB writes its whole status to the error log every 15 seconds.",
    options=("innodb_status_output",),
    evidence=("OBS-07", "OBS-08"),
    docs=Docs(
        why="innodb_status_output is meant for temporary monitoring. Every 15 seconds it writes a page to the error "
        "log, with the text of statements that run or wait, and errors are hard to find in between.",
        fix="Switch it off; SHOW ENGINE INNODB STATUS gives the same on demand.",
        risk="None.",
        exceptions="While you investigate an intermittent problem.",
        reconsider_when="A program that reads it.",
    ),
)
def status_in_error_log(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured innodb_status_output = ON."""
    if context.settings.on("innodb_status_output") and context.is_set("innodb_status_output"):
        action = advise(context, "innodb_status_output", "OFF", risk="none known")
        yield status_in_error_log.finding(
            "InnoDB's whole status goes into the error log every 15 seconds, statements included.",
            variable_subject(context, "innodb_status_output"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "OBS008",
    "sampled-slow-log",
    severity=Severity.NOTE,
    summary="The slow log is a sample: log_slow_rate_limit leaves out statements.",
    targets=(Span("mariadb"), Span("mysql", build="percona")),
    options=(SAMPLED, *SWITCH, OUTPUT),
    evidence=("OBS-09", "OBS-10"),
    docs=Docs(
        why="With log_slow_rate_limit = 10 the log has one statement in 10, or all statements of one session in 10 on "
        "Percona Server with log_slow_rate_type = session, its default. Counts and total times in the log are too "
        "small by that factor, and a statement that is rarely slow may be missing. MariaDB's log does not say that it "
        "is a sample; Percona Server writes the rate next to each statement. Percona Server always logs statements "
        "above slow_query_log_always_write_time, 10 seconds by default, and MariaDB 11.7 and later those above "
        "log_slow_always_query_time, a year by default.",
        fix="Set it to 1 for a complete log, and raise long_query_time if the log grows too fast.",
        risk="The log grows faster, and writing it takes time.",
        exceptions="Servers with so many statements that a complete log costs too much.",
        reconsider_when="A log that is read only for examples of slow statements.",
    ),
)
def sampled_slow_log(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured log_slow_rate_limit above 1 with an enabled slow log."""
    rate = context.number(SAMPLED)
    if rate is None or rate <= 1 or not context.is_set(SAMPLED) or not _is_slow_log_written(context):
        return
    of_sessions = (context.text("log_slow_rate_type") or "query").lower() == "session"
    sample = f"all statements of one session in {rate:,}" if of_sessions else f"one slow statement in {rate:,}"
    action = advise(context, SAMPLED, 1, risk="the log grows faster", watch="Slow_queries")
    name = _explicit_name(context, THRESHOLD)
    # With a threshold of 0 a complete log holds every statement.
    raised = f"for a complete log raise {name} first" if name and context.settings.real(name) == 0 else ""
    yield sampled_slow_log.finding(
        f"The slow log has {sample}: its counts and total times are too small by that factor.",
        variable_subject(context, SAMPLED),
        confidence=Confidence.CERTAIN if context.target.is_mariadb else Confidence.LIKELY,
        help=raised or help_line(action),
        actions=() if raised else present(action),
    )


@rule(
    "OBS009",
    "logs-in-tables",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The slow log or the general log is written to a table, which nothing rotates.",
    options=(OUTPUT, *SWITCH, "general_log"),
    evidence=("OBS-11",),
    docs=Docs(
        why="mysql.slow_log and mysql.general_log are CSV tables without an index: each query of them reads all rows. "
        "FLUSH LOGS and logrotate leave them alone, so they grow until they are truncated. Programs such as "
        "pt-query-digest read files.",
        fix="Set log_output to FILE, and rotate the files.",
        risk="Programs that query the tables must read the files instead.",
        exceptions="Managed services, for which there is no finding: they have procedures of their own, such as "
        "mysql.rds_rotate_slow_log of Amazon RDS. A log that is on for minutes.",
        reconsider_when="A table that is emptied regularly.",
    ),
)
def logs_in_tables(context: RuleContext) -> Iterator[Finding]:
    """Report an enabled log whose output is a table and no file."""
    outputs = {part.strip() for part in (context.text(OUTPUT) or "").split(",")}
    written = _slow_log_on(context) or context.settings.on("general_log")
    if outputs != {"TABLE"} or not context.is_set(OUTPUT) or not written or context.is_managed:
        return
    action = advise(context, OUTPUT, "FILE", risk="the log goes to a file, which must be rotated", watch="Slow_queries")
    yield logs_in_tables.finding(
        "The log goes to a table without an index, which grows until it is truncated.",
        variable_subject(context, OUTPUT),
        help=help_line(action),
        actions=present(action),
    )
