"""Find the bends in a curve of throughput by block size, and the host's I/O limits near them."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.sizes import exact_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from advisor.facts.host import Host

NEAR_BEST = 0.9
"""Throughput of at least this share of the best counts as equally good."""
MINIMUM_ROUNDS = 3  # with fewer rounds, one slow period of the host could look like a bend
LIMIT_FACTOR = 2.0
"""A device limit explains a bend if they differ at most by this factor."""


class CurveBends(NamedTuple):
    """The bends of one curve in bytes.

    No block size above `enough` was certainly faster; all above `falls_above` were certainly slower than the best
    (None if there are none).
    """

    sufficient: int
    drops_above: int | None


def find_bends(curve: Mapping[int, Sequence[float]]) -> CurveBends | None:
    """The bends of throughput by block size; None with fewer than two sizes or three rounds.

    A size is certainly slower than the best if it was slower in each round than the best in any round, and its median
    by a tenth.
    """
    if len(curve) < 2 or min(len(values) for values in curve.values()) < MINIMUM_ROUNDS:  # noqa: PLR2004 - it takes two points
        return None
    sizes = sorted(curve)
    best = max(sizes, key=lambda size: statistics.median(curve[size]))
    slow = [size for size in sizes if _is_slower(curve[size], curve[best])]
    enough = next(size for size in sizes if size > max([s for s in slow if s < best], default=0))
    before = [size for size in sizes if size not in slow]
    return CurveBends(enough, before[-1] if before[-1] != sizes[-1] else None)


def _is_slower(these: Sequence[float], those: Sequence[float]) -> bool:
    return max(these) < min(those) and statistics.median(these) < NEAR_BEST * statistics.median(those)


def host_io_limits(host: Host) -> dict[str, int]:
    """The host's limits on block sizes in bytes: `read_ahead`, `largest_request`, `chunk`, `stripe`, if known.

    The first device in the path that has a limit counts, because the file system sends its requests to that device.
    """
    found: dict[str, int] = {}
    storage = host.storage
    if storage is None:
        return found
    for name, field in (("read_ahead", "read_ahead"), ("largest_request", "max_io")):
        value = next((v for device in storage.devices if (v := getattr(device, field))), None)
        if value:
            found[name] = value
    stripe = storage.stripe
    if stripe:
        found["stripe"] = stripe.size
        if stripe.chunk:
            found["chunk"] = stripe.chunk
    return found


LIMITS_BY_METHOD = {
    "cached": (),
    "ahead": ("read_ahead", "largest_request", "chunk", "stripe"),
    "direct": ("largest_request", "chunk", "stripe"),
}
LIMIT_TEXTS = {
    "read_ahead": "the kernel's maximum read-ahead",
    "largest_request": "the device's largest request",
    "chunk": "the RAID chunk size",
    "stripe": "the RAID stripe size",
}


def nearest_limit_text(block: int, limits: Mapping[str, int], way: str) -> str:
    """A clause on the nearest host limit that applies to such reads; empty if none is near."""
    met = LIMITS_BY_METHOD[way]
    near = [name for name in met if name in limits and abs(math.log2(limits[name] / block)) <= math.log2(LIMIT_FACTOR)]
    if not near:
        return ""
    nearest = min(near, key=lambda name: abs(math.log2(limits[name] / block)))
    return f", near {LIMIT_TEXTS[nearest]} ({exact_size(limits[nearest])})"
