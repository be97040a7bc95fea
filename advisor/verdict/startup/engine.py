"""InnoDB's sizes and rates on a running server: rounded to units, and limited by each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.verdict.outcome import Values
    from advisor.verdict.settled import StartupSettings

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
    return wanted if {"TRUE": "ON", "FALSE": "OFF"}.get(start.values[name]) != wanted else None
