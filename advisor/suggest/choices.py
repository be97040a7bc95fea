"""Settings that differ from the defaults for a dedicated server; one function per server component."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.sizes import exact_size, format_size
from rules.core.storage import disk_names, is_solid_state, is_spinning
from rules.sizing.memory import GIB, MIB, pool_that_fits, usable_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rules.core.context import RuleContext

POOL = "innodb_buffer_pool_size"
# Percent of the memory available to the server. The manuals' ranges overlap at 60 to 70 (BP-05); large sorts and
# temporary tables need more of the rest, and a developer's machine runs other programs too.
POOL_SHARES = {"oltp": 70, "mixed": 65, "analytic": 60, "dev": 25}
WORKLOADS = tuple(POOL_SHARES)
MIN_POOL = 256 * MIB  # below, the gain over the default of 128M is small, and the rest of the server needs the memory
LARGE_POOL = 4 * GIB
REDO_SIZE = 2 * GIB
SPINNING_CAPACITY = 200
CHECKPOINT_AGE = "how far Innodb_redo_log_current_lsn is ahead of Innodb_redo_log_checkpoint_lsn"


class SuggestedLine(NamedTuple):
    """One line: option and value as written in the file, the reason, ids of its evidence, and its risk.

    `size` is the value in bytes if it is a size.
    """

    option: str
    value: str
    reason: str
    evidence: tuple[str, ...] = ()
    risk: str = ""
    watch: str = ""
    size: int = 0

    @property
    def line(self) -> str:
        """Return the line of the option file."""
        return f"{self.option} = {self.value}"


def suggest_pool(known: RuleContext, workload: str) -> Iterator[SuggestedLine]:
    """Yield the buffer pool size, from the memory available to the server."""
    room = usable_memory(known)
    if room is None:
        return
    wanted = min(room[0] * POOL_SHARES[workload] // 100, pool_that_fits(known, room[0]))
    if wanted < MIN_POOL:
        return
    share = f"{wanted * 100 // room[0]} % of the {room[1]}"
    why = {
        "dev": "is left to the other programs of a developer's machine",
        "analytic": "stays free for long sorts, temporary tables and sessions",
    }.get(workload, "stays free for sessions, the dictionary and the system")
    yield SuggestedLine(
        POOL,
        exact_size(wanted),
        f"{share} that the server may use; the rest {why}. The default of 128M reads most data from disk.",
        ("BP-01", "BP-05", "VM-03"),
        "memory that other programs of this host need",
        "Innodb_buffer_pool_reads",
        wanted,
    )


def suggest_redo_log(known: RuleContext, workload: str) -> Iterator[SuggestedLine]:
    """Yield the redo log size, if the pool is large enough for the default log to limit its dirty pages."""
    size = known.number(POOL) or 0
    if workload == "dev" or size < LARGE_POOL:
        return
    reason = (
        f"With a pool of {format_size(size)} the default makes writes wait for pages to be flushed. "
        "The write rate of this "
        "server is unknown: mycnf audit checks whether the log holds an hour of writes at peak."
    )
    details = (("REDO-01", "REDO-02"), f"{format_size(REDO_SIZE)} of disk; recovery after a crash may take minutes")
    if known.catalog.get("innodb_redo_log_capacity"):
        yield SuggestedLine("innodb_redo_log_capacity", exact_size(REDO_SIZE), reason, *details, CHECKPOINT_AGE)
    elif known.target.is_mariadb:
        yield SuggestedLine("innodb_log_file_size", exact_size(REDO_SIZE), reason, *details, "Innodb_checkpoint_age")
    else:
        files = known.number("innodb_log_files_in_group") or 2
        yield SuggestedLine("innodb_log_file_size", exact_size(REDO_SIZE // files), reason, *details)


def suggest_flushing(known: RuleContext, _workload: str) -> Iterator[SuggestedLine]:
    """Yield settings for flushing to the known disks."""
    if known.target.is_mysql and not known.target.since("mysql", 8, 4):
        yield SuggestedLine(
            "innodb_flush_method",
            "O_DIRECT",
            "The default of this version causes double buffering: pages are cached in the pool and in the page cache.",
            ("FLUSH-01",),
            "reads of pages that were only in the page cache go to the disk",
            "Innodb_buffer_pool_reads",
        )
    if is_spinning(known):
        yield from _suggest_for_spinning_disks(known)
    elif is_solid_state(known) and known.target.is_mysql and (known.number("innodb_flush_neighbors") or 0):
        yield SuggestedLine(
            "innodb_flush_neighbors",
            "0",
            f"Flushing neighbours saves seeks, which these disks ({disk_names(known.host)}) don't have.",
            ("NB-01",),
            "",
            "Innodb_data_writes",
        )


def _suggest_for_spinning_disks(known: RuleContext) -> Iterator[SuggestedLine]:
    disks = disk_names(known.host)
    if (known.number("innodb_io_capacity") or 0) > SPINNING_CAPACITY:
        reason = f"The default asks for more page writes a second than spinning disks ({disks}) can do."
        watch = "Innodb_buffer_pool_pages_dirty"
        # The maximum must not be below the rate; twice the rate is the server's own default for it.
        yield SuggestedLine("innodb_io_capacity", str(SPINNING_CAPACITY), reason, ("IOC-03",), "", watch)
        yield SuggestedLine("innodb_io_capacity_max", str(2 * SPINNING_CAPACITY), reason, ("IOC-03",), "", watch)
    if known.target.is_mysql and known.number("innodb_flush_neighbors") == 0:
        reason = f"Writing neighbouring pages together saves seeks on spinning disks ({disks})."
        yield SuggestedLine("innodb_flush_neighbors", "1", reason, ("NB-01",), "", "Innodb_data_writes")


def suggest_character_set(known: RuleContext, _workload: str) -> Iterator[SuggestedLine]:
    """Yield utf8mb4 for new databases, if the default character set cannot store all of Unicode."""
    if known.text("character_set_server") == "LATIN1":
        yield SuggestedLine(
            "character_set_server",
            "utf8mb4",
            "latin1 holds no letters beyond Western Europe's; newer series of both servers start with utf8mb4.",
            (),
            "existing tables keep their character set; joins between both sets may not use an index",
        )


def suggest_local_infile(known: RuleContext, _workload: str) -> Iterator[SuggestedLine]:
    """Yield local_infile = OFF, which stops the server from reading files of its clients."""
    if known.text("local_infile") in {"ON", "TRUE", "1"}:
        yield SuggestedLine(
            "local_infile",
            "OFF",
            "A compromised server could request files from its clients.",
            ("SRV-01",),
            "LOAD DATA LOCAL fails until local_infile is enabled",
        )


CHOOSERS: tuple[Callable[[RuleContext, str], Iterator[SuggestedLine]], ...] = (
    suggest_pool,
    suggest_redo_log,
    suggest_flushing,
    suggest_character_set,
    suggest_local_infile,
)
