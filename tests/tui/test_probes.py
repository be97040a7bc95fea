"""The screen of experiments: what each would answer and cost, and the dialog before a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from app_driver import driven, screen_text, snapshot_with, until
from app_probes_screen import FORCED, ask, choose_probe, measuring, names, said, screen, shown
from msgspec.structs import replace
from simulated_scan import Scans
from textual.widgets import Input

from advisor.facts.probes import Arm, Block, Metric, ProbeResult, RunPlace
from probes import registry
from probes.experiment import Cost
from probes.results import read_all, result_fields

SIZES = [(80, 24), (120, 40), (200, 60)]
HOSTILE = "[red]\x1b[31m\u202e🔥[/] [@click=app.quit]x[/]"


@pytest.mark.parametrize("size", SIZES)
async def test_every_experiment_says_what_it_answers_and_costs(size: tuple[int, int], tmp_path: Path) -> None:
    """All are listed with their time; the marked one has its question, cost, evidence and choices in full."""
    async with measuring(tmp_path, size=size) as (app, pilot):
        assert names(app) == list(registry.MODULES)
        await choose_probe(app, pilot, "commit-latency")
        await until(pilot, lambda: "FSY-01" in shown(app))
        text = screen_text(app)
        assert "commit-latency          20 s" in text
        assert "How long does a commit wait" in text
        words = shown(app)
        assert "16 variants" in words
        assert "64M of disk" in words
        assert str(tmp_path) in words.replace(" ", "")
        assert "bytes written before each sync" in words
        assert len(text.splitlines()) == size[1]


async def test_a_click_marks_and_another_one_asks(tmp_path: Path) -> None:
    """The mouse goes through the list without a dialog in its way; what is marked already is entered."""
    async with measuring(tmp_path) as (app, pilot):
        await pilot.click("#probes-list", offset=(5, 4))
        await until(pilot, lambda: screen(app).chosen == "sequential-read")
        assert len(app.screen_stack) == 1
        await pilot.click("#probes-list", offset=(5, 4))
        await until(pilot, lambda: len(app.screen_stack) == 2)


async def test_what_is_against_a_run_is_looked_up_automatically(scans: Scans, tmp_path: Path) -> None:
    """After a moment on an experiment its refusals are shown, with the name of each."""
    scans.cost = Cost(1 << 60, 0, 0.0, ("a table of 1E",))
    async with measuring(tmp_path) as (app, pilot):
        await until(pilot, lambda: "full: " in shown(app))
        assert "refused" in shown(app)


async def test_without_a_server_program_the_experiment_says_so(tmp_path: Path) -> None:
    """A server probe on a host without a server says what to install, and its dialog doesn't begin it."""
    async with measuring(tmp_path) as (app, pilot):
        await choose_probe(app, pilot, "commit")
        await until(pilot, lambda: "can't run" in shown(app))
        await ask(app, pilot)
        assert "no MySQL or MariaDB server program" in said(app)
        await pilot.press("enter")
        await until(pilot, lambda: "checking" not in said(app))
        assert screen(app).run is None


async def test_the_demo_measures_nothing_and_says_what_does(tmp_path: Path) -> None:
    """On a recorded server enter says which command measures this host, and no dialog opens."""
    async with driven() as (app, pilot):
        await pilot.press("6")
        await until(pilot, lambda: bool(app.query("#probes-list")) and names(app) != [])
        await choose_probe(app, pilot, "random-read")
        assert "mycnf probe random-read" in shown(app)
        await pilot.press("enter")
        await until(pilot, lambda: any("mycnf probe random-read" in n.message for n in app._notifications))
        assert len(app.screen_stack) == 1
        assert app.query_one("#probes-list").border_subtitle == "● has a result · day"  # nothing of what a run takes
        await pilot.press("v")
        await until(pilot, lambda: any(n.message == "No result of random-read yet" for n in app._notifications))


