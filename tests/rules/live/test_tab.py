"""The advice about the cache of open tables before real servers that get few files from the system."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from probes.sandbox import Sandbox
from probes.sandbox.datadir import copy_template
from probes.sandbox.scratch import Scratch
from rules import all_rules

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Binaries

    from advisor.core.model import Finding
    from probes.sandbox import Binary

OURS = [rule for rule in all_rules() if rule.family in ("TAB", "SYS", "CON")]
FILE = "[mysqld]\nmax_connections = 600\ntable_open_cache = 300\n"
FEW = 1024


def granted(binary: Binary, files: int, folder: Path) -> Binary:
    """The same server under a limit on open files, as a service's unit sets it."""
    program = folder / f"files-{files}"
    program.write_text(f'#!/bin/sh\nulimit -n {files} && exec "{binary.program}" "$@"\n', "utf-8")
    program.chmod(0o755)
    return replace(binary, program=str(program))


def found(binary: Binary, files: int, text: str, folder: Path, templates: Path) -> dict[str, Finding]:
    """What the rules about tables, connections and the system find about the server with that file and limit."""
    file = folder / "my.cnf"
    file.write_text(text, "utf-8")
    with Sandbox(granted(binary, files, folder), Scratch(), None, str(file), ()) as sandbox:
        # From the template of the program itself: the script would have one of its own, and replace the other.
        copy_template(binary, str(templates), sandbox.datadir)
        sandbox.restart()
        facts = collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=0.0))
        return {finding.name: finding for finding in run_rules(build_context(facts), OURS).findings}


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_the_whole_remedy_at_once(server_name: str, binaries: Binaries, templates: Path, tmp_path: Path) -> None:
    """With few files the remedy names them beside the cache, and once it was followed nothing of it is left to say."""
    binary = binaries(server_name)
    cache = found(binary, FEW, FILE, tmp_path, templates)["tiny-table-cache"]
    (action,) = cache.actions
    files = re.search(r"(?:LimitNOFILE|nofile)=(\d+)", cache.help)
    assert files is not None
    assert (action.option_line, action.restart, action.statement) == ("table_open_cache = 2000", True, None)
    after = found(binary, int(files[1]), f"{FILE}{action.option_line}\n", tmp_path, templates)
    assert {"tiny-table-cache", "overflowing-table-cache", "limited-by-the-system"}.isdisjoint(after)
    assert not [finding for finding in after.values() if finding.canonical == "table_open_cache"]


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_files_for_all_that_the_file_asks_for(
    server_name: str, binaries: Binaries, templates: Path, tmp_path: Path
) -> None:
    """With the files that the remedy names the server gets the connections and tables of its file."""
    binary, text = binaries(server_name), "[mysqld]\nmax_connections = 3000\ntable_open_cache = 3000\n"
    finding = found(binary, FEW, text, tmp_path, templates)["limited-by-the-system"]
    files = re.search(r"(?:LimitNOFILE|nofile)=(\d+)", finding.help)
    assert files is not None
    after = found(binary, int(files[1]), text, tmp_path, templates)
    assert "limited-by-the-system" not in after
