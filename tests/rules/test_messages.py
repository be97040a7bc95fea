"""What single rules say and advise, where the severity alone would not show a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rule_cases import Case, context_of_case

from advisor.facts import Unavailable
from rules import find_rule
from rules.core.advice import advised_value

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

RUNTIME = {"read_buffer_size": "DYNAMIC"}
LOST = "innodb_flush_log_at_trx_commit"
SKIP, CHARSET = "skip_character_set_client_handshake", "character_set_server"
POOL, DUMP = "innodb_buffer_pool_size", "innodb_buffer_pool_dump_at_shutdown"


def known(target: str, tmp_path: Path, **words: object) -> RuleContext:
    """What may be known of a small case."""
    made: RuleContext = context_of_case(Case("", "", target, **words), tmp_path)
    return made


def first(rule: str, of: RuleContext) -> Finding:
    """The first finding of the rule of that name."""
    found = find_rule(rule)
    assert found is not None
    return next(iter(found.check(of)))


@pytest.mark.parametrize(
    ("rule", "target", "file", "words"),
    [
        ("statements-refused-by-limit", "mysql-9.7", "max_execution_time = 100", "longer than 0.1 s fails"),
        ("statements-refused-by-limit", "mysql-9.7", "max_join_size = 1", "above 1 row fails"),
        ("system-tablespace-with-an-end", "mysql-5.7", "innodb_data_file_path = ibdata1:12582912", "ends at 12M;"),
        ("statements-refused-by-limit", "mysql-9.7", "max_execution_time = 1500", "longer than 1.5 s fails"),
        ("statements-refused-by-limit", "mariadb-11.4", "max_statement_time = 0.05", "longer than 0.05 s fails"),
        ("tiny-redo-log", "mariadb-10.11", "innodb_buffer_pool_size=16G\ninnodb_log_file_size=4M", "it in 400 ms"),
        ("lost-commits", "mysql-9.7", f"{LOST} = 2\ninnodb_flush_log_at_timeout = 119", "up to 119 s of"),
        ("delayed-log-flush", "mysql-9.7", f"{LOST} = 0\ninnodb_flush_log_at_timeout = 90", "every 90 s;"),
        ("short-binary-log", "mysql-9.7", "binlog_expire_logs_seconds = 5400", "after 90 min: a replica"),
        ("periodic-table-close", "mysql-9.7", "flush_time = 119", "Every 119 s all"),
        (
            "changes-delayed-for-purge",
            "mysql-9.7",
            "innodb_max_purge_lag=9\ninnodb_max_purge_lag_delay=1500000",
            "1.5 s",
        ),
        ("delayed-commits", "mysql-9.7", "binlog_group_commit_sync_delay = 10500", "up to 10.5 ms for"),
        ("starved-temporary-tables", "mysql-5.7", "tmp_table_size=64K\nmax_heap_table_size=512K", "they hold 64K"),
        ("starved-temporary-tables", "mysql-5.7", "tmp_table_size=512K\nmax_heap_table_size=64K", "they hold 64K"),
        ("overruled-client-character-set", "mysql-8.0.43", f"{SKIP}\n{CHARSET} = {{{{ x }}}}", f"set of {CHARSET},"),
        ("unsynced-binary-log", "mysql-9.7", "sync_binlog = 0", "No commit syncs the binary log;"),
        ("cold-pool-after-restart", "mysql-9.7", f"{POOL}=1G\n{DUMP}=OFF", "unless an older list is loaded"),
    ],
)
def test_a_message_says_the_number_that_counts(rule: str, target: str, file: str, words: str, tmp_path: Path) -> None:
    """Limits are not rounded, no time is 0, and of two limits both findings name the lower one."""
    assert words in first(rule, known(target, tmp_path, file=file)).message


def test_memory_tables_go_by_the_buffer_at_start_up(tmp_path: Path) -> None:
    """Where only the value at start-up counts nothing is sent to the running server."""
    variables = {"read_buffer_size": "8388608"}
    running = known("mysql-8.0.15", tmp_path, file="read_buffer_size = 8M", server={"variables": variables})
    (action,) = first("pointless-read-buffer", running).actions
    assert action.statement is None
    assert action.restart
    assert "sessions" not in action.risk


def test_a_buffer_set_at_run_time_is_said_to_do_nothing(tmp_path: Path) -> None:
    """What was set after the start makes no table larger, so there is nothing to undo."""
    running = known("mysql-8.0.15", tmp_path, server={"variables": {"read_buffer_size": "8388608"}, "origins": RUNTIME})
    found = first("pointless-read-buffer", running)
    assert "has no effect" in found.message
    assert not found.actions


def test_a_limit_is_reported_at_its_line(tmp_path: Path) -> None:
    """A value that the server calculated itself is still reported at the line that requested more."""
    running = known(
        "mariadb-10.11",
        tmp_path,
        file="open_files_limit = 200000",
        server={"variables": {"open_files_limit": "20000"}, "origins": {"open_files_limit": "AUTO"}},
    )
    found = first("limited-by-the-system", running)
    assert found.location is not None
    assert found.value == "200000"


def test_a_loose_option_is_not_advised_to_be_loose(tmp_path: Path) -> None:
    """The help under an option that has the prefix already doesn't ask for it."""
    loose = first("unknown-option", known("mysql-9.7.4", tmp_path, file="loose_aria_pagecache_buffer_size = 8M"))
    assert "loose_" not in loose.help
    bare = first("unknown-option", known("mysql-9.7.4", tmp_path, file="aria_pagecache_buffer_size = 8M"))
    assert "loose_" in bare.help


