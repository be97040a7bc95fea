"""The storage stack from the data directory down to the disks, as a tree."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.sizes import format_size
from advisor.report.audit import fact_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.facts.host import BlockDevice, Storage, Stripe

MOST = 200  # lines; a disk shelf needs about 20
STRIPE_SOURCES = {"md": "from the array's geometry", "queue": "from the device's optimal I/O size"}


class StorageStep(NamedTuple):
    """One line of the tree: the prefix of its first line, of further lines, and its text."""

    lead: str
    below: str
    text: str


def storage_tree(storage: Storage) -> list[StorageStep]:
    """The directory, its mount, and each device below the one that uses it."""
    indent, found = "", [StorageStep("", "", storage.path or "the data directory")]
    if storage.mount.point:
        indent = "   "
        found.append(StorageStep("└─ ", indent, _describe_mount(storage)))
    carried = {name for device in storage.devices for name in device.under}
    tops = [device for device in storage.devices if device.kernel_name not in carried]
    return found + list(islice(_branches(tops, storage, indent, set()), MOST))


def stripe_text(storage: Storage) -> str:
    """Stripe size, its source and the alignment of the file system; empty without striping."""
    stripe = storage.stripe
    if stripe is None:
        return ""
    disks = ""
    if stripe.data_disks and stripe.chunk:
        disks = f" ({stripe.data_disks} data disks, {format_size(stripe.chunk)} each)"
    name = next((d.name for d in storage.devices if d.kernel_name == stripe.device), stripe.device)
    source = STRIPE_SOURCES.get(stripe.source, f"from {stripe.source}")
    return f"{format_size(stripe.size)} on {name}{disks}, {source}; {_describe_alignment(stripe)}"


def _describe_alignment(stripe: Stripe) -> str:
    if stripe.offset is None:
        return "alignment of the file system unknown"
    if stripe.offset == 0:
        return "the file system is aligned to a stripe"
    return f"the file system starts {format_size(stripe.offset)} into a stripe"


def _describe_mount(storage: Storage) -> str:
    mount = storage.mount
    part = f", subdirectory {mount.root}" if mount.root not in ("", "/") else ""
    return f"{mount.fs_type} at {mount.point}, from {mount.source}{part}"


def _branches(devices: Sequence[BlockDevice], storage: Storage, indent: str, seen: set[str]) -> Iterator[StorageStep]:
    """The devices with those below them; a shared device is described once."""
    by_name = {device.kernel_name: device for device in storage.devices}
    for device in devices:
        sign, below = ("└─ ", "   ") if device is devices[-1] else ("├─ ", "│  ")
        again = device.kernel_name in seen
        seen.add(device.kernel_name)
        under = [] if again else [by_name[name] for name in device.under if name in by_name]
        text = f"{device.name}, as above" if again else _describe_device(device, storage)
        yield StorageStep(indent + sign, indent + below + ("│  " if under else "   "), text)
        yield from _branches(under, storage, indent + below, seen)


def _describe_device(device: BlockDevice, storage: Storage) -> str:
    if not device.under:
        return _describe_disk(device)
    parts = [fact_lines.layer(device, storage), "" if device.raid else device.type]
    parts += [format_size(device.size) if device.size else ""]
    if device.raid:
        parts += [device.raid.state or "", f"{device.raid.degraded} missing" if device.raid.degraded else ""]
    parts += [f"starts at {format_size(device.start)}" if device.start else ""]
    return ", ".join(part for part in parts if part)


def _describe_disk(device: BlockDevice) -> str:
    """A disk with its queue, sector sizes and write cache."""
    parts = [fact_lines.disk(device), " ".join(part for part in (device.vendor, device.model) if part)]
    parts += [f"queue of {device.requests}" if device.requests else ""]
    parts += [f"sectors {device.logical_sector}/{device.physical_sector}" if device.logical_sector else ""]
    parts += [device.write_cache or "", "read-only" if device.read_only else ""]
    return f"{device.name}: {', '.join(part for part in parts if part)}"
