"""MOD: rules about SQL modes, character sets, optimizer settings and limits of statements."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core import Docs, Span, rule
from rules.core.advice import advise, default_number, help_line, present, set_default
from rules.core.subject import variable_subject, verdict_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding
    from rules.core.context import RuleContext

MODE, ENGINE = "sql_mode", "default_storage_engine"
NO_SUBSTITUTE = "NO_ENGINE_SUBSTITUTION"
TABLES = {"INNODB": "an InnoDB table", "MYISAM": "a MyISAM table", "ARIA": "an Aria table"}
CHARSET, COLLATION = "character_set_server", "collation_server"
HANDSHAKE = "character_set_client_handshake"
TIMESTAMPS = "explicit_defaults_for_timestamp"
PRUNE = "optimizer_prune_level"
DIVES = "eq_range_index_dive_limit"
ALTER, COPIES = ("old_alter_table", "alter_algorithm"), frozenset({"ON", "COPY"})
BLOCKS = " and blocks writes meanwhile"  # before MariaDB 11.2
PREPARED, JOIN, SESSION_MEMORY = "max_prepared_stmt_count", "max_join_size", "max_session_mem_used"
SELECT_TIME, STATEMENT_TIME = "max_execution_time", "max_statement_time"
SHORT_SELECT, SHORT_STATEMENT = 2000, 10  # milliseconds; seconds
SMALL_JOIN, LITTLE_MEMORY = 1_000_000, 16 << 20  # rows and bytes that ordinary statements need
THREE_BYTES = frozenset({"UTF8", "UTF8MB3"})
# Collation suffixes that exist for both character sets in every version.
OF_BOTH = frozenset({"general_ci", "unicode_ci", "unicode_520_ci", "bin"})


@rule(
    "MOD001",
    "substituted-engine",
    severity=Severity.NOTE,
    summary="A table whose engine the server lacks is created with another one.",
    options=(MODE, "ansi"),
    evidence=("ENG-11",),
    docs=Docs(
        why="Without NO_ENGINE_SUBSTITUTION a CREATE TABLE that names a missing engine succeeds with a warning and "
        "creates a table of the default engine, and ALTER TABLE leaves the engine as it is, so restored or migrated "
        "tables differ from the originals. Every version that mycnf knows has the mode by default.",
        fix="Add NO_ENGINE_SUBSTITUTION to sql_mode.",
        risk="Statements that name a missing engine fail with error 1286.",
        exceptions="Dumps of old servers with engines that no longer exist, while they are loaded.",
        reconsider_when="A program that relies on it.",
    ),
)
def substituted_engine(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured sql_mode without NO_ENGINE_SUBSTITUTION."""
    value = context.text(MODE)
    made = TABLES.get(context.text(ENGINE) or "", "a table of the default engine")
    if value is None or not context.is_set(MODE) or NO_SUBSTITUTE in value.replace(" ", "").split(","):
        return
    yield substituted_engine.finding(
        f"CREATE TABLE with an engine that the server lacks creates {made} instead, with only a warning.",
        variable_subject(context, MODE),
        help="add NO_ENGINE_SUBSTITUTION",
    )


