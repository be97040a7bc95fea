"""The tables of the workload screen: top waits, kinds of statements, and statements without values."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from app_driver import driven, screen_text, until
from app_workload_screen import SNAPSHOT, box, explained, offered, opened, sampled, samples, work
from rich.cells import cell_len

from advisor.facts.workload import DIGESTS, NO_EVENTS, WAIT_EVENTS, EventTotal, TopEvents
from advisor.tui.screens.workload.rows import top_table

if TYPE_CHECKING:
    from probes.sandbox import Sandbox

SUMMARY = "performance_schema.events_statements_summary_global_by_event_name"
SHOWN = (
    "waits_summary_global_by_event_name",
    "statements_summary_global_by_event_name",
    "statements_summary_by_digest",
)


def forget_events(sandbox: Sandbox) -> None:
    """Empty the tables that are shown: tests before this one filled the first rows of a shared server."""
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        for table in SHOWN:
            cursor.execute(f"TRUNCATE TABLE performance_schema.events_{table}")


def kinds(sandbox: Sandbox) -> dict[str, tuple[int, float]]:
    """How often each kind of statement ran, and its seconds, as the server counts them."""
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM {SUMMARY}")  # noqa: S608 - a name of ours
        return {name: (count, picoseconds / 1e12) for name, count, picoseconds in cursor.fetchall()}


@pytest.mark.servers("mysql-5.7", "mysql-9.7")
async def test_the_top_events_are_what_the_server_counts(any_server: Sandbox) -> None:
    """`t` shows waits, then kinds of statements, as the server's tables have them; `d` shows texts without values."""
    await asyncio.to_thread(forget_events, any_server)
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


async def test_a_recording_has_no_top_events() -> None:
    """Nothing can be queried from it, so the keys are not offered."""
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
        pane.show_events(TopEvents(DIGESTS, (), 1.0, NO_EVENTS), TopEvents(DIGESTS, (), 1.0, NO_EVENTS))
        exact = {"OFF": "performance_schema is off", "ON": "the consumer of performance_schema for these events is off"}
        assert pane.view is not None
        is_on = pane.view.audited.facts.server.variables["performance_schema"]
        await until(pilot, lambda: f"No rows: {exact[is_on]}" in screen_text(app))
        assert explained(pilot) == ""  # no word of the row that the table hides


def _events(*rows: EventTotal, at: float, complete: bool = True) -> TopEvents:
    return TopEvents(DIGESTS, rows, at, complete=complete)


def test_a_row_that_was_not_read_before_has_no_rate() -> None:
    """The table is read up to its hundredth row: what comes up from below did not take all of its time meanwhile."""
    old, new = EventTotal("db SELECT 1", 10, 500.0), EventTotal("db SELECT 2", 900, 400.0)
    after = _events(old, new, at=110.0)
    assert top_table(_events(old, at=100.0, complete=False), after).lines[1].split()[3:5] == ["-", "-"]
    assert top_table(_events(old, at=100.0), after).lines[0].split()[3] == "40,000"  # it is new


def test_names_in_wide_characters_leave_the_numbers_in_their_columns() -> None:
    """A Chinese character takes two columns; a cut name has an ellipsis, and a copied one is whole."""
    name = "予約 SELECT * FROM `予約システム` WHERE `顧客番号` = ? AND `状態` = ?"
    reading = _events(EventTotal(name, 10, 5.0), EventTotal("short", 1, 1.0), at=1.0)
    for width in (60, 120, 0):
        table = top_table(reading, reading, width)
        assert len({cell_len(line) for line in (table.heads, *table.lines)}) == 1
        assert (name in table.lines[0]) is (width != 60)
        assert ("…" in table.lines[0]) is (width == 60)


@pytest.mark.servers("mysql-9.7")
async def test_statements_that_begin_alike_are_added_up(any_server: Sandbox) -> None:
    """Of a text, 512 characters are read: two statements with the same beginning are one row with the sum of both."""
    columns = ", ".join(f"{number} AS `a_column_with_a_long_name_{number:03}`" for number in range(18))
    await asyncio.to_thread(forget_events, any_server)
    with any_server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        for _ in range(3):
            cursor.execute(f"SELECT {columns} FROM mysql.user WHERE user = 'a'")  # noqa: S608 - names of ours
            cursor.execute(f"SELECT {columns} FROM mysql.user WHERE host = 'a' LIMIT 1")  # noqa: S608 - names of ours
    async with driven("--socket", any_server.socket, "--user", "root", size=(120, 40)) as (app, pilot):
        pane = await opened(pilot)
        await until(pilot, lambda: bool(app.view and app.view.samples))
        await pilot.press("d")
        await until(pilot, lambda: "a_column_with_a_long_name" in screen_text(app))
        assert pane._top is not None
        (row,) = (row for row in pane._top[1].rows if "a_column_with_a_long_name" in row.name)
        assert (row.count, row.rows) == (6, 2)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(78.8093, "79 s"), (0.9994, "999.4 ms"), (0.0, "<1 µs"), (9e4, "90,000 s")]
)
def test_a_long_wait_leaves_the_columns_as_they_are(seconds: float, shown: str) -> None:
    """A wait for a metadata lock can take minutes: its mean has room in its column."""
    reading = _events(EventTotal("wait/lock/metadata/sql/mdl", 2, 2 * seconds), at=1.0)
    (line,) = top_table(reading, reading, 76).lines
    assert len(line) == 76
    assert f" {shown} " in line
