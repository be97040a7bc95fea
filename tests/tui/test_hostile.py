"""Text of servers, files and rules never becomes markup, never moves the cursor, and never floods the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from app_driver import driven, screen_text, snapshot_with, until

from advisor.tui.screens import SCREENS

ESCAPES = "\x1b[31mred\x1b[0m\x1b]0;title\x07\x9b2J"
BRACKETS = "[red]bold[/red] [@click=app.quit]here[/] [/]"
VALUES = [BRACKETS, ESCAPES, "🔥" * 40, "x" * 10_000, "\u202eevil", "a\nb\tc\r", "\ud800"]
NAMES = ("hostname", "init_connect", "datadir", "ssl_ca", "log_error", "socket", "tmpdir", "version_comment")


@pytest.mark.parametrize("turn", range(3))
async def test_hostile_values_are_shown_harmlessly(turn: int, tmp_path: Path) -> None:
    """On every screen values with markup, escapes, emoji or 10 kB are text; no control character gets through."""
    values = dict(zip(NAMES, (VALUES[turn * 3 % 7 :] + VALUES) * 2, strict=False))

    def change(document: dict[str, Any]) -> None:
        server, copies = document["server"], document["files"]["files"]
        server["variables"] |= values
        server["version_comment"] = values["version_comment"]
        copies[0]["path"] = values["hostname"]
        for copy in copies:
            lines = [f"# {value}\ninit_connect = {value}\n{value}" for value in VALUES]
            copy["text"] = "\n".join([copy["text"] or "", *lines])

    path = snapshot_with(tmp_path, change)
    async with driven("--snapshot", str(path), size=(100, 30)) as (app, pilot):
        for place in SCREENS:
            await pilot.press(place.digit)
            await until(pilot, lambda place=place: bool(app.query(f"#{place.id}")))  # type: ignore[misc] # the loop's own
            await pilot.press("down", "down")
            text = screen_text(app)
            assert not [c for c in text if c != "\n" and not c.isprintable()]
        assert app.is_running
