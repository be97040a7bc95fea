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
LEAST_FILES = 5000  # what MySQL asks the system for at least, and five for each connection
FILES_A_CONNECTION = 5


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
        "of versions whose default was 64. MySQL's manual asks for at least one table of each join for each "
        "connection at work, so fewer entries than connections are told too: as a warning below that least, or where "
        "as many connections were in use at once.",
        fix="Take the line out, or write 2000 or more and at least one for each connection. Where the system grants "
        "too few files, raise LimitNOFILE in the service's unit with it: two for each table and one for each "
        "connection.",
        risk="Each open table takes memory and up to two file descriptors.",
        exceptions="Servers with a handful of tables and of sessions, on a machine with very little memory.",
        mind="Table_open_cache_overflows that stays level through the busiest hour.",
    ),
)
def tiny_table_cache(known: Known) -> Iterator[Finding]:
    """A cache that was made smaller than the floor of the server, or than the connections that use it."""
    value, connections = known.number(CACHE), _connections(known)
    floor = FLOOR_MARIADB if known.target.is_mariadb else FLOOR_MYSQL
    crowded = value is not None and connections is not None and value < connections
    # What the system leaves of a line is, to MariaDB, a value of its own making.
    asked = known.chosen(CACHE) or CACHE in known.file_verdict.effective
    if value is None or not asked or (value >= floor and not crowded):
        return
    peak = known.server.counter("max_used_connections") if known.has("server") else None
    action, words_of_it = wider_cache(known, value)
    yield tiny_table_cache.finding(
        f"The server keeps {value:,} tables open"
        + (f", fewer than one for each of {connections:,} connections." if crowded else f"; its own least is {floor}."),
        of_variable(known, CACHE),
        severity=Severity.WARNING if crowded and (value < floor or (peak or 0) > value) else None,
        help=words_of_it,
        actions=these(action),
    )


def _connections(known: Known) -> int | None:
    """How many there may be; the catalog has no default, because the system's limit on files may lower it."""
    value = known.number("max_connections")
    return CONNECTIONS if value is None and line_of(known, "max_connections") is None else value


def wider_cache(known: Known, value: int) -> tuple[Action | None, str]:
    """Twice the tables, at least an ordinary cache and one for each connection; and the whole remedy in words.

    Where a running server was granted too few files for that, the remedy begins with them and takes a restart.
    """
    connections = _connections(known) or 0
    line = known.file_verdict.effective.get(CACHE)
    asked = int(line.value) if line is not None and line.value and line.value.isdecimal() else 0
    wanted = max(ORDINARY, asked if asked > value else value * 2, connections)
    granted = known.number("open_files_limit") if known.has("server") else None
    needed = RESERVED + connections + FILES_A_TABLE * wanted
    fits = not granted or needed <= granted
    files = max(needed, LEAST_FILES, FILES_A_CONNECTION * connections)
    risk = "memory and up to two file descriptors for each open table"
    if not fits:
        risk = f"{risk}; needs LimitNOFILE = {files} in the service's unit first"
    action = advise(known, CACHE, wanted, live=fits, risk=risk, watch="Table_open_cache_overflows")
    if fits or action is None:
        return action, words(action)
    return action, f"set LimitNOFILE={files} in the service's unit, {words(action)}, and restart"
