"""The machine under a server: processors, memory and the server's own process; its storage is in advisor.facts.storage.

Sizes are bytes and names are the kernel's own, unless a docstring says otherwise. None means that the kernel
doesn't report it, never zero.
"""

from typing import Annotated

from msgspec import Struct

from advisor.facts.marks import MOVES, Mark
from advisor.facts.storage import BlockDevice, ServerFiles, ServerPath, Storage


class SkippedPart(Struct, frozen=True):
    """A part of the host that could not be read, and the reason."""

    part: str
    reason: str


class CpuKind(Struct, frozen=True):
    """One kind of processor core; a machine with big and little cores has several.

    Counts are those of `lscpu`: `sockets` and `cores` are what was seen of this kind, `cores_per_socket` and
    `books` may come from the firmware on s390. `max_mhz` is the highest of the kind.
    """

    model_name: Annotated[str | None, Mark(unjudged="shown only")]
    vendor: str | None = None
    family: str | None = None
    model: str | None = None
    stepping: Annotated[str | None, Mark(unjudged="shown only")] = None
    cores: Annotated[int, Mark(unjudged="shown only")] = 0
    sockets: Annotated[int, Mark(unjudged="shown only")] = 0
    threads_per_core: Annotated[int, Mark(unjudged="shown only")] = 0
    cores_per_socket: Annotated[int, Mark(unjudged="shown only")] = 0
    sockets_per_book: Annotated[int | None, Mark(unjudged="shown only")] = None
    books_per_drawer: Annotated[int | None, Mark(unjudged="shown only")] = None
    books: Annotated[int | None, Mark(unjudged="shown only")] = None
    drawers: Annotated[int | None, Mark(unjudged="shown only")] = None
    max_mhz: Annotated[float | None, Mark(unjudged="shown; the governor is judged")] = None


class Cache(Struct, frozen=True):
    """All caches of one name (L1d, L1i, L2, …): how many there are, and what they hold together.

    `size` is one instance, the largest where they differ; `shared_by` is the most processors that share one.
    On s390 shared caches are known only by size: `instances` and `shared_by` are None.
    """

    name: str
    level: int
    size: int
    total: int
    instances: Annotated[int | None, Mark(unjudged="shown only")] = None
    shared_by: Annotated[int | None, Mark(unjudged="shown only")] = None


class NumaNode(Struct, frozen=True):
    """One memory node with its processors; a node without processors is memory only."""

    number: int
    cpus: tuple[int, ...]
    memory: Annotated[int | None, MOVES] = None


class Hypervisor(Struct, frozen=True):
    """The hypervisor: vendor and kind (full, para, container, none) as `lscpu` names them."""

    vendor: str
    kind: str
    name: str | None = None


class Cpu(Struct, frozen=True):
    """The processors: `logical` are present, `online` are those in use, by number.

    `governor` chooses how fast the first of them runs, through `frequency_driver`; guests have neither as a rule.
    """

    logical: Annotated[int, Mark(unjudged="shown; the processors that the server may use are judged")]
    online: Annotated[tuple[int, ...], Mark(unjudged="read through usable_cpus")]
    kinds: Annotated[tuple[CpuKind, ...], Mark(unjudged="shown only")]
    cores: Annotated[int, Mark(unjudged="shown only")]
    sockets: Annotated[int, Mark(unjudged="shown only; memory nodes are judged")]
    architecture: Annotated[str | None, Mark(unjudged="shown only")] = None
    virtualization: Annotated[str | None, Mark(unjudged="shown only")] = None
    hypervisor: Hypervisor | None = None
    caches: Annotated[tuple[Cache, ...], Mark(unjudged="shown, and used by probes of memory")] = ()
    nodes: tuple[NumaNode, ...] = ()
    governor: Annotated[str | None, Mark(row="governor")] = None
    frequency_driver: Annotated[str | None, Mark(row="driver")] = None

    @property
    def model_name(self) -> str | None:
        """The name of the first kind of core; servers have only one kind."""
        return self.kinds[0].model_name if self.kinds else None

    def cache(self, name: str) -> Cache | None:
        """The caches with a name such as L2."""
        return next((c for c in self.caches if c.name == name), None)


