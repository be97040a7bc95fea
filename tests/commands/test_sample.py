"""`mycnf sample`: quiet under cron, one file a server, and audits that know the busiest hour by it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from general_log import overheard, unlisted
from mycnf_command import CHECKOUT

from advisor.state import sample_ring

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf

    from probes.sandbox import Sandbox


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11")
def test_a_server_is_sampled(any_server: Sandbox, mycnf: Mycnf, tmp_path: Path) -> None:
    """A sample is kept silently, by listed statements alone; an audit reports a busy hour once there is one."""
    there = ("--socket", any_server.socket, "--user", "root")
    with overheard(any_server, tmp_path / "general.log") as heard:
        assert mycnf("sample", *there)[:3] == (0, "", "")
        sent = heard()
    assert len(sent) > 4
    assert unlisted(sent) == []
    (path,) = (tmp_path / "home" / ".local" / "state" / "mycnf" / "samples").glob("*.ring")
    head, (entry,) = sample_ring.read(str(path))
    assert entry.lsn > 0
    assert entry.counters["threads_connected"] >= 1
    _write_a_busy_hour(str(path), head, entry)
    report = json.loads(mycnf("audit", *there, "--window", "0", "--isolated", "--format", "json").out)
    assert report["sampled"]["samples"] == 7
    (found,) = (f for f in report["findings"] if f["code"] == "LOG002")
    hour = r"a second in the busiest hour, \d\d:\d\d-\d\d:\d\d UTC on \d{4}-\d\d-\d\d, the log"
    assert re.search(hour, found["message"])
    listed = mycnf("sample", "--list").out
    assert "busiest for redo: " in listed
    assert max(map(len, listed.splitlines())) <= 80


def _write_a_busy_hour(path: str, head: sample_ring.Head, entry: sample_ring.RingSample) -> None:
    """Seven samples with 100 MB of redo a minute between them."""
    sample_ring.create(
        path,
        head,
        [entry._replace(time=entry.time + 600 * n, uptime=5000 + 600 * n, lsn=entry.lsn + n * 10**9) for n in range(7)],
    )


def test_no_server_is_one_line(mycnf: Mycnf, tmp_path: Path) -> None:
    """Where no server answers it is one line with the remedy, exit code 3, and nothing is kept."""
    ended = mycnf("sample", "--socket", str(tmp_path / "none"))
    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
    assert not (tmp_path / "home" / ".local").exists()


def test_how_to_have_it_done(mycnf: Mycnf) -> None:
    """The line for cron and the units carry the connection that was given; nothing is sent to a server."""
    ended = mycnf("sample", "--socket", "/run/a %b.sock", "--print-timer")
    assert ended.code == 0
    assert re.search(r"^\*/10 \* \* \* \* \S*mycnf sample --socket '/run/a \\%b.sock'$", ended.out, re.MULTILINE)
    assert re.search(r"^ExecStart=\S*mycnf sample --socket '/run/a %%b.sock'$", ended.out, re.MULTILINE)


@pytest.mark.parametrize("flag", ["--print-timer", "--print"])
def test_the_timer_samples_from_any_directory(flag: str, mycnf: Mycnf, tmp_path: Path) -> None:
    """Files are named by their absolute paths, and an abbreviated --print-timer is no part of what runs."""
    ended = mycnf("sample", "--defaults-f", "db1.cnf", "--ssl-ca=ca.pem", "--user", "m$", "--ask-password", flag)
    words = f"--user 'm$' --defaults-file {tmp_path}/db1.cnf --ssl-ca {tmp_path}/ca.pem"
    assert re.search(rf"^\*/10 \* \* \* \* \S*mycnf sample {re.escape(words)}$", ended.out, re.MULTILINE)
    assert f"mycnf sample {words.replace('$', '$$')}\n" in ended.out


@pytest.mark.parametrize("name", ["mycnf", "mycnf.pyz"])
def test_the_timer_runs_the_same_program(name: str, tmp_path: Path) -> None:
    """A program outside PATH is named by its path, which cron would not find by its name alone."""
    program = tmp_path / "bin" / name
    program.parent.mkdir()
    program.write_text("import runpy\nrunpy.run_module('advisor', run_name='__main__')\n")
    program.chmod(0o755)
    ran = subprocess.run(
        [sys.executable, f"bin/{name}", "sample", "--print-timer"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    runs = f"{sys.executable} {program}" if name.endswith(".pyz") else str(program)
    assert f"*/10 * * * * {runs} sample\n" in ran.stdout, ran.stderr


def test_a_list_of_nothing(mycnf: Mycnf, tmp_path: Path) -> None:
    """Without a sample the list says how to begin; a file that is no ring is named and ignored."""
    assert "--print-timer" in mycnf("sample", "--list").out
    folder = tmp_path / "home" / ".local" / "state" / "mycnf" / "samples"
    folder.mkdir(parents=True)
    (folder / "0.ring").write_bytes(b"nonsense")
    ended = mycnf("sample", "--list")
    assert ended.code == 0
    assert ended.err.count("\n") == 1
    assert "0.ring" in ended.err


def test_a_server_beside_the_list(mycnf: Mycnf) -> None:
    """--list has every sampled server, so an option for one connection is refused instead of ignored."""
    ended = mycnf("sample", "--list", "--host", "db1")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "mycnf: --list lists all sampled servers, so --host has no effect; omit one of them\n"


def test_the_timer_beside_the_list(mycnf: Mycnf) -> None:
    """Two outputs at once are refused: --list was ignored."""
    ended = mycnf("sample", "--list", "--print-timer")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "mycnf: --print-timer and --list print different things; omit one of them\n"
