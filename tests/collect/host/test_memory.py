"""Memory and the kernel's settings for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from advisor.collect.host.host import read_memory
from advisor.collect.host.root import LiveRoot

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.collect.host.root import Root

MEMINFO = """MemTotal:       65806300 kB
MemFree:         1043404 kB
MemAvailable:   33114120 kB
SwapTotal:       8388604 kB
SwapFree:        8388348 kB
CommitLimit:    41291752 kB
Committed_AS:   50291752 kB
AnonHugePages:   1048576 kB
HugePages_Total:    1024
HugePages_Free:      512
HugePages_Rsvd:      100
Hugepagesize:       2048 kB
"""


def test_memory_of_this_machine_is_what_sysconf_says() -> None:
    """The total is the pages that the C library counts, and what is available is part of it."""
    memory = read_memory(LiveRoot())
    assert memory.total == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < memory.available <= memory.total


def test_kilobytes_and_counts_are_told_apart(tree: Callable[[dict[str, str]], Root]) -> None:
    """meminfo gives sizes in kB and huge pages by number."""
    memory = read_memory(tree({"/proc/meminfo": MEMINFO}))
    assert (memory.total, memory.swap_total) == (65806300 << 10, 8388604 << 10)
    assert (memory.huge_pages_total, memory.huge_pages_free, memory.huge_page) == (1024, 512, 2 << 20)
    assert memory.huge_pages_reserved == 100
    assert (memory.committed, memory.commit_limit) == (50291752 << 10, 41291752 << 10)
    assert (memory.swappiness, memory.thp) == (None, None)


def test_settings_of_the_kernel_are_read(tree: Callable[[dict[str, str]], Root]) -> None:
    """The choice in brackets is the one in force; ratios and bytes stay as they are."""
    files = {"vm/swappiness": "1", "vm/dirty_ratio": "0", "vm/dirty_bytes": "1073741824", "kernel/numa_balancing": "1"}
    huge = "/sys/kernel/mm/transparent_hugepage"
    root = tree(
        {"/proc/meminfo": MEMINFO, f"{huge}/enabled": "always [madvise] never\n", f"{huge}/defrag": "[always] defer\n"}
        | {f"/proc/sys/{name}": f"{text}\n" for name, text in files.items()}
    )
    memory = read_memory(root)
    assert (memory.thp, memory.thp_defrag) == ("madvise", "always")
    assert (memory.swappiness, memory.dirty_ratio, memory.dirty_bytes, memory.numa_balancing) == (1, 0, 1 << 30, 1)


def test_root_without_a_total_has_no_memory(tree: Callable[[dict[str, str]], Root]) -> None:
    """A meminfo that is cut short is taken for none."""
    assert read_memory(tree({"/proc/meminfo": "MemFree: 1 kB\n"})) is None
