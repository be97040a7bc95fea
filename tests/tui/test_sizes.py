"""Small terminals: what has no room beside something stands below it, and nothing is cut off without a sign."""

from __future__ import annotations

from pathlib import Path

import pytest
from app_driver import driven, screen_text, until
from app_probes_screen import ask, measuring
from rich.cells import cell_len
from simulated_scan import Scans
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widgets import Input, Static

from advisor.tui.app import AuditApp
from advisor.tui.screens import SCREENS
from advisor.tui.screens.findings.detail import finding_detail
from advisor.tui.text import fit_line, fold, safe_line

WHOLE = "secret and has mode 644: every account on the host can read it."  # what the first finding says


def regions(app: AuditApp, place: str) -> tuple[Region, Region]:
    """Where the list of a screen is, and the details of the marked row."""
    return app.query_one(f"#{place}-list").region, app.query_one(f"#{place}-detail").region


def finding_text(app: AuditApp) -> str:
    """The marked finding in full, in the lines that it is wrapped to."""
    return str(app.query_one("#findings-detail Static", Static).content)


@pytest.mark.parametrize("size", [(40, 15), (60, 20)])
async def test_a_narrow_terminal_has_one_below_the_other(size: tuple[int, int]) -> None:
    """List and text each have the whole width, made wider they stand side by side, and each screen has its digit."""
    async with driven(size=size) as (app, pilot):
        for place in ("findings", "probes"):
            await pilot.press("6" if place == "probes" else "1")
            await until(pilot, lambda: bool(app.query(f"#{place}-detail")))  # noqa: B023 - awaited here
            await until(pilot, lambda: [r.width for r in regions(app, place)] == [size[0]] * 2)  # noqa: B023
            upper, lower = regions(app, place)
            assert upper.bottom == lower.y
            tabs = screen_text(app).splitlines()[1]
            assert all(one.digit in tabs for one in SCREENS), tabs
            assert place.capitalize() in tabs
            assert "Variables" not in tabs
        await pilot.press("1")
        await pilot.resize_terminal(200, 60)
        await until(pilot, lambda: regions(app, "findings")[0].right == regions(app, "findings")[1].x)
        await until(pilot, lambda: "7 Report" in screen_text(app))
        await until(pilot, lambda: WHOLE in finding_text(app))  # wrapped again to the new width
        await pilot.resize_terminal(*size)
        await until(pilot, lambda: WHOLE not in finding_text(app))
        await until(pilot, lambda: "7 Report" not in screen_text(app))


async def test_the_keys_at_the_bottom_have_room_at_80_columns() -> None:
    """The last of them is in full on every screen, in a text of the option files and on a hidden finding too."""
    async with driven() as (app, pilot):
        for place in SCREENS:
            await pilot.press(place.digit)
            await until(pilot, lambda: bool(app.query(f"#{place.id}")))  # noqa: B023
            await until(pilot, lambda: screen_text(app).rstrip().endswith("q quit"))
        await pilot.press("5")
        await pilot.press("n")
        await until(pilot, lambda: "enter show finding" in screen_text(app))
        assert screen_text(app).rstrip().endswith("q quit")
        await pilot.press("1", "x", *"agreed", "enter")
        await until(pilot, lambda: "H lists 1 hidden" in screen_text(app))
        await pilot.press("H", "home")
        await until(pilot, lambda: "u unhide" in screen_text(app))
        assert "x hide" not in screen_text(app)
        assert screen_text(app).rstrip().endswith("q quit")


async def test_each_field_of_a_dialog_can_be_come_to(scans: Scans, tmp_path: Path) -> None:
    """Dialogs that are longer than the screen scroll to the field that has the keys."""
    scans.go_on.set()
    async with measuring(tmp_path, size=(40, 15)) as (app, pilot):
        await ask(app, pilot)
        state = app.screen.query_one("#begin-state", Static)
        lines = [
            line for line in str(state.content).splitlines() if "/" not in line and not line.startswith("To run anyway")
        ]
        assert [
            line for line in lines if len(line) > state.size.width
        ] == []  # wrapped once; a path is as long as it is
        await walk(app, pilot)
    (tmp_path / "empty.cnf").touch()
    nowhere = ("--defaults-file", str(tmp_path / "empty.cnf"), "--socket", str(tmp_path / "none.sock"))
    async with driven(*nowhere, size=(40, 15), wait=False) as (app, pilot):
        await until(pilot, lambda: any(reason.display for reason in app.screen.query(".reason")))
        await walk(app, pilot)


async def walk(app: AuditApp, pilot: Pilot[int]) -> None:
    """Go once round the fields; each is within its dialog's frame when it has the keys."""
    fields = [field for field in app.screen.query(Input) if field.focusable]
    for _ in fields:
        await pilot.press("tab")
        inside = app.screen.query_one(".dialog").content_region
        await until(pilot, lambda: app.focused is not None and inside.contains_region(app.focused.region))  # noqa: B023


async def test_lines_are_wrapped_once() -> None:
    """What to do and the lines of the file are as wide as there is room, with any length of a path or a value."""
    async with driven() as (app, _):
        assert app.view is not None
        for finding in app.view.audited.findings:
            for width in (30, 36, 44):
                lines = finding_detail(app.view, finding, width).plain.splitlines()
                of_files = [line for line in lines if " │ " in line]
                to_do = [
                    line for line in lines if line.startswith((" " * 8, "do now", "keep", "risk", "watch", "help"))
                ]
                assert [line for line in of_files + to_do if len(line) > width] == []


def test_what_is_cut_goes_on_behind_the_margin() -> None:
    """Nothing of it is lost; a margin without room for more leaves the line unchanged."""
    assert fold("abcdefgh\nij", 4, "> ") == "abcd\n> ef\n> gh\nij"
    assert fold("abcdefgh", 2, "> ") == "abcdefgh"


def test_wide_characters_take_two_columns() -> None:
    """A line is cut and filled by the columns of the terminal; what takes none is not without limit."""
    name = "予約システム"
    assert safe_line(name, longest=12).plain == name
    assert safe_line(name, longest=11).plain == "予約システ…"
    assert cell_len(safe_line(name, longest=8).plain) == 8
    assert fit_line(name, 16) == f"{name}    "
    assert fit_line(name, 5) == "予約…"
    assert fit_line("short", 8) == "short   "
    assert len(safe_line("e" + "\u0301" * 100, longest=10).plain) == 10
