"""Memory of whole processes with inputs far larger than real files: they must be refused, or read within limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from figure import Figure

LARGE = 100 << 20
TAKEN = 1 << 20  # bytes of the largest option file or document that is read
TEXTS = (15 << 20, LARGE)  # half a minute and three minutes of mysqladmin extended-status -i 1 on MySQL 8.0
HUGE = (1 << 30) + 1  # more than is read of a text
MOST = 60  # MB
# The measured process is started by a small one: until it executes its own program it counts as a copy of its parent.
STARTER = """
import os, sys
quiet = os.open(os.devnull, os.O_WRONLY)
files = [(os.POSIX_SPAWN_DUP2, quiet, 1)]
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=files)
_, status, used = os.wait4(pid, 0)
print(used.ru_maxrss, os.waitstatus_to_exitcode(status))
"""
SERVICES = b"services:\n  db:\n    image: mysql:8.0\n    command:\n"
UNIT = b"[Service]\nExecStart=/usr/sbin/mysqld"
VARIABLES = b"Variable_name\tValue\nversion\t8.0.36\nhostname\tdb1\ndatadir\t/d/\n\n"
HEAD = b"| Variable_name | Value |\n"
# A public key among the counters makes the column this wide.
SAMPLE = HEAD + b"".join(b"| %-30s | %-450d |\n" % (name, 100) for name in (b"Questions", b"Connections", b"Uptime"))
PERSISTED = b'{"Version": 1, "mysql_server": {"port": {"Value": "1"}'


class Kind(NamedTuple):
    """A kind of file: its name, its beginning, the repeated part, and its end."""

    name: str
    file: str
    begins: bytes
    part: bytes
    ends: bytes = b""


KINDS = tuple(
    Kind(*row)
    for row in (
        ("option file", "my.cnf", b"[mysqld]\n", b"port = 3306\n"),
        ("option file of shortest lines", "my.cnf", b"[mysqld]\n", b"a\n"),
        ("option file of one line", "my.cnf", b"[mysqld]\nport = ", b"3", b"\n"),
        ("option file of findings", "my.cnf", b"[mysqld]\n", b"innodb_bufer_pool_size=1x\n"),
        ("option file of groups", "my.cnf", b"", b"[mysqld]\n"),
        ("compose file", "compose.yml", SERVICES, b"      - --port=3306\n"),
        ("compose file of services", "compose.yml", b"x: mysql\n", b"a: {image: mysql}\n"),
        ("unit", "mysql.service", UNIT, b" --port=3306", b"\n"),
        ("unit of lines", "mysql.service", UNIT, b"\n[Service]", b"\n"),
        ("Dockerfile", "Dockerfile", b"FROM mysql:8.0\n", b'CMD ["--port=3306"]\n'),
        ("persisted variables", "mysqld-auto.cnf", PERSISTED, b', "a": {"Value": "1"}', b"}}\n"),
        ("unit of commands", "mysql.service", UNIT, b" --a" * 5000 + b"\nExecStart=/usr/sbin/mysqld", b"\n"),
        ("Dockerfile of one command", "Dockerfile", b"FROM mysql:8.0\nCMD mysqld", b" --a", b"\n"),
    )
)
MOST_READ = (
    (Kind("option file of unknown options", "my.cnf", b"[mysqld]\n", b"a\n"), 9_990),
    (Kind("unit of unknown options", "mysql.service", UNIT, b" --a", b"\n"), 9_990),
    (Kind("Dockerfile of unknown options", "Dockerfile", b"FROM mysql:8.0\nCMD mysqld", b" --a", b"\n"), 9_990),
    (Kind("unit of comments", "mysql.service", UNIT + b"\n# mycnf: ignore[OPT001] x\n", b"#\n"), 49_990),
)
MYSQL = ("--target", "mysql-8.4")
COMMANDS = (("lint", *MYSQL), ("show", *MYSQL), ("upgrade", "--from", "mysql-5.7", "--to", "mysql-8.4"))


def figures(top: str) -> Iterator[Figure]:
    """Peak megabytes for each kind of file and command: with files of 100 MB, and with the largest that are read."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _large(top, folder)
        for kind in KINDS:
            path = _made(folder, TAKEN, kind)
            for command in COMMANDS:
                yield _figure(f"{command[0]}: {kind.name}, 1 MB", top, [*command, path], MOST)
        for kind, count in MOST_READ:
            path = _made(folder, len(kind.begins) + len(kind.part) * count + len(kind.ends), kind)
            for command in COMMANDS:
                yield _figure(f"{command[0]}: {kind.name}, the most that is read", top, [*command, path], MOST)
        yield from _texts(top, folder)


