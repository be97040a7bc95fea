"""Options of other series and flavours, and names that look alike: asked only when a server doesn't know an option."""

import json
from typing import NamedTuple

from advisor.catalog.load import Catalog

_FILE = __file__.rpartition("/")[0] + "/data/elsewhere.json"
_KNOWN: dict[str, dict[str, list[str] | str]] = {}


class Span(NamedTuple):
    """The first and last version of a flavour known to have an option; `gone` is the one documented to remove it."""

    flavour: str
    first: str
    last: str
    gone: str | None


class Presence(NamedTuple):
    """Where an option is known, flavour by flavour, and what is documented to have replaced it."""

    name: str
    spans: tuple[Span, ...]
    replaced_by: str | None

    def span(self, flavour: str) -> Span | None:
        """The span in one flavour, or None where that flavour never had it."""
        return next((s for s in self.spans if s.flavour == flavour), None)


def known_elsewhere(name: str) -> Presence | None:
    """Which flavours and versions know an option of that canonical name; None where none does."""
    if not _KNOWN:
        with open(_FILE, encoding="utf-8") as f:
            _KNOWN.update(json.load(f))
    entry = _KNOWN.get(name)
    if entry is None:
        return None
    spans = [Span(f, v[0], v[1], v[2] if len(v) > 2 else None) for f in ("mysql", "mariadb") if (v := entry.get(f))]  # noqa: PLR2004
    return Presence(name, tuple(spans), str(entry["replaced_by"]) if "replaced_by" in entry else None)


def nearest(name: str, catalog: Catalog) -> str | None:
    """The known option that a mistyped name most likely means, or None where none is close enough.

    One slip in five characters is allowed, three at most; of equally close names the first by alphabet is taken.
    Else it is the only option whose first words these are: older servers took such abbreviations.
    """
    return _nearly(name, catalog) or _whole(name, catalog)


def _nearly(name: str, catalog: Catalog) -> str | None:
    allowed = min(3, max(1, len(name) // 5))
    best, found = allowed + 1, None
    distinct = set(name)
    letters = [(letter, name.count(letter)) for letter in distinct]
    for candidate in catalog.about_as_long(len(name), allowed):
        # From the cheapest look to the dearest: a file may be full of names that nobody knows.
        if abs(len(candidate) - len(name)) >= best or len(distinct.difference(candidate)) >= best:
            continue
        if _lacking(letters, candidate) < best:
            distance = _distance(name, candidate, best)
            if distance < best:
                best, found = distance, candidate
    return found


def _whole(name: str, catalog: Catalog) -> str | None:
    found = catalog.begun_by(f"{name}_") if name else []
    return found[0] if len(found) == 1 else None


def _lacking(letters: list[tuple[str, int]], candidate: str) -> int:
    """How many of the letters the candidate lacks: never more than the slips between both, and quickly counted."""
    return sum(max(0, count - candidate.count(letter)) for letter, count in letters)


def _distance(one: str, other: str, limit: int) -> int:
    """How many characters to insert, delete, replace or swap with a neighbour; `limit` where it is that or more."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) >= limit:
            return limit
    return min(limit, row[-1])
