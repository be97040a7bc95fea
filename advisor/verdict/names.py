"""Finds the option that a written name means: prefixes, abbreviations, aliases, and the options of plugins."""

from __future__ import annotations

from advisor.catalog import Catalog
from advisor.verdict.outcome import NameMatch, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from advisor.core.model import Target
    from advisor.optionfile.lines import PlacedLine
    from advisor.verdict.outcome import LineVerdict


# Tried in this order; after a match, the rest of the name is looked up and the search starts again.
PREFIXES = ("skip", "disable", "enable", "maximum", "loose")
KEY_CACHE = (
    *("key_buffer_size", "key_cache_block_size", "key_cache_division_limit", "key_cache_age_threshold"),
    *("key_cache_file_hash_size", "key_cache_segments"),  # of MariaDB
)
# MariaDB 11.4 and later: `innodb.optimizer_disk_read_cost` is a cost of that engine, and leaves the default of all.
ENGINE_COSTS = tuple(
    f"optimizer_{step}_cost"
    for step in (
        *("disk_read", "index_block_copy", "key_compare", "key_copy", "key_lookup", "key_next_find"),
        *("row_copy", "row_lookup", "row_next_find", "rowid_compare", "rowid_copy"),
    )
)
# MariaDB 10.11.19 and 11.8.9 read option names case-insensitively, 11.4.5 does not; releases between: not tested.
ANY_CASE: dict[tuple[int, ...], tuple[int, ...]] = {(10, 11): (10, 11, 19), (11, 8): (11, 8, 9)}
# Names with capital letters; servers with case-sensitive names accept only this spelling.
CAPITALS = {
    "wsrep_applier_fk_checks": "wsrep_applier_FK_checks",
    "wsrep_applier_uk_checks": "wsrep_applier_UK_checks",
    "wsrep_certify_nonpk": "wsrep_certify_nonPK",
    "wsrep_convert_lock_to_trx": "wsrep_convert_LOCK_to_trx",
    "wsrep_osu_method": "wsrep_OSU_method",
    "wsrep_rsu_commit_timeout": "wsrep_RSU_commit_timeout",
    "wsrep_slave_fk_checks": "wsrep_slave_FK_checks",
    "wsrep_slave_uk_checks": "wsrep_slave_UK_checks",
    "wsrep_sr_store": "wsrep_SR_store",
}
# Parsed before all others, so an abbreviation that fits one of them is accepted at once.
EARLY = ("performance_schema", "max_connections", "getopt_prefix_matching")
# Plugins whose name is an abbreviation of another option that is parsed earlier.
SHADOWED = {
    "innodb_cmp": "innodb_cmp_per_index_enabled",
    "innodb_cmp_per_index": "innodb_cmp_per_index_enabled",
    "innodb_buffer_page": "innodb_buffer_page_lru",
    "innodb_sys_tables": "innodb_sys_tablestats",
    "innodb_sys_foreign": "innodb_sys_foreign_cols",
}
# Plugins of one engine are parsed one after the other; these come before plugins whose names start the same.
TABLES = (
    "innodb_sys_tablestats",
    "innodb_sys_fields",
    "innodb_sys_foreign_cols",
    "innodb_cmpmem",
    "innodb_buffer_page_lru",
    "innodb_ft_deleted",
    "innodb_ft_index_table",
)
LONG = 100  # characters; longer names are not cached
BY_CAPITALS = {spelt: name for name, spelt in CAPITALS.items()}


def find_name(written: str, catalog: Catalog, *, has_value: bool, short: bool = True) -> NameMatch:
    """Find the option that a name as written refers to.

    `has_value` says whether a value follows, `short` whether MariaDB accepts abbreviations.
    """
    key = ("find", written, has_value, short)
    known: NameMatch | None = catalog.kept.get(key)
    if known is None:
        name = written.replace("-", "_")
        if reads_any_case(catalog.target):
            name = name.lower()
        cache, name = _split_component(name, catalog.target, has_value=has_value)
        known = _search_name(name, catalog, short=short)._replace(cache=cache)
        if len(written) < LONG:
            catalog.keep(key, known)
    return known


def reads_any_case(target: Target) -> bool:
    """Whether option names are case-insensitive on this server."""
    since = ANY_CASE.get(target.version[:2])
    return target.is_mariadb and (target.version >= since if since else target.version >= (11, 8))


def _split_component(name: str, target: Target, *, has_value: bool) -> tuple[str, str]:
    """Split `hot.key_buffer_size`; MySQL before 8.0 and MariaDB drop what precedes the dot of other option names."""
    before, dot, after = name.partition(".")
    if not dot or not before or (not after and not has_value):
        return "", name
    if after in KEY_CACHE or (after in ENGINE_COSTS and target.is_mariadb):
        return "" if before == "default" else before, after
    return ("", name) if target.since("mysql", 8) else ("", after)


