"""A server that takes its time: keys are heard and drawn while a statement is under way, and the app can be left."""

from __future__ import annotations

from pathlib import Path

import pytest
from app_driver import driven, opened, screen_text, until
from real_servers import Start
from slow_proxy import Gate, slowed
from textual.widgets import ContentSwitcher
from tmux import MYCNF, place, terminal

from advisor.tui.screens import SCREENS
from probes.sandbox import Sandbox


def words(folder: Path, socket: str) -> tuple[str, ...]:
    """What the command line says to audit the server behind a socket, no option file of the user's read."""
    empty = folder / "empty.cnf"
    empty.touch()
    return ("--defaults-file", str(empty), "--socket", socket, "--user", "root", "--isolated")


@pytest.mark.servers("mysql-8.0")  # whose answers are late is all the same to the app
async def test_keys_are_drawn_while_a_statement_is_under_way(any_server: Sandbox, tmp_path: Path) -> None:
    """Help while nothing was read yet, every screen while all is read again; no statement moved on meanwhile."""
    gate, slow = Gate(), str(tmp_path / "slow.sock")
    gate.shut()
    with slowed(any_server.socket, slow, gate):
        async with driven(*words(tmp_path, slow), size=(120, 40), wait=False) as (app, pilot):
            await until(pilot, lambda: gate.waiting != [])
            await pilot.press("question_mark")
            await until(pilot, lambda: "Esc closes" in screen_text(app))
            await pilot.press("escape")
            await until(pilot, lambda: "Esc closes" not in screen_text(app))
            assert "reading" in screen_text(app)
            assert gate.passed == []
            gate.open()
            await until(pilot, lambda: opened(app))
            gate.shut()
            await pilot.press("r")
            await until(pilot, lambda: len(gate.waiting) == 2)  # the audit's and the one that reads counters
            passed = len(gate.passed)
            shown = app.query_one("#screens", ContentSwitcher)
            for screen in SCREENS:
                await pilot.press(screen.digit)
                await until(pilot, lambda screen=screen: shown.current == screen.id)  # type: ignore[misc] # the loop's own
            await pilot.press("2", "slash", *"read_only")
            await until(pilot, lambda: "read_only" in screen_text(app))
            assert len(gate.passed) == passed
            await pilot.press("escape", "q")
            await until(pilot, lambda: app.return_value == 0)
            assert len(gate.passed) == passed
        gate.open()


@pytest.mark.servers("mariadb-10.11")
def test_a_server_that_hangs_is_left(server_name: str, start: Start, tmp_path: Path) -> None:
    """`q` gives the prompt back while a statement waits for its answer, before the first screen and after."""
    server, gate, slow = start(server_name, small=True), Gate(), str(tmp_path / "slow.sock")
    with slowed(server.socket, slow, gate):
        for moment in ("reading", "read-only"):
            if moment == "reading":
                gate.shut()
            with terminal(*MYCNF, "audit", *words(tmp_path, slow), environment=place(tmp_path)) as window:
                window.shows(moment)
                gate.shut()
                window.until(lambda _: bool(gate.waiting), "a statement under way")
                window.keys("q")
                window.shows("ended with 0")
                assert gate.waiting
            gate.open()
