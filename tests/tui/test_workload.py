"""The screen of the workload: rates of a running server and of a recorded window, pause, and what is explained."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from app_driver import driven, screen_text, snapshot_with, until
from textual.widgets import OptionList

from advisor.collect.host.live_load import LoadReader, load_reader
from advisor.commands.collect import DEMO
from advisor.facts import Sample
from advisor.facts.workload import DIGESTS, WAIT_EVENTS, EventTotal, TopEvents
from advisor.tui.screens.workload.counters import SERIES
from advisor.tui.screens.workload.rows import GROUP_OF, WINDOWS, top_table
from advisor.tui.screens.workload.sampler import changed_variables
from advisor.tui.screens.workload.samples import (
    MOST_SAMPLES,
    RecordedSeries,
    VariableChange,
    add_sample,
    add_whole_sample,
    load_series,
    write_series,
)
from advisor.tui.screens.workload.screen import BACKLOG, WorkloadPane
from advisor.tui.text import SPARK_STEPS, format_value

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from advisor.tui.app import AuditApp
    from probes.sandbox import Sandbox

SNAPSHOT = ("--snapshot", DEMO)
SIZES = [(80, 24), (120, 40), (200, 60)]
EVERY = 2.0
ROUNDING = 60  # milliseconds: the kernel counts in hundredths of a second
NAME = re.compile(r"[A-Z]\w+")  # a counter as servers spell it
PLACES = {series.id: place for place, series in enumerate(SERIES)}
COUNTERS = {name.lower(): 100 for series in SERIES for name in NAME.findall(series.formulas[0].source)}

SHOWN = [s for s in SERIES if not s.optional or set(s.formulas[0].counters) & set(COUNTERS)]


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
    """Seven rows stand on the smallest screen, thirty on the largest, each as wide as there is room for."""
    async with driven(*SNAPSHOT, size=size) as (app, pilot):
        await opened(pilot)
        await sampled(pilot, *samples(160))
        text = screen_text(app)
        shown = [series for series in SERIES if f"│ {series.label} " in text]
        assert len(shown) >= {24: 7, 40: 18, 60: 30}[size[1]]
        queries = row(pilot, "queries")
        assert queries.count(SPARK_STEPS[-1]) > size[0] - 70
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
    """When the audit is read anew, the marked row and what stands still stay."""
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


async def test_counters_that_began_anew_are_said() -> None:
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


def psutil_says(pid: int) -> dict[str, float]:
    """What psutil itself says of this host and a process: times in milliseconds, sizes in bytes."""
    times, process = psutil.cpu_times(), psutil.Process(pid)
    own = process.cpu_times()
    return {
        "host_cpu_busy_ms": 1000 * (times.user + times.nice + times.system + times.irq + times.softirq),
        "host_cpu_iowait_ms": 1000 * times.iowait,
        "host_cpu_steal_ms": 1000 * times.steal,
        "server_cpu_ms": 1000 * (own.user + own.system),
    }


@pytest.mark.servers("mariadb-10.11")
async def test_the_host_beside_the_server_is_what_psutil_says(any_server: Sandbox) -> None:
    """Processor times of samples lie between what psutil reads before and after; the shown shares follow from them."""
    pid = any_server.pid
    before = await asyncio.to_thread(psutil_says, pid)
    async with driven("--socket", any_server.socket, "--user", "root", size=(120, 60)) as (app, pilot):
        pane = await opened(pilot)
        await asyncio.to_thread(work, any_server)
        await until(pilot, lambda: len([s for s in app.view.samples or () if "server_rss" in s.status]) > 1)
        await until(pilot, lambda: pane.shown is not None and pane.shown.samples == len(app.view.samples))
        after = await asyncio.to_thread(psutil_says, pid)
        resident = psutil.Process(pid).memory_info().rss
        last = app.view.samples[-1].status
        shown = {r.series.id: r for r in pane.shown.rows}
        interval = pane._intervals[-1]
        assert {"cpu", "available", "server-cpu", "server-memory"} <= set(shown)
        assert row(pilot, "server-memory").split()[3] == format_value(last["server_rss"], "B")
    for name, read in before.items():
        assert read - ROUNDING <= last[name] <= after[name] + ROUNDING, name
    assert last["server_rss"] == pytest.approx(resident, rel=0.2)
    rise = interval.last.status["server_cpu_ms"] - interval.first.status["server_cpu_ms"]
    assert shown["server-cpu"].rates.now == pytest.approx(100 * rise / 1000 / (interval.last.at - interval.first.at))
    whole = interval.last.status["host_cpu_ms"] - interval.first.status["host_cpu_ms"]
    busy = interval.last.status["host_cpu_busy_ms"] - interval.first.status["host_cpu_busy_ms"]
    assert shown["cpu"].rates.now == pytest.approx(100 * busy / whole)


async def test_a_server_elsewhere_has_no_host() -> None:
    """Where the host is not proved to be the server's, no row shows a number of this one."""
    async with driven(*SNAPSHOT) as (_, pilot):
        pane = await opened(pilot)
        await sampled(pilot, *samples(4))
        assert pane.shown is not None
        assert not {"Host", "Server process", "Replication"} & {r.group for r in pane.shown.rows}
    assert load_reader(None) is None


