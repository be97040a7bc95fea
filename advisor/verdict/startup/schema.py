"""How MySQL sizes its Performance Schema where it is left to the server, and what is left of it when it is off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.effects import CONNECTIONS

if TYPE_CHECKING:
    from advisor.verdict.startup import Start

# What stands for -1 on a server with its default settings or less, with up to twice as much, and with more.
SIZES = {
    "_history_long_size": ("100", "1000", "10000"),
    "_history_size": ("5", "10", "10"),
    "_digests_size": ("1000", "5000", "10000"),
    "_session_connect_attrs_size": ("512", "512", "512"),
}
# These stay when the rest is switched off.
KEPT = ("performance_schema_error_size", "performance_schema_max_digest_sample_age")
DEFINITIONS = 400
MOST_DEFINITIONS = 2000


def size(start: Start, name: str) -> str | None:
    """A size: 0 without a Performance Schema, and its own choice for -1 where the server makes one."""
    option = start.catalog.get(name)
    if option is None or option.kind not in ("int", "uint"):
        return None
    if start.text("performance_schema") == "FALSE":
        return None if name in KEPT else "0"
    end = next((end for end in SIZES if name.endswith(end)), None)
    return SIZES[end][_load(start)] if end and start.values[name] == "-1" else None


def _load(start: Start) -> int:
    """0, 1 or 2, by the connections and the tables that the server is to bear."""
    default = 4000 if start.catalog.target.since("mysql", 8) else 2000
    tables = start.tables
    definitions = start.number("table_definition_cache") or min(DEFINITIONS + tables // 2, MOST_DEFINITIONS)
    connections = start.number("max_connections") or CONNECTIONS
    load = max(connections / CONNECTIONS, definitions / DEFINITIONS, tables / default)
    return (load > 1) + (load > 2)  # noqa: PLR2004 - twice the defaults
