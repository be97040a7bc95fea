"""Memory nodes: which processors are near which memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.host.formats import cpu_list, cpu_mask, size
from advisor.facts.host import NumaNode

if TYPE_CHECKING:
    from advisor.collect.host.root import Root

_NODES = "/sys/devices/system/node"


def read_nodes(root: Root) -> tuple[NumaNode, ...]:
    """The nodes by number; none on a kernel that knows of no nodes."""
    numbers = sorted(int(name[4:]) for name in root.names(_NODES) if re.fullmatch(r"node[0-9]{1,9}", name))
    return tuple(NumaNode(n, _cpus(root, f"{_NODES}/node{n}"), _memory(root, f"{_NODES}/node{n}")) for n in numbers)


def _cpus(root: Root, node: str) -> tuple[int, ...]:
    return tuple(sorted(cpu_mask(root.read(f"{node}/cpumap")))) or cpu_list(root.read(f"{node}/cpulist"))


def _memory(root: Root, node: str) -> int | None:
    found = re.search(r"MemTotal:\s*([0-9]+ kB)", root.read(f"{node}/meminfo") or "")
    return size(found[1]) if found else None
