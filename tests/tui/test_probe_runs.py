"""Runs begun in the app: seen growing, ended, broken off, and the effect of their results on audits."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from app_driver import driven, screen_text, until
from app_probes_screen import ask, choose_probe, leftovers, measuring, run, screen, shown
from simulated_scan import Scans

from advisor.core.model import Confidence
from advisor.tui.app import AuditApp
from advisor.tui.screens.probes import run as run_module
from advisor.tui.screens.probes.screen import ProbesPane
from probes.results import read_all


async def test_a_run_is_seen_growing_and_its_result_is_read(
    scans: Scans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Round, time left and a chart beside the published one while it runs; its report when it is done."""
    monkeypatch.setattr(run_module, "CURVE_PAUSE_FACTOR", 0.0)  # these blocks take no time
    scans.held = 6
    async with measuring(tmp_path, size=(120, 40)) as (app, pilot):
        await run(app, pilot)
        await until(pilot, scans.reached.is_set)
        await until(pilot, lambda: "round 2 of 5" in shown(app))
        words = shown(app)
        assert "left" in words
        assert "No bars yet" in words
        assert "beyond_cache" in words
        assert "here" in words
        assert "RBS-01" in words
        assert "▶ read-buffer" in screen_text(app)
        scans.go_on.set()
        await until(pilot, lambda: "What this run can't show" in shown(app))
        assert scans.closed == 1
        assert "● read-buffer" in screen_text(app)
        (kept,) = read_all().kept
        assert kept.result.rounds == 5


async def test_a_result_changes_the_finding_at_once(scans: Scans, tmp_path: Path) -> None:
    """The rules are asked again: what was measured here is in the finding, and makes it measured."""

    def finding(app: AuditApp) -> Any:
        assert app.view is not None
        return next(f for f in app.view.audited.findings if f.code == "BUF001")

    async with measuring(tmp_path) as (app, pilot):
        assert finding(app).local is None
        await run(app, pilot)
        await until(pilot, lambda: finding(app).local is not None)
        assert finding(app).confidence is Confidence.MEASURED
        assert app.view is not None
        assert [r.probe for r in app.view.audited.facts.probes] == ["read-buffer"]
        await pilot.press("1")
        await choose_finding(app, "BUF001")
        await until(pilot, lambda: "measured here" in screen_text(app))


async def test_a_finding_leads_to_its_experiment() -> None:
    """`p` on a finding marks the probe that repeats its evidence; one without any says so."""
    async with driven() as (app, pilot):
        await choose_finding(app, "BUF001")
        await pilot.press("p")
        await until(pilot, lambda: bool(app.query(ProbesPane)) and screen(app).chosen == "read-buffer")
        await pilot.press("1")
        await choose_finding(app, "SEC003")
        await pilot.press("p")
        await until(pilot, lambda: any("No probe covers" in n.message for n in app._notifications))


async def choose_finding(app: AuditApp, code: str) -> None:
    """Mark a finding in the list."""
    options = app.query_one("#findings-list")
    places = range(options.option_count)  # type: ignore[attr-defined] # an OptionList
    options.highlighted = next(  # type: ignore[attr-defined]
        n
        for n in places
        if (options.get_option_at_index(n).id or "").startswith(code)  # type: ignore[attr-defined]
    )


@pytest.mark.parametrize("key", ["c", "escape"])
async def test_a_run_can_be_ended_at_any_time(scans: Scans, tmp_path: Path, key: str) -> None:
    """In mid-round the whole rounds are kept, what was made is removed, and the next run may begin."""
    scans.held = 6
    async with measuring(tmp_path) as (app, pilot):
        await run(app, pilot)
        await until(pilot, scans.reached.is_set)
        await pilot.press("enter")  # one at a time
        await until(pilot, lambda: any("a second probe would disturb it" in n.message for n in app._notifications))
        await pilot.press(key)
        await until(pilot, lambda: screen(app).run is None)
        (kept,) = read_all().kept
        assert (kept.result.ended, kept.result.rounds) == ("cancelled", 1)
        assert scans.closed == 1
        await pilot.press("c")  # the app's own again
        await until(pilot, lambda: "The change set is empty" in screen_text(app))
        await pilot.press("6")
        scans.held = None
        await run(app, pilot)
        await until(pilot, lambda: len(read_all().kept) == 2)


