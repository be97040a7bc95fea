"""`mycnf suggest` as its user runs it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf

HOST = ("--ram", "64G", "--cpus", "16", "--disk", "nvme", "--target", "mysql-8.0")


def test_a_file_for_a_described_host(mycnf: Mycnf, tmp_path: Path) -> None:
    """It lints without a finding, says for what it is, and has a reason above each line."""
    file = tmp_path / "my.cnf"
    assert mycnf("suggest", *HOST, "--workload", "oltp", "-o", str(file)).code == 0
    text = file.read_text("utf-8")
    assert "64G of memory, 16 processors, nvme" in text.replace("\n# ", " ")
    assert "\n# Based on BP-01 (measured)" in text
    assert "\ninnodb_buffer_pool_size = 52G\n" in text
    linted = mycnf("lint", "--isolated", *HOST, str(file))
    assert linted.code == 0, linted.out


def test_this_host_is_read_where_none_is_described(mycnf: Mycnf) -> None:
    """The pool is a share of what this machine, or its control group, has; the target that was assumed is told."""
    ended = mycnf("suggest", "--format", "json", "--workload", "dev")
    told = json.loads(ended.out)
    assert ended.code == 0
    assert "mycnf: assuming MySQL" in ended.err
    assert told["version"] == 1
    assert told["workload"] == "dev"
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    pools = [one["value"] for one in told["options"] if one["option"] == "innodb_buffer_pool_size"]
    assert all(int(pool[:-1]) << {"M": 20, "G": 30}[pool[-1]] <= installed // 4 for pool in pools)


def test_json_has_the_reasons(mycnf: Mycnf) -> None:
    """Each option with its line, reason, evidence, risk and what to watch."""
    told = json.loads(mycnf("suggest", *HOST, "--format", "json").out)
    assert told["target"].startswith("mysql-8.0.")
    assert {tuple(one) for one in told["options"]} == {
        ("option", "value", "reason", "evidence", "risk", "watch", "line")
    }


def test_a_diff_of_a_file(mycnf: Mycnf, tmp_path: Path) -> None:
    """The diff changes what differs, the file stays as it is, and the target comes from it where none is named."""
    file = tmp_path / "my.cnf"
    file.write_text("[mariadb]\naria_pagecache_buffer_size = 128M\ninnodb_buffer_pool_size = 1G\npassword = secret\n")
    before = file.read_bytes()
    ended = mycnf("suggest", "--ram", "16G", "--disk", "ssd", "--write-diff", str(file))
    assert ended.code == 0
    assert "-innodb_buffer_pool_size = 1G\n" in ended.out
    assert "+innodb_buffer_pool_size = 12G\n" in ended.out
    assert "secret" not in ended.out
    assert "MariaDB" in ended.err
    assert file.read_bytes() == before


def test_nothing_to_change_is_said(mycnf: Mycnf, tmp_path: Path) -> None:
    """A file that says all of it gives an empty diff and one line."""
    file = tmp_path / "my.cnf"
    mycnf("suggest", *HOST, "-o", str(file))
    ended = mycnf("suggest", *HOST, "--write-diff", str(file))
    assert (ended.code, ended.out) == (0, "")
    assert "has all suggested lines already" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ram", "much"), "is not a size; write it as 64G or 512M"),
        (("--target", "oracle-23"), "oracle-23"),
        (("--write-diff", "/nowhere/my.cnf", "--target", "mysql-8.4"), "/nowhere/my.cnf"),
        (("--write-diff", "my.cnf", "--format", "json"), "Leave out"),
        (("-o", "/nowhere/my.cnf"), "/nowhere"),
    ],
)
def test_bad_words_are_one_line(mycnf: Mycnf, words: tuple[str, ...], said: str) -> None:
    """What makes no sense is refused with a remedy and exit code 2."""
    ended = mycnf("suggest", "--ram", "8G", *words)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err.splitlines()[-1]
