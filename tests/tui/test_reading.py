"""Reading again and elsewhere: one reading at a time, no values of another server, none from before a restart."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from app_driver import driven, opened, screen_text, until
from msgspec.structs import replace
from process_checks import PATIENCE
from textual.widgets import ContentSwitcher

from advisor.facts import Facts, Sample
from advisor.tui.app import AuditApp
from advisor.tui.screens.workload.rates import VariableChange
from advisor.tui.start import AuditSource
from advisor.tui.workers import SampleRead


class HeldSource:
    """A source of the demo whose readings wait until they are let go."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.readings = 0

    def of(self, app: AuditApp) -> AuditSource:
        """The source, in place of the one that the app has."""
        assert app.feed is not None
        facts = app.feed.read

        def read() -> Facts:
            self.readings += 1
            assert self.go_on.wait(PATIENCE)
            return facts()

        return replace(app.feed, place="another server", read=read)


@pytest.fixture
def held() -> Iterator[HeldSource]:
    """A source that is let go at the end of the test."""
    source = HeldSource()
    yield source
    source.go_on.set()


async def test_another_server_is_not_shown_with_the_values_of_the_last(held: HeldSource) -> None:
    """Until its audit is there, the app says what it reads, and neither values nor the name of the server before."""
    async with driven(size=(120, 40)) as (app, pilot):
        assert "DUR002" in screen_text(app)
        app.read(held.of(app))
        screens = app.query_one("#screens", ContentSwitcher)
        await until(pilot, lambda: screens.current == "waiting")
        await until(pilot, lambda: "reading another server" in screen_text(app))
        text = screen_text(app)
        assert "DUR002" not in text
        assert "MariaDB" not in text
        held.go_on.set()
        await until(pilot, lambda: opened(app))
        await until(pilot, lambda: "MariaDB 10.11.19" in screen_text(app))


async def test_r_starts_no_second_reading(held: HeldSource) -> None:
    """Pressed again while a busy server is read, it adds no load."""
    async with driven() as (app, pilot):
        app.feed = held.of(app)
        await pilot.press("r")
        await until(pilot, lambda: held.readings == 1)
        await pilot.press("r", "r")
        await until(pilot, lambda: any("Still reading" in n.message for n in app._notifications))
        assert held.readings == 1
        held.go_on.set()


async def test_changes_from_before_a_restart_are_forgotten() -> None:
    """The clock of the samples begins again with the server: an old change would come up at the wrong time."""
    async with driven() as (app, pilot):
        change = VariableChange(400.0, "max_connections", "100", "200")
        app.post_message(SampleRead(Sample(400.0, {"questions": 10}), (change,)))
        await until(pilot, lambda: app.view is not None and app.view.changes == (change,))
        app.post_message(SampleRead(Sample(5.0, {"questions": 1})))
        await until(pilot, lambda: app.view is not None and len(app.view.samples or ()) == 1)
        assert app.view is not None
        assert app.view.changes == ()


async def test_the_first_copy_says_that_a_terminal_may_refuse_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """No terminal confirms a copy; the hint comes once, and not with every copy."""
    monkeypatch.delenv("TMUX", raising=False)
    async with driven() as (app, pilot):
        app.copy("a", "one")
        app.copy("b", "two")
        await until(pilot, lambda: len(app._notifications) == 2)
        first, second = (notification.message for notification in app._notifications)
        assert "OSC 52" in first
        assert second == "Copied two"
