"""Count what a run has covered, and its disagreements."""

from __future__ import annotations

import collections
from typing import NamedTuple

from comparing import Disagreement
from composing import Setting
from truth import Truth

HEADS = ("server", "settings", "wrong", "%", "traps %", "options", "cells", "of", "refused", "asks", "no end")
COLUMNS = "{:14}" + "{:>9}" * (len(HEADS) - 1)


class FileOutcome(NamedTuple):
    """One file with the server's reaction and the verdict."""

    server: str
    made: list[Setting | str]
    truth: Truth
    wrong: list[Disagreement]
    cells: int


class Tally:
    """The counts per server so far."""

    def __init__(self) -> None:
        self.settings = self.files = self.wrong = 0
        self.count: collections.Counter[tuple[str, str]] = collections.Counter()
        self.options: dict[str, set[str]] = collections.defaultdict(set)
        self.reached: dict[str, set[tuple[str, str]]] = collections.defaultdict(set)
        self.cells: dict[str, int] = {}

    def add(self, outcome: FileOutcome) -> None:
        """Count one file."""
        server, settings = outcome.server, [part for part in outcome.made if isinstance(part, Setting)]
        self.files += 1
        if outcome.truth.last is None:
            self.count[server, "no end"] += 1
            settings = []
        self.settings += len(settings)
        self.wrong += len(outcome.wrong)
        self.cells[server] = outcome.cells
        self.count[server, "settings"] += len(settings)
        self.count[server, "traps"] += sum(s.trap for s in settings)
        self.count[server, "refused"] += len(outcome.truth.refused)
        self.count[server, "wrong"] += len(outcome.wrong)
        self.count[server, "asks"] += outcome.truth.asks
        self.options[server] |= {s.option for s in settings}
        self.reached[server] |= {(s.option, s.value_class) for s in settings}

    def report(self, seconds: float) -> str:
        """The table of a run."""
        rows = [COLUMNS.format(*HEADS)]
        for server in sorted(self.cells):
            n, wrong = self.count[server, "settings"] or 1, self.count[server, "wrong"]
            shares = (f"{100 * wrong / n:.3f}", f"{100 * self.count[server, 'traps'] / n:.0f}")
            reached = (len(self.options[server]), len(self.reached[server]), self.cells[server])
            asked = [self.count[server, what] for what in ("refused", "asks", "no end")]
            rows.append(COLUMNS.format(server, n, wrong, *shares, *reached, *asked))
        share = 100 * self.wrong / max(1, self.settings)
        rows.append(f"{self.settings} settings in {self.files} files, {self.wrong} disagree: {share:.3f} %")
        rows.append(f"{seconds:.0f} s, {self.settings / seconds:.0f} settings/s")
        return "\n".join(rows)
