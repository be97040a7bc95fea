"""A disk that fills up and a server that dies under a probe: one clear line, whole rounds kept, everything removed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest
from mycnf_command import Ended, check_run
from probe_environment import children
from probe_process import FORCED
from process_checks import eventually
from real_servers import Binaries, Start

from advisor.__main__ import main
from advisor.commands import probe_place as place_module
from probes.experiment import Environment
from probes.results import read_all as kept_results
from probes.sandbox import Binary, SandboxError, errors
from probes.sandbox import start_server as start_sandbox
from probes.sandbox.scratch import PREFIX

MIB = 1 << 20
BALLAST = "ballast"
FULL = "is full: free space there, or use a directory on another file system"


class Probe(Protocol):
    """Runs `mycnf probe NAME` on a directory with these options, and `meanwhile` in a thread beside it."""

    def __call__(
        self, name: str, directory: Path, *options: str, meanwhile: Callable[[], None] | None = None
    ) -> Ended: ...


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Probe:
    """`mycnf probe` in this process, which doesn't wait for other work on this host."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run(name: str, directory: Path, *options: str, meanwhile: Callable[[], None] | None = None) -> Ended:
        words = [word for option in options for word in ("--option", option)]
        forced = ["--force", FORCED, "--time", "60s", "--rounds", "30"]
        beside = threading.Thread(target=meanwhile or (lambda: None))
        beside.start()
        code = main(["probe", name, "--dir", str(directory), *words, *forced])
        beside.join()
        printed = capsys.readouterr()
        return check_run(code, printed.out, printed.err)

    return run


class ServedBy(Protocol):
    """Gives the command this server of the shelf, and a data directory that is copied unless it is `fresh`."""

    def __call__(self, name: str, *, fresh: bool = False) -> None: ...


@pytest.fixture
def served_by(binaries: Binaries, templates: Path, monkeypatch: pytest.MonkeyPatch) -> ServedBy:
    """The server programs that the command finds on this host."""
    usual = place_module.make_environment

    def give(name: str, *, fresh: bool = False) -> None:
        binary = binaries(name)

        def make_environment(path: str, _: Sequence[str] | None, report: Callable[[str], None]) -> Environment:
            found = usual(path, (), report)
            return replace(found, binaries=(binary,), templates=None if fresh else str(templates))

        monkeypatch.setattr(place_module, "make_environment", make_environment)

    return give


class Disk(Protocol):
    """Gives an empty file system of that many MiB, on a disk."""

    def __call__(self, size: int) -> Path: ...


