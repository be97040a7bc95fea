"""INN: rules about innodb_io_capacity; what the disks can do, and whether flushing keeps up with the writes."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import Confidence, Severity
from rules.core import Docs, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import variable_subject
from rules.innodb import is_aurora

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.core.model import Action, Finding
    from advisor.facts import Workload
    from rules.core.context import RuleContext

CAPACITY = "innodb_io_capacity"
CAPACITY_MAX = "innodb_io_capacity_max"
LARGEST_CAPACITY = 20000  # IOC-02: MySQL, not above without need; IOC-03: MariaDB on SATA
NVME_CAPACITY = 80000  # IOC-03, for MariaDB
SPINNING_CAPACITY = 200  # IOC-03: 100 to 200 for one spinning disk; the default before MySQL 8.4
SPINNING_ARRAY = 800  # four to eight spinning disks, where only their kind is known
SOLID_CAPACITY = 2000  # IOC-03: where MariaDB's figures for solid-state disks begin
LEAST_MAXIMUM = 2000  # the lowest default of innodb_io_capacity_max
WRITTEN = 100  # pages a second, our choice: below, background writes cost a disk hardly anything
AT_MAXIMUM_PERCENT = 80
FLUSHED = "innodb_buffer_pool_pages_flushed"
LOW_MARK, LOW_PERCENT = "innodb_max_dirty_pages_pct_lwm", 10  # MySQL's default since 8.0
REQUESTS = "innodb_buffer_pool_read_requests"
# Releases of MariaDB that do not count all page requests (INNV-33).
MISCOUNTED = frozenset({(10, 6, 13), (10, 8, 8), (10, 9, 6), (10, 10, 4), (10, 11, 3)})
DIRTY, ALL_PAGES = "innodb_buffer_pool_pages_dirty", "innodb_buffer_pool_pages_total"
# Sessions wait before the redo log is full: on MySQL 8.0.30 and later at 84 percent of its capacity; before, at nine
# tenths of the files without a margin of a tenth, which is 16M at most since 8.0 (INNA-41).
LIMIT_PERCENT, OLD_LIMIT_PERCENT = 84, 90
LARGEST_MARGIN = 16 << 20
POSITION = r"(?m)^Log sequence number\s+(\d{1,20})"
CHECKPOINT = r"(?m)^Last checkpoint at\s+(\d{1,20})"


class CheckpointAge(NamedTuple):
    """Bytes of redo whose pages are not written yet, and the age at which sessions wait."""

    age: int
    limit: int

    @property
    def percent(self) -> int:
        """The age in percent of its limit."""
        return self.age * 100 // self.limit


def recommended_capacity(context: RuleContext) -> tuple[int, str]:
    """The highest innodb_io_capacity that a vendor recommends for the data disks, and the recommendation as text."""
    if context.has("host"):
        from rules.core.storage import disk_names, is_kind_alone, is_nvme, is_solid_state, is_spinning

        if is_spinning(context):
            disks = len(context.host.storage.disks) if context.host.storage else 0
            each = f"MariaDB's documentation recommends 100 to {SPINNING_CAPACITY} for a spinning disk"
            if is_kind_alone(context.host):
                return SPINNING_ARRAY, f"{each}, so this value needs an array of many disks"
            count = f"{disks} disks" if disks > 1 else "1 disk"
            most = max(SPINNING_CAPACITY * disks, 2 * SPINNING_CAPACITY)
            return most, f"{each}, and the data is on {count} ({disk_names(context.host)})"
        if context.target.is_mariadb and is_solid_state(context) and not is_nvme(context):
            return LARGEST_CAPACITY, "MariaDB's documentation recommends 2,000 to 20,000 for SATA disks"
    if context.target.is_mariadb:
        return NVME_CAPACITY, "MariaDB's documentation recommends 20,000 to 80,000 for NVMe, and less for other disks"
    return LARGEST_CAPACITY, "MySQL's manual advises against more than 20,000 without need"


def larger_io_capacity(context: RuleContext) -> tuple[Action, ...]:
    """More pages a second in the background, with their maximum first; none beyond what the disks can do.

    The last action is that of innodb_io_capacity itself.
    """
    better, highest = _next_capacity(context), context.number(CAPACITY_MAX)
    if better is None:
        return ()
    risk = "more writes in the background"
    action = advise(context, CAPACITY, better, risk=risk, watch="Innodb_buffer_pool_pages_flushed")
    most = _next_maximum(context, better)
    raised = advise(context, CAPACITY_MAX, most, risk=risk) if highest is not None and highest < most else None
    return present(raised, action) if action else ()


def _next_capacity(context: RuleContext) -> int | None:
    """Twice the capacity, on solid-state disks at least SOLID_CAPACITY; None if the disks cannot do as much."""
    from rules.core.storage import is_solid_state

    capacity, most = context.number(CAPACITY), _largest_capacity(context)
    if not capacity or capacity * 2 > most:
        return None
    solid = context.has("host") and is_solid_state(context)
    return int(min(max(capacity * 2, SOLID_CAPACITY), most)) if solid else capacity * 2


def _next_maximum(context: RuleContext, capacity: int) -> int:
    """The maximum to advise with that capacity: twice as much, as MySQL's own default.

    It is more than today's where that is nearly reached: on MySQL the maximum alone bounds the writes that the age of
    the redo asks for (INNA-31).
    """
    today = context.number(CAPACITY_MAX) or 0
    written = context.workload.rate(FLUSHED) if context.has("workload") else None
    reached = written is not None and written * 100 >= today * AT_MAXIMUM_PERCENT
    most = max(2 * capacity, 2 * today if reached else today)
    return int(max(capacity, min(most, _largest_capacity(context))))


def _largest_capacity(context: RuleContext) -> float:
    """The largest capacity that the disks under the data may be asked for."""
    from rules.core.storage import is_spinning
    from rules.measured.apply import max_write_rate

    measurement = max_write_rate(context)
    if measurement is not None:
        return min(measurement[0], LARGEST_CAPACITY)
    return 0 if context.has("host") and is_spinning(context) else LARGEST_CAPACITY


def flushes_late(context: RuleContext) -> bool:
    """Whether the server writes changed pages only when the redo log is nearly full, as MariaDB does by default."""
    most = context.settings.real("innodb_max_dirty_pages_pct")
    marked = context.settings.real(LOW_MARK) != 0 or (most is not None and most <= LOW_PERCENT)
    return context.target.is_mariadb and not marked


def earlier_writes_action(context: RuleContext) -> Action | None:
    """The action that lets such a server write pages before the redo log is nearly full."""
    risk, watch = "two to four times the page writes", "Innodb_checkpoint_age"
    return advise(context, LOW_MARK, LOW_PERCENT, risk=risk, watch=watch)


def background_write_help(context: RuleContext) -> tuple[tuple[Action, ...], str]:
    """The actions that let more pages be written in the background, and the advice as the end of a sentence.

    Where fewer are written than innodb_io_capacity allows, a higher one changes nothing (INNA-33).
    """
    capacity, written = context.number(CAPACITY) or 0, flushing_rate(context)
    if written is not None and written < capacity:
        if flushes_late(context):
            action = earlier_writes_action(context)
            return present(action), f": if commits stall, {help_line(action)}"
        rate = f"{written:,.0f} pages a second are written, fewer than {CAPACITY} ({capacity:,}) allows"
        return (), f", and {rate}: look at the latency of these writes"
    if actions := larger_io_capacity(context):
        return actions, f": {help_line(actions[-1])}"
    limit = f"a higher {CAPACITY} than {capacity:,} is not advised for these disks"
    return (), f", and {limit}: look at the latency of their writes"


def flushing_rate(context: RuleContext) -> float | None:
    """Pages written a second in the busiest sampled hour or in the window, whichever is more; None without both."""
    from rules.core.counters import MINIMUM_WINDOW, REDO

    rates: list[float | None] = []
    if context.has("sampled") and (hour := context.sampled.hour(REDO)):
        rates.append(hour.workload.rate(FLUSHED))
    if context.has("workload") and context.workload.seconds >= MINIMUM_WINDOW:
        rates.append(context.workload.rate(FLUSHED))
    return max((rate for rate in rates if rate is not None), default=None)


def pages_written(context: RuleContext) -> float | None:
    """Pages written a second: the highest of the busiest sampled hour, the window and the time since the start.

    None if nothing was counted for long enough.
    """
    from rules.core.counters import MINIMUM_UPTIME

    rates = [flushing_rate(context)]
    if context.has("server") and context.server.uptime >= MINIMUM_UPTIME:
        ever = context.server.counter(FLUSHED)
        rates.append(None if ever is None else ever / context.server.uptime)
    return max((rate for rate in rates if rate is not None), default=None)


def writes_pages(context: RuleContext) -> bool:
    """Whether the server is known to write WRITTEN pages a second or more."""
    return (pages_written(context) or 0) >= WRITTEN


def written_text(context: RuleContext) -> str:
    """The pages written a second, for the end of a message; empty below WRITTEN."""
    rate = pages_written(context) or 0
    return f"; up to {rate:,.0f} pages a second are written" if rate >= WRITTEN else ""


def is_in_use(context: RuleContext, name: str) -> bool:
    """Whether an option about writing pages matters: it is explicitly configured, or pages are written.

    Without a server the size of the pool must be set, as on servers that were put to use.
    """
    if context.is_set(name):
        return True
    return writes_pages(context) if context.has("server") else context.is_set("innodb_buffer_pool_size")


def checkpoint_age(counter: Callable[[str], int | None]) -> tuple[int, int] | None:
    """The checkpoint age and its maximum, in bytes; None if the server shows neither.

    `counter` returns status counters by name, of the server or of a sample.
    """
    age, most = counter("innodb_checkpoint_age"), counter("innodb_checkpoint_max_age")
    if age is not None and most:
        return age, most
    now, then, capacity = (
        counter(f"innodb_redo_log_{name}") for name in ("current_lsn", "checkpoint_lsn", "capacity_resized")
    )
    return None if now is None or then is None or not capacity else (now - then, capacity * LIMIT_PERCENT // 100)


def highest_checkpoint_age(context: RuleContext, window: Workload, capacity: int | None) -> CheckpointAge | None:
    """The highest checkpoint age of all samples, with a redo log of that capacity; None if the server shows none.

    The maximum is used because the age drops briefly whenever sessions have waited.
    """
    return max(_checkpoint_ages(context, window, capacity), key=lambda age: age.percent, default=None)


def _checkpoint_ages(context: RuleContext, window: Workload, capacity: int | None) -> Iterator[CheckpointAge]:
    moments: tuple[Callable[[str], int | None], ...] = (
        context.server.counter,
        window.first.status.get,
        window.last.status.get,
    )
    for age in (*map(checkpoint_age, moments), _age_in_status_text(context, capacity)):
        if age is not None and age[1] > 0:
            yield CheckpointAge(*age)


def current_checkpoint_age(context: RuleContext, capacity: int | None) -> tuple[int, int] | None:
    """The server's checkpoint age and its maximum, in bytes; None if it shows neither.

    MySQL before 8.0.30 has no counters of them: its status text has the age, and the size of its files the maximum.
    """
    return checkpoint_age(context.server.counter) or _age_in_status_text(context, capacity)


def _age_in_status_text(context: RuleContext, capacity: int | None) -> tuple[int, int] | None:
    if not capacity or not context.target.is_mysql or context.target.since("mysql", 8, 0, 30):
        return None
    import re  # lint has no status text

    text = context.server.innodb_status
    position, checkpoint = re.search(POSITION, text), re.search(CHECKPOINT, text)
    if not position or not checkpoint:
        return None
    return max(0, int(position[1]) - int(checkpoint[1])), _limit_of_files(context, capacity)


def _limit_of_files(context: RuleContext, capacity: int) -> int:
    """The checkpoint age at which sessions wait before MySQL 8.0.30, with redo log files of that size in all."""
    margin = capacity // 10
    if context.target.since("mysql", 8, 0):
        margin = min(margin, LARGEST_MARGIN)
    return max(1, (capacity - margin) * OLD_LIMIT_PERCENT // 100)


def page_request_rate(context: RuleContext, window: Workload) -> float | None:
    """The page requests a second; None if they were not counted, or not all of them."""
    return None if context.target.is_mariadb and context.target.version in MISCOUNTED else window.rate(REQUESTS)


def dirty_percent(window: Workload) -> float | None:
    """The percentage of dirty pages in the pool, at the end of the window that has fewer; None if not counted."""
    shares = []
    for sample in (window.first, window.last):
        dirty, pages = sample.status.get(DIRTY), sample.status.get(ALL_PAGES)
        if dirty is None or not pages:
            return None
        shares.append(dirty * 100 / pages)
    return min(shares)


def is_meant_for_zfs(context: RuleContext) -> bool:
    """Whether the file switches native AIO off, as on ZFS, and the file system is unknown."""
    storage, aio = context.host.storage if context.has("host") else None, "innodb_use_native_aio"
    unknown = storage is None or not storage.mount.fs_type
    return unknown and context.is_set(aio) and context.settings.on(aio) is False


@rule(
    "INN039",
    "undersized-io-capacity",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="innodb_io_capacity is set for a spinning disk, but the data is on solid-state disks.",
    needs=("host",),
    options=(CAPACITY,),
    evidence=("IOC-02", "IOC-03", "INNA-13", "IOC-01"),
    probe="random-write",
    docs=Docs(
        why="innodb_io_capacity limits how many pages a second are written in the background. Where more pages change "
        "than that, the redo log fills and sessions wait: under one load the checkpoint age was at 93 percent of its "
        "limit with 100, and at 8 percent with 4000. MariaDB's documentation recommends 2000 to 20000 for SATA and "
        "more for NVMe; MySQL's default is 10000 from 8.4 on. The rule reports 200 or less, and only where it is "
        "explicitly configured. Where writes are measured (an audit with a window), starved-flushing judges by them "
        "instead.",
        fix="Start with 2000, and raise it only if the checkpoint age still comes near its limit.",
        risk="More writes in the background, which wear out the disk sooner.",
        exceptions="Servers that write little, and disks whose writes are rationed or paid for.",
        reconsider_when="A checkpoint age that stays below half of its limit over the busiest hour.",
        disagree="Percona: lower than most people set it.",
    ),
)
def undersized_io_capacity(context: RuleContext) -> Iterator[Finding]:
    """Report an innodb_io_capacity for spinning disks on solid-state disks."""
    from rules.core.storage import disk_names, is_solid_state
    from rules.measured.apply import max_write_rate

    value, measured = context.number(CAPACITY), max_write_rate(context)
    if value is None or value > SPINNING_CAPACITY or not context.is_set(CAPACITY) or is_aurora(context):
        return
    if context.has("workload"):
        return
    if is_solid_state(context) and (measured is None or measured[0] >= SOLID_CAPACITY):
        yield undersized_io_capacity.finding(
            f"{value:,} page writes a second in the background suit a spinning disk, but the data is on solid-state "
            f"disks ({disk_names(context.host)}).",
            variable_subject(context, CAPACITY),
            help=f"try {CAPACITY} = {SOLID_CAPACITY}, with {CAPACITY_MAX} at least as high",
        )


@rule(
    "INN006",
    "oversized-io-capacity",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="innodb_io_capacity is above what the vendor's documentation recommends for this kind of disk.",
    options=(CAPACITY, CAPACITY_MAX),
    evidence=("IOC-01", "IOC-02", "IOC-03", "IOC-04"),
    probe="random-write",
    docs=Docs(
        why="innodb_io_capacity is how many pages a second the server writes in the background; MySQL also when it is "
        "idle, MariaDB then only with innodb_max_dirty_pages_pct_lwm above 0. Too high a value writes pages that would "
        "have changed again, which wears out solid-state disks. MySQL's manual advises against more than 20000 without "
        "need. MariaDB's documentation recommends 100 to 200 for a spinning disk, 2000 to 20000 for SATA and 20000 to "
        "80000 for NVMe. On one host with a SATA disk 10000 was 11 percent slower than 5000; no other disk was "
        "measured. The default, 10000 from MySQL 8.4 on, is reported on spinning disks to which 100 pages a second or "
        "more are written. innodb_io_capacity_max is reported where it is set to more than twice the recommendation "
        "and more than 2000. For a single spinning disk the rule allows 400. A value above what a probe measured on "
        "this host is a warning.",
        fix="Lower it to the smallest value that keeps the checkpoint age away from its limit.",
        risk="Too low a value lets dirty pages accumulate until sessions must wait; watch the checkpoint age.",
        exceptions="NVMe under a heavy steady write load. Disks behind a RAID controller: the kernel sees one disk, "
        "which may be an array of many, with a cache.",
        reconsider_when="A run on this host in which the higher value gives more or steadier throughput.",
        disagree="MySQL's manual: no more than 20000 without need. MariaDB: 20000 to 80000 and more for "
        "NVMe. Percona: lower than most people set it.",
    ),
)
def oversized_io_capacity(context: RuleContext) -> Iterator[Finding]:
    """Report a capacity above the disk's measured write rate or the vendor's recommendation, and its maximum."""
    if is_aurora(context):
        return
    value = context.number(CAPACITY)
    if value is not None and (context.is_set(CAPACITY) or _is_costly_default(context)):
        measured, (most, source) = _measured_write_rate(context), recommended_capacity(context)
        default = "" if context.is_set(CAPACITY) else f" ({CAPACITY}, the default of {context.target.label})"
        too_much = f"the disk reaches {measured:,.0f} at most" if measured and value > measured else ""
        if too_much or value > most:
            yield oversized_io_capacity.finding(
                f"The server may write {value:,} pages a second in the background{default}"
                + (f", but {too_much}." if too_much else f"; {source}."),
                variable_subject(context, CAPACITY),
                severity=Severity.WARNING if too_much else None,
                help="lower it as far as the checkpoint age allows",
            )
            return
    yield from _oversized_maximum(context)


def _oversized_maximum(context: RuleContext) -> Iterator[Finding]:
    highest, (most, source) = context.number(CAPACITY_MAX), recommended_capacity(context)
    limit = max(2 * most, LEAST_MAXIMUM)
    if highest is not None and context.is_set(CAPACITY_MAX) and highest > limit:
        yield oversized_io_capacity.finding(
            f"The server may write {highest:,} pages a second while the redo log fills; {source}.",
            variable_subject(context, CAPACITY_MAX),
            help=f"lower it to {limit:,} or less",
        )


def _is_costly_default(context: RuleContext) -> bool:
    """Whether a default above the recommendation burdens spinning disks that are written to."""
    if not context.has("host"):
        return False
    from rules.core.storage import is_spinning

    return is_spinning(context) and writes_pages(context)


def _measured_write_rate(context: RuleContext) -> float | None:
    """Page writes per second that a probe measured on this host; None without a result."""
    if not context.has("probes"):
        return None
    from rules.measured.apply import max_write_rate

    found = max_write_rate(context)
    return found[0] if found else None


@rule(
    "INN008",
    "io-capacity-above-its-maximum",
    summary="innodb_io_capacity is above innodb_io_capacity_max, and the server lowers it to that.",
    options=("innodb_io_capacity", "innodb_io_capacity_max"),
    evidence=("ASK-08",),
    docs=Docs(
        why="At start-up the server lowers innodb_io_capacity to innodb_io_capacity_max where it is larger, "
        "with a warning in its log: 4000 with a maximum of 3000 runs as 3000.",
        fix="Set the maximum to the value that you want, or lower the capacity.",
        risk="None.",
        exceptions="None.",
        reconsider_when="A server of this version that runs with the larger capacity.",
    ),
)
def io_capacity_above_its_maximum(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_io_capacity above innodb_io_capacity_max in the file."""
    lines = [context.file_verdict.effective.get(f"innodb_io_capacity{end}") for end in ("", "_max")]
    asked, most = (int(line.value) if line and line.value and line.value.isdigit() else None for line in lines)
    running = context.number("innodb_io_capacity") if context.has("server") else most
    if asked is not None and most is not None and asked > most and running == most:
        yield io_capacity_above_its_maximum.finding(
            f"innodb_io_capacity_max is {most}, so the server runs with {most} instead of {asked}.",
            variable_subject(context, "innodb_io_capacity"),
            help="raise innodb_io_capacity_max, or lower innodb_io_capacity",
        )
