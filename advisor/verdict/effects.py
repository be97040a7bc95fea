"""Effects of options on each other after all lines are read: changed values and combinations the server refuses."""

from __future__ import annotations

from advisor.verdict.number import LARGEST, parse_digits
from advisor.verdict.outcome import REFUSED, SettledValues
from advisor.verdict.settings import (
    DAY,
    DAYS,
    DEFAULT_CONNECTIONS,
    NO_DEFAULT,
    SECONDS,
    SSL_FILES,
    StartupSettings,
    is_binary_log_on,
    is_increment,
    is_switched_on,
    move_value,
)
from advisor.verdict.special import HOST_BINLOG, HOST_LOG
from advisor.verdict.take import LEFT_TO_SERVER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.core.model import Target
    from advisor.verdict.outcome import Values
    from advisor.verdict.settings import Lines

MIN_QUERY_CACHE = 49 * 1024
# Options linked with others; `verdict.linked_options` handles them.
LINKED = frozenset({"ansi", "back_log", "flush", "mysqlx", "super_read_only"})
LINKED_MARIADB = LINKED | {
    "flashback",
    "innodb",
    "old",
    "log_slow_disabled_statements",
    "log_slow_filter",
    "log_slow_query_time",
}
NAMED_BY_BASE = {
    "general_log_file": ".log",
    "slow_query_log_file": "-slow.log",
    "log_slow_query_file": "-slow.log",
    "relay_log": "-relay-bin",
    "relay_log_index": "-relay-bin.index",
    "log_bin": "-bin",
    "log_bin_index": "-bin.index",
}
MODE, CONSISTENT = "gtid_mode", "enforce_gtid_consistency"
# Options that servers refuse in combination with certain others.
CLASHING = frozenset(
    {
        "binlog_transaction_dependency_tracking",
        "enforce_gtid_consistency",
        "gtid_mode",
        "log_bin_index",
        "relay_log",
        "replicate_same_server_id",
        "server_id_bits",
    }
)
ENDLESS = "With log_slave_updates its own events would return endlessly."
NO_FILE = "This is the name of a directory: write a file name."
NO_SERVER_ID = "The binary log is on but server_id is not set: set server_id too."
OFF_WITHOUT_NEW = {
    "automatic_sp_privileges": "FALSE",
    "concurrent_insert": "NEVER",
    "delay_key_write": "OFF",
    "query_cache_size": "0",
    "symbolic_links": "FALSE",
}
MAX_VERBOSITY = 3  # of log_error_verbosity


def settle_values(given: Values, catalog: Catalog, lines: Lines) -> SettledValues:
    """Return the values that `--verbose --help` prints.

    `given` maps canonical names to the values of `lines`; the order is that of the last line of each option.
    """
    settled = SettledValues(dict(given), {}, {})
    target = catalog.target
    _aliases(settled.values, catalog)
    refused = find_refusals(settled.values, catalog, lines)
    _binary_log_name(settled, target, stopped="log_bin" in refused)
    _no_network(settled)
    _no_core_file(settled, lines)
    _ssl(settled, target)
    if target.is_mariadb:
        _base_name_of_logs(settled, lines)
        _query_cache(settled)
        _thread_cache(settled, catalog)
        _relay_log_size(settled, catalog)
        _expiry(settled, catalog)
    else:
        if not target.since("mysql", 8):
            _log_warnings(settled, lines)
            _small_query_cache(settled)
        _no_new_functions(settled, lines)
    linked = LINKED_MARIADB if target.is_mariadb else LINKED
    if not linked.isdisjoint(lines) or LEFT_TO_SERVER in settled.values.values():
        from advisor.verdict.linked_options import settle_linked

        settle_linked(settled, catalog, list(lines))
    return settled._replace(refused=refused)


def find_refusals(values: Values, catalog: Catalog, lines: Lines) -> dict[str, str]:
    """Return the options that make the server refuse to start because of other options, each with the reason."""
    refusals, target = {}, catalog.target
    if _before_8(target) and "log_bin" in values and is_binary_log_on(values, lines) and "server_id" not in lines:
        refusals["log_bin"] = NO_SERVER_ID
    if not CLASHING.isdisjoint(values):
        clashes = _find_clashes(values, catalog, lines) if target.is_mysql else _clashes_of_mariadb(values, lines)
        refusals.update(clashes)
    if values.get("chroot") == "":
        refusals["chroot"] = "The server cannot change its root to an empty path."
    collation, charset = values.get("collation_server"), values.get("character_set_server", _default_charset(target))
    refused = "character_set_server" in lines and lines["character_set_server"].outcome in REFUSED
    if (
        collation
        and not _is_collation_of(collation, charset)
        and not (refused and _is_collation_of(collation, _default_charset(target)))
    ):
        refusals["collation_server"] = _wrong_charset(collation, charset)
    return refusals


