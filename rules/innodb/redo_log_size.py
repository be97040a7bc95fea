"""The size of InnoDB's redo log: how large it is, how much is written to it, and how large it should be."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import format_duration
from rules.core.advice import advise
from rules.core.subject import written_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.core.model import Action
    from rules.core.context import RuleContext

MIB = 1 << 20
GIB = 1 << 30
HOUR = 3600
DAY = 86400
STEP = 64 * MIB
LEAST_REDO = 16 * MIB  # in the window; below, the write rate is not reliable; for small logs less suffices:
LEAST_SHARE = 16  # one in so many parts of the log
REWRITTEN = 4  # times; MySQL counts redo again that it rewrites with the next commit (REDO-06)
DEDICATED = "innodb_dedicated_server"
CAPACITY, FILE_SIZE, FILES = "innodb_redo_log_capacity", "innodb_log_file_size", "innodb_log_files_in_group"
SIZES = (CAPACITY, FILE_SIZE, FILES)
DEFAULT_LOG = 100 * MIB  # the largest default of all versions that do not size it by the machine
# From that pool on: the log to start with where nothing is known of the writes, and the log below which a warning is
# due. Our choice; MySQL's own automatic sizes are far larger (REDO-09).
TIERS = (
    (256 * GIB, 8 * GIB, 1 * GIB),
    (64 * GIB, 4 * GIB, 512 * MIB),
    (16 * GIB, 2 * GIB, 256 * MIB),
    (4 * GIB, 1 * GIB, 0),
    (1 * GIB, 512 * MIB, 0),
)
# From that pool on a log of that size or less is worth a note.
NOTED = ((64 * GIB, 1 * GIB), (16 * GIB, 512 * MIB), (4 * GIB, DEFAULT_LOG))
# Recovery after a crash takes longer with more redo. 8G took 8 to 9 minutes on flash and 15 on a RAID 10 of spinning
# disks (REDO-08); a single spinning disk is slower, and a busy machine of two processors too (REDO-11). The published
# gain was measured up to 30G (REDO-01).
LARGEST_SPINNING = 4 * GIB
LARGEST = 16 * GIB
PEAK = 10  # times the mean; a log that holds an hour at that is large enough for any server that was seen


class Rate(NamedTuple):
    """Minimum and maximum bytes of redo per second, and the period as text."""

    minimum: float
    maximum: float
    when: str


def redo_capacity(context: RuleContext) -> int | None:
    """The size of the whole redo log in bytes, from the settings that this version uses.

    If the file sizes are set and the capacity is not, MySQL uses the file sizes but shows the default capacity.
    """
    resized = context.server.counter("innodb_redo_log_capacity_resized") if context.has("server") else None
    by_files = any(context.is_set(name) for name in SIZES[1:]) and not context.is_set(CAPACITY)
    capacity = resized or (None if by_files else context.number(CAPACITY))
    if capacity:
        return capacity
    size = context.number(FILE_SIZE)
    return None if size is None else size * log_files(context)


def log_files(context: RuleContext) -> int:
    """How many files share the size by innodb_log_file_size; MariaDB has one since 10.5, regardless of the option."""
    return 1 if context.target.since("mariadb", 10, 5) else context.number(FILES) or 1


def capacity_of_files(context: RuleContext) -> int | None:
    """The log size in bytes by the old file options, on a version with innodb_redo_log_capacity that is not set."""
    if not context.target.since("mysql", 8, 0, 30) or context.is_set(CAPACITY):
        return None
    names = {written_name(p.line).removeprefix("loose_") for p in context.file_verdict.resolved.options}
    if names.isdisjoint(SIZES[1:]):
        return None
    from advisor.verdict.successors import redo_files_capacity  # the rule about the old lines imports it too

    return redo_files_capacity(context.file_verdict)


def is_sized_by_server(context: RuleContext) -> bool:
    """Whether innodb_dedicated_server sizes the redo log; lint does not know to what."""
    return context.settings.on(DEDICATED) is True and not any(map(context.is_set, SIZES))


def size_option(context: RuleContext) -> str:
    """The option that sizes the redo log on this version."""
    return CAPACITY if context.target.since("mysql", 8, 0, 30) else FILE_SIZE


def value_for(context: RuleContext, total: int) -> int:
    """The value of `size_option` for a log of `total` bytes, in whole megabytes."""
    files = 1 if size_option(context) == CAPACITY else log_files(context)
    return -(-total // files // MIB) * MIB


def larger_log_action(context: RuleContext, total: int) -> Action | None:
    """The action that lets the redo log hold `total` bytes."""
    watch = "Innodb_checkpoint_age" if context.target.is_mariadb else None
    risk = "longer crash recovery; more disk space"
    return advise(context, size_option(context), value_for(context, total), size=True, risk=risk, watch=watch)


def log_for_pool(context: RuleContext, pool: int) -> int | None:
    """The log to start with for a pool of that size if the writes are unknown; None if the default is enough."""
    size = next((log for least, log, _ in TIERS if pool >= least), None)
    return None if size is None else min(size, largest_log(context))


def least_log(pool: int) -> int:
    """The log below which changes to a pool of that size fill it within seconds; 0 for small pools."""
    return next((least for from_pool, _, least in TIERS if pool >= from_pool), 0)


def noted_log(pool: int) -> int:
    """The log up to which a note is due for a pool of that size; 0 for small pools."""
    return next((most for from_pool, most in NOTED if pool >= from_pool), 0)


def log_for_rates(context: RuleContext, rates: list[Rate]) -> int:
    """The log that holds an hour at the highest rate, rounded up to whole steps, at most `largest_log`."""
    hour = int(max(rate.maximum for rate in rates) * HOUR)
    return min(largest_log(context), -(-hour // STEP) * STEP)


def largest_log(context: RuleContext) -> int:
    """The largest log to advise: recovery takes minutes, not hours, on these disks, and half of them stays free."""
    if not context.has("host"):
        return LARGEST
    from rules.core.storage import is_spinning

    recovered = LARGEST_SPINNING if is_spinning(context) else LARGEST
    free = _free_bytes(context)
    if free is None:
        return recovered
    return min(recovered, ((redo_capacity(context) or 0) + free // 2) // STEP * STEP)


def _free_bytes(context: RuleContext) -> int | None:
    """The free bytes of the file system of the redo log; None if unknown."""
    places = {place.variable: place.storage for place in context.host.places}
    storage = places.get("innodb_log_group_home_dir") or context.host.storage
    return storage.space.free if storage and storage.space else None


def redo_rates(context: RuleContext) -> list[Rate]:
    """Write rates of the redo log, in the busiest hour or else in the window and since the start.

    Raises MissingFact if there is none.
    """
    from rules.core.context import MissingFact
    from rules.core.counters import REDO, busiest_period  # lazily: lint has no counters

    ever = mean_rate(context)
    try:
        window, when, hour = busiest_period(context, REDO)
    except MissingFact:
        if ever is None:
            raise
        return [ever]
    rate, capacity = window.redo_rate, redo_capacity(context)
    # A small log fills sooner, so less needs to be written before its rate is reliable.
    enough = rate and capacity and rate * window.seconds >= min(LEAST_REDO, capacity / LEAST_SHARE)
    measured = [Rate(rate, rate, when)] if rate and enough else []
    return measured if hour is not None or ever is None else [*measured, ever]


def rates_or_none(context: RuleContext) -> list[Rate]:
    """The write rates; empty if there is none."""
    from rules.core.context import MissingFact

    try:
        return redo_rates(context)
    except MissingFact:
        return []


def mean_rate(context: RuleContext) -> Rate | None:
    """The mean rate since the server started; None if it started recently or does not count redo."""
    from rules.core.counters import MINIMUM_UPTIME

    written, uptime = context.server.counter("innodb_os_log_written"), context.server.uptime
    if not written or uptime < MINIMUM_UPTIME:
        return None
    mean = written / uptime
    least = mean if context.target.since("mariadb", 10, 11) else mean / REWRITTEN
    return Rate(least, mean, f"on average since the server started {format_duration(uptime)} ago")


def is_enough_for_writes(context: RuleContext, capacity: int) -> bool:
    """Whether what is known of the writes shows that the log is large enough, for any pool.

    It holds the busiest sampled hour, or an hour at ten times the mean of a day or more. A window of seconds proves
    nothing about the other hours.
    """
    if context.has("sampled") and (hour := context.sampled.hour("redo")) is not None:
        rate = hour.workload.redo_rate
        return rate is not None and rate * HOUR <= capacity
    if not context.has("server") or context.server.uptime < DAY:
        return False
    mean = mean_rate(context)
    return mean is not None and mean.maximum * PEAK * HOUR <= capacity