class Memory(Struct, frozen=True):
    """Memory, and the kernel's settings of virtual memory.

    `huge_page` is the default huge page; of the free ones `huge_pages_reserved` are promised to processes. `thp` and
    `thp_defrag` are the choice in force (always, madvise, never, …). Of a dirty ratio (percent of available memory) and
    its `…_bytes` twin one is 0.
    """

    total: Annotated[int, MOVES]  # a hypervisor resizes memory and swap
    available: Annotated[int | None, MOVES] = None
    free: Annotated[int | None, MOVES] = None
    swap_total: Annotated[int, MOVES] = 0
    swap_free: Annotated[int, Mark(moves=True, unjudged="shown; the server's own swapped-out memory is judged")] = 0
    huge_page: int | None = None
    huge_pages_total: Annotated[int, MOVES] = 0
    huge_pages_free: Annotated[int, MOVES] = 0
    huge_pages_reserved: Annotated[int | None, MOVES] = None
    anonymous_huge: Annotated[
        int | None, Mark(moves=True, unjudged="shown; what the kernel may do is judged by thp")
    ] = None
    committed: Annotated[int | None, MOVES] = None
    commit_limit: Annotated[int | None, MOVES] = None
    thp: str | None = None
    thp_defrag: Annotated[str | None, Mark(unjudged="deliberate: it counts only where thp is on, which is judged")] = (
        None
    )
    swappiness: int | None = None
    dirty_ratio: int | None = None
    dirty_background_ratio: Annotated[
        int | None, Mark(unjudged="deliberate: the limit at which writers wait is judged (dirty_ratio)")
    ] = None
    dirty_bytes: int | None = None
    dirty_background_bytes: Annotated[
        int | None, Mark(unjudged="deliberate: the limit at which writers wait is judged (dirty_ratio)")
    ] = None
    overcommit_memory: Annotated[int | None, Mark(unjudged="read through strict_commit_limit")] = None
    overcommit_ratio: int | None = None
    zone_reclaim_mode: int | None = None
    numa_balancing: Annotated[
        int | None, Mark(unjudged="deliberate: the kernel does not scan interleaved memory; otherwise it may help")
    ] = None


STRICT = 2  # the value of overcommit_memory with which allocations beyond the commit limit fail
HIDDEN_GROUP = "the control group of the process is not visible from this container"  # a reason in Host.skipped


class IoLimit(Struct, frozen=True):
    """A control group's limits per second for one device (major:minor); None means no limit."""

    number: str
    reads: int | None = None
    writes: int | None = None
    read_bytes: Annotated[
        int | None, Mark(unjudged="deliberate: bytes a second say nothing of pages without the size of the requests")
    ] = None
    write_bytes: Annotated[
        int | None, Mark(unjudged="deliberate: bytes a second say nothing of pages without the size of the requests")
    ] = None


class Cgroup(Struct, frozen=True):
    """The control group of a process, with the smallest limits between it and the root of the hierarchy.

    `version` is the hierarchy that accounts for memory, 1 or 2; `limit_at` and `cpus_at` name the group that
    sets the limit. `high` throttles instead of killing. `cpus` is a share of processor time in processors; of `periods`
    in which the group ran it had used up its share in `throttled`, both since the group was made. `tasks` is how many
    threads it may have. A group of version 1 has a `swappiness` of its own. None is "no limit" for limits
    and "unknown" for the rest.
    """

    version: int
    path: str
    limit: int | None = None
    limit_at: Annotated[str | None, Mark(unjudged="shown: which group sets the limit")] = None
    high: int | None = None
    swap_limit: Annotated[int | None, Mark(unjudged="shown; swapped-out memory itself is judged")] = None
    usage: Annotated[
        int | None, Mark(moves=True, unjudged="shown; it contains cached files, and the process's own memory is judged")
    ] = None
    oom_kills: Annotated[int | None, MOVES] = None
    cpus: float | None = None
    cpus_at: Annotated[str | None, Mark(unjudged="shown: which group sets the limit")] = None
    periods: Annotated[int | None, MOVES] = None
    throttled: Annotated[int | None, MOVES] = None
    tasks: Annotated[int | None, Mark(row="thread limit")] = None
    swappiness: int | None = None
    io: tuple[IoLimit, ...] = ()


# The names under which servers run.
SERVER_PROGRAMS = frozenset({"mysqld", "mariadbd", "mysqld-debug", "mariadbd-debug", "mysqld-bin"})


class Limit(Struct, frozen=True):
    """A resource limit of a process by its ulimit name (nofile, memlock, …); None is unlimited."""

    name: str
    soft: int | None
    hard: Annotated[
        int | None, Mark(unjudged="shown; the soft limit counts, and the server has already raised it as far as it can")
    ]


class Process(Struct, frozen=True):
    """The server's process: memory in bytes, the `cpus` that it may run on, and its malloc library.

    `allocator` is jemalloc, tcmalloc, mimalloc, glibc or musl as far as loaded libraries show, not one linked in
    statically. `resident` leaves out `huge_pages`, the bytes in reserved ones, and includes `mapped_files`, which the
    kernel can write out and take back. `policy` is the scheduler's class (other, batch, idle, fifo, …), `nice` from
    -20, the most urgent, to 19. `thp`: whether the kernel may give it transparent huge pages. `memory_policy` says from
    which nodes it takes pages (interleave:0-1, bind:0, prefer:1, …), `memory_nodes` which ones it may use.
    """

    pid: int
    name: str
    executable: Annotated[str | None, Mark(unjudged="shown only")] = None
    cwd: Annotated[str | None, Mark(unjudged="used to find the data directory")] = None
    uid: int | None = None
    resident: Annotated[int | None, MOVES] = None
    peak_resident: Annotated[int | None, MOVES] = None
    swapped: Annotated[int | None, MOVES] = None
    threads: Annotated[int | None, Mark(unjudged="shown; connections are judged")] = None
    cpus: tuple[int, ...] = ()
    memory_nodes: tuple[int, ...] = ()
    oom_score_adj: int | None = None
    allocator: Annotated[
        str | None, Mark(unjudged="deliberate: measurements of allocators differ by workload (MALLOC-03)")
    ] = None
    limits: Annotated[tuple[Limit, ...], Mark(unjudged="read through limit()")] = ()
    huge_pages: int | None = None
    nice: int | None = None
    policy: Annotated[str | None, Mark(row="scheduler")] = None
    thp: bool | None = None
    memory_policy: Annotated[str | None, Mark(row="memory policy")] = None
    mapped_files: Annotated[int | None, MOVES] = None

    def limit(self, name: str) -> Limit | None:
        """The limit with this ulimit name."""
        return next((limit for limit in self.limits if limit.name == name), None)


