"""Settings that servers lower to fit the operating system's limit on open files.

Servers request as many files as connections and table caches may need, use what they get, and lower the settings to
that. All formulas were derived from running servers; tests check them against servers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Origin
from advisor.preflight.next_values import parse_whole_number
from advisor.verdict.settings import DEFAULT_CONNECTIONS, StartupSettings
from advisor.verdict.startup.host import (
    LEAST_TABLES,
    LEAST_TABLES_MARIADB,
    OTHERS,
    OTHERS_MARIADB,
    TABLE_INSTANCES,
)

if TYPE_CHECKING:
    from advisor.preflight.next_values import NextValue
    from advisor.preflight.start_command import StartCommand
    from rules.core.context import RuleContext

FILES = "open_files_limit"
CONNECTIONS = "max_connections"
TABLES = "table_open_cache"
INSTANCES = "table_open_cache_instances"
POOLED = "pool-of-threads"
MARIADB_LEAST_CONNECTIONS = 10
LARGEST = 1 << 32
UNLIMITED = 1 << 20


def apply_file_limits(views: dict[str, NextValue], now: RuleContext, command: StartCommand) -> None:
    """Lower the settings to the next start's limit; if the limit is unknown, so are the values that depend on it."""
    if not {FILES, CONNECTIONS, TABLES} <= views.keys():
        return
    compiled = {CONNECTIONS: DEFAULT_CONNECTIONS, TABLES: StartupSettings({}, {}, now.catalog).tables}
    for name, default in compiled.items():
        if views[name].value is None:
            views[name] = views[name]._replace(value=str(default))
    connections, tables = _number(views, CONNECTIONS), _number(views, TABLES)
    if connections is None or tables is None:
        return
    (_mariadb if now.target.is_mariadb else _mysql)(views, now, command, connections, tables)


def _mysql(views: dict[str, NextValue], now: RuleContext, command: StartCommand, connections: int, tables: int) -> None:
    asked = max(OTHERS + connections + 2 * tables, 5 * connections, _line_number(views, FILES) or 5000)
    granted = _granted_mysql(asked, now, command)
    _set_value(views, FILES, granted, now)
    room = min(granted, asked) if granted is not None else None
    if room is None:
        return
    fewer = min(connections, max(room - OTHERS - 2 * LEAST_TABLES, 1))
    if fewer < connections:
        _set_value(views, CONNECTIONS, fewer, now)
    left = max((room - OTHERS - fewer) // 2, LEAST_TABLES)
    if left < tables:
        _set_value(views, TABLES, left, now)


def _granted_mysql(asked: int, now: RuleContext, command: StartCommand) -> int | None:
    """Return MySQL's limit: it keeps a limit that is higher than requested."""
    running = _running_number(now, FILES)
    if command.limit is None:
        return running if running is not None and (asked <= running or _is_at_hard_limit(now, running)) else None
    soft, hard = (UNLIMITED if part is None else part for part in command.limit)
    if soft >= asked:
        return soft
    return asked if asked <= hard else soft


def _mariadb(
    views: dict[str, NextValue], now: RuleContext, command: StartCommand, connections: int, tables: int
) -> None:
    every = connections + (
        _number(views, "extra_max_connections") or _running_number(now, "extra_max_connections") or 1
    )
    line = _line_number(views, INSTANCES)
    instances = line or TABLE_INSTANCES
    asked = OTHERS_MARIADB + every + 2 * tables * instances + _thread_pool_files(views, now)
    asked = max(asked, 5 * every, _line_number(views, FILES) or 0)
    granted = _granted_mariadb(asked, now, command)
    _set_value(views, FILES, granted, now)
    if granted is None:
        return
    # If a difference is negative, the server computes with a huge unsigned number and lowers nothing.
    fitting = min(max(_tables_per_instance(granted - connections, max(tables, 1)), 1), instances)
    _set_value(views, INSTANCES, fitting, now)
    room = granted - OTHERS_MARIADB - 2 * LEAST_TABLES_MARIADB * fitting
    if 0 <= room < connections:
        connections = max(room, MARIADB_LEAST_CONNECTIONS)
        _set_value(views, CONNECTIONS, connections, now)
    left = max(_tables_per_instance(granted - connections, fitting), LEAST_TABLES_MARIADB)
    if left < tables:
        _set_value(views, TABLES, left, now)


def _tables_per_instance(files: int, among: int) -> int:
    """Return the number of tables, with two files each, that fit into the files left."""
    rest = files - OTHERS_MARIADB
    return rest // 2 // among if rest >= 0 else LARGEST


def _thread_pool_files(views: dict[str, NextValue], now: RuleContext) -> int:
    """Return the files for MariaDB's thread groups: one each, and only without pool-of-threads."""
    handling = views.get("thread_handling")
    if handling is None or handling.value == POOLED:
        return 0
    return _number(views, "thread_pool_size") or _running_number(now, "thread_pool_size") or 0


def _granted_mariadb(asked: int, now: RuleContext, command: StartCommand) -> int | None:
    """Return MariaDB's limit: it uses no more than it requests."""
    running = _running_number(now, FILES)
    if command.limit is not None:
        hard = UNLIMITED if command.limit[1] is None else command.limit[1]
        return min(asked, hard)
    if running is None:
        return None
    return asked if asked <= running else running if _is_at_hard_limit(now, running) else None


def _is_at_hard_limit(now: RuleContext, running: int) -> bool:
    """Whether the process runs at its hard limit, which a new process will reach again."""
    process = now.host.process if now.has("host") else None
    limit = process.limit("nofile") if process else None
    return limit is not None and limit.hard == running


def _set_value(views: dict[str, NextValue], name: str, value: int | None, now: RuleContext) -> None:
    """Set a computed value; an unknown one leaves the running value for defaults and for open_files_limit."""
    view = views[name]
    if value is None:
        if view.source is not Origin.COMPILED or name == FILES:
            views[name] = view._replace(value=now.server.variables[name])
    else:
        views[name] = view._replace(value=str(value), limited=view.line is not None and view.value != str(value))


def _number(views: dict[str, NextValue], name: str) -> int | None:
    view = views.get(name)
    return parse_whole_number(view.value) if view is not None else None


def _line_number(views: dict[str, NextValue], name: str) -> int | None:
    """Return the number that a line sets; None for a default."""
    view = views.get(name)
    return parse_whole_number(view.value) if view is not None and view.line is not None else None


def _running_number(now: RuleContext, name: str) -> int | None:
    return parse_whole_number(now.server.variables.get(name))
