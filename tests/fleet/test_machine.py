"""The machine under a server: what a shell prints is read back, and only taken where it is the server's own."""

from __future__ import annotations

import base64
import io
import os
import shutil
import socket
import subprocess
import tarfile
from functools import cache
from pathlib import Path

import pytest
from audit_samples import recorded
from msgspec.structs import replace

from advisor.collect.host import open_root
from advisor.facts import Facts
from advisor.fleet.machine import BEGIN, END, command, unpack_tar, with_host

TOOLS = ("sh", "cat", "cp", "ln", "mkdir", "readlink", "rm", "sed", "tar", "tr", "uname", "od")


@cache
def printed(path: str = os.environ["PATH"]) -> str:
    """What a real shell prints that is given the script, with the programs of this path."""
    words = [shutil.which("sh") or "sh", "-c", command()]
    done = subprocess.run(words, env={"PATH": path}, capture_output=True, timeout=600, check=False)
    return done.stdout.decode()


@pytest.fixture
def facts() -> Facts:
    """Of the recorded server, as if its machine had not been read."""
    return replace(recorded(), host=None)


def named(facts: Facts, **variables: str) -> Facts:
    """The same with other variables."""
    return replace(facts, server=replace(facts.server, variables={**facts.server.variables, **variables}))


@pytest.mark.parametrize("missing", [(), ("base64",), ("base64", "openssl", "gzip")])
def test_any_shell_will_do(missing: tuple[str, ...], tmp_path: Path) -> None:
    """With base64 or without, with gzip or without, the tar that comes back is of this host."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in {*TOOLS, "base64", "openssl", "gzip"} - set(missing):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    tar = tmp_path / "host.tar"
    tar.write_bytes(unpack_tar(printed(path=str(tools))))
    assert (open_root(str(tar)).read("/proc/sys/kernel/hostname") or "").strip() == socket.gethostname()


def test_a_terminal_with_a_banner(tmp_path: Path) -> None:
    """Ends of lines and a banner that a terminal brings along do no harm."""
    output = "Welcome to db1\r\n" + printed().replace("\n", "\r\n") + "bye\r\n"
    tar = tmp_path / "host.tar"
    tar.write_bytes(unpack_tar(output))
    assert open_root(str(tar)).read("/proc/meminfo")


@pytest.mark.parametrize(("output", "why"), [
    ("", "did not run the script"),
    ("sh: not found", "did not run the script"),
    (f"{BEGIN}-base64\nAAAA", "did not run the script"),
    (f"{BEGIN}-base64\n{END}\n", "created no tar"),
    (f"{BEGIN}-base64\n!!!!\n{END}\n", "damaged"),
    (f"{BEGIN}-hex\nzz\n{END}\n", "damaged"),
    (f"{BEGIN}-base64\nAAAA\n{END}\n", "can't be read as the tar of a host"),
])  # fmt: skip
def test_what_is_no_tar(output: str, why: str, facts: Facts) -> None:
    """Any other output of a shell becomes the reason why the machine wasn't read."""
    machine = with_host(facts, {"printed": output}, {})
    assert machine.facts.host is None
    assert why in machine.reason
    assert why in machine.facts.reason_missing("host")


def test_another_hosts_shell(facts: Facts) -> None:
    """The machine of a host that the server doesn't call its own isn't taken for its."""
    machine = with_host(facts, {"printed": printed()}, {})
    assert machine.facts.host is None
    assert machine.reason == f"the server calls itself db1, the host that the shell runs on {socket.gethostname()}"


def test_a_host_without_the_server(facts: Facts) -> None:
    """Nor is that of a host on which no process works in the server's data directory."""
    elsewhere = named(facts, hostname=socket.gethostname(), datadir="/nowhere/data/")
    machine = with_host(elsewhere, {"printed": printed()}, {})
    assert machine.facts.host is None
    assert "works in /nowhere/data" in machine.reason or "several servers" in machine.reason


def tar_of(servers: dict[int, str | None]) -> str:
    """What a shell prints on a host with servers by process, with their directories; None for one not readable."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for pid, directory in servers.items():
            comm = tarfile.TarInfo(f"./proc/{pid}/comm")
            comm.size = len(b"mysqld\n")
            tar.addfile(comm, io.BytesIO(b"mysqld\n"))
            if directory is not None:
                cwd = tarfile.TarInfo(f"./proc/{pid}/cwd")
                cwd.type, cwd.linkname = tarfile.SYMTYPE, directory
                tar.addfile(cwd)
    return f"{BEGIN}-base64\n{base64.b64encode(packed.getvalue()).decode()}\n{END}\n"


@pytest.mark.parametrize(
    ("servers", "reason"),
    [
        ({7: "/srv/db/"}, ""),
        ({7: None}, ""),
        ({7: "/srv/db", 8: None}, ""),
        ({7: "/elsewhere", 8: None}, "several servers"),
        ({7: "/elsewhere"}, "works in /srv/db"),
    ],
)
def test_whose_process_it_is(servers: dict[int, str | None], reason: str, facts: Facts) -> None:
    """A process whose directory can't be read is the server's only if it is the host's only one."""
    machine = with_host(named(facts, hostname="", datadir="/srv/db/"), {"printed": tar_of(servers)}, {})
    assert reason in machine.reason
    assert (machine.facts.host is None) == bool(reason)


def test_a_described_machine(facts: Facts) -> None:
    """Where no machine can be read, as under a managed service, variables describe it."""
    machine = with_host(facts, {"reason": "no shell"}, {"mycnf_ram": "64G", "mycnf_cpus": "16", "mycnf_disk": "nvme"})
    assert machine.reason == ""
    assert machine.facts.host is not None
    assert machine.facts.host.usable_memory == 64 << 30
    assert machine.facts.host.usable_cpus == 16


@pytest.mark.parametrize(("name", "text"), [("ram", "much"), ("cpus", "two"), ("cpus", "0"), ("disk", "tape")])
def test_a_description_that_is_none(name: str, text: str, facts: Facts) -> None:
    """The server is judged all the same, without its machine, and the variable that is wrong is named."""
    machine = with_host(facts, {}, {f"mycnf_{name}": text})
    assert machine.facts.host is None
    assert machine.reason.startswith(f"mycnf_{name}")


def test_reasons_name_variables(facts: Facts) -> None:
    """The remedy of a reason is one that an inventory has."""
    machine = with_host(facts, {"reason": "Connection refused"}, {})
    assert machine.facts.reason_missing("host") == "Connection refused: set mycnf_ram, mycnf_cpus and mycnf_disk"
