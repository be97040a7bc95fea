"""The list of screens: the digit that shows each, and the module that is imported when it is first shown."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from advisor.tui.pane import Pane


NARROW = 70  # columns; with fewer, what stands side by side elsewhere stands one below the other


class Place(NamedTuple):
    """One screen: `id` is the name of its module in panes, which offers it under the name PANE."""

    digit: str
    id: str
    title: str

    def make(self) -> Pane:
        """A new one."""
        pane: Pane = importlib.import_module(f"advisor.tui.panes.{self.id}").PANE(id=self.id)
        return pane


PLACES = (
    Place("1", "findings", "Findings"),
    Place("2", "variables", "Variables"),
    Place("3", "workload", "Workload"),
    Place("4", "host", "Host"),
    Place("5", "files", "Files"),
    Place("6", "probes", "Probes"),
    Place("7", "report", "Report"),
)
BY_ID = {place.id: place for place in PLACES}