def test_masked_values_are_not_compared(tmp_path: Path) -> None:
    """A statement with a password in it was masked on both sides, and says nothing of a difference."""
    running = known(
        "mysql-8.0.15",
        tmp_path,
        file='init_connect = "SET @x = 1; SET PASSWORD ********\nmax_allowed_packet = 16M',
        server={"variables": {"init_connect": "SET @x = 1; SET PASSWORD ********", "max_allowed_packet": "1024"}},
    )
    rule = find_rule("file-differs-from-running")
    assert rule is not None
    assert [f.option for f in rule.check(running)] == ["max_allowed_packet"]


@pytest.mark.parametrize(
    ("errors", "says"),
    [
        ("1062", "Error 1062 is skipped"),
        ("1032,1062", "Errors 1032, 1062 are skipped"),
        ("all", "All errors are skipped"),
        (",".join(str(n) for n in range(1000, 1020)), "20 errors are skipped"),
    ],
)
def test_skipped_errors_in_words(errors: str, says: str, tmp_path: Path) -> None:
    """One error, some, many and all of them each make a sentence."""
    found = first("skipped-replication-errors", known("mysql-5.7.22", tmp_path, file=f"slave_skip_errors = {errors}"))
    assert found.message.startswith(says)


def test_likely_memory_holds_what_is_taken(tmp_path: Path) -> None:
    """A server that takes more already than its settings explain is not reckoned to take less."""
    from rules.sizing.memory import memory_budget

    estimate = memory_budget(
        known(
            "mysql-8.0.15",
            tmp_path,
            file="innodb_buffer_pool_size = 32M",
            server={"variables": {"max_connections": "10"}, "status": {"max_used_connections": 1}},
            host={"memory": {"total": 8 << 30}, "process": {"resident": 900 << 20}},
        )
    )
    assert estimate is not None
    assert estimate.likely == estimate.measured == 900 << 20


OPEN = {"id": 4, "account": "app@10.0.0.5", "command": "Sleep", "seconds": 90}


