"""GRO: rules about disks that fill up: by the growth that was seen, by binary logs, by undo and temporary files."""

from __future__ import annotations

from itertools import combinations
from statistics import median

from advisor.core import NamedTuple
from advisor.core.model import Confidence, Severity, format_size
from rules.core import Docs, rule
from rules.core.context import MissingFact
from rules.core.storage import is_on_thin_pool, server_directories
from rules.durability import writes_binary_log
from rules.durability.binary_log import (
    PURGE_NEEDS,
    TOTAL_SIZES,
    expiry_setting,
    replicas_missing_for_purge,
    while_connected,
)
from rules.sizing.memory import GIB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.core.model import Finding
    from advisor.facts.storage import ServerFiles, Space, SpaceReading, Storage
    from rules.core.context import RuleContext

DAY = 86400
LEAST_SPAN = 7 * DAY
LEAST_READINGS = 4  # on as many days: several audits of one day show one change
MOST_READINGS = 60
FAR_SHARE = 4  # slopes count between readings that are at least such a part of the span apart
TENTHS = 10
AHEAD = 2  # times the span that was seen
SOON, LATER = 30, 90  # days
FORECAST_NEEDS = f"needs the free space on {LEAST_READINGS} days over a week (mycnf sample, or audits with --keep)"
GROWN = 10 * GIB
SHARE = 10  # undo or temporary files of less than such a part of the free space are not reported
# MDEV-31373 is fixed in 10.6.15, 10.11.5 and later (GROW-04); the series between are not distinguished.
SOUND_TRUNCATION: dict[tuple[int, ...], tuple[int, ...]] = {(10, 6): (10, 6, 15)}
SOUND_ANYWHERE: tuple[int, ...] = (10, 11, 5)
NO_EXPIRY_DAYS = 30  # logs that never expire are reported if the disk is full within so many days
AUTO_PURGE = "binlog_expire_logs_auto_purge"
SESSION_SPACES = "information_schema.INNODB_SESSION_TEMP_TABLESPACES"
BINARY_LOGS, UNDO, TEMPORARY = "binary log", "undo tablespaces", "temporary tablespaces"


class Forecast(NamedTuple):
    """Days until a file system is full: the median, and from when to when by the slower and the faster growth."""

    days: float
    earliest: float
    latest: float
    span: float


@rule(
    "GRO001",
    "disk-full-soon",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="At the growth rate of the last weeks, a disk of the server will be full within three months.",
    needs=("server", "host"),
    evidence=("MAN-02", "GROW-01"),
    docs=Docs(
        why="The space in use is read by mycnf sample (for the data directory) and from snapshots that audits saved "
        "with --keep, or that --since names. The growth is the median of the slopes between readings that lie at least "
        "a quarter of the time apart, which single large changes do not move much; the tenth and the ninetieth "
        "percentile give the range. Readings on four days over a week are needed, the growth must be above zero "
        "in the whole range, and the forecast reaches at most twice as far ahead as the readings reach back. Within 30 "
        "days the finding is a warning, within 90 a note.",
        fix="Find what grows: tables, binary logs, undo or temporary tablespaces, or files of others. Purge binary "
        "logs that all replicas have, remove what is not needed, or enlarge the volume in time.",
        risk="Deleting the server's files by hand breaks it: use PURGE and DROP statements.",
        exceptions="A bulk load or a copy that will end, and data that is removed at longer intervals than the "
        "readings cover.",
        reconsider_when="Readings over a longer time with a lower growth.",
    ),
)
def disk_full_soon(context: RuleContext) -> Iterator[Finding]:
    """Report file systems that will be full soon if they keep growing as they did."""
    now = int(context.collected_at())
    judged = False
    for storage, what in server_directories(context.host):
        forecast = _forecast(context.spaces, storage, now)
        if forecast is None:
            continue
        judged = True
        if round(forecast.days, 1) <= min(LATER, AHEAD * forecast.span):
            thin = ", or earlier: it is on a thin pool" if is_on_thin_pool(storage) else ""
            yield disk_full_soon.finding(
                f"{storage.mount.point}, which holds {what}, will be full in about {_days(forecast.days)} "
                f"({forecast.earliest:.0f} to {forecast.latest:.0f}) at the growth rate of the last "
                f"{_days(forecast.span)}{thin}.",
                severity=Severity.WARNING if round(forecast.days, 1) <= SOON else None,
                help="find what grows there; purge or remove what is not needed, or enlarge the volume before that",
            )
    if not judged:
        raise MissingFact(FORECAST_NEEDS)


def _days(days: float) -> str:
    if days < 1:
        return "less than a day"
    return "1 day" if round(days) == 1 else f"{days:.0f} days"


