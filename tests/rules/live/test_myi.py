"""The rules about engines, logs and modes, before real servers that are set badly and driven."""

from __future__ import annotations

import time
from hashlib import md5
from typing import TYPE_CHECKING

import pytest
from counter_windows import SECONDS, lasting

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from probes.sandbox import SandboxError
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from real_servers import Start

    from advisor.core.model import Finding
    from advisor.facts import Facts
    from probes.sandbox import Sandbox

OURS = [rule for rule in all_rules() if rule.family in {"MYI", "ARI", "OBS", "MOD"}]
LATER = 8 * 86400.0
ROWS = 4000
ENGINES = ("MyISAM", "Aria")
SCANS = 20
BOTH = """[mysqld]
flush_time = 3600
character_set_server = utf8
collation_server = utf8_unicode_ci
skip_character_set_client_handshake
explicit_defaults_for_timestamp = OFF
eq_range_index_dive_limit = 10
innodb_status_output = ON
sql_mode = STRICT_TRANS_TABLES
low_priority_updates = ON
"""
OF_BOTH = {
    "periodic-table-close", "three-byte-unicode", "overruled-client-character-set", "implicit-timestamp-defaults",
    "updates-behind-selects", "few-index-dives",
    "status-in-error-log", "substituted-engine", "warnings-not-logged", "copying-alter-table",
}  # fmt: skip
MYSQL = """
delay_key_write = ALL
myisam_recover_options = FORCE
key_buffer_size = 256M
old_alter_table = ON
performance_schema = OFF
slow_query_log = ON
long_query_time = 0
log_queries_not_using_indexes = ON
log_error_verbosity = 1
"""
OF_MYSQL = {
    "delayed-key-writes", "repair-without-copy", "idle-key-buffer", "performance-schema-off",
    "every-statement-in-slow-log",
}  # fmt: skip
MARIADB = """
myisam_recover_options = OFF
key_buffer_size = 64K
alter_algorithm = COPY
aria_pagecache_buffer_size = 256K
aria_log_purge_type = external
aria_checkpoint_interval = 0
aria_page_checksum = OFF
aria_recover_options = OFF
optimizer_prune_level = 0
general_log = ON
log_output = NONE
slow_query_log_file = slow.log
log_warnings = 0
"""
OF_MARIADB = {
    "no-myisam-repair", "aria-logs-kept", "aria-checkpoints-off", "aria-checksums-off", "no-aria-repair",
    "exhaustive-join-search", "log-output-none", "unused-slow-log-settings",
}  # fmt: skip


def facts_of(sandbox: Sandbox, wait: Callable[[float], object] | None = None) -> Facts:
    """What an audit reads of the server, as if it had been up for a week longer; `wait` is done in its window."""
    account = Account(user="root", socket=sandbox.socket)
    return lasting(
        collect_from_account(account, CollectRequest(window=SECONDS if wait else 0.0), wait or time.sleep), LATER
    )


def found(facts: Facts) -> dict[str, Finding]:
    """The findings of these families by rule."""
    return {f.name: f for f in run_rules(build_context(facts), OURS).findings}


def try_advice(sandbox: Sandbox, findings: dict[str, Finding]) -> list[str]:
    """Send each statement of the advice, its undo, and the statement again; the lines for the file."""
    actions = [action for finding in findings.values() for action in finding.actions]
    with sandbox.connect() as connection, connection.cursor() as cursor:
        for statement in (s for a in actions for s in (a.statement, a.undo, a.statement) if s is not None):
            cursor.execute(statement)
            cursor.execute("SHOW WARNINGS")
            assert [row for row in cursor.fetchall() if "truncated" in str(row).lower()] == [], statement
    return [action.option_line for action in actions if action.option_line]


def fill(sandbox: Sandbox) -> None:
    """A table of each engine, with an index of about a megabyte that no prefix makes smaller."""
    texts = [(md5(str(n).encode(), usedforsecurity=False).hexdigest() * 6,) for n in range(ROWS)]
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE driven")
        for engine in ENGINES:
            cursor.execute(
                f"CREATE TABLE driven.{engine} (f VARCHAR(200), KEY (f)) CHARACTER SET latin1 ENGINE = {engine}"
            )
            cursor.executemany(f"INSERT INTO driven.{engine} VALUES (%s)", texts)  # noqa: S608 - one of two words


def drive(sandbox: Sandbox) -> None:
    """Within the window: the indexes of both tables are read whole, time and again."""
    with sandbox.connect() as connection, connection.cursor() as cursor:
        for engine in ENGINES * SCANS:
            cursor.execute(f"SELECT COUNT(*) FROM driven.{engine} FORCE INDEX (f) WHERE f > '0'")  # noqa: S608 - likewise
            assert cursor.fetchall() == ((ROWS,),)


def test_a_badly_set_mysql(start: Start, tmp_path: Path) -> None:
    """Each setting is found, the advice runs and stands a restart, and names in another case stop the next one."""
    file = tmp_path / "my.cnf"
    file.write_text(BOTH + MYSQL, "utf-8")
    sandbox = start("mysql-8.0", option_file=file)
    findings = found(facts_of(sandbox))
    assert set(findings) == OF_BOTH | OF_MYSQL
    lines = try_advice(sandbox, findings)
    assert set(found(facts_of(sandbox))) & {"every-statement-in-slow-log", "unlimited-index-log"} == {
        "unlimited-index-log"
    }
    kept = BOTH.replace("explicit_defaults_for_timestamp = OFF\n", "")  # deprecated: the line is to be removed
    file.write_text("\n".join((kept, MYSQL, *lines)), "utf-8")
    sandbox.restart()
    left = {"overruled-client-character-set", "substituted-engine", "unlimited-index-log"}
    assert set(found(facts_of(sandbox))) == left
    file.write_text(BOTH + "lower_case_table_names = 1\n", "utf-8")
    assert found(facts_of(sandbox))["changed-name-case"].severity == "error"
    with pytest.raises(SandboxError, match="lower_case_table_names"):
        sandbox.restart()


def test_a_badly_set_mariadb_with_small_caches(start: Start, tmp_path: Path) -> None:
    """Each setting is found, and the caches that its tables don't fit in; with the advice it starts again."""
    file = tmp_path / "my.cnf"
    file.write_text(BOTH + MARIADB, "utf-8")
    sandbox = start("mariadb-10.11", option_file=file)
    fill(sandbox)
    findings = found(facts_of(sandbox, lambda _: drive(sandbox)))
    assert set(findings) == OF_BOTH | OF_MARIADB | {"key-blocks-from-disk", "aria-pages-from-disk"}
    lines = [*try_advice(sandbox, findings), "aria_pagecache_buffer_size = 256M"]
    file.write_text("\n".join((BOTH, MARIADB, *lines)), "utf-8")
    sandbox.restart()
    # The slow log's file is set and log_output = NONE would discard the log: a line is to be removed by hand.
    by_hand = "unused-slow-log-settings"
    left = {"overruled-client-character-set", "substituted-engine", "idle-aria-page-cache", by_hand}
    assert set(found(facts_of(sandbox))) == left
