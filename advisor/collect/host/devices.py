"""Block devices as `lsblk` shows them: disks, partitions, arrays of the md driver, and devices built on them.

For the files of an array see the kernel's Documentation/admin-guide/md.rst, "md devices in sysfs".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from advisor.collect.host.root import bracketed_choice, parse_number, read_line, read_number
from advisor.facts.storage import BlockDevice, Raid, Stripe

if TYPE_CHECKING:
    from advisor.collect.host.root import Root


SYS_BLOCK = "/sys/block"
_SECTOR = 512
"""Sizes and starts in /sys are in sectors of 512 bytes, for any sector size of the device."""
_RAM_DISK, _LOOP = "1", "7"
# The files of a request queue and of an md array that are read; the tar of a host has them.
QUEUE_FILES = (
    *("rotational", "scheduler", "nr_requests", "read_ahead_kb", "max_sectors_kb", "minimum_io_size"),
    *("optimal_io_size", "logical_block_size", "physical_block_size", "write_cache", "discard_granularity"),
    "discard_max_bytes",
)
RAID_FILES = ("level", "raid_disks", "chunk_size", "layout", "array_state", "degraded", "sync_action")

_SCSI_TYPES = {
    1: "tape", 2: "printer", 3: "processor", 4: "worm", 5: "rom", 6: "scanner", 7: "mo-disk", 8: "changer", 9: "comm",
    12: "raid", 13: "enclosure", 14: "rbc", 17: "osd",
}  # fmt: skip
"""Peripheral device types other than disk, by their number in SCSI INQUIRY (SPC-4)."""
_PARITY_DISKS = {"raid0": 0, "raid4": 1, "raid5": 1, "raid6": 2}
_RAID_TRANSPORTS = (None, "scsi", "sas", "fc", "iscsi", "virtio", "xen", "hyperv")
"""How controllers and hosts present a RAID volume as one disk; NVMe, SATA and USB disks are single disks."""
_MIN_STRIPE = 4096


class Queue(NamedTuple):
    """The settings of a disk's request queue: fields of BlockDevice that a disk and its partitions share."""

    rotational: bool | None
    scheduler: str | None
    requests: int | None
    read_ahead: int | None
    max_io: int | None
    minimum_io: int | None
    optimal_io: int | None
    logical_sector: int | None
    physical_sector: int | None
    write_cache: str | None
    discard_granularity: int | None
    discard_max: int | None


def read_devices(root: Root) -> tuple[BlockDevice, ...]:
    """All block devices except RAM disks, unused loop devices and hidden paths; partitions follow their disk."""
    devices: list[BlockDevice] = []
    for disk in root.names(SYS_BLOCK):
        base = f"{SYS_BLOCK}/{disk}"
        queue = _queue(root, f"{base}/queue")
        whole = _disk(root, base, disk, queue)
        if whole:
            names = [name for name in root.names(base) if name.startswith(disk)]
            parts = (_partition(root, f"{base}/{name}", name, whole, queue) for name in names)
            devices += [whole, *filter(None, parts)]
    return tuple(devices)


def _disk(root: Root, base: str, name: str, queue: Queue) -> BlockDevice | None:
    """A device that is not a partition; None if it should not be listed."""
    number, size = _number(root, base), _sectors(root, f"{base}/size")
    if number is None or size is None or _is_unused(number, size) or read_line(root, f"{base}/hidden") == "1":
        return None
    under = root.names(f"{base}/slaves")
    hardware = Hardware() if under else read_hardware(root, base, name)
    return BlockDevice(
        name=read_line(root, f"{base}/dm/name") or _device_name(name),
        kernel_name=_device_name(name),
        number=number,
        type=_type(root, base, name),
        size=size,
        under=tuple(_device_name(device) for device in under),
        read_only=_flag(root, f"{base}/ro"),
        alignment_offset=read_number(root, f"{base}/alignment_offset"),
        raid=read_raid(root, base),
        **queue._asdict(),
        **hardware._asdict(),
    )


def _partition(root: Root, base: str, name: str, disk: BlockDevice, queue: Queue) -> BlockDevice | None:
    """A partition of a disk; None for other directories below a disk, which have no start."""
    number, size, start = _number(root, base), _sectors(root, f"{base}/size"), _sectors(root, f"{base}/start")
    if number is None or size is None or start is None:
        return None
    return BlockDevice(
        name=_device_name(name),
        kernel_name=_device_name(name),
        number=number,
        type="part",
        size=size,
        under=(disk.kernel_name,),
        start=start,
        read_only=_flag(root, f"{base}/ro"),
        alignment_offset=read_number(root, f"{base}/alignment_offset"),
        **queue._asdict(),
    )


