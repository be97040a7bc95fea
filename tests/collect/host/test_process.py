"""A process: what it may use and what it uses."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from advisor.collect.host.process import read_process, server_pids
from advisor.collect.host.root import LiveRoot

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.collect.host.root import Root

    Make = Callable[[dict[str, str]], Root]

LIMITS = {"nofile": resource.RLIMIT_NOFILE, "memlock": resource.RLIMIT_MEMLOCK, "nproc": resource.RLIMIT_NPROC,
          "core": resource.RLIMIT_CORE, "stack": resource.RLIMIT_STACK, "as": resource.RLIMIT_AS}  # fmt: skip


def test_this_process_is_what_the_kernel_reports() -> None:
    """Limits are getrlimit's, processors sched_getaffinity's, threads Python's, program and place its own."""
    process = read_process(LiveRoot(), os.getpid())
    for name, number in LIMITS.items():
        soft, hard = (None if n == resource.RLIM_INFINITY else n for n in resource.getrlimit(number))
        assert (process.limit(name).soft, process.limit(name).hard) == (soft, hard), name
    assert set(process.cpus) == os.sched_getaffinity(0)
    assert process.threads >= threading.active_count()
    assert (process.cwd, process.uid) == (os.getcwd(), os.getuid())
    assert os.path.samefile(process.executable, sys.executable)
    assert 0 < process.mapped_files < process.resident <= process.peak_resident


def maps(*libraries: str) -> str:
    return "".join(
        f"7f00-7f01 r-xp 00000000 fe:00 42    /usr/lib/x86_64-linux-gnu/{library}\n" for library in libraries
    )


@pytest.mark.parametrize(
    ("libraries", "allocator"),
    [
        (["libc.so.6", "libjemalloc.so.2"], "jemalloc"),
        (["libtcmalloc_minimal.so.4.5.9", "libc.so.6"], "tcmalloc"),
        (["libmimalloc.so.2.0", "libc.so.6"], "mimalloc"),
        (["libc-2.31.so", "libm.so.6"], "glibc"),
        (["ld-musl-x86_64.so.1"], "musl"),
        (["libcrypt.so.1"], None),
        (["libjemalloc.so.2 (deleted)", "libc.so.6"], "jemalloc"),
        (["libc.so.6 (deleted)"], "glibc"),
    ],
)
def test_allocator_is_known_by_the_loaded_library(tree: Make, libraries: list[str], allocator: str | None) -> None:
    """A malloc that was loaded before the C library's own is the one in use."""
    root = tree({"/proc/7/status": "Name:\tmysqld\n", "/proc/7/maps": maps(*libraries)})
    assert read_process(root, 7).allocator == allocator


def test_unlimited_is_no_number(tree: Make) -> None:
    """The kernel writes "unlimited" where there is no limit."""
    limits = "Limit                     Soft Limit           Hard Limit           Units     \n"
    limits += "Max open files            1024                 unlimited            files     \n"
    limits += "Max nice priority         0                    0                    \n"
    root = tree({"/proc/7/status": "Name:\tmysqld\nVmSwap:\t 512 kB\n", "/proc/7/limits": limits})
    process = read_process(root, 7)
    assert (process.limit("nofile").soft, process.limit("nofile").hard) == (1024, None)
    assert (process.limit("nice").soft, process.limit("memlock"), process.swapped) == (0, None, 512 << 10)


def test_process_that_is_gone_is_none() -> None:
    """An unused pid gives nothing; 2^22 is above the largest that the kernel hands out."""
    assert read_process(LiveRoot(), 1 << 22) is None


def test_servers_are_found_by_name(tree: Make) -> None:
    """mysqld and mariadbd are servers; their tools and their threads' names are not."""
    named = {1: "systemd", 20: "mysqld", 300: "mariadbd", 4: "mysqldump", 5: "mysqld_safe"}
    root = tree({f"/proc/{pid}/comm": f"{name}\n" for pid, name in named.items()} | {"/proc/stat": ""})
    assert server_pids(root) == (20, 300)


def test_urgency_of_this_process_is_what_the_kernel_reports() -> None:
    """Niceness and scheduling class are those that the system calls give."""
    process = read_process(LiveRoot(), os.getpid())
    assert process.nice == os.getpriority(os.PRIO_PROCESS, 0)
    assert {"other": os.SCHED_OTHER, "batch": os.SCHED_BATCH}.get(process.policy) == os.sched_getscheduler(0)


