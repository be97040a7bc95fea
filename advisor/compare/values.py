"""Two sides, what each holds, and in what they differ, as values."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from advisor.verdict.settings import EXPLICIT_ORIGINS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog.load import Catalog, Option
    from advisor.core.model import Location, Origin, Target
    from advisor.upgrade.change import Area


class SideKind(StrEnum):
    """What a side is."""

    FILE = "file"
    SERVER = "server"
    SNAPSHOT = "snapshot"
    DEFAULTS = "defaults"


RUNS = frozenset({SideKind.SERVER, SideKind.SNAPSHOT})


class SideSetting(NamedTuple):
    """What one side has of a variable, or of an option that is none.

    `value` is in the notation of SHOW GLOBAL VARIABLES, None if unknown: a default that the host decides,
    or a template. `raw` is the value as a file writes it. `shown` says that the server shows it as a variable.
    `value_there` is the value as the other side counts it, where that has another name and unit for it. `by_host` says
    what of the host has a say in a value that a file sets.
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

    @property
    def is_set(self) -> bool:
        """Whether it is explicitly configured."""
        return self.origin in EXPLICIT_ORIGINS


class Side(NamedTuple):
    """One of the two that are compared; `held` by variable, `name` as the user gave it.

    `called` is how a server calls itself and `taken_at` when it was read, in UTC; both are empty for what never ran.
    """

    kind: SideKind
    name: str
    catalog: Catalog
    settings: Mapping[str, SideSetting]
    server_name: str = ""
    taken_at: str = ""

    @property
    def target(self) -> Target:
        """The version and flavour."""
        return self.catalog.target

    @property
    def runs(self) -> bool:
        """Whether it is a server, running or recorded, which knows each of its variables."""
        return self.kind in RUNS


class Category(StrEnum):
    """Where a pair of values belongs; only the first makes two sides differ by themselves."""

    DIFFERS = "differs"
    BY_NATURE = "by nature"
    BY_HOST = "by host"
    UNDETERMINED = "not told"
    ALIKE = "alike"


class SettingPair(NamedTuple):
    """What both sides hold of one setting, under a name of its own on each; `also` are further names of it.

    `derived` says that neither side sets it explicitly, and both are of one version: their hosts or other settings made
    it. `reason` is why it can't be told whether both are alike, or what of the host decides.
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
    """What only one side knows; `counts` says whether that makes the sides differ."""

    setting: SideSetting
    area: Area
    counts: bool


class Comparison(NamedTuple):
    """All of it: pairs in the order in which they matter, then what only one side knows."""

    a: Side
    b: Side
    pairs: tuple[SettingPair, ...]
    only_a: tuple[OneSided, ...]
    only_b: tuple[OneSided, ...]
    not_shown: tuple[SideSetting, ...]

    def of(self, lot: Category) -> list[SettingPair]:
        """The pairs of one lot."""
        return [pair for pair in self.pairs if pair.category is lot]

    def differs(self, *, by_nature: bool = False) -> bool:
        """Whether the sides differ, by nature too where that is to count."""
        lots = {Category.DIFFERS, *({Category.BY_NATURE} if by_nature else ())}
        alone = any(one.counts for one in (*self.only_a, *self.only_b))
        return alone or any(pair.category in lots for pair in self.pairs)
