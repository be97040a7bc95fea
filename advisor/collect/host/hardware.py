"""What a disk is and how it is attached, from its place in the tree of devices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.host.formats import read_word

if TYPE_CHECKING:
    from advisor.collect.host.root import Root

_IN_PATH = (
    (r"/usb[0-9]", "usb"), (r"/session[0-9]", "iscsi"), (r"/rport-", "fc"), (r"/(end_device|sas_device)-", "sas"),
    (r"/ata[0-9]", "sata"), (r"/virtio[0-9]", "virtio"), (r"/vmbus|VMBUS", "hyperv"), (r"/vbd-", "xen"),
    (r"/target[0-9]", "scsi"),
)  # fmt: skip
"""Steps of a device's path that only that kind of attachment has, the outer kinds first."""
_BY_NAME = (
    ("nvme", "nvme"), ("vd", "virtio"), ("xvd", "xen"), ("mmcblk", "mmc"), ("nbd", "nbd"), ("rbd", "rbd"),
    ("zram", "memory"),
)  # fmt: skip


class Hardware(NamedTuple):
    """What a disk says it is: fields of BlockDevice that only disks have."""

    transport: str | None = None
    vendor: str | None = None
    model: str | None = None


def read_hardware(root: Root, base: str, name: str) -> Hardware:
    """A disk's maker, model and attachment, as far as told."""
    return Hardware(
        transport=_transport(root, base, name),
        vendor=_vendor(read_word(root, f"{base}/device/vendor")),
        model=_full_model(root, base) or read_word(root, f"{base}/device/model"),
    )


def _transport(root: Root, base: str, name: str) -> str | None:
    by_name = next((kind for start, kind in _BY_NAME if re.match(start + r"[a-z0-9]", name)), None)
    if by_name == "nvme":
        fabric = read_word(root, f"{base}/device/transport") or "pcie"
        return "nvme" if fabric in ("pcie", "loop") else f"nvme-{fabric}"
    path = root.real(base) or ""
    return by_name or next((kind for sign, kind in _IN_PATH if re.search(sign, path)), None)


def _vendor(text: str | None) -> str | None:
    """A maker in words; virtio and NVMe give a PCI number there, and ATA disks all say ATA."""
    return None if text is None or text == "ATA" or re.fullmatch(r"0x[0-9a-f]+", text) else text


def _full_model(root: Root, base: str) -> str | None:
    """The model as udev knows it: SCSI's own field ends after 16 characters."""
    number = read_word(root, f"{base}/dev")
    text = root.read(f"/run/udev/data/b{number}", 1 << 16) if number and re.fullmatch(r"[0-9:]+", number) else None
    found = re.search(r"^E:ID_MODEL=(.+)$", text or "", re.MULTILINE)
    return found[1].replace("_", " ").strip() if found else None