def test_a_process_that_is_gone_is_not_read() -> None:
    """Its number may be another process's by now: the host's own counters remain."""
    read = LoadReader(1 << 22).read()
    assert "host_cpu_ms" in read
    assert "server_rss" not in read


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


def test_changed_variables_leave_out_what_servers_change() -> None:
    """Positions in the binary log move by themselves, a new variable is no change, and secrets are masked."""
    before = {"gtid_executed": "a", "max_connections": "100", "wsrep_sst_auth": "a:b"}
    now = {"gtid_executed": "b", "max_connections": "200", "wsrep_sst_auth": "a:c", "new": "1"}
    found = changed_variables(before, now, 7.0)
    assert found[0] == VariableChange(7.0, "max_connections", "100", "200")
    assert "a:c" not in str(found)


def test_a_week_of_samples_is_bounded() -> None:
    """An hour stays, its older part with fewer samples, and only counters that charts need; a restart forgets all."""
    kept: tuple[Sample, ...] = ()
    for second in range(0, 40_000, 2):
        kept = add_sample(kept, Sample(float(second), {"questions": second, "unused": 1}))
    assert len(kept) < MOST_SAMPLES
    assert kept[-1].at - kept[0].at == pytest.approx(3600, abs=30)
    assert [s.at for s in kept[-400:]] == [39_998.0 - 2 * n for n in range(399, -1, -1)]
    assert all(b.at - a.at <= 12 for a, b in pairwise(kept))
    assert set(kept[0].status) == {"questions"}
    assert add_sample(kept, Sample(1.0, {"questions": 1})) == (Sample(1.0, {"questions": 1}),)


def test_rules_judge_half_an_hour_of_whole_samples() -> None:
    """The window grows to half an hour or so and then moves; its samples have every counter."""
    kept: tuple[Sample, ...] = ()
    for second in range(0, 20_000, 2):
        kept = add_whole_sample(kept, Sample(float(second), {"unused": second}))
    assert len(kept) < 10
    assert 1800 <= kept[-1].at - kept[0].at <= 2100
    assert kept[-1] == Sample(19_998.0, {"unused": 19_998})


