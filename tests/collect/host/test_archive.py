"""The script that tars a host where there is no Python, run by the shell of the machine that the test runs on."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import tarfile
from typing import TYPE_CHECKING

import pytest
from host_read_comparison import Compared, compared, faults
from msgspec.structs import replace

from advisor.collect.host import open_root, read_host, server_pids
from advisor.collect.host.root import MAX_READ, LiveRoot
from advisor.collect.host.tar_script import host_tar_script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from advisor.facts.host import Host

MOST_ROUNDS = 5


@pytest.fixture(scope="module")
def named_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A process that is a server by name only: the script finds servers by name and must not need more of them."""
    program = tmp_path_factory.mktemp("named") / "mysqld"
    shutil.copy(shutil.which("sleep"), program)
    with subprocess.Popen([program, "600"], env={"MYSQL_PWD": "hunter2"}) as process:
        yield process.pid
        process.kill()


def run_script(tmp_path: Path) -> Path:
    """Run the script as over ssh, text on standard input; returns the tar."""
    place = tmp_path / "host.tar"
    scratch = tmp_path / "scratch"
    scratch.mkdir(parents=True)
    with open(place, "wb") as out:
        subprocess.run(
            ["sh", "-s"],
            input=host_tar_script().encode(),
            stdout=out,
            env={"PATH": os.environ["PATH"], "TMPDIR": str(scratch)},
            check=True,
            timeout=600,
        )
    assert list(scratch.iterdir()) == [], "the script must leave nothing behind"
    return place


@pytest.fixture(scope="module")
def tar(tmp_path_factory: pytest.TempPathFactory, named_process: int) -> Path:
    """The tar of this host while that process runs."""
    return run_script(tmp_path_factory.mktemp("tar"))


def without_space(host: Host) -> Host:
    """A host without what no tar contains: the space of its file systems."""
    return replace(host, storage=host.storage and replace(host.storage, space=None))


def test_tar_of_this_host_reads_as_this_host(tmp_path: Path, named_process: int) -> None:
    """What is read from the tar is what is read live before and after it: processors, memory, devices, limits, system.

    The host goes on working meanwhile, so a field must differ each time to count.
    """
    datadir = os.path.realpath(tmp_path)
    rounds: list[Compared] = []
    while not rounds or (faults(rounds) and len(rounds) < MOST_ROUNDS):
        before = without_space(read_host(open_root("/"), named_process, datadir))
        recorded = open_root(str(run_script(tmp_path / str(len(rounds)))))
        after = without_space(read_host(open_root("/"), named_process, datadir))
        rounds.append(compared(before, read_host(recorded, named_process, datadir), after))
    assert not faults(rounds), "\n".join(faults(rounds))
    assert named_process in server_pids(recorded)
    assert after.cpu
    assert after.process.limits


class RecordingRoot(LiveRoot):
    """The live machine, and the names of the files that were read or looked for."""

    def __init__(self) -> None:
        self.names_read: set[str] = set()

    def read(self, path: str, limit: int = MAX_READ) -> str | None:
        """See Root."""
        self.names_read.add(os.path.basename(path))
        return super().read(path, limit)


def test_script_packs_what_is_read(named_process: int) -> None:
    """The script names each file that a reader looks for, there or not; udev's records of disks alone are left out."""
    root = RecordingRoot()
    read_host(root, named_process, "/")
    packed = set(re.split(r"[\s\"'/=;]+", host_tar_script()))
    left_out = {name for name in root.names_read - packed if not re.fullmatch(r"b\d+:\d+", name)}
    assert left_out == set(), "name them beside their reader, in a table of tar_script.py"


def test_fields_that_differ_are_named() -> None:
    """What differs each time stands with both values; what moved, or came and went, only where it is lost."""
    host = read_host(open_root("/"), os.getpid(), "/")
    memory = host.memory
    assert memory
    assert host.os
    later, lost = replace(host, memory=replace(memory, free=1)), replace(host, memory=replace(memory, free=None))
    other = replace(host, memory=replace(memory, swappiness=-1), devices=())
    assert faults([compared(host, host, later), compared(host, host, host)]) == []
    assert faults([compared(host, other, later), compared(host, host, later)]) == []
    assert f"memory.swappiness: live {memory.swappiness}, else -1" in faults([compared(host, other, later)])
    assert faults([compared(host, lost, later)]) == ["memory.free: live 1, else None"]
    renamed = replace(host, os=replace(host.os, hostname="other"))
    assert faults([compared(host, host, renamed)]) == ["os.hostname: moves by itself"]


def test_tar_holds_no_environment_and_no_command_line(tar: Path, named_process: int) -> None:
    """Both may hold a password, so the script takes neither from any process."""
    with tarfile.open(tar) as archive:
        names = archive.getnames()
        texts = b"".join(archive.extractfile(member).read() for member in archive if member.isreg())
    assert f"./proc/{named_process}/limits" in names
    assert not [name for name in names if name.endswith(("environ", "cmdline"))]
    assert b"hunter2" not in texts


def test_of_numa_maps_the_first_mapping_alone_goes_into_the_tar(tar: Path, named_process: int) -> None:
    """For the whole of it the kernel would walk every page of a server, of which there may be a terabyte."""
    if not os.path.exists(f"/proc/{named_process}/numa_maps"):
        pytest.skip("this kernel has no memory nodes")
    with tarfile.open(tar) as archive:
        sizes = {member.name: member.size for member in archive}
    assert 0 < sizes[f"./proc/{named_process}/numa_maps"] <= 128


def test_script_writes_no_tar_to_a_terminal(tmp_path: Path) -> None:
    """Without a redirection it says so and ends with 2."""
    ours, theirs = pty.openpty()
    done = subprocess.run(
        ["sh", "-s"], input=host_tar_script().encode(), stdout=theirs, stderr=subprocess.PIPE, check=False, timeout=600
    )
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1
