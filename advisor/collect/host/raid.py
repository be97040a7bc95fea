"""Arrays of the kernel's md driver, and the stripe size under a file system.

For the files see the kernel's Documentation/admin-guide/md.rst, "md devices in sysfs".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor.collect.host.formats import parse_number, read_line, read_number
from advisor.facts.host import Raid, Stripe

if TYPE_CHECKING:
    from advisor.collect.host.root import Root
    from advisor.facts.host import BlockDevice

_PARITY_DISKS = {"raid0": 0, "raid4": 1, "raid5": 1, "raid6": 2}
_RAID_TRANSPORTS = (None, "scsi", "sas", "fc", "iscsi", "virtio", "xen", "hyperv")
"""How controllers and hosts present a RAID volume as one disk; NVMe, SATA and USB disks are single disks."""
_MIN_STRIPE = 4096


def read_raid(root: Root, base: str) -> Raid | None:
    """The array behind a device; None if the device is not an array."""
    level = read_line(root, f"{base}/md/level")
    if level is None:
        return None
    # During a reshape these files have the new number followed by the old one in parentheses.
    disks, chunk, layout = (_first(root.read(f"{base}/md/{f}", 64)) for f in ("raid_disks", "chunk_size", "layout"))
    return Raid(
        level=level,
        disks=disks,
        chunk=chunk,
        layout=layout,
        state=read_line(root, f"{base}/md/array_state"),
        degraded=read_number(root, f"{base}/md/degraded"),
        action=read_line(root, f"{base}/md/sync_action"),
    )


def _first(text: str | None) -> int | None:
    found = re.match(r"\s*([0-9]{1,15})\b", text or "")
    return parse_number(found[1]) if found else None


def data_disks(raid: Raid) -> int | None:
    """The number of disks with data in a full stripe; None for arrays without striping or of an unknown level."""
    if not raid.disks or not raid.chunk:
        return None
    if raid.level in _PARITY_DISKS:
        count = raid.disks - _PARITY_DISKS[raid.level]
    elif raid.level == "raid10":
        # The layout's low byte is the number of near copies. Far copies are striped like RAID 0, and if the number of
        # disks is not a multiple of the copies, a stripe takes all: raid10_nr_stripes() in the kernel's
        # drivers/md/raid10.c.
        near = (raid.layout or 0) & 0xFF or 1
        count = raid.disks if raid.disks % near else raid.disks // near
    else:
        return None
    return count if count > 1 else None


def stripe_of(devices: tuple[BlockDevice, ...]) -> Stripe | None:
    """The stripe under a mount; `devices` are ordered from the mount down to the disks.

    The parameters of an array are preferred to the hint of a request queue, upper devices first.
    """
    for found in (*map(_array_stripe, devices), *(_queue_stripe(device, devices) for device in devices)):
        if found:
            return replace(found, offset=_offset(devices[0], found))
    return None


def _array_stripe(device: BlockDevice) -> Stripe | None:
    disks = data_disks(device.raid) if device.raid else None
    if not device.raid or not device.raid.chunk or not disks:
        return None
    return Stripe(device.raid.chunk * disks, "md", device.kernel_name, device.raid.chunk, disks)


def _queue_stripe(device: BlockDevice, devices: tuple[BlockDevice, ...]) -> Stripe | None:
    """The stripe from a queue's hints: the optimal I/O size, and the minimum I/O size as chunk.

    The minimum I/O size is used only if it is larger than a sector.
    """
    minimum, optimal = device.minimum_io or 0, device.optimal_io or 0
    if not _may_hint(device, devices) or optimal < _MIN_STRIPE or optimal % _MIN_STRIPE:
        return None
    if minimum <= max(device.physical_sector or 0, _MIN_STRIPE) or optimal % minimum or optimal == minimum:
        return Stripe(optimal, "queue", device.kernel_name)
    return Stripe(optimal, "queue", device.kernel_name, minimum, optimal // minimum)


def _may_hint(device: BlockDevice, devices: tuple[BlockDevice, ...]) -> bool:
    """Whether the queue's optimal I/O size can describe a stripe.

    Flash and single disks report their preferred request size. A volume passes on the value of the device below it, so
    only a difference from that is its own.
    """
    if device.type in ("part", "loop", "rom") or device.raid:
        return False
    if not device.under:
        return device.transport in _RAID_TRANSPORTS
    sizes = (device.minimum_io, device.optimal_io)
    below = [d for d in devices if d.kernel_name in device.under]
    return bool(below) and all((d.minimum_io, d.optimal_io) != sizes for d in below)


def _offset(top: BlockDevice, stripe: Stripe) -> int | None:
    """The offset of the file system in a stripe; None for volume managers, whose offset is not in the files."""
    if top.kernel_name == stripe.device:
        return 0
    if top.under == (stripe.device,) and top.start is not None:
        return top.start % stripe.size
    return None
