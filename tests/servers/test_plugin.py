"""The pytest plugin: parametrised servers, skips by name, and the list that ends a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mycnf_command import CHECKOUT

TESTS = """
import pytest

@pytest.mark.servers("mysql-5.7", "mariadb-11.4")
def test_asks(binary):
    pass

@pytest.mark.servers("mysql-5.7")
def test_asks_again(any_server):
    pass

def test_by_name(start):
    start("mysql-9.7")

def test_of_another_kind():
    pytest.skip("needs root")
"""


def run(folder: Path, tests: str) -> str:
    """The output of pytest with the plugin, on a shelf without servers."""
    (folder / "test_it.py").write_text(tests)
    shelf = folder / "shelf"
    shelf.mkdir()
    paths = [CHECKOUT, CHECKOUT / "tests" / "plugins"]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "real_servers",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
            "--rootdir",
            str(folder),
            str(folder / "test_it.py"),
        ],
        env={**os.environ, "MYCNF_SERVERS": str(shelf), "PYTHONPATH": os.pathsep.join(map(str, paths))},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return done.stdout


def test_skips_are_listed_by_reason(tmp_path: Path) -> None:
    """Servers that aren't installed are skipped by name, and the run ends with each reason once, with its count."""
    lines = run(tmp_path, TESTS).splitlines()
    start = next(number for number, line in enumerate(lines) if "skipped, and why" in line)
    remedy = "can't be had: not unpacked: run python tests/servers/provision.py"
    assert lines[start + 1 : start + 5] == [
        f"   2 x mysql-5.7 {remedy} mysql-5.7  [test_it.py]",
        f"   1 x mariadb-11.4 {remedy} mariadb-11.4  [test_it.py]",
        f"   1 x mysql-9.7 {remedy} mysql-9.7  [test_it.py]",
        "   1 x needs root  [test_it.py]",
    ]


def test_nothing_skipped_is_said(tmp_path: Path) -> None:
    """A run that skips nothing says so."""
    assert "Nothing was skipped." in run(tmp_path, "def test_it():\n    pass\n")


def test_an_unknown_server_stops_the_run(tmp_path: Path) -> None:
    """A marker with a name that no recipe has is an error, never a test that silently runs nowhere."""
    printed = run(tmp_path, 'import pytest\n@pytest.mark.servers("mysql-3.23")\ndef test_it(binary): pass\n')
    assert "no such servers: mysql-3.23" in printed
    assert "1 passed" not in printed


@pytest.mark.servers("mysql-5.7", "mariadb-11.8")
def test_one_run_for_each_server(server_name: str) -> None:
    """A marked test runs for the servers that its marker names, and for no other."""
    assert server_name in ("mysql-5.7", "mariadb-11.8")
