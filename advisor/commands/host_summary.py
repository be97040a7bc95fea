"""Facts about this host that show how comparable a published measurement is; read quickly, from any root directory."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from advisor.catalog.targets import newest_target
from advisor.report.nearness import VIRTUAL, Here

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from advisor.core.model import Target
    from rules.core.rule import Rule

NO_DISKS = ("loop", "ram", "zram", "dm-", "md", "sr", "fd", "nbd", "bcache")
GUESTS = ("QEMU", "VMware", "Msft", "VBOX", "Google", "Amazon Elastic Block Store", "Virtual")


def summarize_host(args: argparse.Namespace, rule: Rule, target: Target | None, root: str = "/") -> Here:
    """Return the host described by the user, else this one; raises MycnfError for an invalid size or count."""
    from advisor.commands.connection import is_declared

    server = target or next(
        (t for t in map(newest_target, ("mysql", "mariadb")) if rule.concerns(t)), newest_target("mysql")
    )
    machine = _declared_summary(args) if is_declared(args) else (cpus(root), memory(root), disks(root))
    return Here(server, target is None, time.gmtime().tm_year, *machine)


def cpus(root: str) -> int | None:
    """Return the number of online processors."""
    total = 0
    for part in _read(root, "sys/devices/system/cpu/online").split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            total += int(last or first) - int(first) + 1
    return total or None


def memory(root: str) -> int | None:
    """Return the bytes of memory, or our control group's limit if lower."""
    lines = dict(line.partition(":")[::2] for line in _read(root, "proc/meminfo").splitlines())
    total = lines.get("MemTotal", "").split()
    limit = _read(root, "sys/fs/cgroup/memory.max")
    known = [int(total[0]) << 10] if total and total[0].isdigit() else []
    return min(known + ([int(limit)] if limit.isdigit() and known else []), default=None)


def disks(root: str) -> tuple[str, ...]:
    """Return the kinds of the host's disks."""
    try:
        names = sorted(os.listdir(os.path.join(root, "sys/block")))
    except OSError:
        return ()
    return tuple(dict.fromkeys(_kinds(root, [name for name in names if not name.startswith(NO_DISKS)])))


def _kinds(root: str, names: list[str]) -> Iterator[str]:
    for name in names:
        maker = _read(root, f"sys/block/{name}/device/vendor") + _read(root, f"sys/block/{name}/device/model")
        rotational = _read(root, f"sys/block/{name}/queue/rotational")
        kind = _kind(name, maker, rotational == "1" if rotational else None)
        if kind:
            yield kind


def _kind(name: str, maker: str, rotational: bool | None) -> str | None:
    """Return the kind of a disk, None if unknown: the rotational flag of a virtual disk is unreliable."""
    if name.startswith(("vd", "xvd")) or any(guest in maker for guest in GUESTS):
        return VIRTUAL
    if name.startswith("nvme"):
        return "NVMe"
    return {True: "rotating disks", False: "SSD"}.get(rotational) if rotational is not None else None


def _declared_summary(args: argparse.Namespace) -> tuple[int | None, int | None, tuple[str, ...]]:
    """Return processors, memory and disks of a host described by the user, without facts of this one."""
    from advisor.commands.connection import declared_host

    host = declared_host(args)
    found = [_kind(d.name, d.model or "", d.rotational) for d in (host.storage.disks if host.storage else ())]
    count = host.usable_cpus
    return (
        max(1, int(count)) if count else None,
        host.usable_memory,
        tuple(dict.fromkeys(kind for kind in found if kind)),
    )


def _read(root: str, path: str) -> str:
    try:
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            return file.read(65536).strip()
    except OSError:
        return ""
