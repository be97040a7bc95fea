"""The busiest hour is one that the server ran through, with any jump of its clock and its counters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.state.busiest_hours import hour_spans, summarize_samples
from advisor.state.sample_ring import RingSample
from rules.core.counters import hour_text

NOON = 1_795_262_400  # 2026-11-21 12:00 UTC
STEP = 600


def steady(count: int, *, begin: int = 5000, step: int = STEP, **rates: int) -> list[RingSample]:
    """Samples of a server whose counters rise by so much a step, and its redo position by a thousand."""
    return [
        RingSample(NOON + n * step, begin + n * step, n * 1000, {name: n * rate for name, rate in rates.items()})
        for n in range(count)
    ]


def raised(entries: list[RingSample], first: int, last: int, lsn: int) -> list[RingSample]:
    """The same with as much more redo a step from one sample to another."""
    return [e._replace(lsn=e.lsn + lsn * max(0, min(n, last) - first)) for n, e in enumerate(entries)]


def test_the_hour_with_most_redo() -> None:
    """Of a day the hour is reported in which the log grew most, by when it was and how fast."""
    sampled = summarize_samples(raised(steady(145), 60, 66, 10**9))
    hour = sampled.hour("redo")
    assert (hour.began_at, hour.ended_at) == ("2026-11-21T22:00:00+00:00", "2026-11-21T23:00:00+00:00")
    assert hour_text(hour) == "22:00-23:00 UTC on 2026-11-21"
    assert hour.workload.redo_rate == (6 * 10**9 + 6000) / 3600
    assert (sampled.samples, sampled.since) == (145, "2026-11-21T12:00:00+00:00")


def test_each_kind_has_its_own_hour() -> None:
    """Connections and temporary tables have other busiest hours than redo; refusals outweigh many clients."""
    entries = [
        e._replace(
            counters={
                "threads_connected": 90 if n == 20 else 5,
                "connection_errors_max_connections": 3 if n >= 100 else 0,
                "created_tmp_disk_tables": 5000 if n >= 50 else 0,
            }
        )
        for n, e in enumerate(steady(145))
    ]
    sampled = summarize_samples(entries)
    assert sampled.hour("connections").workload.delta("connection_errors_max_connections") == 3
    assert sampled.hour("temporary tables").workload.delta("created_tmp_disk_tables") == 5000
    quiet = summarize_samples(
        [e._replace(counters={**e.counters, "connection_errors_max_connections": 0}) for e in entries]
    )
    assert quiet.hour("connections").most("threads_connected") == 90


def test_no_hour_spans_a_restart() -> None:
    """Where the uptime fell, or rose less than time passed, the hour ends; there is none over it."""
    early, late = steady(4), [e._replace(time=e.time + 4 * STEP) for e in steady(4, begin=5000)]
    assert not list(hour_spans(early + late))
    longer = [e._replace(time=e.time + 40 * STEP) for e in steady(4, begin=8000)]  # it restarted between samples
    assert not list(hour_spans(early + longer))
    assert list(hour_spans(steady(8)))


def test_a_flush_of_counters_ends_an_hour() -> None:
    """FLUSH STATUS sets counters back while the server runs on."""
    entries = [
        e._replace(counters={"uptime_since_flush_status": 900 + n * STEP if n < 4 else n})
        for n, e in enumerate(steady(8))
    ]
    assert not list(hour_spans(entries))


def test_jumps_of_the_clock_cost_an_hour_at_most() -> None:
    """A clock that is set back or forth breaks the hours across it; those before and after stay."""
    for jump in (-86400, 86400, -7200):
        entries = [e._replace(time=e.time + (jump if n >= 20 else 0)) for n, e in enumerate(steady(40))]
        spans = list(hour_spans(entries))
        assert spans
        assert not [span for span in spans if span.first < 20 <= span.last]
        assert summarize_samples(entries).hour("redo").workload.redo_rate == 1000 / STEP


def test_what_is_no_hour() -> None:
    """A server that came up just now, samples hours apart and an empty ring give none."""
    assert not list(hour_spans(steady(5, begin=0)))
    assert not list(hour_spans(steady(10, step=7200)))
    assert summarize_samples([]) is None
    assert summarize_samples(steady(2)).hours == ()


def test_the_facts_stay_small() -> None:
    """Samples of every minute are thinned: an hour takes thirteen at most."""
    sampled = summarize_samples(steady(200, step=60))
    assert max(len(hour.samples) for hour in sampled.hours) <= 13
    assert sampled.hour("redo").workload.redo_rate == 1000 / 60


NUMBERS = st.integers(0, (1 << 64) - 2)
ENTRIES = st.builds(
    RingSample,
    st.one_of(st.integers(NOON, NOON + 10**6), NUMBERS),
    st.one_of(st.integers(0, 10**6), NUMBERS),
    st.none() | NUMBERS,
    st.dictionaries(st.sampled_from(["threads_connected", "created_tmp_tables", "uptime_since_flush_status"]), NUMBERS),
)


@given(st.lists(ENTRIES, max_size=30))
def test_no_ring_is_too_odd(entries: list[RingSample]) -> None:
    """For any numbers in a ring, rates are never below zero and nothing is raised."""
    sampled = summarize_samples(entries)
    assert (sampled is None) == (not entries)
    for hour in sampled.hours if sampled else ():
        assert hour.workload.seconds > 0
        assert (hour.workload.redo_rate or 0) >= 0
        assert all((hour.workload.rate(name) or 0) >= 0 for name in hour.samples[0].status)
