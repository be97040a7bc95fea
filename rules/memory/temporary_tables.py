"""TMP: rules about temporary tables and the space for them."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_size
from rules.core import MOST, Docs, Span, rule
from rules.core.advice import advise, help_line, present, set_default
from rules.core.subject import variable_subject
from rules.memory import ENGINE, IN_MEMORY, USERS, memory_table_limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding
    from rules.core.context import RuleContext

GIB = 1 << 30
MARIADB = Span("mariadb")
LIMITS = ("temptable_max_ram", "temptable_max_mmap")
ON_DISK = "tmp_disk_table_size"
FILE = "innodb_temp_data_file_path"
STARVED = 1 << 20
ORDINARY = 16 << 20  # the default of each in-memory limit, in all versions
UNLIMITED = (1 << 64) - 1  # the default of the limit on disk
# Directories that are usually memory-backed, and the options that put files there; values are compared in upper case.
MEMORY_BACKED = ("/DEV/SHM", "/RUN", "/VAR/RUN")
STORE = LIMITS[0]
STORE_PERCENT, USUAL_STORE_PERCENT = 10, 3  # of memory: reported above; the default since MySQL 8.4, between 1G and 4G
LARGEST_STORE, STEP = 4 * GIB, 1 << 26
LIMIT_REACHED = 1.0  # times a second
ON_DISK_A_SECOND = 10.0
ON_DISK_PERCENT = 25
DIRECTORIES = ("tmpdir", "innodb_tmpdir", "slave_load_tmpdir", "replica_load_tmpdir")


@rule(
    "TMP001",
    "padded-temporary-tables",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Internal temporary tables are MEMORY tables, which store each VARCHAR at its declared length.",
    targets=(Span("mysql", since=(8, 0)),),
    options=(ENGINE,),
    evidence=("TMP-03", "TMP-04", "TEMP-03"),
    docs=Docs(
        why="A MEMORY table gives each VARCHAR the length that it was declared with, so a few thousand rows fill "
        "tmp_table_size and go to disk, and tables with BLOB or TEXT columns are on disk from the start. TempTable, "
        "the default since 8.0, stores VARCHAR columns at their actual length, and since 8.0.13 BLOB and TEXT too.",
        fix="Remove the line: the default is TempTable.",
        risk="TempTable uses one pool of memory, which temptable_max_ram limits for all sessions together.",
        exceptions="Versions around 8.0.19, in which TempTable was very slow once it overflowed into mapped files; "
        "statements with fixed-length columns only, for which MEMORY can be somewhat faster.",
        reconsider_when="Your own statements, measured with both engines: the variable can be set for one session.",
        disagree="Some advisors went back to MEMORY after a report of 2020 in which an overflowing TempTable of 8.0.19 "
        "took four minutes where InnoDB took a quarter of a second; that bug has been fixed since.",
    ),
)
def padded_temporary_tables(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured internal_tmp_mem_storage_engine = MEMORY."""
    if context.text(ENGINE) != "MEMORY" or not context.is_set(ENGINE):
        return
    action = advise(
        context, ENGINE, "TempTable", risk="memory up to temptable_max_ram", watch="Created_tmp_disk_tables"
    )
    yield padded_temporary_tables.finding(
        "Temporary tables in memory store each VARCHAR at its declared length, and those with BLOB or TEXT go to disk.",
        variable_subject(context, ENGINE),
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "TMP009",
    "temptable-limits-unused",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Limits of TempTable are set, but internal temporary tables are MEMORY tables.",
    targets=(Span("mysql", since=(8, 0)),),
    options=LIMITS,
    evidence=("ASK-TMP-01", "TMP-04"),
    docs=Docs(
        why="temptable_max_ram and temptable_max_mmap limit the TempTable engine. With internal_tmp_mem_storage_engine "
        "= MEMORY they apply only to sessions that select TempTable themselves; for the others, tmp_table_size and "
        "max_heap_table_size limit each table.",
        fix="Remove internal_tmp_mem_storage_engine, or these lines.",
        risk="With TempTable the limits count for all sessions together: look at their size first.",
        exceptions="Programs that select TempTable in their sessions.",
        reconsider_when="TempTable memory in the Performance Schema that rises.",
    ),
)
def temptable_limits_unused(context: RuleContext) -> Iterator[Finding]:
    """Report TempTable limits if internal temporary tables use MEMORY."""
    named = [name for name in LIMITS if context.is_set(name)]
    if named and context.text(ENGINE) == "MEMORY":
        yield temptable_limits_unused.finding(
            f"{' and '.join(named)} limit{'s' if len(named) == 1 else ''} only TempTable, but {ENGINE} is MEMORY.",
            variable_subject(context, named[0]),
            help=f"remove {ENGINE} or the limits",
        )