@pytest.mark.parametrize(
    ("blocking", "says"),
    [
        ({"sessions": [OPEN | {"transaction": {"state": "RUNNING", "age": 60}}]}, "connection 4 (app@10.0.0.5)"),
        ({"sessions": [OPEN | {"transaction": {"state": "RUNNING", "age": 59}}]}, "purge may be behind"),
        (
            {"detached": [{"state": "RUNNING", "age": 60}]},
            "purge has not yet removed the old rows of that many transactions.",
        ),
    ],
)
def test_a_long_history_names_an_old_transaction_alone(blocking: dict[str, object], says: str, tmp_path: Path) -> None:
    """A transaction of a minute is named; without one purge may be behind, unless one has no session."""
    server = {"innodb_metrics": {"trx_rseg_history_len": 2_000_000}, "blocking": blocking}
    assert says in first("long-undo-history", known("mysql-9.7.4", tmp_path, server=server)).message


def test_the_end_of_a_session_depends_on_the_platform(tmp_path: Path) -> None:
    """Amazon RDS and Azure have procedures in place of KILL; a session that has only read is not ended."""
    waiter = {"id": 5, "account": "app@b", "command": "Query", "transaction": {"state": "LOCK WAIT", "waiting": 9}}
    for managed, end in (("", "KILL 4;"), ("rds", "CALL mysql.rds_kill(4);"), ("azure", "CALL mysql.az_kill(4);")):
        holder = OPEN | {"transaction": {"state": "RUNNING", "age": 90, "rows_modified": 20_000}}
        waits = [{"waiter": 5, "blocker": 4, "lock": "rows"}]
        server = {"managed": managed, "blocking": {"sessions": [holder, waiter], "waits": waits}}
        found = first("idle-session-blocks-rows", known("mysql-8.0.36", tmp_path, server=server))
        assert found.actions[-1].statement == end
        assert "20,000 rows" in found.actions[-1].risk
    view = OPEN | {"seconds": 7200, "transaction": {"state": "RUNNING", "age": 7200}}
    idle = first("transaction-left-open", known("mysql-8.0.36", tmp_path, server={"blocking": {"sessions": [view]}}))
    assert not any("KILL" in (action.statement or "") for action in idle.actions)


def test_one_temporary_table_takes_no_more_than_temptable_has(tmp_path: Path) -> None:
    """The limit of one table is no larger than the memory that all tables of TempTable share."""
    limits = "tmp_table_size = 8G\ntemptable_max_ram = 2G"
    assert (
        "may take 2G of memory, all that"
        in first("oversized-temporary-tables", known("mysql-9.7.4", tmp_path, file=limits)).message
    )
    heap = known("mariadb-11.8", tmp_path, file="tmp_table_size = 1G\nmax_heap_table_size = 512M")
    assert "may take 512M of memory, and each session" in first("oversized-temporary-tables", heap).message


@pytest.mark.parametrize(
    ("rule", "kind", "says"),
    [
        ("access-denied-burst", "denied", "Logins failed at least 6,329 times"),
        ("aborted-connections-burst", "aborted", "At least 6,329 connections were aborted"),
    ],
)
def test_counts_of_a_log_that_was_read_from_its_middle_on(rule: str, kind: str, says: str, tmp_path: Path) -> None:
    """Where only the end of a long error log was read, there may be more."""
    event = {"count": 6329, "first": "2026-11-25 11:00:00", "last": "2026-11-25 11:30:00", "peak": 6329}
    log = {"taken_at": "2026-11-25T12:00:00+00:00", "error_log": {"events": {kind: event}}}
    whole = known("mariadb-10.11", tmp_path, server=log)
    assert "t least" not in first(rule, whole).message
    whole.unavailable = (Unavailable("server.error_log.older", "its last 2M were read"),)
    assert first(rule, whole).message.startswith(says)


