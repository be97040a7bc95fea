"""Hosts whose shell prints without end, or much: each is audited without its machine, in bounded time and memory."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterable, Iterator

import pytest
from fleet_run import Ground, Servers
from fleet_sshd import Key, program, reached_by, sshd

NAME = "mariadb-10.11"
# Kilobytes that any process of the run may have had at its peak. The kernel's limit decides where a host is so busy
# that our own look at the memory comes late; 82 MB were seen by ssh on a quiet one.
MOST = 700 << 10
IN_C = "reads-in-C"
# Connections that a team may have beside ssh: ansible's own to this host, and one that reads on in C. They run
# another program than they are told to.
CONNECTION = '''
import subprocess
from ansible.plugins.connection.local import Connection as Local

DOCUMENTATION = """
name: pours
short_description: prints
description: prints
version_added: "1"
options:
  pipelining: {{description: no, type: bool, default: false}}
"""
PRINTS = {prints!r}

class Connection(Local):
    transport = "pours"

    def exec_command(self, cmd, in_data=None, sudoable=True):
        program = PRINTS[self._play_context.remote_addr]
        if self._play_context.remote_addr != "reads-in-C":
            return super().exec_command(program, in_data, sudoable)
        with subprocess.Popen(program, shell=True, stdout=subprocess.PIPE) as process:
            return 0, process.stdout.read(), b""
'''
TOO_MUCH = "the host's shell printed too much, possibly endlessly"
PRINTS = {
    "endless": ("exec yes", TOO_MUCH),
    IN_C: ("exec yes", TOO_MUCH),
    "errors": ("exec yes >&2", TOO_MUCH),
    "one-line": ("exec tr '\\0' x < /dev/zero", TOO_MUCH),
    "large": ("yes | head -c 40000000", TOO_MUCH),
    "short-lines": ("yes ab | head -c 15000000", "the host's shell did not run the script to the end"),
    "beginnings": ("yes MYCNF-TAR-BEGIN-hex | head -c 15000000", "the host's shell did not run the script to the end"),
    "spaces": ("echo MYCNF-TAR-BEGIN-hex; yes 'g ' | head -c 15000000; echo MYCNF-TAR-END", "is damaged"),
    "signs": ("echo MYCNF-TAR-BEGIN-hex; yes ä | head -c 15000000; echo MYCNF-TAR-END", "is damaged"),
    "silent": ("exec sleep 3000", "the host's shell gave no answer in time"),
}


@pytest.fixture
def reached(servers: Servers) -> Iterator[dict[str, object]]:
    """The variables with which a server is reached over TCP."""
    live = servers(NAME)
    with live.user("fleet", "IDENTIFIED BY ''"):
        yield {"mycnf_host": "127.0.0.1", "mycnf_port": live.sandbox.port, "mycnf_user": "fleet"}


def test_endless(ground: Ground, keys: Key, reached: dict[str, object]) -> None:
    """By ssh and by another connection: every server is audited, and the reason stands by its machine."""
    expected = {name: why for name, (_, why) in PRINTS.items() if name != IN_C}
    with sshd(keys, "127.0.0.1", ForceCommand=program("yes")) as port:
        ssh = {**reached_by(keys), "ansible_host": "127.0.0.1", "ansible_port": port}
        code, usage = _run(ground, {**_pouring(reached, expected), "ssh": {**reached, **ssh}})
    _all_audited(ground, {**expected, "ssh": TOO_MUCH})
    assert code == 0
    assert usage.ru_maxrss < MOST, usage


def test_endless_in_c(ground: Ground, reached: dict[str, object]) -> None:
    """A connection that hears no signal while it reads runs against a limit of the kernel, and the run goes on."""
    code, usage = _run(ground, _pouring(reached, [IN_C]))
    _all_audited(ground, {IN_C: TOO_MUCH})
    assert code == 0
    assert usage.ru_maxrss < MOST, usage


def _pouring(reached: dict[str, object], names: Iterable[str]) -> dict[str, dict[str, object]]:
    return {name: {**reached, "ansible_connection": "pours"} for name in names}


def _all_audited(ground: Ground, expected: dict[str, str]) -> None:
    rows = ground.rows()
    assert {name: row["status"] for name, row in rows.items()} == dict.fromkeys(expected, "audited")
    assert {name: row["machine"] for name, row in rows.items() if expected[name] not in row["machine"]} == {}


def _run(ground: Ground, hosts: dict[str, dict[str, object]]) -> tuple[int, resource.struct_rusage]:
    """Run it; its exit code, and the most that it or any process below it had."""
    ground.inventory({"db": hosts})
    (ground.place / "connections").mkdir()
    prints = {name: command for name, (command, _) in PRINTS.items()}
    (ground.place / "connections" / "pours.py").write_text(CONNECTION.format(prints=prints))
    environment = ground.environment(ANSIBLE_CONNECTION_PLUGINS=str(ground.place / "connections"))
    words = ground.command("--window", "0", "--timeout", "30", "--forks", "2")
    process = subprocess.Popen(words, cwd=ground.place, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage
