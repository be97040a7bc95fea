"""Combinations of settings at which a server stops, and the spelling of the values that it prints."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import exact_size
from advisor.redaction import quote_value
from advisor.verdict.number import PORT, parse_digits
from advisor.verdict.settings import (
    LONGEST_SOCKET,
    NO_DEFAULT,
    THREADS,
    TLS_SWITCHES,
    is_switched_on,
    is_too_long,
)
from advisor.verdict.startup.host import (
    ADMIN,
    BIND,
    REDO_SIZES,
    find_address_fault,
    find_admin_fault,
    find_networks_fault,
    find_port_fault,
    find_threads_fault,
)
from advisor.verdict.word_lists import find_engine_fault
from advisor.verdict.words import split_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from advisor.catalog import Catalog
    from advisor.core.model import Target
    from advisor.verdict.outcome import LineVerdict, Values
    from advisor.verdict.settings import StartupSettings


CONSISTENCY = {"0": "OFF", "off": "OFF", "false": "OFF", "1": "ON", "on": "ON", "true": "ON"}
CONSISTENCY |= {"2": "WARN", "warn": "WARN"}


def gtid_consistency(start: StartupSettings, name: str) -> str:
    """Return OFF, ON or WARN for any spelling.

    No value means ON, which `--verbose --help` does not print; unknown words leave the default.
    """
    default = option.default or "" if (option := start.catalog.get(name)) else ""
    words = [start.values.get(name, default).lower(), default.lower()]
    if name in start.lines and is_switched_on(start.lines[name]):
        return "ON"
    return next((CONSISTENCY[word] for word in words if word in CONSISTENCY), "OFF")


def flags(start: StartupSettings, name: str) -> str | None:
    """Return all flags: `--verbose --help` omits those after the last that is on."""
    option = start.catalog.get(name)
    state = split_flags(start.values[name])
    known = [flag for flag in option.values if flag.lower() != "default"] if option else []
    return ",".join([f"{flag}={state.get(flag, 'off')}" for flag in known]) or None


def decimal(start: StartupSettings, name: str) -> str | None:
    """Return the written number with six decimals, if `--verbose --help` rounds it to fewer digits."""
    printed = start.values[name]
    lines = (start.lines[name], *start.lines.values())  # another name of the variable may be in effect
    number = next(
        (within for line in lines if (within := _limit_to_range(line)) is not None and line.value == printed), None
    )
    return None if number is None or round(number, 6) == float(printed) else f"{number:.6f}"


def _limit_to_range(line: LineVerdict) -> float | None:
    """Return the number of a line, limited to the range of its option."""
    option, number = line.option, _number(line.placed.line.value)
    if option is None or option.kind != "double" or number is None:
        return None
    number = min(number, float(option.max)) if option.max else number
    return number if option.min is None else max(number, float(option.min))


def _number(written: str | None) -> float | None:
    try:
        return float(written or "")
    except ValueError:
        return None


ZONE = "default_time_zone"
PAGE, ALGORITHM, BINLOG = "innodb_page_size", "innodb_compression_algorithm", "encrypt_binlog"
POOL, POOL_PAGES, USUAL_PAGE, MIB = "innodb_buffer_pool_size", 320, 16 << 10, 1 << 20
BUILT_IN = ("none", "zlib")
POLICY = "authentication_policy"
# Options of MariaDB that need the keys of a plugin.
ENCRYPTED = (
    *("encrypt_tmp_files", BINLOG, "innodb_encrypt_log", "innodb_encrypt_tables"),
    "innodb_encrypt_temporary_tables",
)
KEYS = "key_management"  # part of the name of every key management plugin
OFF = ("FALSE", "OFF")
DEFAULTS, INNODB = ("default_storage_engine", "default_tmp_storage_engine", "enforce_storage_engine"), "innodb"
LEFT_OUT = "ignore_builtin_innodb"
FLUSHING, CASE = "innodb_flush_method", "lower_case_table_names"
METHODS_OF_UNIX = ("FSYNC", "O_DSYNC", "LITTLESYNC", "NOSYNC", "O_DIRECT", "O_DIRECT_NO_FSYNC", "ALL_O_DIRECT")
SESSION_MEMORY, TOO_LITTLE_MEMORY = "max_session_mem_used", 32 << 10  # with 40K MariaDB starts
DATA_FILES = ("innodb_data_file_path", "innodb_temp_data_file_path")
FILES_OF_STATEMENTS = "secure_file_priv"
SOCKET, ADMIN_PORT, NETWORKS = "socket", "admin_port", "proxy_protocol_networks"
SESSION_FILES = "innodb_temp_tablespaces_dir"
RECOVER, EXTRA = "tc_heuristic_recover", "extra_port"
NO_NAMES = ("", "0", NO_DEFAULT)  # values of log_bin that may mean none
CERTIFICATE, OWN_CERTIFICATE = ("ssl_cert", "ssl_key"), (11, 4)  # from which version on MariaDB makes its own


class StartupStop(NamedTuple):
    """Why the server stops; `certain` if no other file can change it by loading a plugin."""

    reason: str
    certain: bool


def find_stops(
    values: Values, loaded: frozenset[str], catalog: Catalog, unread: frozenset[str] = frozenset()
) -> dict[str, StartupStop]:
    """Return the options that make the start fail, by name.

    `loaded` are the plugins that the file loads, `unread` the options whose values are templates.
    """
    target = catalog.target
    stops = {}
    if _is_no_power_of_two(parse_digits(values.get(PAGE)) or 0):
        stops[PAGE] = StartupStop("The page size of InnoDB is 4096, 8192, 16384, 32768 or 65536 bytes.", certain=True)
    if values.get(RECOVER) in ("COMMIT", "ROLLBACK") and _coordinates(values, target):
        why = (
            "This option is for a single start: the server resolves prepared transactions, requests a start without "
            "it, and stops."
        )
        stops[RECOVER] = StartupStop(why, certain=False)
    stops.update(_parsed_at_start(values, loaded, target))
    stops.update(_addresses(values, target, unread))
    stops.update(_engines(values, target))
    stops.update(_data_files(values, target))
    own = _of_mysql(values, catalog, unread) if target.is_mysql else _of_mariadb(values, loaded, catalog, unread)
    stops.update(own)
    maybe_off = target.is_mariadb and ("innodb" in values or LEFT_OUT in values)
    return {name: stop for name, stop in stops.items() if not (maybe_off and name.startswith("innodb_"))}


def _stop_for(name: str, fault: str | None, *, certain: bool) -> dict[str, StartupStop]:
    """Return the stop of one option; empty without a fault."""
    return {name: StartupStop(fault, certain=certain)} if fault else {}


def _parsed_at_start(values: Values, loaded: frozenset[str], target: Target) -> dict[str, StartupStop]:
    """Find texts that servers parse only when they start."""
    stops = {}
    if POLICY in values:
        from advisor.verdict.formats import find_policy_fault

        fault = find_policy_fault(values[POLICY], target, loads=bool(loaded))
        stops.update(_stop_for(POLICY, fault, certain=False))
    if ZONE in values:
        from advisor.verdict.formats import find_zone_fault

        stops.update(_stop_for(ZONE, find_zone_fault(values[ZONE], target), certain=True))
    return stops


def _addresses(values: Values, target: Target, unread: frozenset[str]) -> dict[str, StartupStop]:
    """Find addresses, ports and a socket on which the server cannot listen."""
    stops, listens = {}, _listens(values, target)
    if BIND in values and BIND not in unread:
        stops.update(_stop_for(BIND, find_address_fault(values[BIND], target, listens=listens), certain=True))
    if ADMIN in values and ADMIN not in unread and listens:
        stops.update(_stop_for(ADMIN, find_admin_fault(values[ADMIN], target), certain=True))
        at = ADMIN_PORT if ADMIN_PORT in values else "port"
        both = {ADMIN_PORT, "port"} <= values.keys()
        stops.update(_stop_for(at, find_port_fault(values, unread), certain=both))
    if is_too_long(values.get(SOCKET), target):
        stops[SOCKET] = StartupStop(f"The path of a socket can have at most {LONGEST_SOCKET} bytes.", certain=True)
    return stops


def _of_mysql(values: Values, catalog: Catalog, unread: frozenset[str]) -> dict[str, StartupStop]:
    """Find what stops MySQL alone."""
    stops = {}
    if THREADS in values and unread.isdisjoint(REDO_SIZES):
        known = not set(REDO_SIZES).isdisjoint(values)  # another file may set the size
        stops.update(_stop_for(THREADS, find_threads_fault(values, catalog), certain=known))
    if SESSION_FILES in values and SESSION_FILES not in unread and _is_within_data(values):
        stops[SESSION_FILES] = StartupStop(
            "This directory must exist and be outside the data directory, and a line that names the default, which is "
            "within it, stops the server: remove the line, or name another directory.",
            certain=False,  # a symbolic link may lead out of it
        )
    if catalog.target.platform == "windows":
        stops.update(_on_windows(values))
    return stops


def _is_within_data(values: Values) -> bool:
    """Whether the directory for session temporary tablespaces is below the data directory; the latter itself is not."""
    import posixpath

    data = values.get("datadir", "")
    place = values[SESSION_FILES]
    if posixpath.isabs(place):
        return posixpath.isabs(data) and posixpath.normpath(place).startswith(
            posixpath.normpath(data).rstrip("/") + "/"
        )
    return not place or posixpath.normpath(place).split("/")[0] not in (".", "..")


def _of_mariadb(
    values: Values, loaded: frozenset[str], catalog: Catalog, unread: frozenset[str]
) -> dict[str, StartupStop]:
    """Find what stops MariaDB alone."""
    stops = _too_little(values, catalog)
    stops.update(_without_provider(values, loaded, catalog.target))
    stops.update(_without_keys(values, loaded))
    stops.update(_without_certificate(values, catalog.target, unread))
    stops.update(_nodes(values, unread))
    if (parse_digits(values.get(SESSION_MEMORY)) or 1 << 20) <= TOO_LITTLE_MEMORY:
        why = "With 32K or less per session the server cannot read its own tables at start-up."
        stops[SESSION_MEMORY] = StartupStop(why, certain=False)
    if values.get(FILES_OF_STATEMENTS, "").upper() == "NULL":
        why = "Only MySQL supports NULL: MariaDB looks for a directory of that name. Use an empty directory instead."
        stops[FILES_OF_STATEMENTS] = StartupStop(why, certain=False)
    if fault := find_networks_fault(values.get(NETWORKS, ""), catalog.target):
        stops[NETWORKS] = StartupStop(fault, certain=True)
    return stops


def _too_little(values: Values, catalog: Catalog) -> dict[str, StartupStop]:
    """Find a buffer pool without space for MariaDB's own pages, and one port for two sockets."""
    stops, least = {}, POOL_PAGES * (parse_digits(values.get(PAGE)) or USUAL_PAGE)
    if catalog.get("innodb_buffer_pool_size_max"):  # its pages share the pool with their descriptors
        least = (least // MIB + 1) * MIB
    if (parse_digits(values.get(POOL)) or least) < least:
        why = f"MariaDB needs a buffer pool of {exact_size(least)} or more for this page size."
        stops[POOL] = StartupStop(why, certain=True)
    if values.get(EXTRA, "0") != "0" and values[EXTRA] == values.get("port", PORT) and _listens(values, catalog.target):
        stops[EXTRA] = StartupStop("The server cannot open its port twice: use another number.", certain=True)
    return stops


def _on_windows(values: Values) -> dict[str, StartupStop]:
    """Find values that MySQL's manual gives to other systems; no server on Windows was examined."""
    stops = {}
    if values.get(FLUSHING, "").upper() in METHODS_OF_UNIX:
        stops[FLUSHING] = StartupStop(
            "Windows has only the methods unbuffered (the default) and normal.", certain=False
        )
    if values.get(CASE) == "0":
        why = "0 needs a case-sensitive file system, which Windows does not have."
        stops[CASE] = StartupStop(why, certain=False)
    return stops


def _listens(values: Values, target: Target) -> bool:
    """Whether the server opens a TCP port, and so resolves its address; MySQL 8 opens none without grant tables."""
    closed = values.get("skip_networking", "FALSE") not in OFF
    return not closed and not (target.since("mysql", 8) and values.get("skip_grant_tables", "FALSE") not in OFF)


def _engines(values: Values, target: Target) -> dict[str, StartupStop]:
    """Find default engines that the target lacks, and InnoDB off while it is a default engine.

    Another file may load the engine, so these are not certain.
    """
    if not any(name in values for name in (*DEFAULTS, INNODB, LEFT_OUT)):
        return {}

    set_to = {name: values[name] for name in DEFAULTS if name in values}
    if target.is_mariadb:  # where an empty value of these two is none
        set_to = {name: engine for name, engine in set_to.items() if engine or name == DEFAULTS[0]}
    faults = {name: find_engine_fault(engine, target) for name, engine in set_to.items()}
    stops = {name: StartupStop(fault, certain=False) for name, fault in faults.items() if fault}
    wanted = [name for name in DEFAULTS if is_innodb(values.get(name, "InnoDB" if name == DEFAULTS[0] else ""))]
    if target.is_mariadb and wanted:
        off = [name for name, value in ((INNODB, "OFF"), (LEFT_OUT, "TRUE")) if values.get(name) == value]
        why = f"InnoDB is off but {wanted[0]} is InnoDB: set {wanted[0]} to another engine."
        stops.update({name: StartupStop(why, certain=False) for name in off})
    return stops


def _coordinates(values: Values, target: Target) -> bool:
    """Whether the server has a log of transactions that tc_heuristic_recover replaces, asked with and without log_bin.

    MySQL has it with the binary log, MariaDB 11.4 and later always.
    """
    if "log_bin" not in values:
        return target.since("mysql", 8) or target.since("mariadb", 11, 4)
    return values["log_bin"] not in NO_NAMES or target.since("mariadb", 11, 4)


def _data_files(values: Values, target: Target) -> dict[str, StartupStop]:
    """Find data file lists that InnoDB cannot read."""
    named = [name for name in DATA_FILES if name in values]
    if not named:
        return {}

    faults = {name: find_files_fault(name, values[name], target) for name in named}
    temporary, system = (_file_names(values, name) for name in (TEMPORARY, SYSTEM))
    at = TEMPORARY if TEMPORARY in named else SYSTEM
    if not temporary.isdisjoint(system) and not faults[at] and target.platform != "windows":
        faults[at] = f"InnoDB's system tablespace has a file {min(temporary & system)} too: write another name."
    return {name: StartupStop(fault, certain=True) for name, fault in faults.items() if fault}


def _file_names(values: Values, name: str) -> frozenset[str]:
    """The names in a list of InnoDB's data files, or those of its default."""
    written = values.get(name, DEFAULT_FILES[name])
    return frozenset(part.partition(":")[0].strip() for part in written.split(";") if part)


def _is_no_power_of_two(size: int) -> bool:
    """Whether a size is not a power of two."""
    return size & (size - 1) != 0


def _without_provider(values: Values, loaded: frozenset[str], target: Target) -> dict[str, StartupStop]:
    """Since 10.7 every algorithm but zlib needs a provider plugin."""
    algorithm = values.get(ALGORITHM, BUILT_IN[0])
    plugin = f"provider_{algorithm}"
    if algorithm in BUILT_IN or plugin in loaded or not target.since("mariadb", 10, 7):
        return {}
    why = f"{algorithm} needs the plugin {plugin}: add plugin_load_add = {plugin}, which this file lacks."
    return {ALGORITHM: StartupStop(why, certain=False)}


def _without_keys(values: Values, loaded: frozenset[str]) -> dict[str, StartupStop]:
    """Encryption needs keys: the server does not start if it cannot encrypt what is configured."""
    if any(KEYS in name for name in loaded):
        return {}
    logged = values.get("log_bin", NO_DEFAULT) not in ("0", NO_DEFAULT)
    why = "Encryption needs keys from a plugin, and this file loads none: load a plugin such as file_key_management."
    return {
        name: StartupStop(why, certain=False)
        for name in ENCRYPTED
        if values.get(name, "OFF") not in OFF and (logged or name != BINLOG)
    }


def _without_certificate(values: Values, target: Target, unread: frozenset[str]) -> dict[str, StartupStop]:
    """TLS needs a certificate, which MariaDB before 11.4 does not make: it stops, even at an empty ssl_ca.

    Of certificate and key one file is enough, which may hold both.
    """
    files = [name for name in CERTIFICATE if values.get(name, "") not in ("", NO_DEFAULT) or name in unread]
    given = [name for name in values if name in TLS_SWITCHES]  # in the order of their lines, and the last counts
    is_off = [name for name in given if name == "ssl" and (values[name] != "TRUE" or name in unread)]
    if files or given[-1:] == is_off or target.since("mariadb", *OWN_CERTIFICATE):
        return {}
    why = "switches TLS on, which needs a certificate: set ssl_cert and ssl_key too, which this file lacks."
    return {name: StartupStop(f"{name} {why}", certain=False) for name in given if name not in is_off}


def _nodes(values: Values, unread: frozenset[str]) -> dict[str, StartupStop]:
    """Find cluster nodes that lack required options; the command line may set them."""
    if "wsrep_on" not in values:
        return {}

    return {name: StartupStop(why, certain=False) for name, why in find_node_faults(values, unread).items()}


SYSTEM, TEMPORARY = "innodb_data_file_path", "innodb_temp_data_file_path"
MEGABYTE = 1 << 20  # the minimum size of a file
DEFAULT_FILES = {SYSTEM: "ibdata1", TEMPORARY: "ibtmp1"}
LEAST = {SYSTEM: 5 * MEGABYTE, TEMPORARY: 12 * MEGABYTE}  # bytes of all files together
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = r"\s*\+?([0-9]{1,19})([KkMmGg]?)"
SIZE, MOST = 1, 4  # the groups of the numbers, each followed by its unit
_FILE = (
    r"(?:[^:]|:(?=[\\/:]))*:"  # a colon before a slash belongs to the name, as in C:\ib
    rf"{_SIZE}(?P<grows>:autoextend(?::max:{_SIZE})?)?(?P<raw>(?:new)?(?:raw)?)(?:;|\Z)"
)


def find_files_fault(name: str, written: str, target: Target) -> str:
    """Return why InnoDB cannot use this list of files, empty if it can; tested by starting six servers."""
    import re

    pattern = re.compile(_FILE)
    at = total = 0
    grows = False
    while at < len(written) or not at:
        match = pattern.match(written, at)
        if match is None or not _check_sizes(match, target):
            return (
                f"InnoDB cannot parse it from {quote_value(written[at:])} on: each file is name:size with a size of 1M "
                "or more, and the last may end in :autoextend or :autoextend:max:size, in lower case."
            )
        if name == TEMPORARY and match["raw"]:
            return "The temporary tablespace cannot be on a raw device: remove the word after the size."
        at, total, grows = match.end(), total + _matched_bytes(match, SIZE), bool(match["grows"])
    if total >= LEAST[name] or (name == TEMPORARY and grows and target.is_mariadb):
        return ""
    return f"InnoDB does not start with a total of less than {LEAST[name] // MEGABYTE}M in these files."


def _check_sizes(match: re.Match[str], target: Target) -> bool:
    """Whether the sizes are valid and only the last file may grow; since MySQL 8, max must not be below the size."""
    size, most = _matched_bytes(match, SIZE), _matched_bytes(match, MOST)
    if size < MEGABYTE or (match[MOST] and most < MEGABYTE):
        return False
    if match["grows"] and match.end() != match.end("raw"):
        return False
    return not (match[MOST] and most < size and target.since("mysql", 8))


def _matched_bytes(match: re.Match[str], at: int) -> int:
    return int(match[at] or 0) * _UNITS[(match[at + 1] or "").lower()]


def is_innodb(written: str) -> bool:
    """Whether the name is one of InnoDB's two."""
    return written.lower() in ("innodb", "innobase")


ON, PROVIDER, FORMAT = "wsrep_on", "wsrep_provider", "binlog_format"
ADDRESS, METHOD = "wsrep_cluster_address", "wsrep_sst_method"
NO_PROVIDER = ("", "none")


def find_node_faults(values: Values, unread: frozenset[str]) -> dict[str, str]:
    """Return why a node does not start, by the option at fault; `unread` are options whose values are templates."""
    if values.get(ON, "OFF") in OFF or values.get(PROVIDER, "").lower() in NO_PROVIDER:
        return {}
    named = values.get(ADDRESS) or ADDRESS in unread or METHOD in unread
    if not named and values.get(METHOD) != "mysqldump":
        return {ON: "A Galera node needs wsrep_cluster_address, which this file lacks."}
    if values.get(FORMAT, "MIXED") != "ROW" and FORMAT not in unread:
        why = "A Galera node needs binlog_format = ROW."
        return {FORMAT if FORMAT in values else PROVIDER: why}
    if values.get("memlock") == "TRUE":
        return {"memlock": "A node of a cluster does not start with its memory locked: remove the line."}
    return {}
