"""The user's own editor, opened at a line of an option file, and the way back."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from app_driver import driven, opened, screen_text, until
from app_files_screen import RECORDED, at_files, judged, notices, read, title, view_of
from msgspec.structs import replace
from real_servers import Start
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot
from tmux import terminal

from advisor.core.errors import MycnfError
from advisor.facts import Facts
from advisor.tui.app import AuditApp
from advisor.tui.screens.files import editor
from advisor.tui.screens.files.model import COMMAND_LINE, FileNode, NodeState
from advisor.tui.start import AuditSource, StartOptions


def script(tmp_path: Path, then: str = "") -> Path:
    """An editor that writes down how it was called, and runs these commands."""
    path = tmp_path / "my editor"
    path.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{tmp_path}/called'\n{then}\n")
    path.chmod(0o755)
    return path


def called(tmp_path: Path) -> list[str]:
    """The words that the editor was called with."""
    path = tmp_path / "called"
    return path.read_text().split("\n")[:-1] if path.exists() else []


@asynccontextmanager
async def live(top: Path, reads: list[int]) -> AsyncIterator[tuple[AuditApp, Pilot[int]]]:
    """The app on the demo's server as if it ran here, with the option file `top` for its own."""

    def facts() -> Facts:
        reads.append(1)
        return replace(RECORDED, files=read(top))

    app = AuditApp(StartOptions(AuditSource("live", "a socket", facts, judged)))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: opened(app))
        yield app, pilot


def own_file(tmp_path: Path, *lines: str) -> Path:
    """An option file with these lines in [mysqld]."""
    path = tmp_path / "my.cnf"
    path.write_text("\n".join(("[mysqld]", *lines, "")))
    return path


@pytest.fixture
def option_file(tmp_path: Path) -> Path:
    """An option file whose second line is overridden by its third, which is a finding."""
    return own_file(tmp_path, "read_buffer_size = 4M", "read_buffer_size = 8M")


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A headless app that gives its terminal away, as one on a terminal does."""
    monkeypatch.setattr(HeadlessDriver, "can_suspend", True)


async def test_the_editor_opens_at_the_line_and_changes_are_read_again(
    lent: None, option_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """e hands file and line to $VISUAL; after a change the app offers to read again, and shows the new text."""
    monkeypatch.setenv("VISUAL", f"'{script(tmp_path, f'echo port=3307 >> {option_file}')}' -n")
    reads: list[int] = []
    async with live(option_file, reads) as (app, pilot):
        text = await at_files(app, pilot)
        await pilot.press("n")
        await until(pilot, lambda: text.number == 2)
        await pilot.press("e")
        await until(pilot, lambda: "read again" in screen_text(app))
        assert called(tmp_path) == ["-n", "+2", str(option_file)]
        await pilot.press("enter")
        await until(pilot, lambda: "port=3307" in screen_text(app))
        assert len(reads) == 2
        assert (title(text), text.number) == (str(option_file), 2)


async def test_few_keys_from_the_start_to_the_ticket_and_to_the_line(
    lent: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the first screen, two keys copy the ticket of the worst finding, and three open its line in the editor."""
    file = own_file(tmp_path, "sync_binlog = 0")
    monkeypatch.setenv("VISUAL", f"'{script(tmp_path)}'")
    async with live(file, []) as (app, pilot):
        await until(pilot, lambda: bool(app.query("#overview-first:focus")))
        await pilot.press("enter", "t")
        await until(pilot, lambda: "DUR002" in app.clipboard)
        await pilot.press("0")
        await until(pilot, lambda: bool(app.query("#overview-first:focus")))
        await pilot.press("enter", "l", "e")
        await until(pilot, lambda: called(tmp_path) == ["+2", str(file)])