@rule(
    "TMP002",
    "temporary-tables-forced-to-disk",
    confidence=Confidence.MEASURED,
    summary="Every internal temporary table is created on disk, however small it is.",
    options=("big_tables",),
    quiet={"big_tables": ("FALSE",)},
    evidence=("TMP-05",),
    docs=Docs(
        why="The option is from a time when a statement failed if its table outgrew memory. All supported versions "
        "move such a table to disk by themselves. With big_tables all servers that we tested created every internal "
        "temporary table on disk, and a GROUP BY of 20,000 rows took 1.6 to 28 times as long.",
        fix="Remove the line: the default is OFF.",
        risk="Temporary tables take memory again, up to the limits for them.",
        exceptions="None known: a session that must go to disk can set it for itself.",
        reconsider_when="Created_tmp_disk_tables that rises no slower with OFF.",
    ),
)
def temporary_tables_forced_to_disk(context: RuleContext) -> Iterator[Finding]:
    """Report big_tables = ON for all sessions."""
    if not context.settings.on("big_tables") or not context.is_set("big_tables"):
        return
    action = advise(
        context, "big_tables", "OFF", risk="sessions that are open keep their value", watch="Created_tmp_disk_tables"
    )
    advice, actions = set_default(context, "big_tables", "OFF", action)
    yield temporary_tables_forced_to_disk.finding(
        "Every internal temporary table is written to disk, even one of a few rows.",
        variable_subject(context, "big_tables"),
        help=advice,
        actions=actions,
    )


