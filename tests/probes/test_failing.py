"""A throwaway server that can't be had ends in one clear error, and nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import pytest
from process_checks import eventually
from real_servers import Binaries, Start

from probes.sandbox import Binary, SandboxError, describe_binary
from probes.sandbox import start_server as start_sandbox
from probes.sandbox.scratch import MARKER, PREFIX


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.4")
def test_a_server_that_dies_is_reported_in_its_own_words(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """A refused option ends in one error of one line that names the option, with the log's last lines beside it."""
    with pytest.raises(SandboxError) as refused:
        start_sandbox(binary, base=tmp_path, templates=templates, arguments=["--innodb-bufer-pool-size=1G"])
    message = str(refused.value)
    assert "\n" not in message
    assert binary.name in message
    assert "innodb-bufer-pool-size" in message
    assert "innodb-bufer-pool-size" in refused.value.log
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_is_named_with_its_package(tmp_path: Path) -> None:
    """A loader's complaint becomes the library's name and the way to install it."""
    program = tmp_path / "mysqld"
    program.write_text(
        "#!/bin/sh\necho 'mysqld: error while loading shared libraries: libaio.so.1: cannot open shared object file: "
        "No such file or directory' >&2\nexit 127\n"
    )
    program.chmod(0o755)
    with pytest.raises(SandboxError, match=r"libaio\.so\.1 is missing: apt-get install libaio1"):
        describe_binary(str(program))


def test_no_program_is_one_clear_line() -> None:
    """A server that isn't there is one line with the reason."""
    with pytest.raises(SandboxError, match=r"cannot run /nowhere/mysqld: No such file"):
        describe_binary("/nowhere/mysqld")


class SmallDisk(Protocol):
    """Gives an empty file system of that many MiB."""

    def __call__(self, size: int) -> Path: ...


@pytest.fixture
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> SmallDisk:
    """Small file systems; the test skips where they can't be mounted."""

    def mount(size: int) -> Path:
        if os.geteuid() != 0:
            pytest.skip("needs root: mounts a small file system")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m", "none", str(tmp_path)], check=False)
        if done.returncode != 0:
            pytest.skip("needs the right to mount a file system")
        request.addfinalizer(lambda: subprocess.run(["umount", str(tmp_path)], check=True))
        return tmp_path

    return mount


def test_a_full_file_system_is_reported_before_anything_is_made(binaries: Binaries, small_disk: SmallDisk) -> None:
    """On a file system without room for a server, the error says how much is free and nothing is left there."""
    disk = small_disk(20)
    with pytest.raises(SandboxError, match=r"has (19|20) MiB free"):
        start_sandbox(binaries("mariadb-10.11"), base=disk)
    assert list(disk.iterdir()) == []


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_a_file_system_that_fills_up_is_named(binary: Binary, templates: Path, small_disk: SmallDisk) -> None:
    """A server that dies of a full file system is reported as that, with the remedy, and nothing is left there."""
    disk = small_disk(420)
    with pytest.raises(SandboxError, match=r"the file system of the scratch directory is full: free space there"):
        start_sandbox(binary, base=disk, templates=templates, arguments=["--innodb-log-file-size=1G"])
    assert list(disk.iterdir()) == []


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-11.8")
def test_a_taken_port_is_named(start: Start, server_name: str) -> None:
    """A server that finds its port taken is reported as that."""
    holder = start("mariadb-10.11", tcp=True, small=True)
    with pytest.raises(SandboxError, match=r"the port is in use"):
        start(server_name, tcp=True, arguments=[f"--port={holder.port}"])


def test_a_killed_start_is_named(binaries: Binaries, templates: Path, tmp_path: Path) -> None:
    """A server that the kernel takes away while it starts is reported as killed, with the likely reason."""
    binary = binaries("mariadb-11.4")  # it makes a TLS key at its start, which leaves time to kill it

    def server_pid() -> int | None:
        for marker in tmp_path.glob(f"{PREFIX}*/{MARKER}"):
            server = json.loads(marker.read_text(encoding="utf-8")).get("server")
            return server and int(server["pid"])
        return None

    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(start_sandbox, binary, base=tmp_path, templates=templates)
        eventually(server_pid, what="the server's process is written down")
        os.kill(server_pid() or 0, signal.SIGKILL)
        with pytest.raises(SandboxError, match=r"was killed at its start, most likely .* OOM killer"):
            starting.result()
    assert list(tmp_path.iterdir()) == []
