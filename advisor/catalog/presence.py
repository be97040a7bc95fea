"""Other series, flavours, builds and platforms that have an option, similar names, and what an option does."""

from __future__ import annotations

import os

from advisor.core import NamedTuple, find_entry, read_file, read_text
from advisor.core.model import BUILDS, Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from advisor.catalog import Catalog, Option


_FILE = __file__.rpartition("/")[0] + "/data/elsewhere.json"
_TEXT: list[str] = []  # that of the file, once it was read
_VENDORS = __file__.rpartition("/")[0] + "/data/vendors.json"
_DOCUMENTED: dict[str, list[str]] = {}
_LISTED: dict[bool, list[str]] = {}  # their names by whether the target is MySQL
WINDOWS = "windows"
# Values that Percona Server documents (its thread pool, and InnoDB of 5.7), or that exist on Windows, for options that
# MySQL on Linux has without them.
VALUES: dict[str, dict[str, tuple[str, ...]]] = {
    "innodb_flush_method": {"all_o_direct": ("percona", "5.7"), "unbuffered": (WINDOWS,), "normal": (WINDOWS,)},
    "thread_handling": {"pool-of-threads": ("percona", "5.7", "8.0", "8.4")},
}


class KnownSpan(NamedTuple):
    """What is known of an option in one flavour.

    `first` and `last` are the oldest and newest examined versions that have it. The other fields come from the manuals:
    `gone` is the version that removed it, `came` the versions that introduced it, one per series, and `plugin` the
    plugin it belongs to. Statements about the past use `gone` and `came` only.
    """

    flavour: str
    first: str
    last: str
    gone: str | None = None
    came: tuple[str, ...] = ()
    plugin: str | None = None


class Presence(NamedTuple):
    """The flavours that know an option, and its documented replacement.

    `built` is the library that a server must be built with to have the option, None if every build has it.
    """

    name: str
    spans: tuple[KnownSpan, ...]
    replaced_by: str | None
    built: str | None = None

    def span(self, flavour: str) -> KnownSpan | None:
        """Return the span in one flavour; None if that flavour never had the option."""
        return next((s for s in self.spans if s.flavour == flavour), None)


def find_presence(name: str) -> Presence | None:
    """Return the flavours and versions that know an option of that canonical name; None if there are none."""
    if not _TEXT:
        _TEXT.append(read_text(_FILE))
    entry = find_entry(_TEXT[0], name)
    if entry is None:
        return None
    spans = tuple([_span(flavour, entry[flavour]) for flavour in ("mysql", "mariadb") if flavour in entry])
    return Presence(name, spans, entry.get("replaced_by"), entry.get("built"))


def _span(flavour: str, written: list[Any]) -> KnownSpan:
    """Read a span from the data file, which omits empty trailing fields."""
    first, last, gone, came, plugin = (*written, None, None, None)[:5]
    return KnownSpan(flavour, first, last, gone, tuple(came or ()), plugin)


class VendorBuild(NamedTuple):
    """The build that has an option: `build` is the vendor's server, empty for `windows`; `series` are the vendor's."""

    build: str
    series: tuple[str, ...]
    windows: bool = False

    def sentence(self, what: str, examined: Target) -> str:
        """Return a sentence on the build that has `what`, an option or its value, and on the examined server."""
        if self.windows:
            return f"{what} exists on Windows only; mycnf knows {examined.label} on Linux."
        return f"{self.vendor} documents {what}; MySQL Community {examined.number} does not have it."

    def describe(self, option: str) -> str:
        """The option with who has it, as part of a sentence."""
        return f"{option}, which {'exists on Windows only' if self.windows else f'{self.vendor} documents'}"

    @property
    def key(self) -> str:
        """The name of the build in a target, such as percona; empty if there is none."""
        return next((key for key, build in BUILDS.items() if build == self.build), "")

    @property
    def vendor(self) -> str:
        """Return the vendor's server and its series."""
        return f"{self.build} ({', '.join(self.series)})" if self.series else self.build


def vendor_of_option(name: str, target: Target) -> VendorBuild | None:
    """Who documents an option that the target's own catalog lacks; None where no other build or platform does."""
    if target.is_mysql and (name == "ndbcluster" or name.startswith("ndb_")):
        return VendorBuild("MySQL NDB Cluster", ())
    return _read_vendor(_documented_elsewhere().get(name), target)


def _documented_elsewhere() -> dict[str, list[str]]:
    """The options that only other builds or platforms have, by name, with the build and its series."""
    if not _DOCUMENTED:
        _DOCUMENTED.update(read_file(_VENDORS))
    return _DOCUMENTED


