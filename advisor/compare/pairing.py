"""Pairs the settings of two sides: by name, by another name, or by a converted unit."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog.presence import find_presence
from advisor.optionfile import resolve
from advisor.preflight.next_values import MIRRORS
from advisor.verdict import judge_file, judge_value
from advisor.verdict.settings import as_variable
from advisor.verdict.successors import TERM_PAIRS, find_successor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.catalog import Catalog
    from advisor.compare.values import Side, SideSetting


CAPACITY = "innodb_redo_log_capacity"
# Settings whose counterpart has another unit and the same meaning.
CONVERTED = frozenset({"expire_logs_days", "innodb_log_file_size", "log_warnings", CAPACITY})
# Settings that are inputs of another setting's conversion.
CONVERTED_WITH = {"innodb_log_file_size": ("innodb_log_files_in_group",)}

# Variables without an option that start with the value of another one.
FOLLOWERS = {
    "character_set_client": "character_set_server",
    "character_set_connection": "character_set_server",
    "character_set_database": "character_set_server",
    "character_set_results": "character_set_server",
    "collation_connection": "collation_server",
    "collation_database": "collation_server",
}


def other_names(setting: SideSetting, side: Side, other: Side) -> Iterator[str]:
    """Yield names under which the other side may have the same setting, most likely first."""
    name = setting.name
    own, theirs = side.catalog.find_variable(name), other.catalog.find_variable(name)
    presence = find_presence(name)
    for option in (own, theirs):
        if option is not None:
            yield from (other for other in (option.alias_of, option.replaced_by) if other)
    if presence is not None and presence.replaced_by:
        yield presence.replaced_by
    yield from (mirror for root, mirrors in MIRRORS.items() for mirror in (root, *mirrors) if name in (root, *mirrors))
    yield from (name.replace(was, is_now) for was, is_now in TERM_PAIRS if was in name)
    yield from _aliases(name, side.catalog)
    yield from _aliases(name, other.catalog)


@cache
def _by_root(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    aliases: dict[str, tuple[str, ...]] = {}
    for name, raw in catalog.options.items():
        if raw.get("alias_of"):
            aliases[raw["alias_of"]] = (*aliases.get(raw["alias_of"], ()), name)
    return aliases


def _aliases(name: str, catalog: Catalog) -> tuple[str, ...]:
    return _by_root(catalog).get(name, ())


def root_of(name: str, catalog: Catalog) -> str:
    """Return the primary name of a setting with several names."""
    option = catalog.get(name)
    if option is not None and option.alias_of:
        return option.alias_of
    if name in FOLLOWERS:
        return FOLLOWERS[name]
    return next((root for root, mirrors in MIRRORS.items() if name in mirrors and root in catalog.options), name)


def convert_unit(setting: SideSetting, side: Side, other: Side) -> tuple[str, SideSetting] | None:
    """Convert a setting to the name and unit of the other side.

    Returns the name and the setting with its converted value; None if the other side has no such setting.
    """
    if setting.name not in CONVERTED or setting.value is None or setting.option is None:
        return None
    if setting.name == CAPACITY and other.target.is_mysql:
        return None  # covered by the other side's file sizes
    names = (setting.name, *CONVERTED_WITH.get(setting.name, ()))
    values = {name: side.settings[name].value for name in names if name in side.settings}
    text = "\n".join(f"{name}={value}" for name, value in values.items() if value is not None)
    lines = f"[mysqld]\n{text}\n".encode("utf-8", "surrogateescape")
    read = resolve([""], flavour=side.target.flavour, loader=lambda _: lines)
    line = next(placed.line for placed in read.options if placed.line.name == setting.name)
    found = find_successor(setting.name, line, judge_file(read, other.catalog), side.target)
    name, text = found.lines[0] if found is not None and found.lines else ("", "")
    if name not in other.settings:
        return None
    there = judge_value(name, text, other.catalog)
    value = as_variable(there.option, there.value) if there.option else None
    return (name, setting._replace(converted_value=value)) if value is not None else None


class PairedSettings(NamedTuple):
    """The pairs, each with further names that both sides have for it, and the settings without a partner."""

    pairs: dict[str, tuple[SideSetting, SideSetting]]
    other_names: dict[str, tuple[str, ...]]
    only_a: dict[str, SideSetting]
    only_b: dict[str, SideSetting]


def pair_settings(a: Side, b: Side) -> PairedSettings:
    """Pair every setting of both sides once, under the primary name that both sides have."""
    pairs = {name: (setting, b.settings[name]) for name, setting in a.settings.items() if name in b.settings}
    only_a = {name: setting for name, setting in a.settings.items() if name not in pairs}
    only_b = {name: setting for name, setting in b.settings.items() if name not in pairs}
    paired = PairedSettings(pairs, {}, only_a, only_b)
    for setting in list(only_a.values()):
        _pair_renamed(setting, a, b, paired)
    for setting in list(only_b.values()):
        if any(other in a.settings for other in other_names(setting, b, a)):
            del only_b[setting.name]  # another name of a pair that exists already
    _pair_converted(a, b, paired)
    merged, also = _merge_other_names(pairs, b)
    return PairedSettings(merged, also, only_a, only_b)


def _pair_renamed(setting: SideSetting, a: Side, b: Side, paired: PairedSettings) -> None:
    """Pair a setting of the first side that has another name on the second."""
    there = next(
        (n for n in other_names(setting, a, b) if n in b.settings and _are_same_kind(setting, b.settings[n])), None
    )
    if there is None:
        return
    del paired.only_a[setting.name]
    if there in paired.only_b:
        paired.pairs[there] = (setting, paired.only_b.pop(there))


def _are_same_kind(mine: SideSetting, other: SideSetting) -> bool:
    """Whether both have compatible kinds, so that a replacement name means the same setting."""
    if mine.option is None or other.option is None:
        return mine.option is other.option
    kinds = {mine.option.kind, other.option.kind}
    return len(kinds) == 1 or kinds <= {"int", "uint", "double"} or kinds <= {"bool", "enum"}


def _pair_converted(a: Side, b: Side, paired: PairedSettings) -> None:
    for setting in list(paired.only_a.values()):
        made = convert_unit(setting, a, b)
        if made is not None and made[0] in paired.only_b:
            _remove_converted(setting, paired.only_a)
            paired.pairs[made[0]] = (made[1], paired.only_b.pop(made[0]))
    for setting in list(paired.only_b.values()):
        made = convert_unit(setting, b, a)
        if made is not None and made[0] in paired.only_a:
            _remove_converted(setting, paired.only_b)
            paired.pairs[made[0]] = (paired.only_a.pop(made[0]), made[1])


def _remove_converted(setting: SideSetting, lone: dict[str, SideSetting]) -> None:
    """Remove a converted setting and the inputs of its conversion."""
    for name in (setting.name, *CONVERTED_WITH.get(setting.name, ())):
        lone.pop(name, None)


def _merge_other_names(
    pairs: dict[str, tuple[SideSetting, SideSetting]], b: Side
) -> tuple[dict[str, tuple[SideSetting, SideSetting]], dict[str, tuple[str, ...]]]:
    """Merge pairs for several names of a setting, if each side has the same value under all of them."""
    groups: dict[str, list[str]] = {}
    for name in pairs:
        groups.setdefault(root_of(name, b.catalog), []).append(name)
    merged, also = {}, {}
    for root, names in groups.items():
        first = root if root in names else names[0]
        others = [name for name in names if name != first]
        if _agree(pairs[name] for name in names):
            merged[first] = _with_explicit_origin(pairs[first], [pairs[name] for name in others])
            also[first] = tuple(sorted(others))
        else:
            merged.update({name: pairs[name] for name in names})
    return merged, also


def _agree(several: Iterable[tuple[SideSetting, SideSetting]]) -> bool:
    values = {(mine.value, other.value) for mine, other in several}
    return len(values) == 1


def _with_explicit_origin(
    first: tuple[SideSetting, SideSetting], others: list[tuple[SideSetting, SideSetting]]
) -> tuple[SideSetting, SideSetting]:
    """Return the pair with each side's explicitly set setting: servers report the origin under one name only."""
    chosen = [
        next((one for one in (first[side], *(other[side] for other in others)) if one.is_set), first[side])
        for side in (0, 1)
    ]
    return chosen[0], chosen[1]
