"""The servers whose snapshots are kept, and the snapshots of each."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from advisor.facts.size_limits import fit_snapshot
from advisor.facts.snapshot import SnapshotError, encode_snapshot, load
from advisor.state.directory import lock_folder, make_state_folder, server_id, server_name, state_folder
from advisor.state.private_file import PART, replace_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from advisor.facts import Facts


class StoredServer(NamedTuple):
    """A server: its id, its name as last seen, and the files of its snapshots, the oldest first."""

    id: str
    name: str
    paths: tuple[str, ...]


def list_servers(tell: Callable[[str], object]) -> list[StoredServer]:
    """Every server with a snapshot that can be read, by name; what is damaged is told and passed over."""
    found = []
    for folder in _folders():
        paths = _paths(folder, tell)
        newest = next(newest_first(paths, tell), None)
        if newest is not None:
            found.append(StoredServer(os.path.basename(folder), server_name(newest.server.variables), tuple(paths)))
    return sorted(found, key=lambda one: (one.name, one.id))


def find_server(kept: Sequence[StoredServer], word: str) -> StoredServer:
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
            tell(f"{error}; it was ignored")


def _folders() -> list[str]:
    top = state_folder(FOLDER)
    try:
        return sorted(entry.path for entry in os.scandir(top) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _paths(folder: str, tell: Callable[[str], object]) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in snapshot_names(folder)]
    except OSError as error:
        tell(f"{folder} can't be read ({error.strerror}); it was ignored")
        return []


FOLDER = "history"
ENDING = ".json"
MAX_SNAPSHOTS = 100  # snapshots of a server, at two to four hundred kilobytes each
MAX_AGE = timedelta(days=800)
MIN_SNAPSHOTS = 2  # stay however old they are: without two there is nothing to compare
AT_ONCE = 2  # go for their age each time: a clock that is years ahead for a day must not cost the whole history
WRITING = 60.0  # seconds after which nobody is still writing


def save_snapshot(facts: Facts) -> str:
    """Keep the facts in the history of their server and return where; the same facts twice are kept once.

    Of what was told in a text, or stands in a large snapshot, the parts that nobody could read again are left out.

    Raises MycnfError, what was kept before untouched, where there is no server in them or they can't be written.
    """
    if not facts.server.variables:
        raise MycnfError("no variables were read, so the server cannot be identified: nothing was kept")
    folder = make_state_folder(os.path.join(FOLDER, server_id(facts.server.variables)))
    data = encode_snapshot(fit_snapshot(facts))
    try:
        with lock_folder(folder):
            path = os.path.join(folder, _name(folder, file_stamp(facts.taken_at), data))
            if not os.path.exists(path):
                replace_private(path, data)
            _delete_expired(folder)
    except OSError as error:
        raise MycnfError(
            f"the snapshot can't be kept in {folder} ({error.strerror}); free some space there, or set XDG_STATE_HOME"
        ) from error
    return path


def _name(folder: str, at: str, data: bytes) -> str:
    """The name of these facts in the folder: theirs where they are kept, else one behind all of the same second."""
    ending = f"-{hashlib.sha256(data).hexdigest()[:8]}{ENDING}"
    of_second = [name for name in snapshot_names(folder) if name.startswith(at)]
    known = [name for name in of_second if name.endswith(ending)]
    after = f".{len(of_second):02}" if of_second else ""  # a point sorts behind the hyphen of the first
    return known[0] if known else f"{at}{after}{ending}"


def file_stamp(taken_at: str) -> str:
    """The time of a snapshot as names of files have it, which sort by time: 20261121T050100."""
    try:
        at = datetime.fromisoformat(taken_at)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).strftime("%Y%m%dT%H%M%S")
    except (ValueError, OverflowError):
        return "00000000T000000"


def snapshot_names(folder: str) -> list[str]:
    """The files of snapshots in a server's folder, the oldest first. Raises OSError."""
    return sorted(name for name in os.listdir(folder) if name.endswith(ENDING))


def _delete_expired(folder: str) -> None:
    """Remove what is beyond the number or the age that is kept, and the parts that a kill left."""
    kept = snapshot_names(folder)
    eldest = file_stamp((datetime.now(UTC) - MAX_AGE).isoformat())
    aged = [name for name in kept[-MAX_SNAPSHOTS:-MIN_SNAPSHOTS] if name < eldest]
    for name in kept[:-MAX_SNAPSHOTS] + aged[:AT_ONCE]:
        os.unlink(os.path.join(folder, name))
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            if name.endswith(PART) and time.time() - os.stat(path).st_mtime > WRITING:
                os.unlink(path)
