"""Notations of one value are the same value, and others are not."""

from __future__ import annotations

import pytest

from advisor.verdict.compare import is_same_value


@pytest.mark.parametrize(
    ("made", "running"),
    [
        ("TRUE", "ON"),
        ("0", "OFF"),
        ("10", "10.000000"),
        ("2e+06", "2000000"),
        ("0.5", "0.500000"),
        ("0.000000", "OFF"),
        ("a,b", "B,A"),
        ("(No default value)", ""),
        ("/var/lib/mysql", "/var/lib/mysql/"),
        ("./error.log", "/var/lib/mysql/error.log"),
    ],
)
def test_the_same(made: str, running: str) -> None:
    """Help's words, decimals, the order of a set, and paths that the server completes."""
    assert is_same_value(made, running)


@pytest.mark.parametrize(
    ("made", "running"), [("ON", "OFF"), ("1", "10"), ("", "x"), ("log", "/x/error.log"), ("10", "100")]
)
def test_not_the_same(made: str, running: str) -> None:
    """Nothing counts as the end of a path but its last step."""
    assert not is_same_value(made, running)
