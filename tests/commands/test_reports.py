"""`mycnf lint --format … -o …` as its user runs it: every format, several at once, of real and hostile files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lxml import etree
from mycnf_command import CHECKOUT

from advisor.report.formats import names

if TYPE_CHECKING:
    from mycnf_command import Mycnf

TARGET = ("lint", "--target", "mysql-8.4")
EPOCH = {"SOURCE_DATE_EPOCH": "0"}


@pytest.fixture
def hostile(tmp_path: Path) -> str:
    """The file that tries to break every report, in the folder where mycnf runs."""
    (tmp_path / "my.cnf").write_bytes((CHECKOUT / "tests" / "golden" / "nasty.cnf").read_bytes())
    return "my.cnf"


@pytest.mark.parametrize("form", names("lint"))
def test_file_and_stdout_are_alike(mycnf: Mycnf, hostile: str, tmp_path: Path, form: str) -> None:
    """With -o a report is the one that stdout gets, twice the same, and the exit code shows the findings."""
    printed = mycnf(*TARGET, "--format", form, hostile, env=EPOCH)
    assert (printed.code, bool(printed.out)) == (1, True)
    written = mycnf(*TARGET, hostile, "--format", form, "-o", "report", env=EPOCH)
    assert (written.code, written.out) == (1, "")
    assert (tmp_path / "report").read_bytes().decode() == printed.out


def test_several_reports_of_one_run(mycnf: Mycnf, hostile: str, tmp_path: Path) -> None:
    """Pairs of --format and -o go to their files, and the format without one to stdout."""
    pairs = ("--format", "json", "-o", "a.json", "--format", "junit", "-o", "b.xml", "--format", "concise")
    ended = mycnf(*TARGET, hostile, *pairs)
    count = len(json.loads((tmp_path / "a.json").read_text())["files"][0]["findings"])
    assert count == len(ended.out.splitlines()) > 0
    assert len(list(etree.parse(str(tmp_path / "b.xml")).iter("testcase"))) == count


@pytest.mark.parametrize(
    "words", [("-o", "a", "-o", "b"), ("--format", "json", "--format", "sarif"), ("--format", "sarfi")]
)
def test_pairs_that_are_none(mycnf: Mycnf, hostile: str, tmp_path: Path, words: tuple[str, ...]) -> None:
    """More files than formats, two reports for stdout and a format that is none are a line each; nothing is written."""
    ended = mycnf(*TARGET, *words, hostile)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("form", ["json", "sarif", "gitlab", "junit", "github", "markdown"])
def test_files_that_cannot_be_read(mycnf: Mycnf, hostile: str, form: str) -> None:
    """A report is whole and has what could be read; all but JSON, whose fields are fixed, name what could not be."""
    ended = mycnf(*TARGET, "--format", form, hostile, "gone.cnf")
    assert ended.code == 2
    assert "gone.cnf" in ended.err
    assert "my.cnf" in ended.out
    assert form == "json" or "gone.cnf" in ended.out


def test_a_dangling_place_for_a_report(mycnf: Mycnf, hostile: str) -> None:
    """A report that can't be written is one line with exit code 2."""
    ended = mycnf(*TARGET, hostile, "--format", "sarif", "-o", "no/such/folder/a.sarif")
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1
    assert "no/such/folder/a.sarif" in ended.err
