"""TAB: what option files say of the caches of open tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Severity
from rules.advice import advise, these, words
from rules.registry import Docs, rule
from rules.subject import line_of, of_variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Action, Finding
    from rules.known import Known

CACHE = "table_open_cache"
# What a server keeps of its own accord when the system grants it hardly any files (TAB-01).
FLOOR_MYSQL = 400
FLOOR_MARIADB = 200
ORDINARY = 2000  # the default of MySQL 5.7 and MariaDB, half of that of MySQL 8.0 and later
FILES_A_TABLE = 2
CONNECTIONS = 151  # the default of all
RESERVED = 33  # files that servers set aside for themselves: MySQL 10, MariaDB 33 (TAB-01)


@rule(
    "TAB001",
    "tiny-table-cache",
    severity=Severity.NOTE,
    confidence=Confidence.MEASURED,
    summary="The cache of open tables is smaller than the least that the server keeps by itself.",
    options=(CACHE,),
    evidence=("TAB-01", "TOC-01", "TAB-02"),
    docs=Docs(
        why="Each session that uses a table takes an entry of the cache for it, and each table of a join one more. "
        "Where the cache is full a table is closed for each that is opened, under a lock that all share. "
        "Squeezed by the system's limit on files MySQL still keeps 400 entries and MariaDB 200; fewer are a relic "
        "of versions whose default was 64. Fewer entries than connections are a warning, since MySQL's manual asks "
        "for at least one table of each join for each connection at work.",
        fix="Take the line out, or write 2000 or more.",
        risk="Each open table takes memory and up to two file descriptors.",
        exceptions="Servers with a handful of tables and of sessions, on a machine with very little memory.",
        mind="Table_open_cache_overflows that stays level through the busiest hour.",
    ),
)
def tiny_table_cache(known: Known) -> Iterator[Finding]:
    """A cache that somebody made smaller than the floor of the server."""
    value, connections = known.number(CACHE), _connections(known)
    floor = FLOOR_MARIADB if known.target.is_mariadb else FLOOR_MYSQL
    if value is None or value >= floor or not known.chosen(CACHE):
        return
    action = wider_cache(known, value)
    crowded = connections is not None and value < connections
    yield tiny_table_cache.finding(
        f"The server keeps {value:,} tables open"
        + (f", fewer than one for each of {connections:,} connections." if crowded else f"; its own least is {floor}."),
        of_variable(known, CACHE),
        severity=Severity.WARNING if crowded else None,
        help=words(action),
        actions=these(action),
    )


def _connections(known: Known) -> int | None:
    """How many there may be; the catalog has no default, because the system's limit on files may lower it."""
    value = known.number("max_connections")
    return CONNECTIONS if value is None and line_of(known, "max_connections") is None else value


def wider_cache(known: Known, value: int) -> Action | None:
    """Twice the tables, at least an ordinary cache, within the files that a running server was granted.

    None where those files leave no room for a quarter more.
    """
    wanted = max(ORDINARY, value * 2)
    granted = known.number("open_files_limit") if known.has("server") else None
    if granted:
        room = (granted - RESERVED - (known.number("max_connections") or 0)) // FILES_A_TABLE
        wanted = min(wanted, room)
    if wanted * 4 < value * 5:
        return None
    return advise(
        known,
        CACHE,
        wanted,
        risk="memory and up to two file descriptors for each open table",
        watch="Table_open_cache_overflows",
    )