@rule(
    "TMP003",
    "starved-temporary-tables",
    confidence=Confidence.MEASURED,
    summary="Internal temporary tables may take so little memory that ordinary statements go to disk.",
    options=(*IN_MEMORY, USERS),
    quiet=dict.fromkeys((*IN_MEMORY, USERS), (STARVED, MOST)),
    evidence=("TMP-05", "TMP-02"),
    docs=Docs(
        why="All versions allow 16M for each table by default. At 64K a GROUP BY that needs about 2M went to disk, and "
        "took 1.8 to 14 times as long. The threshold of 1M is ours: below it the result of a few thousand rows is on "
        "disk.",
        fix="Remove the line, or allow the default of 16M.",
        risk="Each session may have several such tables at once, each up to the limit.",
        exceptions="Machines with very little memory and many sessions.",
        reconsider_when="Created_tmp_disk_tables that doesn't rise through the busiest hour with the low limit.",
    ),
)
def starved_temporary_tables(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured limit for in-memory temporary tables far below the default."""
    names = memory_table_limits(context)
    least = min((size for size in map(context.number, names) if size is not None), default=0)  # the limit that counts
    for name in names:
        value = context.number(name)
        if value is not None and value < STARVED and context.is_set(name):
            action = default_limit(context, name)
            when = f"as soon as they hold {format_size(least)}" if least else "at once"
            yield starved_temporary_tables.finding(
                f"Internal temporary tables go to disk {when}.",
                variable_subject(context, name),
                help=help_line(action),
                actions=present(action),
            )


def default_limit(context: RuleContext, name: str) -> Action | None:
    """The action that restores the default of an in-memory temporary table limit."""
    return advise(
        context,
        name,
        ORDINARY,
        size=True,
        risk="memory for each temporary table, of which a session may have several",
        watch="Created_tmp_disk_tables",
    )


@rule(
    "TMP004",
    "temporary-tables-too-large-for-disk",
    summary="A temporary table may be no larger on disk than in memory, so a statement whose table outgrows memory "
    "fails.",
    targets=(MARIADB,),
    options=(ON_DISK, *IN_MEMORY, USERS),
    quiet=dict.fromkeys((*IN_MEMORY, USERS), (0, MOST)),
    evidence=("TMP-06",),
    docs=Docs(
        why="MariaDB moves a temporary table to disk when it outgrows memory. Where tmp_disk_table_size is no larger "
        "than the limit in memory, the table does not fit on disk either, and the statement fails with error 1114 (the "
        "table is full). The servers that we tested did so.",
        fix="Remove the line, or allow several times the limit in memory.",
        risk="A statement may fill the disk under tmpdir; from 11.5 on max_tmp_total_space_usage limits the total.",
        exceptions="Servers on which large statements are meant to fail.",
        reconsider_when="A statement that succeeds although its temporary table outgrows memory.",
    ),
)
def temporary_tables_too_large_for_disk(context: RuleContext) -> Iterator[Finding]:
    """Report a limit for temporary tables on disk that is not above the limit in memory."""
    disk = context.number(ON_DISK)
    sizes = [size for name in memory_table_limits(context) if (size := context.number(name)) is not None]
    if disk is None or not sizes or disk > min(sizes) or not context.is_set(ON_DISK):
        return
    action = advise(
        context,
        ON_DISK,
        UNLIMITED,
        risk="a statement may fill the disk under tmpdir",
        watch="Created_tmp_disk_tables",
    )
    yield temporary_tables_too_large_for_disk.finding(
        f"A temporary table of more than {format_size(min(sizes))} does not fit in memory, and on disk it may be only "
        f"{format_size(disk)}: the statement fails.",
        variable_subject(context, ON_DISK),
        help="remove the line, or allow several times the limit in memory",
        actions=present(action),
    )


@rule(
    "TMP005",
    "memory-backed-temporary-files",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Temporary files are in a file system that is kept in memory.",
    options=DIRECTORIES,
    evidence=("TMP-07",),
    docs=Docs(
        why="Sorts, temporary tables, index creation and large transactions write files there. MariaDB 11.5 and later "
        "can limit their sum (max_tmp_total_space_usage, 1T by default); no setting of other servers does, so they "
        "take the memory outside all limits. When the file system is full, statements fail, and it is far smaller "
        "than a disk. According to MySQL's manual, a replica should keep the files of LOAD DATA on a disk, where they "
        "survive a restart of the machine.",
        fix="Use a directory on a disk with room for the largest sort or index creation. innodb_tmpdir can be set at "
        "run time, the others need a restart.",
        risk="Temporary files are written to the disk: watch its load.",
        restart=True,
        exceptions="Hosts with memory to spare for the whole file system, if its size is part of the memory budget.",
        reconsider_when="A file system that is never more than half full, on a host that never swaps.",
        disagree="Many guides put tmpdir into memory for speed. Linux keeps short-lived files on disk in its page "
        "cache anyway, as long as there is room.",
    ),
)
def memory_backed_temporary_files(context: RuleContext) -> Iterator[Finding]:
    """Report a directory for temporary files under a directory that is usually memory-backed."""
    for name in DIRECTORIES:
        places = (context.text(name) or "").split(":") if context.is_set(name) else []
        if any(f"{place}/".startswith(f"{root}/") for place in places for root in MEMORY_BACKED):
            yield memory_backed_temporary_files.finding(
                "Temporary files take memory in addition to the server's own, and statements fail when the file system "
                "is full.",
                variable_subject(context, name),
                help="use a directory on a disk with room for the largest sort or index creation",
            )


@rule(
    "TMP006",
    "endless-temporary-tablespace",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The file of InnoDB's temporary tables grows without a limit, and does not shrink by itself until a "
    "restart.",
    targets=(Span("mysql", before=(8, 0)), MARIADB),
    options=(FILE,),
    evidence=("TMP-08",),
    docs=Docs(
        why="All temporary InnoDB tables share the file, which is recreated at each start. One statement can make it "
        "grow until the disk is full. MariaDB 11.3 and later shrink it while the server runs, when no large temporary "
        "table is in use: SET GLOBAL innodb_truncate_temporary_tablespace_now = 1. Add a limit (max) to the same "
        "line.",
        fix="End the line with autoextend:max:SIZE, where SIZE is what the disk can spare.",
        risk="A statement that would go beyond the limit fails; the server and its other statements continue.",
        restart=True,
        exceptions="A file system of its own for the file.",
        reconsider_when="A file whose size has not changed for months.",
        disagree="The default grows without limit too, but is not reported because it is not explicitly configured.",
    ),
)
def endless_temporary_tablespace(context: RuleContext) -> Iterator[Finding]:
    """Report an explicit temporary tablespace file without a maximum size."""
    text = context.text(FILE)
    last = (text or "").rpartition(";")[2].split(":")
    if context.is_set(FILE) and "AUTOEXTEND" in last and "MAX" not in last:
        yield endless_temporary_tablespace.finding(
            "InnoDB's temporary tables may fill the disk: their file grows without a limit.",
            variable_subject(context, FILE),
            help="end the value with autoextend:max:SIZE, where SIZE is what the disk can spare",
        )


@rule(
    "TMP007",
    "temporary-tables-on-disk",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="Many statements create internal temporary tables on disk.",
    needs=("server",),
    options=("tmp_table_size", "tmp_memory_table_size", "max_heap_table_size"),
    evidence=("TMP-05", "TMP-04"),
    probe="session-buffers",
    docs=Docs(
        why="In our measurements a temporary table on disk was 1.8 to 14 times as slow as one in memory. What counts "
        "as on disk depends on the version: MySQL 5.7 and MariaDB count each table that left memory, MySQL 8.0 and "
        "later only those of InnoDB, not the mapped files of TempTable. The thresholds, ten a second and a quarter of "
        "all, are ours.",
        fix="Find the statements: in performance_schema.events_statements_summary_by_digest, or in the slow log of "
        "MariaDB and Percona Server. Fetch fewer columns and rows, leave BLOB and TEXT out of GROUP BY and DISTINCT, "
        "or add an index that yields the order.",
        risk="None from looking. A higher limit takes memory for each temporary table.",
        exceptions="Nightly reports. Tables with BLOB or TEXT columns, which only TempTable keeps in memory, since "
        "MySQL 8.0.13.",
        reconsider_when="Statements that are no faster when a session raises its own limit.",
        disagree="Most advisors recommend raising tmp_table_size and max_heap_table_size together until the share "
        "falls. No size achieves that for BLOB columns, and MySQL 8.0 applies these limits only in part.",
    ),
)
def temporary_tables_on_disk(context: RuleContext) -> Iterator[Finding]:
    """Report temporary tables on disk by rate and percentage, in the busiest hour or in the window."""
    from rules.core.counters import TEMPORARY, busy_rate, counter_periods  # lazily: lint has no counters

    for window, when, _ in counter_periods(context, TEMPORARY):
        rate = busy_rate(window, "created_tmp_disk_tables", ON_DISK_A_SECOND)
        disk, total = (window.delta(name) or 0 for name in ("created_tmp_disk_tables", "created_tmp_tables"))
        if rate is None or disk * 100 < total * ON_DISK_PERCENT:
            continue
        actions = present(
            *(
                default_limit(context, name)
                for name in memory_table_limits(context)
                if _lowered_by_system(context, name)
            )
        )
        rest = "find the statements that need them; raise the limit for all sessions only as a last resort"
        yield temporary_tables_on_disk.finding(
            f"{rate:,.0f} temporary tables a second are created on disk {when}, {disk:,} of {max(total, disk):,}.",
            help=help_line(actions[0]) if actions else rest,
            actions=actions,
        )
        return


def _lowered_by_system(context: RuleContext, name: str) -> bool:
    value = context.number(name)
    return value is not None and value < ORDINARY and context.is_set(name)


@rule(
    "TMP008",
    "exhausted-temporary-memory",
    confidence=Confidence.CERTAIN,
    summary="The memory that all TempTable tables share is used up, so new tables go to disk.",
    needs=("server",),
    targets=(Span("mysql", since=(8, 4)),),
    options=(STORE,),
    evidence=("TMP-05", "TMP-01"),
    docs=Docs(
        why="temptable_max_ram limits the temporary tables of all sessions together. Beyond it even a small table can "
        "go to disk, whichever session created the large ones. The server counts this in TempTable_count_hit_max_ram; "
        "servers without that counter have no finding.",
        fix="Find the statement with the large tables, and lower tmp_table_size so that one table cannot take all the "
        "memory. Allow more memory only after that.",
        risk="More memory for the server: up to the new limit.",
        exceptions="A large report that runs alone.",
        reconsider_when="A counter that does not rise in the busiest hour.",
    ),
)
def exhausted_temporary_memory(context: RuleContext) -> Iterator[Finding]:
    """Report temporary tables that exceeded temptable_max_ram, in the busiest hour or in the window."""
    store = context.number(STORE)
    from rules.core.counters import TEMPORARY, busy_rate, counter_periods, events_text  # lazily: lint has no counters

    for window, when, _ in counter_periods(context, TEMPORARY, limited_by=STORE):
        rate = busy_rate(window, "temptable_count_hit_max_ram", LIMIT_REACHED)
        if rate is None or store is None:
            continue
        action, risk = None, "up to 1G of memory"
        if store < GIB and context.is_set(STORE):
            action = advise(context, STORE, GIB, size=True, risk=risk, watch="TempTable_count_hit_max_ram")
        yield exhausted_temporary_memory.finding(
            f"{events_text(rate)} times a second a temporary table went to disk because the {format_size(store)} that "
            f"all tables share was used up {when}.",
            variable_subject(context, STORE),
            help=help_line(action) or "find the statement with the large tables, and lower tmp_table_size",
            actions=present(action),
        )
        return


@rule(
    "SYS031",
    "temptable-takes-much-memory",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="TempTable may take a large part of the memory for the temporary tables of all sessions.",
    needs=("host",),
    targets=(Span("mysql", since=(8, 0)),),
    options=(STORE,),
    evidence=("TMP-01",),
    docs=Docs(
        why="temptable_max_ram applies to all sessions together, in addition to the buffer pool. Since 8.4 its default "
        "is 3 percent of the machine's memory, between 1G and 4G. The rule reports a value above 1G that is more than "
        "a tenth of the memory, and also a quarter of the memory or half of what the buffer pool leaves; these "
        "thresholds are our choice. In a control group the default can be that large too, because it is based on the "
        "machine's memory.",
        fix="Set temptable_max_ram to 3 percent of the memory, between 1G and 4G; with less than 4G of memory, to a "
        "quarter of it.",
        risk="Larger temporary tables go to disk sooner.",
        exceptions="Servers for reports whose pool leaves room for it.",
        reconsider_when="TempTable_count_hit_max_ram (8.4 and later) that rises with the lower limit.",
    ),
)
def temptable_takes_much_memory(context: RuleContext) -> Iterator[Finding]:
    """Report a temptable_max_ram that is a large part of the usable memory."""
    store, memory = context.number(STORE), context.host.usable_memory
    if store is None or memory is None or context.text(ENGINE) == "MEMORY" or store <= GIB:
        return
    left = memory - (context.number("innodb_buffer_pool_size") or 0)
    if store * 100 > memory * STORE_PERCENT and 2 * store >= min(left, memory // 2):
        least = min(GIB, memory // 4 // STEP * STEP) or STEP
        better = min(max(least, memory * USUAL_STORE_PERCENT // 100 // STEP * STEP), LARGEST_STORE)
        action = advise(context, STORE, better, size=True, risk="larger temporary tables go to disk sooner")
        yield temptable_takes_much_memory.finding(
            f"Temporary tables of all sessions may take {format_size(store)}, {store * 100 // memory} % of the memory "
            f"that the server may use ({format_size(memory)}).",
            variable_subject(context, STORE),
            help=help_line(action),
            actions=present(action),
        )
