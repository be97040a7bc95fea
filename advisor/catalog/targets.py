"""The server versions that can be targets, and the catalog that is used for each."""

from __future__ import annotations

from advisor.core.errors import MycnfError
from advisor.core.model import Target

# Series that have a catalog, with the newest patch that its facts cover.
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
        (12, 3): (12, 3, 2),
    },
}
# Series whose options come from documents and from neighbouring series: mycnf has read no server of these, nor a help
# recorded from one. That a name or word is missing proves nothing here.
INFERRED = frozenset({("mariadb", (12, 3))})
# The builds that have a catalog of their own, a difference from their flavour's, with the newest patch it covers.
# For a build without one, the flavour's catalog is used.
BUILD_SERIES: dict[str, dict[tuple[int, ...], tuple[int, ...]]] = {
    "percona": {(5, 7): (5, 7, 44), (8, 0): (8, 0, 43), (8, 4): (8, 4, 8)},
    "pxc": {(5, 7): (5, 7, 44), (8, 0): (8, 0, 43), (8, 4): (8, 4, 8)},
    "enterprise": {(5, 7): (5, 7, 44), (8, 0): (8, 0, 43), (8, 4): (8, 4, 8), (9, 7): (9, 7, 4)},
}
# Those of which the documented options of some plugins are all that is known: what MySQL refuses, they may know.
DOCUMENTED_BUILDS = frozenset({"enterprise"})
# What --target calls a server: the beginning of the name, with the flavour and the build.
NAMES: dict[str, tuple[str, str]] = {
    "mysql": ("mysql", ""),
    "mysql-enterprise": ("mysql", "enterprise"),
    "mariadb": ("mariadb", ""),
    "percona": ("mysql", "percona"),
    "pxc": ("mysql", "pxc"),
    "rds-mysql": ("mysql", "rds"),
    "rds-mariadb": ("mariadb", "rds"),
    "aurora-mysql": ("mysql", "aurora"),
    "cloudsql-mysql": ("mysql", "cloudsql"),
    "azure-mysql": ("mysql", "azure"),
}
# A target of each managed service, for messages.
SERVICES = ("rds-mysql-8.0", "rds-mariadb-10.11", "aurora-mysql-3", "cloudsql-mysql-8.0", "azure-mysql-8.0")
# Aurora counts its own releases: 3 is compatible with MySQL 8.0.
AURORA = {"2": "5.7", "3": "8.0"}
# The exact versions of which a running server was examined.
EXAMINED = frozenset(
    {
        Target("mysql", (5, 7, 22)),
        Target("mysql", (8, 0, 15)),
        Target("mysql", (9, 7, 4)),
        Target("mariadb", (10, 11, 19)),
        Target("mariadb", (11, 4, 5)),
        Target("mariadb", (11, 8, 9)),
    }
)
# End of the vendor's support according to the published release policies (as of 2026); day 0 means month only.
END_OF_LIFE: dict[str, dict[tuple[int, ...], tuple[int, int, int]]] = {
    "mysql": {
        (5, 5): (2018, 12, 0),
        (5, 6): (2021, 2, 0),
        (5, 7): (2023, 10, 0),
        (8, 0): (2026, 4, 30),
        (8, 4): (2032, 4, 0),
        (9, 7): (2034, 4, 0),
        # Innovation releases, each supported until the next.
        (8, 1): (2023, 10, 25),
        (8, 2): (2023, 12, 14),
        (8, 3): (2024, 4, 10),
        (9, 0): (2024, 10, 15),
        (9, 1): (2025, 1, 21),
        (9, 2): (2025, 4, 15),
        (9, 3): (2025, 7, 22),
        (9, 4): (2025, 10, 21),
        (9, 5): (2026, 1, 20),
        (9, 6): (2026, 4, 21),
    },
    "mariadb": {
        (5, 5): (2020, 4, 11),
        (10, 0): (2019, 3, 31),
        (10, 1): (2020, 10, 17),
        (10, 2): (2022, 5, 23),
        (10, 3): (2023, 5, 25),
        (10, 4): (2024, 6, 18),
        (10, 5): (2025, 6, 24),
        (10, 6): (2026, 7, 6),
        (10, 7): (2023, 2, 9),
        (10, 8): (2023, 5, 20),
        (10, 9): (2023, 8, 22),
        (10, 10): (2023, 11, 17),
        (10, 11): (2028, 2, 16),
        (11, 0): (2024, 6, 6),
        (11, 1): (2024, 8, 21),
        (11, 2): (2024, 11, 21),
        (11, 3): (2024, 5, 29),
        (11, 4): (2029, 5, 29),
        (11, 5): (2024, 11, 21),
        (11, 6): (2025, 2, 13),
        (11, 7): (2025, 5, 12),
        (11, 8): (2028, 6, 4),
        (12, 0): (2025, 11, 18),
        (12, 1): (2026, 2, 13),
        (12, 2): (2026, 5, 28),
        (12, 3): (2029, 6, 0),
    },
}

MAX_DIGITS = 4
MAX_LENGTH = 60  # characters quoted from an unknown target


def newest_target(flavour: str, build: str = "") -> Target:
    """Return the newest known patch of the newest series whose options a server listed, of a flavour or a build."""
    examined = [patch for series, patch in SERIES[flavour].items() if (flavour, series) not in INFERRED]
    return Target(flavour, max(BUILD_SERIES.get(build, {}).values(), default=max(examined)), build)


