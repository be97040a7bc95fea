"""Defaults that servers size by other settings: what they become when those change.

Each formula is believed only where it explains what is there already: the running value, or else the default that an
untouched server of this version was asked for.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from advisor.model import Origin
from advisor.preflight.outlook import Outlook, whole
from advisor.upgrade.collations import default_of
from advisor.verdict.charsets import plain
from advisor.verdict.compare import same
from advisor.verdict.settings import SET

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from advisor.catalog.load import Catalog
    from advisor.model import Target
    from rules.known import Known

# Servers call it compiled in where a file sets it, and it follows the character set where none does.
MISTOLD = frozenset({"collation_server"})
MIB, GIB = 1 << 20, 1 << 30
LEAST_OPEN_FILES = 10  # InnoDB takes a smaller number for none
EVENTS = ("stages", "statements", "transactions", "waits")


class NotToldError(Exception):
    """The value moves, and only the server knows where to."""


class Inputs:
    """Other settings as a formula asks for them, which notes the names; ValueError for what is no number."""

    def __init__(self, texts: Callable[[str], str | None], catalog: Catalog) -> None:
        self._texts = texts
        self.catalog = catalog
        self.asked: list[str] = []

    def text(self, name: str) -> str:
        """A setting as SHOW GLOBAL VARIABLES prints it."""
        self.asked.append(name)
        text = self._texts(name)
        if text is None:
            raise ValueError(name)
        return text

    def __getitem__(self, name: str) -> int:
        number = whole(self.text(name))
        if number is None:
            raise ValueError(name)
        return number


Formula: TypeAlias = "Callable[[Inputs], int | str]"


def _host_cache(of: Inputs) -> int:
    connections = of["max_connections"]
    return min(2000, 128 + connections if connections <= 500 else 628 + (connections - 500) // 20)  # noqa: PLR2004


def _performance_schema(small: int, medium: int, large: int) -> Formula:
    def size(of: Inputs) -> int:
        default = 4000 if of.text("version").startswith(("8", "9")) else 2000
        load = max(of["max_connections"] / 151, of["table_definition_cache"] / 400, of["table_open_cache"] / default)
        return small if load <= 1 else medium if load <= 2 else large  # noqa: PLR2004 - twice the defaults

    return size


def _follows(name: str) -> Formula:
    return lambda of: of.text(name)


def _pool_instances(of: Inputs) -> int:
    return 8 if of["innodb_buffer_pool_size"] >= GIB else 1


def _chunk(of: Inputs) -> int:
    return min(128 * MIB, of["innodb_buffer_pool_size"] // of["innodb_buffer_pool_instances"])


def _collation(of: Inputs) -> str:
    """The default one of the character set, as far as it is known."""
    charset = of.text("character_set_server")
    known = default_of(plain(charset), of.catalog.target)
    own, collation = (of.catalog.get(name) for name in ("character_set_server", "collation_server"))
    if known is None and own and collation and own.default == charset and collation.default:
        return collation.default
    if known is None:
        raise NotToldError
    return known


def _open_files(of: Inputs) -> int:
    """As many as tables are kept open, where each has a file of its own."""
    return max(300, of["table_open_cache"]) if of.text("innodb_file_per_table") == "ON" else 300


def _switched(of: Inputs, name: str, word: str, switch: str, on: str = "ON") -> str:
    """A list that has one word while a switch stands so."""
    words = {part for part in of.text(name).split(",") if part and part != word}
    return ",".join(sorted({*words, word} if of.text(switch) == on else words))


def _disabled(of: Inputs) -> str:
    """The statements that the slow log leaves out; two of them have a switch of their own."""
    name = "log_slow_disabled_statements"
    admin = _switched(of, name, "admin", "log_slow_admin_statements", "OFF")
    replica = _switched(of, name, "slave", "log_slow_slave_statements", "OFF")
    return ",".join(sorted((({*admin.split(",")} - {"slave"}) | ({*replica.split(",")} & {"slave"})) - {""}))


def _somehow(name: str) -> Formula:
    """It moves with another setting, in a way that is the server's own."""

    def untold(of: Inputs) -> str:
        of.text(name)
        raise NotToldError

    return untold


