"""The facts of the host as rows of label and text, and the storage stack as a tree."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import format_size
from advisor.facts.marks import marks_of
from advisor.report import plural
from advisor.report.audit import fact_lines
from advisor.tui.text import bar, format_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from msgspec import Struct

    from advisor.analysis.audited import AuditResult
    from advisor.facts import Host, Server
    from advisor.facts.host import Cache, Cgroup, Cpu, CpuKind, Limit, Memory, OperatingSystem, Process
    from advisor.facts.marks import Mark
    from advisor.facts.storage import BlockDevice, Storage, Stripe


MOST = 200  # lines; a disk shelf needs about 20
STRIPE_SOURCES = {"md": "from the array's geometry", "queue": "from the device's optimal I/O size"}


class StorageStep(NamedTuple):
    """One line of the tree: the prefix of its first line, of further lines, and its text."""

    lead: str
    below: str
    text: str


def storage_tree(storage: Storage) -> list[StorageStep]:
    """The directory, its mount, and each device below the one that uses it."""
    indent, steps = "", [StorageStep("", "", storage.path or "the data directory")]
    if storage.mount.point:
        indent = "   "
        steps.append(StorageStep("└─ ", indent, _describe_mount(storage)))
    carried = {name for device in storage.devices for name in device.under}
    tops = [device for device in storage.devices if device.kernel_name not in carried]
    return steps + list(islice(_branches(tops, storage, indent, set()), MOST))


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


Rows = list[tuple[str, str]]  # names and texts, in order; a row with an empty text is left out

# Limits that affect servers: the ulimit name, its label, and whether it counts bytes.
LIMITS = (
    ("nofile", "open files", False),
    ("nproc", "processes", False),
    ("memlock", "locked memory", True),
    ("as", "address space", True),
    ("data", "data segment", True),
    ("fsize", "file size", True),
    ("core", "core file", True),
)
LARGE = 1 << 60  # bytes or counts from here on mean: no limit set


def process_rows(process: Process) -> Rows:
    """The server process and its memory."""
    swapped = f", {format_size(process.swapped)} swapped out" if process.swapped else ""
    peak = f", peak {format_size(process.peak_resident)}" if process.peak_resident else ""
    account = "" if process.uid is None else f", uid {process.uid}"
    return [
        ("process", f"{process.pid} {process.executable or process.name}{account}"),
        ("resident", f"{format_size(process.resident)}{peak}{swapped}" if process.resident else ""),
        ("threads", "" if process.threads is None else f"{process.threads:,}"),
        ("processors", format_ranges(process.cpus)),
        ("allocator", process.allocator or ""),
        ("OOM score", "" if process.oom_score_adj is None else f"oom_score_adj {process.oom_score_adj}"),
        *_marked_rows(process),
    ]


def _marked_rows(part: Struct | None) -> Rows:
    """The facts of a part of the host that are shown as they are: those whose mark has a label."""
    marks = {} if part is None else marks_of(type(part))
    return [(mark.row, _plain_text(getattr(part, name), mark)) for name, mark in marks.items() if mark.row]


def _plain_text(value: object, mark: Mark) -> str:
    """A value as it is shown without a row of its own; empty if it is unknown."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return format_size(value) if mark.size else f"{value:,}"
    return "" if value is None else str(value)


def limit_rows(process: Process, server: Server) -> Rows:
    """The resource limits of the process, and the server's open_files_limit."""
    if not process.limits:
        return [("", f"not known: /proc/{process.pid}/limits cannot be read")]
    own = server.variables.get("open_files_limit", "")
    rows = [(words, _limit(limit, size)) for name, words, size in LIMITS if (limit := process.limit(name)) is not None]
    return [*rows, ("server uses", f"open_files_limit {own}" if own else "")]


def _limit(limit: Limit, size: bool) -> str:
    soft = _amount(limit.soft, size)
    return soft if limit.hard == limit.soft else f"{soft}, hard limit {_amount(limit.hard, size)}"


def _amount(count: int | None, size: bool) -> str:
    if count is None or count >= LARGE:
        return "unlimited"
    return format_size(count) if size else f"{count:,}"


def cgroup_rows(cgroup: Cgroup) -> Rows:
    """The limits of the server's control group, its use and its OOM kills."""
    at, cpus_at = (f" (set at {place})" if place else "" for place in (cgroup.limit_at, cgroup.cpus_at))
    return [
        ("group", f"{cgroup.path}, version {cgroup.version}"),
        ("memory", f"at most {format_size(cgroup.limit)}{at}" if cgroup.limit else "no limit"),
        ("throttled", f"above {format_size(cgroup.high)}" if cgroup.high else ""),
        ("swap", "" if cgroup.swap_limit is None else f"at most {format_size(cgroup.swap_limit)}"),
        ("in use", "" if cgroup.usage is None else format_size(cgroup.usage)),
        (
            "OOM kills",
            f"{cgroup.oom_kills:,}: processes of the group killed by the OOM killer" if cgroup.oom_kills else "",
        ),
        ("processors", "all" if cgroup.cpus is None else f"CPU quota of {cgroup.cpus:g} processors{cpus_at}"),
        *_marked_rows(cgroup),
    ]


def kernel_rows(host: Host, server: Server) -> Rows:
    """Kernel settings for memory, and limits for files, I/O and connections."""
    return [
        *(_memory_settings(host.memory) if host.memory else []),
        *(_kernel_limits(host.os, server) if host.os else []),
        *_marked_rows(host.memory),
        *_marked_rows(host.os),
    ]