async def test_a_file_that_stayed_as_it_was_is_not_read_again(
    lent: None, option_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking alone offers nothing, and `later` after a change reads nothing."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"'{script(tmp_path)}'")
    reads: list[int] = []
    async with live(option_file, reads) as (app, pilot):
        await at_files(app, pilot)
        await pilot.press("e")
        await until(pilot, lambda: called(tmp_path) == ["+1", str(option_file)])
        assert len(app.screen_stack) == 1
        script(tmp_path, f"echo >> {option_file}")
        await pilot.press("e")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert len(reads) == 1


@pytest.mark.parametrize(
    ("said_of_editor", "words_of_it"),
    [
        ("/nowhere/editor", "cannot run /nowhere/editor"),
        ("false", "false exited with code 1"),
        ("vi 'unbalanced", "invalid editor command"),
    ],
)
async def test_an_editor_that_fails_is_one_line(
    lent: None, option_file: Path, monkeypatch: pytest.MonkeyPatch, said_of_editor: str, words_of_it: str
) -> None:
    """The app stays, and says what was wrong with the editor."""
    monkeypatch.setenv("VISUAL", said_of_editor)
    async with live(option_file, []) as (app, pilot):
        await at_files(app, pilot)
        await pilot.press("e")
        await until(pilot, lambda: words_of_it in notices(app))
        assert app.is_running


async def test_a_terminal_that_cannot_be_lent_says_so(
    option_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the app can't step aside no editor is started."""
    monkeypatch.setenv("VISUAL", f"'{script(tmp_path)}'")
    async with live(option_file, []) as (app, pilot):
        await at_files(app, pilot)
        await pilot.press("e")
        await until(pilot, lambda: "cannot suspend itself" in notices(app))
        assert called(tmp_path) == []


async def test_files_of_a_recording_are_not_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo's files lie nowhere here: e says so, starts nothing, and doesn't go to the report either."""
    monkeypatch.setenv("VISUAL", f"'{script(tmp_path)}'")
    async with driven() as (app, pilot):
        await at_files(app, pilot)
        await pilot.press("e")
        await until(pilot, lambda: "the recorded server" in notices(app))
        assert app.query_one("#screens").current == "files"  # type: ignore[attr-defined]
        assert called(tmp_path) == []


def test_what_is_not_edited_by_hand() -> None:
    """A snapshot's files, what the server persists, its command line, and a file that is gone each have a reason."""
    here, there = view_of(origin="live"), view_of(origin="snapshot")
    file = FileNode(__file__, 0, NodeState.READ)
    assert editor.cannot_edit_reason(here, file) == ""
    assert "on that server's host" in editor.cannot_edit_reason(there, file)
    assert "SET PERSIST" in editor.cannot_edit_reason(here, FileNode("/data/mysqld-auto.cnf", 0, NodeState.PERSISTED))
    assert "unit" in editor.cannot_edit_reason(here, FileNode(COMMAND_LINE, 0, NodeState.COMMAND_LINE))
    assert "does not exist" in editor.cannot_edit_reason(here, FileNode("/nowhere/my.cnf", 0, NodeState.READ))


def test_the_words_of_editors(monkeypatch: pytest.MonkeyPatch) -> None:
    """$VISUAL outranks $EDITOR, what is on the path does without both, and each gets the line in its own notation."""
    assert editor.editor_command("/f", 7, {"VISUAL": "vim -p", "EDITOR": "nano"}) == ["vim", "-p", "+7", "/f"]
    assert editor.editor_command("/f", 7, {"EDITOR": "nano"}) == ["nano", "+7", "/f"]
    assert editor.editor_command("/f", 7, {"EDITOR": "/usr/bin/code --wait"})[1:] == ["--wait", "--goto", "/f:7"]
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MycnfError, match=r"Set \$EDITOR"):
        editor.editor_command("/f", 7, {})


@pytest.mark.servers("mariadb-10.11")
def test_the_editor_has_the_real_terminal(server_name: str, start: Start, option_file: Path, tmp_path: Path) -> None:
    """Against a real server: the editor has the keys, Ctrl-C too, and the app is back when it ends."""
    ask = script(tmp_path, f"echo press enter; read answer; echo answered >> '{tmp_path}/called'")
    server = start(server_name, small=True, option_file=option_file)
    empty = tmp_path / "empty.cnf"
    empty.touch()
    audit = [sys.executable, "-m", "advisor", "audit", "--defaults-file", str(empty), "--user", "root"]
    places = {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "VISUAL": f"'{ask}'"}
    environment = places | {"PYTHONPATH": str(Path(__file__).parents[2]), "TERM": "screen-256color"}
    with terminal(*audit, "--socket", server.socket, size=(120, 40), environment=environment) as window:
        window.shows(server.binary.target.label)
        window.keys("5")
        window.shows("next finding")
        window.keys("n")
        window.shows("OPT012")
        window.keys("e")
        window.shows("press enter")
        window.keys("Enter")
        window.until(lambda screen: "next finding" in screen and "press enter" not in screen, "the app again")
        assert called(tmp_path)[1:] == [str(option_file), "answered"]
        window.keys("e")
        window.until(lambda screen: screen.count("press enter") == 2, "the editor again")
        window.keys("C-c")
        window.shows("terminated by signal 2")
        window.keys("q")
        window.shows("ended with 0")