@pytest.mark.parametrize(
    ("lines", "made"),
    [
        ("", "an InnoDB table"),
        ("default_storage_engine = MyISAM", "a MyISAM table"),
        ("default_storage_engine = {{ engine }}", "a table of the default engine"),
    ],
)
def test_a_missing_engine_is_replaced_by_the_default_engine(lines: str, made: str, tmp_path: Path) -> None:
    """Without NO_ENGINE_SUBSTITUTION a table of a missing engine gets default_storage_engine, InnoDB or not."""
    found = first("substituted-engine", known("mysql-5.7.22", tmp_path, file=f"sql_mode =\n{lines}"))
    assert f"creates {made} instead" in found.message


@pytest.mark.parametrize(
    "lines", ["wsrep_cluster_address = gcomm://", "wsrep_cluster_address = gcomm://a\nwsrep_new_cluster"]
)
def test_a_bootstrapping_file_may_keep_its_node_from_starting(lines: str, tmp_path: Path) -> None:
    """A node that left others behind is refused by grastate.dat, so not every start bootstraps a new cluster."""
    found = first("galera-founds-itself-anew", known("mariadb-10.11", tmp_path, file=f"wsrep_on = ON\n{lines}"))
    assert "refuses to start (safe_to_bootstrap)" in found.message


def test_a_word_that_is_no_switch_has_no_suggestion(tmp_path: Path) -> None:
    """The help of a word that means neither ON nor OFF suggests no empty value."""
    lines = "plugin_load_add = group_replication.so\ngroup_replication_start_on_boot = PLACEHOLDER"
    found = first("adjusted-value", known("mysql-8.0.15", tmp_path, file=lines))
    assert found.help == "write ON or OFF"


def test_a_binary_log_named_zero_is_not_named_off_instead(tmp_path: Path) -> None:
    """log_bin takes a file name: OFF would name the log OFF, and the missing server_id still stops 5.7."""
    found = first("invalid-value", known("mysql-5.7.22", tmp_path, file="log_bin = 0"))
    assert "OFF" not in found.help
    assert found.fix is None


def test_modules_of_metrics_belong_in_one_line(tmp_path: Path) -> None:
    """Only the last innodb_monitor_enable counts, and it takes a list: the help does not ask to give one up."""
    lines = "innodb_monitor_enable = module_dml\ninnodb_monitor_enable = module_os"
    found = first("duplicate-option", known("mysql-9.7.4", tmp_path, file=lines))
    assert found.help == "write all in one line, with commas"
    assert found.fix is not None
    assert found.fix.applicability == "unsafe"


@pytest.mark.parametrize(
    ("target", "line", "uses"),
    [
        ("mysql-9.7.4", "innodb_buffer_pool_size = 1536", "5242880"),
        ("mysql-5.7.22", "key_buffer_size = 64", "0"),
        ("mariadb-11.8.9", "max_allowed_packet = 16", "1024"),
    ],
)
def test_a_size_without_its_unit_is_not_fixed_to_what_is_left_of_it(
    target: str, line: str, uses: str, tmp_path: Path
) -> None:
    """64 for 64M becomes 0 or the minimum: a fix that writes this would hide what was meant."""
    found = first("adjusted-value", known(target, tmp_path, file=line))
    number = line.rpartition(" ")[2]
    assert found.help.startswith(f"write the size with its unit, such as {number}M: {number} is a number of bytes")
    assert found.help.endswith(f"the server uses {uses}")
    assert found.fix is None


@pytest.mark.parametrize("line", ["table_open_cache = 0", "thread_cache_size = 16385", "sort_buffer_size = 16384"])
def test_other_numbers_are_fixed_to_the_value_in_use(line: str, tmp_path: Path) -> None:
    """A number that is no size, or that is a plausible number of bytes, gets the value that the server uses."""
    found = first("adjusted-value", known("mysql-9.7.4", tmp_path, file=line))
    assert "the value in use" in found.help
    assert found.fix is not None


