"""What an audit looked at and found fine, with the numbers: silence could be that of what nobody looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.sizes import about, lasted, percent
from rules.known import Missing
from rules.log import checkpoint, redo_capacity
from rules.memory import budget, usable
from rules.peak import REDO, fullest
from rules.rates import steady
from rules.tablive import descriptors

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from advisor.model import Finding
    from rules.known import Known

HOUR = 3600


class Fine(NamedTuple):
    """A part of the server that no rule speaks against: its name, and the numbers that were looked at, in words."""

    part: str
    words: str


class Look(NamedTuple):
    """How a part is told; the findings of the `rules`, by name, are what would speak against it."""

    part: str
    rules: tuple[str, ...]
    says: Callable[[Known], str | None]


def fine(known: Known, findings: Iterable[Finding], asked: Container[str]) -> Iterator[Fine]:
    """The parts that were looked at and that no finding is about.

    `asked` are the names of the rules that could look: a part that none of its rules looked at is not told.
    """
    found = {finding.name for finding in findings}
    for look in LOOKS:
        if found.intersection(look.rules) or not any(name in asked for name in look.rules):
            continue
        try:
            words = look.says(known)
        except Missing:
            continue
        if words:
            yield Fine(look.part, words)


def _memory(known: Known) -> str | None:
    estimate, room = budget(known), usable(known)
    if estimate is None or room is None or not estimate.likely:
        return None
    taken = f"{about(estimate.measured)} taken, " if estimate.measured else ""
    return f"{taken}{about(estimate.likely)} likely of the {room[1]} that the server may use"


def _pool(known: Known) -> str | None:
    window = steady(known)
    asked, missed = (window.rate(f"innodb_buffer_pool_{what}") for what in ("read_requests", "reads"))
    if asked is None or missed is None:
        return None
    return f"{missed:,.1f} of {asked:,.0f} page requests a second went to disk"


def _redo(known: Known) -> str | None:
    (window, when, hour), capacity = fullest(known, REDO), redo_capacity(known)
    rate, age = window.redo_rate, checkpoint(known.server.counter)
    if rate is None or not capacity or rate * HOUR > capacity:
        return None
    told = f"{about(rate * HOUR)} an hour into {about(capacity)}" + (f" {when}" if hour else "")
    return f"{told}, {percent(age[0] / age[1])} of it before the checkpoint" if age else told


def _connections(known: Known) -> str | None:
    most, limit = known.server.counter("max_used_connections"), known.number("max_connections")
    if most is None or not limit:
        return None
    return f"{most:,} of {limit:,} used at most, in {lasted(known.server.uptime)}"


def _rates(*counters: tuple[str, str]) -> Callable[[Known], str | None]:
    """Counters as rates in words; a counter that the server lacks is left out."""

    def says(known: Known) -> str | None:
        window = steady(known)
        told = [f"{rate:,.1f} {words}" for name, words in counters if (rate := window.rate(name)) is not None]
        return f"{', '.join(told)} a second" if told else None

    return says


def _open_files(known: Known) -> str | None:
    limit = known.number("open_files_limit")
    if known.server.counter("open_files") is None or not limit:
        return None
    return f"at least {sum(descriptors(known)):,} of {limit:,} file descriptors in use"


def _commits(known: Known) -> str | None:
    log = known.text("log_bin")
    if known.text("innodb_flush_log_at_trx_commit") != "1" or log is None:
        return None
    if log in {"", "OFF", "0"}:
        return "the redo log is on disk at each commit; there is no binary log"
    return "redo log and binary log are on disk at each commit" if known.text("sync_binlog") == "1" else None


LOOKS = (
    Look("memory", ("memory-over-budget", "pool-exceeds-memory", "swapped-server", "killed-for-memory"), _memory),
    Look("buffer pool", ("small-buffer-pool", "free-page-waits"), _pool),
    Look("redo log", ("small-redo-log", "tiny-redo-log", "checkpoint-pressure", "log-buffer-waits"), _redo),
    Look("connections", ("few-connections-left", "connections-refused", "oversized-connection-limit"), _connections),
    Look("threads", ("threads-made-anew",), _rates(("threads_created", "made"), ("connections", "connections"))),
    Look(
        "temporary tables",
        ("temporary-tables-on-disk", "exhausted-temporary-memory"),
        _rates(("created_tmp_disk_tables", "on disk"), ("created_tmp_tables", "in all")),
    ),
    Look(
        "table cache",
        ("overflowing-table-cache",),
        _rates(("table_open_cache_misses", "misses"), ("table_open_cache_hits", "hits")),
    ),
    Look("sorts", ("sorts-in-many-passes",), _rates(("sort_merge_passes", "merge passes"))),
    Look("joins", ("joins-without-index",), _rates(("select_full_join", "without an index"))),
    Look("row locks", ("sessions-waiting-for-rows", "frequent-deadlocks"), _rates(("innodb_row_lock_waits", "waits"))),
    Look("open files", ("open-files-near-limit", "limited-by-the-system"), _open_files),
    Look("commits", ("lost-commits", "unsynced-binary-log"), _commits),
)
