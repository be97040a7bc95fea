"""`mycnf lint --baseline` and `--write-baseline` as their user runs them."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf

TARGET = ("--target", "mysql-5.7")
BAD = "[mysqld]\nread_buffer_size = 8M\nno_such_option = 1\n"
CANARY = "kanarienvogel-7391"


@pytest.fixture
def bad(tmp_path: Path) -> str:
    """A file with findings, in the folder where mycnf runs."""
    (tmp_path / "my.cnf").write_text(BAD)
    return "my.cnf"


def test_today_is_written_and_hidden(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """Writing a baseline hides what it holds, so the run passes; the next one passes too, lines moved or not."""
    ended = mycnf("lint", *TARGET, bad, "--write-baseline", "b.json")
    assert (ended.code, "wrote 2 findings to b.json" in ended.err) == (0, True)
    assert ended.out.endswith(": nothing new, 2 in the baseline.\n")
    (tmp_path / bad).write_text(BAD.replace("[mysqld]", "# moved\n\n[mysqld]"))
    ended = mycnf("lint", *TARGET, bad, "--baseline", "b.json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.endswith(": nothing new, 2 in the baseline.\n")
    ticket = mycnf("lint", *TARGET, bad, "--baseline", "b.json", "--format", "markdown").out
    assert ticket.startswith("## mycnf lint: nothing new, 2 in the baseline\n")


def test_new_ones_show(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """A finding that the baseline doesn't know is shown and fails the run."""
    mycnf("lint", *TARGET, bad, "--write-baseline", "b.json")
    (tmp_path / bad).write_text(f"{BAD}sort_buffer_size = 64M\n")
    ended = mycnf("lint", *TARGET, bad, "--baseline", "b.json", "--format", "json")
    assert [f["code"] for e in json.loads(ended.out)["files"] for f in e["findings"]] == ["BUF003"]
    assert ended.code == 1