async def test_a_run_that_was_ended_can_be_gone_on_with(scans: Scans, tmp_path: Path) -> None:
    """The dialog offers it by its day and rounds; `yes` adds the rounds that are left to those that are kept."""
    scans.held = 6
    async with measuring(tmp_path) as (app, pilot):
        await run(app, pilot)
        await until(pilot, scans.reached.is_set)
        await pilot.press("c")
        await until(pilot, lambda: screen(app).run is None)
        (kept,) = read_all().kept
        assert kept.result.rounds == 1
        scans.held = None
        await run(app, pilot, earlier="yes")
        await until(pilot, lambda: [k.result.rounds for k in read_all().kept] == [5])
        assert read_all().kept[0].path == kept.path
        await until(pilot, lambda: screen(app).run is None)
        await ask(app, pilot)
        assert not app.screen.query_one("#begin-earlier").is_on_screen  # it is complete


async def test_ended_before_its_first_round_it_has_no_result(scans: Scans, tmp_path: Path) -> None:
    """It says so, keeps nothing, and shows the description with the reason."""
    scans.held = 1
    async with measuring(tmp_path) as (app, pilot):
        await run(app, pilot)
        await until(pilot, scans.reached.is_set)
        await pilot.press("c")
        await until(pilot, lambda: "no result" in shown(app))
        assert "before its first round was complete" in shown(app)
        assert read_all().kept == ()


async def test_another_screen_does_not_stop_a_run(scans: Scans, tmp_path: Path) -> None:
    """It goes on, and its end is reported on any screen."""
    scans.held = 6
    async with measuring(tmp_path) as (app, pilot):
        await run(app, pilot)
        await until(pilot, scans.reached.is_set)
        await pilot.press("1")
        scans.go_on.set()
        await until(pilot, lambda: bool(read_all().kept))
        await until(pilot, lambda: any("5 rounds" in n.message for n in app._notifications))
        assert read_all().kept[0].result.ended == "finished"


async def test_a_run_that_breaks_is_one_line(scans: Scans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake in an experiment costs neither the app nor the whole rounds."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where the file of the crash goes

    def broken() -> None:
        raise KeyError("mistake")

    scans.at[6] = broken
    async with measuring(tmp_path) as (app, pilot):
        await run(app, pilot)
        await until(pilot, lambda: "no result" in shown(app))
        assert app.is_running
        assert [k.result.rounds for k in read_all().kept] == [1]


async def test_memory_is_measured_to_the_end(tmp_path: Path) -> None:
    """A real probe of this host, in few seconds: its report is shown and it is the view's from then on."""
    async with measuring(tmp_path) as (app, pilot):
        await choose_probe(app, pilot, "memory-latency")
        await run(app, pilot, time="3s", **{"choice-0": "4M"})
        await until(pilot, lambda: bool(read_all().kept))
        await until(pilot, lambda: "Found besides" in shown(app))
        assert app.view is not None
        await until(pilot, lambda: [r.probe for r in app.view.audited.facts.probes] == ["memory-latency"])


async def test_a_disk_is_measured_until_it_is_stopped(tmp_path: Path) -> None:
    """A real probe of this host, ended after its first round: that is kept, and the file that it wrote is gone."""
    async with measuring(tmp_path) as (app, pilot):
        await choose_probe(app, pilot, "commit-latency")
        await run(app, pilot, time="12s", **{"choice-0": "4K", "choice-2": "buffered"})
        await until(pilot, lambda: "round 2 of" in shown(app))
        assert leftovers(tmp_path)
        await pilot.press("c")
        await until(pilot, lambda: screen(app).run is None)
        assert read_all().kept[0].result.ended == "cancelled"
        assert leftovers(tmp_path) == []
