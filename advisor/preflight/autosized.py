"""Defaults that servers derive from other settings, and their values when those change.

A formula is used only if it explains the present value: the running one, or else the default of this version as read
from a server without settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from advisor.core.model import Origin
from advisor.preflight.next_values import NextValue, parse_whole_number
from advisor.upgrade.defaults import default_collation
from advisor.verdict.settings import BOOLEANS, EXPLICIT_ORIGINS, is_same_value
from advisor.verdict.startup import LEAST_CAPACITY
from advisor.verdict.startup import find_running_values as started
from advisor.verdict.startup.host import CHUNK, FEW_FILES, INSTANCES, POOL
from advisor.verdict.words import full_charset_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from advisor.catalog.load import Catalog
    from advisor.core.model import Target
    from rules.core.context import RuleContext


# Servers report COMPILED even if a file sets it; if none does, it follows the character set.
MISREPORTED_ORIGINS = frozenset({"collation_server"})
EVENTS = ("stages", "statements", "transactions", "waits")
HELP_NOTATION = {shown: printed for printed, shown in BOOLEANS.items()}
CELL = 4096  # bytes of the pool per cell of MariaDB's adaptive hash index


class Inputs:
    """The input settings of a formula; records the names it reads. Raises ValueError if a value is not a number."""

    def __init__(self, texts: Callable[[str], str | None], is_set: Callable[[str], bool], catalog: Catalog) -> None:
        self._texts = texts
        self.is_set = is_set
        self.catalog = catalog
        self.asked: list[str] = []

    def text(self, name: str) -> str:
        """Return a setting as SHOW GLOBAL VARIABLES prints it."""
        self.asked.append(name)
        text = self._texts(name)
        if text is None:
            raise ValueError(name)
        return text

    def __getitem__(self, name: str) -> int:
        number = parse_whole_number(self.text(name))
        if number is None:
            raise ValueError(name)
        return number


Formula: TypeAlias = "Callable[[Inputs], int | str]"


def _host_cache(of: Inputs) -> int:
    connections = of["max_connections"]
    return min(2000, 128 + connections if connections <= 500 else 628 + (connections - 500) // 20)  # noqa: PLR2004


def _as_started(name: str, *given: str, if_set: Sequence[str] = ()) -> Formula:
    """Return a formula: the running value of an option at its default, given the other options."""

    def made(of: Inputs) -> str:
        option = of.catalog.get(name)
        if option is None or option.default is None:
            raise ValueError(name)
        texts = {other: of.text(other) for other in given}
        for other in if_set:
            of.asked.append(other)
            if of.is_set(other):
                texts[other] = of.text(other)
        values = {other: HELP_NOTATION.get(text, text) for other, text in texts.items()}
        values[name] = option.default
        return started(values, {}, of.catalog).get(name, option.default)

    return made


def _follows(name: str) -> Formula:
    return lambda of: of.text(name)


def _collation(of: Inputs) -> str:
    """Return the default collation of the character set."""
    return default_collation(full_charset_name(of.text("character_set_server")), of.catalog.target)


def _session_collation(of: Inputs) -> str:
    """Return collation_server; a SET of the character set changes this too, but servers do not report that."""
    of.text("character_set_server")
    return of.text("collation_server")


def _with_switch(of: Inputs, name: str, word: str, switch: str, on: str = "ON") -> str:
    """Return a list that contains a word only while a switch has the value `on`."""
    words = {part for part in of.text(name).split(",") if part and part != word}
    return ",".join(sorted({*words, word} if of.text(switch) == on else words))


def _disabled_statements(of: Inputs) -> str:
    """Return the statements excluded from the slow log; two of them have their own switch."""
    name = "log_slow_disabled_statements"
    admin = _with_switch(of, name, "admin", "log_slow_admin_statements", "OFF")
    replica = _with_switch(of, name, "slave", "log_slow_slave_statements", "OFF")
    return ",".join(sorted((({*admin.split(",")} - {"slave"}) | ({*replica.split(",")} & {"slave"})) - {""}))


MOST_ROWS = (1 << 64) - 1  # max_join_size without a limit
BOTH: dict[str, Formula] = {
    "host_cache_size": _host_cache,
    "innodb_open_files": _as_started("innodb_open_files", "table_open_cache", "innodb_file_per_table"),
    "innodb_io_capacity_max": lambda of: max(LEAST_CAPACITY, 2 * of["innodb_io_capacity"]),
    "character_set_client": _follows("character_set_server"),
    "character_set_connection": _follows("character_set_server"),
    "character_set_database": _follows("character_set_server"),
    "character_set_results": _follows("character_set_server"),
    "collation_server": _collation,
    "collation_connection": _session_collation,
    "collation_database": _session_collation,
    "max_insert_delayed_threads": _follows("max_delayed_threads"),
    "port": lambda of: 0 if of.text("skip_networking") == "ON" else 3306,
    "sql_big_selects": lambda of: "OFF" if of["max_join_size"] < MOST_ROWS else "ON",
}
# Inputs of MySQL's Performance Schema sizing, and the variables it sizes.
LOAD = ("max_connections", "table_definition_cache", "table_open_cache")
SIZED_BY_LOAD = (
    "performance_schema_digests_size",
    *(f"performance_schema_events_{of}_history{long}_size" for of in EVENTS for long in ("", "_long")),
)
MYSQL: dict[str, Formula] = {
    "thread_cache_size": lambda of: min(100, 8 + of["max_connections"] // 100),
    "table_definition_cache": lambda of: min(2000, 400 + of["table_open_cache"] // 2),
    "read_only": lambda of: "ON" if of.text("super_read_only") == "ON" else "OFF",
    POOL: _as_started(POOL, if_set=(CHUNK, INSTANCES)),
    CHUNK: _as_started(CHUNK, POOL, if_set=(INSTANCES,)),
    **{name: _as_started(name, *LOAD) for name in SIZED_BY_LOAD},
}
TO_57: dict[str, Formula] = {"back_log": lambda of: min(900, 50 + of["max_connections"] // 5)}
TO_80: dict[str, Formula] = {
    INSTANCES: _as_started(INSTANCES, POOL),
    "innodb_page_cleaners": _as_started("innodb_page_cleaners", POOL, if_set=(INSTANCES,)),
}
SINCE_80: dict[str, Formula] = {
    "log_slave_updates": _follows("log_bin"),
    "log_replica_updates": _follows("log_bin"),
}
IN_80: dict[str, Formula] = {"back_log": lambda of: min(65535, of["max_connections"])}
MARIADB: dict[str, Formula] = {
    **TO_57,
    "table_definition_cache": lambda _: 400,
    "thread_cache_size": lambda of: min(256, of["max_connections"]),
    "max_relay_log_size": _follows("max_binlog_size"),
    "log_slow_filter": lambda of: _with_switch(
        of, "log_slow_filter", "not_using_index", "log_queries_not_using_indexes"
    ),
    "log_slow_disabled_statements": _disabled_statements,
    "innodb_adaptive_hash_index_cells": lambda of: prime_near(of[POOL] // CELL),
}
IN_CHUNKS: dict[str, Formula] = {POOL: _as_started(POOL, if_set=(CHUNK,)), CHUNK: _as_started(CHUNK, POOL)}


def formulas(target: Target) -> Mapping[str, Formula]:
    """Return the formulas of a server, ordered so that inputs are computed first."""
    if target.is_mariadb:
        return {**IN_CHUNKS, **MARIADB, **BOTH}
    if not target.since("mysql", 8):
        return {**TO_80, **TO_57, **MYSQL, **BOTH}
    older = {} if target.since("mysql", 8, 4) else {**TO_80, **IN_80}
    return {**older, **MYSQL, **SINCE_80, **BOTH}


def size_defaults(views: dict[str, NextValue], now: RuleContext) -> None:
    """Compute the unset variables: they follow changed settings, or return to their defaults after a SET."""
    for name, formula in formulas(now.target).items():
        view = views.get(name)
        if view is not None and _is_left_to_the_server(name, view):
            views[name] = _size_default(name, views, now, formula)


def _is_left_to_the_server(name: str, view: NextValue) -> bool:
    """Whether it is unset, or set to a value that the server treats as unset."""
    if view.line is not None:
        return name == "innodb_open_files" and (parse_whole_number(view.value) or 0) < FEW_FILES
    return view.source is Origin.COMPILED


def _size_default(name: str, views: Mapping[str, NextValue], now: RuleContext, formula: Formula) -> NextValue:
    """Compute a default: it changes only if its inputs change; after a SET it returns to its formula.

    The server may have computed it from the inputs at its start. So a formula that does not explain the running value
    is still used if one of its inputs was set at run time.
    """
    view, running = views[name], now.server.variables[name]
    if view.cause:
        return view
    before = Inputs(now.server.variables.get, lambda n: _origin(n, now) in EXPLICIT_ORIGINS, now.catalog)
    explains = evaluate(formula, before) == running
    following = evaluate(formula, Inputs(_next_text(views, now), lambda n: views[n].line is not None, now.catalog))
    if following is None:
        return view
    moved = tuple(dict.fromkeys(n for n in before.asked if n in views and _changes(n, views, now)))
    if not _is_default(name, now):
        return view._replace(value=following, cause=moved if explains else ())
    reset = tuple(dict.fromkeys(n for n in before.asked if _origin(n, now) is Origin.RUNTIME))
    cause = moved or (reset if following != running else ())
    return view._replace(value=following, cause=cause) if cause and (explains or reset) else view


def _next_text(views: Mapping[str, NextValue], now: RuleContext) -> Callable[[str], str | None]:
    return lambda name: views[name].value if name in views else now.server.variables.get(name)


def _is_default(name: str, now: RuleContext) -> bool:
    """Whether the server reports the variable as a default."""
    return bool(now.server.origins) and _origin(name, now) not in EXPLICIT_ORIGINS and name not in MISREPORTED_ORIGINS


def _origin(name: str, now: RuleContext) -> Origin:
    setting = now.settings.get(name)
    return setting.origin if setting is not None else Origin.UNKNOWN


def _changes(name: str, views: Mapping[str, NextValue], now: RuleContext) -> bool:
    after = views[name].value
    return after is None or not is_same_value(after, now.server.variables.get(name, ""))


def evaluate(formula: Formula, inputs: Inputs) -> str | None:
    """Evaluate the formula; None if an input is missing."""
    try:
        return str(formula(inputs))
    except (KeyError, ValueError, ZeroDivisionError, OverflowError):
        return None


ROOM = 100
NEAR = 20  # a number closer than this below a power of two is increased
# Growth factors just above a power of two, just below one, and always.
ABOVE, BELOW, ALWAYS = 1.0412321, 1.1131347, 1.0132677


def prime_near(wanted: int) -> int:
    """Return a prime above `wanted` and not close to a power of two; matches the values of running servers."""
    number = wanted + ROOM
    power = 1 << (number - 1).bit_length() - 1
    if number < 1.05 * power:
        number = int(number * ABOVE)
    power *= 2
    if number > 0.95 * power:
        number = int(number * BELOW)
    if number > power - NEAR:
        number += 30
    number = int(number * ALWAYS)
    while not _is_prime(number):
        number += 1
    return number


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))
