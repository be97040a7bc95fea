"""LOG: InnoDB's redo log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Severity
from advisor.sizes import about, lasted
from rules.advice import advise, these, words
from rules.registry import Docs, Span, rule
from rules.subject import of_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.model import Action, Finding
    from rules.known import Known

MIB = 1 << 20
GIB = 1 << 30
HOUR = 3600
SHORT = 600  # seconds in which a redo log that is full all over is far too small
STEP = 64 * MIB
LARGEST = 16 * GIB  # longer logs make crash recovery longer; the published gain was seen up to 30 GB
LEAST_REDO = 16 * MIB  # written in the window before its rate says something
FULL_PERCENT = 80
LARGEST_BUFFER = 128 * MIB
POOL = "innodb_buffer_pool_size"
SIZES = ("innodb_redo_log_capacity", "innodb_log_file_size", "innodb_log_files_in_group")
LARGE_POOL = 4 * GIB
SMALL_LOG = 100 * MIB  # the largest default of any version


@rule(
    "LOG001",
    "log-buffer-waits",
    confidence=Confidence.MEASURED,
    summary="Sessions wait because the log buffer is full.",
    needs=("server",),
    options=("innodb_log_buffer_size",),
    evidence=("REDO-04", "ASK-11"),
    docs=Docs(
        why="Innodb_log_waits counts sessions that had to wait until the buffer was written. Large "
        "transactions and slow log devices cause it.",
        fix="Double innodb_log_buffer_size, up to 128M; if waits go on, the log's device is too slow.",
        risk="The memory of the buffer.",
        exceptions="A single load of much data in the window.",
        mind="Innodb_log_waits that rises as fast with the larger buffer.",
    ),
)
def log_buffer_waits(known: Known) -> Iterator[Finding]:
    """Waits for the log buffer, one a second or more, in the busiest hour or now."""
    from rules.peak import REDO, seen  # lint, which has no counters, does without

    size = known.number("innodb_log_buffer_size")
    for window, when, _ in seen(known, REDO):
        waits = window.delta("innodb_log_waits")
        if not waits or waits < window.seconds or size is None:
            continue
        action = None
        if size * 2 <= LARGEST_BUFFER:
            action = advise(known, "innodb_log_buffer_size", size * 2, size=True, watch="Innodb_log_waits")
        yield log_buffer_waits.finding(
            f"{waits:,} waits for a full log buffer of {about(size)} {when}.",
            of_variable(known, "innodb_log_buffer_size"),
            help=words(action) or "the log buffer is large already: look at the latency of the redo log's device",
            actions=these(action),
        )
        return


@rule(
    "LOG002",
    "small-redo-log",
    confidence=Confidence.LIKELY,
    summary="The redo log fills up in minutes at the measured rate of writes.",
    needs=("server",),
    options=("innodb_redo_log_capacity", "innodb_log_file_size"),
    evidence=("REDO-01", "REDO-02", "REDO-03", "REDO-04", "REDO-05"),
    docs=Docs(
        why="When the redo log is nearly full, dirty pages must be written before sessions may go on, and "
        "pages that change often are written again and again. Seven times the log gave 30 percent more "
        "throughput in a published test. The rate is taken from the log sequence number, because "
        "Innodb_os_log_written overstates it nearly threefold.",
        fix="Make the log hold about an hour of writes at the busiest time, 16G at most.",
        risk="Recovery after a crash reads more log, and the disk must hold it.",
        exceptions="A load that happens once; a window of seconds says nothing of the other hours.",
        mind="The rate over the busiest hour: where mycnf sample knows it, it is what counts here.",
        disagree="A quarter of the buffer pool, which others recommend, has nothing to do with the rate of writes.",
    ),
)
def small_redo_log(known: Known) -> Iterator[Finding]:
    """A redo log that holds less than an hour of the measured writes."""
    from rules.peak import REDO, fullest  # lint, which has no counters, does without

    (window, when, _), capacity = fullest(known, REDO), redo_capacity(known)
    rate = window.redo_rate
    if not rate or not capacity or rate * window.seconds < LEAST_REDO or rate * HOUR <= capacity:
        return
    wanted = min(LARGEST, -(-int(rate * HOUR) // STEP) * STEP)
    if wanted <= capacity:
        return
    fills = capacity / rate
    action = _larger(known, wanted)
    yield small_redo_log.finding(
        f"{about(rate)} of redo a second {when} fill the log of {about(capacity)} in {lasted(fills)}.",
        of_variable(known, _sized_by(known)),
        severity=Severity.WARNING if fills < SHORT else Severity.NOTE,
        help=words(action) or f"let the redo log hold {about(wanted)} in all",
        actions=these(action),
    )


def redo_capacity(known: Known) -> int | None:
    """Bytes that the whole redo log holds, from what this version sizes it by.

    Where somebody set the files' sizes and not the capacity, MySQL goes by the files, and shows the default capacity.
    """
    resized = known.server.counter("innodb_redo_log_capacity_resized") if known.has("server") else None
    by_files = any(known.chosen(name) for name in SIZES[1:]) and not known.chosen(SIZES[0])
    capacity = resized or (None if by_files else known.number("innodb_redo_log_capacity"))
    if capacity:
        return capacity
    size, files = known.number("innodb_log_file_size"), known.number("innodb_log_files_in_group")
    return None if size is None else size * (files or 1)


def _sized_by(known: Known) -> str:
    return "innodb_redo_log_capacity" if known.target.since("mysql", 8, 0, 30) else "innodb_log_file_size"


def _larger(known: Known, total: int) -> Action | None:
    files = 1 if known.target.since("mysql", 8, 0, 30) else known.number("innodb_log_files_in_group") or 1
    size = -(-total // files // MIB) * MIB
    watch = "Innodb_checkpoint_age" if known.target.is_mariadb else None
    return advise(
        known,
        _sized_by(known),
        size,
        size=True,
        risk="crash recovery reads more log; the disk must hold it",
        watch=watch,
    )


@rule(
    "LOG003",
    "checkpoint-pressure",
    confidence=Confidence.MEASURED,
    summary="The redo log is nearly full of changes whose pages are not written yet.",
    needs=("server",),
    options=("innodb_redo_log_capacity", "innodb_log_file_size", "innodb_io_capacity"),
    evidence=("REDO-01", "REDO-04", "REDO-05", "ASK-11"),
    docs=Docs(
        why="Near the limit the server writes pages as fast as it can and lets sessions wait for them.",
        fix="Enlarge the redo log; where it holds an hour of writes already, let more pages be written in "
        "the background.",
        risk="Recovery after a crash takes longer with a larger log.",
        exceptions="A load that ends in minutes.",
        mind="A checkpoint age that stays below three quarters over the busiest hour.",
    ),
)
def checkpoint_pressure(known: Known) -> Iterator[Finding]:
    """A checkpoint age near its limit, at a sample of the busiest hour or now."""
    for ages, when in _ages(known):
        if ages is not None and ages[0] * 100 >= ages[1] * FULL_PERCENT:
            yield checkpoint_pressure.finding(
                f"The checkpoint age {when} {about(ages[0])} of at most {about(ages[1])}; near that sessions wait for "
                "pages to be written.",
                of_variable(known, _sized_by(known)),
                help="enlarge the redo log; small-redo-log says how far",
            )
            return


def _ages(known: Known) -> Iterator[tuple[tuple[int, int] | None, str]]:
    hour = known.sampled.hour("redo") if known.has("sampled") else None
    if hour is not None:
        from rules.peak import named

        told = [ages for sample in hour.samples if (ages := checkpoint(sample.status.get)) is not None]
        yield max(told, key=lambda ages: ages[0] / ages[1], default=None), f"in the busiest hour, {named(hour)}, was"
    yield checkpoint(known.server.counter), "is"


def checkpoint(counter: Callable[[str], int | None]) -> tuple[int, int] | None:
    """Bytes between the newest change and the checkpoint, and the most there may be; None where nothing tells.

    `counter` gives status counters by name, of the server or of a sample.
    """
    age, most = counter("innodb_checkpoint_age"), counter("innodb_checkpoint_max_age")
    if age is not None and most:
        return age, most
    now, then, capacity = (
        counter(f"innodb_redo_log_{name}") for name in ("current_lsn", "checkpoint_lsn", "capacity_resized")
    )
    return None if now is None or then is None or not capacity else (now - then, capacity)


@rule(
    "LOG004",
    "overridden-redo-size",
    confidence=Confidence.LIKELY,
    summary="The size of the redo log's files is ignored, because its capacity is set too.",
    targets=(Span("mysql", since=(8, 0, 30), before=(9, 0)),),
    options=("innodb_log_file_size", "innodb_log_files_in_group", "innodb_redo_log_capacity"),
    evidence=("REDO-04",),
    docs=Docs(
        why="From MySQL 8.0.30 on innodb_redo_log_capacity sizes the log. Where it is set, "
        "innodb_log_file_size and innodb_log_files_in_group are not looked at.",
        fix="Keep innodb_redo_log_capacity alone.",
        risk="None: the server ignores the other two.",
        restart=True,
        exceptions="A file that older versions read as well.",
        mind="A server of this version whose log follows innodb_log_file_size.",
    ),
)
def overridden_redo_size(known: Known) -> Iterator[Finding]:
    """The old sizes beside the new capacity."""
    if not known.chosen("innodb_redo_log_capacity"):
        return
    for name in ("innodb_log_file_size", "innodb_log_files_in_group"):
        if known.chosen(name):
            yield overridden_redo_size.finding(
                "innodb_redo_log_capacity sizes the redo log; this line is ignored beside it.",
                of_variable(known, name),
                help="remove the line",
            )


@rule(
    "LOG007",
    "tiny-redo-log",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="A large buffer pool stands beside a redo log of the default size or less.",
    options=(POOL, *SIZES),
    evidence=("REDO-01", "REDO-02", "REDO-04", "REDO-05"),
    docs=Docs(
        why="Somebody sized the pool for much data, and left the redo log at 100M or below. When many rows "
        "change it is full within seconds, and pages must be written before sessions may go on. Four "
        "gigabytes is our choice; below, small servers are meant. Where writes are measured (an audit with a "
        "window), small-redo-log judges by them instead.",
        fix="Measure: mycnf audit tells how fast the log fills. Without that, 1G does little harm.",
        risk="Recovery after a crash reads more log, and the disk must hold it.",
        exceptions="Servers that mostly read.",
        mind="The measured rate of redo at the busiest hour: a log that holds an hour of it is large enough.",
        disagree="A quarter of the pool, which MySQLTuner and phpMyAdmin ask for, has nothing to do with writes.",
    ),
)
def tiny_redo_log(known: Known) -> Iterator[Finding]:
    """A pool that was sized and a log that wasn't, while nobody has measured the writes."""
    pool, capacity = known.number(POOL), redo_capacity(known)
    if pool is None or capacity is None or not known.chosen(POOL) or known.has("workload"):
        return
    if pool >= LARGE_POOL and capacity <= SMALL_LOG and not known.settings.on("innodb_dedicated_server"):
        size = next((name for name in SIZES if known.chosen(name)), POOL)
        yield tiny_redo_log.finding(
            f"The buffer pool has {about(pool)}, the redo log {about(capacity)}: many changes fill it within seconds.",
            of_variable(known, size),
            help="measure the writes (mycnf audit), or let the redo log hold 1G in all",
        )
