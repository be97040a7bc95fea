"""How a value of the workload screen is computed from the status counters of two samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.facts import Sample, Workload


Ratio = tuple[float, float]  # an amount and its divisor


class RateFormula(NamedTuple):
    """How to compute a value from an interval, and its meaning.

    `source` names the counters as the server does, `has_counters` says whether a sample has them. `read` returns None
    if a counter decreased. `counters` are the names in a sample.
    """

    source: str
    meaning: str
    has_counters: Callable[[Sample], bool]
    read: Callable[[Workload], Ratio | None]
    counters: tuple[str, ...] = ()


def rate(counters: str, meaning: str) -> RateFormula:
    """The sum of counters that only increase, per second."""
    keys = _keys(*counters.split())

    def read(interval: Workload) -> Ratio | None:
        total = 0
        for key in keys:
            rise = interval.delta(key)
            if rise is None:
                return None
            total += rise
        return total, interval.seconds

    return RateFormula(" + ".join(counters.split()), meaning, _has_counters(keys), read, keys)


def level(counter: str, meaning: str) -> RateFormula:
    """The current value of a counter."""
    keys = _keys(counter)
    return RateFormula(counter, meaning, _has_counters(keys), lambda interval: (interval.last.status[keys[0]], 1), keys)


def quotient(counter: str, by: str, meaning: str) -> RateFormula:
    """The increase of one counter divided by that of another."""
    keys = _keys(counter, by)

    def read(interval: Workload) -> Ratio | None:
        amount, divisor = (interval.delta(key) for key in keys)
        return None if amount is None or divisor is None else (amount, divisor)

    return RateFormula(f"{counter} / {by}", meaning, _has_counters(keys), read, keys)


def share(part: str, whole: str, meaning: str) -> RateFormula:
    """The increase of one counter as a percentage of that of another."""
    keys = _keys(*part.split(), whole)

    def read(interval: Workload) -> Ratio | None:
        *parts, all_of_it = (interval.delta(key) for key in keys)
        if all_of_it is None or None in parts:
            return None
        return 100 * sum(amount for amount in parts if amount is not None), all_of_it

    return RateFormula(f"{' + '.join(part.split())} in {whole}", meaning, _has_counters(keys), read, keys)


def level_share(part: str, whole: str, meaning: str) -> RateFormula:
    """The current value of a counter as a percentage of another's current value."""
    keys = _keys(part, whole)

    def read(interval: Workload) -> Ratio | None:
        return 100 * interval.last.status[keys[0]], interval.last.status[keys[1]]

    return RateFormula(f"{part} in {whole}", meaning, _has_counters(keys), read, keys)


def difference(counter: str, less: str, meaning: str) -> RateFormula:
    """The current value of a counter minus another's."""
    keys = _keys(counter, less)

    def read(interval: Workload) -> Ratio | None:
        last = interval.last.status
        return max(0, last[keys[0]] - last[keys[1]]), 1

    return RateFormula(f"{counter} - {less}", meaning, _has_counters(keys), read, keys)


def busy_share(counter: str, meaning: str, units: float = 1000.0) -> RateFormula:
    """The share of the time that a counter of busy time rose by, in percent; `units` of it are a second."""
    keys = _keys(counter)

    def read(interval: Workload) -> Ratio | None:
        busy = interval.delta(keys[0])
        return None if busy is None else (100 * busy / units, interval.seconds)

    return RateFormula(counter, meaning, _has_counters(keys), read, keys)


def busiest(prefix: str, meaning: str) -> RateFormula:
    """The busiest of the devices whose counters of busy milliseconds begin with `prefix`, in percent of the time."""

    def keys(sample: Sample) -> list[str]:
        return [key for key in sample.status if key.startswith(prefix)]

    def read(interval: Workload) -> Ratio | None:
        rises = [rise for key in keys(interval.last) if (rise := interval.delta(key)) is not None]
        return (min(100.0 * max(rises) / 1000, 100.0 * interval.seconds), interval.seconds) if rises else None

    return RateFormula(f"{prefix}…", meaning, lambda sample: bool(keys(sample)), read)


def hit_rate(misses: str, requests: str, meaning: str) -> RateFormula:
    """The percentage of requests that were hits."""
    keys = _keys(misses, requests)

    def read(interval: Workload) -> Ratio | None:
        missed, asked = (interval.delta(key) for key in keys)
        return None if missed is None or asked is None else (100 * max(0, asked - missed), asked)

    return RateFormula(f"{misses} in {requests}", meaning, _has_counters(keys), read, keys)


def lsn_rate(meaning: str) -> RateFormula:
    """The rate of the log sequence number, which snapshots have from InnoDB's status text."""

    def read(interval: Workload) -> Ratio | None:
        first, last = interval.first.lsn, interval.last.lsn
        return (last - first, interval.seconds) if first is not None and last is not None and last >= first else None

    return RateFormula("the LSN in SHOW ENGINE INNODB STATUS", meaning, lambda sample: sample.lsn is not None, read)


def query_time(meaning: str) -> RateFormula:
    """The mean time of a statement in milliseconds."""

    def read(interval: Workload) -> Ratio | None:
        first, last = interval.first.query_time, interval.last.query_time
        asked = interval.delta("questions")
        if first is None or last is None or last < first or asked is None:
            return None
        return 1000 * (last - first), asked

    return RateFormula("Query_time / Questions", meaning, lambda sample: sample.query_time is not None, read)


def _keys(*counters: str) -> tuple[str, ...]:
    return tuple(counter.lower() for counter in counters)


def _has_counters(keys: tuple[str, ...]) -> Callable[[Sample], bool]:
    return lambda sample: all(key in sample.status for key in keys)