def _queue(root: Root, queue: str) -> Queue:
    return Queue(
        rotational=_flag(root, f"{queue}/rotational"),
        scheduler=bracketed_choice(root.read(f"{queue}/scheduler", 256)),
        requests=read_number(root, f"{queue}/nr_requests"),
        read_ahead=_kilobytes(root, f"{queue}/read_ahead_kb"),
        max_io=_kilobytes(root, f"{queue}/max_sectors_kb"),
        minimum_io=read_number(root, f"{queue}/minimum_io_size"),
        optimal_io=read_number(root, f"{queue}/optimal_io_size"),
        logical_sector=read_number(root, f"{queue}/logical_block_size"),
        physical_sector=read_number(root, f"{queue}/physical_block_size"),
        write_cache=read_line(root, f"{queue}/write_cache"),
        discard_granularity=read_number(root, f"{queue}/discard_granularity"),
        discard_max=read_number(root, f"{queue}/discard_max_bytes"),
    )


def _type(root: Root, base: str, name: str) -> str:
    """The device type, as lsblk names it; for a dm device it is the part of the uuid before the first dash."""
    if name.startswith("dm-"):
        owner = (read_line(root, f"{base}/dm/uuid") or "").split("-")[0].lower()
        return "part" if owner.startswith("part") else owner or "dm"
    if name.startswith("loop"):
        return "loop"
    if name.startswith("md"):
        return (read_line(root, f"{base}/md/level") or "md").lower()
    return _SCSI_TYPES.get(read_number(root, f"{base}/device/type") or 0, "disk")


def _number(root: Root, base: str) -> str | None:
    number = read_line(root, f"{base}/dev") or ""
    return number if re.fullmatch(r"[0-9]{1,9}:[0-9]{1,9}", number) else None


def _sectors(root: Root, path: str) -> int | None:
    sectors = read_number(root, path)
    return None if sectors is None or sectors < 0 else sectors * _SECTOR


def _kilobytes(root: Root, path: str) -> int | None:
    found = read_number(root, path)
    return None if found is None else found << 10


def _is_unused(number: str, size: int) -> bool:
    major = number.partition(":")[0]
    return major == _RAM_DISK or (major == _LOOP and not size)


def _flag(root: Root, path: str) -> bool | None:
    found = read_number(root, path)
    return None if found is None else bool(found)


def _device_name(name: str) -> str:
    """A name as in /dev: /sys has an exclamation mark instead of a slash (cciss/c0d0)."""
    return name.replace("!", "/")


_IN_PATH = (
    (r"/usb[0-9]", "usb"), (r"/session[0-9]", "iscsi"), (r"/rport-", "fc"), (r"/(end_device|sas_device)-", "sas"),
    (r"/ata[0-9]", "sata"), (r"/virtio[0-9]", "virtio"), (r"/vmbus|VMBUS", "hyperv"), (r"/vbd-", "xen"),
    (r"/target[0-9]", "scsi"),
)  # fmt: skip
"""Path components that are specific to a kind of attachment, outer kinds first."""

_BY_NAME = (
    ("nvme", "nvme"), ("vd", "virtio"), ("xvd", "xen"), ("mmcblk", "mmc"), ("nbd", "nbd"), ("rbd", "rbd"),
    ("zram", "memory"),
)  # fmt: skip


class Hardware(NamedTuple):
    """A disk's description of itself: fields of BlockDevice that only disks have."""

    transport: str | None = None
    vendor: str | None = None
    model: str | None = None


def read_hardware(root: Root, base: str, name: str) -> Hardware:
    """A disk's vendor, model and attachment, as far as known."""
    return Hardware(
        transport=_transport(root, base, name),
        vendor=_vendor(read_line(root, f"{base}/device/vendor")),
        model=_full_model(root, base) or read_line(root, f"{base}/device/model"),
    )


def _transport(root: Root, base: str, name: str) -> str | None:
    by_name = next((kind for start, kind in _BY_NAME if re.match(start + r"[a-z0-9]", name)), None)
    if by_name == "nvme":
        fabric = read_line(root, f"{base}/device/transport") or "pcie"
        return "nvme" if fabric in ("pcie", "loop") else f"nvme-{fabric}"
    path = root.real(base) or ""
    return by_name or next((kind for sign, kind in _IN_PATH if re.search(sign, path)), None)


def _vendor(text: str | None) -> str | None:
    """A vendor name; virtio and NVMe have a PCI number instead, and ATA disks all have ATA."""
    return None if text is None or text == "ATA" or re.fullmatch(r"0x[0-9a-f]+", text) else text


def _full_model(root: Root, base: str) -> str | None:
    """The model from udev, because SCSI's own field is cut after 16 characters."""
    number = read_line(root, f"{base}/dev")
    text = root.read(f"/run/udev/data/b{number}", 1 << 16) if number and re.fullmatch(r"[0-9:]+", number) else None
    found = re.search(r"^E:ID_MODEL=(.+)$", text or "", re.MULTILINE)
    return found[1].replace("_", " ").strip() if found else None


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
    for stripe in (*map(_array_stripe, devices), *(_queue_stripe(device, devices) for device in devices)):
        if stripe:
            return replace(stripe, offset=_offset(devices[0], stripe))
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
