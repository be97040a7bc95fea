"""SYS: rules about the limits and priorities of the server's process."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_size
from rules.core import Docs, Span, rule
from rules.core.advice import is_in_image, kernel_place, kernel_setting_help, service_setting_help
from rules.core.storage import kernel_version
from rules.core.subject import variable_subject
from rules.sizing.memory import GIB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts.host import Cgroup, Host
    from rules.core.context import RuleContext

BACKGROUND_THREADS = 500  # room for more than a server runs besides those of its connections
PERIODS = 1000  # mostly of 100 ms: less running time says nothing yet
THROTTLED_PERCENT = 10
THREAD_EACH = "ONE-THREAD-PER-CONNECTION"
RESERVED = GIB
POOL = "innodb_buffer_pool_size"
SLOW = frozenset({"ondemand", "conservative"})
SLOWEST = "powersave"
# With these drivers, powersave is not a fixed frequency: the processor selects it by load.
CHOOSES = frozenset({"intel_pstate", "amd-pstate-epp", "amd_pstate_epp"})
YIELDING = frozenset({"batch", "idle"})
NATIVE, LINUX_AIO = "innodb_use_native_aio", "innodb_linux_aio"
KEY_BUFFER = "key_buffer_size"
ALSO_LARGE = (KEY_BUFFER, "aria_pagecache_buffer_size", "innodb_log_buffer_size")  # buffers of MariaDB besides the pool
USUAL_PAGE, DESCRIPTOR = 16 << 10, 512  # bytes; the descriptor of a page of the pool, rounded up
RING_MEMORY = 512 << 10  # bytes: the limit that MariaDB's own unit sets (URING-01)
# Kernels with io_uring whose rings count as locked memory, and on which MariaDB does not switch io_uring off by itself.
RING_KERNELS = ((5, 1), (5, 11))


@rule(
    "SYS006",
    "throttled-processors",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The control group exhausts its CPU quota, and the server is throttled until the next period.",
    needs=("host",),
    evidence=("KRN-01",),
    docs=Docs(
        why="A CPU quota applies per period, usually of 100 ms. Once the group has used it up, all of its threads stop "
        "until the next period begins, even those that hold a lock or are committing. As a result, statements "
        "sometimes take up to a tenth of a second longer for each such period, whatever the average load. The "
        "threshold, one period in ten, is our choice.",
        fix="Raise the quota: systemctl set-property SERVICE CPUQuota=400% (four processors) takes effect at once and "
        "stays. Or replace it with a weight (CPUWeight). For a container it is the CPU limit.",
        risk="Other programs on the host get less processor time.",
        exceptions="Hosts on which the quota is what you pay for.",
        reconsider_when="nr_throttled in the group's cpu.stat that does not rise in a busy hour. The kernel counts "
        "since the group was created, so an old burst stays in the number.",
    ),
)
def throttled_processors(context: RuleContext) -> Iterator[Finding]:
    """Report a CPU quota that was exhausted in a tenth of the periods or more."""
    group = context.host.cgroup
    if group is None or group.cpus is None or not group.periods or not group.throttled or group.periods < PERIODS:
        return
    if group.throttled * 100 >= group.periods * THROTTLED_PERCENT:
        yield throttled_processors.finding(
            f"The control group may use {group.cpus:g} processor{'' if group.cpus == 1 else 's'} and ran out of its "
            f"share in {group.throttled:,} of "
            f"{group.periods:,} periods since it was created.",
            help=f"raise {_quota_place(context, group)}; watch nr_throttled in the group's cpu.stat",
        )


def _quota_place(context: RuleContext, group: Cgroup) -> str:
    unit = (group.cpus_at or "").rpartition("/")[2]
    if not is_in_image(context) and unit.endswith((".slice", ".service")):
        return f"CPUQuota of {unit} (systemctl set-property {unit} CPUQuota=PERCENT)"
    return "CPUQuota of the unit, or the container's CPU limit"


@rule(
    "SYS007",
    "fewer-threads-than-connections",
    summary="The system allows fewer threads than max_connections, and each connection takes one.",
    needs=("host",),
    options=("max_connections", "thread_handling"),
    evidence=("HOST-01",),
    docs=Docs(
        why="Where each connection has a thread of its own, the limit on threads is the real limit on connections. "
        "Connections above it are refused with error 1135 (cannot create a new thread), whose text suggests a lack of "
        "memory. Background threads count too.",
        fix="Raise TasksMax and LimitNPROC of the unit (systemctl edit SERVICE), or the pids limit of the container, "
        "to max_connections plus some hundreds for background threads, and restart. Or lower max_connections.",
        risk="None.",
        restart=True,
        exceptions="Servers with a thread pool.",
        reconsider_when="max_connections connections that were open at once under this limit.",
    ),
)
def fewer_threads_than_connections(context: RuleContext) -> Iterator[Finding]:
    """Report a thread limit that is not above max_connections."""
    connections, limits = context.number("max_connections"), _thread_limits(context.host)
    if connections is None or not limits or context.text("thread_handling") != THREAD_EACH:
        return
    limit, what = min(limits)
    if limit <= connections:
        yield fewer_threads_than_connections.finding(
            f"{what} allows {limit:,} threads, but max_connections is {connections:,}.",
            variable_subject(context, "max_connections"),
            help=f"{_threads_help(context, connections)}, and restart; or lower max_connections",
        )


def _threads_help(context: RuleContext, connections: int) -> str:
    """Both limits, as either may be the lower one after the other was raised."""
    threads = connections + BACKGROUND_THREADS
    return service_setting_help(context, f"TasksMax={threads}", f"LimitNPROC={threads}")


def _thread_limits(host: Host) -> list[tuple[int, str]]:
    """The limits on threads and their sources; the kernel does not apply an account's limit to root."""
    limits = [(host.cgroup.tasks, "The control group")] if host.cgroup and host.cgroup.tasks is not None else []
    account = host.process.limit("nproc") if host.process and host.process.uid else None
    return limits + ([(account.soft, "The account's limit (nproc)")] if account and account.soft is not None else [])


