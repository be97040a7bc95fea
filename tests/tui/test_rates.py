"""Rates between samples, their sums over a window, and the columns they are drawn in, against cases done by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.facts import Sample
from advisor.tui.screens.workload.counters import SERIES
from advisor.tui.screens.workload.rates import (
    SampleInterval,
    SeriesRates,
    column_spans,
    intervals_within,
    measure_intervals,
    window_rates,
)

PLACES = {series.id: place for place, series in enumerate(SERIES)}


def sampled(*rows: tuple[float, dict[str, int]]) -> tuple[Sample, ...]:
    """Samples at these times with these counters."""
    return tuple(Sample(at, counters) for at, counters in rows)


def of(name: str, window: tuple[SampleInterval, ...], columns: list[tuple[int, int]] | None = None) -> SeriesRates:
    """The rates of one series."""
    return window_rates(window, columns or [])[PLACES[name]]


def questions(*counts: int, every: float = 2.0) -> tuple[Sample, ...]:
    """Samples of one counter, evenly spaced."""
    return sampled(*((100 + every * n, {"questions": count}) for n, count in enumerate(counts)))


def test_a_rate_is_the_rise_by_the_seconds() -> None:
    """Rises of 20, 60 and 0 in 2 s each are 10, 30 and 0 a second, 13.3 in the mean."""
    found = of("queries", measure_intervals(questions(1000, 1020, 1080, 1080)))
    assert (found.now, found.minimum, found.maximum) == (0, 0, 30)
    assert found.mean == pytest.approx(80 / 6)
    assert not found.broken


def test_the_mean_is_weighted_by_time() -> None:
    """A gap of 98 s at 1 a second and then 2 s at 51 make 2 a second, not 26."""
    found = of(
        "queries", measure_intervals(sampled((0, {"questions": 0}), (98, {"questions": 98}), (100, {"questions": 200})))
    )
    assert (found.minimum, found.maximum) == (1, 51)
    assert found.mean == pytest.approx(2)


def test_a_counter_that_went_backwards_is_left_out_and_said() -> None:
    """The interval in which a counter was reset has no rate; those around it count."""
    found = of("queries", measure_intervals(questions(1000, 1020, 6, 46)))
    assert (found.now, found.minimum, found.maximum) == (20, 10, 20)
    assert found.mean == pytest.approx((20 + 40) / 4)
    assert found.broken


def test_one_sum_is_broken_by_any_of_its_counters() -> None:
    """Rows changed are unknown where one of the three counters went backwards, though the sum rose."""
    names = ("innodb_rows_inserted", "innodb_rows_updated", "innodb_rows_deleted")
    first, last = dict.fromkeys(names, 5), dict(zip(names, (4, 500, 5), strict=True))
    found = of("rows-changed", measure_intervals(sampled((0, first), (2, last))))
    assert found.now is None
    assert found.broken


def test_a_missing_counter_is_no_zero() -> None:
    """A server without the counter has no value, and nothing is reported as reset."""
    found = of("pages-read", measure_intervals(questions(1, 2)))
    assert found == SeriesRates(None, None, None, None, (), broken=False)


def test_a_counter_that_comes_later_counts_from_then_on() -> None:
    """Where a plugin brings a counter, the interval before it has no value and is not broken."""
    samples = sampled((0, {"questions": 1}), (2, {"questions": 1, "slow_queries": 7}), (4, {"slow_queries": 9}))
    found = of("slow", measure_intervals(samples))
    assert (found.now, found.mean, found.broken) == (1, 1, False)


def test_one_sample_has_levels_alone() -> None:
    """Rates need two samples; threads are known at once."""
    window = measure_intervals(sampled((5, {"questions": 9, "threads_running": 3})))
    assert of("running", window).now == 3
    assert of("queries", window).now is None
    assert measure_intervals(()) == ()


def test_levels_are_taken_at_the_end_of_an_interval() -> None:
    """Threads of 9, 4 and 2 are now 2; the first belongs to no interval."""
    found = of(
        "running", measure_intervals(sampled(*((n, {"threads_running": level}) for n, level in enumerate((9, 4, 2)))))
    )
    assert (found.now, found.minimum, found.mean, found.maximum) == (2, 2, 3, 4)


def test_the_hit_rate_is_weighted_by_requests() -> None:
    """50 misses in 1,000 requests and then none in 9,000: 95 %, 100 %, and 99.5 % together."""
    names = ("innodb_buffer_pool_reads", "innodb_buffer_pool_read_requests")
    rows = [(0, 100, 5_000), (2, 150, 6_000), (4, 150, 15_000), (6, 150, 15_000)]
    samples = sampled(*((at, dict(zip(names, counts, strict=True))) for at, *counts in rows))
    found = of("hit-rate", measure_intervals(samples))
    assert (found.minimum, found.maximum) == (95, 100)
    assert found.mean == pytest.approx(99.5)
    assert found.now is None  # nothing was asked for in the last interval


def test_a_wait_is_milliseconds_a_wait() -> None:
    """300 ms for 4 row locks is 75 ms each."""
    names = ("innodb_row_lock_time", "innodb_row_lock_waits")
    samples = sampled((0, dict(zip(names, (1000, 10), strict=True))), (2, dict(zip(names, (1300, 14), strict=True))))
    assert of("lock-wait", measure_intervals(samples)).now == 75


def test_a_wait_that_ends_later_has_a_mean_without_ends() -> None:
    """Its count rises when it begins and its time when it ends: no interval has its length, the window has."""
    names = ("innodb_row_lock_time", "innodb_row_lock_waits")
    rows = [(0, (0, 0)), (2, (0, 1)), (4, (0, 1)), (6, (5000, 1))]
    found = of("lock-wait", measure_intervals(sampled(*((at, dict(zip(names, n, strict=True))) for at, n in rows))))
    assert (found.minimum, found.mean, found.maximum) == (None, 5000, None)


def test_statements_take_milliseconds_each() -> None:
    """0.3 s for 60 statements is 5 ms each; where the time is not counted, or was reset, there is no value."""

    def now(*times: float | None) -> float | None:
        made = [Sample(2.0 * n, {"questions": 60 * n}, query_time=time) for n, time in enumerate(times)]
        return of("time", measure_intervals(made)).now

    assert now(1.0, 1.3) == pytest.approx(5)
    assert now(None, 1.3) is None
    assert now(1.3, None) is None
    assert now(1.3, 0.1) is None


@pytest.mark.parametrize(
    ("counters", "lsn", "rate"),
    [
        ({"innodb_redo_log_current_lsn": 10, "innodb_os_log_written": 1000}, 7, 10),
        ({"innodb_lsn_current": 20, "innodb_os_log_written": 1000}, 7, 20),
        ({"innodb_os_log_written": 1000}, 7, 7),
        ({"innodb_os_log_written": 1000}, None, 1000),
    ],
)
def test_redo_is_read_from_the_best_counter_there_is(counters: dict[str, int], lsn: int | None, rate: float) -> None:
    """The redo position outranks what was written to the log, which counts blocks again and again."""
    first = Sample(0, dict.fromkeys(counters, 0), None if lsn is None else 0)
    last = Sample(2, {name: 2 * count for name, count in counters.items()}, None if lsn is None else 2 * lsn)
    assert of("redo", measure_intervals((first, last))).now == rate


def test_a_redo_position_that_went_backwards_is_no_negative_rate() -> None:
    """A redo log that was created again has no rate."""
    assert of("redo", measure_intervals((Sample(0, {}, 500), Sample(2, {}, 400)))).now is None


def test_numbers_that_no_server_counts_to_are_no_crash() -> None:
    """A counter of four hundred digits has no rate."""
    found = of("queries", measure_intervals(questions(0, 10**400)))
    assert found.now is None


def test_samples_at_one_moment_have_no_rate() -> None:
    """No time went by, so nothing is divided."""
    assert of("queries", measure_intervals(questions(1, 5, every=0))).now is None


def test_intervals_that_are_known_are_kept() -> None:
    """With each new sample one interval is measured, and those that left are forgotten."""
    samples = questions(*range(0, 100, 10))
    before = measure_intervals(samples[:-1])
    after = measure_intervals(samples[2:], before)
    assert after == measure_intervals(samples[2:])
    assert all(new is old for new, old in zip(after, before[2:], strict=False))


def test_another_server_at_the_same_times_is_measured_again() -> None:
    """What is kept belongs to the samples themselves, not to their times."""
    assert of("queries", measure_intervals(questions(0, 80), measure_intervals(questions(0, 20)))).now == 40


def test_a_window_holds_its_seconds() -> None:
    """Of samples every 2 s, a window of 30 s has the last fifteen intervals, late ones included."""
    late = tuple(Sample(at * 2.01) for at in range(100))
    assert len(intervals_within(measure_intervals(late), 30)) == 15
    assert intervals_within(measure_intervals(late), None) == measure_intervals(late)
    assert intervals_within((), 30) == ()


def test_a_window_after_a_gap_has_the_newest_interval() -> None:
    """Where the only recent interval is longer than the window, it is shown rather than nothing."""
    window = intervals_within(measure_intervals(tuple(Sample(at) for at in (0, 2, 300))), 30)
    assert [(m.first.at, m.last.at) for m in window] == [(2, 300)]


def test_columns_are_moments_in_time() -> None:
    """Four intervals of 2 s in 16 columns of 1 s: the first half is blank, then two columns each."""
    samples = questions(0, 2, 8, 8, 20)
    window = measure_intervals(samples)
    found = of("queries", window, column_spans(window, 16, 16))
    assert found.columns == (*[None] * 8, 1, 1, 3, 3, 0, 0, 6, 6)


def test_a_long_interval_is_drawn_as_it_was() -> None:
    """Where columns are shorter than intervals none mixes two: 1 and 3 in three columns are 1, 3 and 3."""
    window = measure_intervals(questions(0, 2, 8))
    assert of("queries", window, column_spans(window, None, 3)).columns == (1, 3, 3)


def test_a_column_of_several_intervals_is_their_mean() -> None:
    """Four intervals in two columns: 1 and 3 are 2, 0 and 6 are 3."""
    window = measure_intervals(questions(0, 2, 8, 8, 20))
    assert of("queries", window, column_spans(window, None, 2)).columns == (2, 3)
    assert column_spans((), 30, 3) == [(0, 0)] * 3


@given(
    st.lists(st.floats(0.1, 50), min_size=1, max_size=60),
    st.sampled_from([30.0, 300.0, None]),
    st.integers(1, 200),
)
def test_every_interval_within_reach_is_drawn(steps: list[float], seconds: float | None, count: int) -> None:
    """Columns are as many as asked for and in order; the last shows the newest interval, and none is skipped."""
    times = [0.0]
    for step in steps:
        times.append(times[-1] + step)
    window = intervals_within(measure_intervals(tuple(Sample(at) for at in times)), seconds)
    columns = column_spans(window, seconds, count)
    assert len(columns) == count
    assert columns[-1][1] == len(window)
    shown = [place for low, high in columns for place in range(low, high)]
    assert shown == sorted(shown)
    reached = {place for place, m in enumerate(window) if seconds is None or m.first.at >= times[-1] - seconds}
    assert reached <= set(shown)
