"""The busiest sampled hour comes before the window, and a rule that has neither says what it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rule_cases import Case, context_of_case

from advisor.facts.workload import BusyHour, Sample
from rules import find_rule
from rules.core.context import MissingFact
from rules.core.counters import REDO, busiest_period, counter_periods, hour_text
from rules.core.passed import passed_checks

if TYPE_CHECKING:
    from pathlib import Path

    from rules.core.context import RuleContext

WINDOW = {"redo": 1000}
HOUR = {"redo": {"redo": 3_600_000}}


def known(folder: Path, workload: dict[str, object] | None, sampled: dict[str, dict[str, object]]) -> RuleContext:
    """A server with these two, or without."""
    case = Case("small-redo-log", "", "mysql-9.7.4", server={}, workload=workload, sampled=sampled)
    return context_of_case(case, folder)


def test_the_hour_comes_first(tmp_path: Path) -> None:
    """With both the hour is first and the window second; the fullest is the hour."""
    both = known(tmp_path, WINDOW, HOUR)
    hour, window = counter_periods(both, REDO)
    assert hour.words == "in the busiest hour, 14:00-15:00 UTC on 2026-11-20"
    assert hour.workload.redo_rate == 1000.0
    assert (window.workload, window.hour) == (both.workload, None)
    assert busiest_period(both, REDO) == hour


def test_one_without_the_other(tmp_path: Path) -> None:
    """Either is enough; an hour of another kind is none, and without both the window is what is missing."""
    assert [s.hour is None for s in counter_periods(known(tmp_path, WINDOW, {}), REDO)] == [True]
    assert [s.hour is None for s in counter_periods(known(tmp_path, None, HOUR), REDO)] == [False]
    assert busiest_period(known(tmp_path, WINDOW, {"connections": {}}), REDO).hour is None
    with pytest.raises(MissingFact, match="workload was not collected"):
        busiest_period(known(tmp_path, None, {}), REDO)
    short = known(tmp_path, {"seconds": 1.0}, HOUR)
    assert [s.hour is None for s in counter_periods(short, REDO)] == [False]


def test_a_time_that_cannot_be_parsed() -> None:
    """A snapshot from elsewhere may say anything of when an hour was."""
    samples = (Sample(1.0), Sample(2.0))
    assert hour_text(BusyHour("redo", "", "", samples)) == "at an unknown time"
    assert (
        hour_text(BusyHour("redo", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", samples))
        == "at an unknown time"
    )


def test_what_is_fine_names_its_hour(tmp_path: Path) -> None:
    """A redo log that holds the busiest hour is reported with that hour."""
    passed = {one.part: one.words for one in passed_checks(known(tmp_path, WINDOW, HOUR), (), {"small-redo-log"})}
    assert passed["redo log"].endswith("in the busiest hour, 14:00-15:00 UTC on 2026-11-20")


def test_messages_name_the_hour(tmp_path: Path) -> None:
    """Each rule that reports the hour says which it was."""
    rule = find_rule("small-redo-log")
    assert rule is not None
    (found,) = rule.check(known(tmp_path, WINDOW, {"redo": {"redo": 3_600_000_000}}))
    assert "of redo a second in the busiest hour, 14:00-15:00 UTC on 2026-11-20, the log of 100M" in found.message
