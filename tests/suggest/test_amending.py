"""Suggestions as changes of a file that is there: judged by the file after the real patch."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.collect.host.host import host_from_options, parse_ram
from advisor.fixing.diff import unified_diff
from advisor.fixing.texts import FileChange
from advisor.optionfile import resolve
from advisor.report.suggested_file import remarks
from advisor.suggest import amend_file, judge_text, suggest
from advisor.suggest.choices import SuggestedLine
from advisor.verdict import judge_file, judge_value

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.suggest import AmendedFile
    from advisor.verdict import FileVerdict

TARGET = parse_target("mariadb-10.11")
CHOICES = (
    SuggestedLine("innodb_buffer_pool_size", "2G", "Why."),
    SuggestedLine("local_infile", "OFF", "Why.", ("SRV-01",)),
)


def judged(files: dict[str, bytes]) -> FileVerdict:
    """The verdict on my.cnf, which may include the others."""
    resolved = resolve(["my.cnf"], flavour=TARGET.flavour, version=TARGET.version, loader=lambda path: files[path])
    return judge_file(resolved, load(TARGET))


def amended(text: bytes, **more: bytes) -> AmendedFile:
    """The file with both choices in it."""
    return amend_file("my.cnf", text, judged({"my.cnf": text, **more}), CHOICES, remarks)


def values(text: bytes) -> list[str | None]:
    """The server's values for the options of both choices."""
    effective = judged({"my.cnf": text}).effective
    return [effective[c.option].value if c.option in effective else None for c in CHOICES]


WANTED = [judge_value(c.option, c.value, load(TARGET)).value for c in CHOICES]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"# nothing but a comment",
        b"[client]\nport = 3307\n",
        b"[mysqld]\nport = 3307",
        b"[mysqld]\r\nport = 3307\r\n[client]\r\nuser = root\r\n",
        b"[mysqld]\nloose-innodb-buffer-pool-size=512M # by hand\n[mysqld]\nlocal_infile\n",
        b"[MariaDB]\ninnodb_buffer_pool_size = 512M\n[client-server]\nport = 1\n",
        b"[mysqld]\ninnodb_buffer_pool_size = 512M\ninnodb_buffer_pool_size = 1G\nlocal-infile=1\n",
    ],
)
def test_afterwards_the_server_does_as_suggested(text: bytes) -> None:
    """After any earlier lines, both options have the values, and all other lines stay."""
    done = amended(text)
    assert values(done.text) == WANTED
    assert done.omitted == ()
    kept = [line for line in text.splitlines() if b"pool" not in line and b"infile" not in line]
    assert [line for line in done.text.splitlines() if line in kept and line] == [line for line in kept if line]


def test_what_says_so_already_stays() -> None:
    """Another notation of the same values is no change."""
    text = b"[mysqld]\ninnodb_buffer_pool_size = 2048M\nskip-local-infile\n"
    assert amended(text).text == text


def test_lines_of_other_files_and_templates_are_left() -> None:
    """What an included file or a template decides is reported, not changed."""
    text = b"[mysqld]\nlocal_infile = {{ infile }}\n!include other.cnf\n"
    done = amended(text, **{"other.cnf": b"[mysqld]\ninnodb_buffer_pool_size = 1G\n"})
    assert done.text == text
    assert [sentence.split()[0] for sentence in done.omitted] == ["innodb_buffer_pool_size", "local_infile"]


LINES = st.sampled_from(
    [
        "[mysqld]", "[client]", "[mariadb]", "[server]", "[mysqldump]", "# local_infile = OFF", "", "port = 3306",
        "innodb_buffer_pool_size = 1G", "innodb-buffer-pool-size=2G # so", "local_infile = ON", "skip_local_infile",
        "loose_local_infile=0", "max_connections = 10",
    ]
)  # fmt: skip


