"""Rules of the system and of storage before real things: recorded machines, file systems on loop devices, a server."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tarfile
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from pymysql import MySQLError
from replication_pair import until
from rule_cases import Case, context_of_case

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.collect.host import open_root, read_host
from advisor.collect.host.process import read_process
from advisor.collect.host.root import LiveRoot
from advisor.facts import Host
from advisor.facts.host import Memory
from rules import all_rules, find_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from real_servers import Server, Start

    from advisor.core.model import Finding
    from probes.sandbox import Sandbox

TARGET = "mysql-8.0.15"
ALWAYS = Memory(total=8 << 30, thp="always")
TOOLS = ("mkfs.ext4", "losetup", "mount", "umount")
GROUPS = {name: Path("/sys/fs/cgroup") / name for name in ("cpu", "pids", "blkio")}

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")


def found_on(host: Host, tmp_path: Path, file: str = "") -> dict[str, Finding]:
    """What the rules of these two families find on a host, under a server known by its option file alone."""
    known = context_of_case(Case("", "", TARGET, file), tmp_path)
    known.parts["host"] = host
    rules = [r for r in all_rules() if r.family in ("SYS", "STO") and r.needs == ("host",)]
    return {finding.name: finding for rule in rules for finding in rule.check(known)}


@pytest.fixture
def recorded(shared: Path, tmp_path: Path) -> Callable[[str], str]:
    """Unpack a recorded machine and give the directory of its files."""

    def unpacked(name: str) -> str:
        archive = next(iter(sorted((shared / "hardware").glob(f"*/{name}.tar.*"))), None)
        if archive is None:
            pytest.skip(f"no recorded machine {name} ({shared})")
        with tarfile.open(archive) as tar:
            tar.extractall(tmp_path, filter="tar")
        return str(tmp_path / name)

    return unpacked


@pytest.mark.parametrize("machine", ["vmware_fpe", "x86_64-64cpu"])
def test_recorded_machines_that_save_power(recorded: Callable[[str], str], machine: str, tmp_path: Path) -> None:
    """Two machines whose processors run by load are reported, with the kernel's word for it."""
    found = found_on(read_host(open_root(recorded(machine))), tmp_path)
    assert "ondemand" in found["saving-frequency-governor"].message


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("/mnt/test/mysql", "copy-on-write-data"),
        ("/mnt/virt/mysql", "lone-flush-on-spinning-disk"),
        ("/dev/shm/mysql", "data-in-memory"),
        ("/run/user/1000/gvfs/share", "data-on-network-file-system"),
        (
            "/var/lib/docker/overlay2/fec72308f7aa55d27eb42bd9ae017a46b9751579e3d42cb3e99811633d2b2874/merged/data",
            "data-in-container-layer",
        ),
    ],
)
def test_places_on_a_recorded_machine(recorded: Callable[[str], str], place: str, name: str, tmp_path: Path) -> None:
    """A workstation has most of the places where data should not be; each is reported by its kind."""
    host = read_host(open_root(recorded("multi-devs-bcachefs")), datadir=place)
    assert name in found_on(host, tmp_path, "innodb_buffer_pool_size = 8G")


def test_good_places_on_a_recorded_machine(recorded: Callable[[str], str], tmp_path: Path) -> None:
    """Nothing is said of XFS on NVMe, nor of ext4 on a solid-state disk."""
    for place in ("/home/data/mysql", "/var/lib/mysql"):
        host = read_host(open_root(recorded("multi-devs-bcachefs")), datadir=place)
        assert [name for name, finding in found_on(host, tmp_path).items() if finding.code.startswith("STO")] == []


def test_arrays(tmp_path: Path) -> None:
    """A degraded array that is rebuilt is reported twice; its files are by hand, after the kernel's md.rst."""
    files = {
        "proc/self/mountinfo": "22 1 9:0 / / rw,relatime shared:1 - ext4 /dev/md0 rw\n",
        "sys/block/md0/dev": "9:0\n",
        "sys/block/md0/size": "2048000\n",
        "sys/block/md0/md/level": "raid5\n",
        "sys/block/md0/md/raid_disks": "4\n",
        "sys/block/md0/md/degraded": "1\n",
        "sys/block/md0/md/sync_action": "recover\n",
    }
    for name, text in files.items():
        path = tmp_path / "machine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    host = read_host(open_root(str(tmp_path / "machine")), datadir="/var/lib/mysql")
    found = found_on(host, tmp_path)
    assert "1 of its 4 disks" in found["degraded-array"].message
    assert "rebuilt" in found["busy-array"].message
    rule = find_rule("parity-array-under-writes")
    busy = {"rises": {"innodb_data_writes": 9000}}
    known = context_of_case(Case("", "", TARGET, server={}, workload=busy), tmp_path)
    known.parts["host"] = host
    assert rule is not None
    assert ["md0" in finding.message for finding in rule.check(known)] == [True]


