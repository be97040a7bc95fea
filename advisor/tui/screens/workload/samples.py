"""Samples that the app keeps: an hour for its charts, two for the rules, and those of a recorded series."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, NamedTuple

from advisor.facts.workload import DISK_BUSY, Sample
from advisor.tui.screens.workload.counters import USED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FINE = 900.0  # seconds in which every sample is kept
COARSE = 10.0  # seconds between older samples: rates stay exact, as counters only rise
LONGEST = 3600.0  # seconds
MOST_SAMPLES = 900  # in any case
MOST_CHANGES = 100
RULES_STEP, RULES_LONGEST = 300.0, 1800.0  # seconds between samples kept whole, and of the window that rules judge


class VariableChange(NamedTuple):
    """A global variable that changed at or shortly before `at`, on the clock of the samples; secrets are masked."""

    at: float
    name: str
    before: str
    after: str


def add_sample(samples: tuple[Sample, ...], new: Sample) -> tuple[Sample, ...]:
    """The samples with a new one: all of the last minutes, fewer of the hour before, none from before a restart."""
    slim = Sample(new.at, _used(new.status), new.lsn, new.query_time)
    if not samples or new.at < samples[-1].at:
        return (slim,)
    kept: list[Sample] = []
    for sample in samples:
        if new.at - sample.at > LONGEST + COARSE:
            continue
        if new.at - sample.at <= FINE or not kept or sample.at - kept[-1].at >= COARSE:
            kept.append(sample)
    return (*kept[-MOST_SAMPLES + 1 :], slim)


def _used(status: Mapping[str, int]) -> dict[str, int]:
    """The counters that charts need, without a copy of each name."""
    return {sys.intern(key): value for key, value in status.items() if key in USED or key.startswith(DISK_BUSY)}


def add_whole_sample(kept: tuple[Sample, ...], new: Sample) -> tuple[Sample, ...]:
    """The samples that rules judge, with all counters; first and last are a window of about half an hour at most."""
    if not kept or new.at < kept[-1].at:
        return (new,)
    if len(kept) > 1 and kept[-1].at - kept[-2].at < RULES_STEP:
        kept = kept[:-1]
    while len(kept) > 1 and new.at - kept[1].at >= RULES_LONGEST:
        kept = kept[1:]
    return (*kept, new)


class RecordedSeries(NamedTuple):
    """Samples that were recorded with the changes of variables among them, and one sentence about them."""

    samples: tuple[Sample, ...]
    changes: tuple[VariableChange, ...]
    about: str


def write_series(path: str, series: RecordedSeries) -> None:
    """Write a series as small as it goes: of each counter the first value, then by how much it rose."""
    names = sorted({name for sample in series.samples for name in sample.status})
    used = [name for name in names if all(name in sample.status for sample in series.samples)]
    counters = {name: _steps(sample.status[name] for sample in series.samples) for name in used}
    series_json = {
        "version": 1,
        "about": series.about,
        "at": [round(sample.at, 2) for sample in series.samples],
        "query_time": [round(sample.query_time or 0.0, 4) for sample in series.samples],
        "counters": counters,
        "changes": [list(change) for change in series.changes],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(series_json, file, separators=(",", ":"))
        file.write("\n")


def _steps(values: Iterable[int]) -> list[int]:
    steps, before = [], 0
    for value in values:
        steps.append(value - before)
        before = value
    return steps


def load_series(path: str, ends_at: float) -> RecordedSeries:
    """Read a series that came with mycnf, moved so that it ends at this time of a server's clock."""
    with open(path, encoding="utf-8") as file:
        recorded = json.load(file)
    shift = ends_at - recorded["at"][-1]
    values = {name: _sums(steps) for name, steps in recorded["counters"].items()}
    samples = tuple(
        Sample(
            at + shift, {name: column[place] for name, column in values.items()}, None, recorded["query_time"][place]
        )
        for place, at in enumerate(recorded["at"])
    )
    changes = tuple(VariableChange(at + shift, *words) for at, *words in recorded["changes"])
    return RecordedSeries(samples, changes, recorded["about"])


def _sums(steps: Iterable[int]) -> list[int]:
    values, value = [], 0
    for step in steps:
        value += step
        values.append(value)
    return values
