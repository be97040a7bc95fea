"""Other names that a setting has on the other side, and settings that it counts in another unit."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from advisor.catalog.elsewhere import known_elsewhere
from advisor.optionfile import resolve
from advisor.preflight.outlook import MIRRORS
from advisor.upgrade.successor import CONVERTED, RENAMED_WORDS
from advisor.verdict import judge_file, take
from advisor.verdict.settings import notation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.catalog.load import Catalog
    from advisor.compare.values import Side, SideSetting

# Settings that a conversion of another one is made of, by the one that tells it.
CONVERTED_WITH = {"innodb_log_file_size": ("innodb_log_files_in_group",)}
CAPACITY = "innodb_redo_log_capacity"
# What the other server has in their place means another thing, or needs more than a number to be compared.
NOT_CONVERTED = frozenset({"default_authentication_plugin", "innodb_checksums", "innodb_log_files_in_group"})

# Variables without an option that begin as another one stands.
FOLLOWERS = {
    "character_set_client": "character_set_server",
    "character_set_connection": "character_set_server",
    "character_set_database": "character_set_server",
    "character_set_results": "character_set_server",
    "collation_connection": "collation_server",
    "collation_database": "collation_server",
}


def other_names(setting: SideSetting, side: Side, other: Side) -> Iterator[str]:
    """Names under which the other side may have the same setting, likeliest first."""
    name = setting.name
    own, theirs = side.catalog.find_variable(name), other.catalog.find_variable(name)
    presence = known_elsewhere(name)
    for option in (own, theirs):
        if option is not None:
            yield from (other for other in (option.alias_of, option.replaced_by) if other)
    if presence is not None and presence.replaced_by:
        yield presence.replaced_by
    yield from (mirror for root, mirrors in MIRRORS.items() for mirror in (root, *mirrors) if name in (root, *mirrors))
    yield from (name.replace(was, is_now) for was, is_now in RENAMED_WORDS if was in name)
    yield from _aliases(name, side.catalog)
    yield from _aliases(name, other.catalog)


@cache
def _by_root(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, raw in catalog.options.items():
        if raw.get("alias_of"):
            found[raw["alias_of"]] = (*found.get(raw["alias_of"], ()), name)
    return found


def _aliases(name: str, catalog: Catalog) -> tuple[str, ...]:
    return _by_root(catalog).get(name, ())


def root_of(name: str, catalog: Catalog) -> str:
    """The first name of a setting that has several."""
    option = catalog.get(name)
    if option is not None and option.alias_of:
        return option.alias_of
    if name in FOLLOWERS:
        return FOLLOWERS[name]
    return next((root for root, mirrors in MIRRORS.items() if name in mirrors and root in catalog.options), name)


def convert_unit(setting: SideSetting, side: Side, other: Side) -> tuple[str, SideSetting] | None:
    """The other side's name of a setting that it counts in another unit, and what is held with its value there.

    None where it has no such setting.
    """
    if (
        setting.name not in CONVERTED
        or setting.name in NOT_CONVERTED
        or setting.value is None
        or setting.option is None
    ):
        return None
    if setting.name == CAPACITY and other.target.is_mysql:
        return None  # told by the sizes of the other side's files
    names = (setting.name, *CONVERTED_WITH.get(setting.name, ()))
    values = {name: side.settings[name].value for name in names if name in side.settings}
    text = "\n".join(f"{name}={value}" for name, value in values.items() if value is not None)
    lines = f"[mysqld]\n{text}\n".encode("utf-8", "surrogateescape")
    verdict = judge_file(resolve([""], flavour=side.target.flavour, loader=lambda _: lines), side.catalog)
    line = verdict.effective.get(setting.name)
    made = CONVERTED[setting.name](line, verdict) if line is not None else None
    if made is None or made[0] not in other.settings:
        return None
    there = take(made[0], made[1], other.catalog)
    value = notation(there.option, there.value) if there.option else None
    return (made[0], setting._replace(converted_value=value)) if value is not None else None