def _options_elsewhere(target: Target) -> list[str]:
    """The options that other builds or platforms than the target have, sorted.

    Listed once for each flavour: a file may be full of unknown names.
    """
    if target.is_mysql not in _LISTED:
        known = sorted(_documented_elsewhere())
        _LISTED[target.is_mysql] = [name for name in known if vendor_of_option(name, target) is not None]
    return _LISTED[target.is_mysql]


def vendor_of_value(option: str, value: str, target: Target) -> VendorBuild | None:
    """Return who documents a value that the target's option refuses; None if no other build does."""
    return _read_vendor(VALUES.get(option, {}).get(value.lower()), target)


def _read_vendor(entry: list[str] | tuple[str, ...] | None, target: Target) -> VendorBuild | None:
    if entry is None:
        return None
    build, *series = entry
    if build == WINDOWS:
        return VendorBuild("", (), windows=True)
    return VendorBuild(BUILDS[build], tuple(series)) if target.is_mysql else None


def nearest_option(name: str, catalog: Catalog) -> str | None:
    """Return the known option that a mistyped name most likely means; None if none is close enough.

    One edit per five characters is allowed, at most three; of equally close names the first alphabetically is taken.
    Otherwise it is the only option that starts with these words: older servers accepted such abbreviations.
    """
    allowed = _slips_allowed(name)
    near = _nearest_by_edits(name, catalog.names_of_similar_length(len(name), allowed), allowed + 1)
    return near or _only_one(catalog.names_starting_with(f"{name}_") if name else [])


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name that a mistyped one most likely means, by the same edits as options; None if none is close."""
    return _nearest_by_edits(name, sorted(names), _slips_allowed(name) + 1)


def nearest_vendor_option(name: str, target: Target, own: str | None) -> str | None:
    """The option of another build or platform that a mistyped name means; `own` is the target's nearest option.

    None where no such option is closer to the name than `own`.
    """
    limit = _slips_allowed(name) + 1
    if own is not None:
        limit = edit_distance(name, own, limit)
    listed = _options_elsewhere(target)
    near = _nearest_by_edits(name, listed, limit)
    if near or own or not name:
        return near
    return _only_one([option for option in listed if option.startswith(f"{name}_")])


def _slips_allowed(name: str) -> int:
    return min(3, max(1, len(name) // 5))


def _nearest_by_edits(name: str, candidates: list[str], limit: int) -> str | None:
    """The first of the candidates that the fewest slips turn into the name; None where all need `limit` or more."""
    best, nearest = limit, None
    distinct = set(name)
    letters = [(letter, name.count(letter)) for letter in distinct]
    for candidate in candidates:
        # From the cheapest look to the dearest: a file may be full of unknown names.
        if abs(len(candidate) - len(name)) >= best or len(distinct.difference(candidate)) >= best:
            continue
        if _count_lacking(letters, candidate) < best:
            slips = edit_distance(name, candidate, best)
            if slips < best:
                best, nearest = slips, candidate
    return nearest


def _only_one(names: list[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _count_lacking(letters: list[tuple[str, int]], candidate: str) -> int:
    """Return how many of the letters the candidate lacks: a cheap lower bound of the edit distance."""
    return sum(max(0, count - candidate.count(letter)) for letter, count in letters)


def edit_distance(name: str, other: str, limit: int) -> int:
    """Return the number of insertions, deletions, replacements and swaps of neighbours, at most `limit`."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(name, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and name[i - 2] == b:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) >= limit:
            return limit
    return min(limit, row[-1])


FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "descriptions")
_descriptions: dict[str, str] = {}  # all of them, once all were read
_texts: list[str] = []  # those of the files, for single options


def all_descriptions() -> dict[str, str]:
    """Return the descriptions by option name, with underscores."""
    if not _descriptions:
        import tomllib  # lint finds names in this module, and needs no description

        parsed = [tomllib.loads(lines) for lines in _read_descriptions()]
        _descriptions.update({name: text for file in parsed for name, text in file.items()})
    return _descriptions


def describe_option(name: str, option: Option | None = None) -> str:
    """Return the description of an option, or of the option that it is an alias of; empty if there is none."""
    return _find_description(name) or _find_description((option and option.alias_of) or "")


def _find_description(name: str) -> str:
    """Read one description by itself: to parse hundreds of them takes longer than the rest of `mycnf explain`."""
    if _descriptions:
        return _descriptions.get(name, "")
    import tomllib

    for lines in _read_descriptions() if name.isidentifier() else ():
        begin = lines.find(f"\n{name} = ")
        if begin >= 0:
            found: str = tomllib.loads(lines[begin : lines.index("\n", begin + 1)])[name]
            return found
    return ""


def _read_descriptions() -> list[str]:
    """Return the texts of the files, in which each option has a line."""
    if not _texts:
        texts = []
        for name in sorted(os.listdir(FOLDER)):
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                texts.append("\n" + file.read())
        _texts.extend(texts)
    return _texts
