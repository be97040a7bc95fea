"""The screen of the workload: rates of a running server and of a recorded window, pause, and what is explained."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from app_driver import driven, screen_text, snapshot_with, until
from app_workload_screen import (
    COUNTERS,
    EVERY,
    SNAPSHOT,
    box,
    explained,
    offered,
    opened,
    row,
    sampled,
    samples,
)
from textual.content import Content
from textual.widgets import OptionList, Static

from advisor.commands.collect import DEMO
from advisor.facts import Sample
from advisor.tui.screens.workload.counters import SERIES
from advisor.tui.screens.workload.rates import VariableChange
from advisor.tui.screens.workload.rows import WINDOWS
from advisor.tui.screens.workload.screen import BACKLOG
from advisor.tui.text import SPARK_STEPS

SIZES = [(80, 24), (120, 40), (200, 60)]
PLACES = {series.id: place for place, series in enumerate(SERIES)}
SHOWN = [s for s in SERIES if not s.optional or set(s.formulas[0].counters) & set(COUNTERS)]


def recorded_rate(counter: str) -> float:
    """The rate of a counter in the demo's recording."""
    workload = json.loads(Path(DEMO).read_text(encoding="utf-8"))["workload"]
    first, last = workload["first"], workload["last"]
    rise: int = last["status"][counter] - first["status"][counter]
    return rise / float(last["at"] - first["at"])


@pytest.mark.parametrize("size", SIZES)
async def test_a_snapshot_shows_the_rates_of_its_window(size: tuple[int, int]) -> None:
    """A recording has one rate a row with the counter that it is of, draws nothing, and says so."""
    rate = recorded_rate("questions")
    async with driven(*SNAPSHOT, size=size) as (app, pilot):
        await opened(pilot)
        text = screen_text(app)
        assert "One recorded window of 10 s. Charts need samples of a running server." in text
        assert "w window" not in text
        assert "pause" not in text
        assert row(pilot, "queries").split() == ["queries", "/s", f"{rate:.0f}", "Questions"]
        assert not set(SPARK_STEPS) & set(row(pilot, "queries"))
        assert row(pilot, "redo").count("Innodb_lsn_current") == 1
        assert all(len(line) == size[0] for line in text.splitlines())


@pytest.mark.parametrize("window", [True, False])
async def test_a_recording_offers_no_key_that_does_nothing(window: bool, tmp_path: Path) -> None:
    """Its one window can be neither changed nor paused: both keys are a running server's, and come with its samples."""
    path = snapshot_with(tmp_path, lambda facts: window or facts.update(workload=None))
    async with driven("--snapshot", str(path)) as (app, pilot):
        pane = await opened(pilot)
        keys = {"workload.window", "workload.window-before", "workload.pause"}
        assert not offered(app) & keys
        await pilot.press("w", "p")
        assert (pane.window, pane.paused) == (WINDOWS[1], False)
        await sampled(pilot, *samples(3))
        assert keys <= offered(app)
        await until(pilot, lambda: "w window" in screen_text(app))


async def test_a_snapshot_without_a_window_says_why(tmp_path: Path) -> None:
    """The reason stands where the rates would be, and nothing in it is taken for markup or a command."""
    reason = "needs [red]a window[/] \x1b[31m(--window SECONDS)"

    def without(facts: dict[str, Any]) -> None:
        facts["workload"] = None
        facts["unavailable"].append({"part": "workload", "reason": reason})

    async with driven("--snapshot", str(snapshot_with(tmp_path, without))) as (app, pilot):
        await opened(pilot)
        text = screen_text(app)
        assert "Not sampled: needs [red]a window[/]" in text
        assert "\x1b" not in text
        await pilot.press("down", "w", "p", "y")
        await pilot.pause()
        assert app.is_running


@pytest.mark.parametrize("size", SIZES)
async def test_a_running_server_has_rows_with_sparklines(size: tuple[int, int]) -> None:
    """Seven rows stand on the smallest screen, thirty on the largest; wide ones have the chart beside the rows."""
    async with driven(*SNAPSHOT, size=size) as (app, pilot):
        await opened(pilot)
        await sampled(pilot, *samples(160))
        text = screen_text(app)
        shown = [series for series in SERIES if f"│ {series.label} " in text]
        assert len(shown) >= {24: 7, 40: 18, 60: 30}[size[1]]
        queries = row(pilot, "queries")
        assert queries.count(SPARK_STEPS[-1]) > {80: 10, 120: 50, 200: 50}[size[0]]
        assert queries.split()[-3:] == ["5.0", "5.0", "5.0"]
        assert len({len(row(pilot, series.id)) for series in SHOWN}) == 1
        assert row(pilot, "queries") in text


