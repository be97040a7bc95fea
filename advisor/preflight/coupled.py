"""Values that follow from another option being set at all, or from the name that it is given."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from advisor.model import Origin
from advisor.verdict.special import HOST_BINLOG, NOTHING

if TYPE_CHECKING:
    from advisor.model import Target
    from advisor.preflight.outlook import Outlook
    from rules.known import Known

BINARY, RELAY = "log_bin", "relay_log"


def couple(views: dict[str, Outlook], now: Known) -> None:
    """Put in what follows the logs' names, and MariaDB's query cache, which a size switches on."""
    if RELAY in views:
        _relay_log(views, now)
    for log in (BINARY, RELAY):
        if f"{log}_basename" in views:
            _names_of(log, views, now)
    if now.target.is_mariadb and "query_cache_type" in views:
        size = views.get("query_cache_size")
        on = size is not None and size.line is not None and size.value not in (None, "0")
        _put(views, "query_cache_type", "ON" if on else "OFF", "query_cache_size", now)


def _relay_log(views: dict[str, Outlook], now: Known) -> None:
    """Where nobody names it MySQL 8 and later name it by the host; the others leave the name empty."""
    view = views[RELAY]
    if view.line is None and view.value is None:
        host = now.server.variables.get("hostname", "")
        named = now.target.since("mysql", 8)
        if not named or (host and "." not in host):
            views[RELAY] = view._replace(value=f"{host}-relay-bin" if named else "")


def _names_of(log: str, views: dict[str, Outlook], now: Known) -> None:
    """The log's path without its number, and its index beside it."""
    running = now.server.variables
    name = _name(log, views[log], now.target)
    if name is None or not _is_named_anew(log, name, views[log], now):
        return
    path = posixpath.join(running.get("datadir", ""), name) if name else ""
    _put(views, f"{log}_basename", path, log, now)
    _put(views, f"{log}_index", f"{path}.index" if path else "", log, now)


def _name(log: str, view: Outlook, target: Target) -> str | None:
    """The name that is given or comes by default, empty for no log; None where only the server knows it."""
    if log == RELAY:
        return view.value if view.value or target.is_mariadb else None
    if view.value == "OFF":
        return ""
    value = view.line.value if view.line else "binlog" if target.since("mysql", 8) else None
    return None if value in (None, "", "0", NOTHING, HOST_BINLOG) else value


def _is_named_anew(log: str, name: str, view: Outlook, now: Known) -> bool:
    """Whether the name is another one than now; a default that stands is the server's own, whatever it is."""
    base = posixpath.basename(now.server.variables[f"{log}_basename"])
    if view.line is None and view.value == now.server.variables.get(log) and log == RELAY:
        return False
    return posixpath.basename(name) != base


def _put(views: dict[str, Outlook], name: str, value: str, cause: str, now: Known) -> None:
    """A value for what no line sets, if it moves."""
    view = views.get(name)
    if view is not None and view.line is None and view.source is Origin.COMPILED:
        moves = value != now.server.variables[name]
        views[name] = view._replace(value=value, cause=(cause,) if moves else ())
