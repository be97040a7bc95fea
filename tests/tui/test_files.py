"""The screen of option files: the margin, the way to findings, words, keys and the mouse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from app_driver import driven, screen_text, snapshot_with, until
from app_files_screen import SERVER, TUNING, at_files, notices, said, title
from textual.widgets import OptionList

from advisor.tui.screens.files.model import build_model, node_lines
from advisor.tui.screens.findings.screen import FindingsPane


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_keys_go_from_finding_to_finding_and_to_the_screen_of_findings(size: tuple[int, int]) -> None:
    """n walks through all findings of all files and begins again; N goes back; enter shows that one on screen 1."""
    async with driven(size=size) as (app, pilot):
        text = await at_files(app, pilot)
        stops = build_model(app.view).finding_lines()
        walked = []
        for _ in stops:
            await pilot.press("n")
            walked.append((title(text), text.number))
        assert walked == stops
        await pilot.press("n")
        assert (title(text), text.number) == stops[0]
        await pilot.press("N")
        await until(pilot, lambda: (title(text), text.number) == stops[-1])
        worst = build_model(app.view).mark(*stops[-1]).findings[0]
        assert worst.code in said(app)
        await pilot.press("enter")
        await until(pilot, lambda: app.query_one(FindingsPane).chosen == worst)
        await pilot.press("5")
        await until(pilot, lambda: text.number == stops[-1][1])  # the place stays


async def test_a_finding_that_is_filtered_away_is_shown_all_the_same() -> None:
    """Where screen 1 shows other findings alone, enter shows all again with this one marked."""
    async with driven() as (app, pilot):
        await pilot.press("slash", *"no such words", "escape")
        await pilot.press("slash", *"no such words", "enter")
        await at_files(app, pilot)
        await pilot.press("n", "enter")
        await until(pilot, lambda: app.query_one(FindingsPane).chosen is not None)
        assert app.query_one(FindingsPane).chosen.location.path == build_model(app.view).finding_lines()[0][0]


async def test_the_margin_says_what_colour_says_too() -> None:
    """Findings have signs, an overridden line a ~ and the line that counts; below stand the words."""
    async with driven(size=(160, 40)) as (app, pilot):
        text = await at_files(app, pilot)
        await pilot.press("n")
        await until(pilot, lambda: "expire_logs_days        = 10" in screen_text(app))
        rows = screen_text(app).split("\n")
        (row,) = [row for row in rows if "expire_logs_days        = 10" in row]
        assert "●~  75 │" in row
        assert f"← overridden by {TUNING}:43" in row
        assert "1 overridden (~)" in str(text.border_subtitle)
        assert "OPT012 duplicate-option" in said(app)
        assert f"Overridden by {TUNING}:43" in said(app)
        await pilot.press("n")
        await until(pilot, lambda: "password = ********" in screen_text(app))
        assert any("✖ └ 90-tuning.cnf" in row for row in screen_text(app).split("\n"))
        assert "masked" in said(app)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_mouse_picks_file_and_line(size: tuple[int, int]) -> None:
    """A click in the tree shows that file, a click in the text marks its line, a double click opens its finding."""
    async with driven(size=size) as (app, pilot):
        text = await at_files(app, pilot)
        paths = [node.path for node in build_model(app.view).nodes]
        await pilot.click("#files-tree", offset=(8, 1 + paths.index(TUNING)))
        await until(pilot, lambda: title(text) == TUNING)
        await pilot.click("#files-text", offset=(15, 7))
        await until(pilot, lambda: text.number == 7)
        assert "SEC003" in said(app)
        await pilot.click("#files-text", offset=(15, 11), times=2)
        await until(pilot, lambda: app.query_one("#screens").current == "findings")  # type: ignore[attr-defined]
        await until(pilot, lambda: app.query_one(FindingsPane).chosen.canonical == "read_buffer_size")


async def test_words_are_found_in_every_file() -> None:
    """/ goes to the first line from here on that has them, enter to the next, dashes as underscores; escape ends it."""
    async with driven() as (app, pilot):
        text = await at_files(app, pilot)
        await pilot.press("slash", *"expire-logs")
        await until(pilot, lambda: (title(text), text.number) == (SERVER, 75))
        await pilot.press("enter")
        await until(pilot, lambda: (title(text), text.number) == (TUNING, 43))
        await pilot.press("escape")
        await until(pilot, lambda: text.has_focus)
        await pilot.press("y")
        assert app.clipboard == "loose_expire_logs_days = 0"
        await pilot.press("escape")
        assert app.query_one("#files-tree", OptionList).has_focus
        await pilot.press("slash", *"no such words", "enter")
        await until(pilot, lambda: "No line of these files matches" in notices(app))


async def test_keys_walk_through_the_text() -> None:
    """Lines, pages, ends, and sideways; a line without a finding says so on enter."""
    async with driven() as (app, pilot):
        text = await at_files(app, pilot)
        await pilot.press("tab", "down", "down", "j", "up")
        assert text.number == 3
        await pilot.press("end")
        last = len(node_lines(build_model(app.view).nodes[0], app.view.audited.facts.files))
        assert text.number == last
        await pilot.press("pageup")
        assert 1 < text.number < last
        await pilot.press("home")
        assert text.number == 1
        await pilot.press("enter")
        await until(pilot, lambda: "No findings on this line" in notices(app))
        await pilot.press("right", "right", "right")
        await until(pilot, lambda: text.scroll_offset.x > 0)
        assert "  1 │" in screen_text(app)  # the numbers stay


async def test_without_files_the_screen_says_why(tmp_path: Path) -> None:
    """A server that was reached through TCP shows no files, with the reason."""

    def change(document: dict[str, Any]) -> None:
        document["files"] = None
        document["unavailable"] = [{"part": "files", "reason": "reached by TCP, so it may run on [another host]"}]

    async with driven("--snapshot", str(snapshot_with(tmp_path, change))) as (app, pilot):
        await pilot.press("5")
        await until(
            pilot, lambda: "No option files: reached by TCP, so it may run on [another host]" in screen_text(app)
        )
        await pilot.press("n", "e", "y", "enter", "slash", "x", "enter", "escape")
        assert app.is_running


async def test_hostile_files_are_shown_as_text(tmp_path: Path) -> None:
    """Markup, escapes, emoji, tabs and a line of 10 kB stay on their line, in a file with a hostile name."""
    lines = ["[red]x[/red] [/]", "a = \x1b[2J\x07\u202e", "🔥" * 50 + "end", "\tname\t= 1", "# " + "x" * 10_000, "last"]

    def change(document: dict[str, Any]) -> None:
        copy = document["files"]["files"][0]
        copy["text"], copy["path"] = "\n".join(lines), "/etc/[bold]\x1b[31m/my.cnf"

    async with driven("--snapshot", str(snapshot_with(tmp_path, change)), size=(120, 40)) as (app, pilot):
        text = await at_files(app, pilot)
        shown = screen_text(app)
        assert "  1 │ [red]x[/red] [/]" in shown
        assert "  2 │ a = \\x1b[2J\\x07\\u202e" in shown
        assert "/etc/[bold]\\x1b[31m/my.cnf" in shown
        assert "  6 │ last" in shown
        await pilot.press("tab", "down", "down", "down", "down")
        for _ in range(200):
            text.scroll_relative(x=50, animate=False)
        await until(pilot, lambda: "x…" in screen_text(app))
