"""Which plugins the lines of a file load."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

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
