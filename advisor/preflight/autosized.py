"""Values that servers derive from other settings, and what they become when those change.

A formula is used only if it explains the present value: the running one, or else the default of this version as read
from a server without settings.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, TypeAlias

from advisor.core.model import Origin
from advisor.preflight.next_values import (
    HOST_DEFAULTS,
    SESSION_DEFAULTS,
    NextValue,
    option_of,
    origin_of,
    parse_whole_number,
    reported_origin,
)
from advisor.upgrade.defaults import default_collation
from advisor.verdict import judge_value
from advisor.verdict.settings import BOOLEANS, EXPLICIT_ORIGINS, NO_DEFAULT, as_variable, is_same_value
from advisor.verdict.special import HOST_BINLOG
from advisor.verdict.startup import LEAST_CAPACITY
from advisor.verdict.startup import find_running_values as started
from advisor.verdict.startup.host import CHUNK, FEW_FILES, INSTANCES, POOL
from advisor.verdict.words import full_charset_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from advisor.catalog import Catalog, Option
    from advisor.core.model import Target
    from advisor.verdict import LineVerdict
    from rules.core.context import RuleContext


# Servers report COMPILED even if a file sets it; if none does, it follows the character set.
COLLATION = "collation_server"
EVENTS = ("stages", "statements", "transactions", "waits")
HELP_NOTATION = {shown: printed for printed, shown in BOOLEANS.items()}
CELL = 4096  # bytes of the pool per cell of MariaDB's adaptive hash index
BINARY, RELAY = "log_bin", "relay_log"
SCHEMA = "performance_schema"
QUERY_LOGS = {"general_log_file": ".log", "slow_query_log_file": "-slow.log", "log_slow_query_file": "-slow.log"}
DAYS, SECONDS, DAY = "expire_logs_days", "binlog_expire_logs_seconds", 86400

EVENT_SIZES = tuple(f"events_{of}_history{long}_size" for of in ("stages", "statements", "transactions", "waits")
               for long in ("", "_long"))  # fmt: skip

# Variables that MariaDB shows as -1 while the Performance Schema is off; others keep their value.
SIZED_WHEN_ON = frozenset(f"{SCHEMA}_{name}" for name in ("digests_size", "session_connect_attrs_size", *EVENT_SIZES))

NOT_ZERO = frozenset(
    f"performance_schema_{name}" for name in ("error_size", "max_digest_sample_age", "show_processlist")
)


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


def _io_capacity_max(of: Inputs) -> int:
    """Twice the rate; before MySQL 8.4 and on MariaDB at least 2000."""
    least = 0 if of.catalog.target.since("mysql", 8, 4) else LEAST_CAPACITY
    return max(least, 2 * of["innodb_io_capacity"])


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
    return of.text(COLLATION)


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
    "innodb_io_capacity_max": _io_capacity_max,
    "character_set_client": _follows("character_set_server"),
    "character_set_connection": _follows("character_set_server"),
    "character_set_database": _follows("character_set_server"),
    "character_set_results": _follows("character_set_server"),
    COLLATION: _collation,
    "collation_connection": _session_collation,
    "collation_database": _session_collation,
    "max_insert_delayed_threads": _follows("max_delayed_threads"),
    "port": lambda of: 0 if of.text("skip_networking") == "ON" else 3306,
    "report_port": _follows("port"),
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


def is_source_known(name: str, line: LineVerdict | None, now: RuleContext) -> bool:
    """Whether the source of a running value is known: reported, or, on a server that reports none, shown by the files.

    Such a value is of unknown source if it is neither that of the line nor a default that every start has: it was set
    at run time, or its line was changed or removed.
    """
    option, running = option_of(name, now.catalog), now.server.variables.get(name)
    origin = origin_of(name, now)
    if now.server.origins or option is None or running is None:
        return True
    if origin is Origin.COMMAND_LINE:
        given = _argument_value(option, now) if option.dynamic else None
        return given is None or is_same_value(as_variable(option, given) or "", running)
    if origin is Origin.FILE:
        made = None if line is None else line.running if line.running is not None else line.value
        return made is not None and is_same_value(as_variable(option, made) or "", running)
    default = SESSION_DEFAULTS.get(name) or as_variable(option, option.default)
    derived = option.host or option.running is not None or name in HOST_DEFAULTS or name in formulas(now.target)
    return default is None or derived or not option.dynamic or is_same_value(default, running)


def _argument_value(option: Option, now: RuleContext) -> str | None:
    """The value of an option in the running server's arguments; None without one."""
    words = (word.lstrip("-").partition("=") for word in (now.files.command_line if now.has("files") else ()))
    values = [value for name, equals, value in words if equals and name.replace("-", "_") == option.name]
    return judge_value(option.name, values[-1], now.catalog).value if values else None


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
    before = Inputs(now.server.variables.get, lambda n: reported_origin(n, now) in EXPLICIT_ORIGINS, now.catalog)
    explains = evaluate(formula, before) == running
    following = evaluate(formula, Inputs(_next_text(views, now), lambda n: views[n].line is not None, now.catalog))
    if following is None:
        return view
    moved = tuple(dict.fromkeys(n for n in before.asked if n in views and _changes(n, views, now)))
    if not _is_default(name, now):
        return view._replace(value=following, cause=moved if explains else ())
    reset = tuple(dict.fromkeys(n for n in before.asked if reported_origin(n, now) is Origin.RUNTIME))
    cause = moved or (reset if following != running else ())
    return view._replace(value=following, cause=cause) if cause and (explains or reset) else view


def _next_text(views: Mapping[str, NextValue], now: RuleContext) -> Callable[[str], str | None]:
    return lambda name: views[name].value if name in views else now.server.variables.get(name)


