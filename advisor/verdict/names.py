"""Finds the option that a name in a file leads to: exact names, prefixes, abbreviations, key caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.outcome import NameMatch

if TYPE_CHECKING:
    from typing import Any

    from advisor.catalog.load import Catalog
    from advisor.core.model import Target

# Tried in this order; where one fits, the rest of the name is looked up and the search begins again.
PREFIXES = ("skip", "disable", "enable", "maximum", "loose")
KEY_CACHE = (
    *("key_buffer_size", "key_cache_block_size", "key_cache_division_limit", "key_cache_age_threshold"),
    *("key_cache_file_hash_size", "key_cache_segments"),  # of MariaDB
)
# MariaDB 10.11.19 and 11.8.9 read option names in any case, 11.4.5 does not; the releases between were not asked.
ANY_CASE: dict[tuple[int, ...], tuple[int, ...]] = {(10, 11): (10, 11, 19), (11, 8): (11, 8, 9)}
# Names with capitals of their own, which a server that minds the case insists on.
CAPITALS = {
    "wsrep_certify_nonpk": "wsrep_certify_nonPK",
    "wsrep_convert_lock_to_trx": "wsrep_convert_LOCK_to_trx",
    "wsrep_osu_method": "wsrep_OSU_method",
    "wsrep_slave_fk_checks": "wsrep_slave_FK_checks",
    "wsrep_slave_uk_checks": "wsrep_slave_UK_checks",
    "wsrep_sr_store": "wsrep_SR_store",
}
# Read before all others, so that a beginning that suits one of them is taken at once.
EARLY = ("performance_schema", "max_connections", "getopt_prefix_matching")
# Plugins whose name begins another option that is read earlier.
SHADOWED = {
    "innodb_cmp": "innodb_cmp_per_index_enabled",
    "innodb_cmp_per_index": "innodb_cmp_per_index_enabled",
    "innodb_buffer_page": "innodb_buffer_page_lru",
    "innodb_sys_tables": "innodb_sys_tablestats",
    "innodb_sys_foreign": "innodb_sys_foreign_cols",
}
# Plugins of one engine are read one after the other; these come before those whose names begin alike.
TABLES = (
    "innodb_sys_tablestats",
    "innodb_sys_fields",
    "innodb_sys_foreign_cols",
    "innodb_cmpmem",
    "innodb_buffer_page_lru",
    "innodb_ft_deleted",
    "innodb_ft_index_table",
)
LONG = 100  # characters of what is no option's name
BY_CAPITALS = {spelt: name for name, spelt in CAPITALS.items()}


def find_name(written: str, catalog: Catalog, *, has_value: bool, short: bool = True) -> NameMatch:
    """The option that a name as written leads to.

    `has_value` says whether a value follows it, `short` whether MariaDB may take a beginning for the whole name.
    """
    key = ("find", written, has_value, short)
    known: NameMatch | None = catalog.kept.get(key)
    if known is None:
        name = written.replace("-", "_")
        if reads_any_case(catalog.target):
            name = name.lower()
        cache, name = _split_key_cache(name, catalog.target, has_value=has_value)
        known = _search_name(name, catalog, short=short)._replace(cache=cache)
        if len(written) < LONG:
            catalog.keep(key, known)
    return known


def reads_any_case(target: Target) -> bool:
    """Whether the server takes upper case for lower in option names."""
    since = ANY_CASE.get(target.version[:2])
    return target.is_mariadb and (target.version >= since if since else target.version >= (11, 8))


def _split_key_cache(name: str, target: Target, *, has_value: bool) -> tuple[str, str]:
    """Splits `hot.key_buffer_size`; servers before MySQL 8 and MariaDB drop what stands before any option's dot."""
    before, dot, after = name.partition(".")
    if not dot or not before or (not after and not has_value):
        return "", name
    if after in KEY_CACHE:
        return before, after
    return ("", name) if target.since("mysql", 8) else ("", after)


def _search_name(name: str, catalog: Catalog, *, short: bool) -> NameMatch:
    """The servers' own search: a prefix is stripped only where the name as it stands is unknown."""
    found = _look_up(name, catalog, short=short)
    prefix, loose = "", False
    while not found:
        prefix = _split_prefix(name, catalog.target)
        if not prefix:
            return NameMatch(None, loose=loose)
        name = name[len(prefix) + 1 :]
        loose = loose or prefix == "loose"
        found = _look_up(name, catalog, short=short)
    if len(found) > 1:
        return NameMatch(None, loose=loose, candidates=found)
    return NameMatch(found[0], "" if prefix == "loose" else prefix, loose)


def _split_prefix(name: str, target: Target) -> str:
    for prefix in PREFIXES:
        if name.startswith(prefix + "_"):
            return prefix
    return "autoset" if target.is_mariadb and name.startswith("autoset_") else ""


def _look_up(name: str, catalog: Catalog, *, short: bool) -> tuple[str, ...]:
    """The option of that name, or on MariaDB all options that begin with it."""
    strict = not reads_any_case(catalog.target)
    if strict and name in BY_CAPITALS:
        name = BY_CAPITALS[name]
    elif strict and name in CAPITALS:
        return ()
    if not catalog.target.is_mariadb:
        return (name,) if name in catalog.options else ()
    return _look_up_mariadb(name, catalog, short=short)


def _look_up_mariadb(name: str, catalog: Catalog, *, short: bool) -> tuple[str, ...]:
    """MariaDB reads a file in passes, each with options of its own, and a beginning is enough in each."""
    if short and SHADOWED.get(name) in catalog.options:
        return (SHADOWED[name],)
    raw = catalog.options.get(name)
    if raw is not None and "plugin" not in raw:
        return (name,)
    begun = catalog.names_starting_with(name) if short else []
    # The options of loaded plugins come last: even the whole name of one is a beginning of the server's own options.
    own = [option for option in begun if "plugin" not in catalog.options[option]]
    if raw is not None and not own:
        return (name,)
    begun = own or begun
    # Names that are kept for old files alone never make a beginning ambiguous.
    shown = [option for option in begun if not _is_obsolete(catalog.options[option])]
    early = [option for option in begun if option.startswith(EARLY)]
    engine = [option for option in shown if option.startswith("innodb")]
    plain = [option for option in engine if not is_plugin_state(catalog.options[option])]
    first = [option for option in TABLES if option in engine]
    return tuple(early or plain or first[:1] or engine or _without_later_states(shown, catalog) or shown or begun)


def _without_later_states(names: list[str], catalog: Catalog) -> list[str]:
    """The options without states of plugins, which come after the server's own; a plugin's own options come with it."""
    return [
        name
        for name in names
        if not is_plugin_state(catalog.options[name]) or any(other.startswith(f"{name}_") for other in names)
    ]


def _is_obsolete(raw: dict[str, Any]) -> bool:
    """Whether the option does nothing, and help doesn't tell of it."""
    return bool(raw.get("ignored")) and not raw.get("shown", True)


def is_plugin_state(raw: dict[str, Any]) -> bool:
    """Whether the option is the state of a plugin, as each of InnoDB's tables of information is one."""
    return raw["kind"] == "enum" and raw.get("values", ())[:1] == ["OFF"] and "variable" not in raw
