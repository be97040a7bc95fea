"""Types for a comparison: sides, their settings and the differences; and when two values are equal."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from advisor.upgrade.keep import SAME, is_equivalent, is_flags
from advisor.verdict.settings import EXPLICIT_ORIGINS, NOTATIONS, normalise_value
from advisor.verdict.words import charset_of
from advisor.verdict.words import full_charset_name as charset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog import Catalog, Option
    from advisor.core.model import Location, Origin, Target
    from advisor.upgrade.change import Area


# Settings whose values are case-insensitive and unordered: names of objects that the servers know.
CASELESS_NAMES = (
    "character_set",
    "collation",
    "default_collation",
    "disabled_storage_engines",
    "lc_",
    "tls_version",
    "log_output",
)
ENGINES = "_engine"
TEXT = "string"
NUMBERS = frozenset({"int", "uint", "double"})
DIGITS = 40  # more than any number that a server prints


class SideKind(StrEnum):
    """The kind of a side."""

    FILE = "file"
    SERVER = "server"
    SNAPSHOT = "snapshot"
    DEFAULTS = "defaults"


RUNS = frozenset({SideKind.SERVER, SideKind.SNAPSHOT})


class SideSetting(NamedTuple):
    """The value of a variable on one side, or of an option without a variable.

    `value` is in the notation of SHOW GLOBAL VARIABLES, None if unknown: a default that depends on the host, or a
    template. `raw` is the value as written in a file. `shown` means that the server shows it as a variable.
    `converted_value` is the value in the other side's unit, if that has another name and unit for it. `by_host` says
    how the host affects a value that a file sets. `lower` is the lower bound of a formula's result, whose upper bound
    is then `value`. `unknown` says why the value is unknown, if it is neither a template nor left to the host.
    """

    name: str
    value: str | None
    origin: Origin
    location: Location | None = None
    raw: str | None = None
    option: Option | None = None
    shown: bool = True
    converted_value: str | None = None
    by_host: str = ""
    lower: str | None = None
    unknown: str = ""

    @property
    def is_set(self) -> bool:
        """Whether it is explicitly configured."""
        return self.origin in EXPLICIT_ORIGINS


class Side(NamedTuple):
    """One of the two sides; `settings` by variable, `name` as given by the user.

    `server_name` is the server's host name and `taken_at` when it was read, in UTC; both are empty for files and
    defaults. `document` is what a managed service calls the document of a side, such as DB parameter group; what it
    does not set is a default of the service.
    """

    kind: SideKind
    name: str
    catalog: Catalog
    settings: Mapping[str, SideSetting]
    server_name: str = ""
    taken_at: str = ""
    document: str = ""

    @property
    def target(self) -> Target:
        """Return the version and flavour."""
        return self.catalog.target

    @property
    def is_partial(self) -> bool:
        """Whether what is not set may be unknown, because a managed service has defaults of its own."""
        return bool(self.document)

    @property
    def names_set(self) -> frozenset[str]:
        """Return the settings that are explicitly configured."""
        return frozenset(name for name, setting in self.settings.items() if setting.is_set)

    @property
    def runs(self) -> bool:
        """Whether it is a server, live or from a snapshot, and so has all its variables."""
        return self.kind in RUNS


class Category(StrEnum):
    """The category of a pair of values; only DIFFERS alone makes two sides differ."""

    DIFFERS = "differs"
    BY_NATURE = "by nature"
    BY_HOST = "by host"
    UNDETERMINED = "not told"
    ALIKE = "alike"


class SettingPair(NamedTuple):
    """One setting on both sides, with its name on each; `other_names` are further names of it.

    `derived` means that neither side sets it explicitly and both have the same version: the host or other settings
    determine it. `reason` is why it cannot be compared, or how the host affects it.
    """

    name: str
    a: SideSetting
    b: SideSetting
    area: Area
    category: Category = Category.ALIKE
    other_names: tuple[str, ...] = ()
    derived: bool = False
    reason: str = ""


class OneSided(NamedTuple):
    """A setting that only one side has; `counts` says whether it makes the sides differ."""

    setting: SideSetting
    area: Area
    counts: bool


class Comparison(NamedTuple):
    """The result of a comparison: pairs, most important first, then the settings of one side only."""

    a: Side
    b: Side
    pairs: tuple[SettingPair, ...]
    only_a: tuple[OneSided, ...]
    only_b: tuple[OneSided, ...]
    not_shown: tuple[SideSetting, ...]

    def of(self, lot: Category) -> list[SettingPair]:
        """Return the pairs of one category."""
        return [pair for pair in self.pairs if pair.category is lot]

    def differs(self, *, by_nature: bool = False) -> bool:
        """Whether the sides differ; `by_nature` includes differences by nature."""
        lots = {Category.DIFFERS, *({Category.BY_NATURE} if by_nature else ())}
        alone = any(one.counts for one in (*self.only_a, *self.only_b))
        return alone or any(pair.category in lots for pair in self.pairs)


def values_equal(a: SideSetting, b: SideSetting) -> bool:
    """Whether both known values are equal, ignoring notation, order and case where they do not matter."""
    mine, other = a.converted_value or a.value or "", b.converted_value or b.value or ""
    if mine == other:
        return True
    if a.converted_value or b.converted_value:
        return _numbers_equal(mine, other)
    if a.option is None or b.option is None:
        return _numbers_equal(mine, other) or _texts_equal(b.name, mine, other)
    return _equal_by_kind(b.name, mine, other, (a.option, b.option))


def _equal_by_kind(name: str, mine: str, other: str, options: tuple[Option, Option]) -> bool:
    """Compare two values of options that are in the catalogs, by kind."""
    kinds = {option.kind for option in options}
    if is_flags(mine, options[0]) and is_flags(other, options[1]):
        return is_equivalent(mine, other, *options)
    if kinds == {TEXT}:
        return _texts_equal(name, mine, other) or (name in SAME and is_equivalent(mine, other, *options))
    if kinds <= NUMBERS and _number(mine) is not None and _number(other) is not None:
        return _numbers_equal(mine, other)
    return _numbers_equal(mine, other) or is_equivalent(mine, other, *options)


def _numbers_equal(mine: str, other: str) -> bool:
    one, two = _number(mine), _number(other)
    return one is not None and one == two


def _number(text: str) -> Decimal | None:
    if len(text) > DIGITS or not text[-1:].isdigit():
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _texts_equal(name: str, mine: str, other: str) -> bool:
    if name.startswith(CASELESS_NAMES) or name.endswith(ENGINES):
        return normalise_value(_utf8mb3(mine)) == normalise_value(_utf8mb3(other))
    if mine.upper() in NOTATIONS or other.upper() in NOTATIONS:
        return normalise_value(mine) == normalise_value(other)
    return _strip_slash(mine) == _strip_slash(other)


def _strip_slash(text: str) -> str:
    return text.rstrip("/") or text


def _utf8mb3(text: str) -> str:
    """Replace utf8 by utf8mb3, in collation names too."""
    first = charset_of(text)
    return charset(first) + text[len(first) :]


def is_completed_path(written: SideSetting, running: SideSetting) -> bool:
    """Whether the file's name or path is the end of the path that the server reports."""
    short = _strip_slash((written.value or "").removeprefix("./"))
    return bool(short) and _strip_slash(running.value or "").endswith(f"/{short}")
