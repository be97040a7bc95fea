"""Parse /proc/cpuinfo: the kinds of core, with the names of ARM cores, and the kind of each processor.

The file consists of `key : value` lines that differ by architecture: most have a block per processor, s390 and sparc
one block for all, old ARM puts the kind after all processors, POWER has facts about the whole machine at the end. So
it is parsed like `lscpu` does: a key that the current kind already has starts a new kind, a `processor` line assigns
the current kind to the previous processor, and equal kinds are merged.

The part numbers of ARM cores are the vendors' own, as listed in the kernel's arch/arm64/include/asm/cputype.h and in
the vendors' manuals. Cores that no database server runs on (ARM6 to ARM10, Cortex-M, StrongARM) are left out; their
name is None.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from advisor.collect.host.root import MAX_CPU, parse_number, printable_line

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

_ARM = {
    0xB02: "ARM11-MPCore", 0xB36: "ARM1136", 0xB56: "ARM1156", 0xB76: "ARM1176",
    0xC05: "Cortex-A5", 0xC07: "Cortex-A7", 0xC08: "Cortex-A8", 0xC09: "Cortex-A9", 0xC0D: "Cortex-A17",
    0xC0E: "Cortex-A17", 0xC0F: "Cortex-A15",
    0xD01: "Cortex-A32", 0xD02: "Cortex-A34", 0xD03: "Cortex-A53", 0xD04: "Cortex-A35", 0xD05: "Cortex-A55",
    0xD06: "Cortex-A65", 0xD07: "Cortex-A57", 0xD08: "Cortex-A72", 0xD09: "Cortex-A73", 0xD0A: "Cortex-A75",
    0xD0B: "Cortex-A76", 0xD0C: "Neoverse-N1", 0xD0D: "Cortex-A77", 0xD0E: "Cortex-A76AE",
    0xD40: "Neoverse-V1", 0xD41: "Cortex-A78", 0xD42: "Cortex-A78AE", 0xD43: "Cortex-A65AE", 0xD44: "Cortex-X1",
    0xD46: "Cortex-A510", 0xD47: "Cortex-A710", 0xD48: "Cortex-X2", 0xD49: "Neoverse-N2", 0xD4A: "Neoverse-E1",
    0xD4B: "Cortex-A78C", 0xD4C: "Cortex-X1C", 0xD4D: "Cortex-A715", 0xD4E: "Cortex-X3", 0xD4F: "Neoverse-V2",
    0xD80: "Cortex-A520", 0xD81: "Cortex-A720", 0xD82: "Cortex-X4", 0xD83: "Neoverse-V3AE", 0xD84: "Neoverse-V3",
    0xD85: "Cortex-X925", 0xD87: "Cortex-A725", 0xD88: "Cortex-A520AE", 0xD89: "Cortex-A720AE", 0xD8A: "C1-Nano",
    0xD8B: "C1-Pro", 0xD8C: "C1-Ultra", 0xD8E: "Neoverse-N3", 0xD8F: "Cortex-A320", 0xD90: "C1-Premium",
}  # fmt: skip
_ARM_LTD = 0x41

_VENDORS: dict[int, tuple[str, dict[int, str]]] = {
    _ARM_LTD: ("ARM", _ARM),
    0x42: ("Broadcom", {0x0F: "Brahma-B15", 0x100: "Brahma-B53", 0x516: "ThunderX2"}),
    0x43: (
        "Cavium",
        {
            0x0A0: "ThunderX", 0x0A1: "ThunderX-88XX", 0x0A2: "ThunderX-81XX", 0x0A3: "ThunderX-83XX",
            0x0AF: "ThunderX2-99xx", 0x0B0: "OcteonTX2", 0x0B1: "OcteonTX2-98XX", 0x0B2: "OcteonTX2-96XX",
            0x0B3: "OcteonTX2-95XX", 0x0B4: "OcteonTX2-95XXN", 0x0B5: "OcteonTX2-95XXMM", 0x0B6: "OcteonTX2-95XXO",
            0x0B8: "ThunderX3-T110",
        },
    ),
    0x46: ("FUJITSU", {0x001: "A64FX", 0x003: "MONAKA"}),
    0x48: (
        "HiSilicon",
        {
            0xD01: "Kunpeng-920", 0xD02: "Kunpeng-920", 0xD03: "Kunpeng-920", 0xD06: "Kunpeng-950",
            0xD22: "Kunpeng-920", 0xD40: "Cortex-A76", 0xD41: "Cortex-A77",
        },
    ),
    0x49: ("Infineon", {}),
    0x4D: ("Motorola/Freescale", {}),
    0x4E: ("NVIDIA", {0x003: "Denver-2", 0x004: "Carmel", 0x010: "Olympus"}),
    0x50: ("APM", {}),
    0x51: (
        "Qualcomm",
        {
            0x001: "Oryon", 0x02D: "Scorpion", 0x00F: "Scorpion", 0x04D: "Krait", 0x06F: "Krait", 0x201: "Kryo",
            0x205: "Kryo", 0x211: "Kryo", 0x800: "Falkor-V1/Kryo", 0x801: "Kryo-V2", 0x802: "Kryo-3XX-Gold",
            0x803: "Kryo-3XX-Silver", 0x804: "Kryo-4XX-Gold", 0x805: "Kryo-4XX-Silver", 0xC00: "Falkor",
            0xC01: "Saphira",
        },
    ),
    0x53: ("Samsung", {0x001: "exynos-m1", 0x002: "exynos-m3", 0x003: "exynos-m4", 0x004: "exynos-m5"}),
    0x56: ("Marvell", {0x131: "Feroceon-88FR131", 0x581: "PJ4/PJ4b", 0x584: "PJ4B-MP"}),
    0x61: (
        "Apple",
        {
            0x022: "Icestorm-M1", 0x023: "Firestorm-M1", 0x024: "Icestorm-M1-Pro", 0x025: "Firestorm-M1-Pro",
            0x028: "Icestorm-M1-Max", 0x029: "Firestorm-M1-Max", 0x032: "Blizzard-M2", 0x033: "Avalanche-M2",
            0x034: "Blizzard-M2-Pro", 0x035: "Avalanche-M2-Pro", 0x038: "Blizzard-M2-Max", 0x039: "Avalanche-M2-Max",
        },
    ),
    0x6D: ("Microsoft", {0xD49: "Azure-Cobalt-100"}),
    0x70: (
        "Phytium",
        {
            0x303: "FTC310", 0x660: "FTC660", 0x661: "FTC661", 0x662: "FTC662", 0x663: "FTC663", 0x664: "FTC664",
            0x862: "FTC862",
        },
    ),
    0xC0: ("Ampere", {0xAC3: "Ampere-1", 0xAC4: "Ampere-1a"}),
}  # fmt: skip


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


def vendor_name(implementer: str | None) -> str | None:
    """The vendor of an implementer number such as "0x41"; None if it is unknown."""
    vendor = _VENDORS.get(_number(implementer))
    return vendor[0] if vendor else None


def core_name(implementer: str | None, part: str | None) -> str | None:
    """The name of a core, such as "Neoverse-N1" for "0x41" and "0xd0c"."""
    vendor = _VENDORS.get(_number(implementer))
    return vendor[1].get(_number(part)) if vendor else None


def stepping_name(implementer: str | None, variant: str | None, revision: str | None) -> str | None:
    """The stepping: rXpY for ARM's own cores; other vendors' variants are unchanged."""
    if _number(implementer) != _ARM_LTD or variant is None or revision is None:
        return variant
    number = _number(variant)
    return f"r{number}p{revision}" if number >= 0 and revision.isdecimal() else variant


def _number(text: str | None) -> int:
    """A hexadecimal number with the prefix 0x; -1 for anything else, which is in no table."""
    return int(text, 16) if text and re.fullmatch("0x[0-9a-fA-F]{1,8}", text) else -1
