"""Values that follow from another option being set, or from the name it is set to."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from advisor.core.model import Origin
from advisor.verdict.settings import EXPLICIT_ORIGINS
from advisor.verdict.special import HOST_BINLOG, NO_DEFAULT

if TYPE_CHECKING:
    from advisor.preflight.next_values import NextValue
    from rules.core.context import RuleContext

BINARY, RELAY = "log_bin", "relay_log"
SCHEMA = "performance_schema"
QUERY_LOGS = {"general_log_file": ".log", "slow_query_log_file": "-slow.log", "log_slow_query_file": "-slow.log"}
DAYS, SECONDS, DAY = "expire_logs_days", "binlog_expire_logs_seconds", 86400
EVENTS = tuple(f"events_{of}_history{long}_size" for of in ("stages", "statements", "transactions", "waits")
               for long in ("", "_long"))  # fmt: skip
# Variables that MariaDB shows as -1 while the Performance Schema is off; others keep their value.
SIZED_WHEN_ON = frozenset(f"{SCHEMA}_{name}" for name in ("digests_size", "session_connect_attrs_size", *EVENTS))
NOT_ZERO = frozenset(
    f"performance_schema_{name}" for name in ("error_size", "max_digest_sample_age", "show_processlist")
)


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
    for one, other in ((DAYS, SECONDS), (SECONDS, DAYS)):
        source = views[one]
        setting = now.settings.get(one)
        moved = source.line is not None or (setting is not None and setting.origin in EXPLICIT_ORIGINS)
        text = _converted(source.value, to_days=other == DAYS) if moved and views[other].line is None else None
        if text is not None:
            views[other] = views[other]._replace(value=text, cause=(one,) if source.line is not None else ())


def _converted(value: str | None, *, to_days: bool) -> str | None:
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
