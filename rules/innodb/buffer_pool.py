"""INN: rules about InnoDB's buffer pool, its instances, read-ahead, scans and warm-up."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, exact_size, format_size
from rules.core import MOST, Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import variable_subject
from rules.innodb import is_aurora

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding
    from rules.core.context import RuleContext

GIB = 1 << 30
POOL = "innodb_buffer_pool_size"
INSTANCES = "innodb_buffer_pool_instances"
CHUNK = "innodb_buffer_pool_chunk_size"
METHOD, BUFFERING = "innodb_flush_method", "innodb_data_file_buffering"
MYSQL = (Span("mysql"),)
# BPI-06: each instance should hold at least 1 GB; below 1 GB in total the server always uses one instance.
LEAST_INSTANCE = GIB
FEW_POOL = 8 * GIB
FEW = 8  # BPI-01: stalls with 1 to 4, acceptable from 8
MANY_PROCESSORS = 16  # BPI-01 was measured on 40 cores
BUFFERED = frozenset({"FSYNC", "O_DSYNC", "FDATASYNC"})
CACHED_TWICE = 4 * GIB
CACHING = frozenset({"zfs", "tmpfs", "ramfs"})  # ZFS has a cache of its own, the others are in memory
ROUNDED_PERCENT = 10
SLOW_TO_WARM = GIB  # 65,536 pages of 16K; single reads from a spinning disk take minutes
USUAL_TIME = 1000  # milliseconds: the default in every version


@rule(
    "INN001",
    "pointless-buffer-pool-instances",
    severity=Severity.NOTE,
    summary="The buffer pool is too small to be divided, and the server uses one instance.",
    targets=MYSQL,
    options=(INSTANCES,),
    evidence=("BPI-06", "ASK-06"),
    docs=Docs(
        why="Below 1 GB the server uses one instance, whatever the setting. MariaDB has had a single pool since 10.5 "
        "and ignores the option, which ignored-option reports there.",
        fix="Remove the line.",
        risk="None: the server does the same without it.",
        restart=True,
        exceptions="A pool that is raised at run time keeps the number of instances it started with.",
        reconsider_when="A server of this version that runs a smaller pool with several instances.",
    ),
)
def pointless_buffer_pool_instances(context: RuleContext) -> Iterator[Finding]:
    """Report several buffer pool instances for a pool below 1 GB."""
    wanted, pool = _requested_instances(context), context.number(POOL)
    if wanted is not None and wanted > 1 and pool is not None and pool < LEAST_INSTANCE:
        yield pointless_buffer_pool_instances.finding(
            f"The server ignores this line: it runs a pool of {format_size(pool)} as one instance, and divides only "
            "pools of 1G or more.",
            variable_subject(context, INSTANCES),
            help="remove the line",
        )


def _requested_instances(context: RuleContext) -> int | None:
    """The configured number of instances, which may be more than a small pool gets."""
    line = context.file_verdict.effective.get(INSTANCES)
    if line is not None and line.value is not None and line.value.isdigit() and context.is_set(INSTANCES):
        return int(line.value)
    return context.number(INSTANCES) if context.is_set(INSTANCES) else None


def _remaining_pool(context: RuleContext, pool: int) -> int:
    """The pool size, or the size that MEM001 advises for a pool that is too large.

    This keeps the advice of both rules consistent.
    """
    if not context.has("host"):
        return pool
    from rules.sizing.memory import fitting_pool

    return fitting_pool(context, pool)


@rule(
    "INN002",
    "many-buffer-pool-instances",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The buffer pool is divided into instances of less than 1 GB each.",
    targets=MYSQL,
    options=(INSTANCES, POOL),
    evidence=("BPI-06", "BPI-03", "LRU-01", "ASK-06"),
    probe="buffer-pool-instances",
    docs=Docs(
        why="MySQL's manual recommends at least 1 GB per instance. Each instance is searched for pages to flush once a "
        "second (innodb_lru_scan_depth), so many instances multiply that work. The pool is also rounded up to a "
        "multiple of instances times chunk size: 1100M with 8 instances runs as 2048M.",
        fix="Use no more instances than the pool has gigabytes.",
        risk="With many sessions, fewer instances can mean more contention for their locks.",
        restart=True,
        exceptions="A published run with 64 instances of 2 GB each had the steadiest throughput; the limit is 1 GB per "
        "instance, not the number of instances.",
        reconsider_when="A run of hours on this host that is steadier with more instances.",
    ),
)
def many_buffer_pool_instances(context: RuleContext) -> Iterator[Finding]:
    """Report more buffer pool instances than gigabytes."""
    wanted, pool = _requested_instances(context), context.number(POOL)
    if wanted is None or pool is None or pool < LEAST_INSTANCE:
        return
    left = _remaining_pool(context, pool)
    most = max(left // LEAST_INSTANCE, 1)
    if wanted <= most:
        return
    enough = wanted * LEAST_INSTANCE <= pool  # until the pool is lowered to what fits
    size, where = (left, f" in a pool of {format_size(left)}, which fits in memory") if enough else (pool, "")
    action = advise(context, INSTANCES, most, risk="more contention for locks with many sessions")
    yield many_buffer_pool_instances.finding(
        f"{wanted} instances of {format_size(size // wanted)} each{where}; MySQL's manual recommends 1 GB or more per "
        "instance.",
        variable_subject(context, INSTANCES),
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "INN003",
    "random-read-ahead",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Random read-ahead is on: the server reads a whole extent when a few of its pages are in the pool.",
    options=("innodb_random_read_ahead",),
    quiet={"innodb_random_read_ahead": ("FALSE",)},
    evidence=("IO-01", "RA-01", "RA-02"),
    probe="read-ahead",
    docs=Docs(
        why="When a part of an extent's pages is in the pool (13 of 64, according to MySQL's manual), the server reads "
        "the rest. A TPC-C-like run on eight disks in RAID10 was about 15 percent faster with all read-ahead off, and "
        "smoother on SSD. On a virtual disk mycnf's own run found no difference between random read-ahead on and off.",
        fix="Leave it off, which is the default.",
        risk="A workload that benefits from it then reads more single pages.",
        exceptions="Tables on spinning disks that are read extent by extent in random order.",
        reconsider_when="Innodb_buffer_pool_read_ahead_evicted near zero while Innodb_buffer_pool_read_ahead_rnd "
        "rises, or Innodb_buffer_pool_read_ahead on MariaDB 11.8.",
    ),
)
def random_read_ahead(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_random_read_ahead = ON."""
    if context.is_set("innodb_random_read_ahead") and context.settings.on("innodb_random_read_ahead"):
        action = advise(context, "innodb_random_read_ahead", "OFF", watch="Innodb_buffer_pool_read_ahead_evicted")
        yield random_read_ahead.finding(
            "The server reads a whole extent when some of its pages are in the pool; in a published test "
            "throughput was about 15 % higher with all read-ahead off.",
            variable_subject(context, "innodb_random_read_ahead"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN007",
    "few-buffer-pool-instances",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="A large buffer pool has few instances, which stalled throughput on 40 cores in published tests.",
    targets=(Span("mysql", before=(8, 4)),),
    options=(INSTANCES, POOL),
    evidence=("BPI-01", "BPI-03", "BPI-06"),
    probe="buffer-pool-instances",
    docs=Docs(
        why="Each instance has its own locks. With 1 to 4 instances a pool of 25 GB stalled under 40 cores; 8 were "
        "acceptable. Independent runs show that instances even out stalls rather than raise the mean: the throughput "
        "of single seconds varied by 20 to 25 percent with 8 instances and by 6 to 9 with 32, the means were nearly "
        "equal. With few processors there is little contention for a lock. The rule applies to pools of 8G or more, "
        "from 16 processors on or where their number is unknown. Both limits are our choice: nothing was measured "
        "below 40 cores.",
        fix="Remove the line: the default of these versions is 8 from 1 GB on.",
        risk="The pool is rounded up to whole chunks of 128M for each instance: 8.5G in 8 instances runs as 9G.",
        restart=True,
        exceptions="Servers with few concurrent writers. The stalls take hours to appear, so a short test proves "
        "nothing.",
        reconsider_when="A run of hours on this host that is as steady with fewer.",
        disagree="Readers of the test recommend one instance per gigabyte; its author declined to give a rule.",
    ),
)
def few_buffer_pool_instances(context: RuleContext) -> Iterator[Finding]:
    """Report fewer instances than the default for a large pool, unless the host is known to have few processors."""
    wanted, pool = _requested_instances(context), context.number(POOL)
    if wanted is None or pool is None or not _needs_instances(context, pool):
        return
    processors = context.host.usable_cpus if context.has("host") else None
    action = advise(context, INSTANCES, FEW)
    here = f"{processors:g} processors" if processors is not None else f"{MANY_PROCESSORS} processors or more"
    yield few_buffer_pool_instances.finding(
        f"A pool of {format_size(pool)} in {wanted} instance{'s' if wanted > 1 else ''}, which can "
        f"stall sessions on {here}; "
        "on 40 cores, 8 instances were acceptable.",
        variable_subject(context, INSTANCES),
        help=help_line(action),
        actions=present(action),
    )


def _needs_instances(context: RuleContext, pool: int) -> bool:
    """Whether a pool of this size has few instances, on a host that is not known to have few processors."""
    wanted = _requested_instances(context)
    if wanted is None or wanted >= FEW or _remaining_pool(context, pool) < FEW_POOL or is_aurora(context):
        return False
    processors = context.host.usable_cpus if context.has("host") else None
    return processors is None or processors >= MANY_PROCESSORS


def instances_for(context: RuleContext, pool: int) -> Action | None:
    """The action that gives a pool of the advised size enough instances; None where the rule about them is silent."""
    has_few = context.target.is_mysql and not context.target.since("mysql", 8, 4) and _needs_instances(context, pool)
    return advise(context, INSTANCES, FEW) if has_few else None


@rule(
    "INN009",
    "double-buffering",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Double buffering: pages of a large pool are cached in the pool and in the system's page cache.",
    options=(METHOD, BUFFERING, POOL),
    evidence=("FLUSH-01", "FLUSH-02", "ASK-09", "INNA-14"),
    docs=Docs(
        why="With buffered I/O every page that the pool reads is in the page cache too, so it takes memory twice. "
        "MySQL 8.4 and MariaDB 10.6 made direct I/O their default. On MariaDB 11 innodb_flush_method = fsync switches "
        "innodb_data_file_buffering on, also where another line says OFF. The rule reports pools that are larger than "
        "the memory they leave to the page cache, and pools of 4G or more where the memory is unknown.",
        fix="Set innodb_flush_method to O_DIRECT, which needs a restart. On MariaDB 11, remove innodb_flush_method and "
        "set innodb_data_file_buffering to OFF, which needs no restart.",
        risk="Reads that the page cache answered go to the disk: with a pool of 32M and the data in the page cache, "
        "direct I/O halved throughput. Make the pool large enough first.",
        exceptions="Pools that are small compared with the memory. Data on ZFS, which has a cache of its own, or on a "
        "file system in memory (tmpfs) is not reported.",
        reconsider_when="A run on this host that is faster with buffered files.",
        disagree="MariaDB's documentation notes that the page cache and its read-ahead can help a small pool.",
    ),
)
def double_buffering(context: RuleContext) -> Iterator[Finding]:
    """Report buffered data files with a pool that is large, or large in relation to memory."""
    pool = context.number(POOL)
    name = _buffering_option(context)
    if pool is None or name is None or not context.is_set(POOL) or _caches_anyway(context):
        return
    if not _is_large(context, pool):
        return
    gone = name == METHOD and context.target.since("mariadb", 11, 0)
    value = "OFF" if name == BUFFERING else "O_DIRECT"
    action = None if gone else advise(context, name, value, risk="reads that the page cache answered go to the disk")
    yield double_buffering.finding(
        f"Double buffering: pages are cached in the buffer pool of {format_size(pool)} and in the page cache.",
        variable_subject(context, name) if context.is_set(name) else variable_subject(context, POOL),
        help="remove the line: direct I/O is the default" if gone else help_line(action),
        actions=present(action),
    )


def _caches_anyway(context: RuleContext) -> bool:
    """Whether the data is on a file system that keeps it in memory regardless of the server's flags."""
    if not context.has("host"):
        return False
    from rules.core.storage import mount_under

    mount = mount_under(context)
    return mount is not None and mount.fs_type in CACHING


def _buffering_option(context: RuleContext) -> str | None:
    """The option, set or by default, that makes the server buffer data files; None if it does not."""
    if is_aurora(context) or context.target.platform == "windows":
        return None  # on Windows the default is unbuffered, and O_DIRECT is not a value of MySQL's
    method = context.text(METHOD)
    if context.target.since("mariadb", 11, 0):
        by_method = method == "FSYNC" and context.is_set(METHOD)
        return METHOD if by_method else BUFFERING if context.settings.on(BUFFERING) else None
    if not context.has("server") and context.target.since("mysql", 8, 4) and not context.is_set(METHOD):
        return None  # the default is O_DIRECT if the platform supports it, which the catalog does not know
    return METHOD if (method or "FSYNC") in BUFFERED else None


def _is_large(context: RuleContext, pool: int) -> bool:
    """Whether the pool holds more pages than the page cache could hold beside it."""
    if not context.has("host"):
        return pool >= CACHED_TWICE
    from rules.sizing.memory import page_cache_room, usable_memory

    room = usable_memory(context)
    return pool >= page_cache_room(context, pool, room[0]) if room else pool >= CACHED_TWICE


@rule(
    "INN021",
    "rounded-up-buffer-pool",
    summary="The server rounds the buffer pool up and takes clearly more memory than configured.",
    targets=(Span("mysql"),),
    options=(POOL, INSTANCES, CHUNK),
    evidence=("ASK-06", "BPI-04", "INNA-03"),
    docs=Docs(
        why="The pool is made of chunks, the same number in each instance, so its size is rounded up to a multiple of "
        "innodb_buffer_pool_chunk_size times innodb_buffer_pool_instances: 1100M with 8 instances runs as 2048M. The "
        "rule reports more than a tenth above the configured size; that threshold is our choice.",
        fix="Choose a size that is such a multiple, fewer instances, or smaller chunks.",
        risk="A smaller pool reads more from disk.",
        restart=True,
        exceptions="Hosts that have the memory to spare.",
        reconsider_when="innodb_buffer_pool_size as the running server shows it.",
    ),
)
def rounded_up_buffer_pool(context: RuleContext) -> Iterator[Finding]:
    """Report a pool that the server rounds up to chunks by a clear margin."""
    line, running = context.file_verdict.effective.get(POOL), context.number(POOL)
    if line is None or line.value is None or running is None or line.running != str(running):
        return
    asked = int(line.value)
    if (running - asked) * 100 > asked * ROUNDED_PERCENT:
        yield rounded_up_buffer_pool.finding(
            f"The pool of {exact_size(asked)} runs as {exact_size(running)}: each instance takes whole chunks.",
            variable_subject(context, POOL),
            help=f"write {POOL} = {_sizes_that_fit(context, asked, running)}, or use fewer instances or smaller chunks",
        )


def _sizes_that_fit(context: RuleContext, asked: int, running: int) -> str:
    """The sizes to choose from: the one that pool-exceeds-memory advises where the pool does not fit in memory."""
    from rules.sizing.memory import fitting_pool  # lazily: few files need it

    fits = fitting_pool(context, running)
    return exact_size(fits) if fits < running else _nearest_sizes(context, asked, running)


def _nearest_sizes(context: RuleContext, asked: int, running: int) -> str:
    """The two sizes around the configured one that the server does not round, the smaller first."""
    from rules.sizing.memory import instances  # lazily: few files need it

    step = (context.number(CHUNK) or running) * (1 if asked < GIB else instances(context, asked))
    smaller = asked // step * step
    return (
        f"{exact_size(smaller)}, or {exact_size(running)} if there is enough memory" if smaller else exact_size(running)
    )


@rule(
    "INN018",
    "scans-displace-the-pool",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Pages that a scan reads move to the young sublist at once, so scans evict the pages in use.",
    options=("innodb_old_blocks_time",),
    quiet={"innodb_old_blocks_time": (1, MOST)},
    evidence=("INNV-03", "INNA-02"),
    docs=Docs(
        why="A page enters the pool in the old sublist and moves to the young sublist when it is used again after "
        "innodb_old_blocks_time milliseconds. A scan uses each page for all its rows within a moment: with 0 the "
        "second row moves the page to the young sublist, where it evicts pages that others use all the time.",
        fix="Remove the line; the default is 1000.",
        risk="Pages that are used often, but only within one second at a time, stay in the old sublist.",
        exceptions="Servers whose data fits in the pool, and tables that are scanned again and again and should stay.",
        reconsider_when="Innodb_buffer_pool_reads that don't rise while a backup or a report scans.",
    ),
)
def scans_displace_the_pool(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured innodb_old_blocks_time = 0."""
    name = "innodb_old_blocks_time"
    if context.is_set(name) and context.number(name) == 0:
        action = advise(
            context, name, USUAL_TIME, watch="Innodb_buffer_pool_reads",
            risk="pages used only within one second at a time stay in the old sublist",
        )  # fmt: skip
        yield scans_displace_the_pool.finding(
            "Pages that only a scan reads move to the young sublist at once and evict those in use.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN019",
    "cold-pool-after-restart",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="A large buffer pool starts empty, because its list of pages is not saved or not loaded.",
    options=("innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup"),
    quiet=dict.fromkeys(("innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup"), ("TRUE",)),
    evidence=("INNV-04",),
    docs=Docs(
        why="At shutdown the server saves which pages the pool holds, a small file of numbers: by default the quarter "
        "that was used last (innodb_buffer_pool_dump_pct). It reads those pages again at start-up in the background. "
        "Without either, the pool fills one page at a time, as sessions read: 1 GiB is 65,536 pages, more than five "
        "minutes for a disk of 200 reads a second. The rule reports from that size on.",
        fix="Remove the line; both are on by default.",
        risk="Reads in the background after a start, in addition to those of sessions.",
        exceptions="Replicas and test servers without waiting clients, and data that differs after each restart.",
        reconsider_when="A restart under load after which response times are back to normal within a minute.",
    ),
)
def cold_pool_after_restart(context: RuleContext) -> Iterator[Finding]:
    """Report a pool of 1 GB or more whose page list is not dumped at shutdown or not loaded at startup."""
    pool = context.number(POOL)
    if pool is None or pool < SLOW_TO_WARM:
        return
    for name in ("innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup"):
        if context.explicit_switch(name) is False:
            action = advise(
                context,
                name,
                "ON",
                risk="reads in the background after a start",
                watch="Innodb_buffer_pool_load_status",
            )
            yield cold_pool_after_restart.finding(
                f"A restart loses which pages the pool of {format_size(pool)} held: unless an older list is loaded, "
                "sessions read them from disk one by one."
                if "dump" in name
                else f"The pool of {format_size(pool)} starts empty, and sessions read its pages from disk one by one.",
                variable_subject(context, name),
                help=help_line(action),
                actions=present(action),
            )
