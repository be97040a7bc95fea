"""The screen of the workload: rates of a running server and of a recorded window, pause, and what is explained."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from app_driver import driven, screen_text, snapshot_with, until
from textual.widgets import OptionList

from advisor.commands.collect import DEMO
from advisor.facts import Sample
from advisor.tui.screens.workload.counters import SERIES
from advisor.tui.screens.workload.rows import WINDOWS
from advisor.tui.screens.workload.screen import BACKLOG, WorkloadPane
from advisor.tui.text import SPARK_STEPS, format_value

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from advisor.tui.app import AuditApp
    from probes.sandbox import Sandbox

SIZES = [(80, 24), (120, 40), (200, 60)]
EVERY = 2.0
NAME = re.compile(r"[A-Z]\w+")  # a counter as servers spell it
COUNTERS = {name.lower(): 100 for series in SERIES for name in NAME.findall(series.formulas[0].source)}


def samples(count: int, begin: float = 1000.0, step: int = 10) -> tuple[Sample, ...]:
    """Samples of a server whose counters rise by `step` and more from one to the next."""
    rises = {name: step * place for place, name in enumerate(COUNTERS, 1)}
    return tuple(
        Sample(begin + EVERY * n, {name: COUNTERS[name] + n * rise for name, rise in rises.items()})
        for n in range(count)
    )


def recorded_rate(counter: str) -> float:
    """The rate of a counter in the demo's recording."""
    told = json.loads(Path(DEMO).read_text(encoding="utf-8"))["workload"]
    first, last = told["first"], told["last"]
    rise: int = last["status"][counter] - first["status"][counter]
    return rise / float(last["at"] - first["at"])


async def opened(pilot: Pilot[int]) -> WorkloadPane:
    """The screen, once it is shown and drawn."""
    app = pilot.app
    await pilot.press("3")
    await until(pilot, lambda: any(shown.has_focus for shown in app.query("#workload-list")))
    await until(pilot, lambda: bool(box(pilot)[0]))
    return app.query_one("#workload", WorkloadPane)


async def sampled(pilot: Pilot[int], *more: Sample, anew: bool = False) -> None:
    """Give the app these samples of a running server, as it takes them itself."""
    app: AuditApp = pilot.app  # type: ignore[assignment] # driven() makes no other
    assert app.view is not None
    before = () if anew else app.view.samples or ()
    app.view = app.view._replace(origin="live", samples=(*before, *more))
    app.query_one("#workload", WorkloadPane).show_samples(app.view)
    await pilot.pause()


def box(pilot: Pilot[int]) -> tuple[str, str]:
    """What the frame says above and below the rows."""
    frame = pilot.app.query_one("#workload-box")
    return str(frame.border_title), str(frame.border_subtitle)


def explained(pilot: Pilot[int]) -> str:
    """What is said of the marked row."""
    return str(pilot.app.query_one("#workload-about").render())


def row(pilot: Pilot[int], name: str) -> str:
    """One row as it is shown."""
    return str(pilot.app.query_one("#workload-list", OptionList).get_option(name).prompt)


@pytest.mark.parametrize("size", SIZES)
async def test_the_demo_shows_the_rates_of_its_window(size: tuple[int, int]) -> None:
    """A recording has one rate a row with the counter that it is of, draws nothing, and says so."""
    rate = recorded_rate("questions")
    async with driven(size=size) as (app, pilot):
        await opened(pilot)
        text = screen_text(app)
        assert "One recorded window of 10 s. Only a running server has sparklines." in text
        assert "w window" not in text
        assert "pause" not in text
        assert row(pilot, "queries").split() == ["queries", "/s", f"{rate:.0f}", "Questions"]
        assert not set(SPARK_STEPS) & set(row(pilot, "queries"))
        assert text.count("Innodb_lsn_current") == 1
        assert all(len(line) == size[0] for line in text.splitlines())


