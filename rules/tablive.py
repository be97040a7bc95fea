"""TAB and TMP: what a running server's counters say of open tables, open files and temporary tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Severity
from advisor.sizes import about
from rules.advice import advise, these, words
from rules.memory import GIB
from rules.peak import TEMPORARY, seen
from rules.rates import busy, over, steady
from rules.registry import Docs, Span, rule
from rules.subject import of_variable
from rules.tab import CACHE, wider_cache
from rules.tmp import ORDINARY, limits, ordinary_limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Finding
    from rules.known import Known

DEFINITIONS = "table_definition_cache"
FILES = "open_files_limit"
STORE = "temptable_max_ram"
OPENED = 1.0  # tables a second that an old rule of thumb allows to be opened (TOC-03)
MOST_DEFINITIONS = 524288  # what every version takes
NEARLY_ALL = 85  # percent of the open files, where others begin to warn too
ON_DISK_A_SECOND = 10.0
ON_DISK_PERCENT = 25


@rule(
    "TAB002",
    "overflowing-table-cache",
    confidence=Confidence.MEASURED,
    summary="Tables are closed all the time to make room for others in the cache of open tables.",
    needs=("server", "workload"),
    options=(CACHE,),
    evidence=("TOC-01", "TOC-03", "TAB-02"),
    docs=Docs(
        why="An overflow closes one table so that another can be opened, under a lock that all sessions share. In a "
        "published run throughput fell once overflows outnumbered hits. The counter tells this apart from tables that "
        "are opened for the first time, or again after FLUSH TABLES. An old rule of thumb "
        "allows one opened table a second.",
        fix="Raise table_open_cache, and LimitNOFILE in the service's unit with it where the system grants too few "
        "files for that.",
        risk="Each open table takes memory and up to two file descriptors.",
        exceptions="A backup or a job that visits thousands of tables once: any cache overflows then.",
        mind="Overflows that go on as before with twice the cache, over the same hours.",
        disagree="Advisors compare Opened_tables with the uptime, or warn at a few an hour, which flags every server "
        "that was started or flushed lately.",
    ),
)
def overflowing_table_cache(known: Known) -> Iterator[Finding]:
    """Tables that push each other out of the cache."""
    window, size = steady(known), known.number(CACHE)
    rate = busy(window, "table_open_cache_overflows", OPENED)
    if rate is None or size is None:
        return
    action, remedy = wider_cache(known, size)
    yield overflowing_table_cache.finding(
        f"{rate:,.0f} tables a second are closed to make room for others {over(window)}; the cache holds {size:,}.",
        of_variable(known, CACHE),
        help=remedy,
        actions=these(action),
    )


@rule(
    "TAB003",
    "overflowing-definition-cache",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="Definitions of tables are read again all the time, because their cache is full.",
    needs=("server", "workload"),
    options=(DEFINITIONS,),
    evidence=("TAB-03", "TOC-03"),
    docs=Docs(
        why="The cache holds one definition for each table that is in use, whoever uses it. With more tables than "
        "entries servers that were asked read a definition for each table that was opened. Creating tables, temporary "
        "ones too, counts in the same counter, so this speaks only where the cache is full. "
        "The threshold of one a second is that of opened tables.",
        fix="Raise table_definition_cache to the number of tables in use.",
        risk="Memory for each definition.",
        exceptions="Servers that create and drop tables all day; jobs that visit each of many tables once.",
        mind="Opened_table_definitions that goes on as before with twice the cache.",
        disagree="MySQLTuner wants the cache as large as the number of all tables, and counts them by opening each.",
    ),
)
def overflowing_definition_cache(known: Known) -> Iterator[Finding]:
    """Definitions that push each other out of a full cache."""
    window, size = steady(known), known.number(DEFINITIONS)
    rate = busy(window, "opened_table_definitions", OPENED)
    held = known.server.counter("open_table_definitions")
    if rate is None or size is None or held is None or held < size:
        return
    action = None
    if size < MOST_DEFINITIONS:
        twice = min(size * 2, MOST_DEFINITIONS)
        action = advise(known, DEFINITIONS, twice, risk="memory for each definition", watch="Opened_table_definitions")
    yield overflowing_definition_cache.finding(
        f"{rate:,.0f} definitions of tables a second are read {over(window)}, and the cache of {size:,} is full.",
        of_variable(known, DEFINITIONS),
        help=words(action) or "use fewer tables at a time: the cache is as large as it can be",
        actions=these(action),
    )


@rule(
    "TAB004",
    "open-files-near-limit",
    confidence=Confidence.LIKELY,
    summary="The server has nearly as many files open as the system allows it.",
    needs=("server",),
    options=(FILES,),
    evidence=("TAB-02", "TAB-03", "VM-02"),
    docs=Docs(
        why="At the limit tables can't be opened and clients are refused. The count is that of Open_files and "
        "Innodb_num_open_files, of which neither holds the other's, and one for each connection; logs come on top.",
        fix="Raise LimitNOFILE in the service's unit and restart, or lower table_open_cache.",
        risk="None.",
        restart=True,
        exceptions="None: what was opened once is likely to be opened again.",
        mind="A busiest day on which the three together stay far below the limit.",
        disagree="Advisors that look at Open_files alone pass over InnoDB's files, which are most of them.",
    ),
)
def open_files_near_limit(known: Known) -> Iterator[Finding]:
    """Descriptors in use against those that there are."""
    limit = known.number(FILES)
    parts = descriptors(known)
    if not limit or sum(parts) * 100 < limit * NEARLY_ALL:
        return
    files, innodb, clients = parts
    yield open_files_near_limit.finding(
        f"At least {sum(parts):,} of {limit:,} file descriptors are in use: {innodb:,} files of InnoDB, {files:,} "
        f"others, {clients:,} connections.",
        of_variable(known, FILES),
        help="raise LimitNOFILE in the service's unit and restart, or lower table_open_cache",
    )


def descriptors(known: Known) -> list[int]:
    """File descriptors in use: of files that InnoDB didn't open, of InnoDB's, of connections."""
    return [known.server.counter(name) or 0 for name in ("open_files", "innodb_num_open_files", "threads_connected")]


@rule(
    "TMP007",
    "temporary-tables-on-disk",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="Many statements make their internal temporary tables on disk.",
    needs=("server",),
    options=("tmp_table_size", "tmp_memory_table_size", "max_heap_table_size"),
    evidence=("TMP-05", "TMP-04"),
    probe="session-buffers",
    docs=Docs(
        why="A temporary table on disk was 1.8 to 14 times as slow as one in memory where servers were measured. What "
        "counts as on disk depends on the version: MySQL 5.7 and MariaDB count each table that left memory, MySQL 8.0 "
        "and later only those of InnoDB, not the mapped files of TempTable. The thresholds, ten a second "
        "and a quarter of all, are ours.",
        fix="Find the statements: in performance_schema.events_statements_summary_by_digest, or in the slow log of "
        "MariaDB and Percona Server. Fetch fewer columns and rows, leave BLOB and TEXT out of GROUP BY and DISTINCT, "
        "or add an index that yields the order.",
        risk="None from looking. A higher limit takes memory for each temporary table.",
        exceptions="Reports by night. Tables with BLOB or TEXT columns, which only TempTable keeps in memory.",
        mind="Statements that aren't faster when one session raises the limit for itself.",
        disagree="Most advisors tell everybody to raise tmp_table_size and max_heap_table_size together until the "
        "share falls, which no size achieves for BLOB columns, and which MySQL 8.0 heeds in part only.",
    ),
)
def temporary_tables_on_disk(known: Known) -> Iterator[Finding]:
    """Temporary tables on disk, in number and share, in the busiest hour or now."""
    for window, when, _ in seen(known, TEMPORARY):
        rate = busy(window, "created_tmp_disk_tables", ON_DISK_A_SECOND)
        disk, total = (window.delta(name) or 0 for name in ("created_tmp_disk_tables", "created_tmp_tables"))
        if rate is None or disk * 100 < total * ON_DISK_PERCENT:
            continue
        actions = these(*(ordinary_limit(known, name) for name in limits(known) if _lowered(known, name)))
        rest = "find the statements that need them; a higher limit for all comes last"
        yield temporary_tables_on_disk.finding(
            f"{rate:,.0f} temporary tables a second are made on disk {when}, {disk:,} of {max(total, disk):,}.",
            help=words(actions[0]) if actions else rest,
            actions=actions,
        )
        return


def _lowered(known: Known, name: str) -> bool:
    value = known.number(name)
    return value is not None and value < ORDINARY and known.chosen(name)


@rule(
    "TMP008",
    "exhausted-temporary-memory",
    confidence=Confidence.CERTAIN,
    summary="The memory that all TempTable tables share is used up, so that new ones go to disk.",
    needs=("server",),
    targets=(Span("mysql", since=(8, 4)),),
    options=(STORE,),
    evidence=("TMP-05", "TMP-01"),
    docs=Docs(
        why="temptable_max_ram bounds the temporary tables of all sessions together. Beyond it even a small table "
        "goes to disk, whichever session made the large ones. The server counts it in TempTable_count_hit_max_ram; "
        "where it has no such counter this stays silent.",
        fix="Find the statement with the large tables; lower tmp_table_size, so that one table can't take the store; "
        "only then allow more memory.",
        risk="More memory for the server: up to the new limit.",
        exceptions="A large report that runs alone.",
        mind="A counter that stands still over the busiest hour.",
    ),
)
def exhausted_temporary_memory(known: Known) -> Iterator[Finding]:
    """Temporary tables that found no memory left, in the busiest hour or now."""
    store = known.number(STORE)
    for window, when, _ in seen(known, TEMPORARY):
        rate = busy(window, "temptable_count_hit_max_ram", OPENED)
        if rate is None or store is None:
            continue
        action, risk = None, "up to 1G of memory"
        if store < GIB and known.chosen(STORE):
            action = advise(known, STORE, GIB, size=True, risk=risk, watch="TempTable_count_hit_max_ram")
        yield exhausted_temporary_memory.finding(
            f"{rate:,.0f} times a second a temporary table found the {about(store)} that all share used up {when}.",
            of_variable(known, STORE),
            help=words(action) or "find the statement with the large tables, and lower tmp_table_size",
            actions=these(action),
        )
        return
