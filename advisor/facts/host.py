"""The machine under a server: processors, memory and the server's own process; its storage is in advisor.facts.storage.

Sizes are bytes and names are the kernel's own, unless a docstring says otherwise. None means that the kernel
doesn't report it, never zero.
"""

from msgspec import Struct

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

    model_name: str | None
    vendor: str | None = None
    family: str | None = None
    model: str | None = None
    stepping: str | None = None
    cores: int = 0
    sockets: int = 0
    threads_per_core: int = 0
    cores_per_socket: int = 0
    sockets_per_book: int | None = None
    books_per_drawer: int | None = None
    books: int | None = None
    drawers: int | None = None
    max_mhz: float | None = None


class Cache(Struct, frozen=True):
    """All caches of one name (L1d, L1i, L2, …): how many there are, and what they hold together.

    `size` is one instance, the largest where they differ; `shared_by` is the most processors that share one.
    On s390 shared caches are known only by size: `instances` and `shared_by` are None.
    """

    name: str
    level: int
    size: int
    total: int
    instances: int | None = None
    shared_by: int | None = None


class NumaNode(Struct, frozen=True):
    """One memory node with its processors; a node without processors is memory only."""

    number: int
    cpus: tuple[int, ...]
    memory: int | None = None


class Hypervisor(Struct, frozen=True):
    """The hypervisor: vendor and kind (full, para, container, none) as `lscpu` names them."""

    vendor: str
    kind: str
    name: str | None = None


class Cpu(Struct, frozen=True):
    """The processors: `logical` are present, `online` are those in use, by number.

    `governor` chooses how fast the first of them runs, through `frequency_driver`; guests have neither as a rule.
    """

    logical: int
    online: tuple[int, ...]
    kinds: tuple[CpuKind, ...]
    cores: int
    sockets: int
    architecture: str | None = None
    virtualization: str | None = None
    hypervisor: Hypervisor | None = None
    caches: tuple[Cache, ...] = ()
    nodes: tuple[NumaNode, ...] = ()
    governor: str | None = None
    frequency_driver: str | None = None

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

    total: int
    available: int | None = None
    free: int | None = None
    swap_total: int = 0
    swap_free: int = 0
    huge_page: int | None = None
    huge_pages_total: int = 0
    huge_pages_free: int = 0
    huge_pages_reserved: int | None = None
    anonymous_huge: int | None = None
    committed: int | None = None
    commit_limit: int | None = None
    thp: str | None = None
    thp_defrag: str | None = None
    swappiness: int | None = None
    dirty_ratio: int | None = None
    dirty_background_ratio: int | None = None
    dirty_bytes: int | None = None
    dirty_background_bytes: int | None = None
    overcommit_memory: int | None = None
    overcommit_ratio: int | None = None
    zone_reclaim_mode: int | None = None
    numa_balancing: int | None = None


STRICT = 2  # the value of overcommit_memory with which allocations beyond the commit limit fail
HIDDEN_GROUP = "the control group of the process is not visible from this container"  # a reason in Host.skipped


class IoLimit(Struct, frozen=True):
    """A control group's limits per second for one device (major:minor); None means no limit."""

    number: str
    reads: int | None = None
    writes: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None


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
    limit_at: str | None = None
    high: int | None = None
    swap_limit: int | None = None
    usage: int | None = None
    oom_kills: int | None = None
    cpus: float | None = None
    cpus_at: str | None = None
    periods: int | None = None
    throttled: int | None = None
    tasks: int | None = None
    swappiness: int | None = None
    io: tuple[IoLimit, ...] = ()


# The names under which servers run.
SERVER_PROGRAMS = frozenset({"mysqld", "mariadbd", "mysqld-debug", "mariadbd-debug", "mysqld-bin"})


class Limit(Struct, frozen=True):
    """A resource limit of a process by its ulimit name (nofile, memlock, …); None is unlimited."""

    name: str
    soft: int | None
    hard: int | None


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
    executable: str | None = None
    cwd: str | None = None
    uid: int | None = None
    resident: int | None = None
    peak_resident: int | None = None
    swapped: int | None = None
    threads: int | None = None
    cpus: tuple[int, ...] = ()
    memory_nodes: tuple[int, ...] = ()
    oom_score_adj: int | None = None
    allocator: str | None = None
    limits: tuple[Limit, ...] = ()
    huge_pages: int | None = None
    nice: int | None = None
    policy: str | None = None
    thp: bool | None = None
    memory_policy: str | None = None
    mapped_files: int | None = None

    def limit(self, name: str) -> Limit | None:
        """The limit with this ulimit name."""
        return next((limit for limit in self.limits if limit.name == name), None)


class OperatingSystem(Struct, frozen=True):
    """Distribution, kernel, and signs of a container or a cloud.

    `time` is seconds since 1970 on the host's clock, `uptime` since boot, `product` is the machine by its firmware.
    """

    kernel: str | None = None
    hostname: str | None = None
    distribution: str | None = None
    distribution_id: str | None = None
    version: str | None = None
    time: int | None = None
    uptime: int | None = None
    clocksource: str | None = None
    product: str | None = None
    cloud: str | None = None
    containers: tuple[str, ...] = ()
    aio_max: int | None = None
    aio_used: int | None = None
    open_files_max: int | None = None
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
    skipped: tuple[SkippedPart, ...] = ()
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
