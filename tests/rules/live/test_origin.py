"""Advice follows where a value comes from: applied as printed, and after a restart the finding is gone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from advisor.analysis import run_rules, select_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from rules.core.statements import action_place

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Start

    from advisor.core.model import Finding
    from probes.sandbox import Sandbox

# Of each rule one option that it reports, a bad value, and whether it can be set at run time.
BAD = {
    "DUR001": ("innodb_flush_log_at_trx_commit", "2"),
    "BUF004": ("join_buffer_size", "67108864"),
    "BUF003": ("sort_buffer_size", "67108864"),
}
PERSISTED_ALONE = ["mysql-8.0", "mysql-9.7"]
# A third of a start, and none of these rules asks it anything.
QUICKLY = ("--performance-schema=OFF",)


def found(server: Sandbox) -> dict[str, Finding]:
    """The findings of the rules of BAD, and what is said of lines that do not decide, by code."""
    facts = collect_from_account(Account(user="root", socket=server.socket), CollectRequest(window=0.0))
    return {f.code: f for f in run_rules(build_context(facts), select_rules([*BAD, "OPT016"], None)).findings}


def sent(server: Sandbox, *statements: str) -> None:
    """Run statements as root."""
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def carry_out(server: Sandbox, file: Path, findings: dict[str, Finding]) -> None:
    """Send the statements, and write each line or argument where the advice says; then restart."""
    arguments = list(server.arguments)
    for finding in (finding for code, finding in findings.items() if code in BAD):
        assert finding.actions, finding
        for action in finding.actions:
            if action.statement:
                sent(server, action.statement)
            if action.argument:
                assert action_place(action) == "the server's command line"
                arguments[arguments.index(action.replaces)] = action.argument
            if action.option_line:
                assert action.place is not None
                assert action.place.path == str(file)
                lines = file.read_text("utf-8").split("\n")
                if action.place.line:
                    assert lines[action.place.line - 1] == action.replaces
                    lines[action.place.line - 1] = action.option_line
                else:
                    lines += [action.option_line, ""]
                file.write_text("\n".join(lines), "utf-8")
    server.restart(arguments)


@pytest.mark.parametrize("words", ["before a restart", "after it"])
@pytest.mark.servers(*PERSISTED_ALONE)
def test_a_persisted_value_is_persisted_again(server_name: str, start: Start, tmp_path: Path, words: str) -> None:
    """A persisted value outranks a correct line of the file: the advice is SET PERSIST, and no line."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\ninnodb_flush_log_at_trx_commit = 1\n", "utf-8")
    server = start(server_name, option_file=file, arguments=QUICKLY)
    sent(server, *(f"SET PERSIST {name} = {value}" for name, value in BAD.values()))
    if words == "after it":
        server.restart()
    before = found(server)
    assert before.keys() >= BAD.keys()
    for code in BAD:
        (action,) = before[code].actions
        assert (action.option_line, action.argument) == (None, None)
        assert (action.statement or "").startswith("SET PERSIST "), action
    assert "RESET PERSIST innodb_flush_log_at_trx_commit" in before["OPT016"].help
    carry_out(server, file, before)
    assert found(server) == {}


