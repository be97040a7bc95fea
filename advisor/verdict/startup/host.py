"""Start-up values that depend on the host or on storage engines, and the addresses at which a server listens."""

from __future__ import annotations

from advisor.core.model import exact_size
from advisor.redaction import quote_value
from advisor.verdict.number import PORT, parse_digits
from advisor.verdict.settings import BOOLEANS, DEFAULT_CONNECTIONS, THREADS, StartupSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.catalog import Catalog
    from advisor.core.model import Target
    from advisor.verdict.outcome import FileVerdict, Values

    Note = Callable[[StartupSettings, str], str | None]


MIB, GIB = 1 << 20, 1 << 30
POOL = "innodb_buffer_pool_size"
INSTANCES = "innodb_buffer_pool_instances"
CHUNK = "innodb_buffer_pool_chunk_size"
MOST, LEAST = "innodb_buffer_pool_size_max", "innodb_buffer_pool_size_auto_min"
CLEANERS = "innodb_page_cleaners"
# Values that MariaDB gives these options if the older innodb_flush_method is set: for a method in BUFFERED, and for
# O_DSYNC; None leaves the option alone.
FILE_OPENING = {
    "innodb_data_file_buffering": ("ON", "OFF"),
    "innodb_data_file_write_through": ("OFF", "ON"),
    "innodb_log_file_buffering": (None, "OFF"),
    "innodb_log_file_write_through": ("OFF", "ON"),
}
BUFFERED = ("fsync", "littlesync", "nosync")
LARGE_INSTANCES = 8  # for a pool of 1 GiB or more before 8.4; later versions use the number of processors
CHUNKS = 64  # chunks of a pool whose chunk size MariaDB chooses
EXTENT = 8 * MIB  # MariaDB rounds the maximum of a resizable pool up to this unit
FEW_FILES, DEFAULT_FILES = 10, 300


def buffer_pool_value(start: StartupSettings, name: str) -> str | None:
    """Return a size or count of the buffer pool; None if it depends on the number of processors."""
    target = start.catalog.target
    size = start.number(POOL)
    if not size or (start.text("innodb_dedicated_server") == "TRUE" and POOL not in start.values):
        return None
    if target.is_mysql:
        return _pool_mysql(start, size).get(name)
    return (_extent_value(start, size) if start.catalog.get(MOST) else _chunk_value(start, size)).get(name)


def instances_of(start: StartupSettings, size: int) -> int | None:
    """Return MySQL's number of pool instances for a size; None if it depends on the number of processors."""
    if size < GIB:
        return 1
    known = None if start.catalog.target.since("mysql", 8, 4) else LARGE_INSTANCES
    return start.number(INSTANCES) or known