@rule(
    "SYS008",
    "unused-huge-pages",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Memory is reserved for huge pages that nothing uses, and the server does not use them.",
    needs=("host",),
    options=("large_pages",),
    evidence=("KRN-02", "LP-01"),
    docs=Docs(
        why="Memory that is reserved for huge pages cannot be used for anything else, neither for the server's "
        "ordinary memory nor for cached files. A server without large_pages never uses it. Less than 1G is not "
        "reported.",
        fix="Set vm.nr_hugepages to the number that is in use, in /etc/sysctl.d and with sysctl -p FILE, which frees "
        "the rest at once. Or let the server use them (large_pages).",
        risk="None where nothing else on the host uses them.",
        exceptions="Another program that takes its huge pages later, virtual machines for instance. Free pages that "
        "are already reserved for a program (HugePages_Rsvd in /proc/meminfo) are not counted.",
        reconsider_when="HugePages_Free in /proc/meminfo that goes down.",
    ),
)
def unused_huge_pages(context: RuleContext) -> Iterator[Finding]:
    """Report free huge pages on a host whose server does not use them."""
    memory = context.host.memory
    if memory is None or memory.huge_page is None or context.settings.on("large_pages"):
        return
    unused = memory.huge_pages_free - (memory.huge_pages_reserved or 0)
    free = unused * memory.huge_page
    if free >= RESERVED:
        used = memory.huge_pages_total - unused
        yield unused_huge_pages.finding(
            f"{format_size(free)} of memory is reserved for huge pages but unused, and the server cannot use it: "
            "large_pages is off.",
            help=f"{kernel_setting_help(context, 'vm.nr_hugepages', used)}; or let the server use them (large_pages)",
        )


@rule(
    "SYS009",
    "refused-large-pages",
    summary="The server is configured to use huge pages but got none: it runs with ordinary pages.",
    needs=("server", "host"),
    options=("large_pages",),
    evidence=("HOST-02", "HOST-07", "HOST-09", "LP-01"),
    docs=Docs(
        why="If the system has no huge pages left, or does not let the server's account use them, the server falls "
        "back to ordinary pages with a warning in its error log, and still shows large_pages = ON.",
        fix="Reserve enough for the pool and about 3 percent more, on MariaDB and MySQL 5.7 for the key buffer, on "
        "MariaDB for Aria's page cache and the log buffer too: vm.nr_hugepages in /etc/sysctl.d, loaded with sysctl -p "
        "FILE. With too few a whole chunk of the pool, 128M by default, is in ordinary pages. MySQL before "
        "8.0.27 also needs the permission: vm.hugetlb_shm_group with the ID of its account's group, or before Linux "
        "5.16 LimitMEMLOCK=infinity in the unit. Later versions and MariaDB need none. Restart the server, or the host "
        "where its memory is too fragmented for so many pages. Or remove the line.",
        risk="Memory that is reserved for huge pages is unavailable to all other uses.",
        restart=True,
        exceptions="None.",
        reconsider_when="HugetlbPages in the process's status that is not zero.",
    ),
)
def refused_large_pages(context: RuleContext) -> Iterator[Finding]:
    """Report large_pages = ON if no memory of the server is in huge pages."""
    process, memory = context.host.process, context.host.memory
    if process is None or process.huge_pages != 0 or not context.settings.on("large_pages"):
        return
    left = f": {memory.huge_pages_free:,} of {memory.huge_pages_total:,} huge pages are free" if memory else ""
    yield refused_large_pages.finding(
        f"large_pages is on, but none of the server's memory is in huge pages{left}.",
        variable_subject(context, "large_pages"),
        help=f"{_large_pages_help(context)}, and restart; or remove the line",
    )


