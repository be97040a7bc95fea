"""The machine's architecture, as `uname -m` would say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.host.formats import read_word

if TYPE_CHECKING:
    from advisor.collect.host.cpuinfo import Kind
    from advisor.collect.host.root import Root


def read_architecture(root: Root, kind: Kind) -> str | None:
    """Ask the machine, then its kernel's files (6.1 and later tell), then conclude from what its processors can do."""
    return root.machine() or read_word(root, "/proc/sys/kernel/arch") or _conclude(root, kind)


def _conclude(root: Root, kind: Kind) -> str | None:
    isa, arm = kind.get("isa") or "", kind.get("architecture")
    power = {"little": "ppc64le", "big": "ppc64"}.get(read_word(root, "/sys/kernel/cpu_byteorder") or "")
    signs = (
        ("lm" in kind.flags, "x86_64"),
        ("zarch" in kind.flags, "s390x"),
        (bool(kind.flags & {"sun4u", "sun4v"}), "sparc64"),
        ("loongarch64" in isa.split(), "loongarch64"),
        (isa.startswith("rv64"), "riscv64"),
        ((kind.get("name") or "").startswith("POWER"), power),
        (arm == "8", "aarch64"),
        (arm == "7", "armv7l"),
    )
    return next((name for holds, name in signs if holds), None)