def _wrong_charset(collation: str, charset: str | None) -> str:
    from advisor.verdict.words import charset_of

    return f"{collation} needs character_set_server = {charset_of(collation)}, and the character set is {charset}."


def _find_clashes(values: Values, catalog: Catalog, lines: Lines) -> dict[str, str]:
    """Return the options that MySQL refuses in combination; an option whose value is a template is not reported."""
    target = catalog.target
    clashes = _replication_clashes(values, catalog, lines)
    gtid = next((name for name in (CONSISTENT, MODE) if name in values), None)
    if gtid and _gtid_clash(values, catalog, lines):
        clashes[gtid] = f"{MODE}=ON needs {CONSISTENT}=ON."
    if values.get("log_bin_index", "").endswith("/") and _logs_by_default(values, target, lines):
        clashes["log_bin_index"] = NO_FILE
    relayed = _base_of_log(values.get("relay_log", ""), values)
    if target.since("mysql", 8) and relayed and relayed == _base_of_binary_log(values, lines):
        why = f"The binary log has the same base name, {relayed}: give the relay log another name."
        clashes["relay_log"] = why
    return clashes


def _clashes_of_mariadb(values: Values, lines: Lines) -> dict[str, str]:
    """Return the options that MariaDB refuses beside its binary log."""
    clashes: dict[str, str] = {}
    if "log_bin" not in values or not is_binary_log_on(values, lines):
        return clashes
    if values.get("replicate_same_server_id") == values.get("log_slave_updates") == "TRUE":
        clashes["replicate_same_server_id"] = ENDLESS
    if values.get("log_bin_index", "").endswith("/"):
        clashes["log_bin_index"] = NO_FILE
    return clashes


def _base_of_binary_log(values: Values, lines: Lines) -> str:
    """The base name of MySQL 8's binary log; empty if the log is off, or its name unknown."""
    if "log_bin" not in lines:
        return "binlog"
    if "log_bin" not in values:
        return ""
    return _base_of_log(values["log_bin"], values) if is_binary_log_on(values, lines) else ""


def _base_of_log(name: str, values: Values) -> str:
    """A log's name without its extension and the data directory; empty for a name that the host decides."""
    folder, slash, file = name.rpartition("/")
    base = folder + slash + (file.rpartition(".")[0] or file)
    return "" if name.startswith("(") else base.removeprefix(values.get("datadir", "./.").rstrip("/") + "/")


def _logs_by_default(values: Values, target: Target, lines: Lines) -> bool:
    return is_binary_log_on(values, lines) if "log_bin" in values else target.since("mysql", 8)


def _replication_clashes(values: Values, catalog: Catalog, lines: Lines) -> dict[str, str]:
    clashes, target = {}, catalog.target
    modern = target.since("mysql", 8)
    bits = parse_digits(values.get("server_id_bits"))
    server_id = parse_digits(values.get("server_id"))
    if bits is not None and (int(modern) if server_id is None else server_id) >> bits:
        clashes["server_id_bits"] = f"The server's id does not fit into {bits} bits."
    updates = values.get("log_slave_updates", values.get("log_replica_updates", "TRUE" if modern else "FALSE"))
    logged = _logs_by_default(values, target, lines)
    known = MODE in values or MODE not in lines
    # GTIDs tell a server its own events; 8.0.15 refuses nevertheless, 9.7.4 and the source of 8.0.41 do not.
    by_number = known and (_value_or_default(MODE, values, catalog) != "ON" or not target.since("mysql", 8, 0, 41))
    if values.get("replicate_same_server_id") == updates == "TRUE" and logged and by_number:
        clashes["replicate_same_server_id"] = ENDLESS
    writeset = values.get("binlog_transaction_dependency_tracking", "").startswith("WRITESET")
    extraction = values.get("transaction_write_set_extraction", "XXHASH64" if modern else "OFF")
    if writeset and extraction == "OFF":
        why = "WRITESET needs transaction_write_set_extraction=XXHASH64."
        clashes["binlog_transaction_dependency_tracking"] = why
    return clashes


