"""Each fact of the host is read by a rule, or listed here with the reason why none reads it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from msgspec import Struct

from advisor.facts import host, storage

TOP = Path(__file__).resolve().parents[2]
# Fields of advisor.facts.host and storage that no rule reads, and why.
UNJUDGED = {
    "BlockDevice.alignment_offset": "collected for reports on storage; alignment is judged by the stripe",
    "BlockDevice.discard_granularity": "shown only",
    "BlockDevice.logical_sector": "shown, and used by probes",
    "BlockDevice.max_io": "shown only",
    "BlockDevice.minimum_io": "shown only; the stripe is judged",
    "BlockDevice.optimal_io": "shown only; the stripe is judged",
    "BlockDevice.physical_sector": "shown only",
    "BlockDevice.read_ahead": "deliberate: O_DIRECT bypasses it, and no measurement shows a best size",
    "BlockDevice.read_only": "the mount option is judged: a read-only device cannot be mounted for writing",
    "BlockDevice.requests": "deliberate: the best queue length depends on the device, and the default is adapted to it",
    "BlockDevice.start": "shown; alignment is judged by the stripe",
    "Cache.instances": "shown only",
    "Cache.shared_by": "shown only",
    "Cgroup.cpus_at": "shown: which group sets the limit",
    "Cgroup.limit_at": "shown: which group sets the limit",
    "Cgroup.swap_limit": "shown; swapped-out memory itself is judged",
    "Cgroup.usage": "shown; it contains cached files, and the process's own memory is judged",
    "Cpu.architecture": "shown only",
    "Cpu.caches": "shown, and used by probes of memory",
    "Cpu.cores": "shown only",
    "Cpu.kinds": "shown only",
    "Cpu.logical": "shown; the processors that the server may use are judged",
    "Cpu.online": "read through usable_cpus",
    "Cpu.sockets": "shown only; memory nodes are judged",
    "Cpu.virtualization": "shown only",
    "CpuKind.books": "shown only",
    "CpuKind.books_per_drawer": "shown only",
    "CpuKind.cores": "shown only",
    "CpuKind.cores_per_socket": "shown only",
    "CpuKind.drawers": "shown only",
    "CpuKind.max_mhz": "shown; the governor is judged",
    "CpuKind.model_name": "shown only",
    "CpuKind.sockets": "shown only",
    "CpuKind.sockets_per_book": "shown only",
    "CpuKind.stepping": "shown only",
    "CpuKind.threads_per_core": "shown only",
    "Host.skipped": "reported as parts that were not read",
    "IoLimit.read_bytes": "deliberate: bytes a second say nothing of pages without the size of the requests",
    "IoLimit.write_bytes": "deliberate: bytes a second say nothing of pages without the size of the requests",
    "Limit.hard": "shown; the soft limit counts, and the server has already raised it as far as it can",
    "Memory.dirty_background_bytes": "deliberate: the limit at which writers wait is judged (dirty_ratio)",
    "Memory.dirty_background_ratio": "deliberate: the limit at which writers wait is judged (dirty_ratio)",
    "Memory.anonymous_huge": "shown; what the kernel may do is judged by thp",
    "Memory.numa_balancing": "deliberate: the kernel does not scan interleaved memory; otherwise it may help",
    "Memory.overcommit_memory": "read through strict_commit_limit",
    "Memory.swap_free": "shown; the server's own swapped-out memory is judged",
    "Memory.thp_defrag": "deliberate: it counts only where thp is on, which is judged",
    "Mount.root": "shown only",
    "Mount.source": "shown only",
    "OperatingSystem.cloud": "shown only",
    "OperatingSystem.distribution": "shown only",
    "OperatingSystem.distribution_id": "shown only",
    "OperatingSystem.hostname": "shown only",
    "OperatingSystem.open_files_max": "deliberate: the default grows with memory; the server's own limit is judged",
    "OperatingSystem.product": "shown only",
    "Process.allocator": "deliberate: measurements of allocators differ by workload (MALLOC-03)",
    "Process.cwd": "used to find the data directory",
    "Process.executable": "shown only",
    "Process.limits": "read through limit()",
    "Process.threads": "shown; connections are judged",
    "Raid.layout": "shown only",
    "Raid.state": "shown; degraded and action are judged",
    "Storage.untraced": "shown: why the disks are not known",
    "Stripe.source": "shown only",
}


def fields() -> set[str]:
    """Each field of the host's facts, as Class.field."""
    kinds = [
        kind for kind in {**vars(host), **vars(storage)}.values() if isinstance(kind, type) and issubclass(kind, Struct)
    ]
    return {f"{kind.__name__}.{name}" for kind in kinds if kind is not Struct for name in kind.__struct_fields__}


@pytest.fixture(scope="module")
def attributes() -> frozenset[str]:
    """The names of all attributes that the rules read, of any object."""
    trees = (ast.parse(path.read_text("utf-8")) for path in sorted((TOP / "rules").rglob("*.py")))
    return frozenset(node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute))


def test_no_fact_is_collected_without_a_purpose(attributes: frozenset[str]) -> None:
    """A fact that no rule reads is listed with the reason."""
    unread = {name for name in fields() if name.partition(".")[2] not in attributes}
    assert sorted(unread - UNJUDGED.keys()) == [], "let a rule read it, or name the reason in UNJUDGED"


def test_the_list_is_current() -> None:
    """The list names existing facts only."""
    assert sorted(UNJUDGED.keys() - fields()) == []
