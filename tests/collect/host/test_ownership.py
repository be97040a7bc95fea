"""Whose host a server runs on: real servers and real namespaces, and everything that must not pass for a proof."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import struct
import subprocess
from typing import TYPE_CHECKING

import pytest
from process_checks import eventually, first_row

from advisor.collect.host import NotProved, OwnershipProof, ServerClaim, find_server_process, read_host, server_pids
from advisor.collect.host.root import LiveRoot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from advisor.collect.host.root import Root
    from probes.sandbox import Sandbox

    Make = Callable[[dict[str, str]], Root]

needs_namespaces = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root and unshare")


def claim_of(server: Sandbox) -> ServerClaim:
    """What a connection to a server shows about it, from the kernel and from the server itself."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(server.socket)
        credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    row = first_row(server, "SELECT @@datadir, @@pid_file, @@socket, @@hostname")
    names = dict(zip(("datadir", "pid_file", "socket", "hostname"), map(str, row), strict=True))
    return ServerClaim("socket", struct.unpack("3i", credentials)[0], **names)


def test_server_behind_its_socket_is_proved(any_server: Sandbox) -> None:
    """Each server, reached by its own socket, is the process that was started, and its limits can be read."""
    proof = find_server_process(LiveRoot(), claim_of(any_server))
    assert isinstance(proof, OwnershipProof), proof
    assert proof.pid == any_server.pid
    host = read_host(LiveRoot(), proof.pid)
    assert os.path.samefile(host.storage.path, any_server.datadir)
    assert host.process.resident > 1 << 20
    assert [skipped.part for skipped in host.skipped if skipped.part in ("process", "storage")] == []


@pytest.mark.servers("mariadb-10.11")
def test_what_a_twin_elsewhere_would_claim_is_no_proof(any_server: Sandbox) -> None:
    """A server with the same paths and name, reached through TCP or a proxy, might be another host's."""
    claim = claim_of(any_server)
    for other in (claim._replace(via="tcp", peer_pid=0), claim._replace(proxied=True), claim._replace(peer_pid=0)):
        found = find_server_process(LiveRoot(), other)
        assert isinstance(found, NotProved)
        assert "--ram" in found.reason
        assert "\n" not in found.reason
    assert claim.socket in find_server_process(LiveRoot(), claim._replace(via="tcp")).reason


@pytest.mark.servers("mariadb-10.11")
def test_claim_that_contradicts_the_process_is_no_proof(any_server: Sandbox, tmp_path: Path) -> None:
    """The right process with another data directory, one that isn't here, or a pid file that names another."""
    claim = claim_of(any_server)
    other_pid = tmp_path / "other.pid"
    other_pid.write_text("1\n")
    for wrong in ({"datadir": str(tmp_path)}, {"datadir": "/no/such"}, {"datadir": ""}, {"pid_file": str(other_pid)}):
        assert isinstance(find_server_process(LiveRoot(), claim._replace(**wrong)), NotProved), wrong


@pytest.mark.servers("mariadb-10.11")
def test_process_that_merely_listens_is_named(any_server: Sandbox, tmp_path: Path) -> None:
    """A program at the socket that is not a server is in front of one; it is named."""
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as client:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        client.connect(str(tmp_path / "s"))
        pid = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    found = find_server_process(LiveRoot(), claim_of(any_server)._replace(peer_pid=pid))
    assert pid == os.getpid()
    assert isinstance(found, NotProved)
    assert f"process {pid}" in found.reason


def test_a_server_that_has_ended_is_no_proof(tree: Make) -> None:
    """Without the process's command line its option files would be guessed: those of other servers of the host."""
    ended = tree({"/proc/77/comm": "mysqld\n", "/proc/77/cmdline": ""})
    found = find_server_process(ended, ServerClaim("socket", 77, datadir="/data"))
    assert isinstance(found, NotProved)
    assert "ended" in found.reason


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another account")
@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_stranger_proves_by_owner_or_not_at_all(any_server: Sandbox) -> None:
    """Another account can't look into the process: the data directory's owner decides, if it can be seen."""
    claim = claim_of(any_server)
    assert "--ram" in as_nobody(claim)
    # An account's own directory above the data would hide it from others; a usual /var/lib doesn't.
    with open_to_others(any_server.datadir):
        assert "its account owns" in as_nobody(claim)


class open_to_others:  # noqa: N801 - reads as the with statement that it is
    """Let others pass through the directories above a path, and take it back afterwards."""

    def __init__(self, path: str) -> None:
        self._above: dict[str, int] = {}
        while path != "/":
            path = os.path.dirname(path.rstrip("/"))
            self._above[path] = os.stat(path).st_mode & 0o7777

    def __enter__(self) -> None:
        for path, mode in self._above.items():
            os.chmod(path, mode | 0o011)  # noqa: S103 - only passing through, and only for a moment

    def __exit__(self, *_: object) -> None:
        for path, mode in self._above.items():
            os.chmod(path, mode)


