"""The processors, counted as `lscpu` counts them, their caches, and the hypervisor under them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.host import cpuinfo
from advisor.collect.host.root import (
    cpu_list,
    cpu_mask,
    parse_number,
    parse_size,
    printable_line,
    read_line,
    read_number,
)
from advisor.facts.host import Cache, Cpu, CpuKind, Hypervisor, NumaNode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.collect.host.cpuinfo import CoreKind, SharedCache
    from advisor.collect.host.root import Root


SYS_CPU = "/sys/devices/system/cpu"
_EXTENSIONS = (("svm", "AMD-V"), ("vmx", "VT-x"))
_LETTER = {"Data": "d", "Instruction": "i"}
_SPARC = (("l1_i", "L1i", 1), ("l1_d", "L1d", 1), ("l2_", "L2", 2))
_MAX_INDEX = 64
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


class Siblings(NamedTuple):
    """The processors that share a core, socket, book and drawer with one processor; empty if unknown."""

    cpu: int
    core: frozenset[int]
    socket: frozenset[int]
    book: frozenset[int]
    drawer: frozenset[int]


class Firmware(NamedTuple):
    """The machine's topology from s390's firmware, because a guest's own view is virtual and irregular."""

    drawers: int
    books_per_drawer: int
    sockets_per_book: int
    cores_per_socket: int


def read_cpu(root: Root) -> Cpu | None:
    """Count the processors; None if the root has no data about them."""
    online = cpu_list(root.read(f"{SYS_CPU}/online"))
    present = cpu_list(root.read(f"{SYS_CPU}/present")) or online
    possible = cpu_list(root.read(f"{SYS_CPU}/possible")) or present
    if not possible:
        return None
    info = cpuinfo.parse(root.read("/proc/cpuinfo") or "")
    kinds = info.kinds or (cpuinfo.CoreKind({}),)
    running = _online_cpus(root, possible)
    firmware = _firmware(root)
    return Cpu(
        logical=len(present or possible),
        online=online,
        kinds=tuple(
            _kind(root, kind, [s for s in running if info.kind_index(s.cpu) == index], firmware)
            for index, kind in enumerate(kinds)
        ),
        cores=_count(s.core for s in running),
        sockets=_count(s.socket for s in running),
        architecture=read_architecture(root, kinds[0]),
        virtualization=next((name for flag, name in _EXTENSIONS if flag in kinds[0].flags), None),
        hypervisor=read_hypervisor(root, kinds[0]),
        caches=read_caches(root, possible, info.caches),
        nodes=read_nodes(root),
        governor=_frequency(root, running, "governor"),
        frequency_driver=_frequency(root, running, "driver"),
    )


def _frequency(root: Root, running: list[Siblings], what: str) -> str | None:
    """The frequency setting of the first processor; the kernel sets all processors alike at boot."""
    return read_line(root, f"{SYS_CPU}/cpu{running[0].cpu}/cpufreq/scaling_{what}") if running else None


def _online_cpus(root: Root, possible: tuple[int, ...]) -> list[Siblings]:
    """The processors with a topology; one that is going offline still has outdated data and is left out."""
    states = re.search(r"([0-9]{1,9}): online", root.read(f"{SYS_CPU}/hotplug/states") or "")
    final = parse_number(states[1]) if states else None
    running: list[Siblings] = []
    for cpu in possible:
        base = f"{SYS_CPU}/cpu{cpu}"
        core = root.read(f"{base}/topology/thread_siblings")
        state = read_number(root, f"{base}/hotplug/state") if final else None
        if core is None or (state is not None and state != final):
            continue
        wider = [cpu_mask(root.read(f"{base}/topology/{name}_siblings")) for name in ("core", "book", "drawer")]
        running.append(Siblings(cpu, cpu_mask(core), *wider))
    return running


def _count(maps: Iterable[frozenset[int]]) -> int:
    """The number of groups in the maps; one that overlaps an earlier one is the same group."""
    seen: set[int] = set()
    groups = 0
    for cpus in maps:
        if cpus and seen.isdisjoint(cpus):
            groups += 1
            seen |= cpus
    return groups


def _kind(root: Root, kind: cpuinfo.CoreKind, running: list[Siblings], firmware: Firmware | None) -> CpuKind:
    cores, sockets = _count(s.core for s in running), _count(s.socket for s in running)
    books, drawers = _count(s.book for s in running), _count(s.drawer for s in running)
    per = firmware or Firmware(drawers, _ratio(books, drawers), _ratio(sockets, books), _ratio(cores, sockets))
    vendor, part, revision = kind.get("vendor"), kind.get("model"), kind.get("revision")
    last_thread = parse_number(kind.get("last_thread"))
    threads = max((len(s.core) or 1 for s in running), default=0)
    speeds = [read_number(root, f"{SYS_CPU}/cpu{s.cpu}/cpufreq/cpuinfo_max_freq") for s in running]
    return CpuKind(
        model_name=cpuinfo.core_name(vendor, part) or kind.get("name"),
        vendor=cpuinfo.vendor_name(vendor) or vendor,
        family=kind.get("family"),
        model=revision or part,
        stepping=cpuinfo.stepping_name(vendor, kind.get("stepping"), revision),
        cores=cores,
        sockets=sockets if books else per.sockets_per_book or sockets,
        threads_per_core=threads if last_thread is None else last_thread + 1,
        cores_per_socket=per.cores_per_socket,
        sockets_per_book=per.sockets_per_book if books else None,
        books_per_drawer=per.books_per_drawer if books and (per.drawers or drawers) else None,
        books=(per.books_per_drawer or books) if books and not (per.drawers or drawers) else None,
        drawers=(per.drawers or drawers) if books and (per.drawers or drawers) else None,
        max_mhz=max((speed / 1000 for speed in speeds if speed), default=None),
    )


