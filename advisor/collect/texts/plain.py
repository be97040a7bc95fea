"""A text of variables, status counters, a replica's status or InnoDB's, whatever form its client gave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.texts.counted import with_next
from advisor.collect.texts.monitor import Monitor
from advisor.collect.texts.sources import Sources
from advisor.collect.texts.tables import tables
from advisor.collect.texts.told import SAME, Told

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.collect.texts.tables import Table

_OWN = ("pt-summary-internal", "internal::")  # what pt-mysql-summary adds to the variables that it saves
MOST_SERVERS = 10  # tables of another server than the one before: two are refused already
_RUNNING = frozenset({"uptime", "threads_connected", "questions"})


def read_plain(path: str, lines: Iterable[str], at: float) -> Told:
    """What the tables in the lines of a text tell, and the status of a replica and of InnoDB where they are in it.

    Texts of thousands of tables take no more memory than those of a few: of samples those are kept that a window
    needs, of variables the first table, and all others as one.
    """
    variables: list[Table] = []
    samples: tuple[Table, ...] = ()
    monitor, sources = Monitor(), Sources()
    for table in tables(sources.passing(monitor.passing(lines))):
        found = {name.lower(): value for name, value in table.items() if not name.startswith(_OWN)}
        if _is_status(table):
            samples = with_next(samples, found)
        elif len(variables) > 1 and _is_of_same_server(variables[-1], found):
            variables[-1] |= found
        elif len(variables) < MOST_SERVERS:
            variables.append(found)
    return Told(path, tuple(variables), samples, monitor.text, at=at, replicas=sources.rows)


def _is_of_same_server(one: Table, other: Table) -> bool:
    return all(one.get(name, other.get(name)) == other.get(name, one.get(name)) for name in SAME)


def _is_status(table: Table) -> bool:
    """Whether they are counters: servers print their names with a capital, and those of variables without.

    The tables of information_schema have capitals alone, so there the names tell.
    """
    names = [name for name in table if not name.startswith("wsrep_")]
    if names and all(name.isupper() for name in names):
        return not _RUNNING.isdisjoint(name.lower() for name in names)
    return 2 * sum(name[:1].isupper() for name in names) > len(names)
