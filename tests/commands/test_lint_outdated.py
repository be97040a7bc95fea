"""Many deprecated options are one block in reports for people, ranked by what refuses them first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf

FILE = """[mysqld]
slave_net_timeout = 60
slave_parallel_workers = 4
expire_logs_days = 7
log_slave_updates = ON
"""


@pytest.fixture
def replica(tmp_path: Path) -> str:
    """A healthy replica's file with four deprecated options."""
    (tmp_path / "my.cnf").write_text(FILE)
    return "my.cnf"


def test_one_block_ranked_by_the_first_series_that_refuses(mycnf: Mycnf, replica: str) -> None:
    """In text and Markdown each option stands once, those that go first first; JSON keeps a finding a line."""
    target = ("--target", "mysql-8.0", "--isolated")
    found = json.loads(mycnf("lint", *target, "--format", "json", replica).out)["files"][0]["findings"]
    old = [f for f in found if f["code"] == "OPT008"]
    assert len(old) >= 3
    text = mycnf("lint", *target, replica).out
    assert text.count("deprecated-option OPT008") == 1
    assert "refused by MySQL 8.4" in text
    places = [text.index(f"{f['option']}:") for f in old]
    first = next(f for f in old if f["option"] == "expire_logs_days")
    assert text.index(f"{first['option']}:") == min(places)
    markdown = mycnf("lint", *target, "--format", "markdown", replica).out
    assert markdown.count("| Refused by |") == 1
    assert all(f"`{f['option']}`" in markdown for f in old)


def test_few_stand_at_their_own_lines(mycnf: Mycnf, tmp_path: Path) -> None:
    """Two deprecated options are reported like other findings."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nexpire_logs_days = 7\nsymbolic-links = 0\n")
    assert mycnf("lint", "--target", "mysql-8.0", "--isolated", "my.cnf").out.count("OPT008: ") == 2


def test_likely_is_said_once_where_no_server_was_examined(mycnf: Mycnf, tmp_path: Path) -> None:
    """The footer says it for a target that was never asked, and a title says it only where it distinguishes."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nmax_connections = 0\nno_such_option = 1\n")
    never = mycnf("lint", "--target", "mysql-8.4", "--isolated", "my.cnf").out
    assert "(likely)" not in never
    assert never.count("No server of MySQL 8.4.8 itself was examined") == 1
    asked = mycnf("lint", "--target", "mysql-9.7.4", "--isolated", "my.cnf").out
    assert "examined" not in asked


def test_titles_name_the_option(mycnf: Mycnf, tmp_path: Path) -> None:
    """Four warnings of one kind are told apart by their titles."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nmax_connections = 0\nnet_buffer_length = 1\n")
    out = mycnf("lint", "--target", "mysql-9.7.4", "--isolated", "my.cnf").out
    assert "adjusted-value OPT006: max_connections\n" in out
    assert "adjusted-value OPT006: net_buffer_length\n" in out
