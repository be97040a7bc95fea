"""What control groups ration besides memory, in the files of both versions and in this machine's own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from advisor.collect.host.cgroup import read_cgroup, read_resource_limits
from advisor.collect.host.root import LiveRoot
from advisor.facts.host import IoLimit

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.collect.host.root import Root

    Make = Callable[[dict[str, str]], Root]

V2 = "30 1 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = "".join(
    f"{number} 1 0:{number} / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}\n"
    for number, name in enumerate(("memory", "cpu", "pids", "blkio"), 31)
)
OWN = "/sys/fs/cgroup/system.slice/mysql.service"
ABOVE = "/sys/fs/cgroup/system.slice"


def test_the_second_version(tree: Make) -> None:
    """The strictest group on the way up counts: for threads, for each device, and the one that was throttled most."""
    root = tree(
        {
            "/proc/self/mountinfo": V2,
            "/proc/7/cgroup": "0::/system.slice/mysql.service\n",
            f"{OWN}/memory.max": "max\n",
            f"{OWN}/cpu.stat": "usage_usec 5\nnr_periods 100\nnr_throttled 40\nthrottled_usec 7\n",
            f"{ABOVE}/cpu.stat": "usage_usec 5\nnr_periods 0\nnr_throttled 0\n",
            f"{OWN}/pids.max": "max\n",
            f"{ABOVE}/pids.max": "4915\n",
            f"{OWN}/io.max": "8:16 rbps=2097152 wbps=max riops=max wiops=120\n8:0 riops=max wiops=9\n",
            f"{ABOVE}/io.max": "8:16 rbps=1048576 wbps=max riops=max wiops=max\n",
        }
    )
    group = read_cgroup(root, 7)
    assert group
    assert (group.periods, group.throttled, group.tasks) == (100, 40, 4915)
    assert group.io == (IoLimit("8:0", writes=9), IoLimit("8:16", read_bytes=1048576, writes=120))


def test_the_first_version(tree: Make) -> None:
    """Each hierarchy has a group of its own, and each kind of limit on requests a file."""
    blkio = "/sys/fs/cgroup/blkio/b/blkio.throttle"
    root = tree(
        {
            "/proc/self/mountinfo": V1,
            "/proc/7/cgroup": "4:blkio:/b\n3:pids:/p\n2:cpu:/c\n1:memory:/m\n",
            "/sys/fs/cgroup/memory/m/memory.limit_in_bytes": "9223372036854771712\n",
            "/sys/fs/cgroup/cpu/c/cpu.stat": "nr_periods 9\nnr_throttled 3\nthrottled_time 8\n",
            "/sys/fs/cgroup/pids/p/pids.max": "77\n",
            f"{blkio}.read_iops_device": "8:16 1\n",
            f"{blkio}.write_iops_device": "8:16 2\n8:0 20\n",
            f"{blkio}.read_bps_device": "8:16 3\n",
            f"{blkio}.write_bps_device": "8:16 4\n",
        }
    )
    group = read_cgroup(root, 7)
    assert group
    assert (group.periods, group.throttled, group.tasks) == (9, 3, 77)
    assert group.io == (IoLimit("8:0", writes=20), IoLimit("8:16", 1, 2, 3, 4))


def test_nothing_is_rationed(tree: Make) -> None:
    """Without limits, and with texts that are none, nothing is reported."""
    files = {f"{OWN}/cpu.stat": "usage_usec 5\n", f"{OWN}/pids.max": "max\n", f"{OWN}/io.max": "8:x wiops=1\nwiops=2\n"}
    assert read_resource_limits(tree(files), [OWN], [OWN], [OWN]) == (None, None, None, ())
    assert read_resource_limits(tree({}), [], [], []) == (None, None, None, ())


@pytest.mark.skipif(os.geteuid() != 0, reason="a control group takes root")
def test_a_group_of_this_machine() -> None:
    """A limit that the kernel was given on threads is read as it was given."""
    top = Path("/sys/fs/cgroup/pids")
    if not top.is_dir():
        pytest.skip("no control groups of version 1 for pids here")
    group = top / f"mycnf-test-{os.getpid()}"
    group.mkdir()
    try:
        (group / "pids.max").write_text("123\n", "utf-8")
        assert read_resource_limits(LiveRoot(), [], [str(group), str(top)], []).tasks == 123
    finally:
        group.rmdir()
