"""The app left in the middle of a run, in every way that there is: whole rounds are kept, and nothing else stays."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from app_driver import until
from app_probes_screen import FORCED, leftovers, measuring, run
from probe_process import programs
from process_checks import alive, eventually
from real_servers import Start
from simulated_scan import Scans
from tmux import MYCNF, Terminal, audit, place, terminal

from probes.registry import MODULES
from probes.results import read_all
from probes.sandbox import Sandbox
from probes.sandbox.scratch import SHORT_BASE, has_leftovers

FIELD = "   override "


async def test_leaving_the_app_stops_a_run(scans: Scans, tmp_path: Path) -> None:
    """The stop is said before the app is left, whole rounds are kept once, and what was made is removed."""
    scans.held = 6
    async with measuring(tmp_path) as (app, pilot):
        await run(app, pilot)
        await until(pilot, scans.reached.is_set)
        await pilot.press("q")
        await until(pilot, lambda: app.return_value == 0)
    assert scans.stop.reason == "cancelled"
    assert [k.result.rounds for k in read_all().kept] == [1]
    eventually(lambda: scans.closed == 1, what="the end of the run")
    eventually(lambda: not [t for t in threading.enumerate() if t.name == "probe"], what="the end of its thread")
    assert [k.result.rounds for k in read_all().kept] == [1]


async def test_leaving_waits_for_no_run_that_does_not_hear(scans: Scans, tmp_path: Path) -> None:
    """A run that is stuck in a block is left behind with its whole rounds kept."""
    scans.at[6] = scans.go_on.wait  # deaf to the stop
    async with measuring(tmp_path) as (app, pilot):
        await run(app, pilot)
        await until(pilot, lambda: len(scans.measured) == 7)
        await pilot.press("q")
        await until(pilot, lambda: app.return_value == 0)
        assert [k.result.rounds for k in read_all().kept] == [1]
        scans.go_on.set()
        await until(pilot, lambda: scans.closed == 1)


async def test_an_app_that_breaks_clears_up_behind_its_run(
    scans: Scans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistake in the app itself ends it, and costs neither the whole rounds nor what clears up."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where the file of the crash goes
    scans.held = 6
    with pytest.raises(ZeroDivisionError):  # noqa: PT012 - it comes out of the app's end
        async with measuring(tmp_path) as (app, pilot):
            await run(app, pilot)
            await until(pilot, scans.reached.is_set)
            app.call_later(lambda: 1 // 0)
            await until(pilot, lambda: not app.is_running)
    assert scans.stop.reason == "cancelled"
    assert [k.result.rounds for k in read_all().kept] == [1]
    eventually(lambda: scans.closed == 1, what="the end of the run")


class Under(NamedTuple):
    """A run of a server's experiment in a terminal: the app's process, and the folder of all that it makes."""

    window: Terminal
    app: int
    scratch: Path


def quit_by_key(run: Under) -> None:
    """By the usual key."""
    run.window.keys("q")


def quit_by_palette(run: Under) -> None:
    """Found by its name."""
    run.window.keys("C-p")
    run.window.shows("Search for commands")
    run.window.keys("q", "u", "i", "t")
    run.window.until(lambda seen: "theme" not in seen.lower() and "quit" in seen, "the command alone")
    run.window.keys("Enter")


def quit_beside_a_hung_server(run: Under) -> None:
    """The throwaway server hears nothing any more; who is being started is let be: our own process waits for it."""
    (server,) = (pid for pid, words in processes(run.scratch).items() if " --datadir=" in words)
    os.kill(server, signal.SIGSTOP)
    run.window.keys("q")


def close_the_terminal(run: Under) -> None:
    """The window goes, and the app gets SIGHUP."""
    run.window.tmux("new-window", "-d", "exec sleep 600")
    run.window.tmux("kill-pane", "-t", ":0.0")


def interrupt(run: Under) -> None:
    """`kill -INT`, for Ctrl-C is a key of the app's."""
    os.kill(run.app, signal.SIGINT)


def terminate(run: Under) -> None:
    """`kill`."""
    os.kill(run.app, signal.SIGTERM)


class Case(NamedTuple):
    """A run of this server's at this moment, how it is left, and the exit code, where a terminal shows it."""

    server: str
    moment: str
    way: Callable[[Under], None]
    code: int | None


