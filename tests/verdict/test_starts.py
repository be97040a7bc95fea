"""Refusals that help doesn't show: the verdict compared with servers that are really started."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_servers import Start
from verdict_agreement import judge_lines, refused_lines

from advisor.catalog import load
from probes.sandbox import Binary, SandboxError

GTID = """
gtid_mode=ON
gtid_mode=ON / enforce_gtid_consistency=WARN
gtid_mode=ON / enforce-gtid-consistency
gtid_mode=ON / enable-enforce_gtid_consistency
gtid_mode=ON / skip-enforce_gtid_consistency=0
gtid_mode=OFF_PERMISSIVE / skip-enforce_gtid_consistency
enforce_gtid_consistency=OFF
enforce_gtid_consistency=abc
"""
POLICIES = """
authentication_policy=mysql_native_password
authentication_policy=CACHING_SHA2_password,*,*
authentication_policy="*:sha256_password , ,"
authentication_policy="*,caching_sha2_password"
authentication_policy="*,,*"
authentication_policy="*,,,"
authentication_policy=",*"
authentication_policy="*:"
enable-authentication_policy
"""


def refuses(start: Start, name: str, lines: str, folder: Path) -> bool:
    """Whether the server ends when it is started with the lines."""
    file = folder / "my.cnf"
    file.write_text(f"[mysqld]\n{lines}\n", encoding="utf-8")
    try:
        start(name, option_file=file, small=True, arguments=["--performance-schema=OFF"]).close()  # a third of a start
    except SandboxError as error:
        if "died at its start" not in str(error):
            raise
        return True
    return False


def cases(text: str) -> list[str]:
    """The files, whose lines are separated by slashes."""
    return [line.replace(" / ", "\n") for line in text.strip().splitlines()]


@pytest.mark.servers("mysql")
@pytest.mark.parametrize("lines", cases(GTID))
def test_gtids(lines: str, binary: Binary, start: Start, tmp_path: Path) -> None:
    """GTIDs need consistency that is enforced, and where they are on by default too."""
    refused = refused_lines(judge_lines(lines, load(binary.target)))
    assert bool(refused) == refuses(start, binary.name, lines, tmp_path)


@pytest.mark.servers("mysql-9.7")
@pytest.mark.parametrize("lines", cases(POLICIES))
def test_authentication_policies(lines: str, binary: Binary, start: Start, tmp_path: Path) -> None:
    """A policy names plugins that are there, each in a place that it can take."""
    refused = refused_lines(judge_lines(lines, load(binary.target)))
    assert bool(refused) == refuses(start, binary.name, lines, tmp_path)
