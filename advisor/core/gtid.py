"""Sets of global transaction ids: MySQL's sets of intervals, and MariaDB's positions of domain, server and sequence."""

from __future__ import annotations

import re

from advisor.core import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Interval = tuple[int, int]  # first and last number, both included
# The intervals of each source, in order and apart from each other; a source is a UUID, or a UUID and a tag (uuid:tag).
GtidSet = dict[str, tuple[Interval, ...]]

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TAG = re.compile(r"[a-z_][a-z0-9_]{0,31}")
_INTERVAL = re.compile(r"([0-9]{1,19})(?:-([0-9]{1,19}))?")
_POSITION = re.compile(r"([0-9]{1,10})-([0-9]{1,10})-([0-9]{1,20})")


def parse_set(text: str) -> GtidSet | None:
    """MySQL's text of a set, with line breaks and tags (8.3 and later); None if it is not one."""
    by_source: dict[str, list[Interval]] = {}
    for part in filter(None, "".join(text.lower().split()).split(",")):
        uuid, *rest = part.split(":")
        if not _UUID.fullmatch(uuid) or not rest:
            return None
        source = uuid
        for word in rest:
            if match := _INTERVAL.fullmatch(word):
                first = int(match[1])
                by_source.setdefault(source, []).append((first, int(match[2] or first)))
            elif _TAG.fullmatch(word):
                source = f"{uuid}:{word}"
            else:
                return None
    return {source: _merge_intervals(intervals) for source, intervals in by_source.items()}


def _merge_intervals(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """The intervals in order; those that overlap or follow each other become one, and empty ones are left out."""
    merged: list[Interval] = []
    for first, last in sorted(one for one in intervals if one[0] <= one[1]):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)


def union(first: GtidSet, second: GtidSet) -> GtidSet:
    """The transactions that are in either set."""
    return {
        source: _merge_intervals((*first.get(source, ()), *second.get(source, ()))) for source in {**first, **second}
    }


def subtract(whole: GtidSet, part: GtidSet) -> GtidSet:
    """The transactions of `whole` that `part` lacks, as GTID_SUBTRACT() returns them."""
    left = {source: tuple(_without(intervals, part.get(source, ()))) for source, intervals in whole.items()}
    return {source: intervals for source, intervals in left.items() if intervals}


def _without(intervals: tuple[Interval, ...], others: tuple[Interval, ...]) -> Iterator[Interval]:
    """The parts of the intervals outside the others; both are in order, so each is passed once."""
    at = 0
    for first, last in intervals:
        while at < len(others) and others[at][1] < first:
            at += 1
        begin, look = first, at
        while look < len(others) and others[look][0] <= last:
            if begin < others[look][0]:
                yield begin, others[look][0] - 1
            begin = max(begin, others[look][1] + 1)
            look += 1
        if begin <= last:
            yield begin, last


def count(of: GtidSet) -> int:
    """The number of transactions in the set."""
    return sum(last - first + 1 for intervals in of.values() for first, last in intervals)


def of_server(of: GtidSet, uuid: str) -> GtidSet:
    """The transactions of one server, with any tag."""
    return {source: intervals for source, intervals in of.items() if source.partition(":")[0] == uuid.lower()}


def highest(of: GtidSet, source: str) -> int:
    """The highest number of a source; 0 if the set has none."""
    return of[source][-1][1] if of.get(source) else 0


def format_set(of: GtidSet) -> str:
    """The set in MySQL's notation: uuid:1-5:7, with the tag of a source before its intervals."""
    return ",".join(f"{source}:{':'.join(map(_interval_text, of[source]))}" for source in sorted(of))


def _interval_text(interval: Interval) -> str:
    first, last = interval
    return str(first) if first == last else f"{first}-{last}"


class Position(NamedTuple):
    """MariaDB's id of a transaction, and of the position after it: domain-server-sequence."""

    domain: int
    server: int
    sequence: int

    def __str__(self) -> str:
        return "-".join(map(str, self))


def parse_positions(text: str) -> tuple[Position, ...] | None:
    """MariaDB's list of positions, as in gtid_binlog_state; None if it is not one."""
    positions = []
    for part in filter(None, "".join(text.split()).split(",")):
        match = _POSITION.fullmatch(part)
        if match is None:
            return None
        positions.append(Position(*map(int, match.groups())))
    return tuple(positions)


def beyond(positions: Iterable[Position], others: Iterable[Position]) -> list[Position]:
    """The positions whose domain and server the others lack, or have only up to a lower sequence."""
    known = {(one.domain, one.server): one.sequence for one in others}
    return [one for one in positions if known.get((one.domain, one.server), -1) < one.sequence]
