"""The command as its user runs it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked_commands import PATIENCE, Forks
from mycnf_command import CHECKOUT, Ended, Mycnf, check_run

# What an interpreter reads when it starts, and a forked one has read already.
AT_ITS_START = ("PYTHON", "LANG", "LC_")


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """The process from which runs of mycnf are forked."""
    forks = Forks(tmp_path_factory.mktemp("forks"))
    yield forks
    forks.close()


@pytest.fixture
def mycnf(tmp_path: Path, forks: Forks) -> Mycnf:
    """`mycnf ARGS` in an empty folder with a home of its own, so that no file of the developer's is read."""

    def run(*args: str | Path, stdin: bytes = b"", env: dict[str, str] | None = None) -> Ended:
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(CHECKOUT), **(env or {})}
        words = [str(arg) for arg in args]
        if any(name.startswith(AT_ITS_START) for name in env or {}):
            return in_new_process(words, stdin, tmp_path, environment)
        return forks.run(words, stdin=stdin, cwd=tmp_path, env=environment)

    return run


def in_new_process(words: list[str], stdin: bytes, folder: Path, environment: dict[str, str]) -> Ended:
    """The command line in an interpreter that starts with this environment."""
    command = [sys.executable, "-m", "advisor", *words]
    done = subprocess.run(
        command, input=stdin, capture_output=True, cwd=folder, env=environment, timeout=PATIENCE, check=False
    )
    return check_run(done.returncode, done.stdout.decode(), done.stderr.decode())
