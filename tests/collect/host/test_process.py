"""A process: what it may use and what it uses."""

from __future__ import annotations

import os
import resource
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


def test_this_process_is_what_the_kernel_tells_it_of_itself() -> None:
    """Limits are getrlimit's, processors sched_getaffinity's, threads Python's, program and place its own."""
    process = read_process(LiveRoot(), os.getpid())
    for name, number in LIMITS.items():
        soft, hard = (None if n == resource.RLIM_INFINITY else n for n in resource.getrlimit(number))
        assert (process.limit(name).soft, process.limit(name).hard) == (soft, hard), name
    assert set(process.cpus) == os.sched_getaffinity(0)
    assert process.threads >= threading.active_count()
    assert (process.cwd, process.uid) == (os.getcwd(), os.getuid())
    assert os.path.samefile(process.executable, sys.executable)
    assert 0 < process.resident <= process.peak_resident


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
    """A pid that nobody has gives nothing; 2^22 is above the largest that the kernel hands out."""
    assert read_process(LiveRoot(), 1 << 22) is None


def test_servers_are_found_by_name(tree: Make) -> None:
    """mysqld and mariadbd are servers; their tools and their threads' names are not."""
    named = {1: "systemd", 20: "mysqld", 300: "mariadbd", 4: "mysqldump", 5: "mysqld_safe"}
    root = tree({f"/proc/{pid}/comm": f"{name}\n" for pid, name in named.items()} | {"/proc/stat": ""})
    assert server_pids(root) == (20, 300)


def test_urgency_of_this_process_is_what_the_kernel_tells_it() -> None:
    """Niceness and scheduling class are those that the system calls give."""
    process = read_process(LiveRoot(), os.getpid())
    assert process.nice == os.getpriority(os.PRIO_PROCESS, 0)
    assert {"other": os.SCHED_OTHER, "batch": os.SCHED_BATCH}.get(process.policy) == os.sched_getscheduler(0)


def test_urgency_behind_a_name_with_brackets(tree: Make) -> None:
    """A name may hold blanks and brackets; what follows the last one is counted, and a line cut short tells nothing."""
    fields = ["S", *"1" * 15, "-5", *"1" * 21, "3", "0"]
    stat = f"7 (my) sqld) {' '.join(fields)}\n"
    root = tree({"/proc/7/status": "Name:\tmysqld\nHugetlbPages:\t 4096 kB\n", "/proc/7/stat": stat})
    process = read_process(root, 7)
    assert (process.nice, process.policy, process.huge_pages) == (-5, "batch", 4096 << 10)
    short = read_process(tree({"/proc/8/status": "Name:\tmysqld\n", "/proc/8/stat": stat[:40]}), 8)
    assert (short.nice, short.policy, short.huge_pages) == (None, None, None)
