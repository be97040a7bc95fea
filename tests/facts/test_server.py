"""What can be read off a server's answers."""

from __future__ import annotations

import pytest

from advisor.facts import Link, Server


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("18446744073709551615", 18446744073709551615),
        ("9" * 20, int("9" * 20)),
        ("-5", -5),
        ("9" * 21, None),
        ("12.5", None),
        ("+5", None),
        ("5\n", None),
        ("\u0665", None),
        ("\u00b2", None),
        ("ON", None),
        ("", None),
    ],
)
def test_a_counter(text: str, count: int | None) -> None:
    """Whole numbers that fit into what servers count with are counters, and nothing else is."""
    server = Server("mysql", "8.0.36", "", "MySQL", Link("socket"), {}, {"questions": text})
    assert server.counter("Questions") == count
    assert server.counter("queries") is None
