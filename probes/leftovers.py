"""Remember the directories of runs, so that a later run can remove what a killed run left there."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from typing import TYPE_CHECKING

from advisor.state.private_file import PRIVATE, make_private
from probes.experiment import ProbeError
from probes.results import make_results_folder, remove_partial_files
from probes.sandbox import sweep
from probes.sandbox.scratch import PREFIX, SHORT_BASE, default_base

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACES_FILE = "places"
MAXIMUM_PLACES = 100  # the latest directories that are remembered
MAXIMUM_BYTES = 1 << 20


def remove_leftovers(places: tuple[str, ...]) -> None:
    """Remove what killed runs left in all remembered directories and in `places`, where a run is about to start.

    `places` are then remembered; directories without leftovers are forgotten.
    """
    remove_partial_files()
    begun = (*places, default_base())
    with _remembered_places() as known:
        for place in dict.fromkeys((*begun, SHORT_BASE, *known)):
            sweep(place)
        known[:] = dict.fromkeys((*(place for place in known if _has_leftovers(place)), *begun))


@contextlib.contextmanager
def _remembered_places() -> Iterator[list[str]]:
    """The remembered directories, locked while they are changed; empty if the file cannot be written."""
    try:
        how = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        file = os.open(os.path.join(make_results_folder(), PLACES_FILE), how, PRIVATE)
    except (OSError, ProbeError):
        yield []
        return
    try:
        make_private(file, PRIVATE)
        fcntl.flock(file, fcntl.LOCK_EX)
        known = _read_places(file)
        before = list(known)
        yield known
        if known != before:
            _write_places(file, known[-MAXIMUM_PLACES:])
    finally:
        os.close(file)


def _read_places(file: int) -> list[str]:
    try:
        document = json.loads(os.pread(file, MAXIMUM_BYTES, 0) or b"[]")
    except (ValueError, RecursionError):
        return []
    return [place for place in document if isinstance(place, str)] if isinstance(document, list) else []


def _write_places(file: int, known: list[str]) -> None:
    text = json.dumps(known).encode("ascii")
    with contextlib.suppress(OSError):  # a full disk prevents only this record, not the run
        os.pwrite(file, text, 0)
        os.ftruncate(file, len(text))


def _has_leftovers(place: str) -> bool:
    try:
        return any(name.startswith(PREFIX) for name in os.listdir(place))
    except OSError:
        return False