async def test_one_sample_is_no_rate_and_none_is_said() -> None:
    """Before the first sample and after one alone the screen says what is missing."""
    async with driven(*SNAPSHOT) as (app, pilot):
        await opened(pilot)
        await sampled(pilot)
        assert "No sample yet" in screen_text(app)
        await sampled(pilot, *samples(1))
        assert "A rate needs two" in screen_text(app)
        assert row(pilot, "running").split()[-1] == "100"
        assert "1 sample," in box(pilot)[1]


async def test_windows_are_chosen_by_key() -> None:
    """`w` goes from 5 min over 15 min and 1 h to 1 min and on, `W` the other way."""
    async with driven(*SNAPSHOT) as (_, pilot):
        await opened(pilot)
        await sampled(pilot, *samples(10, step=0), *samples(390, begin=1020.0))
        await until(pilot, lambda: box(pilot)[1].startswith("151 "))  # all are drawn
        titles = [box(pilot)]
        for key in ("w", "w", "w", "W"):
            await pilot.press(key)
            await until(pilot, lambda: box(pilot) != titles[-1])
            titles.append(box(pilot))
        assert [title.removeprefix("Workload: the last ") for title, _ in titles] == [
            "5 min",
            "15 min",
            "1 h",
            "1 min",
            "1 h",
        ]
        assert [state.partition(" ")[0] for _, state in titles] == ["151", "400", "400", "31", "400"]


async def test_pausing_loses_nothing() -> None:
    """What is shown stands still and says how many samples wait; then all of them are there."""
    async with driven(*SNAPSHOT) as (_, pilot):
        await opened(pilot)
        made = samples(12)
        await sampled(pilot, *made[:6])
        await pilot.press("p")
        before = row(pilot, "queries")
        await sampled(pilot, *made[6:9])
        await sampled(pilot, *made[9:])
        assert row(pilot, "queries") == before
        assert box(pilot)[1] == "6 samples, 10 s · paused, 6 newer samples"
        await pilot.press("w")
        assert box(pilot)[0] == "Workload: the last 15 min"
        assert "paused" in box(pilot)[1]
        await pilot.press("space")
        await until(pilot, lambda: box(pilot)[1] == "12 samples, 22 s")


async def test_leaving_the_screen_loses_nothing() -> None:
    """What came while another screen was shown is there on return."""
    async with driven(*SNAPSHOT) as (app, pilot):
        pane = await opened(pilot)
        made = samples(12)
        await sampled(pilot, *made[:6])
        await pilot.press("1")
        await until(pilot, lambda: not pane.display)
        await sampled(pilot, *made[6:])
        await pilot.press("3")
        await until(pilot, lambda: box(pilot)[1] == "12 samples, 22 s")
        assert "12 samples" in screen_text(app)


async def test_a_refresh_keeps_the_pause_and_the_row() -> None:
    """When the audit is repeated, the marked row and the pause stay."""
    async with driven(*SNAPSHOT) as (app, pilot):
        pane = await opened(pilot)
        await sampled(pilot, *samples(6))
        await pilot.press("down", "down", "p")
        before = row(pilot, "queries")
        assert app.view is not None
        pane.show(app.view._replace(read_at=app.view.read_at + 60, samples=samples(9, step=99)))
        await pilot.pause()
        assert row(pilot, "queries") == before
        assert pane.selected is not None
        assert pane.selected.series is SERIES[2]
        pane.show(app.view._replace(place="another server", samples=samples(4)))
        await pilot.pause()
        assert not pane.paused
        assert box(pilot)[1].startswith("4 samples")


async def test_counters_that_were_reset_are_reported() -> None:
    """A restart within the window shows below the rows; the rates around it count."""
    async with driven(*SNAPSHOT) as (_, pilot):
        await opened(pilot)
        await sampled(pilot, *samples(6), *(Sample(s.at + 100, s.status) for s in samples(3)))
        await pilot.press("W")
        assert "counters were reset" not in box(pilot)[1]
        await pilot.press("w")
        assert "counters were reset" in box(pilot)[1]
        assert row(pilot, "queries").split()[-3:] == ["5.0", "5.0", "5.0"]


