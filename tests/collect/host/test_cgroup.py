"""Limits of control groups, on trees of either version and on a real group."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from advisor.collect.host.cgroup import read_cgroup
from advisor.collect.host.host import read_host
from advisor.collect.host.root import LiveRoot
from advisor.facts.host import HIDDEN_GROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.collect.host.root import Root

    Make = Callable[[dict[str, str]], Root]

G = 1 << 30
V2 = "30 1 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = (
    "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "32 1 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "33 1 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)
UNLIMITED = "9223372036854771712\n"


def version_2(path: str, mounts: str = V2) -> dict[str, str]:
    """Process 7 in a group of the unified hierarchy."""
    return {"/proc/self/mountinfo": mounts, "/proc/7/cgroup": f"0::{path}\n"}


def test_smallest_limit_on_the_way_up_wins(tree: Make) -> None:
    """A slice above the service sets less than the service itself: that is the limit, and its use is reported."""
    root = tree(
        version_2("/system.slice/mysql.service")
        | {
            "/sys/fs/cgroup/system.slice/memory.max": f"{4 * G}\n",
            "/sys/fs/cgroup/system.slice/memory.current": f"{3 * G}\n",
            "/sys/fs/cgroup/system.slice/cpu.max": "150000 100000\n",
            "/sys/fs/cgroup/system.slice/mysql.service/memory.max": f"{8 * G}\n",
            "/sys/fs/cgroup/system.slice/mysql.service/memory.high": f"{6 * G}\n",
            "/sys/fs/cgroup/system.slice/mysql.service/memory.swap.max": "0\n",
            "/sys/fs/cgroup/system.slice/mysql.service/memory.current": f"{2 * G}\n",
            "/sys/fs/cgroup/system.slice/mysql.service/memory.events": "low 0\nhigh 1\nmax 2\noom 3\noom_kill 4\n",
            "/sys/fs/cgroup/system.slice/mysql.service/cpu.max": "max 100000\n",
        }
    )
    group = read_cgroup(root, 7)
    assert (group.version, group.path) == (2, "/system.slice/mysql.service")
    assert (group.limit, group.limit_at, group.usage) == (4 * G, "/system.slice", 3 * G)
    assert (group.high, group.swap_limit, group.oom_kills) == (6 * G, 0, 4)
    assert (group.cpus, group.cpus_at) == (1.5, "/system.slice")


def test_max_is_no_limit(tree: Make) -> None:
    """Groups that say "max" all the way up limit nothing; the process's own use is reported."""
    files = {"/sys/fs/cgroup/a/memory.max": "max\n", "/sys/fs/cgroup/a/memory.current": "4096\n"}
    group = read_cgroup(tree(version_2("/a") | files), 7)
    assert (group.limit, group.limit_at, group.usage, group.cpus) == (None, None, 4096, None)


def test_container_sees_its_own_group_as_the_top(tree: Make) -> None:
    """In a control-group namespace the path is / and the files of the container's group stand at the mount point."""
    root = tree(version_2("/") | {"/sys/fs/cgroup/memory.max": f"{G}\n", "/sys/fs/cgroup/cpu.max": "50000 100000\n"})
    group = read_cgroup(root, 7)
    assert (group.limit, group.limit_at, group.cpus) == (G, "/", 0.5)


@pytest.mark.parametrize("path", ["/docker/abc", "/docker", "/kubepods/burstable/pod1/abc"])
def test_group_without_a_directory_is_taken_for_the_top_of_the_mount(tree: Make, path: str) -> None:
    """The part that is mounted, a group above it, and a path that leads nowhere leave the top of what is visible."""
    mounts = V2.replace("0:26 /", "0:26 /docker/abc") if path.startswith("/docker") else V2
    root = tree(version_2(path, mounts) | {"/sys/fs/cgroup/memory.max": f"{G}\n"})
    assert read_cgroup(root, 7).limit == G


@pytest.mark.parametrize(("path", "mounted"), [("/../other", "/"), ("/docker/other", "/docker/abc"), ("/", "/../..")])
def test_group_beside_the_mount_is_not_known(tree: Make, path: str, mounted: str) -> None:
    """From a container next to the server's, only the own limit is visible: it is not the server's."""
    root = tree(version_2(path, V2.replace("0:26 /", f"0:26 {mounted}")) | {"/sys/fs/cgroup/memory.max": f"{G}\n"})
    assert read_cgroup(root, 7) is None
    skipped = {part.part: part.reason for part in read_host(root, 7).skipped}
    assert skipped["cgroup"] == HIDDEN_GROUP


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/user.slice/user-1000.slice/session-3.scope", None),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/app-terminal.scope", None),
        ("/user.slice/user-1000.slice/user@1000.service/user.slice/docker-ab.scope", G),
        ("/system.slice/mysql.service", G),
    ],
)
def test_limits_of_a_login_are_not_those_of_a_later_server(tree: Make, path: str, limit: int | None) -> None:
    """The login that looks at a host has limits of its own; a container in it limits what will run there."""
    files = version_2(path) | {"/proc/self/cgroup": f"0::{path}\n", f"/sys/fs/cgroup{path}/memory.max": f"{G}\n"}
    assert read_cgroup(tree(files)).limit == G
    assert read_cgroup(tree(files), session=False).limit == limit