def test_fixed_ones_are_reported(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """Entries of the baseline without a finding are reported on stderr; what this run didn't check is not."""
    mycnf("lint", *TARGET, bad, "--write-baseline", "b.json")
    (tmp_path / bad).write_text("[mysqld]\nread_buffer_size = 8M\n")
    (tmp_path / "other.cnf").write_text("[mysqld]\n")
    ended = mycnf("lint", *TARGET, bad, "--baseline", "b.json")
    assert ended.err == "mycnf: 1 entry of the baseline is no longer found; write b.json again with --write-baseline\n"
    assert mycnf("lint", *TARGET, "other.cnf", "--baseline", "b.json").err == ""
    assert mycnf("lint", *TARGET, bad, "--baseline", "b.json", "--select", "BUF").err == ""


def test_no_secret_is_written(mycnf: Mycnf, tmp_path: Path) -> None:
    """A password in a finding's line is masked in the baseline as everywhere."""
    (tmp_path / "my.cnf").write_text(f"[mysqld]\nreport_password = {CANARY}\nreport_pasword = {CANARY}\n")
    mycnf("lint", *TARGET, "my.cnf", "--write-baseline", "b.json")
    text = (tmp_path / "b.json").read_text()
    assert CANARY not in text
    assert json.loads(text)["findings"]


def test_another_file_is_not_overwritten(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """An option file named as baseline by mistake is left unchanged; an old baseline and an empty file are replaced."""
    (tmp_path / "other.cnf").write_text("[mysqld]\n")
    for path in ("other.cnf", bad, "."):
        ended = mycnf("lint", *TARGET, bad, "--write-baseline", path)
        assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert (tmp_path / "other.cnf").read_text() == "[mysqld]\n"
    (tmp_path / "b.json").touch()
    for _ in range(2):
        assert mycnf("lint", *TARGET, bad, "--write-baseline", "b.json").code == 0
    assert stat.S_ISREG((tmp_path / "b.json").stat().st_mode)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.json", "home", "my.cnf", "other.cnf"]


def test_half_a_run_is_not_written(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """Where a file can't be read the baseline is unchanged, for it would lose that file's entries."""
    ended = mycnf("lint", *TARGET, bad, "nowhere.cnf", "--write-baseline", "b.json")
    assert ended.code == 2
    assert "b.json is not written" in ended.err
    assert not (tmp_path / "b.json").exists()
    assert "BUF001" in ended.out


@pytest.mark.parametrize("text", ["", "[mysqld]", '{"version": 2, "findings": []}'])
def test_a_bad_baseline(text: str, mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """One that can't be used is one line and exit code 2."""
    (tmp_path / "b.json").write_text(text)
    ended = mycnf("lint", *TARGET, bad, "--baseline", "b.json")
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert "b.json" in ended.err


def test_several_targets_and_includes(mycnf: Mycnf, tmp_path: Path) -> None:
    """Two targets, and a file that is named and included too, are hidden by one baseline."""
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "a.cnf").write_text(BAD)
    (tmp_path / "my.cnf").write_text(f"!includedir {tmp_path}/conf.d\n")
    run = ("lint", "--target", "mysql-5.7", "--target", "mysql-8.4", "my.cnf", "conf.d/a.cnf")
    assert mycnf(*run, "--write-baseline", "ci/../b.json").code == 2
    assert mycnf(*run, "--write-baseline", "b.json").code == 0
    ended = mycnf(*run, "--baseline", "b.json")
    assert (ended.code, ended.err) == (0, "")


def test_isolated_uses_none(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """--isolated ignores the configuration's baseline, contradicts one on the command line, and may write one."""
    mycnf("lint", *TARGET, bad, "--isolated", "--write-baseline", "b.json")
    (tmp_path / "mycnf.toml").write_text('baseline = "b.json"')
    assert mycnf("lint", *TARGET, bad).code == 0
    assert mycnf("lint", *TARGET, bad, "--isolated").code == 1
    ended = mycnf("lint", *TARGET, bad, "--isolated", "--baseline", "b.json")
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)


def test_a_file_that_is_named_twice_is_one(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """Neither the report nor the baseline counts its findings twice, however its path is written."""
    once = mycnf("lint", *TARGET, bad, "--format", "json").out
    assert mycnf("lint", *TARGET, bad, f"./{bad}", bad, "--format", "json").out == once
    mycnf("lint", *TARGET, bad, f"./{bad}", "--write-baseline", "twice.json")
    assert {e["count"] for e in json.loads((tmp_path / "twice.json").read_text())["findings"]} == {1}


def test_entries_end(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """An entry whose reason begins with a last day suppresses nothing after it, and a line on stderr says so."""
    mycnf("lint", *TARGET, bad, "--write-baseline", "b.json")
    document = json.loads((tmp_path / "b.json").read_text())
    for entry in document["findings"]:
        if entry["code"] == "BUF001":
            entry["reason"] = "until 2027-01-31 OPS-1234"
    (tmp_path / "b.json").write_text(json.dumps(document))
    words = ("lint", *TARGET, bad, "--baseline", "b.json", "--format", "json")
    before = mycnf(*words, env={"SOURCE_DATE_EPOCH": "1801439999"})
    assert (before.code, before.err) == (0, "")
    ended = mycnf(*words, env={"SOURCE_DATE_EPOCH": "1801440000"})
    assert [f["code"] for e in json.loads(ended.out)["files"] for f in e["findings"]] == ["BUF001"]
    assert ended.err == "mycnf: 1 entry of b.json ended on 2027-01-31: it no longer suppresses BUF001\n"


def test_a_wrong_day_of_an_entry(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """A last day that is not a date is one line with exit code 2."""
    mycnf("lint", *TARGET, bad, "--write-baseline", "b.json")
    document = json.loads((tmp_path / "b.json").read_text())
    document["findings"][0]["reason"] = "until 31.01.2027 OPS-1234"
    (tmp_path / "b.json").write_text(json.dumps(document))
    ended = mycnf("lint", *TARGET, bad, "--baseline", "b.json")
    code = document["findings"][0]["code"]
    assert (ended.code, ended.err) == (
        2,
        f"mycnf: b.json: reason of {code}: '31.01.2027' is not a date; write until 2027-01-31, year first\n",
    )
