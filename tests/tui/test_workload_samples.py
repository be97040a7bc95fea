"""The samples behind the workload screen: which are kept, how they are stored, and which variables changed."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from app_driver import driven, until
from process_checks import PATIENCE

from advisor.collect.server import workload
from advisor.collect.server.workload import CounterReading
from advisor.facts import Sample, Unavailable
from advisor.tui.screens.workload.rates import (
    MOST_SAMPLES,
    RecordedSeries,
    VariableChange,
    add_sample,
    add_whole_sample,
    load_series,
    write_series,
)
from advisor.tui.screens.workload.sampler import Sampler, changed_variables
from advisor.tui.workers import Notice

if TYPE_CHECKING:
    from probes.sandbox import Sandbox


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
async def test_sampling_ends_with_the_app(any_server: Sandbox) -> None:
    """However the app ends, no thread goes on asking the server."""
    async with driven("--socket", any_server.socket, "--user", "root") as (app, pilot):
        await until(pilot, lambda: bool(app.view and app.view.samples))
        sampler = app._sampler
    assert sampler is not None
    await asyncio.to_thread(sampler._thread.join, PATIENCE)
    assert not sampler._thread.is_alive()


def test_changed_variables_leave_out_what_servers_change() -> None:
    """Positions in the binary log move constantly, a new variable is no change, and secrets are masked."""
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


def test_counters_that_cannot_be_read_are_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a status the screens would wait for a first sample that never comes."""
    posted: list[object] = []

    class App:
        def post_message(self, message: object) -> None:
            posted.append(message)

    class Answers:
        lost, readings = "", 0

    session = Answers()
    sampler = Sampler(App(), lambda: session, lambda: None)  # type: ignore[return-value] # what it needs of one

    def read(_: object, notes: list[Unavailable], *, with_text: bool) -> CounterReading:
        assert not with_text
        session.readings += 1
        notes.append(Unavailable("server.status", "stopped by max_statement_time"))
        if session.readings == 3:
            sampler.stop()
        return CounterReading({}, "", 1.0)

    monkeypatch.setattr(workload, "read_counters", read)
    monkeypatch.setattr(sampler, "_pause", lambda: None)
    sampler._sample(session)
    (notice,) = posted
    assert isinstance(notice, Notice)
    assert notice.text == "The counters cannot be read: stopped by max_statement_time"
