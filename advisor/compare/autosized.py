"""Defaults that go by what a file sets: the formulas of the next start, and bounds that are lower than a default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.preflight.autosized import Inputs, evaluate, formulas
from advisor.verdict.effects import CONNECTIONS, DAY, DAYS, SECONDS
from advisor.verdict.settings import notation
from advisor.verdict.startup import StartupSettings, running

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog.load import Catalog
    from advisor.compare.values import SideSetting
    from advisor.preflight.autosized import Formula

# What a server lowers to another setting, though no line sets it.
BOUNDS = {
    "binlog_cache_size": "max_binlog_cache_size",
    "binlog_stmt_cache_size": "max_binlog_stmt_cache_size",
    "innodb_io_capacity": "innodb_io_capacity_max",
    "innodb_max_dirty_pages_pct_lwm": "innodb_max_dirty_pages_pct",
}


def apply_formulas(held: Mapping[str, SideSetting], catalog: Catalog) -> dict[str, SideSetting]:
    """The same with the defaults that follow what is set; one whose formula explains no default is left alone."""
    found = apply_bounds(held, catalog)
    if catalog.target.is_mariadb:
        _sync_binlog_expiry(found)
    for name, formula in formulas(catalog.target).items():
        mine = found.get(name)
        if mine is not None and not mine.is_set:
            value = _formula_value(mine, found, formula, catalog)
            found[name] = mine if value is None else mine._replace(value=value)
    return found


def apply_bounds(held: Mapping[str, SideSetting], catalog: Catalog) -> dict[str, SideSetting]:
    """The same with the defaults that are lowered to a bound which is set."""
    found = dict(held)
    for name, bound in BOUNDS.items():
        mine, most = held.get(name), held.get(bound)
        if mine is not None and most is not None and most.is_set and not mine.is_set and mine.value and most.value:
            after = running({name: mine.value, bound: most.value}, {}, catalog)
            found[name] = mine._replace(value=after.get(name, mine.value))
    return found


def _sync_binlog_expiry(held: dict[str, SideSetting]) -> None:
    """MariaDB's age of binary logs in days and in seconds is one setting under two names."""
    days, seconds = held.get(DAYS), held.get(SECONDS)
    if days is None or seconds is None or days.is_set == seconds.is_set:
        return
    if days.is_set and days.value:
        held[SECONDS] = seconds._replace(value=str(round(float(days.value) * DAY)))
    elif seconds.is_set and seconds.value:
        held[DAYS] = days._replace(value=f"{int(seconds.value) / DAY:.6f}")


def _formula_value(
    mine: SideSetting, held: Mapping[str, SideSetting], formula: Formula, catalog: Catalog
) -> str | None:
    def text(name: str) -> str | None:
        value = held[name].value if name in held else None
        return _default_value(name, catalog) if value is None else value

    before = evaluate(formula, Inputs(lambda name: _default_value(name, catalog), lambda _: False, catalog))
    if before is None or before != _default_value(mine.name, catalog):
        return None
    return evaluate(formula, Inputs(text, lambda name: name in held and held[name].is_set, catalog))


def _default_value(name: str, catalog: Catalog) -> str | None:
    """What an untouched server has, as long as its host has files enough."""
    option = catalog.find_variable(name)
    if option is None:
        return None
    compiled = {"max_connections": CONNECTIONS, "table_open_cache": StartupSettings({}, {}, catalog).tables}
    if option.default is None and name in compiled:
        return str(compiled[name])
    return option.running if option.running is not None else notation(option, option.default)
