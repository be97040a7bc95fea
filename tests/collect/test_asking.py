"""Numbers as servers print them, and what only something that is no server would print."""

from __future__ import annotations

import pytest

from advisor.collect.connection.session import whole_number
from advisor.collect.server.server import Greeting, redo_position
from advisor.facts.server import Link

LONG = "9" * 5000


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("12", 12), ("12.00", 12), ("1.2e10", 12_000_000_000), ("-3", -3), ("18446744073709551615", (1 << 64) - 1)],
)
def test_numbers(text: str, wanted: int) -> None:
    """Sums come with a fraction or an exponent."""
    assert whole_number(text) == wanted


@pytest.mark.parametrize(
    "text",
    [None, "", "-", "ON", "1 2", "²", "٣", "0x10", "1e999", "1.", LONG, f"1.{LONG}"],
    ids=lambda text: str(text)[:9],
)
def test_what_is_no_number(text: str | None) -> None:
    """Anything else is none, even if Python could parse it."""
    assert whole_number(text) is None


@pytest.mark.parametrize("text", ["²", LONG, ""], ids=lambda given: str(given)[:9])
def test_a_redo_position_that_is_none(text: str) -> None:
    """A counter that is no number leaves the status text, and one in the text leaves nothing."""
    assert redo_position({"innodb_redo_log_current_lsn": text}, "Log sequence number 77\n") == 77
    assert redo_position({}, f"Log sequence number {text}\n") is None


@pytest.mark.parametrize(
    ("version", "wanted"), [("8.4.0", (8, 4, 0)), ("²", ()), (LONG, ())], ids=lambda given: str(given)[:9]
)
def test_a_version_that_is_none(version: str, wanted: tuple[int, ...]) -> None:
    """Only what counts as part of a version is."""
    assert Greeting(version, "", Link("tcp", ""), {}, "mysql").number == wanted
