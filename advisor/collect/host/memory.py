"""Memory: its size and use, huge pages, and the kernel's settings of virtual memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.host.formats import bracketed_choice, key_values, parse_size, read_number
from advisor.facts.host import Memory

if TYPE_CHECKING:
    from advisor.collect.host.root import Root

_HUGE = "/sys/kernel/mm/transparent_hugepage"


def read_memory(root: Root) -> Memory | None:
    """Read /proc/meminfo and the settings under /proc/sys/vm; None without a total."""
    rows = key_values(root.read("/proc/meminfo"))
    sizes = {key: parse_size(value) for key, value in rows.items()}
    total = sizes.get("MemTotal")
    if not total:
        return None

    def setting(name: str) -> int | None:
        return read_number(root, f"/proc/sys/{name}")

    return Memory(
        total=total,
        available=sizes.get("MemAvailable"),
        free=sizes.get("MemFree"),
        swap_total=sizes.get("SwapTotal") or 0,
        swap_free=sizes.get("SwapFree") or 0,
        huge_page=sizes.get("Hugepagesize"),
        huge_pages_total=sizes.get("HugePages_Total") or 0,
        huge_pages_free=sizes.get("HugePages_Free") or 0,
        anonymous_huge=sizes.get("AnonHugePages"),
        committed=sizes.get("Committed_AS"),
        commit_limit=sizes.get("CommitLimit"),
        thp=bracketed_choice(root.read(f"{_HUGE}/enabled", 256)),
        thp_defrag=bracketed_choice(root.read(f"{_HUGE}/defrag", 256)),
        swappiness=setting("vm/swappiness"),
        dirty_ratio=setting("vm/dirty_ratio"),
        dirty_background_ratio=setting("vm/dirty_background_ratio"),
        dirty_bytes=setting("vm/dirty_bytes"),
        dirty_background_bytes=setting("vm/dirty_background_bytes"),
        overcommit_memory=setting("vm/overcommit_memory"),
        overcommit_ratio=setting("vm/overcommit_ratio"),
        zone_reclaim_mode=setting("vm/zone_reclaim_mode"),
        numa_balancing=setting("kernel/numa_balancing"),
    )
