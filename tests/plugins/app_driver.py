"""Drive the terminal app as its user would, without a terminal."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from process_checks import PATIENCE
from rich.segment import Segment
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import ContentSwitcher

from advisor.cli.parser import build_parser
from advisor.commands.app import make_opening
from advisor.commands.collect import DEMO
from advisor.tui.app import OPENED_FIRST, AuditApp

PAUSE = 0.025  # seconds
Pilot._wait_for_screen.__defaults__ = (PATIENCE,)  # half a minute is not enough on a busy host
RECORDING = "--demo"


def _notify_for_long(app: AuditApp, message: str, **how: Any) -> None:
    """Show a notification for as long as tests wait: on a busy host it could be gone before they look."""
    App.notify(app, message, **{**how, "timeout": PATIENCE})


AuditApp.notify = _notify_for_long  # type: ignore[method-assign,assignment]  # all that tests start


@asynccontextmanager
async def driven(
    *words: str, size: tuple[int, int] = (80, 24), wait: bool = True, place: str = "findings"
) -> AsyncIterator[tuple[AuditApp, Pilot[int]]]:
    """The app as started by `mycnf audit` with these arguments, on the screen `place` once it has findings.

    The default is the demo's recording. Without `wait` the app stays on the screen that it opens.
    """
    args = build_parser("audit").parse_args(["audit", *(words or (RECORDING,))])
    app = AuditApp(make_opening(args))
    async with app.run_test(size=size) as pilot:
        if wait:
            await until(pilot, lambda: opened(app))
            await app.action_go(place)
            await until(pilot, lambda: place != "findings" or filled(app))
        yield app, pilot


def opened(app: AuditApp) -> bool:
    """Whether the app shows the first audit, on the overview."""
    # Not earlier: until it is current, the app is still on its way there, and would leave the screen a test goes to.
    return app.view is not None and any(screens.current == OPENED_FIRST for screens in app.query(ContentSwitcher))


def filled(app: AuditApp) -> bool:
    """Whether the findings screen shows an audit: the list gets its title together with its rows."""
    return app.view is not None and any(shown.border_title for shown in app.screen.query("#findings-list"))


async def until(pilot: Pilot[int], holds: Callable[[], bool]) -> None:
    """Wait until a condition is true; AssertionError on timeout."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        await pilot.pause()
        if holds():
            return
        await asyncio.sleep(PAUSE)
    raise AssertionError(f"it never came to that; the screen is\n{screen_text(pilot.app)}")


async def frame_drawn(app: App[Any]) -> None:
    """Wait until the changes so far are laid out and drawn."""
    drawn = asyncio.Event()
    app.screen.call_after_refresh(drawn.set)
    await asyncio.wait_for(drawn.wait(), PATIENCE)


def screen_rows(app: App[Any]) -> list[list[Segment]]:
    """The texts of each row of the screen with their styles."""
    return [list(strip) for strip in app.screen._compositor.render_strips()]


def screen_text(app: App[Any]) -> str:
    """The characters of the screen, one line per row."""
    return "\n".join("".join(segment.text for segment in row) for row in screen_rows(app))


def snapshot_with(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The demo's recording with a change, as a snapshot file."""
    document = json.loads(Path(DEMO).read_text(encoding="utf-8"))
    change(document)
    path = folder / "changed.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
