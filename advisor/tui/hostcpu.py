"""Processors, their caches and the memory near to them, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.sizes import about
from advisor.report.words import plural
from advisor.tui.bars import bar
from advisor.tui.ranges import ranges

if TYPE_CHECKING:
    from advisor.facts import Host
    from advisor.facts.host import Cache, Cpu, CpuKind
    from advisor.report.audited import Audited
    from advisor.tui.hosttext import Rows

NODE_CELLS = 10


def processors(host: Host | None) -> Rows:
    """Model, topology and caches, and what of it the server may use."""
    cpu = host.cpu if host else None
    if host is None or cpu is None:
        return []
    under, usable = cpu.hypervisor, host.usable_cpus
    return [
        ("model", "; ".join(_kind(kind, several=len(cpu.kinds) > 1) for kind in cpu.kinds if kind.model_name)),
        ("topology", _topology(cpu)),
        ("for the server", "" if usable in (None, len(cpu.online)) else f"{usable:g} of {len(cpu.online)}"),
        ("runs under", f"{under.vendor}, {under.kind} virtualization" if under and under.vendor else ""),
        *((cache.name, _cache(cache)) for cache in cpu.caches),
    ]


def _kind(kind: CpuKind, *, several: bool) -> str:
    cores = f", {plural(kind.cores, 'core')}" if several else ""
    return f"{kind.model_name}{cores}" + (f", up to {kind.max_mhz:,.0f} MHz" if kind.max_mhz else "")


def _topology(cpu: Cpu) -> str:
    threads = max((kind.threads_per_core for kind in cpu.kinds), default=0)
    parts = [plural(cpu.sockets, "socket") if cpu.sockets else "", plural(cpu.cores, "core")]
    parts += [f"{plural(threads, 'thread')} a core" if threads else ""]
    online = "" if len(cpu.online) == cpu.logical else f", {len(cpu.online):,} of them online"
    made_of = ", ".join(part for part in parts if part)
    kind = f", {cpu.architecture}" if cpu.architecture else ""
    return f"{made_of}: {plural(cpu.logical, 'processor')}{online}{kind}"


def _cache(cache: Cache) -> str:
    """How many there are of what size, and who shares one; what they hold together where that is no product."""
    if cache.instances is None:
        return f"{about(cache.total)} in all"
    shared = "" if cache.shared_by is None else f", each for {plural(cache.shared_by, 'processor')}"
    differ = "" if cache.total == cache.size * cache.instances else f" at most; {about(cache.total)} in all"
    return f"{cache.instances:,} of {about(cache.size)}{differ}{shared}"


def nodes(audited: Audited) -> Rows:
    """The memory nodes with their processors, and what the server makes of them."""
    host, known = audited.facts.host, audited.known
    cpu = host.cpu if host else None
    if host is None or cpu is None or not cpu.nodes:
        return [("", "the kernel tells of no memory nodes")] if cpu else []
    most = max(node.memory or 0 for node in cpu.nodes)
    rows: Rows = []
    for node in cpu.nodes:
        memory = f"{bar(node.memory, most, NODE_CELLS)} {about(node.memory)}, " if node.memory else ""
        whose = f"processors {ranges(node.cpus)}" if node.cpus else "memory only"
        rows.append((f"node {node.number}", memory + whose))
    if len(cpu.nodes) == 1:
        return [*rows, ("", "one node: all memory is equally near")]
    memory_nodes = host.process.memory_nodes if host.process else ()
    return [
        *rows,
        ("server's", f"memory from nodes {ranges(memory_nodes)}" if memory_nodes else ""),
        ("interleave", f"innodb_numa_interleave {known.text('innodb_numa_interleave') or 'is unknown to this server'}"),
    ]
