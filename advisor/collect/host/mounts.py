"""The table of mounts, and which mount holds a path."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.facts.storage import Mount

if TYPE_CHECKING:
    from advisor.collect.host.root import Root


class Entry(NamedTuple):
    """One line of mountinfo: the mount, its number and that of the mount it stands in."""

    number: int
    parent: int
    mount: Mount


_LINE = re.compile(
    r"([0-9]{1,10}) ([0-9]{1,10}) ([0-9]{1,9}:[0-9]{1,9}) (\S+) (\S+) (\S+)"  # numbers, device, root, point, options
    r"(?: \S+)* - (\S+) (\S*) (\S+)"  # optional fields, dash, type, source, options of the file system: proc(5)
)


def read_mounts(root: Root, pid: int | None = None) -> tuple[Entry, ...]:
    """The mounts that a process sees, or that we see where its own can't be read."""
    own = root.read(f"/proc/{pid}/mountinfo") if pid is not None else None
    text = own or root.read("/proc/self/mountinfo") or root.read("/proc/1/mountinfo") or ""
    return tuple(entry for entry in map(_entry, text.split("\n")) if entry)


def _entry(line: str) -> Entry | None:
    found = _LINE.fullmatch(line)
    if not found:
        return None
    number, parent, device, inner, point, options, fs_type, source, fs_options = found.groups()
    together = dict.fromkeys((*options.split(","), *fs_options.split(",")))
    mount = Mount(
        point=unescape(point),
        fs_type=fs_type,
        source=unescape(source),
        number=device,
        root=unescape(inner),
        options=tuple(unescape(option) for option in together),
    )
    return Entry(int(number), int(parent), mount)


def unescape(text: str) -> str:
    """A field with the kernel's octal escapes (blank, tab, newline, backslash) resolved."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8) & 0xFF), text)


def mount_of(entries: tuple[Entry, ...], path: str) -> Mount | None:
    """The mount that a path without links lies in; of mounts stacked on one point the uppermost.

    The path is walked down as the kernel does it, since a mount may be hidden by a later one above it.
    """
    path = posixpath.normpath(path)
    within = [entry for entry in entries if _holds(entry.mount.point, path)]
    numbers = {entry.number for entry in within}
    current = next((e for e in within if e.mount.point == "/" and e.parent not in numbers - {e.number}), None)
    if current is None:
        longest = max(within, key=lambda entry: len(entry.mount.point), default=None)
        return longest.mount if longest else None
    left = [entry for entry in within if entry is not current]
    while True:
        inner = [entry for entry in left if entry.parent == current.number]
        if not inner:
            return current.mount
        current = min(inner, key=lambda entry: len(entry.mount.point))
        left.remove(current)


def _holds(point: str, path: str) -> bool:
    return point in ("/", path) or path.startswith(point + "/")