@rule(
    "MOD002",
    "three-byte-unicode",
    severity=Severity.NOTE,
    summary="New tables cannot store all of Unicode: four-byte characters are refused or damaged.",
    options=(CHARSET,),
    evidence=("ENG-12",),
    docs=Docs(
        why="utf8 in these servers is utf8mb3, with at most three bytes per character (on MariaDB unless old_mode "
        "lacks UTF8_IS_UTF8MB3). Emoji, many Chinese characters and other scripts need four: an insert is refused with "
        "error 1366. Without a strict mode they become question marks or, on MySQL if the client declares utf8, the "
        "text is cut off there.",
        fix="Set character_set_server to utf8mb4, with a collation of that set. Existing databases keep theirs, which "
        "their new tables get too (ALTER DATABASE), and so do tables; convert them one by one.",
        risk="New long columns may exceed the maximum length of an index or a row. Converting a large table can take "
        "long and block writes.",
        exceptions="Programs that send no such characters and were never tested with utf8mb4.",
        reconsider_when="A program that can't be changed.",
    ),
)
def three_byte_unicode(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured utf8 or utf8mb3 as the server's character set."""
    value = context.text(CHARSET)
    if value not in THREE_BYTES or not context.is_set(CHARSET):
        return
    yield three_byte_unicode.finding(
        f"{CHARSET} = {value.lower()} stores at most three bytes per character; emoji are refused or damaged.",
        variable_subject(context, CHARSET),
        help=f"write {CHARSET} = utf8mb4, and a {COLLATION} of that set",
        actions=_four_bytes(context),
    )


def _four_bytes(context: RuleContext) -> tuple[Action, ...]:
    """Actions for utf8mb4 and, if a collation is set, for the matching collation; empty if there is no matching one."""
    risk = "only new databases use it: new tables of other databases get the character set of their database"
    charset = advise(context, CHARSET, "utf8mb4", risk=risk)
    if not context.is_set(COLLATION):
        return present(charset)
    name = (context.settings.text(COLLATION) or "").lower().partition("_")[2]
    return present(charset, advise(context, COLLATION, f"utf8mb4_{name}", risk=risk)) if name in OF_BOTH else ()


@rule(
    "MOD003",
    "overruled-client-character-set",
    summary="The server ignores the character set that a client asks for when it connects.",
    options=(HANDSHAKE, CHARSET),
    evidence=("ENG-13",),
    docs=Docs(
        why="A client declares the encoding of its text in the handshake. With skip_character_set_client_handshake the "
        "server uses its own character set instead. Text that a client sent as utf8mb4 to a latin1 server was stored "
        "as five characters instead of two, and looked right only to that client.",
        fix="Remove the line, and let each client declare its character set.",
        risk="Text that was stored wrongly this way looks wrong to clients that declare their character set correctly: "
        "check some of it first.",
        restart=True,
        exceptions="Clients that send SET NAMES after they connect: they get what they ask for. Clients too old to "
        "declare a character set, all with that of the server.",
        reconsider_when="No client that sends another character set than the server's.",
    ),
)
def overruled_client_character_set(context: RuleContext) -> Iterator[Finding]:
    """Report a disabled client handshake.

    It is a warning unless the server's character set is the one that clients use today.
    """
    line = context.file_verdict.effective.get(HANDSHAKE)
    if line is None or line.value != "FALSE":
        return
    charset = (context.text(CHARSET) or "").lower()
    given = charset or f"the character set of {CHARSET}"
    yield overruled_client_character_set.finding(
        f"Clients get {given}, whatever character set they request when they connect; text in another one is stored "
        "wrongly.",
        verdict_subject(line),
        severity=Severity.NOTE if charset == "utf8mb4" else None,
        help="remove the line",
    )


@rule(
    "MOD004",
    "implicit-timestamp-defaults",
    severity=Severity.NOTE,
    summary="The first TIMESTAMP column of a new table changes with every update of its row.",
    targets=(Span("mysql", since=(8, 0)), Span("mariadb", since=(10, 10))),
    options=(TIMESTAMPS,),
    evidence=("ENG-14",),
    docs=Docs(
        why="With explicit_defaults_for_timestamp = OFF the first plain TIMESTAMP column becomes NOT NULL DEFAULT "
        "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP: in a test, a date in 2001 became today's after an update of "
        "another column. A second one gets a date of zeros, which MySQL refuses by default (error 1067). These "
        "versions default to ON; MySQL and MariaDB 11.4 and later call OFF deprecated.",
        fix="Remove the line; existing tables keep their definition.",
        risk="CREATE TABLE statements that rely on it create columns that may be NULL.",
        exceptions="Programs from before 5.6 that create their own tables.",
        reconsider_when="A program that can't be changed.",
    ),
)
def implicit_timestamp_defaults(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured explicit_defaults_for_timestamp = OFF."""
    if context.settings.on(TIMESTAMPS) is False and context.is_set(TIMESTAMPS):
        action = advise(context, TIMESTAMPS, "ON", risk="new tables get other defaults for their TIMESTAMP columns")
        advice, actions = set_default(context, TIMESTAMPS, "ON", action)
        yield implicit_timestamp_defaults.finding(
            "In new tables the first TIMESTAMP column changes by itself with each update of its row.",
            variable_subject(context, TIMESTAMPS),
            help=advice,
            actions=actions,
        )


@rule(
    "MOD005",
    "exhaustive-join-search",
    confidence=Confidence.MEASURED,
    summary="The optimizer examines every join order, which can take longer than the join.",
    targets=(Span("mariadb"),),
    options=(PRUNE,),
    evidence=("ENG-15",),
    docs=Docs(
        why="With optimizer_prune_level = 0 no heuristic prunes table orders from the search, only a cost above that "
        "of the best so far, and their number grows with the factorial of the number of tables. EXPLAIN of a join of "
        "ten equal tables took 28 seconds with 0 and 7 milliseconds with 1; with twelve tables it did not end within "
        "40 seconds.",
        fix="Remove the line.",
        risk="A plan that only the full search finds is not found; a session can set the variable for itself.",
        exceptions="Servers that only join few tables.",
        reconsider_when="A statement of this server that is faster with 0, planning included.",
        disagree="On MySQL the same join took as long with 1, so the rule does not apply there.",
    ),
)
def exhaustive_join_search(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured optimizer_prune_level = 0."""
    if context.number(PRUNE) == 0 and context.is_set(PRUNE):
        usual = 2 if context.target.since("mariadb", 10, 10) else 1
        action = advise(context, PRUNE, usual, risk="some statements get another plan", watch="Last_query_cost")
        yield exhaustive_join_search.finding(
            "The optimizer evaluates every join order: in a test, planning a join of ten tables took 28 seconds, and 7 "
            "ms with 1.",
            variable_subject(context, PRUNE),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "MOD006",
    "few-index-dives",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="IN (…) lists are estimated from index statistics instead of index dives.",
    options=(DIVES,),
    evidence=("ENG-16", "ENG-17"),
    docs=Docs(
        why="Below eq_range_index_dive_limit values the optimizer dives into the index to count the rows of each value "
        "of an IN list; from that number on it uses the average. With 10, the default of MySQL 5.6, a list of 15 "
        "values, one of which was in half of the rows, was estimated at 30 rows instead of 10,000, and the plan was "
        "different from that with 200, the default of all versions since.",
        fix="Remove the line.",
        risk="Statements with 10 to 200 values take somewhat longer to plan.",
        exceptions="Indexes whose values all have about the same number of rows.",
        reconsider_when="Statements of this server that spend their time on planning.",
        disagree="Templates for 5.6 set 10, which was the default then.",
    ),
)
def few_index_dives(context: RuleContext) -> Iterator[Finding]:
    """Report eq_range_index_dive_limit below the version's default; 0 means no limit."""
    value, default = context.number(DIVES), default_number(context, DIVES)
    if not value or default is None or value >= default or not context.is_set(DIVES):
        return
    action = advise(
        context, DIVES, default, risk="statements with long lists take longer to plan", watch="Handler_read_next"
    )
    yield few_index_dives.finding(
        f"IN lists with {value} or more values are planned with the average of the index instead of index dives.",
        variable_subject(context, DIVES),
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "MOD007",
    "copying-alter-table",
    confidence=Confidence.LIKELY,
    summary="ALTER TABLE copies the whole table unless it names another ALGORITHM, and mostly blocks writes to it.",
    targets=(Span("mysql"), Span("mariadb", before=(11, 5))),
    options=ALTER,
    evidence=("ENG-18", "ASK-SCH-05"),
    docs=Docs(
        why="With old_alter_table = ON (MySQL), or alter_algorithm = COPY (MariaDB), the server creates a new table "
        "and copies each row into it, even where no copy is needed: ADD INDEX on 20,000 rows copied 20,000 of them, by "
        "default none. During the copy, others can read the table, and write to it only on MariaDB 11.2 and later.",
        fix="Remove the line; a single statement can use ALGORITHM=COPY.",
        risk="None known.",
        exceptions="A bug of the in-place algorithm in one version, until a later release fixes it.",
        reconsider_when="Tables so small that a copy takes no time.",
    ),
)
def copying_alter_table(context: RuleContext) -> Iterator[Finding]:
    """Report settings that make every ALTER TABLE copy the table."""
    for name in ALTER:
        if context.text(name) in COPIES and context.is_set(name):
            usual = "DEFAULT" if context.target.is_mariadb else "OFF"
            action = advise(context, name, usual, risk="running statements are not affected", watch="Com_alter_table")
            advice, actions = set_default(context, name, "no needless copy", action)
            yield copying_alter_table.finding(
                f"Without an ALGORITHM clause ALTER TABLE copies the whole table"
                f"{'' if context.target.since('mariadb', 11, 2) else BLOCKS}.",
                variable_subject(context, name),
                help=advice,
                actions=actions,
            )
            return


@rule(
    "MOD010",
    "statements-refused-by-limit",
    summary="A limit is so small that the server refuses ordinary statements.",
    options=(PREPARED, JOIN, SESSION_MEMORY, SELECT_TIME, STATEMENT_TIME),
    evidence=("LIM-01", "LIM-02"),
    docs=Docs(
        why="max_prepared_stmt_count = 0 refuses every statement that a client prepares on the server, as many "
        "programs do by default. max_join_size also switches sql_big_selects off: a SELECT or an UPDATE of a join that "
        "the optimizer estimates above the limit fails with error 1104, however much it would really read. "
        "max_session_mem_used ends statements of MariaDB with error 1290: SHOW GLOBAL VARIABLES did not run with 8M, "
        "and a SELECT from a derived table not with 2M. The thresholds, a million rows and 16M of memory, are our "
        "choice. A max_execution_time below 2 seconds ends SELECT statements such as reports, and a max_statement_time "
        "below 10 seconds also ALTER TABLE and other maintenance: these are notes.",
        fix="Remove the line. To end runaway statements, set max_execution_time (MySQL) or max_statement_time "
        "(MariaDB) in the sessions that run them; MariaDB also has a limit for accounts.",
        risk="Statements that were refused before will run.",
        exceptions="Servers that are meant to refuse large statements of certain accounts, such as for training.",
        reconsider_when="No statement that failed with error 1104, 1290, 1461, 1969 or 3024 over a week.",
    ),
)
def statements_refused_by_limit(context: RuleContext) -> Iterator[Finding]:
    """Report limits that refuse ordinary statements."""
    for name, least, refused in (
        (PREPARED, 1, "No statement can be prepared: each try fails with error 1461."),
        (JOIN, SMALL_JOIN, "A SELECT that the optimizer estimates above {value} row{s} fails with error 1104."),
        (
            SESSION_MEMORY,
            LITTLE_MEMORY,
            "A statement whose session needs more than {value} bytes fails with error 1290.",
        ),
    ):
        value = context.number(name)
        if value is not None and value < least and context.is_set(name):
            usual, risk = default_number(context, name), "statements that were refused before will run"
            action = advise(context, name, usual, risk=risk) if usual else None
            yield statements_refused_by_limit.finding(
                refused.format(value=f"{value:,}", s="" if value == 1 else "s"),
                variable_subject(context, name),
                help="remove the line",
                actions=present(action),
            )
    yield from _short_time_limits(context)


def _short_time_limits(context: RuleContext) -> Iterator[Finding]:
    """Limits of time that end reports, and on MariaDB any statement."""
    for name, least, message in (
        (SELECT_TIME, SHORT_SELECT, "Each SELECT that runs longer than {time} fails with error 3024, as reports do."),
        (
            STATEMENT_TIME,
            SHORT_STATEMENT,
            "Each statement that runs longer than {time} fails with error 1969, ALTER TABLE and reports included.",
        ),
    ):
        limit = context.settings.real(name)
        if limit is not None and 0 < limit < least and context.is_set(name):
            seconds = limit / 1000 if name == SELECT_TIME else limit
            action = advise(context, name, 0, risk="statements run as long as they need")
            limited = "sessions" if name == SELECT_TIME else "sessions or for the accounts"  # MariaDB alone has those
            yield statements_refused_by_limit.finding(
                message.format(time=f"{seconds:.6f}".rstrip("0").rstrip(".") + " s"),
                variable_subject(context, name),
                severity=Severity.NOTE,
                confidence=Confidence.LIKELY,
                help=f"{help_line(action)}, and set a limit in the {limited} that need one",
                actions=present(action),
            )


OFFSET, INCREMENT = "auto_increment_offset", "auto_increment_increment"


@rule(
    "MOD011",
    "ignored-auto-increment-offset",
    confidence=Confidence.MEASURED,
    summary="auto_increment_offset is larger than auto_increment_increment, so numbers can collide with those of other "
    "servers.",
    options=(OFFSET, INCREMENT),
    evidence=("AINC-01",),
    docs=Docs(
        why="Servers that replicate in a circle generate different numbers only if each has its own offset, no larger "
        "than the increment. From a larger offset a server subtracts the increment until it is not: with an increment "
        "of 2 and an offset of 4 it numbers rows 2, 4, 6, as the server with offset 2 does, and their rows collide. "
        "The first numbers can be those of yet another server: 3 and 5 gave 1, 5, 8, 11. MySQL's manual calls such an "
        "offset ignored.",
        fix="Set auto_increment_increment to the number of servers that accept writes, and give each an offset from 1 "
        "up to that number.",
        risk="New rows get other numbers; existing ones stay.",
        exceptions="A node of a Galera cluster, which sets both by itself (wsrep_auto_increment_control). A single "
        "server that accepts writes: remove both lines there.",
        reconsider_when="A list of the offsets of all servers, whose numbers never meet.",
    ),
)
def ignored_auto_increment_offset(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured offset that is larger than the increment."""
    offset, increment = context.number(OFFSET), context.number(INCREMENT)
    if not offset or not increment or offset <= increment or not context.is_set(OFFSET):
        return
    if context.settings.on("wsrep_on") and context.settings.on("wsrep_auto_increment_control") is not False:
        return
    yield ignored_auto_increment_offset.finding(
        f"{OFFSET} = {offset} is larger than {INCREMENT} ({increment}): new rows get numbers that a server with offset "
        f"{(offset - 1) % increment + 1} gives too.",
        variable_subject(context, OFFSET),
        help=f"set {INCREMENT} to the number of servers that accept writes, and {OFFSET} to a value from 1 up to that "
        "number",
    )


READ_ONLY, INNODB_READ_ONLY = "transaction_read_only", "innodb_read_only"
OLD_READ_ONLY = "tx_read_only"  # the variable on MariaDB before 11.1


@rule(
    "MOD012",
    "writes-refused-by-default",
    summary="Writes are refused: all transactions, or InnoDB itself, are read-only.",
    options=(READ_ONLY, INNODB_READ_ONLY),
    evidence=("RDO-01",),
    docs=Docs(
        why="With transaction_read_only = ON every session begins read-only transactions: CREATE, INSERT and even "
        "CREATE USER fail with error 1792 until the session itself requests READ WRITE. With innodb_read_only = ON no "
        "InnoDB table can be created or changed, by any account; on MySQL 8.0 and later that includes accounts and "
        "table definitions.",
        fix="Remove the line. To keep clients from writing to a replica, set read_only, or on MySQL super_read_only.",
        risk="Clients can write again: make sure that this server is meant to take writes.",
        exceptions="Data on read-only media, and archives that nothing may change (innodb_read_only).",
        reconsider_when="A server on which nothing should be written.",
    ),
)
def writes_refused_by_default(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured transaction_read_only or innodb_read_only."""
    name = next((name for name in (READ_ONLY, OLD_READ_ONLY) if context.explicit_switch(name)), None)
    if name is not None:
        action = advise(context, name, "OFF", risk="sessions that are open keep their mode")
        yield writes_refused_by_default.finding(
            "Each session begins read-only transactions: its writes fail with error 1792.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )
    if context.explicit_switch(INNODB_READ_ONLY):
        keeper = "super_read_only" if context.target.is_mysql else "read_only"
        yield writes_refused_by_default.finding(
            "InnoDB is read-only: no account can create or change an InnoDB table.",
            variable_subject(context, INNODB_READ_ONLY),
            help=f"remove the line; {keeper} keeps clients from writing to a replica",
        )
