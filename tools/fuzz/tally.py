"""Counts what a run has covered and where it disagreed."""

from __future__ import annotations

import collections
from typing import NamedTuple

from comparing import Disagreement
from composing import Setting
from truth import Truth


class Told(NamedTuple):
    """One file with what the server and the verdict made of it."""

    server: str
    made: list[Setting | str]
    truth: Truth
    wrong: list[Disagreement]
    cells: int


class Tally:
    """What was put to each server so far."""

    def __init__(self) -> None:
        self.settings = self.files = self.wrong = 0
        self.count: collections.Counter[tuple[str, str]] = collections.Counter()
        self.options: dict[str, set[str]] = collections.defaultdict(set)
        self.reached: dict[str, set[tuple[str, str]]] = collections.defaultdict(set)
        self.cells: dict[str, int] = {}

    def add(self, told: Told) -> None:
        """Count one file."""
        server, settings = told.server, [part for part in told.made if isinstance(part, Setting)]
        self.files += 1
        self.settings += len(settings)
        self.wrong += len(told.wrong)
        self.cells[server] = told.cells
        self.count[server, "settings"] += len(settings)
        self.count[server, "traps"] += sum(s.trap for s in settings)
        self.count[server, "refused"] += len(told.truth.refused)
        self.count[server, "wrong"] += len(told.wrong)
        self.count[server, "asks"] += told.truth.asks
        self.count[server, "no end"] += told.truth.last is None
        self.options[server] |= {s.option for s in settings}
        self.reached[server] |= {(s.option, s.value_class) for s in settings}

    def report(self, seconds: float) -> str:
        """The table of a run."""
        rows = [f"{'server':14}{'settings':>9}{'wrong':>7}{'%':>8}{'refused':>9}{'traps %':>9}{'options':>9}{'cells':>8}{'of':>8}{'asks':>8}{'no end':>7}"]
        for server in sorted(self.cells):
            n = self.count[server, "settings"]
            rows.append(
                f"{server:14}{n:9}{self.count[server, 'wrong']:7}{100 * self.count[server, 'wrong'] / n:8.3f}"
                f"{self.count[server, 'refused']:9}{100 * self.count[server, 'traps'] / n:9.1f}{len(self.options[server]):9}"
                f"{len(self.reached[server]):8}{self.cells[server]:8}{self.count[server, 'asks']:8}{self.count[server, 'no end']:7}"
            )
        share = 100 * self.wrong / max(1, self.settings)
        rows.append(f"{self.settings} settings in {self.files} files, {self.wrong} disagree: {share:.3f} %")
        rows.append(f"{seconds:.0f} s, {self.settings / seconds:.0f} settings/s")
        return "\n".join(rows)