async def test_each_row_explains_itself() -> None:
    """Keys and mouse go through the rows, not the headings; each says its counter and scale, or why there is none."""
    async with driven(*SNAPSHOT) as (_, pilot):
        pane = await opened(pilot)
        made = samples(20)
        await sampled(pilot, *(Sample(s.at, {k: v for k, v in s.status.items() if k != "slow_queries"}) for s in made))
        assert "Questions, statements sent by clients" in explained(pilot)
        assert "constant at 5.0 /s" in explained(pilot)
        await pilot.press("pagedown")
        marked = pane.selected
        assert marked is not None
        assert marked.series is not SERIES[0]
        assert explained(pilot).startswith(marked.series.label)
        await pilot.press("home", *["down"] * PLACES["slow"])
        assert "this server has no counter for it (Slow_queries)" in explained(pilot)
        await pilot.press("home")
        await pilot.click("#workload-list", offset=(4, 6))
        assert explained(pilot).startswith("rows changed: Innodb_rows_inserted + Innodb_rows_updated")


async def test_the_scale_is_said() -> None:
    """Rates are drawn from 0, the hit rate from its least, and each says so in numbers."""
    names = ("questions", "innodb_buffer_pool_reads", "innodb_buffer_pool_read_requests")
    rows = [(0, 0, 0), (100, 10, 1000), (300, 30, 2000), (400, 80, 3000)]
    made = [Sample(1000 + EVERY * n, dict(zip(names, counts, strict=True))) for n, counts in enumerate(rows)]
    async with driven(*SNAPSHOT) as (_, pilot):
        await opened(pilot)
        await sampled(pilot, *made)
        await pilot.press("W")
        assert "▁ 0 /s to █ 75 /s; each column is the mean of 2.9 s" in explained(pilot)
        await pilot.press(*["down"] * PLACES["hit-rate"])
        assert explained(pilot).startswith("pool hit rate")
        assert "▁ 95.00 % to █ 98.50 %" in explained(pilot)


async def test_half_an_hour_is_measured_aside() -> None:
    """When the screen is first shown after long, its intervals are measured in the background, and then there."""
    async with driven(*SNAPSHOT) as (_, pilot):
        pane = await opened(pilot)
        pane.window = WINDOWS[-1]
        await sampled(pilot, *samples(BACKLOG * 3))
        await until(pilot, lambda: box(pilot)[1].startswith(f"{BACKLOG * 3} samples"))


async def test_the_rows_can_be_copied() -> None:
    """`y` gives the rows as they are shown, under their heads."""
    async with driven(*SNAPSHOT) as (app, pilot):
        await opened(pilot)
        await sampled(pilot, *samples(6))
        await pilot.press("y")
        await pilot.pause()
        copied = app.clipboard.splitlines()
        assert copied[0].split() == ["now", "older", "→", "newer", "min", "mean", "max"]
        assert [text.split()[0] for text in copied[1:]] == [series.label.split()[0] for series in SHOWN]


async def test_absurd_counters_are_shown_harmlessly() -> None:
    """Counters of hundreds of digits and negative ones break no row."""
    async with driven(*SNAPSHOT) as (app, pilot):
        await opened(pilot)
        first, last = (Sample(s.at, dict(s.status)) for s in samples(2))
        last.status.update(questions=10**400, threads_running=-(10**30), bytes_sent=10**40, created_tmp_tables=-5)
        await sampled(pilot, first, last)
        assert all(len(row(pilot, series.id)) == len(row(pilot, "queries")) for series in SERIES[:2])
        assert app.is_running


async def test_the_marked_row_has_a_large_chart() -> None:
    """It names the row with its numbers, has their ends at the axis, and is hidden where the screen is too low."""
    async with driven(*SNAPSHOT, size=(100, 40)) as (app, pilot):
        await opened(pilot)
        await sampled(pilot, *samples(100))
        chart = app.query_one("#workload-chart")
        assert str(chart.border_title) == "queries · now 5.0 /s"
        assert str(chart.border_subtitle) == "min 5.0 /s · mean 5.0 /s · max 5.0 /s"
        await until(pilot, lambda: "now" in str(chart.render()))
        drawn = str(chart.render()).splitlines()
        assert drawn[0].startswith("    5.0 ┤")
        assert drawn[-2].startswith("      0 ┤")
        assert drawn[-1].split() == ["-5", "min", "-2.5", "min", "now"]
        assert set(drawn[0][9:].strip()[1:]) == {"⣿"}  # the first character may be half before the first sample
        await pilot.press("down")
        assert str(chart.border_title).startswith("statement time · now -")
        await pilot.resize_terminal(44, 14)
        await until(pilot, lambda: not chart.display)
        assert "queries" in screen_text(app)