def _gtid_clash(values: Values, catalog: Catalog, lines: Lines) -> bool:
    from advisor.verdict.startup.stops import gtid_consistency

    start = StartupSettings(values, dict(lines), catalog)
    known = all(name in values or name not in lines for name in (MODE, CONSISTENT))
    return known and start.text(MODE) == "ON" and gtid_consistency(start, CONSISTENT) != "ON"


def _is_collation_of(collation: str, charset: str) -> bool:
    from advisor.verdict.words import charset_of, full_charset_name

    return full_charset_name(charset_of(collation)) == full_charset_name(charset)


def _before_8(target: Target) -> bool:
    return target.is_mysql and not target.since("mysql", 8)


def _default_charset(target: Target) -> str:
    """Return the default character set: utf8mb4 since MySQL 8.0 and MariaDB 11.6, latin1 before."""
    return "utf8mb4" if target.since("mysql", 8) or target.since("mariadb", 11, 6) else "latin1"


def _aliases(values: Values, catalog: Catalog) -> None:
    """Give both names of one variable the value of the later line."""
    roots = {name: (option.alias_of if (option := catalog.get(name)) else None) or name for name in values}
    last = {root: values[name] for name, root in roots.items()}
    values.update({name: last[root] for name, root in roots.items()})


def _binary_log_name(settled: SettledValues, target: Target, *, stopped: bool) -> None:
    """Strip extensions from the binary log's base name: MySQL strips the last one, MariaDB all.

    A server that refuses log_bin (`stopped`) has not stripped any.
    """
    name = settled.values.get("log_bin")
    if name is None or name == NO_DEFAULT:
        return
    if stopped:
        settled.values["log_bin"] = NO_DEFAULT if name == HOST_BINLOG else name
        return
    if name == HOST_BINLOG:
        settled.values["log_bin"] = (target.is_mariadb and _base_name(settled.values)) or name
        return
    folder, slash, base = name.rpartition("/")
    stem, dot, _ = base.partition(".") if target.is_mariadb else base.rpartition(".")
    move_value(
        settled, "log_bin", folder + slash + (stem if dot else base), "it replaces the extension with its own numbers"
    )


def _base_name(values: Values) -> str:
    """Return the binary log name that MariaDB derives from log_basename, else from the pid file.

    It omits spaces at the end; without a file name in pid_file it is `-bin`.
    """
    if values.get("log_basename"):
        return values["log_basename"].rstrip(" ") + "-bin"
    if "pid_file" not in values:
        return ""
    return values["pid_file"].rstrip(" ").rpartition("/")[2].partition(".")[0] + "-bin"


def _no_network(settled: SettledValues) -> None:
    if settled.values.get("skip_networking") == "TRUE":
        for name in ("port", "extra_port"):
            move_value(settled, name, "0", "skip_networking switches TCP off")


def _no_core_file(settled: SettledValues, lines: Lines) -> None:
    """gdb disables core files, whichever of the two lines comes first; all servers tested do so."""
    values, core = settled.values, lines.get("core_file")
    if core is None or "TRUE" not in (values.get("gdb"), values.get("debug_gdb")):
        return
    if values["core_file"] == "TRUE" if "core_file" in values else is_switched_on(core):
        settled.why["core_file"] = "gdb disables core files: the server runs with core_file = OFF."
        if "core_file" in values:  # MySQL's --verbose --help prints no value for core_file
            values["core_file"] = "FALSE"


def _ssl(settled: SettledValues, target: Target) -> None:
    """Each SSL file option, even if empty, switches SSL on when its line is read; a later ssl line can disable it."""
    names = (*SSL_FILES, "tls_version") if target.is_mysql else SSL_FILES
    switches = [name for name in settled.values if name == "ssl" or name in names]
    if switches and switches[-1] != "ssl":
        move_value(settled, "ssl", "TRUE", f"{switches[-1]} switches it on")


