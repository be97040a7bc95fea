"""INN: rules about InnoDB's I/O on a running server and about the layout of its data on the storage."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_size
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.counters import steady_window, window_text
from rules.core.storage import disk_names, is_solid_state
from rules.core.subject import variable_subject
from rules.innodb.io_capacity import is_in_use, written_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts import Workload
    from rules.core.context import RuleContext

PAGE = "innodb_page_size"
POOL = "innodb_buffer_pool_size"
NEIGHBOURS = "innodb_flush_neighbors"
DEPTH, CLEANERS, INSTANCES = "innodb_lru_scan_depth", "innodb_page_cleaners", "innodb_buffer_pool_instances"
LARGE_TARGET_PERCENT, KEPT_PERCENT = 25, 10  # of the pool's pages: our choice
LEAST_DEPTH, SCANS = 100, 16  # the minimum of the option; the advised target is one in so many pages
MYSQL = (Span("mysql"),)
LARGE_PAGE = 16384
EVICTED_PERCENT = 20
THRESHOLD, HIGHEST_THRESHOLD, RANDOM = "innodb_read_ahead_threshold", 64, "innodb_random_read_ahead"
EVICTED = "Innodb_buffer_pool_read_ahead_evicted"  # unread, by linear or random read-ahead
READ_AHEAD_EVENTS = 1000  # pages in the window; below, the percentage of evicted pages is not reliable
DISK_READS = 100  # pages a second; below, storage is not the bottleneck
ROWS = 1000  # rows in the window; below, pages per row are not reliable
MOST_PAGES_A_ROW = 12  # more cannot come from two index lookups: long rows or background reads
WRITTEN_PERCENT = 10  # percent of the rows read; with more writes, too many page requests come from them
PAGES_A_ROW = 2  # an index lookup costs two pages or more per row, a scan a small part of one
# Requests to the storage engine, each mostly for one row.
ROW_WRITES = ("handler_write", "handler_update", "handler_delete")
ROW_READS = ("handler_read_key", "handler_read_next", "handler_read_prev", "handler_read_rnd", "handler_read_rnd_next")


@rule(
    "INN004",
    "wasted-read-ahead",
    severity=Severity.NOTE,
    confidence=Confidence.MEASURED,
    summary="Many pages that were read ahead are evicted without having been accessed.",
    needs=("server", "workload"),
    options=(THRESHOLD, RANDOM),
    evidence=("IO-01", "RA-01", "RA-02", "ASK-07", "INNA-43"),
    probe="read-ahead",
    docs=Docs(
        why="A page that is read ahead and evicted unread costs a read and evicts another page. A higher "
        "innodb_read_ahead_threshold reads ahead less often; with 0, servers were observed not to read ahead at all.",
        fix="Set innodb_read_ahead_threshold to 64, the highest, and look at the counters again; 0 switches it off. "
        "Where random read-ahead reads more pages, switch innodb_random_read_ahead off.",
        risk="Scans of cold tables read page by page: with read-ahead off, long scans had 21 to 22 percent less "
        "throughput on a virtual disk.",
        exceptions="A single large scan in the window. After a start that loaded the pool, pages of that load count "
        "too when they are evicted unread.",
        reconsider_when="The share of evicted pages over a busy day.",
        disagree="MySQLTuner lowers the threshold in this case, which reads ahead more often.",
    ),
)
def wasted_read_ahead(context: RuleContext) -> Iterator[Finding]:
    """Report a high percentage of pages that were read ahead and evicted unused."""
    window = steady_window(context)
    linear, evicted = window.delta("innodb_buffer_pool_read_ahead"), window.delta(EVICTED.lower())
    if linear is None or evicted is None:
        return
    random = window.delta("innodb_buffer_pool_read_ahead_rnd") or 0
    ahead = linear + random
    if ahead < READ_AHEAD_EVENTS or evicted * 100 < ahead * EVICTED_PERCENT:
        return
    # MariaDB 11.8 counts pages of both kinds as those of linear read-ahead (INNA-43).
    both = context.target.since("mariadb", 11, 8) and context.settings.on(RANDOM)
    name = RANDOM if both or random > linear else THRESHOLD
    better = 0 if context.number(THRESHOLD) == HIGHEST_THRESHOLD else HIGHEST_THRESHOLD
    risk = "scans of cold tables read page by page"
    action = advise(context, name, "OFF" if name == RANDOM else better, risk=risk, watch=EVICTED)
    # Pages that were read before the window, or when the server loaded its pool, are counted as evicted too.
    share = min(100, evicted * 100 // ahead)
    yield wasted_read_ahead.finding(
        f"{share} % of {ahead:,} pages read ahead were evicted unread {window_text(window)}.",
        variable_subject(context, name),
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "INN005",
    "flush-neighbors-on-ssd",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Neighbor pages are flushed together, which saves seeks on spinning disks and has no benefit on "
    "solid-state disks.",
    needs=("host",),
    targets=MYSQL,
    options=(NEIGHBOURS,),
    evidence=("NB-01", "INNA-14"),
    probe="ab",
    docs=Docs(
        why="Writing the dirty pages next to a page saves seeks on a spinning disk. Without seeks these writes could "
        "have waited, and a page that changes again is written twice. MySQL 5.7 does it by default; the default is "
        "reported where 100 pages a second or more are written, which is our choice, and in option files that set the "
        "size of the pool. MariaDB skips it on disks that it knows to be solid-state.",
        fix="Set innodb_flush_neighbors to 0.",
        risk="None known on solid-state disks.",
        exceptions="Spinning disks, and volumes of unknown kind.",
        reconsider_when="A write-heavy run on this host that is faster with it.",
    ),
)
def flush_neighbors_on_ssd(context: RuleContext) -> Iterator[Finding]:
    """Report neighbor flushing on solid-state disks if it is set, or is the default of a server in use."""
    value = context.number(NEIGHBOURS)
    if value and is_in_use(context, NEIGHBOURS) and is_solid_state(context):
        action = advise(context, NEIGHBOURS, 0, watch="Innodb_data_writes")
        default = "" if context.is_set(NEIGHBOURS) else f", the default of {context.target.label}"
        yield flush_neighbors_on_ssd.finding(
            f"{NEIGHBOURS} is {value}{default}, and the data is on solid-state disks ({disk_names(context.host)}), "
            f"which have no seeks to save{written_text(context)}.",
            variable_subject(context, NEIGHBOURS),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN048",
    "pages-kept-free",
    severity=Severity.NOTE,
    confidence=Confidence.MEASURED,
    summary="innodb_lru_scan_depth keeps a large part of the buffer pool free, while pages are read from disk.",
    needs=("server", "workload"),
    options=(DEPTH, POOL),
    evidence=("INNA-35", "INNV-01"),
    docs=Docs(
        why="The page cleaner evicts pages until innodb_lru_scan_depth of them are free: in the whole pool on MariaDB, "
        "in each instance on MySQL. In a small pool that is a large share. With a depth of 6000 in a pool of 128M a "
        "third to a half of the pages stayed free on three servers, and on two of them, where the default was run too, "
        "twice as many pages were read from disk. The rule reports a target of a quarter of the pool or more, and 100 "
        "reads a second; both are our choice.",
        fix="Lower innodb_lru_scan_depth, or enlarge the pool.",
        risk="With too few free pages, sessions wait for one: watch Innodb_buffer_pool_wait_free.",
        exceptions="Loads that need thousands of new pages a second.",
        reconsider_when="Innodb_buffer_pool_wait_free that rises with the lower depth.",
    ),
)
def pages_kept_free(context: RuleContext) -> Iterator[Finding]:
    """Report a target of free pages that is a large part of a pool which reads from disk."""
    window, depth = steady_window(context), context.number(DEPTH)
    status = window.last.status
    pages, free = status.get("innodb_buffer_pool_pages_total"), status.get("innodb_buffer_pool_pages_free")
    reads = window.rate("innodb_buffer_pool_reads")
    instances = 1 if context.target.is_mariadb else context.number(INSTANCES) or 1
    waits = window.delta("innodb_buffer_pool_wait_free") or 0
    if not depth or not pages or free is None or reads is None or reads < DISK_READS or waits >= window.seconds:
        return
    target = depth * instances
    if target * 100 < pages * LARGE_TARGET_PERCENT or not pages * KEPT_PERCENT <= free * 100 <= target * 100:
        return
    better = max(LEAST_DEPTH, pages // instances // SCANS)
    action = advise(
        context, DEPTH, better, risk="sessions may wait for free pages", watch="Innodb_buffer_pool_wait_free"
    )
    yield pages_kept_free.finding(
        f"{free * 100 // pages} % of the pool's pages are free, while {reads:,.0f} pages a second are read from disk "
        f"{window_text(window)}: {DEPTH} asks for {target:,} free pages out of {pages:,}.",
        variable_subject(context, DEPTH),
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "INN050",
    "few-page-cleaners",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Fewer page cleaners than buffer pool instances, while sessions wait for free pages.",
    needs=("server", "workload", "host"),
    targets=MYSQL,
    options=(CLEANERS, INSTANCES),
    evidence=("INNV-32",),
    docs=Docs(
        why="A page cleaner works for one instance of the pool at a time, so with fewer cleaners than instances some "
        "wait for their turn. Before MySQL 8.4 the default is 4 cleaners, with 8 instances in a pool of 1G or more; "
        "8.4 has as many cleaners as instances. The rule reports a default or configured value where sessions wait for "
        "free pages and the server may use as many processors as there are instances.",
        fix="Set innodb_page_cleaners to innodb_buffer_pool_instances.",
        risk="More threads write at the same time.",
        restart=True,
        exceptions="Disks that cannot take more writes: more cleaners then change nothing.",
        reconsider_when="Innodb_buffer_pool_wait_free that rises as fast with more cleaners.",
        disagree="A larger pool avoids the waits where memory is free.",
    ),
)
def few_page_cleaners(context: RuleContext) -> Iterator[Finding]:
    """Report fewer page cleaners than instances while sessions wait for free pages."""
    window = steady_window(context)
    cleaners, instances = context.number(CLEANERS), context.number(INSTANCES)
    waits, processors = window.delta("innodb_buffer_pool_wait_free") or 0, context.host.usable_cpus or 0
    if not cleaners or not instances or cleaners >= instances or processors < instances or waits < window.seconds:
        return
    default = "" if context.is_set(CLEANERS) else " (the default)"
    action = advise(context, CLEANERS, instances, watch="Innodb_buffer_pool_wait_free")
    yield few_page_cleaners.finding(
        f"{cleaners} page cleaner{'s' if cleaners > 1 else ''}{default} for {instances} buffer pool instances, and "
        f"{waits:,} waits for a free page {window_text(window)}.",
        variable_subject(context, CLEANERS),
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "INN010",
    "page-across-stripes",
    confidence=Confidence.OPINION,
    summary="A stripe unit of the array is smaller than a page, so each page is spread over several disks.",
    needs=("host",),
    options=(PAGE,),
    evidence=("RAID-01", "RAID-02"),
    probe="random-read",
    docs=Docs(
        why="A page is read and written whole. Where the array's chunk is smaller, one page keeps several disks busy, "
        "and the array can serve fewer pages at once.",
        fix="Create the array with a chunk of a page or more, usually 256K to 1M, at the next reinstallation.",
        risk="Rebuilding an array destroys its data.",
        restart=True,
        exceptions="Solid-state arrays, which lose less by it.",
        reconsider_when="A random-read probe on this array that is no slower than on one with large chunks.",
    ),
)
def page_across_stripes(context: RuleContext) -> Iterator[Finding]:
    """Report an array chunk size below InnoDB's page size."""
    page, stripe = context.number(PAGE), context.host.storage.stripe if context.host.storage else None
    if page is None or stripe is None or not stripe.chunk or stripe.data_disks == 1 or stripe.chunk >= page:
        return
    yield page_across_stripes.finding(
        f"{stripe.device} has chunks of {format_size(stripe.chunk)}, so each page of {format_size(page)} is spread "
        f"over {min(-(-page // stripe.chunk), stripe.data_disks or page)} disks.",
        variable_subject(context, PAGE),
        help="use a chunk of a page or more when you rebuild the array",
    )


