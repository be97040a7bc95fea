"""The app in a real terminal against a real server, as its user meets it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from real_servers import Start
from rich.console import Console
from rich.text import Text
from tmux import MYCNF, Terminal, audit, place, terminal


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_a_server_that_dies_and_comes_back(server_name: str, start: Start, tmp_path: Path) -> None:
    """The audit opens; when the server is killed it says so and goes on; when it is back it is read again; q leaves."""
    server = start(server_name, small=True)
    with terminal(*audit(server, tmp_path), size=(120, 40), environment=place(tmp_path)) as window:
        window.shows("1 Findings")
        window.shows(server.binary.target.label)
        os.kill(server.pid, signal.SIGKILL)
        window.shows("no connection")
        window.keys("2")
        window.shows("file differs")  # what was read stays
        server.restart()
        window.until(lambda screen: "no connection" not in screen, "an answer again")
        window.keys("q")
        window.shows("ended with 0")


def test_from_the_demo_without_a_server(tmp_path: Path) -> None:
    """`mycnf audit --demo` needs nothing but a terminal, in 16 colours and without colour too."""
    few = {"TERM": "screen", "COLORTERM": ""}
    for extra in ({}, {"NO_COLOR": "1"}, few, few | {"NO_COLOR": "1"}):
        with terminal(*MYCNF, "audit", "--demo", environment=place(tmp_path) | extra) as window:
            window.shows("world-readable-secret")
            look_around(window)
            assert unreadable(window) == [], extra
            window.keys("q")
            window.shows("ended with 0")


def unreadable(window: Terminal) -> list[str]:
    """Words in the colour of what is behind them."""
    found = []
    for text in Text.from_ansi(window.tmux("capture-pane", "-p", "-e")).split():
        for segment in text.render(Console()):
            style = segment.style
            if not style or not style.color or style.color.is_default or not any(map(str.isalnum, segment.text)):
                continue
            if style.color == style.bgcolor:
                found.append(segment.text)
    return found


def look_around(window: Terminal) -> None:
    """Mark another finding, ask for help, and close it."""
    window.keys("1")
    window.shows("SEC003")
    window.keys("Down")
    window.shows("SEC002")
    window.keys("?")
    window.shows("Esc closes")
    window.keys("Escape")
    window.until(lambda screen: "Esc closes" not in screen, "the help closed")


def test_leaving_without_a_server_prints_the_reason(tmp_path: Path) -> None:
    """Where nothing was there to connect to, the reason stays on the terminal when the dialog is left."""
    (tmp_path / "empty.cnf").touch()
    none = ("--defaults-file", str(tmp_path / "empty.cnf"), "--socket", str(tmp_path / "none.sock"))
    with terminal(*MYCNF, "audit", *none, size=(200, 24), environment=place(tmp_path)) as window:
        window.shows("Enter connects, Esc quits")
        window.keys("Escape")
        screen = window.shows("ended with 3")
        assert f"there is no server socket {tmp_path / 'none.sock'}" in screen
        assert "Enter connects" not in screen


def test_elsewhere_than_on_a_terminal_it_is_text(tmp_path: Path) -> None:
    """With its output in a pipe, on a dumb terminal or with a format asked for, audit prints its report."""
    for command in (
        f"{MYCNF[0]} -m advisor audit --demo | head -3",
        f"TERM=dumb {MYCNF[0]} -m advisor audit --demo | head -3",
        f"{MYCNF[0]} -m advisor audit --demo --format text | head -3",
    ):
        with terminal("sh", "-c", command, environment=place(tmp_path)) as window:
            assert "mycnf audit" in window.shows("ended with")
