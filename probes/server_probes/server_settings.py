"""The settings of a server that is measured: bounded in memory and disk, quiet but for the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.load import load
from probes.experiment import Cost

if TYPE_CHECKING:
    from advisor.core.model import Target

MIB = 1 << 20
CONNECTIONS = 300
FRESH_DATADIR = 250 * MIB  # a fresh data directory with its undo, system and temporary tablespaces, at most
PROCESS_MEMORY = 450 * MIB  # what a server takes besides its buffer pool: MySQL's Performance Schema is most of it
CONNECTION_MEMORY = 2 * MIB
BINARY_LOG = 64 * MIB  # a file of it; old ones are purged between blocks
PAGE = 16 << 10
FREE_SHARE = 32  # of so many pages one is kept free, as in a pool of half a gigabyte
LEAST_DEPTH = 100  # of innodb_lru_scan_depth
USUAL_DEPTH = 1024
START_SECONDS = 12.0  # initialise and start, on an idle disk at most
LOAD_RATE = 20 * MIB  # bytes of a table a second, filled and indexed, on a slow machine
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
    """Options of a server with a buffer pool and a redo log of so many bytes.

    `binary_log` turns the binary log on. `direct` makes InnoDB pass the page cache by, so that the pool alone decides
    what is cached. A small pool keeps its share of pages free, not the number meant for large ones. Everything else
    stays as the server's makers set it.
    """
    flags = [f"--innodb-buffer-pool-size={pool}", *BOUNDED_OPTIONS, *_redo_options(target, redo), *_lru_options(pool)]
    logging = ["--log-bin=binlog", "--server-id=1", f"--max-binlog-size={BINARY_LOG}"]
    flags += logging if binary_log else ["--skip-log-bin"]
    flags += ["--innodb-flush-method=O_DIRECT"] if direct else ["--innodb-flush-method=fsync"]
    # MariaDB makes itself a key of 4096 bits at every start, which takes seconds, and a socket needs no TLS.
    flags += ["--skip-ssl"] if target.since("mariadb", 11, 4) else []
    return tuple(flags)


def lru_scan_depth(pool: int) -> int:
    """Pages that the server is to keep free of a pool of so many bytes, by innodb_lru_scan_depth."""
    return min(USUAL_DEPTH, max(LEAST_DEPTH, pool // PAGE // FREE_SHARE))


def _lru_options(pool: int) -> list[str]:
    # The server keeps innodb_lru_scan_depth pages free by throwing others out: of a pool of 16M, nearly all.
    depth = lru_scan_depth(pool)
    return [f"--innodb-lru-scan-depth={depth}"] if depth < USUAL_DEPTH else []


def _redo_options(target: Target, redo: int) -> list[str]:
    if load(target).get("innodb_redo_log_capacity") is not None:
        return [f"--innodb-redo-log-capacity={redo}"]
    if target.since("mariadb", 10, 5):  # one file since then
        return [f"--innodb-log-file-size={redo}"]
    return [f"--innodb-log-file-size={redo // 2}", "--innodb-log-files-in-group=2"]


def server_cost(
    *, pool: int, data: int, redo: int = 256 * MIB, growth: int = 0, servers: int = 1, threads: int = 1
) -> Cost:
    """What such servers take, each with `data` bytes of tables; `growth` is what the run itself may write, in all."""
    return Cost(
        disk=servers * (FRESH_DATADIR + redo + int(data * 1.3)) + growth,
        memory=servers * (PROCESS_MEMORY + int(pool * 1.1)) + threads * CONNECTION_MEMORY,
        prepare=servers * (START_SECONDS + data / LOAD_RATE),
        creates=(
            "a scratch directory with a throwaway server's data, removed when it ends",
            "that server, which listens only on a socket there",
        ),
    )
