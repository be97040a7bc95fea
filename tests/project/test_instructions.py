"""What a command costs in instructions, which are the same on a busy host; clocks are for make bench."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Times the instructions of the same interpreter without a program, which is what any command is made of.
LIMITS = {
    "version": (["--version"], 2.7),
    "lint": (["lint", "--isolated", "--target", "mariadb-10.11", "examples/bad.cnf"], 4.15),
}
COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")


def instructions(*words: str, checkout: Path) -> int:
    """How many an interpreter with these words carries out, all its libraries' included."""
    command = [sys.executable, *words]
    # Equal hashes give equal sets and dictionaries, and so equal ways through them.
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONHASHSEED": "0"}
    for judge in ([], ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]):
        ran = subprocess.run(  # at first without it: what is not compiled yet is compiled then
            [*judge, *command], cwd=checkout, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        assert ran.returncode in (0, 1), ran.stderr
    found = COUNTED.search(ran.stderr)
    assert found is not None, ran.stderr
    return int(found[1].replace(",", ""))


@pytest.fixture(scope="module")
def bare(checkout: Path) -> int:
    """What the interpreter takes for nothing; skips by name without valgrind."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed: apt-get install valgrind")
    return instructions("-c", "pass", checkout=checkout)


@pytest.mark.parametrize("name", LIMITS)
def test_a_command_takes_few_instructions(name: str, bare: int, checkout: Path) -> None:
    """Offline commands stay within so many times what starting the interpreter takes."""
    words, limit = LIMITS[name]
    assert instructions("-m", "advisor", *words, checkout=checkout) <= limit * bare
