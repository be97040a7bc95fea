"""The workload screen in tests: samples of an invented server, a little work of a real one, and what is shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app_driver import until
from textual.widgets import OptionList

from advisor.commands.collect import DEMO
from advisor.facts import Sample
from advisor.tui.screens.workload.counters import SERIES
from advisor.tui.screens.workload.screen import WorkloadPane

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from advisor.tui.app import AuditApp
    from probes.sandbox import Sandbox

SNAPSHOT = ("--snapshot", DEMO)
EVERY = 2.0
NAME = re.compile(r"[A-Z]\w+")  # a counter as servers spell it
COUNTERS = {name.lower(): 100 for series in SERIES for name in NAME.findall(series.formulas[0].source)}


def samples(count: int, begin: float = 1000.0, step: int = 10) -> tuple[Sample, ...]:
    """Samples of a server whose counters rise by `step` and more from one to the next."""
    rises = {name: step * place for place, name in enumerate(COUNTERS, 1)}
    return tuple(
        Sample(begin + EVERY * n, {name: COUNTERS[name] + n * rise for name, rise in rises.items()})
        for n in range(count)
    )


async def opened(pilot: Pilot[int]) -> WorkloadPane:
    """The screen, once it is shown and drawn."""
    app = pilot.app
    await pilot.press("3")
    await until(pilot, lambda: any(shown.has_focus for shown in app.query("#workload-list")))
    await until(pilot, lambda: bool(box(pilot)[0]))
    return app.query_one("#workload", WorkloadPane)


async def sampled(pilot: Pilot[int], *more: Sample, restart: bool = False) -> None:
    """Give the app these samples of a running server, as it takes them itself."""
    app: AuditApp = pilot.app  # type: ignore[assignment] # driven() makes no other
    assert app.view is not None
    before = () if restart else app.view.samples or ()
    app.view = app.view._replace(origin="live", samples=(*before, *more))
    app.query_one("#workload", WorkloadPane).show_samples(app.view)
    await pilot.pause()


def box(pilot: Pilot[int]) -> tuple[str, str]:
    """What the frame says above and below the rows."""
    frame = pilot.app.query_one("#workload-box")
    return str(frame.border_title), str(frame.border_subtitle)


def explained(pilot: Pilot[int]) -> str:
    """What is said of the marked row."""
    return str(pilot.app.query_one("#workload-about").render())


def row(pilot: Pilot[int], name: str) -> str:
    """One row as it is shown."""
    return str(pilot.app.query_one("#workload-list", OptionList).get_option(name).prompt)


def offered(app: AuditApp) -> set[str]:
    """The actions that keys would run, by their ids."""
    return {active.binding.id or "" for active in app.screen.active_bindings.values() if active.enabled}


def work(sandbox: Sandbox) -> None:
    """A little of everything: rows read and changed, transactions, a temporary table."""
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE worked")
        cursor.execute("CREATE TABLE worked.t (a INT PRIMARY KEY, b INT) ENGINE=InnoDB")
        for n in range(200):
            cursor.execute("INSERT INTO worked.t VALUES (%s, %s)", (n, n % 7))
        for n in range(50):
            cursor.execute("UPDATE worked.t SET b = b + 1 WHERE a = %s", (n,))
        for statement in (
            "START TRANSACTION",
            "DELETE FROM worked.t WHERE a < 10",
            "COMMIT",
            *["SELECT b + 1 AS c, COUNT(*) FROM worked.t GROUP BY c ORDER BY 2"] * 20,
            "DROP DATABASE worked",
        ):
            cursor.execute(statement)
