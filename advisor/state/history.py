"""The servers with saved snapshots, and the snapshots of each."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from advisor.facts.snapshot import SnapshotError, encode_snapshot, fit_snapshot, load
from advisor.facts.storage import SpaceReading
from advisor.state.directory import lock_folder, make_state_folder, server_id, server_name, state_folder
from advisor.state.private_file import PART, replace_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from advisor.facts import Facts


class StoredServer(NamedTuple):
    """A server: its id, its latest name, and its snapshot files, oldest first."""

    id: str
    name: str
    paths: tuple[str, ...]


def list_servers(warn: Callable[[str], object]) -> list[StoredServer]:
    """Return every server with a readable snapshot, sorted by name; damaged ones are reported and ignored."""
    servers = []
    for folder in _folders():
        paths = _paths(folder, warn)
        newest = next(newest_first(paths, warn), None)
        if newest is not None:
            servers.append(StoredServer(os.path.basename(folder), server_name(newest.server.variables), tuple(paths)))
    return sorted(servers, key=lambda one: (one.name, one.id))


def find_server(kept: Sequence[StoredServer], word: str) -> StoredServer:
    """Return the server of that name, with or without its port, or of that id or id prefix.

    Raises MycnfError if there is none, or several.
    """
    for fits in (
        lambda one: word in (one.name, one.id),
        lambda one: word == one.name.rpartition(":")[0],
        lambda one: one.id.startswith(word),
    ):
        matches = [one for one in kept if fits(one)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise MycnfError(
                f"{word!r} matches several servers; name one by its id: {', '.join(one.id for one in matches)}"
            )
    raise MycnfError(f"no snapshot of a server {word!r} is saved; mycnf history lists the saved ones")


def stored_spaces(variables: Mapping[str, str], warn: Callable[[str], object]) -> list[SpaceReading]:
    """Return the readings of free space in a server's newest snapshots."""
    folder = os.path.join(state_folder(FOLDER), server_id(variables))
    paths = _paths(folder, warn)[-MAX_READINGS:] if os.path.isdir(folder) else []
    return [reading for facts in newest_first(paths, warn) for reading in spaces_of(facts)]


def spaces_of(facts: Facts) -> list[SpaceReading]:
    """Return the free space that one snapshot has read, by mount point."""
    host = facts.host
    if host is None:
        return []
    try:
        at = int(datetime.fromisoformat(facts.taken_at).timestamp())
    except (ValueError, OverflowError):
        return []
    places = [*([host.storage] if host.storage else []), *(place.storage for place in host.places)]
    return [SpaceReading(s.mount.point, at, s.space.size, s.space.free) for s in places if s.space is not None]


def newest_first(paths: Sequence[str], warn: Callable[[str], object]) -> Iterator[Facts]:
    """Yield the snapshots, newest first; unreadable ones are reported and ignored."""
    for path in reversed(paths):
        try:
            yield load(path)
        except SnapshotError as error:
            warn(f"{error}; it was ignored")


def _folders() -> list[str]:
    top = state_folder(FOLDER)
    try:
        return sorted(entry.path for entry in os.scandir(top) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _paths(folder: str, warn: Callable[[str], object]) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in snapshot_names(folder)]
    except OSError as error:
        warn(f"{folder} can't be read ({error.strerror}); it was ignored")
        return []


FOLDER = "history"
ENDING = ".json"
MAX_SNAPSHOTS = 100  # per server, 200 to 400 KB each
MAX_AGE = timedelta(days=800)
MIN_SNAPSHOTS = 2  # kept regardless of age: a comparison needs two
MAX_READINGS = 60  # snapshots whose free space is read: a few milliseconds each
AT_ONCE = 2  # deleted for age per call: a clock that is years ahead for a day must not delete the whole history
WRITING = 60.0  # seconds after which a temporary file is abandoned


def save_snapshot(facts: Facts) -> str:
    """Save the facts in their server's history and return the path; identical facts are saved once.

    The largest parts are left out if the snapshot would exceed the size limit, as from pasted texts or large snapshots.

    Raises MycnfError if the facts have no server or cannot be written; saved snapshots stay unchanged.
    """
    if not facts.server.variables:
        raise MycnfError("no variables were read, so the server cannot be identified: nothing was saved")
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
            f"the snapshot cannot be saved in {folder} ({error.strerror}); free some space there, or set XDG_STATE_HOME"
        ) from error
    return path


def _name(folder: str, at: str, data: bytes) -> str:
    """Return the file name for these facts: the existing one, or a new one sorted after those of the same second."""
    ending = f"-{hashlib.sha256(data).hexdigest()[:8]}{ENDING}"
    of_second = [name for name in snapshot_names(folder) if name.startswith(at)]
    known = [name for name in of_second if name.endswith(ending)]
    after = f".{len(of_second):02}" if of_second else ""  # a dot sorts after the hyphen of the first name
    return known[0] if known else f"{at}{after}{ending}"


def file_stamp(taken_at: str) -> str:
    """Return a snapshot's time as used in file names, which sort by time: 20261121T050100."""
    try:
        at = datetime.fromisoformat(taken_at)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).strftime("%Y%m%dT%H%M%S")
    except (ValueError, OverflowError):
        return "00000000T000000"


def snapshot_names(folder: str) -> list[str]:
    """Return the snapshot files in a server's directory, oldest first; raises OSError."""
    return sorted(name for name in os.listdir(folder) if name.endswith(ENDING))


def _delete_expired(folder: str) -> None:
    """Delete snapshots above the limits of number and age, and temporary files left by a killed process."""
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