class OperatingSystem(Struct, frozen=True):
    """Distribution, kernel, and signs of a container or a cloud.

    `time` is seconds since 1970 on the host's clock, `uptime` since boot, `product` is the machine by its firmware.
    """

    kernel: str | None = None
    hostname: Annotated[str | None, Mark(unjudged="shown only")] = None
    distribution: Annotated[str | None, Mark(unjudged="shown only")] = None
    distribution_id: Annotated[str | None, Mark(unjudged="shown only")] = None
    version: str | None = None
    time: Annotated[int | None, MOVES] = None
    uptime: Annotated[int | None, MOVES] = None
    clocksource: str | None = None
    product: Annotated[str | None, Mark(unjudged="shown only")] = None
    cloud: Annotated[str | None, Mark(unjudged="shown only")] = None
    containers: tuple[str, ...] = ()
    aio_max: int | None = None
    aio_used: Annotated[int | None, MOVES] = None
    open_files_max: Annotated[
        int | None, Mark(unjudged="deliberate: the default grows with memory; the server's own limit is judged")
    ] = None
    listen_backlog_max: int | None = None


class Host(Struct, frozen=True):
    """All that was read of one machine; each part that is None is in `skipped` with its reason.

    `places` are the server's other directories that lie on another mount than the data directory, each mount once.
    `files` is None where the server's files could not be listed, which takes its account or root.
    """

    cpu: Cpu | None = None
    memory: Memory | None = None
    cgroup: Cgroup | None = None
    devices: tuple[BlockDevice, ...] = ()
    storage: Storage | None = None
    process: Process | None = None
    os: OperatingSystem | None = None
    skipped: Annotated[tuple[SkippedPart, ...], Mark(unjudged="reported as parts that were not read")] = ()
    places: tuple[ServerPath, ...] = ()
    files: tuple[ServerFiles, ...] | None = None

    @property
    def memory_limits(self) -> dict[str, int]:
        """Bytes that the server may use, by what limits them; a group is throttled above its `high`."""
        memory, group, process = self.memory, self.cgroup, self.process
        space = process.limit("as") if process else None
        limits = {
            "the kernel's commit limit": None if memory and memory.huge_pages_total else self.strict_commit_limit,
            "memory": memory and memory.total - self.unusable_huge_pages,
            "the control group": min(filter(None, (group.limit, group.high)), default=None) if group else None,
            "its NUMA nodes": self.node_memory,
            "its address space": space and space.soft,
        }
        return {what: size for what, size in limits.items() if size}

    @property
    def usable_memory(self) -> int | None:
        """The memory that the server may use: the smallest of its limits."""
        return min(self.memory_limits.values(), default=None)

    @property
    def node_memory(self) -> int | None:
        """Bytes of the memory nodes to which the server's process is bound; None if it may use all nodes."""
        nodes = [node for node in (self.cpu.nodes if self.cpu else ()) if node.memory]
        own = [node.memory or 0 for node in nodes if self.process and node.number in self.process.memory_nodes]
        return sum(own) if 0 < len(own) < len(nodes) else None

    @property
    def unusable_huge_pages(self) -> int:
        """Bytes of huge pages on a host whose server is known to use none; 0 if that is unknown."""
        memory, unused = self.memory, self.process is not None and self.process.huge_pages == 0
        return min(memory.huge_pages_total * (memory.huge_page or 0), memory.total) if memory and unused else 0

    @property
    def strict_commit_limit(self) -> int | None:
        """Bytes that all processes together can allocate; None if the kernel does not enforce it."""
        return self.memory.commit_limit if self.memory and self.memory.overcommit_memory == STRICT else None

    @property
    def usable_cpus(self) -> float | None:
        """Processors that the server may use: online, in its affinity, and within its control group's quota."""
        cpu, process, group = self.cpu, self.process, self.cgroup
        counts = (cpu and len(cpu.online), process and len(process.cpus), group and group.cpus)
        return min([count for count in counts if count], default=None)