BOTH: dict[str, Formula] = {
    "host_cache_size": _host_cache,
    "innodb_open_files": _open_files,
    "innodb_io_capacity_max": lambda of: max(2000, 2 * of["innodb_io_capacity"]),
    "character_set_client": _follows("character_set_server"),
    "character_set_connection": _follows("character_set_server"),
    "character_set_database": _follows("character_set_server"),
    "character_set_results": _follows("character_set_server"),
    "collation_server": _collation,
    "collation_connection": _follows("collation_server"),
    "collation_database": _follows("collation_server"),
    "max_insert_delayed_threads": _follows("max_delayed_threads"),
    "port": lambda of: 0 if of.text("skip_networking") == "ON" else 3306,
}
MYSQL: dict[str, Formula] = {
    "thread_cache_size": lambda of: min(100, 8 + of["max_connections"] // 100),
    "table_definition_cache": lambda of: min(2000, 400 + of["table_open_cache"] // 2),
    "read_only": lambda of: "ON" if of.text("super_read_only") == "ON" else "OFF",
    "innodb_buffer_pool_chunk_size": _chunk,
    "performance_schema_digests_size": _performance_schema(1000, 5000, 10000),
    **{f"performance_schema_events_{of}_history_size": _performance_schema(5, 10, 10) for of in EVENTS},
    **{f"performance_schema_events_{of}_history_long_size": _performance_schema(100, 1000, 10000) for of in EVENTS},
}
TO_57: dict[str, Formula] = {"back_log": lambda of: min(900, 50 + of["max_connections"] // 5)}
TO_80: dict[str, Formula] = {
    "innodb_buffer_pool_instances": _pool_instances,
    "innodb_page_cleaners": lambda of: min(4, of["innodb_buffer_pool_instances"]),
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
    "log_slow_filter": lambda of: _switched(of, "log_slow_filter", "not_using_index", "log_queries_not_using_indexes"),
    "log_slow_disabled_statements": _disabled,
    "innodb_adaptive_hash_index_cells": _somehow("innodb_buffer_pool_size"),
}
SINCE_114: dict[str, Formula] = {"innodb_buffer_pool_chunk_size": lambda of: of["innodb_buffer_pool_size"] // 64}


def formulas(target: Target) -> Mapping[str, Formula]:
    """The formulas of a server, in an order in which what a formula needs is sized before."""
    if target.is_mariadb:
        return {**MARIADB, **(SINCE_114 if target.since("mariadb", 11, 4) else {}), **BOTH}
    if not target.since("mysql", 8):
        return {**TO_80, **TO_57, **MYSQL, **BOTH}
    older = {} if target.since("mysql", 8, 4) else {**TO_80, **IN_80}
    return {**older, **MYSQL, **SINCE_80, **BOTH}


def size(views: dict[str, Outlook], now: Known) -> None:
    """Put in the values of those that nobody sets: they follow settings that change, or come back after a SET."""
    for name, formula in formulas(now.target).items():
        view = views.get(name)
        if view is not None and _is_left_to_the_server(name, view):
            views[name] = _sized(name, views, now, formula)


def _is_left_to_the_server(name: str, view: Outlook) -> bool:
    """Whether nobody sets it, or sets it to what counts as nothing."""
    if view.line is not None:
        return name == "innodb_open_files" and (whole(view.value) or 0) < LEAST_OPEN_FILES
    return view.source is Origin.COMPILED


def _sized(name: str, views: Mapping[str, Outlook], now: Known, formula: Formula) -> Outlook:
    """A default that stands is left alone until what it follows moves; one that was set over comes back by its formula.

    The server may have sized it by what its inputs were at its start, so that a formula which explains nothing is still
    believed where one of them was set since.
    """
    view, running = views[name], now.server.variables[name]
    if view.cause:
        return view
    before, explains = Inputs(now.server.variables.get, now.catalog), False
    with suppress(NotToldError):
        explains = _made(formula, before) == running
    moved = tuple(dict.fromkeys(n for n in before.asked if n in views and _moves(n, views, now)))
    try:
        made = _made(formula, Inputs(_next_text(views, now), now.catalog))
    except NotToldError:
        return view._replace(value=None, cause=moved) if moved else view._replace(value=running)
    if made is None:
        return view
    if not _stands(name, now):
        return view._replace(value=made, cause=moved if explains else ())
    believed = explains or any(_origin(n, now) is Origin.RUNTIME for n in moved)
    return view._replace(value=made, cause=moved) if moved and believed else view


def _next_text(views: Mapping[str, Outlook], now: Known) -> Callable[[str], str | None]:
    return lambda name: views[name].value if name in views else now.server.variables.get(name)


def _stands(name: str, now: Known) -> bool:
    """Whether the server says that nobody set the variable."""
    return bool(now.server.origins) and _origin(name, now) not in SET and name not in MISTOLD


def _origin(name: str, now: Known) -> Origin:
    setting = now.settings.get(name)
    return setting.origin if setting is not None else Origin.UNKNOWN


def _moves(name: str, views: Mapping[str, Outlook], now: Known) -> bool:
    after = views[name].value
    return after is None or not same(after, now.server.variables.get(name, ""))


def _made(formula: Formula, inputs: Inputs) -> str | None:
    """What the formula gives; None where an input is missing. Raises NotToldError."""
    try:
        return str(formula(inputs))
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