@rule(
    "INN011",
    "misaligned-data",
    confidence=Confidence.OPINION,
    summary="The file system starts inside a stripe, so pages that would fit into one stripe span two.",
    needs=("host",),
    options=(PAGE,),
    evidence=("RAID-01",),
    docs=Docs(
        why="Aligning partition, volume, file system and stripe to InnoDB's pages is reported to speed "
        "random reads and writes up by about 15 to 23 percent.",
        fix="Start partitions and volumes at a multiple of the stripe's chunk, at the next reinstallation.",
        risk="Moving a partition means copying the data.",
        restart=True,
        exceptions="Offsets that are a multiple of the page size split no page.",
        reconsider_when="A random-write probe that is no slower than on an aligned volume.",
    ),
)
def misaligned_data(context: RuleContext) -> Iterator[Finding]:
    """Report a file system whose offset in the stripe splits pages."""
    page, stripe = context.number(PAGE), context.host.storage.stripe if context.host.storage else None
    if page is not None and stripe is not None and stripe.offset and stripe.offset % page:
        yield misaligned_data.finding(
            f"The file system on {stripe.device} starts {format_size(stripe.offset)} into a stripe of "
            f"{format_size(stripe.size)}; that offset is not a multiple of the page size ({format_size(page)}).",
            help="align the partition and the volume when you recreate them",
        )