def _large(top: str, folder: str) -> Iterator[Figure]:
    for kind in KINDS:
        if " of " in kind.name:
            continue  # refused because of its size, whatever it contains
        path = _made(folder, LARGE, kind)
        for command in COMMANDS:
            yield _figure(f"{command[0]}: {kind.name}, 100 MB", top, [*command, path], MOST, refused=True)
        os.unlink(path)


def _texts(top: str, folder: str) -> Iterator[Figure]:
    """Texts and snapshots for audits: minutes of samples, and unrealistically large ones."""
    for size in TEXTS:
        path = _made(folder, size, Kind("text", "status.txt", VARIABLES, SAMPLE + b"+--+\n"))
        yield _figure(f"audit --from: samples, {size >> 20} MB", top, ["audit", "--from", path], MOST)
    os.truncate(path, HUGE)
    yield _figure("audit --from: text, more than 1 GB", top, ["audit", "--from", path], MOST, refused=True)
    os.unlink(path)
    path = _made(folder, LARGE, Kind("snapshot", "snapshot.json", b'{"schema": "1.0", "tool": "', b"x", b'"}'))
    words = ["audit", "--snapshot", path, "--format", "json"]
    yield _figure("audit --snapshot: one text of 100 MB", top, words, 0, refused=True)


def _made(folder: str, size: int, kind: Kind) -> str:
    """A file of that kind, at most that large."""
    path = os.path.join(folder, kind.file)
    with open(path, "wb") as file:
        file.write(kind.begins)
        block = kind.part * max(1, (64 << 10) // len(kind.part))
        while file.tell() + len(block) + len(kind.ends) <= size:
            file.write(block)
        file.write(kind.part * ((size - file.tell() - len(kind.ends)) // len(kind.part)) + kind.ends)
    return path


def _figure(name: str, top: str, words: list[str], most: int, *, refused: bool = False) -> Figure:
    """The peak of one run; if it should refuse the file and does not, there is no figure."""
    peak, code, printed = measure_run(top, words)
    lines = printed.splitlines()
    if refused and (code != 2 or len(lines) != 1):  # noqa: PLR2004 - the documented exit code
        return Figure(name, None, reason_missing=f"exit {code}, {printed[:200]!r}")
    if code not in (0, 1, 2):
        return Figure(name, None, reason_missing=f"exit {code}, {printed[:200]!r}")
    return Figure(f"{name} ({'refused' if code == 2 else 'read'})", peak, "MB", "<=" if most else "", most)  # noqa: PLR2004


def measure_run(top: str, words: list[str]) -> tuple[float, int, str]:
    """Peak megabytes of mycnf with these arguments, its exit code, and its stderr."""
    command = [sys.executable, "-I", "-S", "-c", STARTER, sys.executable, "-m", "advisor", *words, "--isolated"]
    environment = {**os.environ, "PYTHONPATH": top}
    ran = subprocess.run(command, cwd=top, env=environment, capture_output=True, text=True, check=True)
    peak, code = map(int, ran.stdout.split())
    return peak / 1024, code, ran.stderr


if __name__ == "__main__":
    print(json.dumps(measure_run(os.getcwd(), sys.argv[1:])))
