"""LOG: InnoDB's redo log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Severity
from advisor.sizes import about, lasted
from rules.advice import advise, these, words
from rules.registry import Docs, Span, rule
from rules.subject import of_variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.facts import Server
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


@rule(
    "LOG001",
    "log-buffer-waits",
    confidence=Confidence.MEASURED,
    summary="Sessions wait because the log buffer is full.",
    needs=("server", "workload"),
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
    """Waits for the log buffer in the window."""
    from rules.rates import over, steady  # lint, which has no counters, does without

    window = steady(known)
    waits, size = window.delta("innodb_log_waits"), known.number("innodb_log_buffer_size")
    if not waits or waits < window.seconds or size is None:
        return
    action = None
    if size * 2 <= LARGEST_BUFFER:
        action = advise(known, "innodb_log_buffer_size", size * 2, size=True, watch="Innodb_log_waits")
    yield log_buffer_waits.finding(
        f"{waits:,} waits for a full log buffer of {about(size)} {over(window)}.",
        of_variable(known, "innodb_log_buffer_size"),
        help=words(action) or "the log buffer is large already: look at the latency of the redo log's device",
        actions=these(action),
    )


@rule(
    "LOG002",
    "small-redo-log",
    confidence=Confidence.LIKELY,
    summary="The redo log fills up in minutes at the measured rate of writes.",
    needs=("server", "workload"),
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
        mind="The rate over the busiest hour, from two snapshots.",
        disagree="A quarter of the buffer pool, which others recommend, has nothing to do with the rate of writes.",
    ),
)
def small_redo_log(known: Known) -> Iterator[Finding]:
    """A redo log that holds less than an hour of the measured writes."""
    from rules.rates import over, steady  # lint, which has no counters, does without

    window, capacity = steady(known), redo_capacity(known)
    rate = window.redo_rate
    if not rate or not capacity or rate * window.seconds < LEAST_REDO or rate * HOUR <= capacity:
        return
    wanted = min(LARGEST, -(-int(rate * HOUR) // STEP) * STEP)
    if wanted <= capacity:
        return
    fills = capacity / rate
    action = _larger(known, wanted)
    yield small_redo_log.finding(
        f"{about(rate)} of redo a second {over(window)} fill the log of {about(capacity)} in {lasted(fills)}.",
        of_variable(known, _sized_by(known)),
        severity=Severity.WARNING if fills < SHORT else Severity.NOTE,
        help=words(action) or f"let the redo log hold {about(wanted)} in all",
        actions=these(action),
    )


def redo_capacity(known: Known) -> int | None:
    """Bytes that the whole redo log holds, from what this version sizes it by."""
    resized = known.server.counter("innodb_redo_log_capacity_resized") if known.has("server") else None
    capacity = resized or known.number("innodb_redo_log_capacity")
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
    """A checkpoint age near its limit."""
    ages = _checkpoint(known.server)
    if ages is not None and ages[0] * 100 >= ages[1] * FULL_PERCENT:
        yield checkpoint_pressure.finding(
            f"The checkpoint age is {about(ages[0])} of at most {about(ages[1])}; near that sessions wait for pages to "
            "be written.",
            of_variable(known, _sized_by(known)),
            help="enlarge the redo log; small-redo-log says how far",
        )


def _checkpoint(server: Server) -> tuple[int, int] | None:
    """Bytes between the newest change and the checkpoint, and the most there may be; None where nothing tells."""
    age, most = server.counter("innodb_checkpoint_age"), server.counter("innodb_checkpoint_max_age")
    if age is not None and most:
        return age, most
    now, then, capacity = (
        server.counter(f"innodb_redo_log_{name}") for name in ("current_lsn", "checkpoint_lsn", "capacity_resized")
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