@contextmanager
def mounted(folder: Path, options: str, *make: str, size: int = 64 << 20) -> Iterator[tuple[Path, str]]:
    """A file system of its own in a file: where it is mounted, and the loop device's name."""
    for tool in (*TOOLS, make[0]):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool} here")
    image, point = folder / "image", folder / "volume"
    point.mkdir()
    with open(image, "wb") as file:
        file.truncate(size)
    subprocess.run([*make, "-q", "-F", image], check=True, timeout=600)
    made = subprocess.run(["losetup", "-f", "--show", image], capture_output=True, text=True, timeout=600, check=False)
    if made.returncode:
        pytest.skip(f"no loop device can be had: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        subprocess.run(["mount", "-o", options, device, point], check=True, timeout=600)
        try:
            yield point, os.path.basename(device)
        finally:
            subprocess.run(["umount", point], check=True, timeout=600)
    finally:
        subprocess.run(["losetup", "-d", device], check=True, timeout=600)


def found_at(point: Path, tmp_path: Path) -> dict[str, Finding]:
    """What is found where the data is in a directory of this machine."""
    return found_on(read_host(open_root("/"), datadir=str(point)), tmp_path)


@needs_root
@pytest.mark.parametrize(
    ("options", "make", "names"),
    [
        ("sync", "mkfs.ext4", {"synchronous-mount"}),
        ("data=journal", "mkfs.ext4", {"data-journalled-twice"}),
        ("data=writeback", "mkfs.ext4", {"data-behind-its-journal"}),
        ("strictatime", "mkfs.ext4", {"access-times-written"}),
        ("defaults", "mkfs.ext2", {"file-system-without-journal"}),
        ("ro", "mkfs.ext4", {"read-only-file-system"}),
        ("noatime", "mkfs.ext4", set()),
        ("defaults", "mkfs.ext4", set()),
    ],
)
def test_mounts(options: str, make: str, names: set[str], tmp_path: Path) -> None:
    """Each way to mount is reported by its own name, as this kernel shows it, and nothing else but the loop device."""
    with mounted(tmp_path, options, make) as (point, _):
        found = found_at(point, tmp_path)
    assert {name for name, finding in found.items() if finding.code.startswith("STO")} == {
        "loop-device-under-data",
        *names,
    }


@needs_root
def test_discards_within_the_commit(tmp_path: Path) -> None:
    """A mount that discards is reported on a kernel before 5.15 only, where the device accepts discards."""
    with mounted(tmp_path, "discard", "mkfs.ext4") as (point, _):
        host = read_host(open_root("/"), datadir=str(point))
        assert host.os is not None
        old, new = (replace(host, os=replace(host.os, kernel=version)) for version in ("5.14.0", "5.15.0"))
        accepted = any(device.discard_max for device in host.storage.devices) if host.storage else False
        assert ("discard-at-each-commit" in found_on(old, tmp_path)) is accepted
        assert "discard-at-each-commit" not in found_on(new, tmp_path)
        subprocess.run(["mount", "-o", "remount,nodiscard", point], check=True, timeout=600)  # the advice, as printed
        after = replace(read_host(open_root("/"), datadir=str(point)), os=old.os)
        assert "discard-at-each-commit" not in found_on(after, tmp_path)


@needs_root
def test_a_mount_without_barriers(tmp_path: Path) -> None:
    """A mount without barriers is reported with the disk whose cache is volatile, and not after the advice."""
    with mounted(tmp_path, "nobarrier", "mkfs.ext4") as (point, _):
        subprocess.run(["mount", "-o", "remount,noatime", point], check=True, timeout=600)  # keeps it
        host = read_host(open_root("/"), datadir=str(point))
        subprocess.run(["mount", "-o", "remount,barrier", point], check=True, timeout=600)  # the advice, as printed
        after = read_host(open_root("/"), datadir=str(point))
    rule = find_rule("file-system-without-barriers")
    known = context_of_case(Case("", "", TARGET), tmp_path)
    known.parts["host"] = host
    assert rule is not None
    (finding,) = rule.check(known)
    volatile = [disk.name for disk in host.storage.disks if disk.write_cache == "write back"] if host.storage else []
    assert ("volatile write cache" in finding.message) is bool(volatile)
    known.parts["host"] = after
    assert list(rule.check(known)) == []


def test_a_server_at_the_commit_limit(start: Start, tmp_path: Path) -> None:
    """A server whose allocations fail refuses connections and large statements with the errors that the rule names."""
    sandbox = start("mysql-8.0")
    (size,) = [
        int(line.split()[1]) << 10
        for line in Path(f"/proc/{sandbox.pid}/status").read_text("utf-8").splitlines()
        if line.startswith("VmSize:")
    ]
    resource.prlimit(sandbox.pid, resource.RLIMIT_AS, (size + (4 << 20), size + (4 << 20)))
    connection = sandbox.connect()
    with connection, connection.cursor() as cursor, pytest.raises(MySQLError) as refused:
        cursor.execute("SELECT LENGTH(REPEAT('a', 64 << 20))")
    rule = find_rule("strict-memory-commit-limit")
    assert rule is not None
    assert f"error {refused.value.args[0]}" in rule.docs.why


@needs_root
def test_an_overlay(tmp_path: Path) -> None:
    """A container's files are in a layer over another directory."""
    for name in ("lower", "upper", "work", "merged"):
        (tmp_path / name).mkdir()
    with mounted(tmp_path, "defaults", "mkfs.ext4") as (point, _):
        layers = f"lowerdir={tmp_path / 'lower'},upperdir={point / 'upper'},workdir={point / 'work'}"
        for name in ("upper", "work"):
            (point / name).mkdir()
        done = subprocess.run(["mount", "-t", "overlay", "-o", layers, "overlay", tmp_path / "merged"], check=False)
        if done.returncode:
            pytest.skip("this kernel mounts no overlay")
        try:
            assert "data-in-container-layer" in found_at(tmp_path / "merged", tmp_path)
        finally:
            subprocess.run(["umount", tmp_path / "merged"], check=True, timeout=600)


@needs_root
@pytest.mark.parametrize(("options", "closed"), [("errors=continue", False), ("errors=remount-ro", True)])
def test_errors_of_a_file_system(options: str, closed: bool, tmp_path: Path) -> None:
    """An error that ext4 meets is reported from then on, and so is the change to read-only because of it."""
    with mounted(tmp_path, options, "mkfs.ext4") as (point, device):
        trigger = Path("/sys/fs/ext4") / device / "trigger_fs_error"
        if not trigger.exists():
            pytest.skip("this kernel can't inject an error")
        assert not {"damaged-file-system", "read-only-file-system"} & found_at(point, tmp_path).keys()
        trigger.write_text("a test\n", "utf-8")
        until(lambda: (trigger.parent / "errors_count").read_text("utf-8").strip() != "0")  # ext4 counts in a worker
        found = found_at(point, tmp_path)
        assert "damaged-file-system" in found
        assert ("read-only-file-system" in found) is closed


@needs_root
def test_no_room_left(tmp_path: Path) -> None:
    """Low space and few free inodes are reported when a twentieth is left, and not before."""
    with mounted(tmp_path, "defaults", "mkfs.ext4", "-N", "64") as (point, _):
        assert not {"nearly-full-file-system", "few-files-left"} & found_at(point, tmp_path).keys()
        with suppress(OSError):
            for number in range(64):
                (point / str(number)).touch()
        assert "few-files-left" in found_at(point, tmp_path)
        room = os.statvfs(point)
        with open(point / "0", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, (room.f_bavail - room.f_blocks // 40) * room.f_frsize)
        assert "nearly-full-file-system" in found_at(point, tmp_path)


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Path]:
    """A volume that a server's data has room on, mounted as one should not."""
    with mounted(tmp_path, "data=writeback,strictatime", "mkfs.ext4", size=2 << 30) as (point, _):
        yield point


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """A directory in memory, where every Linux has one."""
    if not os.path.ismount("/dev/shm"):
        pytest.skip("nothing is mounted at /dev/shm")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.fixture
def groups() -> Iterator[dict[str, Path]]:
    """A control group of the test's own in each hierarchy of version 1, for processor time, threads and requests."""
    if not all(path.is_dir() for path in GROUPS.values()):
        pytest.skip("no control groups of version 1 for cpu, pids and blkio here")
    made = {name: path / f"mycnf-test-{os.getpid()}" for name, path in GROUPS.items()}
    try:
        for path in made.values():
            path.mkdir()
        yield made
    finally:
        for path in made.values():
            for member in (path / "cgroup.procs").read_text("utf-8").split() if path.is_dir() else ():
                (path.parent / "cgroup.procs").write_text(member, "utf-8")
            path.rmdir()


def audited(sandbox: Sandbox) -> list[Finding]:
    """All findings about a running server and its host."""
    facts = collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=0.0))
    return list(run_rules(build_context(facts), all_rules()).findings)