def _memory_settings(memory: Memory) -> Rows:
    settings = {
        "swappiness": memory.swappiness,
        "huge pages": memory.thp and f"transparent: {memory.thp}, defrag {memory.thp_defrag or 'unknown'}",
        "dirty pages": _dirty(memory),
        "overcommit": memory.overcommit_memory is not None and _overcommit(memory),
        "zone reclaim": memory.zone_reclaim_mode,
        "balancing": memory.numa_balancing is not None and f"numa_balancing {memory.numa_balancing}",
    }
    return [(name, str(value)) for name, value in settings.items() if value not in (None, False, "")]


def _dirty(memory: Memory) -> str:
    """The thresholds for background writeback and for blocking writers."""
    first = _share(memory.dirty_background_bytes, memory.dirty_background_ratio)
    later = _share(memory.dirty_bytes, memory.dirty_ratio)
    return f"written back above {first or '?'}, writers blocked above {later}" if later else ""


def _share(size: int | None, ratio: int | None) -> str:
    return format_size(size) if size else "" if ratio is None else f"{ratio} %"


def _overcommit(memory: Memory) -> str:
    how = {0: "heuristic", 1: "always", 2: f"never, {memory.overcommit_ratio} % of memory"}
    meaning = how.get(memory.overcommit_memory or 0, "")
    promised = f"; {format_size(memory.committed)} committed so far" if memory.committed else ""
    return f"{memory.overcommit_memory} ({meaning}){promised}"


def _kernel_limits(system: OperatingSystem, server: Server) -> Rows:
    backlog = server.variables.get("back_log", "")
    asked = f", back_log is {backlog}" if backlog else ""
    aio = f"{system.aio_used or 0:,} of {system.aio_max:,} requests in use" if system.aio_max else ""
    return [
        ("native AIO", aio),
        ("files, total", "" if system.open_files_max is None else _amount(system.open_files_max, size=False)),
        ("backlog", "" if system.listen_backlog_max is None else f"{system.listen_backlog_max:,} connections{asked}"),
    ]


NODE_CELLS = 10


def processor_rows(host: Host | None) -> Rows:
    """Model, topology and caches, and the processors that the server may use."""
    cpu = host.cpu if host else None
    if host is None or cpu is None:
        return []
    under, usable = cpu.hypervisor, host.usable_cpus
    return [
        ("model", "; ".join(_kind(kind, several=len(cpu.kinds) > 1) for kind in cpu.kinds if kind.model_name)),
        ("topology", _topology(cpu)),
        ("for the server", "" if usable in (None, len(cpu.online)) else f"{usable:g} of {len(cpu.online)}"),
        ("hypervisor", f"{under.vendor}, {under.kind} virtualization" if under and under.vendor else ""),
        *((cache.name, _cache(cache)) for cache in cpu.caches),
        *_marked_rows(cpu),
    ]


def _kind(kind: CpuKind, *, several: bool) -> str:
    cores = f", {plural(kind.cores, 'core')}" if several else ""
    return f"{kind.model_name}{cores}" + (f", up to {kind.max_mhz:,.0f} MHz" if kind.max_mhz else "")


def _topology(cpu: Cpu) -> str:
    threads = max((kind.threads_per_core for kind in cpu.kinds), default=0)
    parts = [plural(cpu.sockets, "socket") if cpu.sockets else "", plural(cpu.cores, "core")]
    parts += [f"{plural(threads, 'thread')} per core" if threads else ""]
    online = "" if len(cpu.online) == cpu.logical else f", {len(cpu.online):,} of them online"
    made_of = ", ".join(part for part in parts if part)
    kind = f", {cpu.architecture}" if cpu.architecture else ""
    return f"{made_of}: {plural(cpu.logical, 'processor')}{online}{kind}"


def _cache(cache: Cache) -> str:
    """Count and size of a cache, the processors that share it, and the total if sizes differ."""
    if cache.instances is None:
        return f"{format_size(cache.total)} in all"
    shared = "" if cache.shared_by is None else f", each for {plural(cache.shared_by, 'processor')}"
    differ = "" if cache.total == cache.size * cache.instances else f" at most; {format_size(cache.total)} in all"
    return f"{cache.instances:,} of {format_size(cache.size)}{differ}{shared}"


def numa_rows(audited: AuditResult) -> Rows:
    """The NUMA nodes with their processors, and the server's use of them."""
    host, known = audited.facts.host, audited.context
    cpu = host.cpu if host else None
    if host is None or cpu is None or not cpu.nodes:
        return [("", "the kernel reports no NUMA nodes")] if cpu else []
    most = max(node.memory or 0 for node in cpu.nodes)
    rows: Rows = []
    for node in cpu.nodes:
        memory = f"{bar(node.memory, most, NODE_CELLS)} {format_size(node.memory)}, " if node.memory else ""
        whose = f"processors {format_ranges(node.cpus)}" if node.cpus else "memory only"
        rows.append((f"node {node.number}", memory + whose))
    if len(cpu.nodes) == 1:
        return [*rows, ("", "single NUMA node")]
    memory_nodes = host.process.memory_nodes if host.process else ()
    return [
        *rows,
        ("server's", f"memory from nodes {format_ranges(memory_nodes)}" if memory_nodes else ""),
        ("interleave", f"innodb_numa_interleave {known.text('innodb_numa_interleave') or 'unknown to this server'}"),
    ]