def offered(app: AuditApp) -> set[str]:
    """The actions that keys would run, by their ids."""
    return {active.binding.id or "" for active in app.screen.active_bindings.values() if active.enabled}


@pytest.mark.parametrize("window", [True, False])
async def test_a_recording_offers_no_key_that_does_nothing(window: bool, tmp_path: Path) -> None:
    """Its one window can be neither changed nor paused: both keys are a running server's, and come with its samples."""
    path = snapshot_with(tmp_path, lambda facts: window or facts.update(workload=None))
    async with driven("--snapshot", str(path)) as (app, pilot):
        pane = await opened(pilot)
        keys = {"workload.window", "workload.window-before", "workload.pause"}
        assert not offered(app) & keys
        await pilot.press("w", "p")
        assert (pane.window, pane.paused) == (WINDOWS[0], False)
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
    """The first ten rows stand on the smallest screen, all on the largest, each as wide as there is room for."""
    async with driven(size=size) as (app, pilot):
        await opened(pilot)
        await sampled(pilot, *samples(40))
        text = screen_text(app)
        shown = [series for series in SERIES if f"│ {series.label} " in text]
        assert len(shown) >= (len(SERIES) if size[1] >= 40 else 10)
        queries = row(pilot, "queries")
        assert queries.count(SPARK_STEPS[-1]) > size[0] - 70
        assert queries.split()[-3:] == ["5.0", "5.0", "5.0"]
        assert len({len(row(pilot, series.id)) for series in SERIES}) == 1
        assert row(pilot, "queries") in text


async def test_one_sample_is_no_rate_and_none_is_said() -> None:
    """Before the first sample and after one alone the screen says what is missing."""
    async with driven() as (app, pilot):
        await opened(pilot)
        await sampled(pilot)
        assert "No sample yet" in screen_text(app)
        await sampled(pilot, *samples(1))
        assert "A rate needs two" in screen_text(app)
        assert row(pilot, "running").split()[-1] == "100"
        assert "1 sample," in box(pilot)[1]


async def test_windows_are_chosen_by_key() -> None:
    """`w` goes from 30 s over 5 min to all that was sampled and round again, `W` the other way."""
    async with driven() as (_, pilot):
        await opened(pilot)
        await sampled(pilot, *samples(10, step=0), *samples(390, begin=1020.0))
        titles = [box(pilot)]
        for key in ("w", "w", "w", "W"):
            await pilot.press(key)
            await until(pilot, lambda: box(pilot) != titles[-1])
            titles.append(box(pilot))
        assert [title for title, _ in titles] == [
            "Workload: the last 30 s",
            "Workload: the last 5 min",
            "Workload: all samples",
            "Workload: the last 30 s",
            "Workload: all samples",
        ]
        assert [state.partition(" ")[0] for _, state in titles] == ["16", "151", "400", "16", "400"]


async def test_pausing_loses_nothing() -> None:
    """What is shown stands still and says how many samples wait; then all of them are there."""
    async with driven() as (_, pilot):
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
        assert box(pilot)[0] == "Workload: the last 5 min"
        assert "paused" in box(pilot)[1]
        await pilot.press("space")
        await until(pilot, lambda: box(pilot)[1] == "12 samples, 22 s")


async def test_leaving_the_screen_loses_nothing() -> None:
    """What came while another screen was shown is there on return."""
    async with driven() as (app, pilot):
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
    """When the audit is read anew, the marked row and what stands still stay."""
    async with driven() as (app, pilot):
        pane = await opened(pilot)
        await sampled(pilot, *samples(6))
        await pilot.press("down", "down", "p")
        before = row(pilot, "queries")
        assert app.view is not None
        pane.show(app.view._replace(read_at=app.view.read_at + 60, samples=samples(9, step=99)))
        await pilot.pause()
        assert row(pilot, "queries") == before
        assert app.query_one("#workload-list", OptionList).highlighted == 2
        pane.show(app.view._replace(place="another server", samples=samples(4)))
        await pilot.pause()
        assert not pane.paused
        assert box(pilot)[1].startswith("4 samples")


