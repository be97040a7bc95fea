"""The servers whose snapshots are kept, and the snapshots of each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from advisor.facts.snapshot import SnapshotError, load
from advisor.state.directory import state_folder
from advisor.state.history.keep import FOLDER, names
from advisor.state.server_identity import server_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from advisor.facts import Facts


class Kept(NamedTuple):
    """A server: its id, its name as last seen, and the files of its snapshots, the oldest first."""

    id: str
    name: str
    paths: tuple[str, ...]


def servers(tell: Callable[[str], object]) -> list[Kept]:
    """Every server with a snapshot that can be read, by name; what is damaged is told and passed over."""
    found = []
    for folder in _folders():
        paths = _paths(folder, tell)
        newest = next(newest_first(paths, tell), None)
        if newest is not None:
            found.append(Kept(os.path.basename(folder), server_name(newest.server.variables), tuple(paths)))
    return sorted(found, key=lambda one: (one.name, one.id))


def find(kept: Sequence[Kept], word: str) -> Kept:
    """The server of that name or id, or whose id begins so. Raises MycnfError where none is meant, or several are."""
    for fits in (lambda one: word in (one.name, one.id), lambda one: one.id.startswith(word)):
        found = [one for one in kept if fits(one)]
        if len(found) == 1:
            return found[0]
        if found:
            raise MycnfError(f"{word!r} is several servers; name one by its id: {', '.join(one.id for one in found)}")
    raise MycnfError(f"no snapshot of a server {word!r} is kept; mycnf history lists those that are")


def newest_first(paths: Sequence[str], tell: Callable[[str], object]) -> Iterator[Facts]:
    """The snapshots from the newest on; those that can't be read are told and passed over."""
    for path in reversed(paths):
        try:
            yield load(path)
        except SnapshotError as error:
            tell(f"{error}; it was passed over")


def _folders() -> list[str]:
    top = state_folder(FOLDER)
    try:
        return sorted(entry.path for entry in os.scandir(top) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _paths(folder: str, tell: Callable[[str], object]) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in names(folder)]
    except OSError as error:
        tell(f"{folder} can't be read ({error.strerror}); it was passed over")
        return []