def _forecast(spaces: Sequence[SpaceReading], storage: Storage, now: int) -> Forecast | None:
    """The forecast for one file system, endless if it does not grow surely; None if the readings are too few or close.

    Readings of another size are left out: the volume was enlarged, or something else was mounted there.
    """
    space, point = storage.space, storage.mount.point
    if space is None:
        return None
    used = {r.at: r.size - r.free for r in spaces if r.point == point and r.size == space.size and r.at < now}
    used[now] = space.size - space.free
    moments = sorted(used)
    span = moments[-1] - moments[0]
    if span < LEAST_SPAN or len({moment // DAY for moment in moments}) < LEAST_READINGS:
        return None
    slopes = sorted(
        (used[later] - used[earlier]) / (later - earlier)
        for earlier, later in combinations(_thin_moments(moments), 2)
        if later - earlier >= span / FAR_SHARE
    )
    slow, fast = slopes[len(slopes) // TENTHS], slopes[-1 - len(slopes) // TENTHS]
    middle = median(slopes)
    if slow <= 0 or not space.free:  # STO009 reports a full disk
        return Forecast(float("inf"), float("inf"), float("inf"), span / DAY)
    return Forecast(space.free / middle / DAY, space.free / fast / DAY, space.free / slow / DAY, span / DAY)


def _thin_moments(moments: list[int]) -> list[int]:
    """At most so many readings that all pairs of them can be compared, the newest among them."""
    step = -(-len(moments) // MOST_READINGS)
    return moments[::-1][::step][::-1]


@rule(
    "GRO002",
    "binary-logs-outgrow-disk",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="At their present growth rate, binary logs will fill the disk before they expire.",
    needs=("server", "host"),
    options=("binlog_expire_logs_seconds", "expire_logs_days", "log_bin"),
    evidence=("MAN-02", "GROW-02", "BLOG-04", "BLOG-06"),
    docs=Docs(
        why="The sizes and times of the binary logs on the disk show how many bytes are written a day. Until the "
        "oldest is as old as the expiry, they grow. If they then need more than the free space, the disk is full "
        "before the expiry begins to purge. The rule applies once the logs on the disk cover a day. Within 7 days the "
        "finding is a warning. Logs that never expire are reported if the disk is full within 30 days, and so are logs "
        "of a MariaDB that purges nothing because too few replicas are connected (purge-waits-for-replica).",
        fix="Lower the expiry to what replicas and point-in-time recovery need, or set one: expired logs are purged at "
        "the next rotation (FLUSH BINARY LOGS), on MySQL 8.0.29 and later if binlog_expire_logs_auto_purge is ON. Or "
        "enlarge the volume. A MariaDB that waits for replicas purges once they are connected, or with "
        "slave_connections_needed_for_purge = 0, for a server without any.",
        risk="Logs that were purged are missing for point-in-time recovery, and for replicas that are behind or "
        "disconnected for longer.",
        exceptions="A bulk load whose logs are written once. With a limit on the total size that purges there is no "
        "finding.",
        reconsider_when="A lower growth rate of the logs over a week.",
    ),
)
def binary_logs_outgrow_disk(context: RuleContext) -> Iterator[Finding]:
    """Report binary logs that fill the disk before the oldest of them expires."""
    logs = _files(context, BINARY_LOGS)
    space = _space_under(context, logs)
    name, expiry = expiry_setting(context)
    sized = any(map(context.number, TOTAL_SIZES))
    waits = replicas_missing_for_purge(context) if expiry or sized else 0
    if logs is None or space is None or not writes_binary_log(context) or (sized and not waits):
        return
    if logs.oldest is None or logs.oldest < DAY or logs.count <= 1 or expiry is None:
        return
    a_day = (logs.bytes - logs.oldest_bytes) * DAY / logs.oldest
    left = space.free / a_day if a_day > 0 else float("inf")
    purged = not waits and context.settings.on(AUTO_PURGE) is not False
    missing = (expiry - logs.oldest) / DAY if expiry and purged else NO_EXPIRY_DAYS
    if left < missing:
        until = f"they expire after {expiry / DAY:g} days ({name})" if expiry and purged else "they never expire"
        yield binary_logs_outgrow_disk.finding(
            f"Binary logs grow by {format_size(int(a_day))} a day: the free space of {format_size(space.free)} lasts "
            f"{_days(left)}, but {f'they are purged only {while_connected(waits)}' if waits else until}.",
            severity=Severity.WARNING if left <= LEAST_SPAN / DAY else None,
            help=f"connect the replicas, or set {PURGE_NEEDS} = 0 on a server without any"
            if waits
            else f"{_expiry_step(expiry, purged=purged)} what replicas and point-in-time recovery need, or enlarge the "
            "volume",
        )


def _expiry_step(expiry: int, *, purged: bool) -> str:
    step = "lower the expiry to" if expiry else "set an expiry for"
    return step if purged else f"switch {AUTO_PURGE} on again, and {step}"


@rule(
    "GRO003",
    "grown-undo-tablespaces",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Undo tablespaces have grown to 10G or more, and to a tenth of the free space or more.",
    needs=("server", "host"),
    options=("innodb_undo_log_truncate",),
    evidence=("GROW-03", "GROW-04", "GROW-06"),
    docs=Docs(
        why="Undo grows while an old transaction keeps purge from removing it, or while purge cannot keep up with the "
        "writes. The files keep their size unless innodb_undo_log_truncate is ON (the default of MySQL 8.0 and later) "
        "and purge has freed them. The thresholds are our choice.",
        fix="End the oldest transaction, if it is not needed (information_schema.INNODB_TRX), and watch the history "
        "list. Set innodb_undo_log_truncate to ON, which shrinks files above innodb_max_undo_log_size if there are "
        "two undo tablespaces or more. On MariaDB before 10.6.15 and 10.11.5 recovery after a truncation could corrupt "
        "undo (MDEV-31373): update first.",
        risk="Truncating can slow the server for a while: MySQL 8.0.15 first wrote the changed pages of the "
        "tablespace, MySQL 9.7 and MariaDB 10.11 and 11.8 hardly any.",
        exceptions="A large transaction that is running now, such as a bulk change or a backup with one transaction.",
        reconsider_when="Files that shrink after the transaction has ended.",
    ),
)
def grown_undo(context: RuleContext) -> Iterator[Finding]:
    """Report large undo tablespaces on a disk where they matter."""
    files = _files(context, UNDO)
    space = _space_under(context, files)
    if files is None or space is None or files.bytes < GROWN or files.bytes * SHARE < space.free:
        return
    off = context.settings.on("innodb_undo_log_truncate") is False
    version = context.target.version
    sound = not context.target.is_mariadb or version >= SOUND_TRUNCATION.get(version[:2], SOUND_ANYWHERE)
    yield grown_undo.finding(
        f"The undo tablespaces take {format_size(files.bytes)}; {format_size(space.free)} is free."
        + (" They never shrink: innodb_undo_log_truncate is OFF." if off else ""),
        help="look for the oldest transaction in information_schema.INNODB_TRX"
        + (", and set innodb_undo_log_truncate to ON" if off and sound else ""),
    )


@rule(
    "GRO004",
    "grown-temporary-tablespaces",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="InnoDB's temporary tablespaces have grown to 10G or more, and to a tenth of the free space or more.",
    needs=("server", "host"),
    options=("innodb_temp_data_file_path",),
    evidence=("GROW-03", "GROW-05"),
    docs=Docs(
        why="On MySQL 5.7 and MariaDB, temporary InnoDB tables make ibtmp1 grow, on MySQL 5.7 also those that "
        "statements create on disk. It keeps its size until the server restarts, and without a maximum in "
        "innodb_temp_data_file_path a single statement can fill the disk. From MySQL 8.0.13 on these tables are in "
        "temporary tablespaces of their sessions, which shrink when the session ends, and ibtmp1 has their undo logs. "
        "No maximum limits them: with max:40M MySQL 8.0 and 9.7 let ibtmp1 grow to 780M. The thresholds are our "
        "choice.",
        fix="Find the statements with large temporary tables: CREATE TEMPORARY TABLE, and on MySQL those in the slow "
        "log where Created_tmp_disk_tables rises (MariaDB creates these as Aria files in tmpdir). On MySQL 5.7 and "
        "MariaDB limit the file: innodb_temp_data_file_path = ibtmp1:12M:autoextend:max:SIZE. On MySQL 8.0.13 and "
        "later end the sessions that hold the space (information_schema.INNODB_SESSION_TEMP_TABLESPACES). A restart "
        "frees ibtmp1; on MariaDB 11.3 and later SET GLOBAL innodb_truncate_temporary_tablespace_now = 1 frees its "
        "unused end.",
        risk="Statements that need more than the maximum fail, and the transaction of a session that is ended is "
        "rolled back.",
        restart=True,
        exceptions="Nightly reports that need that much each time.",
        reconsider_when="A file that stays small after the next restart.",
    ),
)
def grown_temporary_tablespaces(context: RuleContext) -> Iterator[Finding]:
    """Report large temporary tablespaces on a disk where they matter."""
    files = _files(context, TEMPORARY)
    space = _space_under(context, files)
    if files is None or space is None or files.bytes < GROWN or files.bytes * SHARE < space.free:
        return
    of_sessions = context.target.since("mysql", 8, 0, 13)
    limited = of_sessions or ":MAX:" in (context.text("innodb_temp_data_file_path") or "")
    yield grown_temporary_tablespaces.finding(
        f"InnoDB's temporary tablespaces take {format_size(files.bytes)}; {format_size(space.free)} is free."
        + ("" if limited else " No maximum limits them."),
        help="find the statements with large temporary tables"
        + ("" if limited else ", and add :max:SIZE to innodb_temp_data_file_path")
        + (f", and end the sessions that hold the space ({SESSION_SPACES})" if of_sessions else ""),
    )


def _files(context: RuleContext, kind: str) -> ServerFiles | None:
    """The files of a kind; raises MissingFact if the server's files were not listed."""
    files = context.host.files
    if files is None:
        raise MissingFact("needs the sizes of the server's files (an audit on its host as root or as its account)")
    return next((one for one in files if one.kind == kind), None)


def _space_under(context: RuleContext, files: ServerFiles | None) -> Space | None:
    """The room of the file system that holds the files; None if it is not one of those that were read."""
    number = files.number if files else ""
    fits = (storage for storage, _ in server_directories(context.host) if number and storage.mount.number == number)
    storage = next(fits, None)
    return storage.space if storage else None
