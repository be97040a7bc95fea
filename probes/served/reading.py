"""How a server reads: its calls and bytes as the kernel counts them."""

from __future__ import annotations

from typing import NamedTuple


class Reads(NamedTuple):
    """Calls of read() and its kin, the bytes that they gave, and the bytes that came from a device meanwhile."""

    calls: int
    bytes: int
    from_device: int

    def since(self, before: Reads) -> Reads:
        """What was read after `before`."""
        return Reads(*(now - then for now, then in zip(self, before, strict=True)))

    @property
    def size(self) -> float | None:
        """Bytes a call, None without a call."""
        return self.bytes / self.calls if self.calls else None


def reads_of(pid: int) -> Reads | None:
    """What a process has read so far; None where the kernel doesn't tell (another user's process)."""
    try:
        with open(f"/proc/{pid}/io", encoding="ascii") as text:
            told = dict(line.split(": ") for line in text.read().splitlines())
        return Reads(int(told["syscr"]), int(told["rchar"]), int(told["read_bytes"]))
    except (OSError, KeyError, ValueError):
        return None
