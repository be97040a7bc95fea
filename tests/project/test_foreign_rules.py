"""Another distribution's package `rules` in the place of ours is reported in one line, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = (["lint", "x.cnf"], ["rules"], ["explain", "OPT001"], ["audit", "--snapshot", "x.json"])


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: str(words[0]))
def test_foreign_package(command: list[str], checkout: Path, tmp_path: Path) -> None:
    """Where Python finds a stranger's package first, mycnf names its place and ends with 2."""
    stranger = tmp_path / "rules"
    stranger.mkdir()
    (stranger / "__init__.py").write_text('"""Somebody else\'s package."""\n')
    ran = subprocess.run(
        [sys.executable, "-c", "import sys; from advisor.__main__ import main; sys.exit(main())", *command],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{checkout}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert str(stranger) in ran.stderr
    assert "pipx" in ran.stderr


def test_literals_agree() -> None:
    """The two packages carry exactly the name that the check compares with."""
    import probes
    import rules
    from advisor.cli import PRODUCT

    assert rules.PRODUCT == probes.PRODUCT == PRODUCT
