"""Facts from the manuals' tables for a version: defaults, ranges, and whether a variable is dynamic."""

from __future__ import annotations

from tables import Row, Version, read, version

Said = dict[tuple[str, str], str]


def mariadb(at: Version) -> Said:
    """Facts from MariaDB's documentation for a version, by name and fact; contradictory ones are left out."""
    claims: dict[tuple[str, str], dict[str, bool]] = {}
    for row in read("manual", "mariadb.tsv"):
        if covers(row, at):
            bounded = bool(row["low"] or row["high"])
            claims.setdefault((row["name"], row["fact"]), {})[row["value"]] = bounded
    return {key: value for key, values in claims.items() if (value := one(values)) is not None}


def one(values: dict[str, bool]) -> str | None:
    """The only value, else the only value with a version range; None if there are several."""
    named = [value for value, bounded in values.items() if bounded] or list(values)
    return named[0] if len(named) == 1 else None


def covers(row: Row, at: Version) -> bool:
    """Whether a row applies to a version; a bound that names a series includes all its patches."""
    low, high = (version(row[end]) if row[end] else None for end in ("low", "high"))
    after = low is None or low <= at
    return after and (high is None or at[: len(high)] <= high)
