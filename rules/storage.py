"""What the disks under the data directory are, as far as the kernel's word can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.facts.host import BlockDevice, Host

# A hypervisor's disk may say anything about rotation: a virtio disk claims to rotate and does 63,000 reads a second.
VIRTUAL = frozenset({"virtio", "xen", "vmbus", "nbd"})


def is_solid(host: Host) -> bool | None:
    """Whether the data lies on solid-state disks alone; None where that can't be told."""
    kinds = [_solid(disk, virtual=_virtual(host)) for disk in (host.storage.disks if host.storage else ())]
    if not kinds or None in kinds:
        return None
    return all(kinds)


def is_spinning(host: Host) -> bool:
    """Whether the data lies on spinning disks, told by real hardware."""
    disks = host.storage.disks if host.storage else ()
    return bool(disks) and all(_solid(disk, virtual=_virtual(host)) is False for disk in disks)


def names(host: Host) -> str:
    """The disks under the data directory, for messages."""
    return ", ".join(disk.model or disk.name for disk in (host.storage.disks if host.storage else ()))


def _solid(disk: BlockDevice, *, virtual: bool) -> bool | None:
    if disk.transport == "nvme" or disk.rotational is False:
        return True
    return None if virtual or disk.transport in VIRTUAL else not disk.rotational


def _virtual(host: Host) -> bool:
    hypervisor = host.cpu.hypervisor if host.cpu else None
    return hypervisor is not None and hypervisor.kind not in {"none", ""}
