"""Settings of measured servers: limited in memory and disk, and idle apart from the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.load import load
from probes.experiment import Cost

if TYPE_CHECKING:
    from advisor.core.model import Target

MIB = 1 << 20
CONNECTIONS = 300
FRESH_DATADIR = 250 * MIB  # maximum size of a fresh data directory with its undo, system and temporary tablespaces
PROCESS_MEMORY = 450 * MIB  # memory besides the buffer pool; mostly MySQL's Performance Schema
CONNECTION_MEMORY = 2 * MIB
BINARY_LOG = 64 * MIB  # bytes per file; old files are purged between blocks
PAGE = 16 << 10
FREE_SHARE = 32  # one in so many pages is kept free, as in a pool of half a gigabyte
LEAST_DEPTH = 100  # minimum of innodb_lru_scan_depth
USUAL_DEPTH = 1024
START_SECONDS = 12.0  # maximum time to initialize and start on an idle disk
LOAD_RATE = 20 * MIB  # bytes of a table per second, filled and indexed, on a slow machine
BOUNDED_OPTIONS = (
    f"--max-connections={CONNECTIONS}",
    "--table-open-cache=200",
    "--table-definition-cache=400",
    "--innodb-buffer-pool-dump-at-shutdown=OFF",
    "--innodb-buffer-pool-load-at-startup=OFF",
)


def server_arguments(
    target: Target, *, pool: int, redo: int = 256 * MIB, binary_log: bool = False, direct: bool = True
) -> tuple[str, ...]:
    """Options of a server with a buffer pool and a redo log of these sizes in bytes.

    `binary_log` enables the binary log. `direct` makes InnoDB bypass the page cache, so that only the pool caches
    data. The number of free pages is reduced in proportion for small pools. Everything else has the server's defaults.
    """
    flags = [f"--innodb-buffer-pool-size={pool}", *BOUNDED_OPTIONS, *_redo_options(target, redo), *_lru_options(pool)]
    logging = ["--log-bin=binlog", "--server-id=1", f"--max-binlog-size={BINARY_LOG}"]
    flags += logging if binary_log else ["--skip-log-bin"]
    flags += ["--innodb-flush-method=O_DIRECT"] if direct else ["--innodb-flush-method=fsync"]
    # MariaDB generates a key of 4096 bits at every start, which takes seconds, and the socket needs no TLS.
    flags += ["--skip-ssl"] if target.since("mariadb", 11, 4) else []
    return tuple(flags)


def lru_scan_depth(pool: int) -> int:
    """innodb_lru_scan_depth for a pool of that many bytes."""
    return min(USUAL_DEPTH, max(LEAST_DEPTH, pool // PAGE // FREE_SHARE))


def _lru_options(pool: int) -> list[str]:
    # The server keeps innodb_lru_scan_depth pages free by evictions; in a pool of 16M that would be nearly all pages.
    depth = lru_scan_depth(pool)
    return [f"--innodb-lru-scan-depth={depth}"] if depth < USUAL_DEPTH else []


def _redo_options(target: Target, redo: int) -> list[str]:
    if load(target).get("innodb_redo_log_capacity") is not None:
        return [f"--innodb-redo-log-capacity={redo}"]
    if target.since("mariadb", 10, 5):  # a single file since that version
        return [f"--innodb-log-file-size={redo}"]
    return [f"--innodb-log-file-size={redo // 2}", "--innodb-log-files-in-group=2"]


def server_cost(
    *, pool: int, data: int, redo: int = 256 * MIB, growth: int = 0, servers: int = 1, threads: int = 1
) -> Cost:
    """The cost of servers with `data` bytes of tables each; `growth` is what the whole run may write."""
    return Cost(
        disk=servers * (FRESH_DATADIR + redo + int(data * 1.3)) + growth,
        memory=servers * (PROCESS_MEMORY + int(pool * 1.1)) + threads * CONNECTION_MEMORY,
        prepare=servers * (START_SECONDS + data / LOAD_RATE),
        creates=(
            "a scratch directory with a throwaway server's data, removed when it ends",
            "that server, which listens only on a socket there",
        ),
    )
