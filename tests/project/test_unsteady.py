"""Tests that fail once: run again alone, named where they pass then, and failed where they don't."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from mycnf_command import CHECKOUT

TWICE = """
from pathlib import Path

def test_that_fails_the_first_time(tmp_path_factory):
    seen = Path(__file__).with_name("seen")
    first = not seen.exists()
    seen.touch()
    assert not first

def test_that_passes():
    pass
"""


@pytest.mark.parametrize(
    ("more", "code", "summary"),
    [
        ("", 0, "UNSTEADY"),
        ("def test_that_fails():\n    assert 0\n", 1, "1 failed, 1 passed"),
        ("import pytest\n\n@pytest.mark.parametrize('n', range(6))\ndef test_many(n):\n    assert 0\n", 1, "7 failed"),
        ("nonsense = (\n", 2, "error"),
    ],
    ids=["once", "twice", "many", "broken"],
)
def test_what_fails_is_run_once_more(more: str, code: int, summary: str, tmp_path: Path) -> None:
    """A few failures get a second run, whose word counts; many get none, nor does a run that could not be done."""
    (tmp_path / "test_some.py").write_text(TWICE + more, encoding="utf-8")
    command = [sys.executable, CHECKOUT / "tools" / "tests.py", "-q", "-p", "failed_list", "test_some.py"]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "tests" / "plugins")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, summary in done.stdout) == (code, True)
    assert ("UNSTEADY" in done.stdout) == (code == 0)
    at_once = "failed: test_some.py::test_that_fails_the_first_time (call)"
    assert (at_once in done.stdout.partition(" FAILURES ")[0]) == (code != 2)


def test_workers_that_collect_different_tests_are_not_run_once_more(tmp_path: Path) -> None:
    """A test whose name differs between workers fails the run at once, and no worker's name is taken for a test."""
    named = "import os\nimport pytest\n\n@pytest.mark.parametrize('n', [os.getpid()])\ndef test_named(n):\n    pass\n"
    (tmp_path / "test_some.py").write_text(named, encoding="utf-8")
    command = [sys.executable, CHECKOUT / "tools" / "tests.py", "-q", "-p", "failed_list", "-n", "2", "test_some.py"]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "tests" / "plugins")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Different tests were collected" in done.stdout
    assert "once more" not in done.stdout


@pytest.mark.skipif("MYCNF_DRAWS" in os.environ, reason="this run draws again")
def test_draws_are_the_same_each_time() -> None:
    """A test that draws its input passes or fails for good, and no clock judges it."""
    assert settings().derandomize
    assert settings().deadline is None
