"""Servers that run with the option files of their packages: all is default there, so nothing is a warning."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from mycnf_command import Mycnf
from ordinary_user import past_support, start_as_ordinary_user
from provisioning.shelf import shelf
from real_servers import quickly

from probes.sandbox import Binary
from probes.sandbox.server import SMALL_OPTIONS

PLACED = "user|basedir|datadir|socket|pid[-_]file|log[-_]error|lc[-_]messages[-_]dir"  # said by the tests' starter
PLACES = re.compile(rf"^\s*({PLACED})\s*=.*\n", re.MULTILINE)


@pytest.fixture
def packaged(server_name: str, request: pytest.FixtureRequest) -> str:
    """The option file that the series' package, or its nearest, lays into /etc/mysql."""
    if server_name.startswith("mariadb"):
        owner = "mariadb-10.11" if server_name == "mariadb-10.11" else "mariadb-11.8"
        file = shelf() / owner / "root" / "etc" / "mysql" / "mariadb.conf.d" / "50-server.cnf"
        if not file.exists():
            pytest.skip(f"the server of {owner}, whose package has the option file, is not provisioned: make servers")
    else:
        shared: Path = request.getfixturevalue("shared")
        file = shared / "corpus" / "files" / ("1052.cnf" if server_name == "mysql-5.7" else "0849.cnf")
    return file.read_text("utf-8")


def test_a_packaged_server_is_quiet(
    mycnf: Mycnf, binary: Binary, templates: Path, tmp_path: Path, packaged: str
) -> None:
    """Lint and audit of a server with its package's option file have no error, and a warning where support ended."""
    ours = tmp_path / "packaged.cnf"
    ours.write_text(PLACES.sub("", packaged), encoding="utf-8")
    linted = mycnf("lint", "--isolated", "--target", binary.name, "--format", "json", ours)
    arguments = (*SMALL_OPTIONS, *quickly(binary, small=True))
    with start_as_ordinary_user(binary, tmp_path, templates, *arguments, option_file=ours) as running:
        words = ("--socket", running.socket, "--user", "root", "--window", "0", "--format", "json")
        audited = mycnf("audit", *words, "--isolated", "--fail-on", "never")
    found = [*json.loads(linted.out)["files"][0]["findings"], *json.loads(audited.out)["findings"]]
    assert {f["code"]: f["message"] for f in found if f["severity"] != "note"}.keys() == past_support(binary)
