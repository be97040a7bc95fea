"""Plugins that the lines of a file load, and plugin libraries that a server version no longer includes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.load import Catalog
from advisor.verdict.names import is_plugin_state
from advisor.verdict.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from advisor.core.model import Target
    from advisor.optionfile.lines import PlacedLine
    from advisor.verdict.outcome import LineVerdict

NOT_LOADED = "which this file does not load"
LOADERS = frozenset({"plugin_load", "plugin_load_add", "early_plugin_load"})
# Libraries whose options start with another name than the library's own.
OPTIONS_OF = {
    "semisync_master": ("rpl_semi_sync_master",),
    "semisync_slave": ("rpl_semi_sync_slave",),
    "semisync_source": ("rpl_semi_sync_source",),
    "semisync_replica": ("rpl_semi_sync_replica",),
    "libmemcached": ("daemon_memcached",),
    "libpluginmecab": ("mecab",),
    "version_token": ("version_tokens",),
}
# Servers tested with their plugins loaded; 5.7, 8.0 and 11.4 came without the libraries.
WITH_PLUGINS = (("mysql", 9, 7), ("mariadb", 11, 8))
NO_LIBRARY = ("", "0", "off")
# Libraries that MySQL removed: the first version without them according to its manual (What Is New in MySQL 8.4,
# Installing Semisynchronous Replication in 9.5, the version reference of options), and the replacement. Tested: 5.7.22,
# 8.0.15, 9.7.4 and MariaDB log an error for a missing library, start without it, and refuse its options.
REMOVED: dict[str, tuple[tuple[int, ...], str]] = {
    "authentication_fido": ((8, 4, 0), "authentication_webauthn"),
    "keyring_encrypted_file": ((8, 4, 0), "component_keyring_encrypted_file"),
    "keyring_file": ((8, 4, 0), "component_keyring_file"),
    "keyring_oci": ((8, 4, 0), "component_keyring_oci"),
    "libmemcached": ((8, 3, 0), ""),
    "semisync_master": ((9, 5, 0), "semisync_source"),
    "semisync_slave": ((9, 5, 0), "semisync_replica"),
    "version_token": ((9, 3, 0), ""),
}


def plugins_loaded_by(placed: Iterable[PlacedLine]) -> frozenset[str]:
    """Return the name prefixes of the options of the plugins that these lines load."""
    names: set[str] = set()
    for at in placed:
        name = (at.line.name or "").lower().replace("-", "_").removeprefix("loose_")
        if name in LOADERS and at.line.value:
            names.update(_names(at.line.value))
    return frozenset(names)


def _names(value: str) -> list[str]:
    names: list[str] = []
    for plugin, stem in _libraries(value):
        names += (stem, *option_prefixes(stem))
        if plugin:
            names.append(plugin)
    return names


def _libraries(value: str) -> Iterator[tuple[str, str]]:
    """Parse `name=library.so` or `library`, separated by semicolons or colons, into pairs of plugin and library."""
    for part in value.replace(":", ";").split(";"):
        plugin, _, library = part.strip().lower().rpartition("=")
        stem = library.rpartition("/")[2].partition(".")[0].replace("-", "_")
        if stem not in NO_LIBRARY:
            yield plugin.strip().replace("-", "_"), stem


def option_prefixes(stem: str) -> tuple[str, ...]:
    """Return the prefixes of the names of a library's options."""
    return OPTIONS_OF.get(stem, (stem.removeprefix("ha_"),))


def was_examined(stem: str, catalog: Catalog) -> bool:
    """Whether exactly this server was tested with the library's plugin loaded, so that its option list is complete."""
    if not catalog.exact or not any(catalog.target.since(*version) for version in WITH_PLUGINS):
        return False
    raws = (raw for raw in catalog.options.values() if raw.get("plugin") == stem)
    return any(raw.get("by", {}).get("inferred") != "*" for raw in raws)


def is_component_option(name: str, target: Target) -> bool:
    """Whether only a component can own the option: MySQL 9.7.4 knew such names once a component was installed."""
    before, dot, after = name.partition(".")
    return bool(dot and before and after) and target.since("mysql", 8)


def find_removed_library(name: str, target: Target) -> tuple[str, str, str] | None:
    """Return the removed library whose options start like the name, the version that removed it, and its replacement.

    None if the target still includes the library, or if no such library was removed.
    """
    stem = removed_plugin_of(name, target)
    if not stem or target.version < REMOVED[stem][0]:
        return None
    gone, successor = REMOVED[stem]
    return stem, ".".join(map(str, gone)), successor


def removed_plugin_of(name: str, target: Target) -> str:
    """Return the plugin removed from MySQL whose options start like the name; empty if there is none."""
    stems = (stem for stem in REMOVED if name.startswith((stem, *OPTIONS_OF.get(stem, ()))))
    return next(stems, "") if target.is_mysql else ""


def check_libraries(line: LineVerdict, target: Target) -> LineVerdict:
    """Return the plugin-loading line, marked as ignored if the server no longer includes one of the libraries."""
    gone = [
        found for _, stem in _libraries(line.placed.line.value or "") if (found := find_removed_library(stem, target))
    ]
    if not gone:
        return line
    library, version, successor = gone[0]
    instead = f" {successor} took its place." if successor else ""
    keys = " Tables that its keys encrypted can't be opened then." if library.startswith("keyring") else ""
    why = (
        f"The library {library} was removed in {version}:{instead} {target.label} logs an error and starts without the "
        f"plugin.{keys}"
    )
    return line._replace(outcome=Outcome.IGNORED, reason=why, certain=False)


def drop_innodb(catalog: Catalog) -> Catalog:
    """Return MariaDB's catalog with ignore_builtin_innodb: of InnoDB only the options that do nothing remain.

    From 11.8 on, the options of InnoDB's INFORMATION_SCHEMA plugins remain too.
    """
    tables_stay = catalog.target.since("mariadb", 11, 8)
    left = {
        name: raw for name, raw in catalog.options.items() if not _is_innodb_option(name, raw, tables_stay=tables_stay)
    }
    return Catalog(catalog.target, catalog.read_as, left, any_build=catalog.any_build)


def _is_innodb_option(name: str, raw: dict[str, Any], *, tables_stay: bool) -> bool:
    state = is_plugin_state(raw) and name != "innodb"  # innodb, the state of the engine itself, is dropped
    return name.startswith("innodb") and raw.get("shown", True) and not (tables_stay and state)