def _base_name_of_logs(settled: SettledValues, lines: Lines) -> None:
    """log_basename names every log when its line is read; only later lines with a non-empty value change a name.

    The names omit the spaces at its end.
    """
    names, written = list(settled.values), settled.values.get("log_basename")
    if not written or lines["log_basename"].outcome in REFUSED:
        return
    base = written.rstrip(" ")
    for at, name in enumerate(names):
        if settled.values[name] == HOST_LOG:
            settled.values[name] = base + NAMED_BY_BASE[name]
        elif name in NAMED_BY_BASE and at < names.index("log_basename"):
            move_value(settled, name, base + NAMED_BY_BASE[name], "log_basename comes later and names all logs")


def _query_cache(settled: SettledValues) -> None:
    """A nonzero query_cache_size, alone or with type 0, switches MariaDB's query cache on."""
    if settled.values.get("query_cache_type") == "OFF" and settled.values.get("query_cache_size", "0") != "0":
        move_value(settled, "query_cache_type", "ON", "a query_cache_size other than 0 switches the query cache on")


def _small_query_cache(settled: SettledValues) -> None:
    """MySQL 5.7 needs a minimum size for the query cache's own structures."""
    if 0 < (parse_digits(settled.values.get("query_cache_size")) or 0) < MIN_QUERY_CACHE:
        move_value(settled, "query_cache_size", "0", "so small a query cache has no space for its own tables")


def _no_new_functions(settled: SettledValues, lines: Lines) -> None:
    """skip_new of MySQL switches these off when its line is read; later lines switch them on again."""
    names = list(lines)
    if "skip_new" not in lines or lines["skip_new"].outcome in REFUSED:
        return
    for name in names[: names.index("skip_new")]:
        if name in OFF_WITHOUT_NEW and name in settled.values:
            move_value(settled, name, OFF_WITHOUT_NEW[name], "skip_new comes later and switches it off")


def _thread_cache(settled: SettledValues, catalog: Catalog) -> None:
    """MariaDB limits thread_cache_size to max_connections."""
    threads = parse_digits(settled.values.get("thread_cache_size"))
    connections = parse_digits(_value("max_connections", settled, catalog)) or DEFAULT_CONNECTIONS
    if threads is not None and threads > connections:
        move_value(settled, "thread_cache_size", str(connections), "it caches no more threads than max_connections")


def _relay_log_size(settled: SettledValues, catalog: Catalog) -> None:
    """MariaDB replaces max_relay_log_size = 0 by max_binlog_size at once."""
    size = _value("max_binlog_size", settled, catalog)
    if settled.values.get("max_relay_log_size") == "0" and size:
        move_value(settled, "max_relay_log_size", size, "0 means the value of max_binlog_size")


def _expiry(settled: SettledValues, catalog: Catalog) -> None:
    """Days and seconds are one setting; the later line takes effect."""
    given = [name for name in settled.values if name in (DAYS, SECONDS)]
    if set(given) != {DAYS, SECONDS}:
        return
    if given[-1] == DAYS:
        seconds = str(round(float(settled.values[DAYS]) * DAY))
        move_value(settled, SECONDS, seconds, f"{DAYS} is the same setting, and comes later")
        return
    days = int(settled.values[SECONDS]) / DAY
    printed = f"{days:.10g}" if catalog.target.since("mariadb", 11, 8) else f"{days:g}"
    move_value(settled, DAYS, printed, f"{SECONDS} is the same setting, and comes later")


def _value(name: str, settled: SettledValues, catalog: Catalog) -> str | None:
    return _value_or_default(name, settled.values, catalog)


def _value_or_default(name: str, values: Values, catalog: Catalog) -> str | None:
    option = catalog.get(name)
    return values.get(name) or (option.default if option else None)


def _log_warnings(settled: SettledValues, lines: Lines) -> None:
    """On MySQL 5.7 log_warnings and log_error_verbosity are one setting; the later line takes effect."""
    given = [name for name in settled.values if name in ("log_warnings", "log_error_verbosity")]
    number = parse_digits(settled.values[given[-1]]) if given else None
    if number is None:
        return
    if given[-1] == "log_warnings":
        if len(given) > 1 and is_increment(lines["log_warnings"]):
            number += int(settled.values["log_error_verbosity"]) - 1
        number = min(number + 1 & LARGEST["uint"], MAX_VERBOSITY)
    move_value(
        settled,
        "log_warnings",
        str(number - 1 & LARGEST["uint"]),
        "its maximum is 2, and log_error_verbosity is the same setting",
    )
    move_value(settled, "log_error_verbosity", str(number), "log_warnings is the same setting")
