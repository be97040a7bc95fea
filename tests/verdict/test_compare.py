"""Notations of one value are the same value, and others are not."""

from __future__ import annotations

import pytest

from advisor.verdict.settings import is_same_value

PROVIDER = (  # from a node of MariaDB 10.11 with galera-4, shortened
    "evs.suspect_timeout = PT1M; gcache.keep_pages_size = 0; gcache.size = 128M; gcs.fc_master_slave = no; "
    "gmcast.listen_addr = tcp://127.0.0.1:4567; pc.ignore_sb = false; "
)


@pytest.mark.parametrize(
    ("made", "running"),
    [
        ("gcache.size=128m;evs.suspect_timeout = PT60S", PROVIDER),
        ("pc.ignore_sb = NO;", PROVIDER),
        ("", PROVIDER),
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
    ("made", "running"),
    [
        ("gcache.size=256M", PROVIDER),
        ("pc.ignore_sb = yes", PROVIDER),
        ("gcs.unknown = 1", PROVIDER),
        ("ON", "OFF"),
        ("1", "10"),
        ("", "x"),
        ("log", "/x/error.log"),
        ("10", "100"),
    ],
)
def test_not_the_same(made: str, running: str) -> None:
    """Nothing counts as the end of a path but its last step."""
    assert not is_same_value(made, running)
