"""Reads all saved rings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from advisor.state.directory import state_folder
from advisor.state.sampling import ring
from advisor.state.sampling.busiest import summarize_samples
from advisor.state.sampling.keep import ENDING, FOLDER

if TYPE_CHECKING:
    from advisor.facts import SampledHours


class SampleRing(NamedTuple):
    """One server's ring: its name, its file, and its summary; None if it is empty."""

    server: str
    path: str
    hours: SampledHours | None


def read_rings() -> tuple[list[SampleRing], list[str]]:
    """Return the rings sorted by server name, and a line on each invalid file."""
    folder = state_folder(FOLDER)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(ENDING))
    except OSError:
        return [], []
    found, damaged = [], []
    for path in (os.path.join(folder, name) for name in names):
        try:
            head, entries = ring.read(path)
            found.append(SampleRing(head.server, path, summarize_samples(entries)))
        except ring.RingError as error:
            damaged.append(str(error))
        except OSError as error:
            damaged.append(f"{path} can't be read ({error.strerror}); it was ignored")
    return sorted(found, key=lambda one: one[:2]), damaged
