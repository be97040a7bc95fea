"""The layers hold, and the contracts that say so would notice a breach."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def contracts_hold(folder: Path) -> bool:
    """Whether import-linter is content with the packages of a folder."""
    ran = subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert "Contracts" in ran.stdout, ran.stdout + ran.stderr
    return ran.returncode == 0


@pytest.fixture
def copied(checkout: Path, tmp_path: Path) -> Path:
    """A copy of the three packages and their contracts."""
    for package in ("advisor", "rules", "probes"):
        shutil.copytree(checkout / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "data"))
    shutil.copy(checkout / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("module", "import_line"),
    [
        ("rules/__init__.py", "import advisor.collect"),
        ("advisor/core/model.py", "import advisor.catalog"),
        ("advisor/optionfile/__init__.py", "import advisor.facts"),
        ("advisor/report/__init__.py", "import advisor.commands"),
    ],
)
def test_breach_is_noticed(module: str, import_line: str, copied: Path) -> None:
    """One import against the direction of the layers breaks a contract that held before."""
    assert contracts_hold(copied)
    with (copied / module).open("a") as file:
        file.write(f"\n{import_line}\n")
    assert not contracts_hold(copied)
