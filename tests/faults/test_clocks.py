"""Clocks that jump, back and ahead by years: nothing that was kept is lost, and no figure comes out of a jump."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest
from msgspec.structs import replace
from mycnf_command import CHECKOUT
from real_servers import Server

from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.facts import Facts, Sample
from advisor.facts.snapshot import load
from advisor.state import history, sample_ring
from advisor.state.busiest_hours import hour_spans, summarize_samples
from advisor.state.sample_ring import ring_path, save_sample

SNAPSHOT = CHECKOUT / "tests" / "snapshots" / "schema-1.0.json"
DAYS = 40
SERVER = {"hostname": "db1"}
NOON = 1_795_262_400


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def facts() -> Facts:
    """Facts of a small server, quick to write."""
    whole = load(str(SNAPSHOT))
    few = {name: whole.server.variables[name] for name in ("version", "hostname", "port", "datadir")}
    return replace(whole, server=replace(whole.server, variables=few, status={}, origins={}), files=None, host=None)


class Clock(datetime):
    """The clock of this host, which a test sets."""

    shows = datetime(2026, 11, 21, tzinfo=UTC)

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        """What it shows."""
        return cls.shows.astimezone(tz)


def kept_on(facts: Facts, day: datetime) -> Path:
    """The snapshot that is kept while the clock shows that day."""
    Clock.shows = day
    return Path(history.save_snapshot(replace(facts, taken_at=day.isoformat())))


@pytest.mark.parametrize("years", [20, -20])
def test_a_history_outlives_a_clock_that_is_years_off(
    years: int, facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of forty snapshots two go at most for each that is kept meanwhile, and none once the clock is right again."""
    monkeypatch.setattr(history, "datetime", Clock)
    first = datetime(2026, 1, 1, tzinfo=UTC)
    paths = [kept_on(facts, first + timedelta(days)) for days in range(DAYS)]
    kept_on(facts, first + timedelta(DAYS + 365 * years))
    left = [path for path in paths if path.exists()]
    assert len(left) >= DAYS - 2
    again = kept_on(facts, first + timedelta(DAYS + 1))
    assert again.exists()
    assert all(path.exists() for path in left)


def sample(uptime: int) -> Sample:
    """Counters at an uptime."""
    return Sample(float(uptime), {"questions": uptime, "threads_connected": 7}, uptime * 1000)


@pytest.mark.parametrize("jump", [86400, -86400, 20 * 365 * 86400, -NOON, 1 << 40])
def test_samples_across_a_jump(jump: int) -> None:
    """Every sample is kept and reported; no hour reaches over the jump, and those on both sides count."""
    for number in range(8):
        assert not save_sample(sample(5000 + 600 * number), SERVER, NOON + 600 * number).too_soon
    for number in range(8, 16):
        assert not save_sample(sample(5000 + 600 * number), SERVER, NOON + jump + 600 * number).too_soon
    entries = sample_ring.read(ring_path(SERVER))[1]
    assert [entry.uptime for entry in entries] == [5000 + 600 * number for number in range(16)]
    sampled = summarize_samples(entries)
    assert sampled is not None
    assert sampled.samples == 16
    found = list(hour_spans(entries))
    assert found
    assert not [span for span in found if span.first < 8 <= span.last]
    assert {span.first < 8 for span in found} == {True, False}


def test_a_window_across_a_jump(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds between two readings are counted by a clock that cannot be set, and by the server's own."""
    usual = time.time

    def wait(seconds: float) -> None:
        monkeypatch.setattr(time, "time", lambda: usual() + 1e9)
        time.sleep(seconds)

    facts = collect_from_account(
        Account("root", socket=server("mariadb-10.11").socket), CollectRequest(window=1.0), wait
    )
    assert facts.workload is not None
    assert 0.9 < facts.workload.seconds < 600
    assert facts.seconds < 600
