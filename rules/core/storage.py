"""The type of the disks under the data directory, as far as the kernel reports it reliably."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.facts.host import Host
    from advisor.facts.storage import BlockDevice, Mount, Storage
    from rules.core.context import RuleContext
    from rules.measured.answers import LocalAnswer

# The rotational flag of a virtual disk is unreliable: a virtio disk that claimed to rotate did 63,000 reads a second.
# So is that of a volume of a storage array, which claims to rotate where the array says nothing.
VIRTUAL = frozenset({"virtio", "xen", "hyperv", "nbd", "rbd", "fc", "iscsi"})
# Disks that Linux never shows as rotating, with any disks behind them.
NEVER_ROTATING = frozenset({"xen", "nbd", "rbd"})
# Volumes of clouds that are attached as NVMe disks: their kind and their rate are those that were paid for.
NETWORK_VOLUME = re.compile(r"Amazon Elastic Block Store|nvme_card-pd|MSFT NVMe Accelerator", re.IGNORECASE)
# A RAID controller presents an array of any disks, behind its cache, as one disk that claims to rotate.
CONTROLLER = re.compile(
    r"raid|\b(?:perc|mr\d{3,4}|smc\d{4}|logical ?(?:volume|drv)|virtual (?:disk|drive)|ld \d)", re.IGNORECASE
)

DATA, TEMPORARY, BINARY_LOG = "the data", "temporary files", "the binary log"
DIRECTORY_CONTENTS = {
    "innodb_log_group_home_dir": "the redo log",
    "innodb_undo_directory": "the undo tablespaces",
    "innodb_data_home_dir": "the system tablespace",
    "log_bin_basename": BINARY_LOG,
    "relay_log_basename": "the relay log",
    "tmpdir": TEMPORARY,
}

THIN_POOL = "-tpool"  # at the end of a device's name: the pool that thin volumes of LVM are on

# Microseconds for one uncached random read of 16K: a faster read rules out spinning disks. A slow read proves nothing,
# because network storage is slow as well.
SOLID_STATE_LATENCY = 1500.0
DIRECT = "O_DIRECT"  # how a probe opened its file to read past the page cache


def is_solid_state(context: RuleContext) -> bool | None:
    """Whether the data is on solid-state disks only, by measured latency or by the kernel's flag; None if unknown."""
    if measured_read(context) is not None:
        return True
    host = context.host
    kinds = [
        _is_solid_state(disk, virtual=_is_virtual_machine(host))
        for disk in (host.storage.disks if host.storage else ())
    ]
    if not kinds or None in kinds:
        return None
    return all(kinds)


def is_solid_state_array(context: RuleContext, device: BlockDevice) -> bool:
    """Whether an array consists of solid-state disks only, by the kernel's flag or by measured read latency."""
    found = {d.kernel_name: d for d in (context.host.storage.devices if context.host.storage else ())}
    disks = [d for d in _underlying_devices(device, found) if not d.under]
    solid = [_is_solid_state(disk, virtual=_is_virtual_machine(context.host)) for disk in disks]
    return measured_read(context) is not None or (bool(solid) and all(solid))


def _underlying_devices(device: BlockDevice, devices: dict[str, BlockDevice]) -> Iterator[BlockDevice]:
    for name in device.under:
        if name in devices and name != device.kernel_name:
            yield devices[name]
            yield from _underlying_devices(devices[name], {k: d for k, d in devices.items() if k != device.kernel_name})


def is_spinning(context: RuleContext) -> bool:
    """Whether the data is on spinning disks: real hardware reports it, and no measured latency contradicts it."""
    host = context.host
    disks = host.storage.disks if host.storage else ()
    slow = measured_read(context) is None
    return (
        slow
        and bool(disks)
        and all(_is_solid_state(disk, virtual=_is_virtual_machine(host)) is False for disk in disks)
    )


def is_nvme(context: RuleContext) -> bool:
    """Whether the data is on NVMe disks only, not on volumes that a cloud attaches as such."""
    disks = context.host.storage.disks if context.host.storage else ()
    return bool(disks) and all(disk.transport == "nvme" and not _is_network_volume(disk) for disk in disks)


def measured_read(context: RuleContext) -> tuple[float, LocalAnswer] | None:
    """The measured latency of a random read in microseconds, with its probe result.

    None if a spinning disk could do it too.
    """
    for answer in context.probes:
        latency = answer.facts.get("one_read")
        if answer.probe == "random-read" and answer.parameters.get("open") == DIRECT and isinstance(latency, float):
            return (latency, answer) if 0 < latency < SOLID_STATE_LATENCY else None
    return None


def disk_names(host: Host) -> str:
    """The disks under the data directory, for messages."""
    return ", ".join(disk.model or disk.name for disk in (host.storage.disks if host.storage else ()))


def is_kind_alone(host: Host) -> bool:
    """Whether the disks were not examined: only their kind is known, from the command line or the configuration."""
    return host.storage is not None and not any(device.number for device in host.storage.devices)


def server_directories(host: Host) -> Iterator[tuple[Storage, str]]:
    """The data directory and the server's other directories, each with a description of its contents."""
    if host.storage is not None:
        yield host.storage, DATA
    for place in host.places:
        yield place.storage, DIRECTORY_CONTENTS.get(place.variable, place.variable)


def is_on_thin_pool(storage: Storage) -> bool:
    """Whether a thin pool of LVM is among the devices: its own free space is not in /sys, and may be less."""
    return any(device.name.endswith((THIN_POOL, "_tdata")) for device in storage.devices)


def kernel_version(host: Host) -> tuple[int, int] | None:
    """The first two numbers of the kernel's version; None if it is unknown."""
    found = re.match(r"([0-9]{1,3})\.([0-9]{1,3})", (host.os.kernel if host.os else None) or "")
    return (int(found[1]), int(found[2])) if found else None


def mount_under(context: RuleContext) -> Mount | None:
    """The mount that holds the data directory; None if storage was not examined."""
    return context.host.storage.mount if context.host.storage else None


def _is_solid_state(disk: BlockDevice, *, virtual: bool) -> bool | None:
    if disk.transport in NEVER_ROTATING or _is_network_volume(disk):
        return None
    if disk.transport == "nvme" or disk.rotational is False:
        return True
    return None if virtual or disk.transport in VIRTUAL or _is_behind_controller(disk) else not disk.rotational


def _is_network_volume(disk: BlockDevice) -> bool:
    return NETWORK_VOLUME.search(disk.model or "") is not None


def _is_behind_controller(disk: BlockDevice) -> bool:
    return CONTROLLER.search(f"{disk.vendor or ''} {disk.model or ''}") is not None


def _is_virtual_machine(host: Host) -> bool:
    hypervisor = host.cpu.hypervisor if host.cpu else None
    return hypervisor is not None and hypervisor.kind not in {"none", ""}