CASES = (
    Case("mysql-8.0", "preparing", quit_by_key, 0),
    Case("mariadb-10.11", "preparing", quit_by_key, 0),
    Case("mariadb-10.11", "round 1 of", quit_by_palette, 0),
    Case("mariadb-10.11", "round 1 of", quit_beside_a_hung_server, 0),
    Case("mariadb-10.11", "round 1 of", close_the_terminal, None),
    Case("mariadb-10.11", "round 1 of", interrupt, 130),
    Case("mariadb-10.11", "round 1 of", terminate, 130),
)
# On MySQL 8.0 these take six to eight seconds of a processor, most of it while its servers start.
MORE = (
    Case("mysql-8.0", "round 1 of", quit_by_key, 0),
    Case("mysql-8.0", "preparing", close_the_terminal, None),
)


def _case_id(case: Case) -> str:
    return f"{case.server}-{case.moment}-{case.way.__name__}"


@pytest.mark.parametrize("case", [*CASES, *(pytest.param(one, marks=pytest.mark.whole) for one in MORE)], ids=_case_id)
def test_leaving_takes_the_throwaway_server_along(case: Case, start: Start, tmp_path: Path) -> None:
    """Neither that server, nor who works on it, nor a file of them stays on the host, and the prompt is back."""
    audited, scratch = start(case.server, small=True), tmp_path / ("so-long-that-no-socket-has-room-in-it" * 2)
    scratch.mkdir()
    (_, program), libraries = programs(case.server)
    path = f"{Path(program).parent}:{os.environ['PATH']}"
    places = place(tmp_path) | libraries | {"PATH": path, "TMPDIR": str(scratch)}
    with terminal(*audit(audited, tmp_path), size=(100, 30), environment=places) as window:
        begin(window, audited)
        window.shows(case.moment)
        app = process_of_app(scratch)
        window.until(lambda _: has_leftovers(app, str(scratch)) and has_leftovers(app, SHORT_BASE), "its directories")
        case.way(Under(window, app, scratch))
        if case.code is not None:
            window.shows(f"ended with {case.code}")
        eventually(lambda: not alive(app), what="the end of the app")
    eventually(lambda: not processes(scratch), what="the end of the server and of all that worked on it")
    eventually(lambda: not leftovers(scratch), what="the end of its files")
    eventually(lambda: not has_leftovers(app, SHORT_BASE), what="the end of its socket's directory")


def begin(window: Terminal, audited: Sandbox) -> None:
    """Begin the experiment of commits, regardless of the host's load."""
    names = list(MODULES)
    window.shows(audited.binary.target.label)
    window.keys("6")
    window.shows("cache-fit")
    window.keys("End")
    window.shows("╭─ ab ─")
    window.keys(*("Up" for _ in names[names.index("commit") + 1 :]))
    window.shows("╭─ commit ─")
    window.keys("Enter")
    window.until(lambda seen: "Enter starts" in seen and "checking this" not in seen, "the dialog")
    window.keys("Tab")
    window.until(lambda _: has_keys(window), "the keys in the field")
    window.keys(FORCED.replace(" ", ""))
    window.shows(f"{FIELD}busy,")
    window.keys("Enter")


def has_keys(window: Terminal) -> bool:
    """Whether keys go to the field for refusals, which has a background then; colours beside it change any time."""
    lines = window.tmux("capture-pane", "-p", "-e").splitlines()
    written = next((line.partition(FIELD)[2] for line in lines if FIELD in line), "")
    return "\x1b[48;" in written.partition("│")[0]


def process_of_app(folder: Path) -> int:
    """The app's process; a child of it has the same command line until it executes its own program."""
    apps: list[int] = []

    def alone() -> bool:
        apps[:] = (pid for pid, words in processes(folder).items() if words.startswith(" ".join(MYCNF)))
        return len(apps) == 1

    eventually(alone, what="the app without a child that is about to execute another program")
    return apps[0]


def processes(folder: Path) -> dict[int, str]:
    """Number and command line of the processes that name a folder there, or have their temporary files in it."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            own = f"TMPDIR={folder}".encode() in (process / "environ").read_bytes().split(b"\0")
            if (own or str(folder) in words) and "tmux" not in words:
                found[int(process.name)] = words
    return found
