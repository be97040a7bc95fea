"""Ways to read one thing from two samples of status counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.facts import Sample, Workload

Counted = tuple[float, float]  # an amount, and what it is divided by


class Way(NamedTuple):
    """How to read an interval, and what its numbers mean.

    `source` names the counters as servers do, `there` says whether a sample has them; `read` gives None where one of
    them went backwards.
    """

    source: str
    about: str
    there: Callable[[Sample], bool]
    read: Callable[[Workload], Counted | None]


def rise(counters: str, about: str) -> Way:
    """Counters that only rise, summed: so many a second."""
    keys = _keys(*counters.split())

    def read(interval: Workload) -> Counted | None:
        total = 0
        for key in keys:
            one = interval.delta(key)
            if one is None:
                return None
            total += one
        return total, interval.seconds

    return Way(" + ".join(counters.split()), about, _having(keys), read)


def level(counter: str, about: str) -> Way:
    """A counter that rises and falls, as it is."""
    keys = _keys(counter)
    return Way(counter, about, _having(keys), lambda interval: (interval.last.status[keys[0]], 1))


def quotient(counter: str, by: str, about: str) -> Way:
    """How far one counter rose for each step of another."""
    keys = _keys(counter, by)

    def read(interval: Workload) -> Counted | None:
        amount, divisor = (interval.delta(key) for key in keys)
        return None if amount is None or divisor is None else (amount, divisor)

    return Way(f"{counter} / {by}", about, _having(keys), read)


def hits(misses: str, requests: str, about: str) -> Way:
    """Percent of requests that were no miss."""
    keys = _keys(misses, requests)

    def read(interval: Workload) -> Counted | None:
        missed, asked = (interval.delta(key) for key in keys)
        return None if missed is None or asked is None else (100 * max(0, asked - missed), asked)

    return Way(f"{misses} in {requests}", about, _having(keys), read)


def lsn(about: str) -> Way:
    """The log sequence number, where a snapshot has it from InnoDB's status text."""

    def read(interval: Workload) -> Counted | None:
        first, last = interval.first.lsn, interval.last.lsn
        return (last - first, interval.seconds) if first is not None and last is not None and last >= first else None

    return Way("the LSN in SHOW ENGINE INNODB STATUS", about, lambda sample: sample.lsn is not None, read)


def query_time(about: str) -> Way:
    """Milliseconds that a statement took."""

    def read(interval: Workload) -> Counted | None:
        first, last = interval.first.query_time, interval.last.query_time
        asked = interval.delta("questions")
        if first is None or last is None or last < first or asked is None:
            return None
        return 1000 * (last - first), asked

    return Way("Query_time / Questions", about, lambda sample: sample.query_time is not None, read)


def _keys(*counters: str) -> tuple[str, ...]:
    return tuple(counter.lower() for counter in counters)


def _having(keys: tuple[str, ...]) -> Callable[[Sample], bool]:
    return lambda sample: all(key in sample.status for key in keys)
