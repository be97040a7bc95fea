"""What a server makes of its limits at start-up, told from what somebody set later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Origin
from advisor.verdict.effects import number_of

if TYPE_CHECKING:
    from advisor.model import Setting
    from advisor.verdict import LineVerdict
    from rules.known import Known

# limited-by-the-system tells of the first three. log_bin is a file name in a file and ON or OFF in a server.
BY_THE_SYSTEM = frozenset(
    {"open_files_limit", "max_connections", "table_open_cache", "table_definition_cache", "log_bin"}
)
# MySQL keeps so many of its files for itself, and two for each of the least number of tables.
OWN, LEAST_TABLES = 10, 400


def by_the_system(known: Known, line: LineVerdict, setting: Setting) -> bool:
    """Whether the server may have changed that value of a line when it started, by the files that it got.

    MySQL 5.7 doesn't tell what was set at run time; there the sums that a start does say what it can't have done.
    """
    if setting.name not in BY_THE_SYSTEM or setting.origin in (Origin.RUNTIME, Origin.PERSISTED):
        return False
    asked, room = number_of(line.value), _room(known, setting.name)
    return asked is None or room is None or asked > room


def _room(known: Known, name: str) -> int | None:
    """The most that MySQL grants at a start, None where that can't be told."""
    files, connections = known.number("open_files_limit"), known.number("max_connections")
    if known.target.is_mariadb or files is None or connections is None:
        return None
    if name == "max_connections":
        return files - OWN - 2 * LEAST_TABLES
    return max((files - OWN - connections) // 2, LEAST_TABLES) if name == "table_open_cache" else None