def _is_default(name: str, now: RuleContext) -> bool:
    """Whether the server reports the variable as a default."""
    return bool(now.server.origins) and reported_origin(name, now) not in EXPLICIT_ORIGINS and name != COLLATION


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


def apply_coupled_values(views: dict[str, NextValue], now: RuleContext) -> None:
    """Apply values derived from log names, and MariaDB's query cache, which a size switches on."""
    if RELAY in views:
        _update_relay_log(views, now)
    for log in (BINARY, RELAY):
        if f"{log}_basename" in views:
            _update_log_names(log, views, now)
    _update_performance_schema(views, now)
    _update_query_logs(views, now)
    _sync_binlog_expiry(views, now)
    if now.target.is_mariadb and "query_cache_type" in views:
        size = views.get("query_cache_size")
        on = size is not None and size.line is not None and size.value not in (None, "0")
        _set_value(views, "query_cache_type", "ON" if on else "OFF", "query_cache_size", now)


def _update_performance_schema(views: dict[str, NextValue], now: RuleContext) -> None:
    """Sizes are 0 if it is off, some -1 on MariaDB; if it gets switched on, the server chooses them (unknown)."""
    view, running = views.get(SCHEMA), now.server.variables
    stays_off = view is not None and now.target.is_mysql and view.value == running[SCHEMA] == "OFF"
    if view is None or view.value is None or (view.value == running[SCHEMA] and not stays_off):
        return
    for name, size in views.items():
        numeric = name.startswith(f"{SCHEMA}_") and running[name].lstrip("-").isdecimal()
        if name in SIZED_WHEN_ON or (numeric and now.target.is_mysql and name not in NOT_ZERO):
            if view.value == "OFF" and (now.target.is_mysql or size.line is None):
                views[name] = size._replace(value="0" if now.target.is_mysql else "-1", cause=(SCHEMA,))
            elif size.line is None:
                views[name] = size._replace(value=None, cause=(SCHEMA,))


def _update_query_logs(views: dict[str, NextValue], now: RuleContext) -> None:
    """Query logs are named after the host; MySQL prepends the data directory."""
    host, folder = (now.server.variables.get(name, "") for name in ("hostname", "datadir"))
    for name, ending in QUERY_LOGS.items():
        view = views.get(name)
        if view is not None and view.value is None and view.line is None and host and "." not in host:
            views[name] = view._replace(value=f"{'' if now.target.is_mariadb else folder}{host}{ending}")


def _sync_binlog_expiry(views: dict[str, NextValue], now: RuleContext) -> None:
    """MariaDB's binary log expiry in days and in seconds is one setting: one that is set determines the other."""
    days, seconds = views.get(DAYS), views.get(SECONDS)
    if not now.target.is_mariadb or days is None or seconds is None:
        return
    for name, other in ((DAYS, SECONDS), (SECONDS, DAYS)):
        source = views[name]
        setting = now.settings.get(name)
        moved = source.line is not None or (setting is not None and setting.origin in EXPLICIT_ORIGINS)
        text = _convert_expiry(source.value, to_days=other == DAYS) if moved and views[other].line is None else None
        if text is not None:
            views[other] = views[other]._replace(value=text, cause=(name,))


def _convert_expiry(value: str | None, *, to_days: bool) -> str | None:
    try:
        number = float(value or "")
        return f"{number / DAY:.6f}" if to_days else str(round(number * DAY))
    except (ValueError, OverflowError):
        return None


def _update_relay_log(views: dict[str, NextValue], now: RuleContext) -> None:
    """Unset, it gets the host name in MySQL 8 and later, and is empty otherwise."""
    view = views[RELAY]
    if view.line is None and view.value is None:
        host = now.server.variables.get("hostname", "")
        named = now.target.since("mysql", 8)
        if not named or (host and "." not in host):
            views[RELAY] = view._replace(value=f"{host}-relay-bin" if named else "")


def _update_log_names(log: str, views: dict[str, NextValue], now: RuleContext) -> None:
    """Update the log's base name and its index."""
    running = now.server.variables
    name = _log_name(log, views[log], now)
    if name is None or not _is_renamed(log, name, views[log], now):
        return
    path = posixpath.join(running.get("datadir", ""), name) if name else ""
    _set_value(views, f"{log}_basename", path, log, now)
    _set_value(views, f"{log}_index", f"{path}.index" if path else "", log, now)


def _log_name(log: str, view: NextValue, now: RuleContext) -> str | None:
    """Return the configured or default name, empty for no log; None if only the server knows it."""
    host = now.server.variables.get("hostname", "")
    if log == RELAY:
        unnamed = f"{host}-relay-bin" if host and "." not in host else None
        return view.value if view.value or now.target.is_mariadb else unnamed
    if view.value == "OFF":
        return ""
    value = view.line.value if view.line else "binlog" if now.target.since("mysql", 8) else None
    return None if value in (None, "", "0", NO_DEFAULT, HOST_BINLOG) else value


def _is_renamed(log: str, name: str, view: NextValue, now: RuleContext) -> bool:
    """Whether the name differs from the running one; an unchanged default keeps the server's own name."""
    base = posixpath.basename(now.server.variables[f"{log}_basename"])
    if view.line is None and view.value == now.server.variables.get(log) and log == RELAY:
        return False
    return posixpath.basename(name) != base


def _set_value(views: dict[str, NextValue], name: str, value: str, cause: str, now: RuleContext) -> None:
    """Set the value of a variable that no line sets."""
    view = views.get(name)
    if view is not None and view.line is None and view.source is Origin.COMPILED:
        moves = value != now.server.variables[name]
        views[name] = view._replace(value=value, cause=(cause,) if moves else ())
