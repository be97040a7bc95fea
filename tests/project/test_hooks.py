"""The pre-commit hook picks option files, and runs a command that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from advisor.cli import build_parser

OPTION_FILES = (
    "my.cnf", ".my.cnf", "my.ini", "etc/mysql/my.cnf", "etc/my.cnf.d/server.cnf", "files/mysqld.cnf",
    "roles/db/templates/my.cnf.j2", "etc/mysql/mariadb.conf.d/50-server.cnf", "etc/mysql/mysql.conf.d/mysqld.cnf",
    "mysql/conf.d/tuning.cnf",
)  # fmt: skip
OTHER_FILES = ("openssl.cnf", "etc/php.ini", "setup.ini", "my.cnf.md", "docs/mysql.md", "conf.d/nginx.conf", "amy.cnf")


@pytest.fixture
def hook(checkout: Path) -> dict[str, str]:
    """The fields of the one hook; a flat file, read line by line so that no YAML package is needed."""
    lines = (checkout / ".pre-commit-hooks.yaml").read_text().splitlines()
    pairs = (line.removeprefix("- ").strip().partition(": ") for line in lines)
    return {key: value.strip("'\"") for key, _, value in pairs}


@pytest.mark.parametrize("path", OPTION_FILES)
def test_picks_option_files(path: str, hook: dict[str, str]) -> None:
    """A file that servers read under this name is linted."""
    assert re.search(hook["files"], path)


@pytest.mark.parametrize("path", OTHER_FILES)
def test_leaves_other_files(path: str, hook: dict[str, str]) -> None:
    """A file of something else is not."""
    assert not re.search(hook["files"], path)


def test_entry_is_a_command(hook: dict[str, str]) -> None:
    """The hook's entry parses with the files that pre-commit appends, in one process."""
    program, *words = hook["entry"].split()
    assert program == "mycnf"
    assert build_parser().parse_args([*words, "a.cnf", "b.cnf"]).files == ["a.cnf", "b.cnf"]
    assert hook["require_serial"] == "true"
