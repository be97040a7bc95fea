"""A host as described on the command line, for servers whose machine cannot be read from here."""

from __future__ import annotations

import re

from msgspec.structs import replace

from advisor.collect.host.formats import MAX_CPU
from advisor.core.errors import MycnfError
from advisor.facts.host import BlockDevice, Cpu, Host, Memory, Mount, SkippedPart, Storage

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SAID = "not read: only what --ram, --cpus and --disk say is known"


def parse_size(text: str) -> int:
    """Bytes of a size such as 64G or 512M; raises MycnfError for anything else."""
    match = re.fullmatch(r"([0-9]{1,20}(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match or float(match[1]) <= 0:
        raise MycnfError(f"--ram {text!r} is not a size; write it as 64G or 512M")
    return int(float(match[1]) * UNITS[match[2].upper()])


def host_from_options(*, ram: str | None, cpus: int | None, disk: str | None, tar: str | None) -> Host:
    """The host from --host-tar, if given, with the values of --ram, --cpus and --disk."""
    host = _from_tar(tar) if tar else Host(skipped=(SkippedPart("host", SAID),))
    if ram:
        host = replace(host, memory=Memory(total=parse_size(ram)), cgroup=None)
    if cpus is not None:
        host = replace(host, cpu=_cpu(cpus))
    if disk:
        host = replace(host, storage=_storage(disk))
    return host


def _from_tar(path: str) -> Host:
    from advisor.collect.host import read_host
    from advisor.collect.host.host import open_root

    return read_host(open_root(path))


def _cpu(count: int) -> Cpu:
    if not 0 < count <= MAX_CPU:
        raise MycnfError(f"--cpus {count} is not a number of processors; write how many the server may use")
    return Cpu(logical=count, online=tuple(range(count)), kinds=(), cores=count, sockets=0)


def _storage(kind: str) -> Storage:
    device = BlockDevice(
        name=kind,
        kernel_name=kind,
        number="",
        type="disk",
        size=0,
        rotational=kind == "hdd",
        transport="nvme" if kind == "nvme" else None,
    )
    return Storage(path="", mount=Mount(point="", fs_type="", source=""), devices=(device,), untraced="said by --disk")
