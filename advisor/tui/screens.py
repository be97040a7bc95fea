"""The list of screens: the digit that shows each, and the module that is imported when it is first shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from advisor.tui.pane import Pane


NARROW = 70  # columns; with fewer, what stands side by side elsewhere stands one below the other


class Place(NamedTuple):
    """One screen: `id` is its key in PLACES."""

    digit: str
    id: str
    title: str

    def make(self) -> Pane:
        """A new one."""
        return _make(self.id)


def _make(name: str) -> Pane:  # noqa: PLR0911 - a table of screens
    match name:
        case "findings":
            from advisor.tui.panes.findings import Findings

            return Findings(id=name)
        case "variables":
            from advisor.tui.panes.variables import Variables

            return Variables(id=name)
        case "workload":
            from advisor.tui.panes.workload import Workload

            return Workload(id=name)
        case "host":
            from advisor.tui.panes.host import Host

            return Host(id=name)
        case "files":
            from advisor.tui.panes.files import Files

            return Files(id=name)
        case "probes":
            from advisor.tui.panes.probes import Probes

            return Probes(id=name)
        case "report":
            from advisor.tui.panes.report import Report

            return Report(id=name)
        case _:
            raise ValueError(f"no screen {name!r}")


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
