"""The sizes of a running server's files that grow by themselves: binary and relay logs, undo and temporary files."""

from __future__ import annotations

import os
import posixpath
import re
import time
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from advisor.facts.storage import ServerFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

BINARY_LOG, RELAY_LOG, UNDO, TEMPORARY = "binary log", "relay log", "undo tablespaces", "temporary tablespaces"
MAX_FILES = 100_000  # per directory: more are not counted, and the kind is left out
BLOCK = 512  # bytes of st_blocks, for any block size of the file system
_UNDO = re.compile(r"undo_?[0-9]{1,10}|.{1,200}\.ibu")
_SESSION_FILES = "#innodb_temp"
_TEMPORARY_FILE = "ibtmp1"


class _Kind(NamedTuple):
    """Files of a kind: their directory, relative to the data directory, and the pattern of their names."""

    kind: str
    directory: str
    name: re.Pattern[str]


def read_server_files(pid: int, variables: Mapping[str, str]) -> tuple[ServerFiles, ...] | None:
    """The kinds of files that exist, through the process's own root; None if the data directory cannot be listed.

    One listing per directory and one stat per file that matches; the files are not opened.
    """
    datadir = variables.get("datadir", "")
    names = cache(_names)  # most kinds are in the data directory, which is listed once
    if not datadir or names(_inside(pid, datadir)) is None:
        return None
    found = (_measure(_inside(pid, posixpath.join(datadir, kind.directory)), kind, names) for kind in _kinds(variables))
    return _merge_kinds(one for one in found if one is not None)


def _kinds(variables: Mapping[str, str]) -> Iterator[_Kind]:
    for kind, variable in ((BINARY_LOG, "log_bin_basename"), (RELAY_LOG, "relay_log_basename")):
        directory, _, name = variables.get(variable, "").rpartition("/")
        if name:
            yield _Kind(kind, directory or ".", re.compile(rf"{re.escape(name)}\.[0-9]{{6,10}}"))
    undo = variables.get("innodb_undo_directory") or "."
    yield _Kind(UNDO, undo, _UNDO)
    yield _Kind(TEMPORARY, ".", re.compile(_TEMPORARY_FILE))
    yield _Kind(TEMPORARY, _SESSION_FILES, re.compile(r"temp_[0-9]{1,10}\.ibt"))


def _measure(directory: str, kind: _Kind, names_of: Callable[[str], list[str] | None]) -> ServerFiles | None:
    """The files of one kind; None if there are none, or the directory cannot be listed."""
    names = [name for name in names_of(directory) or () if kind.name.fullmatch(name)]
    if not names or len(names) > MAX_FILES:
        return None
    sizes: list[tuple[float, int]] = []
    devices: set[int] = set()
    for name in names:
        try:
            status = os.stat(os.path.join(directory, name), follow_symlinks=False)
        except OSError:  # removed meanwhile
            continue
        sizes.append((status.st_mtime, status.st_blocks * BLOCK))
        devices.add(status.st_dev)
    if not sizes:
        return None
    oldest, its_size = min(sizes)
    return ServerFiles(
        kind=kind.kind,
        count=len(sizes),
        bytes=sum(size for _, size in sizes),
        oldest=max(0, int(time.time() - oldest)),
        oldest_bytes=its_size,
        number=_number(devices.pop()) if len(devices) == 1 else "",
    )


def _sum(files: ServerFiles, other: ServerFiles) -> ServerFiles:
    number = files.number if files.number == other.number else ""
    return ServerFiles(files.kind, files.count + other.count, files.bytes + other.bytes, number=number)


def _number(device: int) -> str:
    return f"{os.major(device)}:{os.minor(device)}"


def _merge_kinds(parts: Iterator[ServerFiles]) -> tuple[ServerFiles, ...]:
    """One entry per kind."""
    kinds: dict[str, ServerFiles] = {}
    for files in parts:
        other = kinds.get(files.kind)
        kinds[files.kind] = files if other is None else _sum(other, files)
    return tuple(kinds.values())


def _inside(pid: int, path: str) -> str:
    """A path of the server's process, whose root may be another one than ours."""
    return f"/proc/{pid}/root{posixpath.normpath(posixpath.join('/', path))}"


def _names(directory: str) -> list[str] | None:
    try:
        return os.listdir(directory)
    except OSError:
        return None
