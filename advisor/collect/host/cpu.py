"""The processors, counted as `lscpu` counts them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.host import arm_parts, cpuinfo
from advisor.collect.host.caches import read_caches
from advisor.collect.host.formats import cpu_list, cpu_mask, parse_number, parse_size, read_line, read_number
from advisor.collect.host.hypervisor import read_hypervisor
from advisor.facts.host import Cpu, CpuKind, NumaNode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.collect.host.cpuinfo import CoreKind
    from advisor.collect.host.root import Root


SYS_CPU = "/sys/devices/system/cpu"
_EXTENSIONS = (("svm", "AMD-V"), ("vmx", "VT-x"))


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
        model_name=arm_parts.core_name(vendor, part) or kind.get("name"),
        vendor=arm_parts.vendor_name(vendor) or vendor,
        family=kind.get("family"),
        model=revision or part,
        stepping=arm_parts.stepping_name(vendor, kind.get("stepping"), revision),
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
