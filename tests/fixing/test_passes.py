"""Which fixes are made together, over which files, and for which servers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from fix_text import fixed, looks, mended

from advisor.core.model import Edit, Fix
from advisor.fixing import FixOutcome, TargetReading, fix_files, plan_fixes

NOTHING = "nothing to fix"


def run(named: Path, *targets: str, unsafe: bool = False) -> FixOutcome:
    """Fix a real file with its includes."""
    return fix_files([str(named)], looks([str(named)], *targets), unsafe=unsafe)


def test_fixes_of_one_line_come_one_after_another() -> None:
    """A new name and then a value that the server takes as it stands: two fixes, one run."""
    before = b"[mysqld]\nslave_net_timeout = 99999999999\n"
    assert fixed(before, "mysql-9.7.4") == b"[mysqld]\nreplica_net_timeout = 31536000\n"


def test_a_new_name_may_turn_a_line_into_a_duplicate() -> None:
    """What an earlier pass brings about, a later one fixes."""
    before = b"[mysqld]\nslave_net_timeout = 5\nreplica_net_timeout = 6\n"
    assert fixed(before, "mysql-9.7.4") == b"[mysqld]\nreplica_net_timeout = 6\n"


def test_a_fix_must_suit_every_target() -> None:
    """MySQL switches it on and MariaDB off, so for both of them neither may be written."""
    text = b"[mysqld]\ninnodb_flush_log_at_trx_commit=7\nmax_allowed_packet=64MB\n"
    both = mended(text, "mysql-8.4", "mariadb-11.8")
    assert both.changes[0].after == b"[mysqld]\ninnodb_flush_log_at_trx_commit=7\nmax_allowed_packet=64M\n"
    why = "MariaDB 11.8.9 would treat innodb_flush_log_at_trx_commit differently"
    assert [line for line in both.unchanged if why in line]


def test_an_unsafe_fix_for_one_target_leaves_the_others_alone() -> None:
    """What one target refuses and another uses stays; what both refuse goes."""
    text = b"[mysqld]\nquery_cache_size=1M\nno_such_thing=1\n"
    assert fixed(text, "mysql-8.4", "mariadb-11.8", unsafe=True) == b"[mysqld]\nquery_cache_size=1M\n"
    assert fixed(text, "mysql-8.4", unsafe=True) == b"[mysqld]\n"


def test_without_a_target_every_series_is_a_witness() -> None:
    """Where the server is only assumed, a safe fix must be one for every series that may read the file."""
    text = b"[mysqld]\ninnodb_redo_log_capacity=1G\nslave_net_timeout=5\nmax_allowed_packet=64MB\n"
    outcome = mended(text)
    assert outcome.changes[0].after == text.replace(b"64MB", b"64M")
    assert "MySQL 5.7.44 would treat slave_net_timeout differently (--target" in outcome.unchanged[0]
    assert fixed(text, "mysql-9.7") == text.replace(b"64MB", b"64M").replace(b"slave", b"replica")


def test_an_undecided_file_is_for_both_flavours() -> None:
    """The file shows neither MySQL nor MariaDB, so what only one of them does is not written down."""
    assert fixed(b"[mysqld]\ninnodb_flush_log_at_trx_commit=7\n") == b"[mysqld]\ninnodb_flush_log_at_trx_commit=7\n"


def test_includes_beside_the_named_file_are_fixed(tmp_path: Path) -> None:
    """A file that is included from the folder of the named one is fixed with it, each in its own place."""
    (tmp_path / "conf.d").mkdir()
    top, more = tmp_path / "my.cnf", tmp_path / "conf.d" / "a.cnf"
    top.write_text(f"[mysqld]\nread_buffer_size=64KB\n!includedir {tmp_path}/conf.d\n")
    more.write_text("[mysqld]\ninnodb_flush_log_at_trx_commit=7\n")
    outcome = run(top, "mysql-8.4")
    assert [change.path for change in outcome.changes] == [str(top), str(more)]
    assert "read_buffer_size=64K\n" in top.read_text()
    assert more.read_text() == "[mysqld]\ninnodb_flush_log_at_trx_commit=2\n"


def test_files_elsewhere_are_not_touched(tmp_path: Path) -> None:
    """An include line, or a link, that leads out of the named file's folder is no leave to write there."""
    home, away = tmp_path / "home", tmp_path / "away"
    home.mkdir()
    away.mkdir()
    top, other, linked = home / "my.cnf", away / "a.cnf", away / "b.cnf"
    top.write_text(f"!include {other}\n!include {home}/b.cnf\n[mysqld]\nmax_allowed_packet=64MB\n")
    other.write_text("[mysqld]\ninnodb_flush_log_at_trx_commit=7\n")
    linked.write_text("[mysqld]\nsort_buffer_size=512KB\n")
    (home / "b.cnf").symlink_to(linked)
    outcome = run(top, "mysql-8.4")
    assert [change.path for change in outcome.changes] == [str(top)]
    assert other.read_text() == "[mysqld]\ninnodb_flush_log_at_trx_commit=7\n"
    assert linked.read_text() == "[mysqld]\nsort_buffer_size=512KB\n"
    assert len([line for line in outcome.unchanged if "outside the directory" in line]) == 2


