"""The screens of the app by digit and id; a screen is imported when it is first shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from advisor.tui.screens.base import Pane


class ScreenEntry(NamedTuple):
    """One screen of the app, with its key and id."""

    digit: str
    id: str
    title: str

    def make(self) -> Pane:
        """Create the screen."""
        return _make(self.id)


def _make(name: str) -> Pane:  # noqa: PLR0911 - a table of screens
    match name:
        case "overview":
            from advisor.tui.screens.overview.screen import OverviewPane

            return OverviewPane(id=name)
        case "findings":
            from advisor.tui.screens.findings.screen import FindingsPane

            return FindingsPane(id=name)
        case "variables":
            from advisor.tui.screens.variables.screen import VariablesPane

            return VariablesPane(id=name)
        case "changes":
            from advisor.tui.screens.changes import ChangesPane

            return ChangesPane(id=name)
        case "workload":
            from advisor.tui.screens.workload.screen import WorkloadPane

            return WorkloadPane(id=name)
        case "host":
            from advisor.tui.screens.host.screen import HostPane

            return HostPane(id=name)
        case "files":
            from advisor.tui.screens.files.screen import FilesPane

            return FilesPane(id=name)
        case "probes":
            from advisor.tui.screens.probes.screen import ProbesPane

            return ProbesPane(id=name)
        case "report":
            from advisor.tui.screens.report.screen import ReportPane

            return ReportPane(id=name)
        case _:
            raise ValueError(f"no screen {name!r}")


SCREENS = (
    ScreenEntry("0", "overview", "Overview"),
    ScreenEntry("1", "findings", "Findings"),
    ScreenEntry("2", "variables", "Variables"),
    ScreenEntry("3", "workload", "Workload"),
    ScreenEntry("4", "host", "Host"),
    ScreenEntry("5", "files", "Files"),
    ScreenEntry("6", "probes", "Probes"),
    ScreenEntry("7", "report", "Report"),
)
CHANGES = ScreenEntry("c", "changes", "Change set")  # a key opens it: it has no tab while nothing is selected
SCREENS_BY_ID = {place.id: place for place in (*SCREENS, CHANGES)}