def _search_name(name: str, catalog: Catalog, *, short: bool) -> NameMatch:
    """Search as the servers do: a prefix is stripped only if the name including it is unknown."""
    candidates = _look_up(name, catalog, short=short)
    prefix, loose = "", False
    while not candidates:
        prefix = _split_prefix(name, catalog.target)
        if not prefix:
            return NameMatch(None, loose=loose)
        name = name[len(prefix) + 1 :]
        loose = loose or prefix == "loose"
        candidates = _look_up(name, catalog, short=short)
    if len(candidates) > 1:
        return NameMatch(None, loose=loose, candidates=candidates)
    return NameMatch(candidates[0], "" if prefix == "loose" else prefix, loose)


def _split_prefix(name: str, target: Target) -> str:
    for prefix in PREFIXES:
        if name.startswith(prefix + "_"):
            return prefix
    return "autoset" if target.is_mariadb and name.startswith("autoset_") else ""


def _look_up(name: str, catalog: Catalog, *, short: bool) -> tuple[str, ...]:
    """Return the option of that name; on MariaDB, all options that start with it."""
    strict = not reads_any_case(catalog.target)
    if strict and name in BY_CAPITALS:
        name = BY_CAPITALS[name]
    elif strict and name in CAPITALS:
        return ()
    if not catalog.target.is_mariadb:
        return (name,) if name in catalog.options else ()
    return _look_up_mariadb(name, catalog, short=short)


def _look_up_mariadb(name: str, catalog: Catalog, *, short: bool) -> tuple[str, ...]:
    """MariaDB parses a file in passes, each with its own options, and accepts unique abbreviations in each."""
    if short and SHADOWED.get(name) in catalog.options:
        return (SHADOWED[name],)
    raw = catalog.options.get(name)
    if raw is not None and "plugin" not in raw:
        return (name,)
    begun = catalog.names_starting_with(name) if short else []
    # Options of loaded plugins are parsed last: their full name can still be an abbreviation of a server option.
    own = [option for option in begun if "plugin" not in catalog.options[option]]
    if raw is not None and not own:
        return (name,)
    begun = own or begun
    # Names kept only for old files never make an abbreviation ambiguous.
    shown = [option for option in begun if not _is_obsolete(catalog.options[option])]
    early = [option for option in begun if option.startswith(EARLY)]
    engine = [option for option in shown if option.startswith("innodb")]
    plain = [option for option in engine if not is_plugin_state(catalog.options[option])]
    first = [option for option in TABLES if option in engine]
    return tuple(early or plain or first[:1] or engine or _without_later_states(shown, catalog) or shown or begun)


def _without_later_states(names: list[str], catalog: Catalog) -> list[str]:
    """Return the options without plugin states, which are parsed after the server's own.

    A plugin state stays if the plugin's own options are among the names.
    """
    return [
        name
        for name in names
        if not is_plugin_state(catalog.options[name]) or any(other.startswith(f"{name}_") for other in names)
    ]


def _is_obsolete(raw: dict[str, Any]) -> bool:
    """Whether the option does nothing and `--verbose --help` does not list it."""
    return bool(raw.get("ignored")) and not raw.get("shown", True)


def is_plugin_state(raw: dict[str, Any]) -> bool:
    """Whether the option is the state of a plugin, such as one of InnoDB's INFORMATION_SCHEMA tables."""
    return raw["kind"] == "enum" and raw.get("values", ())[:1] == ["OFF"] and "variable" not in raw


