"""Parse /proc/cpuinfo: the kinds of core, and the kind of each processor.

The file consists of `key : value` lines that differ by architecture: most have a block per processor, s390 and sparc
one block for all, old ARM puts the kind after all processors, POWER has facts about the whole machine at the end. So
it is parsed like `lscpu` does: a key that the current kind already has starts a new kind, a `processor` line assigns
the current kind to the previous processor, and equal kinds are merged.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from advisor.collect.host.formats import MAX_CPU, parse_number, printable_line

_KIND_KEYS = {
    "vendor_id": "vendor", "vendor": "vendor", "CPU implementer": "vendor", "mvendorid": "vendor",
    "cpu family": "family", "family": "family", "CPU Family": "family", "marchid": "family",
    "model": "model", "cpu model": "model", "CPU part": "model", "mimpid": "model",
    "model name": "name", "Model Name": "name", "cpu": "name", "uarch": "name",
    "stepping": "stepping", "CPU variant": "stepping",
    "revision": "revision", "CPU revision": "revision", "CPU Revision": "revision",
    "flags": "flags", "features": "flags", "Features": "flags", "ASEs implemented": "flags", "type": "flags",
    "isa": "isa", "ISA": "isa", "mmu": "mmu", "microcode": "microcode", "max thread id": "last_thread",
    "address sizes": "addresses", "Address Sizes": "addresses",
    "CPU architecture": "architecture", "BogoMIPS": "bogomips", "bogomips per cpu": "bogomips",
}  # fmt: skip
_ONE_KIND = ("vendor", "model", "name", "stepping")
"""The fields that distinguish kinds; flags and frequencies differ between processors of one kind."""
_KEY_VALUE = 2
_KEPT_FLAGS = ("model", "name", "vendor", "bogomips", "revision")
"""The first of two kinds is dropped if the second has the same values for those of these fields that the first has.

POWER ends with facts about the machine, which would otherwise make its last processor a separate kind.
"""


class CoreKind(NamedTuple):
    """The facts about one kind of core by field: vendor, family, model, name, stepping, revision, flags, isa, …"""

    facts: dict[str, str]

    def get(self, field: str) -> str | None:
        """One fact, as the kernel prints it."""
        return self.facts.get(field)

    @property
    def flags(self) -> frozenset[str]:
        """The CPU features, by the kernel's names."""
        return frozenset(self.facts.get("flags", "").split())


class SharedCache(NamedTuple):
    """A cache that s390 lists only here: name, level, size in bytes."""

    name: str
    level: int
    size: int


class CpuInfo(NamedTuple):
    """The kinds of core in a stable order, and the kind of each processor as an index into them."""

    kinds: tuple[CoreKind, ...]
    kind_of: dict[int, int]
    caches: tuple[SharedCache, ...]

    def kind_index(self, cpu: int) -> int:
        """The kind of a processor; the first one if the file does not mention the processor."""
        return self.kind_of.get(cpu, 0)


def parse(text: str) -> CpuInfo:
    """Parse the text of /proc/cpuinfo; a text without facts has no kinds."""
    kinds, assigned, caches = _collect(text)
    order = sorted(range(len(kinds)), key=lambda i: [kinds[i].get(field, "") for field in _ONE_KIND])
    merged: list[dict[str, str]] = []
    place: dict[int, int] = {}
    for index in order:
        if not merged or any(merged[-1].get(f) != kinds[index].get(f) for f in _ONE_KIND):
            merged.append(kinds[index])
        place[index] = len(merged) - 1
    if len(merged) == _KEY_VALUE and all(merged[1].get(f) == merged[0][f] for f in _KEPT_FLAGS if f in merged[0]):
        merged, place = merged[1:], dict.fromkeys(place, 0)
    return CpuInfo(
        tuple(CoreKind(facts) for facts in merged),
        {cpu: place[index] for cpu, index in assigned.items()},
        tuple(sorted(caches)),
    )


def _collect(text: str) -> tuple[list[dict[str, str]], dict[int, int], list[SharedCache]]:
    """The kinds in file order, the kind of each processor, and the shared caches."""
    kinds: list[dict[str, str]] = []
    assigned: dict[int, int] = {}
    caches: list[SharedCache] = []
    current: int | None = None
    for line in text.split("\n"):
        key, _, value = (part.strip() for part in line.partition(":"))
        if not key or not value:
            continue
        bare, index = _without_number(key)
        if bare in ("processor", "cpu number"):
            if current is not None and kinds:
                assigned[current] = len(kinds) - 1
            current = _cpu_number(index, value)
        elif bare == "cache":
            caches.extend(_shared_cache(value))
        elif field := _KIND_KEYS.get(bare):
            if not kinds or field in kinds[-1]:
                kinds.append({})
            kinds[-1][field] = printable_line(value) or ""
        elif bare == "bogomips" and kinds:
            kinds[-1].setdefault("bogomips", value)
    if current is not None and current not in assigned and kinds:
        assigned[current] = len(kinds) - 1
    return kinds, assigned, caches


def _without_number(key: str) -> tuple[str, int | None]:
    """A key split from the number at its end, as in "processor 5" or "cache1"."""
    bare = key.rstrip("0123456789")
    return bare.rstrip(), parse_number(key[len(bare) :])


def _cpu_number(index: int | None, value: str) -> int | None:
    found = index if index is not None else parse_number(value)
    return found if found is not None and 0 <= found < MAX_CPU else None


def _shared_cache(value: str) -> list[SharedCache]:
    """Parse a line `cacheN : level=4 type=Unified scope=Shared size=491520K …`; private caches are in /sys too."""
    facts = dict(re.findall(r"(\w+)=(\w+)", value))
    level, kilobytes = parse_number(facts.get("level")), parse_number(facts.get("size", "").rstrip("K"))
    if facts.get("scope", "Private") == "Private" or level is None or kilobytes is None:
        return []
    letter = {"Data": "d", "Instruction": "i"}.get(facts.get("type", ""), "")
    return [SharedCache(f"L{level}{letter}", level, kilobytes << 10)]
