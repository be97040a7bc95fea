"""What findings say of the source of a running value: who set it, when, and what restores the default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from advisor.analysis import run_rules
from rules import all_rules, find_rule
from tests.rules.test_messages import first, known

if TYPE_CHECKING:
    from pathlib import Path


SETTER = {"account": "app@10.0.0.3", "at": 1795835520}
LOST = "innodb_flush_log_at_trx_commit"
SET_BY = "by app@10.0.0.3 at 2026-11-28 03:12 UTC"
RESTORES = "run SET GLOBAL {} = DEFAULT"
PURGED = {
    "variables": {"innodb_max_purge_lag": "1000"},
    "origins": {"innodb_max_purge_lag": "DYNAMIC"},
    "persisted": {},
}


@pytest.mark.parametrize(
    ("target", "server", "file", "words"),
    [
        ("mysql-9.7.4", PURGED, "", RESTORES.format("innodb_max_purge_lag")),
        ("mariadb-11.8.9", PURGED, "", RESTORES.format("innodb_max_purge_lag")),
        ("mysql-9.7.4", {"variables": {}}, "innodb_max_purge_lag = 1000", "remove the line"),
    ],
)
def test_a_value_set_at_run_time_has_no_line_to_remove(
    target: str, server: dict[str, object], file: str, words: str, tmp_path: Path
) -> None:
    """The statement that restores the default is advised, unless a line sets the value."""
    context = known(target, tmp_path, file=file, server=server)
    assert [f.help for f in run_rules(context, all_rules()).findings if f.code == "INN041"] == [words]


def test_a_session_that_set_its_own_value_hides_no_line(tmp_path: Path) -> None:
    """MySQL says DYNAMIC after any SET SESSION; a running value that the file gives is still found at its line."""
    running = known(
        "mysql-8.0.15",
        tmp_path,
        file="sort_buffer_size = 64M",
        server={"origins": {"sort_buffer_size": "DYNAMIC", "join_buffer_size": "DYNAMIC"}},
    )
    found = first("oversized-sort-buffer", running)
    assert found.location is not None
    assert not running.is_set("join_buffer_size"), "a default is not explicit, even if a session set it"


def test_a_value_that_the_file_does_not_give_was_set_at_run_time(tmp_path: Path) -> None:
    """Where the running value is another than the file's, the server's report of it counts."""
    running = known(
        "mysql-8.0.15",
        tmp_path,
        file="sort_buffer_size = 64M",
        server={"variables": {"sort_buffer_size": "33554432"}, "origins": {"sort_buffer_size": "DYNAMIC"}},
    )
    assert first("oversized-sort-buffer", running).location is None
    assert "set at run time" in first("file-differs-from-running", running).message


@pytest.mark.parametrize(("name", "value", "words"), [
    ("max_connections", "900", f"it was set at run time {SET_BY}, and the next start restores this line's value."),
    (
        "sort_buffer_size",
        "900000",
        (
            "it was set at run time, and the next start restores this line's value. The last SET GLOBAL or SET SESSION "
            f"was {SET_BY}."
        ),
    ),
])  # fmt: skip
def test_a_value_that_differs_from_the_file_names_who_set_it(tmp_path: Path, name: str, value: str, words: str) -> None:
    """MySQL records SET SESSION in the same place, so only a variable without session values has a certain account."""
    origins = {name: {"source": "DYNAMIC", "set_by": SETTER}}
    running = known(
        "mysql-9.7.4", tmp_path, file=f"{name} = 500000", server={"variables": {name: value}, "origins": origins}
    )
    assert first("file-differs-from-running", running).message.endswith(words)


@pytest.mark.parametrize(("target", "source", "persisted", "words"), [
    ("mysql-8.0.15", "DYNAMIC", {}, f"Set with SET GLOBAL {SET_BY}, in no option file: the next restart loses it."),
    ("mysql-8.0.15", "DYNAMIC", {LOST: "0"}, f"Set with SET PERSIST {SET_BY}."),
    ("mysql-8.0.15", "DYNAMIC", None, f"Set with SET GLOBAL or SET PERSIST {SET_BY}."),
    ("mysql-8.0.15", "PERSISTED", {LOST: "0"}, f"Set with SET PERSIST {SET_BY}."),
    ("mariadb-10.11.19", "SQL", None, "Set with SET GLOBAL, in no option file: the next restart loses it."),
    ("mysql-8.0.15", "COMMAND_LINE", {}, ""),
])  # fmt: skip
def test_a_finding_names_the_statement_that_set_its_value(
    tmp_path: Path, target: str, source: str, persisted: dict[str, str] | None, words: str
) -> None:
    """The account is named if the server reports it; without mysqld-auto.cnf it may have been SET PERSIST."""
    setter = {} if source == "SQL" else {"set_by": SETTER}
    server = {
        "variables": {LOST: "0"},
        "origins": {LOST: {"source": source, **setter}},
        **({} if persisted is None else {"persisted": persisted}),
    }
    rule = find_rule("lost-commits")
    assert rule is not None
    (found,) = run_rules(known(target, tmp_path, server=server), [rule]).findings
    assert found.set_by == words


def test_the_account_that_set_a_value_is_data(tmp_path: Path) -> None:
    """An account may be called anything and is shown on one line; a time that no server has is left out."""
    setter = {"account": "x\x1b[2J\ny@h", "at": 10**20}
    origins = {"max_connections": {"source": "DYNAMIC", "set_by": setter}}
    running = known(
        "mysql-9.7.4",
        tmp_path,
        file="max_connections = 500",
        server={"variables": {"max_connections": "900"}, "origins": origins},
    )
    message = first("file-differs-from-running", running).message
    assert "\x1b" not in message
    assert "\n" not in message
    assert "UTC" not in message


def test_init_file_sets_its_values_at_each_start(tmp_path: Path) -> None:
    """MySQL names boot without a host for init_file: the next restart sets the value again, and loses nothing."""
    origins = {LOST: {"source": "DYNAMIC", "set_by": {"account": "boot", "at": 1795835520}}}
    server = {"variables": {LOST: "0"}, "origins": origins}
    rule = find_rule("lost-commits")
    assert rule is not None
    (found,) = run_rules(known("mysql-8.0.15", tmp_path, server=server), [rule]).findings
    assert "by init_file at 2026-11-28 03:12 UTC" in found.set_by
    assert "restart" not in found.set_by
    drift = first("file-differs-from-running", known("mysql-8.0.15", tmp_path, file=f"{LOST} = 2", server=server))
    assert drift.message.endswith("init_file sets it at each start, after this line is read.")


def test_the_running_value_has_the_unit_of_the_line(tmp_path: Path) -> None:
    """Where the line is 64M, the running value is 128M and not 134217728; without a unit it is as the server has it."""
    server = {"variables": {"sort_buffer_size": "134217728"}}
    begins = {"64M": "sort_buffer_size is 128M in", "67108864": "sort_buffer_size is 134217728 in"}
    for value, begin in begins.items():
        running = known("mysql-9.7.4", tmp_path, file=f"sort_buffer_size = {value}", server=server)
        assert first("file-differs-from-running", running).message.startswith(begin)


def test_a_session_that_set_its_own_value_sets_no_variable(tmp_path: Path) -> None:
    """MySQL reports DYNAMIC for variables that clients set for themselves; the default still isn't explicit."""
    server = {
        "variables": {"foreign_key_checks": "ON", "sql_notes": "OFF"},
        "origins": {"foreign_key_checks": "DYNAMIC", "sql_notes": "DYNAMIC"},
    }
    running = known("mysql-8.0.15", tmp_path, server=server)
    assert not running.is_set("foreign_key_checks")
    assert running.is_set("sql_notes")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"file": "max_connect_errors = 50"}, "remove the line"),
        (
            {"server": {"origins": {"max_connect_errors": "DYNAMIC"}, "persisted": {}}},
            "run SET GLOBAL max_connect_errors = DEFAULT",
        ),
        (
            {"server": {"origins": {"max_connect_errors": "DYNAMIC"}}},
            "run SET GLOBAL max_connect_errors = DEFAULT and RESET PERSIST IF EXISTS max_connect_errors",
        ),
        (
            {"server": {"origins": {"max_connect_errors": "PERSISTED"}, "persisted": {"max_connect_errors": "50"}}},
            "run RESET PERSIST",
        ),
    ],
)
def test_no_line_is_to_be_removed_where_none_is(words: dict[str, Any], says: str, tmp_path: Path) -> None:
    """A value that was set at run time goes back to its default by statements, as it may be persisted too."""
    off = {"max_connect_errors": "50", "skip_name_resolve": "ON"}
    server = {"variables": off, **words.get("server", {})}
    rule = find_rule("uncounted-connect-errors")
    assert rule is not None
    (finding,) = run_rules(known("mysql-8.0.15", tmp_path, **(words | {"server": server})), [rule]).findings
    assert finding.help.startswith(says)
