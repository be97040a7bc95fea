"""Boundaries of caches from curves of latency."""

from __future__ import annotations

import random

import pytest

from probes.memory.latency import cache_boundaries, find_boundaries

SIZES = [size for k in range(18) for size in (4096 << k, 6144 << k)][:-1]
SERVER = ((32 << 10, 1.2), (1 << 20, 4.0), (32 << 20, 20.0), (1 << 40, 95.0))
SMALL_BOARD = ((32 << 10, 2.0), (1 << 20, 9.0), (1 << 40, 140.0))


def _curve(levels: tuple[tuple[int, float], ...], noise: float = 0.0, seed: int = 1) -> list[tuple[int, float]]:
    """Latency by working set where caches replace lines at random; noise only makes loads longer."""
    draw = random.Random(seed)  # noqa: S311 - noise, no secret
    return [(size, _latency(size, levels) * (1 + noise * draw.expovariate(1))) for size in SIZES]


def _latency(size: int, levels: tuple[tuple[int, float], ...]) -> float:
    held, latency = 0.0, 0.0
    for capacity, cost in levels:
        share = min(1.0, capacity / size)
        latency += max(0.0, share - held) * cost
        held = max(held, share)
    return latency


@pytest.mark.parametrize("levels", [SERVER, SMALL_BOARD])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_each_cache_is_found(levels: tuple[tuple[int, float], ...], noise: float) -> None:
    """Every cache of a machine is found within a factor of two, and nothing else is."""
    found = find_boundaries(_curve(levels, noise))
    assert len(found) == len(levels) - 1
    for boundary, (size, _) in zip(found, levels, strict=False):
        assert size / 2 <= boundary.size <= size * 2


def test_flat_memory_has_no_boundary() -> None:
    """A curve that only drifts upwards shows none."""
    assert find_boundaries([(size, 100 + place) for place, size in enumerate(SIZES)]) == []


def test_spikes_are_other_work() -> None:
    """A size that was slower than a larger one met other work, and makes no boundary."""
    curve = [(size, value * 8 if size == 96 << 10 else value) for size, value in _curve(SERVER)]
    assert [b.size for b in find_boundaries(curve)] == pytest.approx([b.size for b in find_boundaries(_curve(SERVER))])


def _rounds(count: int = 4, last: tuple[int, ...] = (32 << 20,)) -> dict[int, list[float]]:
    curves = [_curve((*SERVER[:2], (last[n % len(last)], 20.0), SERVER[3])) for n in range(count)]
    return {size: [curve[place][1] for curve in curves] for place, size in enumerate(SIZES)}


def test_quiet_machine_is_resolved() -> None:
    """Where every round shows the same last boundary, and the machine is real, that is the largest."""
    seen = cache_boundaries(_rounds(), compiled=True, virtual=False)
    assert seen.share is None
    assert 16 << 20 <= seen.resolved[-1].size <= 64 << 20


@pytest.mark.parametrize(("last", "virtual"), [((32 << 20,), True), ((32 << 20, 6 << 20), False)])
def test_shared_cache_is_named_unresolved(last: tuple[int, ...], virtual: bool) -> None:
    """On a virtual machine, or where rounds differ, the last step is a share; the cache before it stays resolved."""
    seen = cache_boundaries(_rounds(last=last), compiled=True, virtual=virtual)
    assert seen.share is not None
    assert 512 << 10 <= seen.resolved[-1].size <= 2 << 20
    assert any(words.startswith("Not resolved: the size of the last-level cache") for words in seen.words)


def test_rises_of_memory_are_no_caches() -> None:
    """Once loads take as long as memory does, a further rise (of page walks, of a busy bus) ends no cache."""
    given = {size: [value * (1.6 if size >= 200 << 20 else 1) for value in row] for size, row in _rounds().items()}
    assert len(find_boundaries([(size, min(row)) for size, row in given.items()])) == 4
    assert 16 << 20 <= cache_boundaries(given, compiled=True, virtual=False).resolved[-1].size <= 64 << 20


def test_ragged_edge_is_no_cache() -> None:
    """A share that grew for one round leaves a small step before the great one, and that is no cache."""
    given = _rounds(last=(6 << 20,))
    given[12 << 20][0], given[16 << 20][0] = 30.0, 32.0
    assert len(find_boundaries([(size, min(row)) for size, row in given.items()])) == 4
    seen = cache_boundaries(given, compiled=True, virtual=True)
    assert 512 << 10 <= seen.resolved[-1].size <= 2 << 20


def test_python_says_what_it_misses() -> None:
    """Measured by Python, the first caches are said to be out of sight."""
    assert "without a C compiler" in cache_boundaries(_rounds(), compiled=False, virtual=False).words[-1]