def parse_target(text: str) -> Target:
    """Parse a target named by a user: flavour and series (its newest known patch), or flavour and full version.

    A series without a catalog is kept if a lower one can be used for it (see `catalog_for`). Raises MycnfError, with
    the known targets, for anything else.
    """
    target = running_target(text)
    if is_too_old(target):
        raise _raise_unknown_target(text)
    return target


def running_target(text: str) -> Target:
    """Parse the target of a running server, which may be older than all known series; see `is_too_old`."""
    name, _, number = text.strip().lower().rpartition("-")
    if name not in NAMES:
        raise _raise_unknown_target(text)
    flavour, build = NAMES[name]
    parts = (AURORA.get(number, number) if build == "aurora" else number).split(".")
    # No release has five digits; int() refuses thousands of them.
    if len(parts) not in (2, 3) or any(len(p) > MAX_DIGITS for p in parts):
        raise _raise_unknown_target(text)
    if not all(p.isascii() and p.isdigit() for p in parts):
        raise _raise_unknown_target(text)
    version = tuple(int(p) for p in parts)
    if len(version) == 2:  # noqa: PLR2004 - a series
        version = known_series(flavour, build).get(version, version)
    return Target(flavour, version, build)


def known_series(flavour: str, build: str = "") -> dict[tuple[int, ...], tuple[int, ...]]:
    """Return the series with a catalog and their newest known patch: the build's own above the flavour's."""
    return {**SERIES.get(flavour, {}), **BUILD_SERIES.get(build, {})}


def target_of_version(flavour: str, version: tuple[int, ...], build: str, why: str) -> tuple[Target, str]:
    """Return the target that a document's version means, with the reason: the nearest known one if it has no catalog.

    A first number alone means the newest series that begins with it.
    """
    known = known_series(flavour, build)
    if len(version) == 1:
        series = max((s for s in known if s[0] == version[0]), default=None)
        return (Target(flavour, known[series], build) if series else newest_target(flavour, build)), why
    if version[:2] < min(known):
        return Target(flavour, known[min(known)], build), f"{why}, and no older series is known"
    if max(version) > 9999:  # noqa: PLR2004 - no release has five digits
        return newest_target(flavour, build), why
    if len(version) == 2:  # noqa: PLR2004 - a series
        version = known.get(version, version)
    return Target(flavour, version, build), why


def is_too_old(target: Target) -> bool:
    """Whether the series is older than all with a catalog, so that its handling of options is unknown."""
    return target.version[:2] < min(SERIES[target.flavour])


def require_known(target: Target) -> None:
    """Raise MycnfError if a running server is too old to have a catalog."""
    if is_too_old(target):
        why = "it is not known how it treats its options"
        raise MycnfError(f"{too_old_note(target)}: {why}; mycnf audit shows the rest")


def too_old_note(target: Target) -> str:
    """Return a sentence without its stop on a target that is too old."""
    oldest = f"{target.flavour}-{'.'.join(map(str, min(SERIES[target.flavour])))}"
    return f"{target.label} is older than {oldest}, the oldest version that mycnf knows"


def catalog_for(target: Target) -> Target:
    """Return the version whose facts are used for the target: itself if they cover it, else the nearest lower one.

    A build without a catalog is read as its flavour's own server. For a series that is too old it is the oldest with a
    catalog, for option names only. Raises MycnfError for an unknown flavour.
    """
    known = known_series(target.flavour, target.build)
    series = max((s for s in known if s <= target.version[:2]), default=min(known, default=None))
    if series is None:
        raise _raise_unknown_target(str(target))
    build = target.build if series in BUILD_SERIES.get(target.build, ()) else ""
    covered = target.version[:2] == series and series < target.version <= known[series]
    return target._replace(version=target.version if covered else known[series], build=build)


def lists_names(target: Target) -> bool:
    """Whether the catalog used for the target is its own, and lists all names that a server of that kind knows."""
    return catalog_for(target) == target and (target.flavour, target.version[:2]) not in INFERRED


def names_patch(text: str) -> bool:
    """Whether a user named a full version; a series means any vendor's build."""
    return text.count(".") > 1


def stand_in_note(target: Target) -> str:
    """Return a sentence on the facts used for a target of which no server was read; empty for the others."""
    read_as = catalog_for(target)
    nearest = f"{target.label} was not examined: it is read as {read_as.label}"
    if read_as.version < target.version:
        return f"{nearest}, the nearest lower version that mycnf knows"
    if read_as.build != target.build:
        return nearest
    if lists_names(target) or read_as.version > target.version:
        return ""
    return f"no {target.label} server was examined: its options come from the documentation and from other series"


def _raise_unknown_target(text: str) -> MycnfError:
    from advisor.core.errors import did_you_mean

    known = [f"{flavour}-{s[0]}.{s[1]}" for flavour, series in SERIES.items() for s in sorted(series)]
    known += [str(Target("mysql", s, build)) for build, series in BUILD_SERIES.items() for s in sorted(series)]
    name, _, number = text.lower().rpartition("-")
    hint = "" if name in NAMES and "." in number else did_you_mean(text[:MAX_LENGTH], [*known, *SERVICES])
    return MycnfError(
        f"unknown target {text[:MAX_LENGTH]!r}: known are {', '.join(known)}, each also with a patch such as "
        f"mysql-8.0.36, and services such as {', '.join(SERVICES)}{hint}"
    )