@given(st.lists(LINES, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_file(rows: list[str], end: str, whole: bool) -> None:
    """Options before any group aside, a file of any such lines ends up as suggested, and once more changes nothing."""
    text = (end.join(["[mysqld]", *rows]) + (end if whole else "")).encode()
    done = amended(text)
    assert done.omitted == ()
    assert values(done.text) == WANTED
    assert amended(done.text).text == done.text


def test_the_diff_is_one_that_patch_takes(tmp_path: Path) -> None:
    """The real patch makes the suggested file of the one that was there."""
    if shutil.which("patch") is None:
        pytest.skip("patch is not installed (Debian package patch)")
    before = b"[mysqld]\nport = 3307\ninnodb_buffer_pool_size = 1G\n\n[client]\nport = 3307\n"
    done = amended(before)
    file = tmp_path / "my.cnf"
    file.write_bytes(before)
    changes = unified_diff([FileChange("my.cnf", before, done.text, ())])
    subprocess.run(["patch", "-s", str(file)], input=changes, check=True, timeout=600)
    assert file.read_bytes() == done.text


def test_suggestions_have_reasons_above_their_lines() -> None:
    """What is worked in says why, as comments."""
    text = amended(b"[mysqld]\n").text.decode()
    assert "# Why.\n# Based on SRV-01 (vendor's statement).\nlocal_infile = OFF\n" in text


def test_a_suggestion_for_a_host() -> None:
    """The choices of a real suggestion can be worked in as well."""
    host = host_from_options(ram="8G", cpus=4, disk="ssd", tar=None)
    choices = suggest(TARGET, host, "oltp").choices
    text = b"[mysqld]\nport = 1\n"
    done = amend_file("my.cnf", text, judged({"my.cnf": text}), choices, remarks)
    assert {c.option for c in choices} <= set(judged({"my.cnf": done.text}).effective)


SMALL = host_from_options(ram="8G", cpus=4, disk="ssd", tar=None)


def suggested(text: str, target: str = "mariadb-10.11", workload: str = "oltp") -> dict[str, str]:
    """The options and values that are suggested for this file on a host of 8G."""
    verdict = judge_text(parse_target(target), f"[mysqld]\n{text}\n")
    return {line.option: line.value for line in suggest(parse_target(target), SMALL, workload, verdict).choices}


@pytest.mark.parametrize(
    ("text", "option", "value"),
    [
        ("innodb_buffer_pool_size = 64G", "innodb_buffer_pool_size", None),
        ("key_buffer_size = 12G", "key_buffer_size", "128M"),
        ("max_connections = 90000", "max_connections", "1240"),
        ("sort_buffer_size = 1G", "sort_buffer_size", "2M"),
        ("tmp_table_size = 2G\nmax_heap_table_size = 2G", "max_heap_table_size", "16M"),
        ("aria_pagecache_buffer_size = 20G", "aria_pagecache_buffer_size", "128M"),
    ],
)
def test_what_cannot_fit_is_brought_down(text: str, option: str, value: str | None) -> None:
    """Each setting that the host has no memory for gets its default, and the pool what then remains."""
    lines = suggested(text)
    assert lines[option] == (value or lines["innodb_buffer_pool_size"])
    assert 4 << 30 < parse_ram(lines["innodb_buffer_pool_size"]) < 7 << 30


def test_both_limits_of_temporary_tables_come_down() -> None:
    """A temporary table is bounded by the smaller of two options, so that one alone does not bring it down."""
    assert {"tmp_table_size", "max_heap_table_size"} <= set(suggested("tmp_table_size = 2G\nmax_heap_table_size = 2G"))


def test_what_fits_is_kept_and_makes_the_pool_smaller() -> None:
    """A key buffer of 2G fits: the pool gets what it leaves."""
    lines = suggested("key_buffer_size = 2G")
    assert "key_buffer_size" not in lines
    assert parse_ram(suggested("")["innodb_buffer_pool_size"]) - parse_ram(lines["innodb_buffer_pool_size"]) > 1 << 30


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("max_connections = 400", "max_connections"),
        ("log_bin = /var/log/mysql/bin", "log_bin"),
        ("skip_log_bin", "log_bin"),
        ("log_bin = b\nexpire_logs_days = 14", "binlog_expire_logs_seconds"),
        ("innodb_log_file_size = 6G", "innodb_log_file_size"),
        ("innodb_io_capacity = 3000", "innodb_io_capacity"),
        ("slow_query_log = 1\nlong_query_time = 0.2", "long_query_time"),
        ("binlog_format = MIXED", "binlog_format"),
        ("character_set_server = utf8mb3", "character_set_server"),
    ],
)
def test_a_choice_of_the_file_that_fits_is_kept(text: str, kept: str) -> None:
    """What the file sets for a reason that mycnf does not know stays."""
    assert kept not in suggested(text)


def test_the_server_number_of_a_file_is_kept() -> None:
    """A replica must not get the number of its source."""
    assert "server_id" not in suggested("server_id = 7", "mysql-5.7")
    assert suggested("", "mysql-5.7")["server_id"] == "1"


def test_a_file_of_which_nothing_fits_ends_with_defaults() -> None:
    """All of it together is far beyond the host, and afterwards it fits."""
    text = "innodb_buffer_pool_size = 1T\nkey_buffer_size = 100G\nmax_connections = 100000\nsort_buffer_size = 2G"
    lines = suggested(text, "mysql-8.0")
    assert lines["key_buffer_size"] == "8M"
    assert lines["sort_buffer_size"] == "256K"
    assert lines["max_connections"] == "400"
    assert parse_ram(lines["innodb_buffer_pool_size"]) < 7 << 30