async def test_counters_that_began_anew_are_said() -> None:
    """A restart within the window shows below the rows; the rates around it count."""
    async with driven() as (_, pilot):
        await opened(pilot)
        await sampled(pilot, *samples(6), *(Sample(s.at + 100, s.status) for s in samples(3)))
        assert "counters were reset" not in box(pilot)[1]
        await pilot.press("w")
        assert "counters were reset" in box(pilot)[1]
        assert row(pilot, "queries").split()[-3:] == ["5.0", "5.0", "5.0"]


async def test_each_row_explains_itself() -> None:
    """Keys and mouse go through the rows; each says its counter and its scale, or why there is none."""
    async with driven() as (app, pilot):
        await opened(pilot)
        made = samples(20)
        await sampled(pilot, *(Sample(s.at, {k: v for k, v in s.status.items() if k != "slow_queries"}) for s in made))
        assert "Questions, statements sent by clients" in explained(pilot)
        assert "constant at 5.0 /s" in explained(pilot)
        await pilot.press("pagedown")
        marked = app.query_one("#workload-list", OptionList).highlighted
        assert marked is not None
        assert marked > 10
        assert explained(pilot).startswith(SERIES[marked].label)
        await pilot.press("end", "up", "up", "up", "up")
        assert "this server has no counter for it (Slow_queries)" in explained(pilot)
        await pilot.press("home")
        await pilot.click("#workload-list", offset=(4, 2))
        assert explained(pilot).startswith("rows changed: Innodb_rows_inserted + Innodb_rows_updated")


async def test_the_scale_is_said() -> None:
    """Rates are drawn from 0, the hit rate from its least, and each says so in numbers."""
    names = ("questions", "innodb_buffer_pool_reads", "innodb_buffer_pool_read_requests")
    rows = [(0, 0, 0), (100, 10, 1000), (300, 30, 2000), (400, 80, 3000)]
    made = [Sample(1000 + EVERY * n, dict(zip(names, counts, strict=True))) for n, counts in enumerate(rows)]
    async with driven() as (_, pilot):
        await opened(pilot)
        await sampled(pilot, *made)
        assert "▁ 0 /s to █ 100 /s; each column is the mean of 1.4 s" in explained(pilot)
        await pilot.press(*["down"] * 5)
        assert explained(pilot).startswith("pool hit rate")
        assert "▁ 95.00 % to █ 99.00 %" in explained(pilot)


async def test_half_an_hour_is_measured_aside() -> None:
    """When the screen is first shown after long, its intervals are measured in the background, and then there."""
    async with driven() as (_, pilot):
        pane = await opened(pilot)
        pane.window = WINDOWS[-1]
        await sampled(pilot, *samples(BACKLOG * 3))
        await until(pilot, lambda: box(pilot)[1].startswith(f"{BACKLOG * 3} samples"))


async def test_the_rows_can_be_copied() -> None:
    """`y` gives the rows as they are shown, under their heads."""
    async with driven() as (app, pilot):
        await opened(pilot)
        await sampled(pilot, *samples(6))
        await pilot.press("y")
        await pilot.pause()
        copied = app.clipboard.splitlines()
        assert copied[0].split() == ["now", "older", "→", "newer", "min", "mean", "max"]
        assert [text.split()[0] for text in copied[1:]] == [series.label.split()[0] for series in SERIES]


async def test_absurd_counters_are_shown_harmlessly() -> None:
    """Counters of hundreds of digits and negative ones break no row."""
    async with driven() as (app, pilot):
        await opened(pilot)
        first, last = (Sample(s.at, dict(s.status)) for s in samples(2))
        last.status.update(questions=10**400, threads_running=-(10**30), bytes_sent=10**40, created_tmp_tables=-5)
        await sampled(pilot, first, last)
        assert all(len(row(pilot, series.id)) == len(row(pilot, "queries")) for series in SERIES[:2])
        assert app.is_running


