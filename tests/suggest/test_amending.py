"""Suggestions as changes of a file that is there: judged by the file after the real patch."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalog.load import load
from advisor.catalog.targets import parse_target
from advisor.fixing.diff import unified_diff
from advisor.fixing.values import FileChange
from advisor.optionfile import resolve
from advisor.report.suggested_file import remarks
from advisor.suggest import suggest
from advisor.suggest.amend import amend_file
from advisor.suggest.choices import SuggestedLine
from advisor.verdict import judge_file, judge_value

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.suggest.amend import AmendedFile
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
    """What the server makes of the options of both choices."""
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
    """Whatever stood there, both options have the values, and all other lines stay."""
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
    """What an included file or a template decides is told, not changed."""
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
        pytest.skip("patch is not at hand (Debian package patch)")
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
    from advisor.collect.declared import host_from_options

    host = host_from_options(ram="8G", cpus=4, disk="ssd", tar=None)
    choices = suggest(TARGET, host, "oltp").choices
    text = b"[mysqld]\nport = 1\n"
    done = amend_file("my.cnf", text, judged({"my.cnf": text}), choices, remarks)
    assert {c.option for c in choices} <= set(judged({"my.cnf": done.text}).effective)
