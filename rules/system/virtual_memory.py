"""SYS: rules about the kernel's settings of virtual memory: overcommitting, dirty pages and memory nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Confidence, Severity
from advisor.core.sizes import format_size
from rules.core.advice import kernel_setting_help
from rules.core.rule import Docs, rule
from rules.core.subject import variable_subject
from rules.sizing.memory import GIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts.host import Memory
    from rules.core.context import RuleContext

FULL_PERCENT = 90  # of the commit limit
UNUSABLE_PERCENT = 75  # of the memory: a lower commit limit leaves much to cached files alone
WIDE_RATIO = 90  # percent of memory: what remains is for the kernel itself
MANY_DIRTY = 16 * GIB
DIRTY_LIMIT, DIRTY_BACKGROUND = 4 * GIB, GIB
SYNC = "sync_binlog"


@rule(
    "SYS016",
    "strict-memory-commit-limit",
    severity=Severity.NOTE,
    summary="The kernel refuses allocations beyond its commit limit, which is nearly reached or far below the memory.",
    needs=("host",),
    evidence=("KRN-13", "HOST-06"),
    docs=Docs(
        why="With vm.overcommit_memory = 2 all processes together may allocate swap and vm.overcommit_ratio percent "
        "of memory (CommitLimit in /proc/meminfo), 50 percent by default. The buffer pool counts from the start, used "
        "or not, and so does the stack of each thread. Beyond the limit a server with a larger pool does not start, "
        "statements fail with error 5, out of memory, and new connections with error 1135. From 90 percent "
        "of the limit on that is a warning. A limit below three quarters of memory is a note: the rest can only hold "
        "cached files. The bounds are ours.",
        fix="Raise vm.overcommit_ratio, or set vm.overcommit_memory to 0, the kernel's default, which allows more "
        "than there is and leaves a shortage to the OOM killer.",
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
        "data out after half a minute; until then as much may gather as the limit allows, and each process that "
        "writes must wait once it is reached. The server syncs the pages of InnoDB, so that few of them wait; with a "
        "sync_binlog other than 1 it does not sync the binary log at each commit, and nothing syncs dumps and copies "
        "on the host. Reported from 16G on, a bound of ours.",
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
    limit = (memory.available or memory.total) * memory.dirty_ratio // 100
    if limit < MANY_DIRTY or context.number(SYNC) in (None, 1):
        return
    background = f"vm.dirty_background_bytes = {DIRTY_BACKGROUND}"
    yield large_dirty_limit.finding(
        f"Up to {format_size(limit)} of file data may wait in memory (vm.dirty_ratio = {memory.dirty_ratio}), and the "
        "binary log is not synced at each commit.",
        variable_subject(context, SYNC),
        help=f"{kernel_setting_help(context, 'vm.dirty_bytes', DIRTY_LIMIT)}, and likewise {background}",
    )


@rule(
    "SYS018",
    "zone-reclaim",
    confidence=Confidence.LIKELY,
    summary="The kernel frees memory of a full node instead of taking free memory of another node.",
    needs=("host",),
    evidence=("KRN-15",),
    docs=Docs(
        why="With vm.zone_reclaim_mode other than 0, a process whose memory node is full waits while pages of that "
        "node are freed, although other nodes have free memory. The kernel's documentation advises 0 for servers "
        "with large caches, and its developers made that the default in 2014 because many hosts lost much speed.",
        fix="Set vm.zone_reclaim_mode to 0 in /etc/sysctl.d and load it with sysctl -p FILE: it counts at once.",
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
        f"vm.zone_reclaim_mode is {mode} on {len(nodes)} memory nodes: a full node is reclaimed although others have "
        "free memory.",
        help=f"{kernel_setting_help(context, 'vm.zone_reclaim_mode', 0)}; it counts at once",
    )


def _is_bound(context: RuleContext) -> bool:
    """Whether the server's process takes memory of one node only, by its policy or by the nodes that it may use."""
    process = context.host.process
    if process is None:
        return False
    return len(process.memory_nodes) == 1 or (process.memory_policy or "").startswith("bind")
