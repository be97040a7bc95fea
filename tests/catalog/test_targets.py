"""Naming a target, and the catalog for it."""

from __future__ import annotations

import pytest

from advisor.catalog.targets import (
    END_OF_LIFE,
    SERIES,
    catalog_for,
    is_too_old,
    newest_target,
    parse_target,
    require_known,
    running_target,
)
from advisor.core.errors import MycnfError
from advisor.core.model import Target


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("mysql-8.4", (8, 4, 8)),
        ("mysql-8.0", (8, 0, 43)),
        ("mysql-8.0.15", (8, 0, 15)),
        ("MySQL-9.7", (9, 7, 4)),
        ("mariadb-10.11", (10, 11, 19)),
        ("mariadb-11.8.1", (11, 8, 1)),
        ("mysql-26.7", (26, 7)),
        ("mariadb-12.3", (12, 3, 2)),
        ("mariadb-13.0", (13, 0)),
    ],
)
def test_a_series_means_its_newest_known_patch(text: str, version: tuple[int, ...]) -> None:
    """A series is completed with its newest known patch; a full version and an unknown newer series stay as named."""
    assert parse_target(text).version == version


NO_TARGETS = [
    *(
        "",
        "mysql",
        "mysql-",
        "8.0",
        "mysql-8",
        "mysql-8.0.x",
        "mysql-5.6",
        "mariadb-10.5",
        "oracle-8.0",
        "mysql-8.0.1.2",
    ),
    *("mysql-99999.1", "mysql-\uff18.0", "mysql--8.0"),
]


@pytest.mark.parametrize("text", NO_TARGETS)
def test_anything_else_is_refused_with_what_is_known(text: str) -> None:
    """A target that cannot be meant is one line that lists the known ones."""
    with pytest.raises(MycnfError, match=r"mysql-5\.7, .*mariadb-11\.8"):
        parse_target(text)


@pytest.mark.parametrize(
    ("target", "read_as"),
    [
        (Target("mysql", (8, 0, 15)), (8, 0, 15)),
        (Target("mysql", (8, 0, 99)), (8, 0, 43)),
        (Target("mysql", (8, 1, 0)), (8, 0, 43)),
        (Target("mysql", (9, 1, 0)), (8, 4, 8)),
        (Target("mysql", (26, 7)), (9, 7, 4)),
        (Target("mariadb", (10, 8, 3)), (10, 6, 24)),
        (Target("mariadb", (12, 2, 2)), (11, 8, 9)),
        (Target("mariadb", (12, 3, 1)), (12, 3, 1)),
        (Target("mariadb", (13, 0)), (12, 3, 2)),
    ],
)
def test_a_newer_server_is_read_with_the_nearest_lower_catalog(target: Target, read_as: tuple[int, ...]) -> None:
    """A version that no catalog reaches is read with the newest facts below it."""
    assert catalog_for(target) == Target(target.flavour, read_as)


def test_no_catalog_stands_for_what_is_older_than_all() -> None:
    """Below the lowest series there is nothing to read a file with: a running server of such a one is detected."""
    old = Target("mysql", (5, 6, 51))
    assert running_target("mysql-5.6.51") == old
    assert is_too_old(old)
    assert not is_too_old(Target("mysql", (5, 7, 1)))
    assert catalog_for(old).version[:2] == (5, 7)
    for refuse in (lambda: parse_target("mysql-5.6.51"), lambda: require_known(old)):
        with pytest.raises(MycnfError):
            refuse()
    with pytest.raises(MycnfError):
        catalog_for(Target("percona", (8, 0, 36)))


def test_newest_and_end_of_life_know_every_series() -> None:
    """Each flavour has a newest version that a server reported, and each series a date when its support ends."""
    assert newest_target("mysql").version == (9, 7, 4)
    assert newest_target("mariadb").version == (11, 8, 9)
    for flavour, series in SERIES.items():
        assert series.keys() <= END_OF_LIFE[flavour].keys()