@pytest.mark.servers(*PERSISTED_ALONE)
def test_what_stands_beside_a_line_is_carried_out_too(server_name: str, start: Start, tmp_path: Path) -> None:
    """RESET PERSIST and SET GLOBAL, as the help of OPT016 prints them, leave the file's value in force."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nsort_buffer_size = 1M\n", "utf-8")
    server = start(server_name, option_file=file, arguments=QUICKLY)
    sent(server, "SET PERSIST sort_buffer_size = 524288")
    advice = found(server)["OPT016"].help
    printed = re.fullmatch(r"to use the line, run (RESET PERSIST \w+), then (SET GLOBAL \w+ = \d+); to keep .*", advice)
    assert printed, advice
    sent(server, *printed.groups())
    assert found(server) == {}
    server.restart()
    assert found(server) == {}


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11", "mariadb-11.8", whole="mysql-8.0 mariadb-11.4")
def test_an_argument_is_replaced_where_it_stands(server_name: str, start: Start, tmp_path: Path) -> None:
    """The command line outranks the file: the advice is another argument, in the spelling that stands there."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\n", "utf-8")
    words = [f"--{name.replace('_', '-') if code != 'BUF003' else name}={value}" for code, (name, value) in BAD.items()]
    server = start(server_name, option_file=file, arguments=[*QUICKLY, *words])
    before = found(server)
    assert before.keys() >= BAD.keys()
    assert [before[code].actions[0].option_line for code in BAD] == [None] * len(BAD)
    assert (before["BUF003"].actions[0].argument or "").startswith("--sort_buffer_size=")
    assert before["DUR001"].actions[0].argument == "--innodb-flush-log-at-trx-commit=1"
    carry_out(server, file, before)
    assert found(server) == {}


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11", "mariadb-11.8", whole="mysql-8.0 mariadb-11.4")
def test_the_line_that_decides_is_replaced(server_name: str, start: Start, tmp_path: Path) -> None:
    """Of several lines the last, and where none sets the option the file that the server reads."""
    file = tmp_path / "my.cnf"
    lines = [f"{name} = {value}" for name, value in BAD.values()]
    file.write_text("\n".join(["[mysqld]", "sort-buffer-size = 1M", *lines, ""]), "utf-8")
    server = start(server_name, option_file=file, arguments=QUICKLY)
    before = found(server)
    assert before.keys() >= BAD.keys()
    assert before["BUF003"].actions[0].place == before["BUF003"].location
    carry_out(server, file, before)
    assert found(server) == {}


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11", "mariadb-11.8", whole="mysql-8.0 mariadb-11.4")
def test_what_was_set_at_run_time_needs_no_line(server_name: str, start: Start, tmp_path: Path) -> None:
    """Where the file has the advised value already, only the statement is advised."""
    if server_name == "mysql-5.7":
        pytest.skip("MySQL 5.7 does not report what was set at run time")
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\ninnodb_flush_log_at_trx_commit = 1\n", "utf-8")
    server = start(server_name, option_file=file, arguments=QUICKLY)
    sent(server, "SET GLOBAL innodb_flush_log_at_trx_commit = 2")
    (action,) = found(server)["DUR001"].actions
    assert (action.statement, action.option_line) == ("SET GLOBAL innodb_flush_log_at_trx_commit = 1;", None)


@pytest.mark.servers("mariadb-10.11", "mysql-8.0")
def test_the_expiry_that_decides_is_cited_and_replaced(server_name: str, start: Start, tmp_path: Path) -> None:
    """`expire_logs_days = 0` switches the expiry off, not the log_bin beside it."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nlog_bin = binlog\nserver_id = 3\nexpire_logs_days = 0\n", "utf-8")
    server = start(server_name, option_file=file, arguments=QUICKLY)
    facts = collect_from_account(Account(user="root", socket=server.socket), CollectRequest(window=0.0))
    (finding,) = run_rules(build_context(facts), select_rules(["BIN001"], None)).findings
    assert finding.location is not None
    assert finding.location.line == 4
    (action,) = finding.actions
    assert action.place is not None
    assert (action.place.line, action.replaces) == (4, "expire_logs_days = 0")
    file.write_text(file.read_text("utf-8").replace(action.replaces, action.option_line or ""), "utf-8")
    server.restart()
    facts = collect_from_account(Account(user="root", socket=server.socket), CollectRequest(window=0.0))
    assert run_rules(build_context(facts), select_rules(["BIN001"], None)).findings == ()


@pytest.mark.servers("mysql-9.7")
def test_a_removal_is_advised_where_the_value_is(server_name: str, start: Start, tmp_path: Path) -> None:
    """A rule that would remove a line says RESET PERSIST of a persisted value, and the argument of a given one."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\n", "utf-8")
    server = start(server_name, option_file=file, arguments=[*QUICKLY, "--innodb-force-recovery=1"])
    facts = collect_from_account(Account(user="root", socket=server.socket), CollectRequest(window=0.0))
    helps = {f.canonical: f.help for f in run_rules(build_context(facts), select_rules(["INN"], None)).findings}
    assert helps["innodb_force_recovery"].startswith("remove --innodb-force-recovery=1 from the server's command line")
    remote = replace(facts, files=None, host=None)
    helps = {f.canonical: f.help for f in run_rules(build_context(remote), select_rules(["INN"], None)).findings}
    assert "command line" in helps["innodb_force_recovery"]