def test_a_server_that_its_starter_holds_back(start: Start, tmp_path: Path) -> None:
    """What any account may do to a server of its own is reported in one audit, and no account but its own is needed."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nlarge_pages = ON\n", "utf-8")
    sandbox = start("mariadb-11.4", option_file=file)
    Path(f"/proc/{sandbox.pid}/oom_score_adj").write_text("300", "utf-8")
    resource.prlimit(sandbox.pid, resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))
    os.setpriority(os.PRIO_PROCESS, sandbox.pid, 7)
    found = {finding.name for finding in audited(sandbox)}
    assert {"first-to-be-killed", "low-priority-server", "limited-file-size"} <= found
    memory = read_host(open_root("/")).memory
    assert memory is not None
    assert ("refused-large-pages" in found) or memory.huge_pages_total


@needs_root
def test_binary_logs_that_will_not_fit(volume: Path, start: Start) -> None:
    """Logs of two days on a small volume are reported beside an expiry of a month, and not after the advice."""
    sandbox = start("mysql-8.0", arguments=("--log-bin=bin", "--server-id=1"), base=volume)
    connection = sandbox.connect(autocommit=True)
    with connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE a")
        cursor.execute("CREATE TABLE a.t (v LONGBLOB) ENGINE = BLACKHOLE")
        cursor.execute("FLUSH BINARY LOGS")
        for _ in range(20):
            cursor.execute("INSERT INTO a.t VALUES (REPEAT('x', 16 << 20))")
        cursor.execute("SELECT @@log_bin_basename")
        (first,) = (f"{row[0]}.000001" for row in cursor.fetchall())
        age = os.stat(first).st_mtime - 2 * 86400
        os.utime(first, (age, age))
        found = {finding.name: finding for finding in audited(sandbox)}
        assert "they expire after 30 days" in found["binary-logs-outgrow-disk"].message
        cursor.execute("SET GLOBAL binlog_expire_logs_seconds = 259200")
        assert "binary-logs-outgrow-disk" not in {finding.name for finding in audited(sandbox)}


@needs_root
def test_a_server_held_back(
    volume: Path, in_memory: Path, groups: dict[str, Path], start: Start, tmp_path: Path
) -> None:
    """A real server in control groups that limit everything, on a bad volume: each is reported, in one audit."""
    file = tmp_path / "my.cnf"
    lines = ["[mysqld]", "max_connections = 500", "innodb_io_capacity = 2000"]
    file.write_text("\n".join([*lines, f"log_bin = {in_memory}/binlog", "server_id = 1\n"]), "utf-8")
    sandbox = start("mysql-8.0", option_file=file, base=volume)
    hold_back(sandbox, groups, device_of(volume))
    findings = audited(sandbox)
    assert [f.message for f in findings if f.name == "data-in-memory" and "the binary log" in f.message]
    found = {finding.name for finding in findings}
    assert {
        "throttled-processors",
        "fewer-threads-than-connections",
        "io-capacity-beyond-group",
        "loop-device-under-data",
        "data-behind-its-journal",
        "access-times-written",
    } <= found


def device_of(path: Path) -> str:
    """The number of the device that a directory is on."""
    number = os.stat(path).st_dev
    return f"{os.major(number)}:{os.minor(number)}"


def hold_back(sandbox: Sandbox, groups: dict[str, Path], device: str) -> None:
    """Give a running server less of everything, and keep it busy until its share of a processor ran out often."""
    pid = sandbox.pid
    for path in groups.values():
        (path / "cgroup.procs").write_text(str(pid), "utf-8")
    threads = len(os.listdir(f"/proc/{pid}/task"))
    limits = {
        groups["pids"] / "pids.max": threads + 50,
        groups["blkio"] / "blkio.throttle.write_iops_device": f"{device} 1500",
        groups["cpu"] / "cpu.cfs_period_us": 2000,
        groups["cpu"] / "cpu.cfs_quota_us": 1000,
    }
    for limit, value in limits.items():
        limit.write_text(str(value), "utf-8")
    connection = sandbox.connect()
    with connection, connection.cursor() as cursor:
        while int((groups["cpu"] / "cpu.stat").read_text("utf-8").split()[3]) < 1100:
            cursor.execute("SELECT BENCHMARK(3000000, MD5('a'))")


def test_which_servers_switch_huge_pages_off(server_name: str, server: Server) -> None:
    """What the kernel reports for each server's process is what its version implies where that is unreadable."""
    sandbox = server(server_name)
    process = read_process(LiveRoot(), sandbox.pid)
    if process is None or process.thp is None:
        pytest.skip("this kernel doesn't report who may have transparent huge pages")
    rule = find_rule("transparent-huge-pages")
    assert rule is not None
    facts = collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=0.0))
    for host in (Host(memory=ALWAYS), Host(memory=ALWAYS, process=process)):
        assert bool(list(rule.check(build_context(replace(facts, host=host))))) is process.thp, host.process