def as_nobody(claim: ServerClaim) -> str:
    """What prove() says in a process of the account nobody."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        os.write(theirs, repr(find_server_process(LiveRoot(), claim)).encode())
        os._exit(0)
    os.close(theirs)
    os.waitpid(child, 0)
    with open(ours) as file:
        return file.read()


def _servers_below(starter: int) -> list[int]:
    """Processes that are servers by name and that one process started, or became."""
    root = LiveRoot()
    parents = {pid: re.search(r"PPid:\t(\d+)", root.read(f"/proc/{pid}/status") or "") for pid in server_pids(root)}
    return [pid for pid, parent in parents.items() if starter in (pid, int(parent[1]) if parent else 0)]


@pytest.fixture
def named(tmp_path: Path) -> Iterator[Callable[..., int]]:
    """Start a process that is a server by name, under a command such as unshare, and return its pid as we see it."""
    program = tmp_path / "bin" / "mysqld"
    program.parent.mkdir()
    shutil.copy(shutil.which("sleep"), program)
    started: list[subprocess.Popen[bytes]] = []
    found: list[int] = []

    def start(*before: str) -> int:
        process = subprocess.Popen([*before, str(program), "3000"], cwd=tmp_path)
        started.append(process)
        eventually(lambda: _servers_below(process.pid), what="the process starts", every=0.02)
        found.append(_servers_below(process.pid)[0])
        return found[-1]

    yield start
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    for process in started:
        process.wait()


@needs_namespaces
def test_service_with_its_own_mounts_is_proved(named: Callable[..., int], tmp_path: Path) -> None:
    """systemd gives services a mount namespace of their own: the data directory is the same, so the process is."""
    pid = named("unshare", "-m")
    assert os.readlink(f"/proc/{pid}/ns/mnt") != os.readlink("/proc/self/ns/mnt")
    assert find_server_process(LiveRoot(), ServerClaim("socket", pid, datadir=str(tmp_path)))[0] == pid


@needs_namespaces
def test_container_with_its_own_processes_is_not_proved(named: Callable[..., int], tmp_path: Path) -> None:
    """A process of another PID namespace is a container's, though its socket was shared out to us."""
    found = find_server_process(LiveRoot(), ServerClaim("socket", named("unshare", "-p", "-f"), datadir=str(tmp_path)))
    assert isinstance(found, NotProved)
    assert "container" in found.reason


@needs_namespaces
def test_same_path_on_other_storage_is_not_proved(named: Callable[..., int], tmp_path: Path) -> None:
    """A container's own file system at the same path is another directory."""
    data = tmp_path / "data"
    data.mkdir()
    script = f'mount -t tmpfs none {data} && cd {data} && exec "$@"'
    found = find_server_process(
        LiveRoot(), ServerClaim("socket", named("unshare", "-m", "sh", "-c", script, "sh"), datadir=str(data))
    )
    assert isinstance(found, NotProved)
    assert "doesn't work in" in found.reason


def test_hidden_process_says_what_to_do(tree: Make) -> None:
    """With hidepid others' processes aren't in /proc."""
    assert "hidepid" in find_server_process(tree({"/proc/1/comm": "init\n"}), ServerClaim("socket", 77)).reason


def test_host_of_another_name_is_told_apart(tree: Make) -> None:
    """Through TCP, a name that isn't ours is the best reason there is; ours proves nothing."""
    root = tree({"/proc/sys/kernel/hostname": "web3\n"})
    assert "host name is db1" in find_server_process(root, ServerClaim("tcp", hostname="db1.example.org")).reason
    assert (
        "may run on another host" in find_server_process(root, ServerClaim("tcp", hostname="web3.example.org")).reason
    )


ACTIVATED = {
    "/proc/1/comm": "systemd\n",
    "/proc/1/cmdline": "/sbin/init\0",
    "/proc/50/comm": "mariadbd\n",
    "/proc/50/fd/3": "-> socket:[4711]",
    "/proc/50/cwd": "-> /var/lib/mysql",
    "/proc/50/status": "Name:\tmariadbd\nNSpid:\t50\n",
    "/var/lib/mysql/": "",
    "/run/mysqld/mysqld.pid": "50\n",
    "/proc/net/unix": "Num RefCount Protocol Flags Type St Inode Path\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 4711 /run/mysqld/mysqld.sock\n",
}
CLAIM = ServerClaim(
    "socket", 1, datadir="/var/lib/mysql", pid_file="/run/mysqld/mysqld.pid", socket="/run/mysqld/mysqld.sock"
)


def test_socket_that_systemd_opened_is_proved_by_who_holds_it(tree: Make) -> None:
    """With socket activation the kernel names systemd; the server is the one that holds that socket."""
    root = tree(ACTIVATED)
    assert find_server_process(root, CLAIM)[0] == 50
    assert isinstance(find_server_process(root, CLAIM._replace(socket="/run/other.sock")), NotProved)


def test_server_run_by_a_loader_is_a_server(tree: Make) -> None:
    """A server started through another system's loader has the loader for its program and its name."""
    files = {
        "/proc/50/comm": "ld-linux-x86-64\n",
        "/proc/50/cmdline": "/opt/ld-linux-x86-64.so.2\0--library-path\0/opt/lib\0/opt/mysqld\0--no-defaults\0",
    }
    files = {**ACTIVATED, **files}
    assert find_server_process(tree(files), CLAIM._replace(peer_pid=50))[0] == 50
