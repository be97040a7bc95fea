"""The CPU caches, each instance once, although several processors list it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.host.formats import cpu_mask, parse_size, read_line, read_number
from advisor.facts.host import Cache

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.collect.host.cpuinfo import SharedCache
    from advisor.collect.host.root import Root

_LETTER = {"Data": "d", "Instruction": "i"}
_SPARC = (("l1_i", "L1i", 1), ("l1_d", "L1d", 1), ("l2_", "L2", 2))
_MAX_INDEX = 64


class CacheInstance(NamedTuple):
    """A cache instance: name, level, size, and the processors that share it."""

    name: str
    level: int
    size: int
    shared: frozenset[int]


def read_caches(root: Root, cpus: tuple[int, ...], elsewhere: tuple[SharedCache, ...]) -> tuple[Cache, ...]:
    """The caches by name; `elsewhere` are those found only in /proc/cpuinfo. Caches of unknown size are left out."""
    instances: dict[tuple[str, int], CacheInstance] = {}
    for cpu in cpus:
        for instance, key in (*_cpu_caches(root, cpu, instances), *_sparc_caches(root, cpu)):
            instances.setdefault((instance.name, key), instance)
    names = sorted({name for name, _ in instances})
    summed = [_sum([i for i in instances.values() if i.name == name]) for name in names]
    told = [Cache(name=c.name, level=c.level, size=c.size, total=c.size) for c in elsewhere if c.name not in names]
    return tuple(cache for cache in (*summed, *told) if cache.total)


def _sum(instances: list[CacheInstance]) -> Cache:
    return Cache(
        name=instances[0].name,
        level=instances[0].level,
        size=max(i.size for i in instances),
        total=sum(i.size for i in instances),
        instances=len(instances),
        shared_by=max(len(i.shared) for i in instances) or None,
    )


def _cpu_caches(
    root: Root, cpu: int, known: dict[tuple[str, int], CacheInstance]
) -> Iterable[tuple[CacheInstance, int]]:
    """The caches of one processor, each with a number that distinguishes it from others with its name."""
    for index in range(_MAX_INDEX):
        base = f"/sys/devices/system/cpu/cpu{cpu}/cache/index{index}"
        if root.real(base) is None:
            return
        level, kind = read_number(root, f"{base}/level"), read_line(root, f"{base}/type")
        if level is None or kind is None:
            continue
        name = f"L{level}{_LETTER.get(kind, '')}"
        key = read_number(root, f"{base}/id")
        if key is None or not 0 <= key < 1 << 31:
            key = _position(name, cpu, known)
        if (name, key) not in known:
            shared = cpu_mask(root.read(f"{base}/shared_cpu_map"))
            yield CacheInstance(name, level, parse_size(root.read(f"{base}/size", 64)) or 0, shared), key


def _position(name: str, cpu: int, known: dict[tuple[str, int], CacheInstance]) -> int:
    """The number of a cache on kernels before 4.10, which do not number caches.

    It is the number of the instance that lists this processor, or of a new one.
    """
    same = [instance for (other, _), instance in known.items() if other == name]
    return next((i for i, instance in enumerate(same) if cpu in instance.shared), len(same))


def _sparc_caches(root: Root, cpu: int) -> Iterable[tuple[CacheInstance, int]]:
    """The caches on sparc64, which has one file per size, and caches that are private to each processor."""
    for prefix, name, level in _SPARC:
        held = read_number(root, f"/sys/devices/system/cpu/cpu{cpu}/{prefix}cache_size")
        if held is not None:
            yield CacheInstance(name, level, held, frozenset({cpu})), cpu