@rule(
    "INN012",
    "large-pages-for-single-rows",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="Single rows are read at random from disk, and each brings a page of 16K into the pool with it.",
    needs=("server", "workload"),
    options=(PAGE,),
    evidence=("PGSZ-01", "PGSZ-02", "PGSZ-03", "PGSZ-04", "PGSZ-05", "COMP-01", "INNA-42"),
    probe="cache-fit",
    docs=Docs(
        why="The pool keeps pages, not rows. With rows of 200 bytes read at random, 4K pages kept about "
        "three times as many keys in the same memory at an acceptable speed. Table compression kept a quarter "
        "more in a test of 2011, and 2.1 to 4.3 times as many in mycnf's own runs. On fast NVMe 4K pages were 1.6 to "
        "1.7 times as fast.",
        fix="Consider 4K or 8K pages for a new server with such a workload; an existing data directory "
        "keeps its page size. A larger pool does the same for all workloads.",
        risk="Smaller pages limit the length of rows and index keys, take more space, and made index "
        "creation slow in a published test.",
        restart=True,
        exceptions="Rows above 500 bytes, scans, and data that fits in the pool.",
        reconsider_when="Pages per row near or below one over a busy hour. The counters give only an upper bound, "
        "because the levels of an index count as pages; where rows are also written, they prove nothing.",
        disagree="On a consumer SSD 4K pages were slower from a pool of 65 GB on, and index creation was "
        "slower with MySQL 8.0.",
    ),
)
def large_pages_for_single_rows(context: RuleContext) -> Iterator[Finding]:
    """Report two or more page reads per row from disk with a large page size."""
    window, page = steady_window(context), context.number(PAGE)
    pages_a_row = _pages_per_row(window)
    reads = _single_page_reads(context, window)
    if page is None or page < LARGE_PAGE or pages_a_row is None or reads is None:
        return
    if PAGES_A_ROW <= pages_a_row <= MOST_PAGES_A_ROW and reads >= DISK_READS:
        yield large_pages_for_single_rows.finding(
            f"About {pages_a_row:.1f} pages are accessed for each row, and {reads:,.0f} pages a second are read from "
            f"disk {window_text(window)}: single rows, each in a page of {format_size(page)}.",
            variable_subject(context, PAGE),
            help="enlarge the pool first; consider 4K or 8K pages when you set up a new server",
        )