def _pool_mysql(start: StartupSettings, size: int) -> Values:
    """Every instance has whole chunks, so the pool size is rounded up to chunk size times instances."""
    instances, chunk = instances_of(start, size), start.number(CHUNK)
    if not instances or not chunk:
        return {}
    if chunk * instances > size:
        unit = MIB if start.catalog.target.since("mysql", 8, 4) else 1
        chunk = _round_up(-(-size // instances), unit)
    cleaners = min(start.number(CLEANERS) or instances, instances)
    found = {POOL: _round_up(size, chunk * instances), INSTANCES: instances, CHUNK: chunk, CLEANERS: cleaners}
    return {name: str(number) for name, number in found.items()}


def _chunk_value(start: StartupSettings, size: int) -> Values:
    """MariaDB without in-place resizing: a chunk is never larger than the pool."""
    chunk = min(start.number(CHUNK) or 0, size) or max(size // CHUNKS, MIB)
    return {POOL: str(_round_up(size, chunk)), CHUNK: str(chunk)}


def _extent_value(start: StartupSettings, size: int) -> Values:
    """MariaDB with a resizable pool: the maximum is at least the pool size, the lower bound at most the maximum."""
    most = max(start.number(MOST) or 0, _round_up(size, EXTENT))
    least = min(start.number(LEAST) or most, most)
    return {MOST: str(most), LEAST: str(least)}


def _round_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit


def low_water_mark(start: StartupSettings, name: str) -> str | None:
    """The low-water mark of dirty pages is limited by innodb_max_dirty_pages_pct."""
    most = start.text("innodb_max_dirty_pages_pct")
    return f"{float(most):.6f}" if most and float(start.values[name]) > float(most) else None


def open_files(start: StartupSettings, name: str) -> str | None:
    """A value below 10 counts as unset: then 300, or table_open_cache if larger and innodb_file_per_table is on."""
    number = start.number(name)
    if number is None or number >= FEW_FILES:
        return None
    return str(max(DEFAULT_FILES, start.tables) if start.text("innodb_file_per_table") != "FALSE" else DEFAULT_FILES)


def sort_degree(start: StartupSettings, name: str) -> str | None:
    """Full-text index sort threads: rounded up to a power of two."""
    number = start.number(name)
    return str(1 << (number - 1).bit_length()) if number else None


def write_ahead(start: StartupSettings, name: str) -> str | None:
    """Redo log block size: rounded down to a power of two."""
    number = start.number(name)
    return str(1 << number.bit_length() - 1) if number else None


def file_opening(start: StartupSettings, name: str) -> str | None:
    """File options and the doublewrite setting that innodb_flush_method overrides on MariaDB 11."""
    method = start.text("innodb_flush_method")
    if "innodb_data_file_buffering" not in start.catalog.options:
        return None
    if name not in FILE_OPENING:
        return "fast" if method == "O_DIRECT_NO_FSYNC" and start.values[name] == "ON" else None
    buffered, direct = FILE_OPENING[name]
    wanted = buffered if method in BUFFERED else direct if method == "O_DSYNC" else None
    return wanted if BOOLEANS.get(start.values[name]) != wanted else None


ORDINARY = 1024  # default limit of open files per process on Linux
OTHERS, OTHERS_MARIADB = 10, 30  # files besides those of connections and tables
LEAST_TABLES, LEAST_TABLES_MARIADB = 400, 200  # open tables kept before max_connections is lowered
TABLE_INSTANCES = 8
BLOCK = 4096


def host_note(verdict: FileVerdict, name: str) -> str | None:
    """Return how the host affects an option that the file sets, in one sentence; None if it does not."""
    describe = NOTES.get(name)
    if describe is None:
        return None
    values = {other: line.value for other, line in verdict.effective.items() if line.value is not None}
    return describe(StartupSettings(values, verdict.effective, verdict.catalog), name)


def _open_files_note(start: StartupSettings, _name: str) -> str:
    if start.catalog.target.is_mysql:
        return "The operating system decides: the server keeps a higher limit, and accepts a lower one if it must."
    return "The operating system decides: the server uses what it needs within the limit, or what it gets."


def _connections_note(start: StartupSettings, _name: str) -> str | None:
    connections, tables = _connections_and_tables(start)
    least = LEAST_TABLES_MARIADB if start.catalog.target.is_mariadb else min(tables, LEAST_TABLES)
    return _lowered_note(connections + _reserved_files(start) + 2 * least)


def _tables_note(start: StartupSettings, _name: str) -> str | None:
    connections, tables = _connections_and_tables(start)
    return _lowered_note(connections + 2 * tables + _reserved_files(start))


def _table_instances_note(start: StartupSettings, name: str) -> str | None:
    if start.catalog.target.is_mysql:
        return None
    connections, tables = _connections_and_tables(start)
    return _lowered_note(connections + 2 * tables * (start.number(name) or TABLE_INSTANCES) + _reserved_files(start))


def _reserved_files(start: StartupSettings) -> int:
    return OTHERS_MARIADB if start.catalog.target.is_mariadb else OTHERS


def _connections_and_tables(start: StartupSettings) -> tuple[int, int]:
    """Return max_connections and the number of open tables, as set or compiled."""
    return start.number("max_connections") or DEFAULT_CONNECTIONS, start.tables


def _lowered_note(files: int) -> str | None:
    if files <= ORDINARY:
        return None
    return (
        f"The operating system may decide: the server lowers the value if it may open fewer than {files:,} files "
        "(ulimit -n, LimitNOFILE=)."
    )


def _open_files(start: StartupSettings, name: str) -> str | None:
    return _lowered_note(start.number(name) or 0)


def _processors_note(start: StartupSettings, _name: str) -> str | None:
    size = start.number(POOL)
    if start.catalog.target.is_mariadb or not size or size < GIB or instances_of(start, size):
        return None
    return "The processors decide: their number determines the number of instances, and the pool is rounded up to fit."


def _disk_note(start: StartupSettings, name: str) -> str | None:
    if start.catalog.target.is_mysql or (start.number(name) or 0) >= BLOCK:
        return None
    return "The disk decides: the server writes at least one disk block, which is 512 or 4096 bytes."


def _adaptive_note(_start: StartupSettings, _name: str) -> str | None:
    return "The load decides: InnoDB adjusts it at run time."


NOTES: dict[str, Note] = {
    "open_files_limit": _open_files_note,
    "max_connections": _connections_note,
    "table_open_cache": _tables_note,
    "table_cache": _tables_note,
    "table_open_cache_instances": _table_instances_note,
    "innodb_open_files": _open_files,
    POOL: _processors_note,
    INSTANCES: _processors_note,
    CHUNK: _processors_note,
    CLEANERS: _processors_note,
    "innodb_log_write_ahead_size": _disk_note,
    "innodb_thread_sleep_delay": _adaptive_note,
}


# Values for -1 on a server with default settings or less, with up to twice as much, and with more.
SIZES = {
    "_history_long_size": ("100", "1000", "10000"),
    "_history_size": ("5", "10", "10"),
    "_digests_size": ("1000", "5000", "10000"),
    "_session_connect_attrs_size": ("512", "512", "512"),
}
# These keep their value when the Performance Schema is off.
NEVER_AUTOSIZED = ("performance_schema_error_size", "performance_schema_max_digest_sample_age")
DEFINITIONS = 400
MOST_DEFINITIONS = 2000


def size(start: StartupSettings, name: str) -> str | None:
    """Return a size: 0 with the Performance Schema off, and the server's own choice for -1."""
    option = start.catalog.get(name)
    if option is None or option.kind not in ("int", "uint"):
        return None
    if start.text("performance_schema") == "FALSE":
        return None if name in NEVER_AUTOSIZED else "0"
    end = next((end for end in SIZES if name.endswith(end)), None)
    return SIZES[end][_size_class(start)] if end and start.values[name] == "-1" else None


def _size_class(start: StartupSettings) -> int:
    """Return 0, 1 or 2, by the number of connections and tables."""
    default = 4000 if start.catalog.target.since("mysql", 8) else 2000
    tables = start.tables
    definitions = start.number("table_definition_cache") or min(DEFINITIONS + tables // 2, MOST_DEFINITIONS)
    connections = start.number("max_connections") or DEFAULT_CONNECTIONS
    load = max(connections / DEFAULT_CONNECTIONS, definitions / DEFINITIONS, tables / default)
    return (load > 1) + (load > 2)  # noqa: PLR2004 - twice the defaults


# None of these is in an address or a host name, but % in front of an IPv6 address's interface, and / in front of the
# network namespace that MySQL takes since 8.0.22.
NEVER_IN_NAMES = frozenset(" \t%/[]()<>\"',;")
EVERY_ADDRESS = frozenset({"*", "0.0.0.0", "::"})  # noqa: S104 - compared, never listened on
OCTETS, LARGEST_OCTET, IPV6 = 4, 255, frozenset("0123456789abcdef:.")


def find_address_fault(written: str, target: Target, *, listens: bool) -> str:
    """Return why the server stops at this bind_address, empty if it may start; tested by starting five servers.

    Names are resolved only by a server that listens. Lists, which MySQL takes since 8.0.13, are checked in any case.
    """
    lists = target.since("mysql", 8, 0, 13)
    addresses = written.split(",")
    if not written.strip():
        return "It contains no address." if listens or lists else ""
    if lists and len(addresses) > 1 and not EVERY_ADDRESS.isdisjoint(addresses):
        return f"A list cannot contain {', '.join(sorted(EVERY_ADDRESS))}, which already mean all addresses."
    if not listens:
        return ""
    if target.is_mariadb and written.lower().startswith("::ffff:"):
        return "MariaDB opens an IPv6 socket for IPv6 alone: write the IPv4 address without ::ffff:."
    if len(addresses) > 1 and target.is_mysql and not lists:
        return "This version accepts one address, not a list."
    wrong = next((address for address in addresses if _is_no_address(address, target)), None)
    return "" if wrong is None else f"{quote_value(wrong)} is neither an IP address nor a host name."


def find_admin_fault(written: str, target: Target) -> str:
    """Return why the server cannot listen on this admin_address, empty if it may."""
    address = written.partition("/")[0]
    if any(wildcard.startswith(address) for wildcard in EVERY_ADDRESS):
        return "The administrative port takes one address of this host, not one that means all of them."
    return f"{quote_value(written)} is not one IP address or host name." if _is_no_address(written, target) else ""


def _is_no_address(written: str, target: Target) -> bool:
    """Whether no host resolves this; names that only a name server can resolve are not refused."""
    allowed = {"%"} if ":" in written else set()
    if target.since("mysql", 8, 0, 22):
        allowed.add("/")
    address = written.partition("/")[0].partition("%")[0].lower()
    if ":" in address and (address.count(":") == 1 or not IPV6.issuperset(address)):
        return True  # a port after the address
    parts = written.split(".")
    numbers = len(parts) == OCTETS and all(part.isdecimal() for part in parts)
    too_large = numbers and any(int(part[:10]) > LARGEST_OCTET for part in parts)
    return too_large or bool(NEVER_IN_NAMES.intersection(written) - allowed)


BIND, ADMIN, ADMIN_PORT = "bind_address", "admin_address", "33062"
BITS = {4: 32, 6: 128}  # of an address, by its version
OF_IPV4 = 96  # leading bits of an IPv6 address that contains one of IPv4
TAKES_WORDS = (11, 4, 5)


def find_networks_fault(written: str, target: Target) -> str:
    """Return why MariaDB stops at this proxy_protocol_networks, empty if it starts; tested by starting servers.

    11.4.5 takes any word without a dot or colon; 10.11.19 and 11.8.9 take localhost alone.
    """
    networks = [] if written == "*" else written.replace(",", " ").split(" ")
    if (11, 4) <= target.version <= TAKES_WORDS:
        networks = [network for network in networks if {".", ":"} & set(network)]
    wrong = next((network for network in networks if network and not _is_network(network)), None)
    if wrong is None:
        return ""
    return f"{quote_value(wrong)} is not a network: write addresses, networks such as 192.168.0.0/16, or localhost."


def _is_network(text: str) -> bool:
    """Whether MariaDB reads an address, with or without a number of bits, or the word for local connections."""
    from ipaddress import AddressValueError, IPv4Address, IPv6Address

    address, slash, bits = text.partition("/")
    if not {".", ":"} & set(text):
        return text == "localhost"
    try:
        parsed = IPv6Address(address) if ":" in text else IPv4Address(address)
    except AddressValueError:
        return False
    if "%" in address:
        return False
    if not slash:
        return True
    holds_ipv4 = isinstance(parsed, IPv6Address) and (parsed.ipv4_mapped or 1 < int(parsed) < 1 << BITS[4])
    least = OF_IPV4 if holds_ipv4 else 0
    return bits.isascii() and bits.isdecimal() and least <= int(bits[:4]) <= BITS[parsed.version]


def find_port_fault(values: Values, unread: frozenset[str]) -> str:
    """Return why MySQL cannot open its administrative port beside its port, empty if it can.

    `values` has an admin_address, and the server listens; options in `unread` are set by templates.
    """
    if not unread.isdisjoint(("admin_port", "port", BIND)):
        return ""
    port, address = values.get("admin_port", ADMIN_PORT), values[ADMIN]
    everywhere = values.get(BIND, "*").split(",")
    if port == "0" or port != values.get("port", PORT) or EVERY_ADDRESS.union((address,)).isdisjoint(everywhere):
        return ""
    return "The server cannot open the port and the administrative port at one number: use another number."


REDO_SIZES = ("innodb_redo_log_capacity", "innodb_log_file_size", "innodb_log_files_in_group")
# Pages of redo that InnoDB reserves for each thread, the number of its own threads, and more pages before 8.0.30.
THREAD_PAGES, OWN_THREADS, MORE_PAGES = 4, 10, 8
LOG_HEADER, USUAL_PAGE = 2048, 16 << 10  # bytes of a redo log file, and of a page


def find_threads_fault(values: Values, catalog: Catalog) -> str:
    """Return why MySQL's redo log is too small for this limit of threads, empty if it is not; tested on servers."""
    page = parse_digits(values.get("innodb_page_size")) or USUAL_PAGE
    threads, usable = parse_digits(values[THREADS]), _usable_redo(values, catalog, page)
    if not threads or not usable or values.get("innodb_dedicated_server") == "TRUE":
        return ""
    each = THREAD_PAGES * page
    most = usable // 2 // each - OWN_THREADS
    if threads <= most:
        return ""
    return f"The redo log has space for about {most:,} threads: InnoDB reserves {exact_size(each)} for each."


def _usable_redo(values: Values, catalog: Catalog, page: int) -> int:
    """The bytes of the redo log of which half may be reserved for threads; 0 if its size is unknown."""
    target = catalog.target
    capacity, size, files = (
        parse_digits(values.get(name) or (option.default if (option := catalog.get(name)) else None)) or 0
        for name in REDO_SIZES
    )
    if target.since("mysql", 8, 0, 30):
        if not set(REDO_SIZES[1:]).isdisjoint(values) and REDO_SIZES[0] not in values:
            capacity = size * files
        return capacity * 30 // 32 * 95 // 100 * 9656 // 10000  # somewhat more than it is: by the source of 9.7
    real = (size - LOG_HEADER) * files
    if target.since("mysql", 8):
        usable = real - min(real // 10, 256 * THREAD_PAGES * page)
        return usable - 2 * (usable // 20 + MORE_PAGES * page)
    return real - real // 10 - 2 * MORE_PAGES * page
