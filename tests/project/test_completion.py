"""Real shells complete mycnf's words by the scripts that it prints, and its man page is one that man can read."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from advisor.__main__ import main
from advisor.cli.parser import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterator

# What is typed, words that are offered then, and words that are not; zsh lists nothing where only one word fits.
CASES = [
    ("mycnf ", [*COMMANDS], ["my.cnf"]),
    ("mycnf p", ["preflight", "probe"], ["lint"]),
    ("mycnf lint --s", ["--select", "--statistics"], ["--root"]),
    ("mycnf lint --target mysql-", ["mysql-5.7", "mysql-8.4"], ["mariadb-10.11"]),
    ("mycnf lint --format=j", ["json", "junit"], ["sarif"]),
    ("mycnf audit --disk ", ["hdd", "nvme", "ssd"], ["my.cnf"]),
    ("mycnf lint --select OPT001,BUF00", ["BUF001", "BUF002"], ["OPT002"]),
    ("mycnf lint --isolated my", ["my.cnf", "my.ini"], ["other.cnf", "mysql-8.4"]),
    ("mycnf lint -o my", ["my.cnf", "my.ini"], ["other.cnf"]),
    ("mycnf show --root sn", ["snaps", "snares"], ["snapshot.json"]),
    ("mycnf explain oversized-r", ["oversized-read-buffer", "oversized-read-rnd-buffer"], ["OPT001"]),
    ("mycnf probe ra", ["random-read", "range-scan"], ["read-ahead"]),
    ("mycnf probe prove BUF00", ["BUF001", "BUF002"], ["random-read"]),
    ("mycnf diff mysql-", ["mysql-5.7", "mysql-9.7"], ["mariadb-11.8"]),
    ("mycnf diff ot", ["other.cnf", "other.ini"], ["my.cnf"]),
    ("mycnf completion ", ["bash", "zsh", "fish"], ["my.cnf"]),
]
FIRST_BASH = (
    "PS1=READY; bind TAB:possible-completions; bind 'set page-completions off'; bind 'set completion-query-items 0'; "
    "source '{script}'\n"
)
FIRST_ZSH = (
    "PS1=READY; autoload -Uz compinit; compinit -D -u; LISTMAX=9999; bindkey '^I' list-choices; source '{script}'\n"
)
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], FIRST_BASH),
    "zsh": (["zsh", "-f", "-i"], FIRST_ZSH),
}
PATIENCE = 600.0  # seconds that a busy machine may let a shell wait


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some files and folders."""
    made = tmp_path_factory.mktemp("typing")
    for name in ("my.cnf", "my.ini", "other.cnf", "other.ini", "snapshot.json"):
        (made / name).write_text("")
    for name in ("snaps", "snares"):
        (made / name).mkdir()
    return made


def script_of(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What mycnf prints for a shell."""
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


class Typing:
    """A shell on a terminal of its own, which is asked for completions by the tabulator."""

    def __init__(self, shell: str, script: Path, folder: Path) -> None:
        command, first = START[shell]
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            kept = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb", "COLUMNS": "400", "LC_ALL": "C"}
            os.execvpe(command[0], command, kept)  # noqa: S606 - no shell is wanted between
        self.asked = 0
        self.offered(first.format(script=script), tab="")

    def offered(self, typed: str, tab: str = "\t") -> set[str]:
        """The words that the shell prints when the tabulator follows what is typed."""
        self.asked += 1
        os.write(self.terminal, f"{typed}{tab}".encode())
        if tab:
            os.write(self.terminal, b"\x15")  # forget the line
        os.write(self.terminal, f"echo END$(({self.asked}+0))\n".encode())
        output, until = "", time.monotonic() + PATIENCE
        # Before its next prompt is there the terminal, not the shell, would take the sign that forgets the line.
        while "READY" not in output.partition(f"END{self.asked}\r")[2]:
            if not select.select([self.terminal], [], [], max(0.0, until - time.monotonic()))[0]:
                raise AssertionError(f"the shell never answered: {output!r}")
            output += os.read(self.terminal, 65536).decode("utf-8", "replace")
        return set(re.findall(r"[^\s/]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\x07\x08]", " ", output)))

    def close(self) -> None:
        """Hang up."""
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


@pytest.fixture(params=START)
def typing(
    request: pytest.FixtureRequest, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[Typing]:
    """Each shell that lists completions on a terminal, with mycnf's script read."""
    script = tmp_path / "script"
    script.write_text(script_of(request.param, capsys))
    shell = Typing(request.param, script, folder)
    yield shell
    shell.close()


def test_bash_and_zsh(typing: Typing) -> None:
    """Commands, options, choices, targets, rules, experiments, files and folders are offered where they belong."""
    for typed, wanted, unwanted in CASES:
        offered = {word.rpartition("=")[2].rpartition(",")[2] for word in typing.offered(typed)} - set(typed.split())
        assert set(wanted) <= offered | set(typed.split()), f"{typed!r}: {sorted(offered)}"
        assert offered.isdisjoint(unwanted), f"{typed!r}: {sorted(offered)}"


def test_fish(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same by fish's own word for it."""
    script = tmp_path / "mycnf.fish"
    script.write_text(script_of("fish", capsys))
    for typed, wanted, unwanted in CASES:
        command = ["fish", "--no-config", "-c", f"source '{script}'; complete -C '{typed}'"]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=True)
        words = [line.partition("\t")[0].rstrip("/") for line in ran.stdout.splitlines()]
        offered = {word.rpartition("=")[2].rpartition(",")[2] for word in words}
        assert set(wanted) <= offered, f"{typed!r}: {sorted(offered)}"
        assert offered.isdisjoint(unwanted), f"{typed!r}: {sorted(offered)}"
        assert ran.stderr == ""


def test_files_are_what_the_parser_says(checkout: Path) -> None:
    """The man page and the scripts of the checkout are the generator's output for today's parser."""
    tool = [sys.executable, str(checkout / "tools" / "commandline"), "--check"]
    ran = subprocess.run(tool, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_an_unknown_shell(capsys: pytest.CaptureFixture[str]) -> None:
    """A shell that isn't known is a wrong usage, in one line that names those that are."""
    with pytest.raises(SystemExit) as ended:
        main(["completion", "tcsh"])
    assert ended.value.code == 2
    assert re.search(r"\A[^\n]*'bash', 'zsh', 'fish'[^\n]*\n\Z", capsys.readouterr().err)


def test_the_man_page(checkout: Path) -> None:
    """mandoc has no findings of it but that it bears no date, and it covers every command and exit code."""
    if shutil.which("mandoc") is None:
        pytest.skip("needs mandoc")
    path = str(checkout / "docs" / "man" / "mycnf.1")
    lint = subprocess.run(["mandoc", "-Tlint", path], capture_output=True, text=True, timeout=600, check=False)
    lines = [line for line in (lint.stdout + lint.stderr).splitlines() if "missing date" not in line]
    assert lines == []
    page = subprocess.run(["mandoc", "-Tascii", path], capture_output=True, text=True, timeout=600, check=True).stdout
    plain = re.sub(r".\x08", "", page)
    assert [c for c in COMMANDS if f"mycnf {c} [OPTIONS]" not in plain] == []
    assert re.search(r"^ +130 +interrupted$", plain, re.MULTILINE)
