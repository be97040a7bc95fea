"""SYS: rules about the kernel's settings of virtual memory: overcommitting, dirty pages and memory nodes."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_size
from rules.core import Docs, Span, rule
from rules.core.advice import kernel_setting_help
from rules.core.subject import variable_subject
from rules.sizing.memory import GIB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts.host import Cgroup, Memory
    from rules.core.context import RuleContext

FULL_PERCENT = 90  # of the commit limit
UNUSABLE_PERCENT = 75  # of the memory: a lower commit limit leaves much to cached files alone
WIDE_RATIO = 90  # percent of memory: what remains is for the kernel itself
MANY_DIRTY = 16 * GIB
DIRTY_LIMIT, DIRTY_BACKGROUND = 4 * GIB, GIB
SYNC = "sync_binlog"
POOL, INTERLEAVE = "innodb_buffer_pool_size", "innodb_numa_interleave"
MANY_PROCESSORS, LARGE_MEMORY = 64, 128 * GIB  # sizes from which on two sockets are common


@rule(
    "SYS016",
    "strict-memory-commit-limit",
    severity=Severity.NOTE,
    summary="The kernel refuses allocations beyond its commit limit, which is nearly reached or far below the memory.",
    needs=("host",),
    evidence=("KRN-13", "HOST-06"),
    docs=Docs(
        why="With vm.overcommit_memory = 2 all processes together may allocate swap and vm.overcommit_ratio percent of "
        "memory (CommitLimit in /proc/meminfo), 50 percent by default. The buffer pool counts from the start, used or "
        "not, and so does the stack of each thread. Beyond the limit a server with a larger pool does not start, "
        "statements fail with error 5, out of memory, and new connections with error 1135. From 90 percent of the "
        "limit on the finding is a warning. A limit below three quarters of memory is a note: the rest can only hold "
        "cached files. The thresholds are our choice.",
        fix="Raise vm.overcommit_ratio, or set vm.overcommit_memory to 0, the kernel's default, which allows "
        "overcommitting memory and leaves shortages to the OOM killer.",
        risk="With a higher limit the OOM killer may end the server where allocations failed before.",
        exceptions="Hosts on which the limit was set for other programs, with enough left for the server.",
        reconsider_when="Committed_AS in /proc/meminfo that stays well below CommitLimit at peak load.",
    ),
)
def strict_commit_limit(context: RuleContext) -> Iterator[Finding]:
    """Report strict overcommit accounting whose limit is nearly used up, or far below the memory."""
    memory = context.host.memory
    if memory is None or not context.host.strict_commit_limit or not memory.commit_limit:
        return
    limit = f"{format_size(memory.commit_limit)} (vm.overcommit_memory = 2)"
    committed = memory.committed or 0
    if committed * 100 >= memory.commit_limit * FULL_PERCENT:
        yield strict_commit_limit.finding(
            f"{committed * 100 // memory.commit_limit} % of the commit limit of {limit} is allocated: beyond it "
            "statements and new connections fail.",
            severity=Severity.WARNING,
            help=_commit_help(context, memory),
        )
    elif memory.commit_limit * 100 < memory.total * UNUSABLE_PERCENT:
        yield strict_commit_limit.finding(
            f"All processes together may allocate {limit} of {format_size(memory.total)} of memory; allocations beyond "
            "that fail.",
            help=_commit_help(context, memory),
        )


def _commit_help(context: RuleContext, memory: Memory) -> str:
    default = kernel_setting_help(context, "vm.overcommit_memory", 0)
    if memory.overcommit_ratio and memory.overcommit_ratio < WIDE_RATIO:
        return f"{kernel_setting_help(context, 'vm.overcommit_ratio', WIDE_RATIO)}; or set vm.overcommit_memory to 0"
    return default


@rule(
    "SYS017",
    "large-dirty-page-limit",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The kernel may hold many gigabytes of unwritten binary log and other file data in memory.",
    needs=("server", "host"),
    options=("log_bin", SYNC),
    evidence=("KRN-14",),
    docs=Docs(
        why="vm.dirty_ratio is a percentage of available memory: 20 percent of 512G is 100G. The kernel writes file "
        "data out after half a minute. Until then unwritten data can grow up to the limit, and once it is reached, "
        "each process that writes must wait. The server syncs InnoDB pages, so few of them are unwritten; with a "
        "sync_binlog other than 1 it does not sync the binary log at each commit, and nothing syncs dumps and copies "
        "on the host. The rule applies from 16G on; that threshold is our choice. A control group "
        "holds no more unwritten data than its limit allows.",
        fix="Set vm.dirty_background_bytes and vm.dirty_bytes, which replace the percentages, in /etc/sysctl.d.",
        risk="Programs that write faster than the disk wait earlier.",
        exceptions="Hosts whose disks write that much in seconds.",
        reconsider_when="Dirty in /proc/meminfo that stays small during the largest copy.",
        disagree="sync_binlog = 1 avoids it for the binary log, and makes commits durable.",
    ),
)
def large_dirty_limit(context: RuleContext) -> Iterator[Finding]:
    """Report a dirty page limit of many gigabytes where the binary log is not synced at each commit."""
    memory = context.host.memory
    if memory is None or memory.dirty_bytes or not memory.dirty_ratio or context.text("log_bin") != "ON":
        return
    limit = _dirty_limit(memory, memory.dirty_ratio, context.host.cgroup)
    if limit < MANY_DIRTY or context.number(SYNC) in (None, 1) or context.text("binlog_storage_engine") == "INNODB":
        return
    background = f"vm.dirty_background_bytes = {DIRTY_BACKGROUND}"
    yield large_dirty_limit.finding(
        f"Up to {format_size(limit)} of unwritten file data may be in memory (vm.dirty_ratio = {memory.dirty_ratio}), "
        "and the binary log is not synced at each commit.",
        variable_subject(context, SYNC),
        help=f"{kernel_setting_help(context, 'vm.dirty_bytes', DIRTY_LIMIT)}, and likewise {background}",
    )


def _dirty_limit(memory: Memory, percent: int, group: Cgroup | None) -> int:
    """The unwritten bytes at which writers wait; a control group holds at most as many cached files as its limit.

    In version 2 the percentage is also one of the group's limit.
    """
    limit = (memory.available or memory.total) * percent // 100
    if group is None or not group.limit:
        return limit
    return min(limit, group.limit * percent // 100 if group.version > 1 else group.limit)


@rule(
    "SYS018",
    "zone-reclaim",
    confidence=Confidence.LIKELY,
    summary="The kernel frees memory of a full node instead of taking free memory of another node.",
    needs=("host",),
    evidence=("KRN-15",),
    docs=Docs(
        why="With vm.zone_reclaim_mode other than 0, a process whose memory node is full waits while pages of that "
        "node are freed, although other nodes have free memory. The kernel's documentation advises 0 for servers with "
        "large caches, and its developers made that the default in 2014 because many hosts became much slower.",
        fix="Set vm.zone_reclaim_mode to 0 in /etc/sysctl.d and load it with sysctl -p FILE: it takes effect at once.",
        risk="More accesses to memory of other nodes.",
        exceptions="Several servers, each bound to one node and smaller than it.",
        reconsider_when="zone_reclaim_failed and pgscan_direct in /proc/vmstat that do not rise.",
    ),
)
def zone_reclaim(context: RuleContext) -> Iterator[Finding]:
    """Report zone reclaim on a host with several memory nodes, unless the server is bound to some of them."""
    host = context.host
    nodes = [node for node in (host.cpu.nodes if host.cpu else ()) if node.memory]
    mode = host.memory.zone_reclaim_mode if host.memory else None
    if not mode or len(nodes) < 2 or _is_bound(context):  # noqa: PLR2004
        return
    yield zone_reclaim.finding(
        f"vm.zone_reclaim_mode is {mode} on {len(nodes)} NUMA nodes: a full node is reclaimed although others have "
        "free memory.",
        help=f"{kernel_setting_help(context, 'vm.zone_reclaim_mode', 0)}; it takes effect at once",
    )


def _is_bound(context: RuleContext) -> bool:
    """Whether the server's process takes memory of one node only, by its policy or by the nodes that it may use."""
    process = context.host.process
    if process is None:
        return False
    return len(process.memory_nodes) == 1 or (process.memory_policy or "").startswith("bind")