def test_urgency_behind_a_name_with_brackets(tree: Make) -> None:
    """A name may hold blanks and brackets; fields after the last one are counted, and a truncated line yields none."""
    fields = ["S", *"1" * 15, "-5", *"1" * 21, "3", "0"]
    stat = f"7 (my) sqld) {' '.join(fields)}\n"
    root = tree({"/proc/7/status": "Name:\tmysqld\nHugetlbPages:\t 4096 kB\n", "/proc/7/stat": stat})
    process = read_process(root, 7)
    assert (process.nice, process.policy, process.huge_pages) == (-5, "batch", 4096 << 10)
    short = read_process(tree({"/proc/8/status": "Name:\tmysqld\n", "/proc/8/stat": stat[:40]}), 8)
    assert (short.nice, short.policy, short.huge_pages) == (None, None, None)


# Asks the kernel for memory from all nodes in turn (MPOL_INTERLEAVE) and for no transparent huge pages, then waits.
ASKING = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
nodes = ctypes.c_ulong(1)
refused = libc.syscall(238, 3, ctypes.byref(nodes), 64)
libc.prctl(41, 1, 0, 0, 0)
print("refused" if refused else "asked", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of set_mempolicy is that of x86-64")
def test_memory_policy_and_huge_pages_are_what_the_process_asked_for() -> None:
    """What numactl and MariaDB ask the kernel for, asked for here, is read back; this process asked for nothing."""
    with subprocess.Popen([sys.executable, "-c", ASKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        line = child.stdout.readline()
        process = read_process(LiveRoot(), child.pid)
        child.stdin.close()
    assert line in (b"asked\n", b"refused\n")
    if line != b"asked\n" or not os.path.exists("/proc/self/numa_maps"):
        pytest.skip("this kernel has no memory nodes")
    assert (process.memory_policy, process.thp) == ("interleave:0", False)
    assert read_process(LiveRoot(), os.getpid()).memory_policy == "default"


@pytest.mark.parametrize(
    ("line", "policy"),
    [
        ("00400000 default file=/usr/sbin/mysqld mapped=3856 N0=3856 kernelpagesize_kB=4\n", "default"),
        ("7f00 interleave=static:0-3 anon=1 dirty=1 N0=1\n", "interleave=static:0-3"),
        ("7f00 weighted interleave:0-1 heap\n", "weighted interleave:0-1"),
        ("7f00 prefer (many):0,2 heap\n", "prefer (many):0,2"),
        ("7f00 bind:1 heap\n", "bind:1"),
        ("7f00 interleave:0-1023,10", None),
        ("", None),
        ("no address interleave:0\n", None),
    ],
)
def test_the_first_mapping_has_the_policy(tree: Make, line: str, policy: str | None) -> None:
    """The policy follows the address of the first mapping; a line truncated within it yields nothing."""
    root = tree({"/proc/7/status": "Name:\tmysqld\n", "/proc/7/numa_maps": line})
    assert read_process(root, 7).memory_policy == policy


def test_a_policy_narrows_the_nodes(tree: Make) -> None:
    """numactl --membind doesn't change the list of the control group; the policy says which nodes are left."""
    status = "Name:\tmysqld\nMems_allowed_list:\t0-3\n"
    for policy, nodes in (("bind:1,3", (1, 3)), ("bind=static:2", (2,)), ("interleave:0-1", (0, 1, 2, 3))):
        root = tree({"/proc/7/status": status, "/proc/7/numa_maps": f"7f00 {policy} heap\n"})
        assert read_process(root, 7).memory_nodes == nodes


def test_no_more_is_read_of_numa_maps_than_the_first_mapping(tree: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel walks the pages of as many mappings as fill what is asked for, so a few bytes are asked for."""
    root = tree({"/proc/7/status": "Name:\tmysqld\n", "/proc/7/numa_maps": "7f00 default\n" * 1000})
    asked: dict[str, int | None] = {}
    read = root.read

    def noted(path: str, *limit: int) -> str | None:
        asked[path] = limit[0] if limit else None
        return read(path, *limit)

    monkeypatch.setattr(root, "read", noted)
    read_process(root, 7)
    assert (asked["/proc/7/numa_maps"] or 1 << 20) <= 128