def test_two_names_of_one_file_are_one_file(tmp_path: Path) -> None:
    """The overridden line and the one that wins are the same line by two names: it stays."""
    top, more = tmp_path / "my.cnf", tmp_path / "a.cnf"
    top.write_text(f"!include {more}\n!include {tmp_path}/b.cnf\n")
    more.write_text("[mysqld]\nmax_connections=10\nmax_allowed_packet=64MB\n")
    (tmp_path / "b.cnf").symlink_to(more)
    run(top, "mysql-8.4", unsafe=True)
    assert more.read_text() == "[mysqld]\nmax_connections=10\nmax_allowed_packet=64M\n"
    os.unlink(tmp_path / "b.cnf")
    os.link(more, tmp_path / "b.cnf")
    assert run(top, "mysql-8.4", unsafe=True).changes == ()


def test_a_line_that_another_file_overrides_takes_the_users_word(tmp_path: Path) -> None:
    """The overridden file read alone would miss the line, so only an unsafe fix takes it out."""
    top, more = tmp_path / "my.cnf", tmp_path / "a.cnf"
    top.write_text(f"[mysqld]\nmax_connections=10\n!include {more}\n")
    more.write_text("[mysqld]\nmax_connections=20\n")
    assert run(top, "mysql-8.4").changes == ()
    assert len(run(top, "mysql-8.4", unsafe=True).changes) == 1
    assert "max_connections" not in top.read_text()


def test_several_named_files_are_fixed_separately(tmp_path: Path) -> None:
    """One that is named and included too is fixed once."""
    top, more = tmp_path / "my.cnf", tmp_path / "a.cnf"
    top.write_text(f"!include {more}\n")
    more.write_text("[mysqld]\nmax_allowed_packet=64MB\n")
    names = [str(top), str(more)]
    outcome = fix_files(names, looks(names, "mysql-8.4"))
    assert [(change.path, len(change.fixed)) for change in outcome.changes] == [(str(more), 1)]
    assert more.read_text() == "[mysqld]\nmax_allowed_packet=64M\n"


def test_a_missing_file_does_not_keep_the_others(tmp_path: Path) -> None:
    """What can't be read is reported, and the rest is fixed."""
    there = tmp_path / "my.cnf"
    there.write_text("[mysqld]\nmax_allowed_packet=64MB\n")
    names = [str(tmp_path / "missing.cnf"), str(there)]
    outcome = fix_files(names, looks(names, "mysql-8.4"))
    assert len(outcome.unread) == 1
    assert there.read_text() == "[mysqld]\nmax_allowed_packet=64M\n"


def test_a_suppressed_finding_is_not_fixed() -> None:
    """A line with a reason to leave it unchanged is unchanged."""
    text = b"[mysqld]\n# mycnf: ignore[OPT006] kept for the audit\ninnodb_flush_log_at_trx_commit=7\n"
    assert fixed(text, "mysql-8.4") == text


def test_rules_that_undo_each_other_come_to_an_end() -> None:
    """Two fixes that would undo each other stop after a number of passes, with the file whole."""
    real = looks(["my.cnf"], "mysql-8.4")

    def look(path: str, texts: Mapping[str, bytes]) -> list[TargetReading]:
        (reading,) = real(path, texts)
        wanted = "2" if b"port=1" in texts[path] else "1"
        finding = reading.findings[0]._replace(
            code=f"TST{wanted}", fix=Fix("unsafe", (Edit(2, 6, 2, 7, wanted),)), option=wanted
        )
        return [reading._replace(findings=(finding,))]

    text = b"[mysqld]\nport=1\ninnodb_flush_log_at_trx_commit=7\n"
    outcome = plan_fixes(["my.cnf"], look, unsafe=True, given={"my.cnf": text})
    assert not outcome.changes or outcome.changes[0].after == text.replace(b"port=1", b"port=2")


@pytest.mark.parametrize("edit", [Edit(2, 1, 3, 1, ""), Edit(2, 1, 2, 1, "port=2\n")])
def test_a_safe_fix_that_is_none_is_not_made(edit: Edit) -> None:
    """A fix that a rule calls safe is not made where the server would have another value afterwards."""
    real = looks(["my.cnf"], "mysql-8.4")
    text = b"[mysqld]\nread_buffer_size=64K\ninnodb_flush_log_at_trx_commit=7\n"

    def look(path: str, texts: Mapping[str, bytes]) -> list[TargetReading]:
        (reading,) = real(path, texts)
        own = [f._replace(fix=Fix("safe", (edit,))) for f in reading.findings if f.code == "OPT006"]
        return [reading._replace(findings=tuple(own))]

    outcome = plan_fixes(["my.cnf"], look, given={"my.cnf": text})
    assert outcome.changes == ()
    assert "MySQL 8.4.8 would treat" in outcome.unchanged[0]
