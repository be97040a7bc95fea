"""The judges of the reader as fixtures; a test skips by name where its judge is not installed."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from advisor.core.model import Target
from tests.optionfile.judges import PrintDefaults, Server

SERVERS = ("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.4", "mariadb-11.8")


@pytest.fixture(scope="session", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Server:
    """Each of the provisioned servers; they need not run to be asked."""
    folder = Path(os.environ.get("MYCNF_SERVERS", "~/.cache/mycnf/servers")).expanduser() / request.param
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
    except OSError:
        pytest.skip(f"{request.param} is not installed (python tests/servers/provision.py {request.param})")
    version = tuple(int(part) for part in re.findall(r"\d+", manifest["version"])[:3])
    return Server(Target(request.param.partition("-")[0], version), str(folder / manifest["server"]))


@pytest.fixture(scope="session")
def print_defaults() -> PrintDefaults:
    """MariaDB's my_print_defaults."""
    program = shutil.which("my_print_defaults")
    if program is None:
        pytest.skip("my_print_defaults is not installed (Debian package mariadb-client-core)")
    return PrintDefaults(program)