def test_a_series_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Counters and levels come back exactly, at the times asked for; what some samples lack is left out."""
    made = tuple(
        Sample(10.0 + 2 * n, {"questions": 100 + n * n, "threads_running": 9 - n}, None, n / 10) for n in range(5)
    )
    made = (*made[:4], Sample(18.0, {**made[4].status, "late": 1}, None, 0.4))
    change = VariableChange(14.0, "max_connections", "100", "200")
    write_series(str(tmp_path / "s.json"), RecordedSeries(made, (change,), "so it was recorded"))
    read = load_series(str(tmp_path / "s.json"), 118.0)
    assert [s.status for s in read.samples] == [
        {name: value for name, value in s.status.items() if name != "late"} for s in made
    ]
    assert [s.at for s in read.samples] == [110, 112, 114, 116, 118]
    assert [s.query_time for s in read.samples] == [0, 0.1, 0.2, 0.3, 0.4]
    assert (read.changes, read.about) == ((change._replace(at=114.0),), "so it was recorded")


SUMMARY = "performance_schema.events_statements_summary_global_by_event_name"


def kinds(sandbox: Sandbox) -> dict[str, tuple[int, float]]:
    """How often each kind of statement ran, and its seconds, as the server counts them."""
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM {SUMMARY}")  # noqa: S608 - a name of ours
        return {name: (count, picoseconds / 1e12) for name, count, picoseconds in cursor.fetchall()}


@pytest.mark.servers("mysql-5.7", "mysql-9.7")
async def test_the_top_events_are_what_the_server_counts(any_server: Sandbox) -> None:
    """`t` shows waits, then kinds of statements, as the server's tables have them; `d` shows texts without values."""
    await asyncio.to_thread(work, any_server)
    before = await asyncio.to_thread(kinds, any_server)
    async with driven("--socket", any_server.socket, "--user", "root", size=(120, 40)) as (app, pilot):
        pane = await opened(pilot)
        await until(pilot, lambda: bool(app.view and app.view.samples))
        await pilot.press("t")
        await until(pilot, lambda: "wait/io/file/innodb/" in screen_text(app))
        assert box(pilot)[0] == "Top waits"
        await pilot.press("t")
        await until(pilot, lambda: "statement/sql/insert" in screen_text(app))
        after = await asyncio.to_thread(kinds, any_server)
        assert pane._top is not None
        read = {event.name: event for event in pane._top[1].rows}
        for name in ("statement/sql/insert", "statement/sql/update", "statement/sql/delete"):
            assert before[name][0] <= read[name].count <= after[name][0]
            assert before[name][1] <= read[name].seconds <= after[name][1]
        assert read["statement/sql/insert"].count >= 200
        await pilot.press("d")
        await until(pilot, lambda: "UPDATE `worked` . `t` SET `b` = `b` + ?" in screen_text(app))
        assert "< 10" not in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: box(pilot)[0] == "Workload: the last 5 min")
        assert app._sampler is not None
        assert app._sampler.watched == ""


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


async def test_a_recording_has_no_top_events() -> None:
    """Nothing can be asked of it, so the keys are not offered."""
    async with driven() as (app, pilot):
        pane = await opened(pilot)
        await pilot.press("t", "d")
        assert pane.watched == ""
        assert not offered(app) & {"workload.top", "workload.digests", "workload.charts"}


def test_the_top_table_ranks_by_what_happened_meanwhile() -> None:
    """An event that was busy before the first reading is below one that is busy now; rates are of the difference."""
    first = TopEvents(WAIT_EVENTS, (EventTotal("wait/old", 1000, 50.0), EventTotal("wait/new", 10, 1.0)), 100.0)
    last = TopEvents(WAIT_EVENTS, (EventTotal("wait/old", 1000, 50.0), EventTotal("wait/new", 30, 6.0)), 110.0)
    table = top_table(first, last, 80)
    assert [line.split() for line in table.lines] == [
        ["wait/new", "500", "2.0", "200.0", "ms", "6.0"],
        ["wait/old", "0", "0", "50.0", "ms", "50"],
    ]
    assert table.about.startswith("ms/s and /s of the last 10 s, mean and total since the server started.")
    assert [line.split()[0] for line in top_table(first, first, 80).lines] == ["wait/old", "wait/new"]
    assert all(len(line) == 80 for line in table.lines)


async def test_the_text_of_a_digest_is_no_markup() -> None:
    """A table's name may hold brackets and control characters: they are shown as they are, and nothing more."""
    async with driven(*SNAPSHOT) as (app, pilot):
        pane = await opened(pilot)
        await sampled(pilot, *samples(4))
        await pilot.press("d")
        rows = (EventTotal("db SELECT `[red]x[/]` \x1b[31m", 3, 1.0),)
        pane.show_events(TopEvents(DIGESTS, rows, 1.0), TopEvents(DIGESTS, rows, 11.0))
        await until(pilot, lambda: "[red]x[/]" in screen_text(app))
        assert "\x1b" not in screen_text(app)
        pane.show_events(
            TopEvents(DIGESTS, (), 1.0, "needs SELECT on it"), TopEvents(DIGESTS, (), 1.0, "needs SELECT on it")
        )
        await until(pilot, lambda: "No rows: needs SELECT on it" in screen_text(app))


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
        elif way is None:
            assert series.optional, series.id
        elif GROUP_OF[series.id] not in ("Host", "Server process"):
            assert set(NAME.findall(way.source)) <= set(counters)
