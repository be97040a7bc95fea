"""Saves a sample in the ring of its server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from advisor.state.directory import lock_folder, make_state_folder, server_id, server_name, state_folder
from advisor.state.sampling import ring
from advisor.state.sampling.ring import NAMES, RESOLUTION, SLOTS, Head, RingError, RingSample

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.facts import Sample

FOLDER = "samples"
ENDING = ".ring"
MOST_NAME = 300  # characters of a server's name; fits into the head in any encoding
STARTS_AGREE = 120  # seconds by which the start times computed from two samples may differ, since clocks are adjusted


class SavedSample(NamedTuple):
    """The result of saving a sample: the ring's file, its number of samples, and whether this one was too early."""

    path: str
    held: int = 0
    too_soon: bool = False


def ring_path(variables: Mapping[str, str]) -> str:
    """Return the path of a server's ring, which may not exist."""
    return os.path.join(state_folder(FOLDER), f"{server_id(variables)}{ENDING}")


def save_sample(sample: Sample, variables: Mapping[str, str], now: int, slots: int = SLOTS) -> SavedSample:
    """Save a sample in the ring of the server with these variables; `now` is seconds since 1970.

    A sample less than half the resolution after the newest is dropped, so that the ring covers its days however often
    it is called. Raises MycnfError if the ring cannot be written; it stays unchanged.
    """
    folder = make_state_folder(FOLDER)
    path = os.path.join(folder, f"{server_id(variables)}{ENDING}")
    head = Head(server_name(variables)[:MOST_NAME], NAMES, slots)
    counters = {name: sample.status[name] for name in NAMES if name in sample.status}
    entry = RingSample(now, int(sample.at), sample.lsn, counters)
    try:
        with lock_folder(folder):
            _prepare_ring(path, head)
            newest = ring.last(path, head)
            if newest is not None and _too_soon(newest, entry):
                return SavedSample(path, too_soon=True)
            return SavedSample(path, ring.append(path, head, entry))
    except OSError as error:
        raise RingError(
            f"the sample can't be kept in {path} ({error.strerror}); free some space there, or set XDG_STATE_HOME"
        ) from error


def same_start(earlier: RingSample, later: RingSample) -> bool:
    """Whether both samples are from one start of the server, by uptime and clock, without a clock jump."""
    started = (earlier.time - earlier.uptime, later.time - later.uptime)
    return later.uptime >= earlier.uptime and abs(started[1] - started[0]) <= STARTS_AGREE


def _too_soon(newest: RingSample, entry: RingSample) -> bool:
    return entry.uptime - newest.uptime < RESOLUTION // 2 and same_start(newest, entry)


def _prepare_ring(path: str, head: Head) -> None:
    """Create a missing ring; rewrite one with other counters, from another version of mycnf, with its samples."""
    if not os.path.exists(path):
        ring.create(path, head)
    elif ring.read_head(path)[1:] != head[1:]:
        ring.create(path, head, ring.read(path)[1])