def _ratio(inner: int, outer: int) -> int:
    return inner // outer if outer else 0


def _firmware(root: Root) -> Firmware | None:
    """From the line `CPU Topology SW: 0 0 4 2 3 8` in s390's /proc/sysinfo; the first two levels are reserved."""
    text = root.read("/proc/sysinfo") or ""
    found = re.search(r"^CPU Topology SW:" + r"\s+([0-9]{1,9})" * 6, text, re.MULTILINE)
    return Firmware(*(int(found[i]) for i in range(3, 7))) if found else None


def read_architecture(root: Root, kind: CoreKind) -> str | None:
    """The architecture: from the live machine, the kernel's files (6.1 and later), or the CPU features."""
    return root.machine() or read_line(root, "/proc/sys/kernel/arch") or _infer_architecture(root, kind)


def _infer_architecture(root: Root, kind: CoreKind) -> str | None:
    isa, arm = kind.get("isa") or "", kind.get("architecture")
    power = {"little": "ppc64le", "big": "ppc64"}.get(read_line(root, "/sys/kernel/cpu_byteorder") or "")
    signs = (
        ("lm" in kind.flags, "x86_64"),
        ("zarch" in kind.flags, "s390x"),
        (bool(kind.flags & {"sun4u", "sun4v"}), "sparc64"),
        ("loongarch64" in isa.split(), "loongarch64"),
        (isa.startswith("rv64"), "riscv64"),
        ((kind.get("name") or "").startswith("POWER"), power),
        (arm == "8", "aarch64"),
        (arm == "7", "armv7l"),
    )
    return next((name for holds, name in signs if holds), None)


_NODES = "/sys/devices/system/node"


def read_nodes(root: Root) -> tuple[NumaNode, ...]:
    """The NUMA nodes by number; empty on a kernel without NUMA."""
    numbers = sorted(int(name[4:]) for name in root.names(_NODES) if re.fullmatch(r"node[0-9]{1,9}", name))
    return tuple(NumaNode(n, _cpus(root, f"{_NODES}/node{n}"), _memory(root, f"{_NODES}/node{n}")) for n in numbers)


def _cpus(root: Root, node: str) -> tuple[int, ...]:
    return tuple(sorted(cpu_mask(root.read(f"{node}/cpumap")))) or cpu_list(root.read(f"{node}/cpulist"))


def _memory(root: Root, node: str) -> int | None:
    found = re.search(r"MemTotal:\s*([0-9]+ kB)", root.read(f"{node}/meminfo") or "")
    return parse_size(found[1]) if found else None


class CacheInstance(NamedTuple):
    """A cache instance: name, level, size, and the processors that share it."""

    name: str
    level: int
    size: int
    shared: frozenset[int]


def read_caches(root: Root, cpus: tuple[int, ...], elsewhere: tuple[SharedCache, ...]) -> tuple[Cache, ...]:
    """The caches by name; `elsewhere` are those found only in /proc/cpuinfo. Caches of unknown size are left out."""
    instances: dict[tuple[str, int], CacheInstance] = {}
    for cpu in cpus:
        for instance, key in (*_cpu_caches(root, cpu, instances), *_sparc_caches(root, cpu)):
            instances.setdefault((instance.name, key), instance)
    names = sorted({name for name, _ in instances})
    summed = [_sum([i for i in instances.values() if i.name == name]) for name in names]
    unsummed = [Cache(name=c.name, level=c.level, size=c.size, total=c.size) for c in elsewhere if c.name not in names]
    return tuple(cache for cache in (*summed, *unsummed) if cache.total)


def _sum(instances: list[CacheInstance]) -> Cache:
    return Cache(
        name=instances[0].name,
        level=instances[0].level,
        size=max(i.size for i in instances),
        total=sum(i.size for i in instances),
        instances=len(instances),
        shared_by=max(len(i.shared) for i in instances) or None,
    )


def _cpu_caches(
    root: Root, cpu: int, known: dict[tuple[str, int], CacheInstance]
) -> Iterable[tuple[CacheInstance, int]]:
    """The caches of one processor, each with a number that distinguishes it from others with its name."""
    for index in range(_MAX_INDEX):
        base = f"/sys/devices/system/cpu/cpu{cpu}/cache/index{index}"
        if root.real(base) is None:
            return
        level, kind = read_number(root, f"{base}/level"), read_line(root, f"{base}/type")
        if level is None or kind is None:
            continue
        name = f"L{level}{_LETTER.get(kind, '')}"
        key = read_number(root, f"{base}/id")
        if key is None or not 0 <= key < 1 << 31:
            key = _position(name, cpu, known)
        if (name, key) not in known:
            shared = cpu_mask(root.read(f"{base}/shared_cpu_map"))
            yield CacheInstance(name, level, parse_size(root.read(f"{base}/size", 64)) or 0, shared), key


def _position(name: str, cpu: int, known: dict[tuple[str, int], CacheInstance]) -> int:
    """The number of a cache on kernels before 4.10, which do not number caches.

    It is the number of the instance that lists this processor, or of a new one.
    """
    same = [instance for (other, _), instance in known.items() if other == name]
    return next((i for i, instance in enumerate(same) if cpu in instance.shared), len(same))


def _sparc_caches(root: Root, cpu: int) -> Iterable[tuple[CacheInstance, int]]:
    """The caches on sparc64, which has one file per size, and caches that are private to each processor."""
    for prefix, name, level in _SPARC:
        held = read_number(root, f"/sys/devices/system/cpu/cpu{cpu}/{prefix}cache_size")
        if held is not None:
            yield CacheInstance(name, level, held, frozenset({cpu})), cpu


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
