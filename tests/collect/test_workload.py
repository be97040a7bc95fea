"""Samples of counters: what a server says becomes numbers, or is left out."""

from __future__ import annotations

from advisor.collect.server.workload import CounterReading, sample_of


def test_what_is_no_counter_is_left_out() -> None:
    """Words, fractions, digits of other scripts and numbers beyond any counter are no counters, and break nothing."""
    status = {"queries": "12", "most": str(2**64 - 1), "delta": "-3", "rpl_status": "ON", "busy_time": "0.25"}
    hostile = {"a": "²", "b": "9" * 5000, "c": "--5", "d": "٣", "e": "-"}
    reading = CounterReading({"uptime": "60", **status, **hostile}, "", 0.0)
    assert sample_of(reading, reading).status == {"uptime": 60, "queries": 12, "most": 2**64 - 1, "delta": -3}


def test_the_time_of_statements_is_kept_where_it_is_counted() -> None:
    """MariaDB's Query_time has fractions of a second; MySQL has none, and nonsense is none."""
    for text, kept in (("12.000345", 12.000345), ("0", 0.0), ("", None), ("-1", None), ("1e9", None), ("²", None)):
        reading = CounterReading({"uptime": "60", "query_time": text}, "", 0.0)
        assert sample_of(reading, reading).query_time == kept


def test_an_uptime_that_is_no_number_is_none() -> None:
    """Nonsense in place of the uptime breaks no reading of it."""
    for text, read in (("60", 60), ("0", 0), ("soon", 0), ("", 0), ("9" * 5000, 0)):
        assert CounterReading({"uptime": text}, "", 0.0).uptime == read
