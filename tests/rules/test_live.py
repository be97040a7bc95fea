"""Rules before real servers: silent on untouched ones, and with advice that the server takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ordinary_user import past_support, start_as_ordinary_user
from real_servers import quickly

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.core.model import Severity
from rules import all_rules

if TYPE_CHECKING:
    import pytest
    from real_servers import Start

    from advisor.analysis import RuleRun
    from probes.sandbox import Binary, Sandbox

# Values that rules report, and that every server of the six takes.
BAD = """[mysqld]
read_buffer_size = 8M
sort_buffer_size = 32M
join_buffer_size = 64M
read_rnd_buffer_size = 16M
innodb_flush_log_at_trx_commit = 2
sync_binlog = 0
innodb_random_read_ahead = ON
local_infile = ON
general_log = ON
log_bin = binlog
server_id = 7
binlog_format = STATEMENT
"""


def audited(sandbox: Sandbox) -> RuleRun:
    """All findings of all rules about a running server."""
    facts = collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=0.0))
    return run_rules(build_context(facts), all_rules())


def test_an_untouched_server_gets_no_error_and_no_warning(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """A default server of each series is as its maker wants it: one warning where support ended, else notes at most."""
    with start_as_ordinary_user(binary, tmp_path, templates, *quickly(binary)) as untouched:
        found = audited(untouched).findings
    assert {f.code for f in found if f.severity is not Severity.NOTE} == past_support(binary)


def test_advice_runs_as_printed(server_name: str, start: Start, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Every statement of the advice runs, its undo too, and with the advised lines in its file the server starts."""
    file = tmp_path / "my.cnf"
    file.write_text(BAD, "utf-8")
    sandbox = start(server_name, option_file=file)
    found = audited(sandbox).findings
    names = {f.name for f in found}
    assert {"lost-commits", "random-read-ahead", "general-log", "oversized-join-buffer"} <= names
    advised = [a for f in found for a in f.actions]
    connection = sandbox.connect()
    with connection, connection.cursor() as cursor:
        for action in advised:
            for statement in filter(None, (action.statement, action.undo, action.statement)):
                cursor.execute(statement)
                cursor.execute("SHOW WARNINGS")
                assert [row for row in cursor.fetchall() if "truncated" in str(row).lower()] == []
    better = tmp_path / "better.cnf"
    lines = [a.option_line for a in advised if a.option_line]
    better.write_text(BAD + "\n".join(lines) + "\n", "utf-8")
    assert start(server_name, option_file=better).running
