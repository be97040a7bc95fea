"""Report a run over all readers, and save the inputs that broke one."""

from __future__ import annotations

import collections
import hashlib
import os
import time
from collections.abc import Iterable

from trying import Batch, Broken

COLUMNS = "{:<18}{:>10}{:>10}{:>10}{:>8}{:>12}"
SHOWN = 3  # examples per kind of failure


class Sum:
    """The results for all inputs of a reader so far."""

    def __init__(self) -> None:
        self.read = self.refused = self.broken = 0
        self.slowest = 0.0

    def add(self, batch: Batch) -> None:
        """Count a batch."""
        self.read += batch.read
        self.refused += batch.refused
        self.broken += len(batch.broken)
        self.slowest = max(self.slowest, batch.slowest)

    @property
    def all(self) -> int:
        """The number of inputs."""
        return self.read + self.refused + self.broken


def tell(batches: Iterable[Batch], folder: str) -> int:
    """Print each new kind of failure with a saved input, and a table at the end; returns the number of failures."""
    sums: dict[str, Sum] = collections.defaultdict(Sum)
    seen: collections.Counter[tuple[str, str]] = collections.Counter()
    peak, began = 0, time.monotonic()
    for batch in batches:
        sums[batch.reader].add(batch)
        peak = max(peak, batch.peak)
        for broken in batch.broken:
            seen[broken.reader, broken.how] += 1
            if seen[broken.reader, broken.how] <= SHOWN:
                print(f"{broken.reader}: {broken.how}\n    {keep(broken, folder)}", flush=True)
    print(table(sums))
    count = sum(one.all for one in sums.values())
    broke = sum(one.broken for one in sums.values())
    seconds = time.monotonic() - began
    print(f"{count:,} inputs, {broke} broke a reader, {peak >> 20} MB at the peak of a process, {seconds:.0f} s")
    return broke


def keep(broken: Broken, folder: str) -> str:
    """Save the input in the folder and return its path."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{broken.reader}-{hashlib.sha256(broken.data).hexdigest()[:12]}")
    with open(path, "wb") as file:
        file.write(broken.data)
    return path


def table(sums: dict[str, Sum]) -> str:
    """A table with a row per reader."""
    rows = [COLUMNS.format("reader", "inputs", "read", "refused", "broken", "slowest ms")]
    for name, one in sorted(sums.items()):
        rows.append(COLUMNS.format(name, one.all, one.read, one.refused, one.broken, f"{1000 * one.slowest:.0f}"))
    return "\n".join(rows)