async def test_a_chart_of_zeros_has_one_label() -> None:
    """The only value has one label, at the line where the curve is."""
    async with driven(*SNAPSHOT, size=(100, 40)) as (app, pilot):
        await opened(pilot)
        await sampled(pilot, *samples(100, step=0))
        chart = app.query_one("#workload-chart")
        await until(pilot, lambda: "now" in str(chart.render()))
        labels = [line[:7].strip() for line in str(chart.render()).splitlines()[:-1]]
        assert labels == [""] * (len(labels) - 1) + ["0"]


async def test_a_changed_variable_is_marked() -> None:
    """The chart has a line where a variable got another value, and the words below say which, within the window."""
    async with driven(*SNAPSHOT, size=(100, 40)) as (app, pilot):
        pane = await opened(pilot)
        made = samples(40, step=0)
        await sampled(pilot, *made)
        change = VariableChange(made[20].at, "innodb_io_capacity", "200", "[red]2000")
        assert app.view is not None
        pane.show_samples(app.view._replace(changes=(change,)))
        assert "┊ innodb_io_capacity: 200 → [red]2000, 38 s ago" in explained(pilot)
        await until(pilot, lambda: "┊" in str(app.query_one("#workload-chart").render()))
        later = tuple(Sample(s.at + 400, s.status) for s in made)
        pane.show_samples(app.view._replace(changes=(change,), samples=(*made, *later)))
        assert "┊" not in explained(pilot)


async def test_the_demo_has_a_recorded_incident() -> None:
    """Its five minutes are charted at once: sessions wait for rows and statements stop; no key asks a server."""
    async with driven(size=(120, 40)) as (app, pilot):
        pane = await opened(pilot)
        assert box(pilot)[0].startswith("Workload: the last 5 min · recorded load")
        assert pane.shown is not None
        found = {r.series.id: r.rates for r in pane.shown.rows}
        assert found["lock-waiting"].maximum >= 10
        assert found["queries"].minimum < found["queries"].mean / 100
        assert {"Host", "Server process"} <= {r.group for r in pane.shown.rows}
        assert "innodb_max_dirty_pages_pct: 90" in explained(pilot)
        assert not offered(app) & {"workload.pause", "workload.top"}


async def test_the_demo_can_be_replayed() -> None:
    """`p` shows the series from its beginning, sample by sample, and pressed again all of it."""
    async with driven() as (_, pilot):
        pane = await opened(pilot)
        await pilot.press("p")
        await until(pilot, lambda: pane.shown is not None and 5 <= pane.shown.samples < 100)
        assert re.fullmatch(r"replay, \d\d? of 150 samples", box(pilot)[1])
        assert "innodb_max_dirty_pages_pct" not in explained(pilot)  # it changed later
        await pilot.press("p")
        await until(pilot, lambda: box(pilot)[1].startswith("150 samples"))


async def test_no_explanation_is_cut_without_a_sign() -> None:
    """At 80 columns, a changed variable and the scale keep their lines, and what has no room ends with an ellipsis."""
    async with driven(*SNAPSHOT) as (app, pilot):
        pane = await opened(pilot)
        made = samples(40)
        await sampled(pilot, *made)
        assert app.view is not None
        change = VariableChange(made[20].at, "innodb_io_capacity", "200", "2000")
        pane.show_samples(app.view._replace(changes=(change,)))
        about, rows = app.query_one("#workload-about", Static), app.query_one("#workload-list", OptionList)
        for place, option in enumerate(rows.options):
            if option.disabled:
                continue
            rows.highlighted = place
            await until(pilot, lambda: pane.selected is not None and pane.selected.series.label in explained(pilot))
            words = about.content
            assert isinstance(words, Content)
            assert words.get_height({}, about.content_size.width) <= about.content_size.height, words.plain
