"""INN: rules about settings that limit InnoDB's throughput, or that have no effect."""

from __future__ import annotations

from advisor.core.model import Confidence, Origin, Severity, format_size
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

AIO = "innodb_use_native_aio"
IN_MEMORY = frozenset({"tmpfs", "ramfs"})  # file systems on which old kernels have no asynchronous I/O
RINGS_LEFT_OUT = ((5, 1), (5, 15))
LAG, LAG_DELAY = "innodb_max_purge_lag", "innodb_max_purge_lag_delay"
LEAST_DELAY, LONG_DELAY = 1000, 1_000_000  # microseconds; our choice
PURGE_THREADS, USUAL_THREADS = "innodb_purge_threads", 4
MANY_PROCESSORS = 16  # up to so many MySQL 8.4 uses one purge thread by default
LEAST_UNDO = 2  # undo tablespaces; with fewer undo-truncation-without-tablespaces reports
UNDO_LIMIT, LARGE_UNDO = "innodb_max_undo_log_size", 10 << 30
PATHS = "innodb_validate_tablespace_paths"
LOG_WRITERS, BUSY_PROCESSORS = "innodb_log_writer_threads", 32  # LOGW-01
COMPRESSED_PAGES = "innodb_log_compressed_pages"


@rule(
    "INN040",
    "native-aio-off",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Native asynchronous I/O is off, so each of InnoDB's I/O threads waits for one request at a time.",
    options=(AIO,),
    evidence=("AIO-01", "AIO-03", "INNA-34"),
    docs=Docs(
        why="With native asynchronous I/O a thread hands many reads or writes to the kernel at once. Without it InnoDB "
        "simulates that with its read and write threads, four or more of each by default, and a disk that could serve "
        "a hundred requests gets a few. It is on by default where the platform has it. A server that gets none from "
        "the kernel at start-up writes a warning and runs with OFF, although no line sets it; the rule reports that as "
        "a warning. MySQL 5.7, 8.0 and 9.7 and MariaDB 10.11, 11.4 and 11.8 did so when io_setup failed because no "
        "requests were left (fs.aio-max-nr).",
        fix="Remove the line. Where no line sets it, read the error log of the start: raise fs.aio-max-nr, or let the "
        "container's seccomp profile allow the calls, and restart.",
        risk="fs.aio-max-nr counts the requests of all servers of a host. Where few are left, a server starts with OFF "
        "or does not start.",
        restart=True,
        exceptions="ZFS, and file systems on which it fails, such as tmpfs with old kernels. Hosts near fs.aio-max-nr. "
        "MariaDB with io_uring does not use it on Linux 5.11 to 5.15.2.",
        reconsider_when="A run on this host that is as fast with it off.",
        disagree="In parts of one published insert benchmark inserts were slower with it off, and queries faster.",
    ),
)
def native_aio_off(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_use_native_aio = OFF, configured or because the server got no requests from the kernel."""
    if context.settings.on(AIO) is not False:
        return
    if _is_refused_aio(context):
        yield native_aio_off.finding(
            f"{AIO} is OFF although no line sets it: the server got no asynchronous I/O from the kernel when it "
            f"started.{_requests_text(context)}",
            variable_subject(context, AIO),
            severity=Severity.WARNING,
            help="look for io_setup or io_uring in the error log of the start; raise fs.aio-max-nr if the requests "
            "were used up, and restart",
        )
    elif context.is_set(AIO):
        action = advise(context, AIO, "ON", live=False, risk="fs.aio-max-nr must allow for it")
        yield native_aio_off.finding(
            "Each of InnoDB's I/O threads waits for one read or write at a time.",
            variable_subject(context, AIO),
            help=help_line(action),
            actions=present(action),
        )


def _is_refused_aio(context: RuleContext) -> bool:
    """Whether a Linux server runs without native I/O by the default, on storage and a kernel that have it."""
    if not context.has("server") or context.server.managed or "LINUX" not in (context.text("version_compile_os") or ""):
        return False
    setting = context.settings.get(AIO)
    if setting is None or setting.origin is not Origin.COMPILED:
        return False
    if not context.has("host"):
        return context.target.is_mysql
    from rules.core.storage import kernel_version, mount_under

    mount, kernel = mount_under(context), kernel_version(context.host)
    if mount is not None and mount.fs_type in IN_MEMORY:
        return False
    # There MariaDB switches io_uring off by itself, or another rule reports the limit on locked memory.
    return context.target.is_mysql or (kernel is not None and not RINGS_LEFT_OUT[0] <= kernel <= RINGS_LEFT_OUT[1])


def _requests_text(context: RuleContext) -> str:
    system = context.host.os if context.has("host") else None
    if system is None or not system.aio_max or system.aio_used is None:
        return ""
    return f" {system.aio_used:,} of {system.aio_max:,} requests are in use now (fs.aio-max-nr)."


@rule(
    "INN041",
    "purge-lag-without-delay",
    severity=Severity.NOTE,
    confidence=Confidence.MEASURED,
    summary="innodb_max_purge_lag does nothing while innodb_max_purge_lag_delay is 0.",
    options=(LAG, LAG_DELAY),
    evidence=("INNA-15", "INNA-51"),
    docs=Docs(
        why="Beyond innodb_max_purge_lag old row versions, the server should delay changes until purge has caught up. "
        "innodb_max_purge_lag_delay is the longest delay, in microseconds, and 0, the default, allows none: with four "
        "times the lag an update took no longer than before on all servers that we tested. With a delay of 100 ms an "
        "update took 32 to 47 ms on MySQL; MariaDB delayed none, neither behind an open transaction nor while purge "
        "went on.",
        fix="Remove the line. To slow changes down on purpose on MySQL, set the delay as well, after a test.",
        risk="None: the line does nothing.",
        exceptions="Servers whose delay is set at run time.",
        reconsider_when="A server of this version that delays a change with a delay of 0.",
    ),
)
def purge_lag_without_delay(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_max_purge_lag without innodb_max_purge_lag_delay."""
    if context.number(LAG) and context.is_set(LAG) and context.number(LAG_DELAY) == 0:
        yield purge_lag_without_delay.finding(
            f"{LAG} delays no statement: {LAG_DELAY} is 0, and that is the longest delay.",
            variable_subject(context, LAG),
            help="remove the line",
        )


@rule(
    "INN049",
    "changes-delayed-for-purge",
    confidence=Confidence.MEASURED,
    summary="Each change waits, because more old row versions are kept than innodb_max_purge_lag allows.",
    targets=(Span("mysql"),),
    options=(LAG, LAG_DELAY),
    evidence=("INNA-15", "INNA-36", "INNV-07"),
    docs=Docs(
        why="Beyond innodb_max_purge_lag MySQL delays each INSERT, UPDATE and DELETE, up to innodb_max_purge_lag_delay "
        "microseconds. That gives purge time where it is only slow. Behind a transaction that stays open purge cannot "
        "continue, and changes wait until that transaction ends: with a lag of 1,000 and a delay of 100 ms an update "
        "took 32 to 47 ms instead of 1.5 to 9. The delay grows with the history list, so a limit of seconds is hardly "
        "a limit: the rule reports an option file that allows a second or more as a note.",
        fix="End the oldest transaction first (information_schema.INNODB_TRX, by trx_started). Set "
        "innodb_max_purge_lag to 0, the default, if changes must not wait.",
        risk="Without the delay the history may grow faster.",
        exceptions="Servers whose writers are slowed down on purpose.",
        reconsider_when="A history list that stays below innodb_max_purge_lag.",
    ),
)
def changes_delayed_for_purge(context: RuleContext) -> Iterator[Finding]:
    """Report a history list beyond innodb_max_purge_lag, where a delay is set."""
    lag, delay = context.number(LAG), context.number(LAG_DELAY)
    if not lag or not delay or delay < LEAST_DELAY:
        return
    if not context.has("server"):
        yield from _long_delay(context, lag, delay)
        return
    length = context.server.innodb_metrics.get("trx_rseg_history_len")
    if length is None or length <= lag:
        return
    action = advise(context, LAG, 0, risk="the history may grow faster")
    yield changes_delayed_for_purge.finding(
        f"The history list has {length:,} entries, more than {LAG} ({lag:,}): each change may wait up to "
        f"{delay / 1000:,.0f} ms.",
        variable_subject(context, LAG),
        help=f"end the oldest transaction in information_schema.INNODB_TRX first; otherwise {help_line(action)}",
        actions=present(action),
    )


def _long_delay(context: RuleContext, lag: int, delay: int) -> Iterator[Finding]:
    """A note on an option file that allows long delays."""
    if context.is_set(LAG) and delay >= LONG_DELAY:
        yield changes_delayed_for_purge.finding(
            f"Each change may wait up to {delay / 1_000_000:g} s once the history list has more than {lag:,} "
            "entries, as happens while a transaction stays open.",
            variable_subject(context, LAG),
            severity=Severity.NOTE,
            help=f"remove the line, or write an {LAG_DELAY} that clients can wait for, such as 100000 (0.1 s)",
        )


@rule(
    "INN042",
    "single-purge-thread",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="One purge thread serves a machine with many processors.",
    needs=("host",),
    options=(PURGE_THREADS,),
    evidence=("INNA-12", "PURGE-02"),
    docs=Docs(
        why="Purge must keep up with all sessions together. Where it does not, old row versions accumulate, and reads "
        "must go through them. The default is 4; MySQL 8.4 and later use 1 on 16 processors or fewer, otherwise 4. No "
        "published measurement compares them.",
        fix="Remove the line. MySQL needs a restart for it; MariaDB also takes SET GLOBAL innodb_purge_threads = 4.",
        risk="Purge threads compete with sessions for pages and locks.",
        exceptions="Servers that change little.",
        reconsider_when="A history list length that stays low over the busiest hour.",
    ),
)
def single_purge_thread(context: RuleContext) -> Iterator[Finding]:
    """Report one purge thread on more processors than MySQL uses one for."""
    processors = context.host.usable_cpus
    if context.number(PURGE_THREADS) == 1 and context.is_set(PURGE_THREADS) and (processors or 0) > MANY_PROCESSORS:
        action = advise(context, PURGE_THREADS, USUAL_THREADS, risk="more threads compete for pages")
        yield single_purge_thread.finding(
            f"A single thread purges the old row versions of sessions on {processors:g} processors.",
            variable_subject(context, PURGE_THREADS),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN043",
    "undo-files-kept-large",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Undo files are truncated only beyond a size that fills much of a disk.",
    options=(UNDO_LIMIT,),
    evidence=("INNV-07", "UNDO-02"),
    docs=Docs(
        why="An undo file that a long transaction made large is truncated once it is larger than "
        "innodb_max_undo_log_size; below that it keeps its size. The default is 1G on MySQL and 10M on MariaDB. The "
        "rule reports more than 10G, which is our choice, where innodb_undo_log_truncate is on. It is off by default "
        "on MySQL 5.7 and MariaDB: there no undo file is truncated.",
        fix="Remove the line.",
        risk="Truncating a file can slow the server down for a moment under heavy writes.",
        exceptions="Servers with as much room to spare for each undo tablespace.",
        reconsider_when="Undo files that stay small anyway.",
    ),
)
def undo_files_kept_large(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_max_undo_log_size of tens of gigabytes."""
    value = context.number(UNDO_LIMIT)
    spaces = 2 if context.target.since("mysql", 8, 0) else context.number("innodb_undo_tablespaces")
    if context.settings.on("innodb_undo_log_truncate") is False or (spaces is not None and spaces < LEAST_UNDO):
        return  # no undo file is truncated, whatever its size
    if value is not None and value > LARGE_UNDO and context.is_set(UNDO_LIMIT):
        yield undo_files_kept_large.finding(
            f"Each undo file may keep up to {format_size(value)} after a long transaction, because no smaller file is "
            "truncated.",
            variable_subject(context, UNDO_LIMIT),
            help="remove the line",
        )


@rule(
    "INN044",
    "moved-files-unnoticed",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The server does not compare the paths of its data files with the data dictionary when it starts.",
    targets=(Span("mysql", since=(8, 0, 21)),),
    options=(PATHS,),
    evidence=("PATH-01",),
    docs=Docs(
        why="MySQL finds data files that were moved while it was stopped by comparing paths at the start. Without that "
        "comparison, the manual warns of undefined behaviour after a file was moved. The option is there for servers "
        "with very many tables, which start sooner without the comparison, and whose files are never moved.",
        fix="Remove the line, or never move data files while the server is stopped.",
        risk="Servers with a hundred thousand tables and more start later.",
        restart=True,
        exceptions="Managed platforms, where files cannot be moved.",
        reconsider_when="A start that takes too long with the comparison, and files that stay where they are.",
    ),
)
def moved_files_unnoticed(context: RuleContext) -> Iterator[Finding]:
    """Report disabled validation of tablespace paths at startup."""
    if context.explicit_switch(PATHS) is False:
        yield moved_files_unnoticed.finding(
            "Data files that are moved while the server is stopped are not noticed; the manual then warns of "
            "undefined behaviour.",
            variable_subject(context, PATHS),
            help="remove the line, unless starts take too long and data files are never moved",
        )


@rule(
    "INN045",
    "log-writers-switched-off",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Sessions write the redo log themselves, on a machine with enough processors for dedicated threads.",
    needs=("host",),
    targets=(Span("mysql", since=(8, 0, 22)),),
    options=(LOG_WRITERS,),
    evidence=("LOGW-01",),
    docs=Docs(
        why="Dedicated threads write and sync the redo log while sessions go on. MySQL's manual expects more of them "
        "at high concurrency and less at low; MySQL 9.5 switches them on by default from 32 processors with a binary "
        "log, and from 5 without one. The rule applies from 32 on.",
        fix="Set innodb_log_writer_threads to ON.",
        risk="With few active sessions, a commit waits a little longer.",
        exceptions="Servers where few sessions commit at the same time.",
        reconsider_when="A measurement with your own load in which OFF commits more.",
    ),
)
def log_writers_switched_off(context: RuleContext) -> Iterator[Finding]:
    """Report disabled dedicated log writer threads on many processors."""
    processors = context.host.usable_cpus or 0
    if context.explicit_switch(LOG_WRITERS) is False and processors >= BUSY_PROCESSORS:
        action = advise(context, LOG_WRITERS, "ON", risk="with few active sessions, a commit waits a little longer")
        yield log_writers_switched_off.finding(
            f"The redo log has no dedicated threads; from {BUSY_PROCESSORS} processors on MySQL 9.5 starts them by "
            f"default, and this machine has {processors:g}.",
            variable_subject(context, LOG_WRITERS),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN046",
    "compressed-pages-not-logged",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="After a crash, compressed pages can be recovered only with the same version of zlib.",
    targets=(Span("mysql"),),
    options=(COMPRESSED_PAGES,),
    evidence=("ZLIB-01",),
    docs=Docs(
        why="With OFF the redo log holds no image of a page that was compressed again, so crash recovery compresses it "
        "once more. Another version of zlib, which a new package of the server can bring, may need more room than the "
        "page has; recovery then fails. Tables without ROW_FORMAT = COMPRESSED are not affected.",
        fix="Set innodb_log_compressed_pages to ON.",
        risk="Changes of compressed tables write more redo log.",
        exceptions="Servers without compressed tables, and servers that are always shut down cleanly before their "
        "packages are changed.",
        reconsider_when="A server without tables of ROW_FORMAT = COMPRESSED.",
    ),
)
def compressed_pages_not_logged(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_log_compressed_pages = OFF."""
    if context.explicit_switch(COMPRESSED_PAGES) is False:
        action = advise(context, COMPRESSED_PAGES, "ON", risk="changes of compressed tables write more redo log")
        yield compressed_pages_not_logged.finding(
            "Crash recovery of compressed tables can fail if the server then has another version of zlib.",
            variable_subject(context, COMPRESSED_PAGES),
            help=help_line(action),
            actions=present(action),
        )
