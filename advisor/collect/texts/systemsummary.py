"""What pt-summary prints of a machine: processors, memory with the kernel's settings for it, and mounts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.host.formats import number
from advisor.collect.texts.sections import NOTHING, rounded, sections
from advisor.collect.texts.told import Told
from advisor.facts.host import Cpu, Host, Memory, OperatingSystem, Skipped
from advisor.facts.storage import Mount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.collect.texts.sections import Section

TITLE = "# Percona Toolkit System Summary Report"
_OWN = re.compile(r"^# Memory #{9,}\n +Total \| ", re.MULTILINE)  # of a report whose beginning was left out
SOURCE = "not read: only what pt-summary prints is known, sizes rounded"
MOST_CPUS = 1 << 16
_CPUS = re.compile(r"physical = (\d{1,6}), cores = (\d{1,6}), virtual = (\d{1,6}).*")
_SWAP = re.compile(r".*swap allocated = (\S+), swap used = (\S+),.*")
_MOUNT = re.compile(r" {2}(\S+) +(\S+) +(\d+%|-) (\S+) +(\S+) +(/.*)")


def is_system_summary(text: str) -> bool:
    """Whether pt-summary printed it."""
    return TITLE in text or bool(_OWN.search(text))


def read_system_summary(path: str, text: str, at: float) -> Told:
    """The machine as far as the report tells."""
    parts = sections(text[max(0, text.find(TITLE)) :])
    system = parts.get("Percona Toolkit System Summary Report", NOTHING).named
    host = Host(
        cpu=_cpu(parts.get("Processor", NOTHING).named.get("Processors", "")),
        memory=_memory(parts.get("Memory", NOTHING).named),
        os=OperatingSystem(
            kernel=system.get("Kernel"),
            hostname=system.get("Hostname"),
            distribution=system.get("Release"),
        ),
        skipped=(Skipped("host", SOURCE),),
    )
    return Told(path, host=host, mounts=tuple(_mounts(parts.get("Mounted Filesystems", NOTHING))), at=at)


def _cpu(text: str) -> Cpu | None:
    match = _CPUS.fullmatch(text)
    sockets, cores, logical = (int(n) for n in match.groups()) if match else (0, 0, 0)
    if not 0 < logical < MOST_CPUS:
        return None
    return Cpu(logical=logical, online=tuple(range(logical)), kinds=(), cores=cores, sockets=sockets)


def _memory(named: dict[str, str]) -> Memory | None:
    total = rounded(named.get("Total", ""))
    if not total:
        return None
    swap = _SWAP.fullmatch(named.get("Used", ""))
    allocated, used = (rounded(n) or 0 for n in swap.groups()) if swap else (0, 0)
    ratio, background = _two(named.get("DirtyPolicy", ""))
    limit, background_limit = _two(named.get("DirtyStatus", ""))  # the tool calls the limits in bytes so
    return Memory(
        total=total,
        free=rounded(named.get("Free", "")),
        swap_total=allocated,
        swap_free=max(0, allocated - used),
        swappiness=number(named.get("Swappiness")),
        dirty_ratio=ratio,
        dirty_background_ratio=background,
        dirty_bytes=limit,
        dirty_background_bytes=background_limit,
    )


def _two(text: str) -> tuple[int | None, int | None]:
    first, _, second = text.partition(",")
    return number(first), number(second)


def _mounts(part: Section) -> Iterator[tuple[Mount, None]]:
    for line in part.lines:
        match = _MOUNT.fullmatch(line.rstrip())
        if match:
            yield Mount(match[6], match[4], match[1], options=tuple(match[5].split(","))), None