NOT_LOADED = "which this file does not load"
LOADS_EARLY, ADDS = "early_plugin_load", "plugin_load_add"
LOADERS = frozenset({"plugin_load", ADDS, LOADS_EARLY})
# Libraries whose options start with another name than the library's own.
OPTIONS_OF = {
    "semisync_master": ("rpl_semi_sync_master",),
    "semisync_slave": ("rpl_semi_sync_slave",),
    "semisync_source": ("rpl_semi_sync_source",),
    "semisync_replica": ("rpl_semi_sync_replica",),
    "libmemcached": ("daemon_memcached",),
    "libpluginmecab": ("mecab",),
    "version_token": ("version_tokens",),
    "server_audit2": ("server_audit",),  # of MariaDB Enterprise
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


# Libraries of MariaDB's packages that no package of MySQL or Percona has. MySQL 5.7 can load server_audit.
OF_MARIADB = frozenset(
    (
        *("auth_ed25519", "auth_parsec", "cracklib_password_check", "disks", "file_key_management"),
        *("hashicorp_key_management", "metadata_lock_info", "server_audit", "simple_password_check", "sql_errlog"),
    )
)
# Libraries of MySQL and its builds that no package of MariaDB has: 10.11.19 and 11.8.9 log an error and start without
# them. Semisynchronous replication is built in, so its options are known nevertheless.
SEMISYNC = frozenset({"semisync_master", "semisync_slave", "semisync_source", "semisync_replica"})
NOT_OF_MARIADB = SEMISYNC | frozenset(
    (
        *("audit_log", "authentication_fido", "authentication_webauthn", "connection_control", "ddl_rewriter"),
        *("group_replication", "keyring_encrypted_file", "keyring_file", "keyring_udf", "libpluginmecab"),
        *("locking_service", "mysql_clone", "mysql_no_login", "rewriter", "validate_password", "version_token"),
    )
)
# Libraries that the manual gives to MySQL Enterprise, and that MySQL Community 9.7.4 lacks.
OF_ENTERPRISE = frozenset(
    (
        *("audit_log", "authentication_kerberos", "authentication_ldap_sasl", "authentication_ldap_simple"),
        *("authentication_pam", "authentication_windows", "data_masking", "firewall", "keyring_aws", "keyring_okv"),
    )
)


# Options of a Galera node's provider: 11.4.5 and 11.8.9 have them with wsrep_on = ON and a provider, 10.11 does not.
PROVIDER_OPTIONS = frozenset(
    f"wsrep_provider_{group}_"
    for group in ("cert", "evs", "gcache", "gcomm", "gcs", "gmcast", "ist", "pc", "protonet", "repl", "socket")
)
PROVIDER_SINCE = ("mariadb", 11, 4)


def plugins_loaded_by(placed: Iterable[PlacedLine]) -> frozenset[str]:
    """Return the name prefixes of the options of the plugins that these lines load.

    plugin_load and early_plugin_load replace what the lines before them load, plugin_load_add adds to it.
    """
    loaded: dict[bool, list[str]] = {True: [], False: []}  # by whether the list is early_plugin_load's
    node = {"wsrep_on": "", "wsrep_provider": ""}
    for at in placed:
        name = (at.line.name or "").lower().replace("-", "_").removeprefix("loose_")
        if name in node:
            node[name] = (at.line.value or "on").lower()
        if name in LOADERS:
            names = loaded[name == LOADS_EARLY]
            if name != ADDS and not at.line.conditional:
                names.clear()
            names += _names(at.line.value or "")
    is_node = node["wsrep_on"] in ("on", "1", "true") and node["wsrep_provider"] not in ("", "none")
    return frozenset(loaded[True] + loaded[False]).union(PROVIDER_OPTIONS if is_node else ())


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
    own = (name for name, plugin in catalog.options.texts("plugin") if plugin == stem)
    return any(catalog.options[name].get("by", {}).get("inferred") != "*" for name in own)


def is_component_option(name: str, target: Target) -> bool:
    """Whether only a component can own the option: MySQL 9.7.4 knew such names once a component was installed."""
    before, dot, after = name.partition(".")
    is_name = before.isidentifier() and after.replace(".", "_").isidentifier()  # `includedir /etc/conf.d/` is none
    return bool(dot) and is_name and target.since("mysql", 8)


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
    """Return the plugin-loading line, marked as ignored if the server does not include one of the libraries."""
    stems = [stem for _, stem in _libraries(line.placed.line.value or "")]
    gone = [found for stem in stems if (found := find_removed_library(stem, target))]
    if not gone:
        whose = next((text for stem in stems if (text := _other_owner(stem, target))), "")
        if not whose:
            return line
        why = (
            f"The library {whose}: if it is missing, {target.label} logs an error, and does not start "
            "if the file sets options of the plugin."
        )
        if target.is_mariadb and SEMISYNC.issuperset(stems):
            why = (
                f"Semisynchronous replication is built in: {target.label} logs that {stems[0]} is missing, and starts."
            )
        return line._replace(outcome=Outcome.IGNORED, reason=why, certain=False)
    library, version, successor = gone[0]
    instead = f" {successor} took its place." if successor else ""
    keys = " Tables that its keys encrypted then cannot be opened." if library.startswith("keyring") else ""
    why = (
        f"The library {library} was removed in {version}:{instead} {target.label} logs an error and starts without the "
        f"plugin.{keys}"
    )
    return line._replace(outcome=Outcome.IGNORED, reason=why, certain=False)


def _other_owner(stem: str, target: Target) -> str:
    """The library with what it belongs to, if MySQL Community or MariaDB does not have it; else empty."""
    if target.is_mariadb:
        return f"{stem} is not in MariaDB's packages" if stem in NOT_OF_MARIADB else ""
    if not target.since("mysql", 8):
        return ""
    if stem in OF_ENTERPRISE and not target.build:
        return f"{stem} is not in MySQL Community"
    return f"{stem} is MariaDB's" if stem in OF_MARIADB else ""


def drop_innodb(catalog: Catalog) -> Catalog:
    """Return MariaDB's catalog with ignore_builtin_innodb: of InnoDB only the options that do nothing remain.

    From 11.8 on, the options of InnoDB's INFORMATION_SCHEMA plugins remain too.
    """
    tables_stay = catalog.target.since("mariadb", 11, 8)
    left = catalog.options.copy()
    for name, raw in catalog.options.items():
        if _is_innodb_option(name, raw, tables_stay=tables_stay):
            del left[name]
    return Catalog(catalog.target, catalog.read_as, left, any_build=catalog.any_build)


def _is_innodb_option(name: str, raw: dict[str, Any], *, tables_stay: bool) -> bool:
    state = is_plugin_state(raw) and name != "innodb"  # innodb, the state of the engine itself, is dropped
    return name.startswith("innodb") and raw.get("shown", True) and not (tables_stay and state)
