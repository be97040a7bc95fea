"""What the data disks can do, innodb_io_capacity for them, and whether flushing keeps up with the writes."""

from __future__ import annotations

from advisor.core.value_types import NamedTuple
from rules.core.advice import advise, help_line, present

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.core.model import Action
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
    for age in map(checkpoint_age, moments):
        if age is not None and age[1] > 0:
            yield CheckpointAge(*age)
    text = context.server.innodb_status
    import re  # lint has no status text

    position, checkpoint = re.search(POSITION, text), re.search(CHECKPOINT, text)
    if position and checkpoint and capacity and context.target.is_mysql and not context.target.since("mysql", 8, 0, 30):
        limit = _limit_of_files(context, capacity)
        yield CheckpointAge(max(0, int(position[1]) - int(checkpoint[1])), limit)


def _limit_of_files(context: RuleContext, capacity: int) -> int:
    """The checkpoint age at which sessions wait before MySQL 8.0.30, with redo log files of that size in all."""
    margin = capacity // 10
    if context.target.since("mysql", 8, 0):
        margin = min(margin, LARGEST_MARGIN)
    return max(1, (capacity - margin) * OLD_LIMIT_PERCENT // 100)


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
