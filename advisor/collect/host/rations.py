"""What a control group rations besides memory: processor time that was withheld, threads, requests to devices.

Files and meanings: the kernel's Documentation/scheduler/sched-bwc.rst, admin-guide/cgroup-v1/pids.rst and
blkio-controller.rst, and admin-guide/cgroup-v2.rst for the second version, whose files have names of their own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.host.formats import number, table
from advisor.facts.host import IoLimit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.collect.host.root import Root

_FILES = {
    "reads": "blkio.throttle.read_iops_device",
    "writes": "blkio.throttle.write_iops_device",
    "read_bytes": "blkio.throttle.read_bps_device",
    "write_bytes": "blkio.throttle.write_bps_device",
}
_KEYS = {"riops": "reads", "wiops": "writes", "rbps": "read_bytes", "wbps": "write_bytes"}


class Rations(NamedTuple):
    """Fields of Cgroup; each is that of the strictest group on the way up."""

    periods: int | None
    throttled: int | None
    tasks: int | None
    io: tuple[IoLimit, ...]


def read_rations(root: Root, cpu: Sequence[str], pids: Sequence[str], io: Sequence[str]) -> Rations:
    """Read what the groups of three hierarchies ration; each is given as directories, the process's own first."""
    periods, throttled = _withheld(root, cpu)
    tasks = [number(root.read(f"{step}/pids.max", 64)) for step in pids]
    return Rations(periods, throttled, min((n for n in tasks if n is not None), default=None), _io(root, io))


def _withheld(root: Root, steps: Iterable[str]) -> tuple[int | None, int | None]:
    """Periods and throttled periods of the group that was throttled most often."""
    counts = []
    for step in steps:
        rows = table(root.read(f"{step}/cpu.stat", 4096), " ")
        periods, throttled = number(rows.get("nr_periods")), number(rows.get("nr_throttled"))
        if periods is not None and throttled is not None:
            counts.append((periods, throttled))
    return max(counts, key=lambda pair: pair[1], default=(None, None))


def _io(root: Root, steps: Iterable[str]) -> tuple[IoLimit, ...]:
    """The limits by device, from either version's files."""
    found: dict[str, dict[str, int]] = {}
    for step in steps:
        for device, what, limit in (*_version_1(root, step), *_version_2(root, step)):
            limits = found.setdefault(device, {})
            limits[what] = min(limit, limits.get(what, limit))
    return tuple(IoLimit(device, **limits) for device, limits in sorted(found.items()))


def _version_1(root: Root, step: str) -> Iterable[tuple[str, str, int]]:
    """A file for each kind of limit, with lines such as `8:16 1048576`."""
    for what, file in _FILES.items():
        for device, limit in re.findall(r"^([0-9]+:[0-9]+) ([0-9]{1,18})$", _text(root, step, file), re.MULTILINE):
            yield device, what, int(limit)


def _version_2(root: Root, step: str) -> Iterable[tuple[str, str, int]]:
    """Lines such as `8:16 rbps=2097152 wbps=max riops=max wiops=120`."""
    for device, limits in re.findall(r"^([0-9]+:[0-9]+) (.*)$", _text(root, step, "io.max"), re.MULTILINE):
        for key, limit in re.findall(r"\b([rw](?:bps|iops))=([0-9]{1,18})\b", limits):
            yield device, _KEYS[key], int(limit)


def _text(root: Root, step: str, file: str) -> str:
    return root.read(f"{step}/{file}", 1 << 16) or ""
