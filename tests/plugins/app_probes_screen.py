"""The app with probes on this host: the host is real, the server is the recorded one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from app_driver import opened, until
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from advisor.cli.parser import build_parser
from advisor.collect.host import open_root, read_host
from advisor.commands.app import make_opening
from advisor.commands.collect import load_probe_results
from advisor.facts import Facts
from advisor.tui.app import AuditApp
from advisor.tui.screens.probes.screen import ProbesPane
from advisor.tui.start import ProbeSite, StartOptions
from probes.experiment import Environment
from probes.host_identity import host_id
from probes.results import make_results_folder
from probes.sandbox import Binary

FORCED = "busy, neighbour, full, little"  # objections to override, regardless of this machine's load


@asynccontextmanager
async def measuring(
    folder: Path,
    *binaries: Binary,
    size: tuple[int, int] = (80, 24),
    change: Callable[[Facts], Facts] = lambda facts: facts,
) -> AsyncIterator[tuple[AuditApp, Pilot[int]]]:
    """The app with the probes screen; probes run in `folder`."""
    app = AuditApp(_opening(folder, binaries, change))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: opened(app))
        await pilot.press("6")
        await until(pilot, lambda: bool(app.query("#probes-list")) and names(app) != [])
        yield app, pilot


def _opening(folder: Path, binaries: tuple[Binary, ...], change: Callable[[Facts], Facts]) -> StartOptions:
    recorded = make_opening(build_parser("audit").parse_args(["audit", "--demo"]))
    feed = recorded.feed
    assert feed is not None
    here = read_host(open_root("/"), datadir=str(folder))

    def read() -> Facts:
        return change(replace(feed.read(), host=here, probes=load_probe_results()))

    def site(directory: str | None) -> ProbeSite:
        ground = Environment(here, host_id(make_results_folder()), binaries, report=lambda _: None)
        return ProbeSite(directory or str(folder), "" if directory else "as the test has it", ground)

    return replace(recorded, feed=replace(feed, origin="live", read=read), site=site)


def screen(app: AuditApp) -> ProbesPane:
    """The probes screen."""
    return app.query_one(ProbesPane)


def names(app: AuditApp) -> list[str]:
    """The probes in the order of the list."""
    options = app.query_one("#probes-list", OptionList)
    return [options.get_option_at_index(place).id or "" for place in range(options.option_count)]


def shown(app: AuditApp) -> str:
    """The whole text next to the list, without line breaks."""
    return " ".join(str(app.query_one("#probes-detail Static").render()).split())


async def choose_probe(app: AuditApp, pilot: Pilot[int], name: str) -> None:
    """Select a probe in the list."""
    app.query_one("#probes-list", OptionList).highlighted = names(app).index(name)
    await until(pilot, lambda: app.query_one("#probes-detail").border_title == name)


async def ask(app: AuditApp, pilot: Pilot[int], **fields: str) -> None:
    """Open the start dialog, wait for its preview, and fill in these fields."""
    await pilot.press("enter")
    await until(pilot, lambda: bool(app.screen.query("#begin-state")) and "checking" not in said(app))
    for name, value in fields.items():
        app.screen.query_one(f"#begin-{name}", Input).value = value


async def run(app: AuditApp, pilot: Pilot[int], **fields: str) -> None:
    """Run the selected probe, overriding all objections."""
    await ask(app, pilot, force=FORCED, **fields)
    await pilot.press("enter")
    await until(pilot, lambda: len(app.screen_stack) == 1)


def said(app: AuditApp) -> str:
    """The dialog's preview of the run."""
    return " ".join(str(app.screen.query_one("#begin-state").render()).split())


def leftovers(folder: Path) -> list[str]:
    """The scratch directories in a folder."""
    return [entry.name for entry in folder.iterdir() if entry.name.startswith("mycnf-sandbox-")]