@pytest.mark.parametrize(
    ("rule", "line", "value"),
    [
        ("deprecated-option", "slave_skip_errors = 1062", None),
        ("deprecated-option", "skip_slave_start", None),
        ("unknown-option", "innodb_bufer_pool_size = 1G", None),
        ("adjusted-value", "max_binlog_size = 100000001", "99999744"),
        ("adjusted-value", "  max_binlog_size=100000001", "99999744"),
    ],
)
def test_a_new_name_is_not_taken_for_a_value(rule: str, line: str, value: str | None, tmp_path: Path) -> None:
    """The app shows the value that a correction writes; of an option that is renamed there is none."""
    found = first(rule, known("mysql-8.0.43", tmp_path, file=line))
    assert found.fix is not None
    change = advised_value(found)
    assert (change and change.after) == value


COLUMN = {"schema": "a", "table": "b", "column": "c", "type": "int", "next": 2147483000}
LOG_EVENT = {"count": 2, "first": "2026-11-25 11:00:00", "last": "2026-11-25 11:00:00"}
AT_END = "2026-11-25T12:00:00+00:00"


@pytest.mark.parametrize(
    ("a_day", "words"),
    [
        (0.4, "less than one value is used a day, which leaves 1,618 days."),
        (1.0, "1 value is used a day, which leaves 647 days."),
        (431.0, "431 values are used a day, which leaves 2 days."),
        (647.0, "647 values are used a day, which leaves 1 day."),
        (9000.0, "9,000 values are used a day, which leaves less than a day."),
    ],
)
def test_rates_of_auto_increment_columns(a_day: float, words: str, tmp_path: Path) -> None:
    """One and less than one are not plural, and no rate or time is said to be 0."""
    schema = {"auto_increments": [COLUMN | {"per_day": a_day}]}
    finding = first("auto-increment-near-end", known("mysql-8.0.15", tmp_path, server={}, schema=schema))
    assert finding.message.endswith(words)


@pytest.mark.parametrize(("connected", "words"), [(1, "Replicas scan"), (0, "A replica would scan")])
def test_only_connected_replicas_scan(connected: int, words: str, tmp_path: Path) -> None:
    """A server that writes a binary log without replicas has none that scans now."""
    server = {"variables": {"log_bin": "ON"}, "replication": {"replicas_connected": connected}}
    schema = {"without_key": [{"schema": "a", "table": "b", "rows": 20000}]}
    finding = first("unkeyed-table-in-row-log", known("mysql-8.0.15", tmp_path, server=server, schema=schema))
    assert finding.message.startswith(words)


@pytest.mark.parametrize(
    ("rule", "kind", "details", "words"),
    [
        ("table-full-logged", "table_full", ["(temporary)"], "Tables were full (temporary), 2 messages"),
        ("replication-error-logged", "replication", ["1032", "1062"], "The replica logged errors (errors 1032, 1062)"),
        ("replication-error-logged", "replication", ["1062"], "The replica logged errors (error 1062)"),
    ],
)
def test_details_in_brackets(rule: str, kind: str, details: list[str], words: str, tmp_path: Path) -> None:
    """Brackets are not doubled, and several errors are plural."""
    log = {"events": {kind: LOG_EVENT | {"details": details}}}
    finding = first(rule, known("mysql-9.7.4", tmp_path, server={"taken_at": AT_END, "error_log": log}))
    assert finding.message.startswith(words)


@pytest.mark.parametrize(
    ("rule", "line", "text"),
    [
        ("interactive-timeout-alone", "interactive_timeout = 5400", "end after 90 min; those of programs"),
        ("interactive-timeout-alone", "interactive_timeout = 5399", "end after 5,399 s; those of programs"),
        ("row-waits-for-hours", "innodb_lock_wait_timeout = 7199", "may wait 7,199 s for a row"),
        ("metadata-wait-for-days", "lock_wait_timeout = 172799", "may wait 172,799 s for its metadata lock"),
    ],
)
def test_a_configured_time_is_said_as_it_is(rule: str, line: str, text: str, tmp_path: Path) -> None:
    """A configured number of seconds is not rounded down: 5,399 s are not 1 h."""
    assert text in first(rule, known("mysql-8.0.15", tmp_path, file=line)).message
