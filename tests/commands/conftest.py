"""The command as its user runs it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from asking import CHECKOUT, Ended, Mycnf


@pytest.fixture
def mycnf(tmp_path: Path) -> Mycnf:
    """`mycnf ARGS` in an empty folder with a home of its own, so that no file of the developer's is read."""

    def run(*args: str | Path, stdin: bytes = b"", env: dict[str, str] | None = None) -> Ended:
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(CHECKOUT), **(env or {})}
        done = subprocess.run(
            [sys.executable, "-m", "advisor", *map(str, args)],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env=environment,
            timeout=120,
            check=False,
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