def _single_page_reads(context: RuleContext, window: Workload) -> float | None:
    """Pages a second that were read from disk one by one; MariaDB counts those that are read ahead with them."""
    reads = window.rate("innodb_buffer_pool_reads")
    if reads is None or not context.target.is_mariadb:
        return reads
    ahead = (window.rate(f"innodb_buffer_pool_read_ahead{kind}") or 0 for kind in ("", "_rnd"))
    return max(0.0, reads - sum(ahead))


def _pages_per_row(window: Workload) -> float | None:
    pages = window.delta("innodb_buffer_pool_read_requests")
    rows, changed = (sum(window.delta(name) or 0 for name in names) for names in (ROW_READS, ROW_WRITES))
    if pages is None or rows < ROWS or changed * 100 > rows * WRITTEN_PERCENT:
        return None
    return pages / rows


@rule(
    "INN013",
    "dedicated-server-in-container",
    confidence=Confidence.LIKELY,
    summary="innodb_dedicated_server sizes the pool by the machine's memory, but a control group allows less.",
    needs=("host",),
    targets=(Span("mysql", since=(8, 0), before=(9, 3)), Span("mysql", since=(9, 7))),
    options=("innodb_dedicated_server",),
    evidence=("BP-04", "BP-03", "BP-07", "INNA-37"),
    docs=Docs(
        why="The server asks the system for all of the machine's memory and takes up to three quarters of it for the "
        "pool, even where a control group allows only a fraction. The kernel kills the server once it uses more than "
        "the group allows. MySQL 9.7 respects the control group only with container_aware = ON, and the default is "
        "OFF. According to MySQL's manual, 9.3 to 9.6 respect it, so the rule does not apply to them.",
        fix="Switch innodb_dedicated_server off and size the pool for the limit. On MySQL 9.7 container_aware = ON "
        "does it too.",
        risk="None.",
        restart=True,
        exceptions="innodb_buffer_pool_size in the option file takes precedence, and so does server_memory on MySQL "
        "9.7.",
        reconsider_when="A server of this version that shows a pool within the limit.",
    ),
)
def dedicated_server_in_container(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_dedicated_server in a control group with less memory than the machine."""
    group, memory = context.host.cgroup, context.host.memory
    on = context.is_set("innodb_dedicated_server") and context.settings.on("innodb_dedicated_server")
    if context.settings.on("container_aware") or context.number("server_memory"):
        return
    if not on or group is None or group.limit is None or memory is None or context.is_set("innodb_buffer_pool_size"):
        return
    if group.limit < memory.total:
        yield dedicated_server_in_container.finding(
            f"The control group allows {format_size(group.limit)}, but the server sizes itself for "
            f"{format_size(memory.total)}.",
            variable_subject(context, "innodb_dedicated_server"),
            help="remove the line and set innodb_buffer_pool_size for the limit",
        )
