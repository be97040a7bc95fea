"""Which plugins the lines of a file load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.load import Catalog

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from advisor.optionfile.lines import Placed

LOADERS = frozenset({"plugin_load", "plugin_load_add", "early_plugin_load"})
# The options of a library begin with another name than the library's own.
OPTIONS_OF = {
    "semisync_master": ("rpl_semi_sync_master",),
    "semisync_slave": ("rpl_semi_sync_slave",),
    "semisync_source": ("rpl_semi_sync_source",),
    "semisync_replica": ("rpl_semi_sync_replica",),
    "libmemcached": ("daemon_memcached",),
    "libpluginmecab": ("mecab",),
}
NO_LIBRARY = ("", "0", "off")


def loaded_by(placed: Iterable[Placed]) -> frozenset[str]:
    """The names that the options of the plugins loaded by these lines begin with."""
    names: set[str] = set()
    for at in placed:
        name = (at.line.name or "").lower().replace("-", "_").removeprefix("loose_")
        if name in LOADERS and at.line.value:
            names.update(_names(at.line.value))
    return frozenset(names)


def _names(value: str) -> list[str]:
    """`name=library.so` or `library`, separated by semicolons (or colons)."""
    names: list[str] = []
    for part in value.replace(":", ";").split(";"):
        plugin, equals, library = part.strip().lower().rpartition("=")
        stem = library.rpartition("/")[2].partition(".")[0].replace("-", "_")
        if stem in NO_LIBRARY:
            continue
        names += (stem, *OPTIONS_OF.get(stem, (stem.removeprefix("ha_"),)))
        if equals:
            names.append(plugin.strip().replace("-", "_"))
    return names


def without_innodb(catalog: Catalog) -> Catalog:
    """What MariaDB knows where ignore_builtin_innodb leaves the engine out: of InnoDB only the names that do nothing.

    Since 11.8 the tables that tell of InnoDB are known all the same.
    """
    tables_stay = catalog.target.since("mariadb", 11, 8)
    left = {name: raw for name, raw in catalog.options.items() if not _of_innodb(name, raw, tables_stay=tables_stay)}
    return Catalog(catalog.target, catalog.read_as, left)


def _of_innodb(name: str, raw: dict[str, Any], *, tables_stay: bool) -> bool:
    state = raw["kind"] == "enum" and raw.get("values", ())[:1] == ["OFF"] and "variable" not in raw
    return name.startswith("innodb") and raw.get("shown", True) and not (tables_stay and state)