@rule(
    "SYS032",
    "unchecked-memory-nodes",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="A large pool on a machine of unknown layout, which may have several NUMA nodes, is not interleaved.",
    needs=("host",),
    targets=(Span("mysql"),),
    options=(POOL, INTERLEAVE),
    evidence=("NUMA-01",),
    docs=Docs(
        why="Only the number of processors and the memory are known, and machines of this size often have two sockets, "
        "each with half of the memory. A pool larger than one node fills that node, and the kernel may swap although "
        "the other has free memory. MySQL 8.4 interleaves the pool by default. The rule applies from 64 processors (32 "
        "where innodb_numa_interleave is set to OFF) and 128G of memory on, to pools of more than half of the memory; "
        "the thresholds are our choice.",
        fix="Look at lscpu or numactl --hardware. With two or more nodes, set innodb_numa_interleave to ON; with one "
        "node, leave it.",
        risk="Memory of other nodes is somewhat slower to access. A server that was built without NUMA support does "
        "not know the option and refuses to start.",
        restart=True,
        exceptions="Machines with a single node, and most virtual machines.",
        reconsider_when="An audit on the machine, which reads the nodes.",
    ),
)
def unchecked_memory_nodes(context: RuleContext) -> Iterator[Finding]:
    """Report a pool that one of two memory nodes could not hold, where the nodes are not known."""
    cpu, memory, pool = context.host.cpu, context.host.memory, context.number(POOL)
    processors = context.host.usable_cpus or 0
    if cpu is None or cpu.nodes or memory is None or pool is None or context.settings.on(INTERLEAVE) is not False:
        return
    least = MANY_PROCESSORS // 2 if context.is_set(INTERLEAVE) else MANY_PROCESSORS
    if processors >= least and memory.total >= LARGE_MEMORY and 2 * pool > memory.total:
        yield unchecked_memory_nodes.finding(
            f"A pool of {format_size(pool)} on {processors:g} processors with {format_size(memory.total)} of memory: "
            "if the machine has two NUMA nodes, the pool is larger than one of them.",
            variable_subject(context, POOL),
            help="look at lscpu; with two or more NUMA nodes, set innodb_numa_interleave = ON and restart",
        )
