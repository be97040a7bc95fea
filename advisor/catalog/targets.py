"""The server versions that can be named as a target, and the catalog that each is read with."""

from __future__ import annotations

from advisor.exits import MycnfError
from advisor.model import Target

# Series that have a catalog, with the newest patch that its facts reach to.
SERIES: dict[str, dict[tuple[int, ...], tuple[int, ...]]] = {
    "mysql": {
        (5, 7): (5, 7, 44),
        (8, 0): (8, 0, 43),
        (8, 4): (8, 4, 8),
        (9, 7): (9, 7, 4),
    },
    "mariadb": {
        (10, 6): (10, 6, 24),
        (10, 11): (10, 11, 19),
        (11, 4): (11, 4, 5),
        (11, 8): (11, 8, 9),
    },
}
# The very versions of which a running server was asked.
ASKED = frozenset(
    {
        Target("mysql", (5, 7, 22)),
        Target("mysql", (8, 0, 15)),
        Target("mysql", (9, 7, 4)),
        Target("mariadb", (10, 11, 19)),
        Target("mariadb", (11, 4, 5)),
        Target("mariadb", (11, 8, 9)),
    }
)
# When the vendor's support ends, by the vendors' published release policies (as known in 2026); day 0 is a month alone.
END_OF_LIFE: dict[str, dict[tuple[int, ...], tuple[int, int, int]]] = {
    "mysql": {(5, 7): (2023, 10, 0), (8, 0): (2026, 4, 30), (8, 4): (2032, 4, 0), (9, 7): (2034, 4, 0)},
    "mariadb": {
        (10, 6): (2026, 7, 6),
        (10, 11): (2028, 2, 16),
        (11, 4): (2029, 5, 29),
        (11, 8): (2028, 6, 4),
        (12, 3): (2029, 6, 30),
    },
}

MOST_DIGITS = 4
LONGEST = 60  # characters of what is quoted as no target


def newest(flavour: str) -> Target:
    """The newest known patch of a flavour's newest series that has a catalog."""
    return Target(flavour, max(SERIES[flavour].values()))


def parse_target(text: str) -> Target:
    """The target that a user named: flavour and series (its newest known patch), or flavour and full version.

    A series without a catalog is kept as named where a lower one can stand in (see `catalog_for`). Raises
    MycnfError, with the known targets, for anything else.
    """
    flavour, _, number = text.strip().lower().partition("-")
    parts = number.split(".")
    # No release has five digits; thousands of them are no number to Python.
    if flavour not in SERIES or len(parts) not in (2, 3) or any(len(p) > MOST_DIGITS for p in parts):
        raise _unknown(text)
    if not all(p.isascii() and p.isdigit() for p in parts):
        raise _unknown(text)
    version = tuple(int(p) for p in parts)
    if version[:2] < min(SERIES[flavour]):
        raise _unknown(text)
    if len(version) == 2:  # noqa: PLR2004 - a series
        version = SERIES[flavour].get(version, version)
    return Target(flavour, version)


def catalog_for(target: Target) -> Target:
    """The version whose facts stand for the target: itself where they reach it, else the nearest lower one.

    Raises MycnfError for a flavour or a series below the lowest that has a catalog.
    """
    known = SERIES.get(target.flavour, {})
    series = max((s for s in known if s <= target.version[:2]), default=None)
    if series is None:
        raise _unknown(str(target))
    if target.version[:2] == series and series < target.version <= known[series]:
        return target
    return Target(target.flavour, known[series])


def _unknown(text: str) -> MycnfError:
    known = ", ".join(f"{flavour}-{s[0]}.{s[1]}" for flavour, series in SERIES.items() for s in sorted(series))
    return MycnfError(
        f"unknown target {text[:LONGEST]!r}: known are {known}, each also with a patch such as mysql-8.0.36"
    )
