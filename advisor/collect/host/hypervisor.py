"""Detect the hypervisor from files; unlike `lscpu`, Python cannot query the processor itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.host.formats import printable_line, read_line
from advisor.facts.host import Hypervisor

if TYPE_CHECKING:
    from advisor.collect.host.cpuinfo import CoreKind
    from advisor.collect.host.root import Root

_CLOCKS = (("kvm-clock", "KVM"), ("hyperv_clocksource", "Microsoft"), ("xen", "Xen"))
"""Clock sources that exist only in guests of that hypervisor."""
_FIRMWARE = (
    ("VMware", "VMware"), ("innotek GmbH", "Oracle"), ("Microsoft Corporation", "Microsoft"), ("Xen", "Xen"),
    ("Parallels", "Parallels"), ("QEMU", "KVM"), ("Amazon EC2", "KVM"), ("Google", "KVM"), ("Alibaba Cloud", "KVM"),
    ("DigitalOcean", "KVM"), ("Hetzner", "KVM"), ("OpenStack", "KVM"),
)  # fmt: skip
_CARDS = {"58530001": "Xen", "15ad0710": "VMware", "80eebeef": "Oracle"}
"""PCI devices (vendor and device) that exist only in guests: lscpu's list."""

_XEN_PV, _XEN_PVH = 1 << 5, 1 << 3 | 1 << 8
"""XENFEAT_mmu_pt_update_preserve_ad; XENFEAT_supervisor_mode_kernel with XENFEAT_hvm_callback_vector."""


def read_hypervisor(root: Root, kind: CoreKind) -> Hypervisor | None:
    """The hypervisor or container; None on bare metal, or if no file identifies it."""
    if "Microsoft" in (root.read("/proc/sys/kernel/osrelease", 256) or ""):
        return Hypervisor("Windows Subsystem for Linux", "container")
    return (
        _from_clock_or_firmware(root, kind)
        or _power_hypervisor(root)
        or _xen_guest(root)
        or _from_pci(root)
        or _s390_hypervisor(root)
        or _virtuozzo(root)
        or (Hypervisor("unknown", "full") if "hypervisor" in kind.flags else None)
    )


def _from_clock_or_firmware(root: Root, kind: CoreKind) -> Hypervisor | None:
    clocks = read_line(root, "/sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    vendor = next((name for clock, name in _CLOCKS if clock in clocks), None)
    if vendor is None and ("hypervisor" in kind.flags or kind.get("architecture") == "8"):
        maker = read_line(root, "/sys/class/dmi/id/sys_vendor") or ""
        product = read_line(root, "/sys/class/dmi/id/product_name") or ""
        # Cloud providers rent bare-metal machines under the same manufacturer name.
        vendor = next((name for sign, name in _FIRMWARE if sign in maker and "metal" not in product), None)
    if vendor is None:
        return None
    return Hypervisor(vendor, "para" if vendor == "Xen" and _is_paravirtual(root) else "full")


def _is_paravirtual(root: Root) -> bool:
    """Whether Xen's feature bits are those of a PV or PVH guest."""
    found = re.fullmatch(r"(?:0x)?([0-9a-fA-F]{1,8})", read_line(root, "/sys/hypervisor/properties/features") or "")
    bits = int(found[1], 16) if found else 0
    return bool(bits & _XEN_PV) or bits & _XEN_PVH == _XEN_PVH


def _power_hypervisor(root: Root) -> Hypervisor | None:
    tree = "/proc/device-tree"
    kinds = (root.read(f"{tree}/compatible") or "").split("\0")
    if root.real("/proc/iSeries"):
        return Hypervisor("OS/400", "para")
    if "ibm,powernv" in kinds:
        return None
    partition = root.read(f"{tree}/ibm,partition-name")
    managed, emulated = root.real(f"{tree}/hmc-managed?"), root.real(f"{tree}/chosen/qemu,graphic-width")
    if partition is not None and managed and not emulated:
        return Hypervisor("pHyp", "none" if printable_line(partition) == "full" else "para")
    return Hypervisor("KVM", "para") if "qemu,pseries" in kinds else None


def _xen_guest(root: Root) -> Hypervisor | None:
    if not root.real("/proc/xen"):
        return None
    owner = read_line(root, "/proc/xen/capabilities") == "control_d"
    return Hypervisor("Xen", "none" if owner else "para")


def _from_pci(root: Root) -> Hypervisor | None:
    for line in (root.read("/proc/bus/pci/devices") or "").split("\n"):
        fields = line.split("\t")
        if fields[1:2] and fields[1] in _CARDS:
            return Hypervisor(_CARDS[fields[1]], "full")
    return None


def _s390_hypervisor(root: Root) -> Hypervisor | None:
    text = root.read("/proc/sysinfo")
    if text is None:
        return None
    found = re.search(r"Control Program:([^\n]*)", text)
    program = " ".join((printable_line(found[1]) or "").split()) if found else None
    return Hypervisor("KVM" if program and "KVM" in program else "IBM", "full", program or "PR/SM")


def _virtuozzo(root: Root) -> Hypervisor | None:
    return Hypervisor("Parallels", "container") if root.real("/proc/vz") and not root.real("/proc/bc") else None
