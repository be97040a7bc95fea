"""Files that are far larger than any real one, and how much memory mycnf takes until it says so."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from mycnf_command import CHECKOUT, Mycnf

if TYPE_CHECKING:
    from pathlib import Path

LARGE = 100 << 20
MOST = 60  # MB
COMMANDS = {
    "lint": ("lint", "--target", "mysql-8.4"),
    "show": ("show", "--target", "mysql-8.4"),
    "upgrade": ("upgrade", "--from", "mysql-5.7", "--to", "mysql-8.4"),
    "audit --from": ("audit", "--from"),
}


def measured(*words: object) -> tuple[float, int, str]:
    """Megabytes of a process of mycnf at its peak, its exit code and its stderr, as the figures measure them."""
    command = [sys.executable, str(CHECKOUT / "tools" / "figures" / "large.py"), *map(str, words)]
    ran = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=600, check=True)
    peak, code, printed = json.loads(ran.stdout)
    return peak, code, printed


@pytest.mark.parametrize("name", ["my.cnf", "compose.yml", "mysql.service", "Dockerfile", "mysqld-auto.cnf"])
def test_a_file_of_100_megabytes(tmp_path: Path, name: str) -> None:
    """It is refused in one line, for the memory of a small one, under any name."""
    _refused(tmp_path, "lint", name)


# What the largest files that are read may hold: just within the limits, and beyond them.
LONG = " --port=3306" * 80_000
UNIT = "[Service]\nExecStart=/usr/sbin/mysqld"
SERVER = "  db{}: {{image: mysql, command: '" + "--a " * 6_000 + "'}}\n"
MANIFEST = "apiVersion: v1\nkind: ConfigMap\ndata:\n  my.cnf: |\n    [mysqld]\n"
VARIABLES = ", ".join(f'"a{number}": {{"Value": "1"}}' for number in range(10_001))
PERSISTED = f'{{"Version": 1, "mysql_server": {{{VARIABLES}}}}}'
WITHIN = {
    "options": ("my.cnf", "[mysqld]\n" + "port = 3306\n" * 9_999),
    "findings": ("my.cnf", "[mysqld]\n" + "a\n" * 9_999),
    "lines": ("my.cnf", "#\n" * 29_999),
}
BEYOND = {
    "options": ("my.cnf", "[mysqld]\n" + "port = 3306\n" * 10_001, "10,000 options"),
    "lines": ("my.cnf", "\n" * 30_001, "30,000 lines"),
    "lines of a document": ("mysql.service", UNIT + "\n" * 50_002, "50,000 lines"),
    "options of several servers": ("c.yml", "services:\n" + SERVER.format(1) + SERVER.format(2), "10,000 options"),
    "options of an option file in a manifest": ("m.yml", MANIFEST + "    a\n" * 10_001, "10,000 options"),
    "persisted variables": ("mysqld-auto.cnf", PERSISTED, "10,000 options"),
    "words of several commands": ("mysql.service", UNIT + (" -a" * 6_000 + "\nExecStart=a") * 2, "10,000 words"),
    # A thousand times a thousand words, from a few kilobytes.
    "words of variables": ("mysql.service", f"{UNIT}{' $A' * 1000}\nEnvironment='A={'a ' * 1000}'", "10,000 words"),
    "words of a unit": ("mysql.service", UNIT + " -a" * 10_001, "10,000 words"),
    "characters of a unit": ("mysql.service", UNIT + LONG, "131,072"),
    "characters of a shell": ("Dockerfile", f"FROM mysql:8.0\nCMD mysqld{LONG}", "131,072"),
    "characters of YAML": ("c.yml", f"mysql:\n  image: mysql\n  command: a{LONG}", "131,072"),
}


@pytest.mark.parametrize("name", WITHIN)
def test_the_largest_that_are_read(tmp_path: Path, name: str) -> None:
    """As many options or lines as are read at all take no more memory than is promised."""
    file, text = WITHIN[name]
    (tmp_path / file).write_text(text)
    peak, code, _ = measured(*COMMANDS["lint"], "--fail-on", "never", tmp_path / file)
    assert code == 0
    assert peak <= MOST


@pytest.mark.parametrize("name", BEYOND)
def test_beyond_what_is_read(mycnf: Mycnf, tmp_path: Path, name: str) -> None:
    """More than that is refused in one line that says how much it is, before it takes seconds."""
    file, text, why = BEYOND[name]
    (tmp_path / file).write_text(text)
    ended = mycnf("lint", "--target", "mysql-8.4", file)
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1
    assert why in ended.err


def test_includes_beyond_it_are_left_out(mycnf: Mycnf, tmp_path: Path) -> None:
    """An include beyond it is reported and left out; what else is included is read on."""
    (tmp_path / "many.cnf").write_text("[mysqld]\n" + "port = 3306\n" * 10_001)
    (tmp_path / "few.cnf").write_text("[mysqld]\nno_such_option = 1\n")
    (tmp_path / "my.cnf").write_text(f"!include {tmp_path}/many.cnf\n!include {tmp_path}/few.cnf\n")
    ended = mycnf("lint", "--target", "mysql-8.4", "--format", "concise", "my.cnf")
    assert "10,000 options" in ended.out
    assert "no_such_option" in ended.out


@pytest.mark.parametrize("command", ["show", "upgrade"])
def test_every_command_refuses_it(tmp_path: Path, command: str) -> None:
    """So do the others that read such files."""
    _refused(tmp_path, command, "my.cnf")


def test_texts_of_a_gigabyte(tmp_path: Path) -> None:
    """Texts of samples may be far larger, and are refused all the same where no sampling makes as many."""
    _refused(tmp_path, "audit --from", "status.txt", (1 << 30) + 1)


def _refused(folder: Path, command: str, name: str, size: int = LARGE) -> None:
    path = folder / name
    with path.open("wb") as file:
        file.write(b"[mysqld]\nport = 3306\n")
        file.truncate(size)
    peak, code, printed = measured(*COMMANDS[command], path)
    assert code == 2
    assert len(printed.splitlines()) == 1
    assert "larger than" in printed
    assert peak <= MOST