async def test_a_snapshot_shows_the_results_that_it_carries(tmp_path: Path) -> None:
    """Each is beside its experiment with day and answer, `v` shows it in full, and its words can do no harm."""
    blocks = tuple(Block(r, 0.0, 1.0, {"latency": 100.0 + r}) for r in (1, 2, 3))
    arms = (Arm("fsync 4K", {}, blocks), Arm(HOSTILE, {}, tuple(replace(b, metrics={"latency": 9.0}) for b in blocks)))
    result = ProbeResult(
        "1.0", "0", "commit-latency", "2026-11-20T04:00:00Z", 9.0, "time", RunPlace("there"),
        (Metric("latency", "us", "less"),), arms, "fsync 4K", evidence=("FSY-01",), notes=(HOSTILE,),
    )  # fmt: skip

    def change(document: dict[str, Any]) -> None:
        document["probes"] = [result_fields(result)]

    path = snapshot_with(tmp_path, change)
    async with driven("--snapshot", str(path), size=(120, 40)) as (app, pilot):
        await pilot.press("6")
        await until(pilot, lambda: "2026-11-20" in screen_text(app))
        text = screen_text(app)
        assert "● commit-latency" in text
        assert "11-20" in text
        assert "[red]" in text
        assert "has the best latency" in shown(app)
        await pilot.press("v")
        await until(pilot, lambda: "What this run can't show" in shown(app))
        assert not [c for c in screen_text(app) if c != "\n" and not c.isprintable()]
        await pilot.press("y")
        assert "What this run can't show" in app.clipboard
        await pilot.press("v", "y")
        assert app.clipboard == "mycnf probe commit-latency"


async def test_the_dialog_names_what_is_against_it_and_wants_the_name(scans: Scans, tmp_path: Path) -> None:
    """Enter begins nothing while a refusal stands; typing its name overrides it."""
    scans.cost = Cost(1 << 60, 0, 0.0, ("a table of 1E",))
    async with measuring(tmp_path) as (app, pilot):
        await ask(app, pilot, force="busy, neighbour")
        await pilot.press("enter")
        await until(pilot, lambda: "full: " in said(app))
        assert screen(app).run is None
        force = app.screen.query_one("#begin-force", Input)
        await until(pilot, lambda: force.has_focus)
        force.value = "yes"
        await pilot.press("enter")
        await until(pilot, lambda: "full: " in said(app))
        assert screen(app).run is None
        force.value = "full, busy, neighbour"
        await pilot.press("enter")
        await until(pilot, lambda: bool(read_all().kept))


async def test_a_data_directory_is_never_measured_in(scans: Scans, tmp_path: Path) -> None:
    """It is refused with any other input, and another directory is taken."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "ibdata1").touch()
    async with measuring(tmp_path) as (app, pilot):
        await ask(app, pilot, force=f"{FORCED}, data-directory", directory=str(tmp_path / "data"))
        await pilot.press("enter")
        await until(pilot, lambda: "data-directory: " in said(app))
        assert screen(app).run is None
        app.screen.query_one("#begin-directory", Input).value = str(tmp_path)
        await pilot.press("enter")
        await until(pilot, lambda: bool(read_all().kept))
        assert scans.asked[-1].directory == str(tmp_path)


@pytest.mark.parametrize(
    ("written", "words"),
    [({"time": "soon"}, "not a duration"), ({"time": "0"}, "not a duration"), ({"choice-0": "x"}, "readers=x")],
)
async def test_what_cannot_be_meant_stays_in_the_dialog(
    scans: Scans, tmp_path: Path, written: dict[str, str], words: str
) -> None:
    """A time that is none and a choice that can't be taken are named, to be corrected; escape leaves."""
    async with measuring(tmp_path) as (app, pilot):
        await ask(app, pilot, force=FORCED, **written)
        await pilot.press("enter")
        await until(pilot, lambda: words in said(app))
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert screen(app).run is None


async def test_time_and_choices_are_taken(scans: Scans, tmp_path: Path) -> None:
    """What was changed in the dialog is what runs; what was not changed is the experiment's own."""
    async with measuring(tmp_path) as (app, pilot):
        await ask(app, pilot, force="busy, neighbour", **{"time": "150s", "choice-0": "4"})
        await pilot.press("tab")
        await until(pilot, lambda: "150 s for up to 5 rounds" in said(app))
        await pilot.press("enter")
        await until(pilot, lambda: bool(read_all().kept))
        assert read_all().kept[0].result.parameters["readers"] == "4"
        # The list is filled again when a run is over, and requests plans of its own.
        assert [wanted.choices for wanted in scans.asked if wanted.seconds == 150.0][-1] == {"readers": "4"}