@pytest.fixture
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Disk:
    """Small loop file systems; the test skips by name where they can't be had."""

    def mount(size: int) -> Path:
        if os.geteuid() != 0 or not all(map(shutil.which, ("mkfs.ext4", "mount", "umount"))):
            pytest.skip("a small loop file system needs root and mkfs.ext4")
        image, point = tmp_path / "image", tmp_path / "small"
        point.mkdir()
        with image.open("wb") as file:
            file.truncate(size * MIB)
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", str(image)], check=True)
        done = subprocess.run(
            ["mount", "-o", "loop", str(image), str(point)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"no loop file system can be mounted here: {done.stderr.strip()}")
        request.addfinalizer(lambda: subprocess.run(["umount", str(point)], check=True))
        return point

    return mount


def fill_up(disk: Path) -> None:
    """Take all that is free on a file system, as another program's file would."""
    file = os.open(disk / BALLAST, os.O_WRONLY | os.O_CREAT)
    try:
        while free := shutil.disk_usage(disk).free:
            try:
                os.posix_fallocate(file, os.fstat(file).st_size, free)
            except OSError:
                break  # the rest is the file system's own
    finally:
        os.close(file)


def only_theirs(disk: Path) -> bool:
    """Whether nothing is on a file system but its own directory and the foreign file, and no process of ours."""
    assert {path.name for path in disk.iterdir()} <= {"lost+found", BALLAST}
    assert [words for words in children().values() if str(disk) in words] == []
    return True


def made(directory: Path, file: str) -> bool:
    """Whether a file of a server's data directory is there."""
    return any(directory.glob(f"{PREFIX}*/data/{file}"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An empty directory on the disk of temporary files."""
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


def line(ended: Ended) -> str:
    """The last line of stderr, which is the one that says why."""
    return ended.err.splitlines()[-1]


def once(holds: Callable[[], object], then: Callable[[], object]) -> Callable[[], None]:
    """What waits until something holds, and then does something."""

    def wait() -> None:
        eventually(holds, what="the probe comes so far")
        then()

    return wait


def blocks(directory: Path) -> Callable[[], int]:
    """Counts the blocks of a run whose driver is one process of ours a block, the one that has just begun included."""
    seen: set[int] = set()

    def count() -> int:
        seen.update(pid for pid, words in children().items() if "workload.worker" in words)
        return len(seen)

    return count


def said_in_round(ended: Ended) -> str:
    """The line that says why a run broke off after its first round, which is in its result too."""
    (line,) = (line for line in ended.err.splitlines() if line.startswith("mycnf: failed in round "))
    assert line.removeprefix("mycnf: f")[:80] in " ".join(ended.out.split())
    return line


SCAN = ("table=600M", "sizes=32K,1M")
FILLING = ("set=innodb_flush_neighbors=0,1", "rows=2000000", "driver=mycnf")
COMMIT = ("rows=500", "flush=1,2", "sync=0", "threads=1", "driver=mycnf")


@pytest.mark.parametrize(
    ("server", "name", "options", "table"),
    [
        ("mysql-5.7", "ab", FILLING, "sbtest/sbtest1.ibd"),
        ("mariadb-11.4", "read-buffer", SCAN, "scans_fixed/scan.MYD"),  # such tables wait until space is freed
    ],
)
def test_a_disk_that_fills_up_with_the_table_is_named(
    server: str, name: str, options: tuple[str, ...], table: str, *, probe: Probe, disk: Disk, served_by: ServedBy
) -> None:
    """The run ends with one line that says what is full and what to do, and leaves the disk to the others."""
    served_by(server)
    small = disk(700)
    ended = probe(name, small, *options, meanwhile=once(lambda: made(small, table), lambda: fill_up(small)))
    assert (ended.code, ended.out) == (2, "")
    assert line(ended).startswith(f"mycnf: {server}")
    assert FULL in line(ended)
    assert only_theirs(small)


def test_a_disk_that_fills_up_while_a_server_is_initialised_is_named(
    probe: Probe, disk: Disk, served_by: ServedBy
) -> None:
    """A server that waits for space is not waited for."""
    served_by("mariadb-10.11", fresh=True)
    small = disk(700)
    ended = probe("commit", small, *COMMIT, meanwhile=once(lambda: made(small, "ib*"), lambda: fill_up(small)))
    assert (ended.code, ended.out) == (2, "")
    assert FULL in line(ended)
    assert only_theirs(small)


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-10.11"])
def test_a_disk_that_fills_up_in_a_round_keeps_the_whole_ones(
    server: str, probe: Probe, disk: Disk, served_by: ServedBy
) -> None:
    """A binary log that can't be written holds all commits up; the rounds before are printed and kept, exit code 2."""
    served_by(server)
    small = disk(900)
    begun = blocks(small)
    ended = probe("commit", small, *COMMIT, meanwhile=once(lambda: begun() > 2, lambda: fill_up(small)))
    assert ended.code == 2
    assert FULL in said_in_round(ended)
    (kept,) = kept_results().kept
    assert (kept.result.ended, kept.result.rounds > 0) == ("broken", True)
    assert only_theirs(small)


@pytest.mark.parametrize(
    ("name", "options", "room", "message"),
    [
        ("random-write", ("size=200M",), 150, "no space for a file of 200M: .*, or choose a smaller --option size="),
        ("sequential-read", ("size=64M", "readers=1"), 80, "no space for a file of 16M: free space there"),
        ("commit-latency", (), 40, "no space for a file of 64M: free space there, or use another --dir$"),
    ],
)
def test_a_disk_without_room_for_a_test_file_is_named(
    name: str, options: tuple[str, ...], room: int, message: str, *, probe: Probe, disk: Disk
) -> None:
    """A probe of the host says which file didn't fit, and what may be done about it with this probe."""
    small = disk(room)
    ended = probe(name, small, *options)
    assert (ended.code, ended.out) == (2, "")
    assert re.search(message, line(ended))
    assert only_theirs(small)


def end_server(directory: Path, how: signal.Signals, *, words: str = "--socket=") -> bool:
    """Send a signal to the server in a directory; whether there is one."""
    for pid, command in children().items():
        if f"--datadir={directory}" in command and words in command:
            os.kill(pid, how)
            return True
    return False


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-10.11"])
def test_a_server_that_dies_while_it_is_initialised_is_named(
    server: str, probe: Probe, served_by: ServedBy, place: Path
) -> None:
    """The kernel may take it away before it ever ran; the line says so."""
    served_by(server, fresh=True)
    how = "--bootstrap" if server.startswith("mariadb") else "--initialize-insecure"
    ended = probe(
        "commit",
        place,
        *COMMIT,
        meanwhile=once(lambda: end_server(place, signal.SIGKILL, words=how), lambda: None),
    )
    assert (ended.code, ended.out) == (2, "")
    assert re.match(f"mycnf: {server}.* was killed while it initialised its data directory, most likely", line(ended))
    assert only_theirs(place)


@pytest.mark.parametrize("server", ["mysql-5.7", "mariadb-11.8"])
def test_a_server_that_dies_while_its_table_is_filled_is_named(
    server: str, probe: Probe, served_by: ServedBy, place: Path
) -> None:
    """The line says that it was killed, and nothing is printed as if it were a result."""
    served_by(server)
    filling = once(lambda: made(place, "sbtest/sbtest1.ibd"), lambda: end_server(place, signal.SIGKILL))
    ended = probe("ab", place, *FILLING, meanwhile=filling)
    assert (ended.code, ended.out) == (2, "")
    assert re.match(f"mycnf: {server}.* was killed in the middle of the run, most likely by the kernel", line(ended))
    assert only_theirs(place)


@pytest.mark.parametrize(
    ("server", "how", "message"),
    [
        ("mysql-5.7", signal.SIGKILL, "was killed in the middle of the run, most likely by the kernel"),
        ("mariadb-11.4", signal.SIGABRT, r"died in the middle of the run \(signal 6\): error log: .*got signal 6"),
    ],
)
def test_a_server_that_dies_in_a_round_keeps_the_whole_ones(
    server: str, how: signal.Signals, message: str, *, probe: Probe, served_by: ServedBy, place: Path
) -> None:
    """The rounds before are printed and kept with the reason, in the server's own words where it left any."""
    served_by(server)
    begun = blocks(place)
    ended = probe("commit", place, *COMMIT, meanwhile=once(lambda: begun() > 2, lambda: end_server(place, how)))
    assert ended.code == 2
    assert re.search(message, said_in_round(ended))
    (kept,) = kept_results().kept
    assert (kept.result.ended, kept.result.rounds > 0) == ("broken", True)
    assert only_theirs(place)


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11")
def test_a_crash_is_reported_in_the_servers_own_words(server_name: str, start: Start) -> None:
    """Of the pages that a server writes when it crashes, the line with the reason."""
    sandbox = start(server_name, small=True)
    os.kill(sandbox.pid, signal.SIGABRT)
    eventually(lambda: not sandbox.running, what="it writes its last words and ends")
    message = str(sandbox.ended_error("in the middle of the run"))
    assert re.match(rf"{server_name} died in the middle of the run \((signal 6|exit code 2)\): error log: ", message)
    assert "got signal 6" in message
    assert "\n" not in message
    assert len(message) < 500


# What AppArmor and SELinux do: refuse a program what its user may do. Landlock is what a test can have of that.
CONFINED = """#!{python}
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
writing = 1 << 1 | 1 << 7 | 1 << 8
rules = libc.syscall(444, struct.pack("Q", writing), 8, 0)
for place in ("/dev", os.getcwd()):
    libc.syscall(445, rules, 1, struct.pack("=Qi", writing, os.open(place, os.O_PATH)), 0)
libc.prctl(38, 1, 0, 0, 0)
if rules < 0 or libc.syscall(446, rules, 0):
    sys.exit("no Landlock")
os.execv("{program}", ["{program}", *sys.argv[1:]])
"""


@pytest.fixture
def confined(binary: Binary, tmp_path: Path) -> Binary:
    """A server that may write to its working directory alone; the test skips where the kernel can't see to that."""
    program = tmp_path / "confined"
    program.write_text(CONFINED.format(python=sys.executable, program=binary.program))
    program.chmod(0o755)
    if "no Landlock" in subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stderr:
        pytest.skip("needs a kernel with Landlock")
    return replace(binary, program=str(program))


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.8")
@pytest.mark.parametrize("name", ["AppArmor", "SELinux"])
def test_a_denial_is_laid_to_who_is_on(
    confined: Binary, name: str, monkeypatch: pytest.MonkeyPatch, place: Path, templates: Path
) -> None:
    """What the server may not write, at its initialisation or at its start, ends in one line that names the denier."""
    on = place.parent / "on"
    on.write_text("Y\n" if name == "AppArmor" else "1\n")
    for switch, path in (("APPARMOR", "none"), ("SELINUX", "none"), (name.upper(), str(on))):
        monkeypatch.setattr(errors, switch, path)
    monkeypatch.setattr(errors, "PROFILES", str(place))
    with pytest.raises(
        SandboxError, match=f"has no access to the scratch directory, and {name} is enabled: "
    ) as refused:
        start_sandbox(confined, base=place)
    assert "\n" not in str(refused.value)
    assert list(place.iterdir()) == []
