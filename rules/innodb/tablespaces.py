"""INN: rules about tablespaces, undo logs, table statistics and the change buffer."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_size
from rules.core import MOST, Docs, Span, rule
from rules.core.advice import advise, help_line, present, set_default
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

LEAST_UNDO = 2  # undo tablespaces; one is truncated while the other is active
NO_BUFFERING = frozenset({"NONE", "0"})
TEMPORARY = "innodb_temp_data_file_path"


@rule(
    "INN023",
    "lax-table-options",
    severity=Severity.NOTE,
    summary="A table option that InnoDB cannot apply is ignored with a warning instead of an error.",
    options=("innodb_strict_mode",),
    quiet={"innodb_strict_mode": ("TRUE",)},
    evidence=("INNA-05", "INNV-01"),
    docs=Docs(
        why="Without innodb_strict_mode CREATE TABLE and ALTER TABLE succeed even if an option is impossible, and "
        "create a different table: the servers that we tested accepted KEY_BLOCK_SIZE=3 with a warning and created an "
        "uncompressed table. They also accepted a table whose rows can become too large. Schema tools rarely look at "
        "warnings. The mode is on by default in every version.",
        fix="Remove the line, or set innodb_strict_mode to ON.",
        risk="Scripts with impossible options stop with an error where they used to continue.",
        exceptions="Loading the dump of an old server whose options cannot be corrected.",
        reconsider_when="Dumps and migrations that run without a warning.",
    ),
)
def lax_table_options(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_strict_mode = OFF."""
    name = "innodb_strict_mode"
    if context.explicit_switch(name) is False:
        action = advise(context, name, "ON", risk="scripts with impossible table options stop with an error")
        yield lax_table_options.finding(
            "InnoDB ignores table options that it cannot apply, with only a warning, and creates a different table.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN024",
    "tables-in-the-system-tablespace",
    confidence=Confidence.LIKELY,
    summary="New tables go into the system tablespace, which gives no space back when they are dropped.",
    targets=(Span("mysql"), Span("mariadb", before=(11, 0))),
    options=("innodb_file_per_table",),
    quiet={"innodb_file_per_table": ("TRUE",)},
    evidence=("INNA-06", "INNA-47", "INNV-01"),
    docs=Docs(
        why="With innodb_file_per_table off, rows of all new tables share the system tablespace. Its file grows and "
        "never shrinks: a table that made it grow from 12M to 76M left it at 76M when it was dropped. MariaDB "
        "deprecated the switch in 11.0, where deprecated-option reports it, because off has no benefit.",
        fix="Remove the line. On MySQL 5.7 and MariaDB, existing tables move into files of their own when they are "
        "rebuilt; on MySQL 8.0 and later, with ALTER TABLE ... TABLESPACE = innodb_file_per_table.",
        risk="A file for each table, and so more open files. The space that the system tablespace has taken stays "
        "taken until the data is reloaded.",
        exceptions="Hundreds of thousands of tiny tables on file systems that dislike so many files.",
        reconsider_when="Nothing.",
    ),
)
def tables_in_the_system_tablespace(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_file_per_table = OFF."""
    name = "innodb_file_per_table"
    if context.explicit_switch(name) is False:
        action = advise(context, name, "ON", risk="a file for each new table", watch="Innodb_num_open_files")
        yield tables_in_the_system_tablespace.finding(
            "New tables go into the system tablespace, whose file keeps its size when they are dropped.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN025",
    "system-tablespace-with-an-end",
    confidence=Confidence.LIKELY,
    summary="The system tablespace, or the one of temporary tables, can't grow, and statements fail when it is full.",
    options=("innodb_data_file_path", TEMPORARY),
    evidence=("INNA-07", "INNA-39"),
    docs=Docs(
        why="The last file of the system tablespace grows only with autoextend, and with max up to that size. A server "
        "with a file of 24M, and another with a maximum of 30M, refused rows with error 1114 (the table is full) "
        "although the disk was nearly empty. MySQL 5.7 and MariaDB before 11.0 also keep undo logs there by default. "
        "Temporary tables of MariaDB and MySQL 5.7 share the file of innodb_temp_data_file_path, which should have a "
        "maximum rather than a fixed size of a few megabytes.",
        fix="End the last file with autoextend, without max; do not change the earlier files.",
        risk="The tablespace may fill the disk; watch the disk instead.",
        restart=True,
        exceptions="Raw partitions, and servers whose undo logs and tables are elsewhere.",
        reconsider_when="Monitoring that raises an alarm in time.",
        disagree="Percona's advisor warns only when the tablespace is nearly full.",
    ),
)
def system_tablespace_with_an_end(context: RuleContext) -> Iterator[Finding]:
    """Report a system tablespace whose last file has a fixed or maximum size, and a small file of temporary tables."""
    yield from _small_temporary_file(context)
    name = "innodb_data_file_path"
    last = (context.text(name) or "").rpartition(";")[2].strip(" \"'")
    if not context.is_set(name) or not last or (":AUTOEXTEND" in last and ":MAX:" not in last):
        return
    end = last.rpartition(":")[2]
    if not end[:1].isdigit():
        return  # not a size; the server refuses the value
    end = format_size(int(end)) if end.isdigit() else end
    yield system_tablespace_with_an_end.finding(
        f"The last file of the system tablespace ends at {end}; when it is full, statements fail with error 1114.",
        variable_subject(context, name),
        help="end the last file with autoextend, without max",
    )


def _small_temporary_file(context: RuleContext) -> Iterator[Finding]:
    """A file of InnoDB's temporary tables of a fixed size of less than a gigabyte."""
    end = (context.text(TEMPORARY) or "").rpartition(":")[2].strip(" \"'")
    small = end[:-1].isdigit() and end[-1:] in ("K", "M")
    if context.is_set(TEMPORARY) and small and not context.target.since("mysql", 8):
        yield system_tablespace_with_an_end.finding(
            f"The file of InnoDB's temporary tables stays at {end}; when it is full, statements fail with error 1114.",
            variable_subject(context, TEMPORARY),
            help="end the value with autoextend:max:SIZE, where SIZE is what the disk can spare",
        )


@rule(
    "INN026",
    "statistics-on-metadata-queries",
    confidence=Confidence.LIKELY,
    summary="Metadata queries make InnoDB recalculate table statistics.",
    targets=(Span("mysql", before=(8, 0)), Span("mariadb")),
    options=("innodb_stats_on_metadata", "innodb_stats_persistent"),
    quiet={"innodb_stats_on_metadata": ("FALSE",), "innodb_stats_persistent": ("TRUE", "FALSE")},
    evidence=("INNV-06", "INNV-01", "INNA-45"),
    docs=Docs(
        why="SHOW TABLE STATUS, SHOW INDEX and queries of TABLES and STATISTICS in information_schema then read sample "
        "pages of each table that they list, which takes long with many tables, and plans may change because of a "
        "metadata query. Only tables without persistent statistics are affected, so with persistent statistics on, the "
        "default, the finding is a note. On MySQL 8.0 and 9.7 these statements recalculated nothing, and the rule does "
        "not apply to them.",
        fix="Remove the line, or set innodb_stats_on_metadata to OFF.",
        risk="None known: estimates are still renewed by ANALYZE TABLE and when tables change.",
        exceptions="None.",
        reconsider_when="Nothing.",
    ),
)
def statistics_on_metadata_queries(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_stats_on_metadata = ON."""
    name = "innodb_stats_on_metadata"
    if not context.explicit_switch(name):
        return
    every = context.settings.on("innodb_stats_persistent") is False
    action = advise(context, name, "OFF", watch="Innodb_buffer_pool_reads")
    yield statistics_on_metadata_queries.finding(
        "Queries of information_schema and SHOW TABLE STATUS read sample pages of "
        + ("every table they list." if every else "the tables whose statistics are not persistent."),
        variable_subject(context, name),
        severity=Severity.WARNING if every else Severity.NOTE,
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "INN027",
    "forgotten-statistics",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Optimizer statistics are lost at each restart and recalculated, so plans may change.",
    options=("innodb_stats_persistent",),
    quiet={"innodb_stats_persistent": ("TRUE",)},
    evidence=("INNV-06", "INNV-01"),
    docs=Docs(
        why="Without innodb_stats_persistent, statistics are kept in memory, discarded at shutdown, and estimated "
        "again from a few sample pages when a table is first opened. Another sample can give another plan for the same "
        "query.",
        fix="Remove the line, or set innodb_stats_persistent to ON.",
        risk="Small writes to two tables of the mysql schema.",
        exceptions="Servers that constantly create and drop tables, never the same ones.",
        reconsider_when="Plans that stay the same over many restarts.",
    ),
)
def forgotten_statistics(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_stats_persistent = OFF."""
    name = "innodb_stats_persistent"
    if context.explicit_switch(name) is False:
        action = advise(context, name, "ON", risk="small writes to mysql.innodb_table_stats and innodb_index_stats")
        yield forgotten_statistics.finding(
            "The optimizer's statistics are lost at each restart and recalculated, which may change plans.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


RECALCULATES, SAMPLE = "innodb_stats_auto_recalc", "innodb_stats_persistent_sample_pages"
FEW_PAGES = 5


@rule(
    "INN052",
    "poor-statistics",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The optimizer's statistics are not kept up to date, or come from very few pages.",
    options=(RECALCULATES, SAMPLE),
    quiet={RECALCULATES: ("TRUE",), SAMPLE: (FEW_PAGES, MOST)},
    evidence=("INNA-38",),
    docs=Docs(
        why="With innodb_stats_auto_recalc = OFF only ANALYZE TABLE, and statements that rebuild a table or add an "
        "index, renew persistent statistics: a table that grew a hundredfold is planned as if it were small. The "
        "server samples 20 pages of each index by default; fewer than 5 (our choice) estimate badly how many different "
        "values an index has.",
        fix="Remove the line.",
        risk="Plans may change when statistics are renewed, which happens after a tenth of a table's rows have "
        "changed.",
        exceptions="Servers whose tables are analyzed by a job, so that plans change only then.",
        reconsider_when="A job that runs ANALYZE TABLE after each large change.",
    ),
)
def poor_statistics(context: RuleContext) -> Iterator[Finding]:
    """Report persistent statistics that are not recalculated, or are taken from fewer than five pages."""
    if context.settings.on("innodb_stats_persistent") is False:
        return
    if context.explicit_switch(RECALCULATES) is False:
        action = advise(context, RECALCULATES, "ON", risk="plans may change when statistics are renewed")
        yield poor_statistics.finding(
            "Statistics are renewed only by ANALYZE TABLE or a rebuild, so plans do not follow the growth of tables.",
            variable_subject(context, RECALCULATES),
            help=help_line(action),
            actions=present(action),
        )
    pages = context.number(SAMPLE)
    if pages is not None and pages < FEW_PAGES and context.is_set(SAMPLE):
        action = advise(context, SAMPLE, 20, risk="ANALYZE TABLE reads more pages")
        yield poor_statistics.finding(
            f"Statistics come from {pages} page{'' if pages == 1 else 's'} of each index, which is too few for a good "
            "estimate.",
            variable_subject(context, SAMPLE),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN028",
    "undo-truncation-without-tablespaces",
    summary="Truncation of undo logs is on, but there are fewer than two undo tablespaces, so it has no effect.",
    targets=(Span("mysql", before=(8, 0)), Span("mariadb")),
    options=("innodb_undo_log_truncate", "innodb_undo_tablespaces"),
    quiet={"innodb_undo_tablespaces": (0, MOST)},
    evidence=("INNV-07", "UNDO-01", "INNA-08", "INNA-46"),
    docs=Docs(
        why="Only undo tablespaces can be truncated, and it takes two of them, because one must serve while the other "
        "is emptied. With innodb_undo_tablespaces = 0 the undo logs are in the system tablespace, which is not "
        "truncated; MariaDB treats 1 as 0.",
        fix="Give the server two or more undo tablespaces: on MySQL 5.7 and MariaDB before 10.11 only when the data "
        "directory is created, on MariaDB 10.11 and later at the start after a shutdown with innodb_fast_shutdown = 0. "
        "Or remove the line.",
        risk="MySQL 5.7 does not start with more than the data directory was created with: more of them take a dump "
        "and a load. MariaDB keeps the old number, with a warning, while undo logs are left.",
        restart=True,
        exceptions="A file that other servers with undo tablespaces read too.",
        reconsider_when="Files named undo001 and so on in the data directory.",
    ),
)
def undo_truncation_without_tablespaces(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_undo_log_truncate = ON without undo tablespaces that it could truncate."""
    name, spaces = "innodb_undo_log_truncate", context.number("innodb_undo_tablespaces")
    if context.explicit_switch(name) and spaces is not None and spaces < LEAST_UNDO:
        single = spaces == 1 and context.target.is_mysql
        where = "there is one undo tablespace, and it takes two" if single else "they are in the system tablespace"
        later = " at the start after a shutdown with innodb_fast_shutdown = 0"
        when = later if context.target.since("mariadb", 10, 11) else " for a new data directory"
        yield undo_truncation_without_tablespaces.finding(
            f"No undo logs are truncated: with innodb_undo_tablespaces = {spaces} {where}.",
            variable_subject(context, name),
            help=f"set innodb_undo_tablespaces to 2 or more{when}, or remove the line",
        )


@rule(
    "INN029",
    "growing-undo-files",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Undo tablespaces that a long transaction made large are never truncated.",
    targets=(Span("mysql", since=(8, 0)),),
    options=("innodb_undo_log_truncate",),
    evidence=("INNV-07",),
    docs=Docs(
        why="Old versions of rows are kept while a transaction may need them, and a transaction left open for a day "
        "makes the undo files grow. With truncation, the default of MySQL 8.0 and later, files above "
        "innodb_max_undo_log_size are truncated in turn when no transaction needs them; without it they keep their "
        "size.",
        fix="Remove the line, or set innodb_undo_log_truncate to ON.",
        risk="Truncating a file can slow the server down for a moment under heavy writes.",
        exceptions="Servers that truncate by hand, with ALTER UNDO TABLESPACE ... SET INACTIVE.",
        reconsider_when="Undo files whose size is stable over months.",
        disagree="MariaDB leaves truncation off by default and warns of stalls.",
    ),
)
def growing_undo_files(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_undo_log_truncate = OFF."""
    name = "innodb_undo_log_truncate"
    if context.explicit_switch(name) is False:
        action = advise(
            context, name, "ON", risk="a short slowdown under heavy writes", watch="Innodb_undo_tablespaces_active"
        )
        yield growing_undo_files.finding(
            "Undo files that a long transaction made large keep their size.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN033",
    "corrupting-change-buffer",
    confidence=Confidence.LIKELY,
    summary="The change buffer is switched on, which MariaDB switched off because it corrupted indexes.",
    targets=(Span("mariadb", before=(11, 0)),),
    options=("innodb_change_buffering",),
    quiet={"innodb_change_buffering": ("NONE",)},
    evidence=("CHB-02", "CHB-01", "CHB-03"),
    docs=Docs(
        why="MariaDB set the default to none in 10.5.15 and 10.6.7 after bugs that corrupted secondary indexes, and "
        "removed the change buffer in 11.0. MariaDB's developers call it useful on spinning disks at most.",
        fix="Remove the line, or set innodb_change_buffering to none.",
        risk="Inserts into large tables with many secondary indexes read index pages from disk: in a published "
        "test on MySQL 8.0 they were more than three times slower.",
        exceptions="Spinning disks with far more index than memory, and backups that are tested.",
        reconsider_when="A release of MariaDB that switches it on again.",
        disagree="MySQL 8.0 and 9.7 have it on by default, 8.4 off; MySQL's manual calls off the more stable setting.",
    ),
)
def corrupting_change_buffer(context: RuleContext) -> Iterator[Finding]:
    """Report an enabled change buffer on MariaDB, which disabled it by default."""
    name = "innodb_change_buffering"
    if context.is_set(name) and (context.text(name) or "NONE") not in NO_BUFFERING:
        action = advise(
            context, name, "none", risk="inserts may read index pages from disk", watch="Innodb_buffer_pool_reads"
        )
        advice, actions = set_default(context, name, "none", action)
        yield corrupting_change_buffer.finding(
            "MariaDB switched the change buffer off because it corrupted secondary indexes; this value switches it on "
            "again.",
            variable_subject(context, name),
            help=advice,
            actions=actions,
        )
