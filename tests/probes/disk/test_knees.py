"""Bends of a curve are named where every round shows them, and compared with the host's own limits."""

from __future__ import annotations

import math
import random

import pytest

from advisor.facts.host import Host
from advisor.facts.storage import BlockDevice, Mount, Storage, Stripe
from probes.disk.sequential_read import CurveBends, find_bends, host_io_limits, nearest_limit_text

K, M = 1 << 10, 1 << 20


def curve(*values: float, spread: float = 1.0) -> dict[int, list[float]]:
    """Throughput at 8K, 16K, …, three rounds each, `spread` to both sides."""
    return {8 * K << step: [value - spread, value, value + spread] for step, value in enumerate(values)}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((10, 20, 40, 80, 100, 100, 100), CurveBends(128 * K, None)),
        ((100, 100, 100, 100), CurveBends(8 * K, None)),
        ((10, 50, 100, 100, 80, 60), CurveBends(32 * K, 64 * K)),
        ((10, 100, 50, 100), CurveBends(16 * K, None)),
        ((10, 100, 50, 101, 60), CurveBends(64 * K, 64 * K)),
        ((10, 20, 40, 80, 95), CurveBends(128 * K, None)),
        ((100, 96, 95, 94), CurveBends(8 * K, None)),
    ],
)
def test_bends(values: tuple[float, ...], expected: CurveBends) -> None:
    """The block from which on nothing is gained, and the one after which throughput falls and stays down."""
    assert find_bends(curve(*values)) == expected


def test_noise_makes_no_bend() -> None:
    """Where the rounds of a small block reach those of the best, larger ones are not called faster."""
    assert find_bends(curve(60, 80, 100, 70, spread=30)) == CurveBends(8 * K, None)


@pytest.mark.parametrize("rounds", [3, 5])
def test_flat_curves_have_no_bend(rounds: int) -> None:
    """Of seven sizes that are equal one is the best by chance: at most one curve of twenty has a bend."""
    draw, curves, bent = random.Random(9), 300, 0  # noqa: S311 - noise, no secret
    for _ in range(curves):
        flat = {8 * K << step: [100 * math.exp(draw.gauss(0, 0.15)) for _ in range(rounds)] for step in range(7)}
        bent += find_bends(flat) != CurveBends(8 * K, None)
    assert bent / curves <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / curves)  # two standard errors


def test_too_few_rounds_make_no_bend() -> None:
    """Two rounds, no round, or a single block show no bend."""
    assert find_bends({8 * K: [1.0, 1.0], 16 * K: [2.0, 2.0]}) is None
    assert find_bends({8 * K: [], 16 * K: []}) is None
    assert find_bends({8 * K: [1.0, 1.0, 1.0]}) is None


def disk(**words: int) -> BlockDevice:
    """A disk."""
    return BlockDevice("sda", "sda", "8:0", "disk", 1 << 40, **words)


def test_limits_are_those_of_the_upper_device() -> None:
    """An array's read-ahead counts, and what it doesn't report is its disks'; a stripe is shown with its chunk."""
    array = BlockDevice("md0", "md0", "9:0", "raid10", 1 << 40, under=("sda",), read_ahead=4 * M)
    stripe = Stripe(2 * M, "md", "md0", chunk=512 * K)
    storage = Storage("/x", Mount("/", "ext4", "/dev/md0"), (array, disk(read_ahead=128 * K, max_io=1280 * K)), stripe)
    found = host_io_limits(Host(storage=storage))
    assert found == {"read_ahead": 4 * M, "largest_request": 1280 * K, "stripe": 2 * M, "chunk": 512 * K}
    assert host_io_limits(Host()) == {}


def test_only_limits_that_such_reads_meet_are_named() -> None:
    """Read-ahead explains nothing of reads past the page cache, and no limit of a disk explains cached ones."""
    limits = {"read_ahead": 128 * K, "largest_request": 1280 * K}
    assert "read-ahead" in nearest_limit_text(256 * K, limits, "ahead")
    assert nearest_limit_text(256 * K, limits, "direct") == ""
    assert "largest request" in nearest_limit_text(M, limits, "direct")
    assert nearest_limit_text(128 * K, limits, "cached") == ""