def status(sandbox: Sandbox) -> dict[str, str]:
    """What the server says of its counters, asked beside the app."""
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS")
        return dict(cursor.fetchall())


def rises(before: dict[str, str], after: dict[str, str]) -> dict[str, int]:
    """By how much each series of rates rose between two answers, by the counters that its row names."""
    sample = Sample(0, {name.lower(): 0 for name in after}, query_time=0.0 if "Query_time" in after else None)
    named = {
        s.id: NAME.findall(way.source) for s in SERIES if s.unit in ("/s", "B/s") and (way := s.formula_for(sample))
    }
    return {key: sum(int(after[name]) - int(before[name]) for name in names) for key, names in named.items()}


def work(sandbox: Sandbox) -> None:
    """A little of everything: rows read and changed, transactions, a temporary table."""
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE worked")
        cursor.execute("CREATE TABLE worked.t (a INT PRIMARY KEY, b INT) ENGINE=InnoDB")
        for n in range(200):
            cursor.execute("INSERT INTO worked.t VALUES (%s, %s)", (n, n % 7))
        for n in range(50):
            cursor.execute("UPDATE worked.t SET b = b + 1 WHERE a = %s", (n,))
        for statement in (
            "START TRANSACTION",
            "DELETE FROM worked.t WHERE a < 10",
            "COMMIT",
            *["SELECT b + 1 AS c, COUNT(*) FROM worked.t GROUP BY c ORDER BY 2"] * 20,
            "DROP DATABASE worked",
        ):
            cursor.execute(statement)


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11")  # which counters there are is the next test's
async def test_what_is_shown_is_what_the_server_counts(any_server: Sandbox) -> None:
    """Each rate, times the seconds of its window, lies between what the server's own counters rose meanwhile."""
    before = await asyncio.to_thread(status, any_server)
    async with driven("--socket", any_server.socket, "--user", "root") as (app, pilot):
        pane = await opened(pilot)
        pane.window = WINDOWS[-1]
        await until(pilot, lambda: bool(app.view and app.view.samples))
        began = await asyncio.to_thread(status, any_server)
        await asyncio.to_thread(work, any_server)
        ended = await asyncio.to_thread(status, any_server)
        await until(pilot, lambda: app.view.samples[-1].status["questions"] > int(ended["Questions"]))
        await until(pilot, lambda: pane.shown is not None and pane.shown.samples == len(app.view.samples))
        shown, queries = pane.shown, row(pilot, "queries")  # of one moment: the next sample is drawn while we ask
        after = await asyncio.to_thread(status, any_server)
    assert queries.split()[-2] == format_value(shown.rows[0].rates.mean, "/s")
    found = {r.series.id: r.rates for r in shown.rows}
    least, most = rises(began, ended), rises(before, after)
    assert least["rows-changed"] >= 260
    for name, rise in least.items():
        counted = round(found[name].mean * shown.seconds)
        assert rise <= counted <= most[name], name
    assert not any(told.broken for told in found.values())


async def test_every_server_has_what_each_row_needs(any_server: Sandbox) -> None:
    """All rows of a running server have a counter, spelled as the server spells it; MySQL alone times no statements."""
    async with driven("--socket", any_server.socket, "--user", "root") as (app, pilot):
        await opened(pilot)
        await until(pilot, lambda: bool(app.view and app.view.samples))
        sample = app.view.samples[-1]
        mariadb = app.view.audited.known.target.flavour == "mariadb"
    counters = await asyncio.to_thread(status, any_server)
    for series in SERIES:
        way = series.formula_for(sample)
        if series.id == "time" and not mariadb:
            assert way is None
            assert "MySQL has no such counter" in series.why_missing
        else:
            assert way is not None, series.id
            assert set(NAME.findall(way.source)) <= set(counters)
