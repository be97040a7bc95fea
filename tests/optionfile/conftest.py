"""The judges of the reader: my_print_defaults, and each real server's own --print-defaults."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from advisor.model import Target
from advisor.optionfile import groups_read
from advisor.optionfile.lines import Kind, Line, Resolved

SERVERS = ("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.4", "mariadb-11.8")


class Judged(NamedTuple):
    """What a program of the servers makes of a file: its arguments as bytes, None where it refuses the file."""

    arguments: bytes | None
    said: str


class Server(NamedTuple):
    """A real server that can be asked for the arguments it would start with."""

    target: Target
    program: str

    def asked(self, path: Path | str, *more: str) -> Judged:
        """Its answer to --print-defaults: each argument with a blank behind it."""
        command = [self.program, f"--defaults-file={path}", *more, "--print-defaults"]
        run = subprocess.run(command, capture_output=True, timeout=60, check=False)
        said = run.stderr.decode(errors="replace")
        return Judged(None if run.returncode else run.stdout.partition(b"\n")[2].removesuffix(b"\n"), said)


@pytest.fixture(scope="session", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Server:
    """Each of the provisioned servers; skipped by name where one is not at hand."""
    folder = Path(os.environ.get("MYCNF_SERVERS", "~/.cache/mycnf/servers")).expanduser() / request.param
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
    except OSError:
        pytest.skip(f"{request.param} is not at hand (python tests/servers/provision.py {request.param})")
    version = tuple(int(part) for part in re.findall(r"\d+", manifest["version"])[:3])
    return Server(Target(request.param.partition("-")[0], version), str(folder / manifest["server"]))


@pytest.fixture(scope="session")
def print_defaults() -> Callable[..., Judged]:
    """MariaDB's my_print_defaults: each argument of the groups with a newline behind it."""
    program = shutil.which("my_print_defaults")
    if program is None:
        pytest.skip("my_print_defaults is not at hand (Debian package mariadb-client-core)")

    def ask(path: Path | str, *groups: str, cwd: Path | None = None) -> Judged:
        command = [program, f"--defaults-file={path}", *groups]
        run = subprocess.run(command, capture_output=True, timeout=60, check=False, cwd=cwd)
        return Judged(None if run.returncode else run.stdout, run.stderr.decode(errors="replace"))

    return ask


def arguments(resolved: Resolved, groups: Iterable[str], end: str, mask: str = "") -> bytes | None:
    """What a program that reads these groups is started with; None where it stops at a line.

    `mask` is what stands in for a password where the program doesn't tell it.
    """
    top = resolved.files[0]
    if any(line.kind is Kind.REJECTED or (line.kind is Kind.OPTION and line.group is None) for line in top.lines):
        return None
    read = frozenset(groups)
    said = [_argument(p.line, mask) + end for p in resolved.options if (p.line.group or "").lower() in read]
    return "".join(said).encode("utf-8", "surrogateescape")


def _argument(line: Line, mask: str) -> str:
    if mask and (line.name or "").startswith("password"):
        return mask
    return f"--{line.name}" if line.value is None else f"--{line.name}={line.value}"


@pytest.fixture(scope="session")
def foreseen() -> Callable[..., bytes | None]:
    """The arguments that the reader foresees, in the shape in which a judge tells its own."""
    return arguments


@pytest.fixture(scope="session")
def foreseen_by_server() -> Callable[..., bytes | None]:
    """The same for a server, with the groups that it reads."""

    def foresee(server: Server, resolved: Resolved, suffix: str = "") -> bytes | None:
        mask = "--password=*****" if server.target.is_mysql else ""
        return arguments(resolved, groups_read(server.target, suffix=suffix), " ", mask)

    return foresee