def test_mount_of_a_part_of_the_hierarchy_is_taken_off_the_path(tree: Make) -> None:
    """Where /docker/abc is mounted, the group /docker/abc/mysql is in mysql."""
    mounts = V2.replace("0:26 /", "0:26 /docker/abc")
    root = tree(version_2("/docker/abc/mysql", mounts) | {"/sys/fs/cgroup/mysql/memory.max": f"{G}\n"})
    assert (read_cgroup(root, 7).limit, read_cgroup(root, 7).limit_at) == (G, "/mysql")


def version_1(**files: str) -> dict[str, str]:
    """Process 7 in /mysql of a hybrid set-up: memory and cpu in version 1, version 2 mounted without them."""
    made = {"/proc/self/mountinfo": V1, "/proc/7/cgroup": "4:memory:/mysql\n3:cpu,cpuacct:/mysql\n0::/mysql\n"}
    memory, cpu = "/sys/fs/cgroup/memory/mysql", "/sys/fs/cgroup/cpu,cpuacct/mysql"
    made |= {f"{memory}/memory.limit_in_bytes": UNLIMITED, f"{memory}/memory.memsw.limit_in_bytes": UNLIMITED}
    made |= {f"{memory}/memory.usage_in_bytes": "4096\n", f"{cpu}/cpu.cfs_quota_us": "-1\n"}
    made |= {f"{memory}/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"}
    made |= {f"{cpu}/cpu.cfs_period_us": "100000\n", "/sys/fs/cgroup/unified/mysql/": ""}
    return made | {(cpu if name.startswith("cpu") else memory) + "/" + name: text for name, text in files.items()}


def test_largest_number_of_version_1_is_no_limit(tree: Make) -> None:
    """Version 1 has no word for it: the largest number of whole pages, and a quota of -1."""
    group = read_cgroup(tree(version_1()), 7)
    assert (group.version, group.limit, group.swap_limit, group.cpus, group.oom_kills) == (1, None, None, None, 3)


def test_limits_of_version_1_are_read_in_a_hybrid(tree: Make) -> None:
    """Memory and swap are one limit in version 1: what is beyond memory is swap's."""
    files = {"memory.limit_in_bytes": f"{2 * G}\n", "memory.memsw.limit_in_bytes": f"{3 * G}\n"}
    group = read_cgroup(tree(version_1(**files, **{"cpu.cfs_quota_us": "250000\n"})), 7)
    assert (group.version, group.limit, group.swap_limit, group.cpus) == (1, 2 * G, G, 2.5)


def test_limits_above_the_visible_groups_are_in_the_statistics(tree: Make) -> None:
    """A container of version 1 cannot see the group above it, but its statistics have the smallest limits of all."""
    stat = f"cache 1\nhierarchical_memory_limit {2 * G}\nhierarchical_memsw_limit {3 * G}\n"
    group = read_cgroup(tree(version_1(**{"memory.stat": stat})), 7)
    assert (group.limit, group.limit_at, group.swap_limit, group.usage) == (2 * G, None, G, 4096)
    largest = stat.replace(str(2 * G), UNLIMITED.strip()).replace(str(3 * G), UNLIMITED.strip())
    group = read_cgroup(tree(version_1(**{"memory.stat": largest, "memory.swappiness": "33\n"})), 7)
    assert (group.limit, group.swap_limit, group.swappiness) == (None, None, 33)


def test_host_without_control_groups_has_none(tree: Make) -> None:
    """Where nothing is mounted there is nothing to report."""
    assert read_cgroup(tree({"/proc/self/mountinfo": "", "/proc/7/cgroup": "0::/\n"}), 7) is None


@pytest.fixture
def real_group() -> Iterator[Path]:
    """A group of this machine with a memory limit, in whichever version accounts for memory; removed afterwards."""
    for top in (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")):
        outer = top / f"mycnf-test-{os.getpid()}"
        try:
            outer.mkdir()
        except OSError:
            continue
        try:
            if any((outer / name).exists() for name in ("memory.max", "memory.limit_in_bytes")):
                yield outer
                return
        finally:
            for group in (*outer.glob("*/"), outer):
                group.rmdir()
    pytest.skip("a control group with a memory limit can't be made here (needs root and the memory controller)")


def test_real_group_limits_a_real_process(real_group: Path) -> None:
    """A process moved into a group of this machine shows the limit that the kernel took, also from a group below it."""
    name = "memory.max" if (real_group / "memory.max").exists() else "memory.limit_in_bytes"
    (real_group / name).write_text(str(64 << 20))
    child = subprocess.Popen(["sleep", "3000"])
    try:
        (real_group / "cgroup.procs").write_text(str(child.pid))
        group = read_cgroup(LiveRoot(), child.pid)
    finally:
        child.kill()
        child.wait()
    assert (group.limit, group.limit_at) == (64 << 20, group.path)
    assert group.limit_at.endswith(real_group.name)
    assert group.usage is not None


def test_real_group_has_its_own_swappiness(real_group: Path) -> None:
    """A group of version 1 keeps the swappiness of the group in which it was created."""
    if not (real_group / "memory.swappiness").exists():
        pytest.skip("groups of version 2 have no swappiness")
    (real_group / "memory.swappiness").write_text("33")
    inner = real_group / "inner"
    inner.mkdir()
    child = subprocess.Popen(["sleep", "3000"])
    try:
        (inner / "cgroup.procs").write_text(str(child.pid))
        group = read_cgroup(LiveRoot(), child.pid)
    finally:
        child.kill()
        child.wait()
    assert group.swappiness == 33
