"""Block devices: disks, partitions, and devices built on them, as `lsblk` shows them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.host.formats import bracketed_choice, read_line, read_number
from advisor.collect.host.raid import read_raid
from advisor.facts.host import BlockDevice

if TYPE_CHECKING:
    from advisor.collect.host.root import Root


SYS_BLOCK = "/sys/block"
_SECTOR = 512
"""Sizes and starts in /sys are in sectors of 512 bytes, whatever the device's sector size is."""
_RAM_DISK, _LOOP = "1", "7"
_SCSI_TYPES = {
    1: "tape", 2: "printer", 3: "processor", 4: "worm", 5: "rom", 6: "scanner", 7: "mo-disk", 8: "changer", 9: "comm",
    12: "raid", 13: "enclosure", 14: "rbc", 17: "osd",
}  # fmt: skip
"""Peripheral device types other than disk, by their number in SCSI INQUIRY (SPC-4)."""


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
    found: list[BlockDevice] = []
    for disk in root.names(SYS_BLOCK):
        base = f"{SYS_BLOCK}/{disk}"
        queue = _queue(root, f"{base}/queue")
        whole = _disk(root, base, disk, queue)
        if whole:
            names = [name for name in root.names(base) if name.startswith(disk)]
            parts = (_partition(root, f"{base}/{name}", name, whole, queue) for name in names)
            found += [whole, *filter(None, parts)]
    return tuple(found)


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