def _large_pages_help(context: RuleContext) -> str:
    """How many huge pages the server takes, and how the account of an older MySQL gets them."""
    memory, pool = context.host.memory, context.number(POOL)
    permission = _shared_memory_help(context)
    if memory is None or not memory.huge_page or not pool:
        return f"reserve huge pages for the pool (vm.nr_hugepages){permission}"
    taken = memory.huge_pages_total - memory.huge_pages_free + (memory.huge_pages_reserved or 0)
    pages = taken + _pages_of_buffers(context, pool, memory.huge_page)
    return f"{kernel_setting_help(context, 'vm.nr_hugepages', pages)}{permission}"


def _pages_of_buffers(context: RuleContext, pool: int, huge: int) -> int:
    """The huge pages of the pool, in chunks of MySQL with their descriptors, and of other buffers (HOST-09)."""
    if context.target.is_mariadb:
        return sum(-(-size // huge) for size in (pool, *(context.number(name) or 0 for name in ALSO_LARGE)))
    chunk = min(context.number("innodb_buffer_pool_chunk_size") or pool, pool)
    described = chunk + chunk // (context.number("innodb_page_size") or USUAL_PAGE) * DESCRIPTOR
    keys = 0 if context.target.since("mysql", 8) else context.number(KEY_BUFFER) or 0
    return -(-pool // chunk) * -(-described // huge) + -(-keys // huge)


def _shared_memory_help(context: RuleContext) -> str:
    """Older MySQL takes the pages as shared memory, which Linux allows only one group; later ones need no permission.

    Before Linux 5.16 the limit on locked memory allows it too.
    """
    if not context.target.is_mysql or context.target.since("mysql", 8, 0, 27):
        return ""
    limit = service_setting_help(context, "LimitMEMLOCK=infinity")
    return f", set vm.hugetlb_shm_group to the group ID of the server's account, {limit}"


@rule(
    "SYS010",
    "saving-frequency-governor",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The kernel keeps the processors' frequency low to save power.",
    needs=("host",),
    evidence=("CPU-01", "CPU-02", "KRN-03"),
    docs=Docs(
        why="powersave fixes the lowest frequency, ondemand and conservative raise it only after they have seen load. "
        "A database waits for disks and clients in between, so it looks idle when its next statement comes. Frequency "
        "scaling cost a read-write test of 2009 almost 10 percent, and more over a network.",
        fix="Set the governor to performance: cpupower frequency-set does so until the next boot, a tuned profile "
        "(tuned-adm profile throughput-performance) makes it permanent.",
        risk="More power and heat. That profile also sets vm.dirty_ratio to 40 (see SYS017), and older releases of it "
        "set transparent huge pages to always (SYS001).",
        exceptions="Under intel_pstate and amd-pstate-epp, powersave follows the load, and there is no finding.",
        reconsider_when="A run on this host that is no faster with performance.",
        disagree="The loss shrank to 1 percent with another version of the same server, and both are old.",
    ),
)
def saving_frequency_governor(context: RuleContext) -> Iterator[Finding]:
    """Report a frequency governor that saves power, unless the processor selects the frequency itself."""
    cpu = context.host.cpu
    if cpu is None or cpu.governor is None:
        return
    fixed = cpu.governor == SLOWEST and cpu.frequency_driver not in CHOOSES
    if fixed or cpu.governor in SLOW:
        yield saving_frequency_governor.finding(
            f"The CPU frequency governor is {cpu.governor}"
            + (
                ", which keeps the processors at their lowest frequency."
                if fixed
                else ", which raises the frequency only after it has seen load."
            ),
            severity=Severity.WARNING if fixed else None,
            help=f"{kernel_place(context)}run cpupower frequency-set -g performance, and make it permanent with a "
            "tuned profile",
        )


@rule(
    "SYS011",
    "first-to-be-killed",
    severity=Severity.NOTE,
    summary="The OOM killer is configured to kill the server before other processes.",
    needs=("host",),
    evidence=("KRN-04",),
    docs=Docs(
        why="The kernel kills the process with the highest score, which is based on its memory; a database usually has "
        "the highest anyway. An oom_score_adj of N counts as an additional N thousandths of all memory.",
        fix="Set OOMScoreAdjust in the unit to 0 or, on a host dedicated to the server, to -600, and restart; echo 0 > "
        "/proc/PID/oom_score_adj changes the running process. In Kubernetes set the requests of memory and CPU equal "
        "to the limits in each container of the pod: the class Guaranteed has a negative score, others 2 at least.",
        risk="Another process is killed instead.",
        exceptions="Servers that may be killed so that something else on the host survives.",
        reconsider_when="Nothing: the owner of the host decides which process may be killed.",
    ),
)
def first_to_be_killed(context: RuleContext) -> Iterator[Finding]:
    """Report an oom_score_adj above 0."""
    process = context.host.process
    if process is not None and process.oom_score_adj is not None and process.oom_score_adj > 0:
        yield first_to_be_killed.finding(
            f"oom_score_adj of the server is {process.oom_score_adj}: when memory runs out, the kernel is more likely "
            "to kill it.",
            help=f"{service_setting_help(context, 'OOMScoreAdjust=0')}, and restart"
            + ("" if is_in_image(context) else f"; echo 0 > /proc/{process.pid}/oom_score_adj changes it now"),
        )


@rule(
    "SYS012",
    "low-priority-server",
    severity=Severity.NOTE,
    summary="The server runs at a lower CPU priority than other processes.",
    needs=("host",),
    evidence=("KRN-05",),
    docs=Docs(
        why="A process with a nice value above 0 gets a smaller share of a processor that several processes need: "
        "about 10 percent less per step. A process of the class batch does not preempt others when it wakes up, and "
        "one of the class idle gets hardly any time while another process needs the processor.",
        fix="Set Nice=0 and CPUSchedulingPolicy=other in the unit (systemctl edit SERVICE), which overrides the lines "
        "of a packaged unit, remove nice from [mysqld_safe], and restart.",
        risk="Other programs on the host get less processor time.",
        restart=True,
        exceptions="A server that must not disturb other programs on the host. In a control group with the CPU "
        "controller, such as a container, the nice value counts only among the group's own processes; against others "
        "the group's weight counts.",
        reconsider_when="Processors that are never all busy.",
    ),
)
def low_priority_server(context: RuleContext) -> Iterator[Finding]:
    """Report a nice value above zero, or a scheduling class with lower priority."""
    process = context.host.process
    if process is None:
        return
    yielding, nice = process.policy in YIELDING, (process.nice or 0) > 0
    words = [f"the class {process.policy}"] if yielding else []
    words += [f"the nice value {process.nice}"] if nice else []
    if words:
        usual = (("CPUSchedulingPolicy=other",) if yielding else ()) + (("Nice=0",) if nice else ())
        safe = ", remove nice from [mysqld_safe] if it is there," if nice else ""
        yield low_priority_server.finding(
            f"The server runs with {' and '.join(words)}, so it gives way to other processes{_sharing_group(context)}.",
            help=f"{service_setting_help(context, *usual)}{safe} and restart",
        )


def _sharing_group(context: RuleContext) -> str:
    """The processes for which the priority counts: a group with a share of its own has one for all of its processes."""
    group = context.host.cgroup
    own = is_in_image(context) or (group is not None and group.cpus is not None)
    return " of its control group" if own else ""


@rule(
    "SYS013",
    "limited-file-size",
    summary="The server is killed, or crashes, when one of its files exceeds the file size limit of its process.",
    needs=("host",),
    evidence=("HOST-03",),
    docs=Docs(
        why="With a limit on the size of files (ulimit -f), a write beyond it fails with a signal. Six servers with "
        "such a limit ended when a file reached it. The limit applies to tablespaces, redo and binary logs and sorts "
        "on disk.",
        fix="Set LimitFSIZE of the unit to infinity, or remove ulimit -f from the script that starts the server.",
        risk="None.",
        restart=True,
        exceptions="None.",
        reconsider_when="Nothing: files grow.",
    ),
)
def limited_file_size(context: RuleContext) -> Iterator[Finding]:
    """Report any limit on the file size."""
    limit = context.host.process.limit("fsize") if context.host.process else None
    if limit is not None and limit.soft is not None:
        yield limited_file_size.finding(
            f"A file of the server may grow to {format_size(limit.soft)} at most; a write beyond that kills the "
            "server.",
            help=f"{service_setting_help(context, 'LimitFSIZE=infinity')}, and restart",
        )


@rule(
    "SYS014",
    "io-capacity-beyond-group",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The control group allows fewer writes than innodb_io_capacity assumes.",
    needs=("host",),
    options=("innodb_io_capacity",),
    evidence=("KRN-06", "IOC-01", "IOC-02"),
    docs=Docs(
        why="InnoDB paces its background writing by innodb_io_capacity. If the control group allows fewer writes a "
        "second, background writing alone can use them up, and commits and statements that need a free page wait.",
        fix="Lower innodb_io_capacity well below the group's writes a second, and also innodb_io_capacity_max, up to "
        "which InnoDB writes when the redo log fills. Or raise that limit.",
        risk="Too low a capacity leaves more dirty pages for later.",
        exceptions="Volumes that allow short bursts beyond the limit.",
        reconsider_when="No difference in commit latency with a lower capacity.",
    ),
)
def io_capacity_beyond_group(context: RuleContext) -> Iterator[Finding]:
    """Report a control group's write limit for the data disk below innodb_io_capacity."""
    host, capacity = context.host, context.number("innodb_io_capacity")
    numbers = {device.number for device in host.storage.devices} if host.storage else set()
    limits = [x.writes for x in (host.cgroup.io if host.cgroup else ()) if x.number in numbers and x.writes is not None]
    if capacity is not None and limits and min(limits) < capacity:
        yield io_capacity_beyond_group.finding(
            f"innodb_io_capacity is {capacity:,}, but the control group allows {min(limits):,} writes a second on the "
            "disk of the data.",
            variable_subject(context, "innodb_io_capacity"),
            help="lower innodb_io_capacity and innodb_io_capacity_max well below the group's limit, or raise the limit",
        )


@rule(
    "SYS019",
    "too-little-locked-memory-for-io-uring",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The server likely got no io_uring because its limit on locked memory is too low.",
    needs=("server", "host"),
    options=(NATIVE,),
    targets=(Span("mariadb", since=(10, 6)),),
    evidence=("URING-01", "URING-02", "URING-03"),
    docs=Docs(
        why="Before Linux 5.12 the rings of io_uring count as locked memory (RLIMIT_MEMLOCK). If the limit is too low "
        "MariaDB writes a warning. Builds with innodb_linux_aio = auto then try libaio, which needs requests of "
        "fs.aio-max-nr; innodb_use_native_aio stays ON if they get them. Without libaio, or with innodb_linux_aio = "
        "io_uring, MariaDB sets innodb_use_native_aio to OFF and uses its own threads for reads and writes. Its "
        "packages set 512K in the unit, a value that was found by trial; many limits are 64K.",
        fix="Set LimitMEMLOCK=524288 in the service's unit (systemctl edit SERVICE), or --ulimit memlock of the "
        "container, and restart.",
        risk="None.",
        restart=True,
        exceptions="Builds without io_uring, and innodb_linux_aio = aio, which uses libaio alone. Kernels from 5.12 "
        "on, which do not count the rings.",
        reconsider_when="The error log of the start without io_uring_queue_init.",
    ),
)
def memory_for_io_uring(context: RuleContext) -> Iterator[Finding]:
    """Report native I/O that is off on a kernel which counts the rings, under a low limit on locked memory."""
    process, kernel = context.host.process, kernel_version(context.host)
    limit = process.limit("memlock") if process is not None and process.uid else None
    if limit is None or limit.soft is None or limit.soft >= RING_MEMORY or kernel is None:
        return
    if not RING_KERNELS[0] <= kernel < RING_KERNELS[1]:
        return
    if context.text(LINUX_AIO) == "AIO":
        return
    if context.settings.on(NATIVE) is False and not context.is_set(NATIVE):
        yield memory_for_io_uring.finding(
            f"{NATIVE} is OFF although nothing sets it: locked memory is limited to {format_size(limit.soft)}, too "
            "little for io_uring.",
            variable_subject(context, NATIVE),
            help=f"{service_setting_help(context, f'LimitMEMLOCK={RING_MEMORY}')}, and restart",
        )
