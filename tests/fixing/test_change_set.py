"""The change set: what is merged, refused and left out, and what servers and `patch` do with its files."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from audit_samples import audited, many
from msgspec.structs import replace
from mycnf_command import CHECKOUT
from server_restart import variables

from advisor.cli.parser import build_parser
from advisor.commands.app import make_opening
from advisor.core.model import Action, Confidence, Finding, Location, Severity
from advisor.fixing.change_set import ChangeSet, apply_sql, build_change_set, option_diff, rollback_sql
from advisor.redaction import MASK
from advisor.report.audit.ticket import LONGEST, short_ticket
from rules.core.advice import advised_value

if TYPE_CHECKING:
    from real_servers import Start

    from advisor.analysis.audited import AuditResult
    from probes.sandbox import Sandbox

# They change without a statement, or by being read.
RESTLESS = ("timestamp", "gtid", "innodb_redo_log_capacity_resized", "last_insert_id", "innodb_thread_sleep_delay")


def advice(code: str, option: str, value: str, *, statement: bool = True) -> Finding:
    """A finding that advises to set the option to the value."""
    sent = f"SET GLOBAL {option} = {value};" if statement else None
    undo = f"SET GLOBAL {option} = 1;" if statement else None
    action = Action(f"{option} = {value}", sent, restart=not statement, undo=undo)
    about = (code, "a-pattern", Severity.WARNING, Confidence.CERTAIN, "It is wrong.")
    return Finding(*about, option=option, canonical=option, value="1", actions=(action,))


def audit(*words: str) -> AuditResult:
    """An audit as the app reads it."""
    feed = make_opening(build_parser("audit").parse_args(["audit", *words])).feed
    assert feed is not None
    return feed.read_view().audited


def built(*findings: Finding) -> ChangeSet:
    """The change set of findings on the recorded server."""
    return build_change_set(audited(*findings), findings)


def test_equal_advice_is_merged_and_contradictions_are_refused_by_name() -> None:
    """Two findings with one value are one change; with two values neither is, and the line names both findings."""
    same = built(advice("TST001", "max_connections", "200"), advice("TST002", "max_connections", "200"))
    assert [(change.option, change.codes) for change in same.changes] == [("max_connections", "TST001, TST002")]
    against = built(advice("TST001", "max_connections", "200"), advice("TST002", "max_connections", "300"))
    assert against.changes == ()
    (line,) = against.refused
    assert "max_connections: TST001 advises 200; TST002 advises 300" in line


def test_a_finding_is_left_out_as_a_whole() -> None:
    """Where one part of what a finding advises is refused, the other part is not carried out alone."""
    both = advice("TST001", "max_connections", "200")
    both = both._replace(actions=(*both.actions, *advice("TST001", "back_log", "80").actions))
    left = built(both, advice("TST002", "max_connections", "300"), advice("TST003", "port", "3307"))
    assert [change.option for change in left.changes] == ["port"]


def test_a_limit_is_raised_before_what_it_limits() -> None:
    """A value beyond the old maximum comes after the new maximum, and is restored before it."""
    low, high = advice("TST001", "innodb_io_capacity", "900000"), advice("TST002", "innodb_io_capacity_max", "900000")
    changes = built(low, high)
    up = apply_sql(audited(), changes)
    down = rollback_sql(audited(), changes)
    assert up.index("innodb_io_capacity_max = 900000") < up.index("innodb_io_capacity = 900000")
    assert down.index("innodb_io_capacity = 1;") < down.index("innodb_io_capacity_max = 1;")


def test_what_stands_elsewhere_is_left_to_the_user() -> None:
    """An argument of a command line, a place that was not read, and KILL are reported, not put into a file."""
    unit = Location("/etc/systemd/system/mysql.service", 3)
    argument = Action(argument="--port=3307", place=unit, replaces="--port=3306", restart=True)
    managed = Action(option_line="port = 3307", risk="set it in the parameter group of rds", restart=True)
    kill = Action(statement="KILL 12;")
    about = advice("TST001", "port", "1")
    for action, words in (
        (argument, "/etc/systemd/system/mysql.service:3"),
        (managed, "parameter group"),
        (kill, "KILL"),
    ):
        changes = built(about._replace(actions=(action,)))
        assert words in changes.changes[0].by_hand
        assert changes.files == ()
        statements = [line for line in apply_sql(audited(), changes).splitlines() if line and not line.startswith("--")]
        assert statements == []


def test_statements_are_not_cut_within_values() -> None:
    """A value with semicolons stays on its line; a replica is stopped and started on lines of their own."""
    finding = advice("TST001", "init_connect", "'SET a = 1; SET b = 2'")
    assert "SET GLOBAL init_connect = 'SET a = 1; SET b = 2';" in apply_sql(audited(), built(finding)).splitlines()
    around = f"STOP REPLICA; {finding.actions[0].statement} START REPLICA;"
    stopped = finding._replace(actions=(finding.actions[0]._replace(statement=around),))
    lines = apply_sql(audited(), built(stopped)).splitlines()
    at = lines.index("STOP REPLICA;")
    assert lines[at : at + 3] == ["STOP REPLICA;", finding.actions[0].statement, "START REPLICA;"]
    apart = f"{around} START REPLICA SQL_THREAD FOR CHANNEL 'x';"
    stopped = finding._replace(actions=(finding.actions[0]._replace(statement=apart),))
    lines = apply_sql(audited(), built(stopped)).splitlines()
    at = lines.index("START REPLICA;")
    assert lines[at + 1] == "START REPLICA SQL_THREAD FOR CHANNEL 'x';"


def test_a_file_that_changed_since_is_left_to_the_user() -> None:
    """Where the line of a finding no longer holds its option, no other line is changed in its place."""
    demo = audit("--demo")
    assert demo.facts.files is not None
    moved = tuple(replace(copy, text=f"# new\n{copy.text}") for copy in demo.facts.files.files)
    later = demo._replace(facts=replace(demo.facts, files=replace(demo.facts.files, files=moved)))
    changes = build_change_set(later, [f for f in demo.findings if f.code in ("BUF001", "OPT006", "OPT009")])
    assert changes.files == ()
    assert all("the file has changed" in change.by_hand for change in changes.changes)


def test_texts_of_servers_stay_in_their_comments() -> None:
    """For any finding, each line of the statements is a statement of mycnf or a comment."""
    action = advice("TST001", "port", "1").actions[0]._replace(risk="first\nDROP TABLE t;\r\x1b[31m")
    changes = built(advice("TST001", "port", "3307")._replace(name="x\nDROP TABLE t;", actions=(action,)))
    for text in (apply_sql(audited(), changes), rollback_sql(audited(), changes)):
        lines = [line for line in text.splitlines() if line and not line.startswith("-- ")]
        assert len(lines) == 1
        assert lines[0].startswith("SET GLOBAL port = ")
        assert "\x1b" not in text


def test_the_demo_has_no_secret_in_any_file() -> None:
    """The option file of the demo holds a password; no file of the change set has its line, masked or not."""
    demo = audit("--demo")
    changes = build_change_set(demo, demo.findings)
    assert len(changes.changes) > 20
    assert changes.refused == ()
    for text in (apply_sql(demo, changes), rollback_sql(demo, changes), option_diff(changes)):
        assert MASK not in text


@pytest.mark.parametrize("count", [1, 3, 40])
def test_a_short_ticket_has_whole_findings(count: int) -> None:
    """It is at most 8,000 characters long; what does not fit is named at the end, and nothing is cut."""
    audit = many(count)
    text = short_ticket(audit, audit.findings)
    assert len(text) <= LONGEST
    shown = sum(line.startswith("### ") for line in text.splitlines())
    assert shown >= 1
    assert ("do not fit into a short ticket" in text) == (shown < count)


def test_advised_values_have_one_notation() -> None:
    """Bytes are compared in the unit of the advice, and the removal of a line says so."""
    demo = audit("--demo")
    advised = {f.code: advised_value(f) for f in demo.findings}
    assert str(advised["BUF001"]).startswith("AdvisedValue(option='read_buffer_size', before='8M', after='128K'")
    sort = next(f for f in demo.findings if f.code == "BUF003")._replace(value="268435456")
    value = advised_value(sort)
    assert value is not None
    assert (value.before, value.after, value.restart_words) == ("256M", "2M", "no restart")
    assert advised["SEC003"] is None
    assert getattr(advised["OPT012"], "after", "") == "remove the line"


@pytest.mark.parametrize(
    ("statement", "option"),
    [
        ("SELECT * FROM performance_schema.threads WHERE PROCESSLIST_ID = 9 ORDER BY 1;", None),
        ("UPDATE performance_schema.setup_instruments SET ENABLED = 'YES';", None),
        ("SET PERSIST sort_buffer_size = 262144;", ("sort_buffer_size", "262144")),
        ("STOP SLAVE; SET GLOBAL relay_log_purge = ON; START SLAVE;", ("relay_log_purge", "ON")),
    ],
)
def test_only_set_names_an_advised_value(statement: str, option: tuple[str, str] | None) -> None:
    """A statement that looks or that changes rows has `=` too, and advises no value of an option."""
    finding = audit("--demo").findings[0]._replace(actions=(Action(statement=statement),), fix=None)
    change = advised_value(finding)
    assert (change and (change.option, change.after)) == option


def patched(folder: Path, diff: str, *words: str) -> str:
    """What `patch` says when it takes the diff in that folder."""
    if shutil.which("patch") is None:
        pytest.skip("patch is not installed")
    done = subprocess.run(
        ["patch", *words], input=diff, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_patch_takes_the_diff_below_any_root(tmp_path: Path) -> None:
    """`patch -p1` finds each file below the root and changes it as the change set says, secrets untouched."""
    demo = audit("--demo")
    changes = build_change_set(demo, demo.findings)
    for change in changes.files:
        path = tmp_path / change.path.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(change.before.replace(MASK.encode(), b"the real one"))
    patched(tmp_path, option_diff(changes), "-p1")
    for change in changes.files:
        path = tmp_path / change.path.lstrip("/")
        assert path.read_bytes() == change.after.replace(MASK.encode(), b"the real one")
        assert not path.with_name(path.name + ".orig").exists()  # no hunk was moved


def sent(sandbox: Sandbox, text: str) -> None:
    """Send the file as its user would, with the servers' own client, which stops at the first error."""
    if (client := shutil.which("mysql") or shutil.which("mariadb")) is None:
        pytest.skip("no client of the servers is installed")
    command = [client, "--no-defaults", "--socket", sandbox.socket, "--user", "root"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def settled(sandbox: Sandbox) -> dict[str, str]:
    """All global variables but those that change without a statement."""
    return {name: value for name, value in variables(sandbox).items() if not name.startswith(RESTLESS)}


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.8")
def test_a_server_takes_it_all_and_gives_it_back(server_name: str, start: Start, tmp_path: Path) -> None:
    """apply.sql changes the server, rollback.sql restores every variable, and it starts with the patched file."""
    file = tmp_path / "my.cnf"
    shutil.copy(CHECKOUT / "examples" / "bad.cnf", file)
    server = start(server_name, option_file=file)
    before = settled(server)
    read = audit("--socket", server.socket, "--user", "root")
    changes = build_change_set(read, read.findings)
    sent(server, apply_sql(read, changes))
    applied = settled(server)
    wanted = {change.option for change in changes.changes if change.statement}
    assert {name for name in before if before[name] != applied[name]} >= {"sync_binlog", "sort_buffer_size"} & wanted
    sent(server, rollback_sql(read, changes))
    assert settled(server) == before
    patched(Path("/"), option_diff(changes), "-p1", "-d", "/")
    assert b"example-not-a-real-password" in file.read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["my.cnf"]
    server.restart()
    left = audit("--socket", server.socket, "--user", "root")
    changed = {f for change in changes.changes for f in change.findings if change.edits}
    still = {(f.code, f.option) for f in left.findings}
    assert {(f.code, f.option) for f in changed} & still == set()


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_a_persisted_value_is_persisted_again(server_name: str, start: Start, tmp_path: Path) -> None:
    """A value of SET PERSIST gets its advice and its undo by SET PERSIST; what is persisted is as before in the end."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nmax_connections = 120\n")  # with --no-defaults the server reads no persisted values
    server = start(server_name, option_file=file)

    def persisted() -> list[object]:
        with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT * FROM performance_schema.persisted_variables ORDER BY 1")
            return list(cursor.fetchall())

    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SET PERSIST sort_buffer_size = 268435456")
        cursor.execute("SET PERSIST_ONLY innodb_log_buffer_size = 1048576")
    server.restart()
    before, kept = settled(server), persisted()
    read = audit("--socket", server.socket, "--user", "root")
    changes = build_change_set(read, [f for f in read.findings if f.canonical == "sort_buffer_size"])
    statements = apply_sql(read, changes)
    assert "SET PERSIST sort_buffer_size = " in statements
    assert changes.files == ()
    sent(server, statements)
    assert persisted() != kept
    sent(server, rollback_sql(read, changes))
    assert (settled(server), persisted()) == (before, kept)
