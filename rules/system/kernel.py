"""SYS: rules about kernel settings and about limits that the system imposes on the server."""

from __future__ import annotations

import re

from advisor.core.model import Confidence, Origin, Severity, format_size
from advisor.verdict.number import parse_digits
from rules.core import Docs, rule
from rules.core.advice import (
    group_swappiness,
    is_in_image,
    kernel_place,
    kernel_setting_help,
    service_setting_help,
    swappiness_help,
)
from rules.core.storage import is_solid_state
from rules.core.subject import variable_subject, verdict_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding, Setting
    from advisor.verdict import LineVerdict
    from rules.core.context import RuleContext

SWAPPY = 10
# THP-02: from these patch releases on MariaDB disables transparent huge pages for its process.
WITHOUT_HUGE_PAGES: dict[tuple[int, ...], tuple[int, ...]] = {
    (10, 6): (10, 6, 17), (10, 11): (10, 11, 7), (11, 0): (11, 0, 5), (11, 1): (11, 1, 4), (11, 2): (11, 2, 3),
    (11, 3): (11, 3, 2),
}  # fmt: skip
WITHOUT_ANY: tuple[int, ...] = (11, 4)
POOL = "innodb_buffer_pool_size"
NATIVE_AIO = "innodb_use_native_aio"
# Requests that a server asks the kernel for: so many for each of its I/O threads, of which two have other tasks.
REQUESTS, USUAL_THREADS, OTHER_THREADS = 256, 4, 2
USUAL_MAXIMUM = 1048576
NUMA_POLICY = re.compile(r"^[ \t]*NUMAPolicy[ \t]*=[ \t]*(\S*)", re.MULTILINE)
INTERLEAVING = frozenset({"interleave", "3"})
EXEC_START = re.compile(r"^[ \t]*ExecStart[ \t]*=[ \t]*(.+)", re.MULTILINE)
UNDER_NUMACTL = re.compile(r"\bnumactl\b.*\s(?:--interleave|-i)\b")
# Fair schedulers, and what the same disk knows for solid-state and for other disks: cfq and anticipatory are of the
# queue that Linux 5.0 removed, whose disks do not know none and mq-deadline.
FAIR = {"cfq": ("noop", "deadline"), "anticipatory": ("noop", "deadline"), "bfq": ("none", "mq-deadline")}
# Clocks that are read by a system call, from a device or from the hypervisor; kvm-clock, hyperv_clocksource_tsc_page
# and the counters of other architectures are read without one.
SLOW_CLOCKS = {"hpet": "a device", "acpi_pm": "a device", "pit": "a device", "jiffies": "ticks", "xen": "Xen"}
CLOCKS = "/sys/devices/system/clocksource/clocksource0"
LIMITED = ("open_files_limit", "max_connections", "table_open_cache")
# These change at startup too; log_bin is a file name in a file and ON or OFF on a server.
INNODB_FILES, INSTANCES = "innodb_open_files", "table_open_cache_instances"
BY_THE_SYSTEM = frozenset({*LIMITED, "table_definition_cache", "log_bin", INNODB_FILES, INSTANCES})
MOST_INSTANCES = 64
# Files that MySQL reserves for itself, and the minimum table_open_cache, each table of which takes two files.
OWN, LEAST_TABLES = 10, 400
# Defaults that the system's limit may lower: of connections, of open tables, and of the latter since MySQL 8.0.
CONNECTIONS, TABLES, NEW_TABLES = 151, 2000, 4000


@rule(
    "SYS001",
    "transparent-huge-pages",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="Transparent huge pages are on, which can make the server's memory grow.",
    needs=("host",),
    evidence=("THP-01", "THP-02", "LP-01"),
    docs=Docs(
        why="With transparent huge pages set to always the kernel merges small pages into pages of 2M. Memory that the "
        "server frees in small pieces then stays allocated, and merging can stall the server. MariaDB's developers "
        "report ten times as much memory; MariaDB has switched them off for its own process since 10.6.17 and 10.11.7, "
        "and these versions are not reported. The kernel shows this as THP_enabled in /proc/PID/status.",
        fix="Write madvise or never to /sys/kernel/mm/transparent_hugepage/enabled, which lasts until the next boot, "
        "and put transparent_hugepage=madvise on the kernel's command line. Restart the server, because memory in huge "
        "pages stays there. For a container, do this on its host.",
        risk="Programs on the host that benefit from huge pages lose them.",
        exceptions="Servers whose resident size is stable over weeks.",
        reconsider_when="A resident size that is stable with always.",
        disagree="Reserved large pages (large_pages) help large pools; this rule is only about transparent ones.",
    ),
)
def transparent_huge_pages(context: RuleContext) -> Iterator[Finding]:
    """Report transparent huge pages set to always, unless the server's process does not use them."""
    if context.host.memory is not None and context.host.memory.thp == "always" and not _without_huge_pages(context):
        yield transparent_huge_pages.finding(
            "Transparent huge pages are set to always; the server's memory can grow beyond its budget.",
            help=f"{kernel_place(context)}run echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, put "
            "transparent_hugepage=madvise on the kernel's command line, and restart the server",
        )


def _without_huge_pages(context: RuleContext) -> bool:
    """Whether the server's process uses no transparent huge pages: according to the kernel, else by its version."""
    without_thp = context.host.process.thp if context.host.process else None
    if without_thp is not None:
        return not without_thp
    target = context.target
    return target.is_mariadb and target.version >= WITHOUT_HUGE_PAGES.get(target.version[:2], WITHOUT_ANY)


@rule(
    "SYS002",
    "limited-by-the-system",
    summary="The server got fewer files, connections or open tables than configured.",
    needs=("server",),
    options=LIMITED,
    evidence=("VM-02", "TOC-03", "TOC-04", "SRV-02"),
    docs=Docs(
        why="At start-up the server asks the system for file descriptors and lowers max_connections and the table "
        "cache to what it gets, with a warning in its log. MariaDB lowers neither where it gets fewer files than "
        "connections, unless table_open_cache_instances is 1: 10.11, 11.4 and 11.8 started with 3,000 connections and "
        "1,024 files. With 250 files 11.8 left the 206th client without an answer, and logged Too many open files. The "
        "limit of a service comes from its unit, not from ulimit in a shell or from /etc/security/limits.conf.",
        fix="Raise LimitNOFILE in the service's unit (systemctl edit SERVICE, under [Service]), and restart. In a "
        "container the limit is the runtime's (--ulimit nofile).",
        risk="None.",
        restart=True,
        exceptions="None.",
        reconsider_when="The configured values after a restart.",
    ),
)
def limited_by_the_system(context: RuleContext) -> Iterator[Finding]:
    """Report values from the file that the server had to reduce."""
    for name in LIMITED:
        line, setting = context.file_verdict.effective.get(name), context.settings.get(name)
        if line is None or setting is None or setting.origin is Origin.COMMAND_LINE:
            continue
        if not is_limited_by_system(context, line, setting):
            continue
        asked, running = parse_digits(line.value), parse_digits(setting.value)
        if asked is not None and running is not None and running < asked:
            yield limited_by_the_system.finding(
                f"The file sets {asked:,}, but the server runs with {running:,}: the limit on open files is too low.",
                verdict_subject(line),
                help=f"{service_setting_help(context, f'LimitNOFILE={_files_wanted(context)}')}, and restart",
            )
    yield from _connections_beyond_files(context)


def _connections_beyond_files(context: RuleContext) -> Iterator[Finding]:
    """More connections than files, though each takes one: by MariaDB's own start, or by SET GLOBAL."""
    from rules.memory.server_caches import RESERVED

    files, connections = context.number("open_files_limit"), context.number("max_connections")
    if files and connections and connections + RESERVED > files:
        yield limited_by_the_system.finding(
            f"The server may open {files:,} files but allows {connections:,} connections, which need one file each: "
            "without a free file descriptor a connecting client gets no answer.",
            variable_subject(context, "max_connections"),
            help=f"{service_setting_help(context, f'LimitNOFILE={_files_wanted(context)}')}, and restart",
        )


def _files_wanted(context: RuleContext) -> int:
    """The limit on files with which the server gets all that its file asks for, and that it runs with."""
    from rules.memory.server_caches import files_wanted

    running, (files, connections, tables) = context.number, (_asked_number(context, name) for name in LIMITED)
    usual = NEW_TABLES if context.target.since("mysql", 8) else TABLES
    wanted = files_wanted(
        max(connections or CONNECTIONS, running("max_connections") or 0),
        tables or max(usual, running("table_open_cache") or 0),
    )
    return max(files or 0, wanted)


def _asked_number(context: RuleContext, name: str) -> int | None:
    """What the option file asks for; None where it says nothing of the variable."""
    line = context.file_verdict.effective.get(name)
    return parse_digits(line.value) if line is not None else None


def is_limited_by_system(context: RuleContext, line: LineVerdict, setting: Setting) -> bool:
    """Whether the server may have reduced a line's value at startup because it got too few open files.

    MySQL 5.7 does not show which values were set at run time; there, the formula for startup excludes other causes.
    """
    if setting.name not in BY_THE_SYSTEM or setting.origin in (Origin.RUNTIME, Origin.PERSISTED):
        return False
    asked, room = parse_digits(line.value), _granted_maximum(context, setting.name)
    return asked is None or room is None or asked > room


def _granted_maximum(context: RuleContext, name: str) -> int | None:
    """The maximum that the server grants at startup with the files that it got; None if it is unknown.

    InnoDB takes no more files than the server; MariaDB has no more parts of the table cache than it has files for.
    """
    files, connections = context.number("open_files_limit"), context.number("max_connections")
    if files is None or connections is None:
        return None
    if name == INNODB_FILES:
        return files
    if name == INSTANCES:
        tables = context.number("table_open_cache") if context.target.is_mariadb else None
        return max((files - connections) // 2 // tables, 1) if tables else MOST_INSTANCES
    if context.target.is_mariadb:
        return None
    if name == "max_connections":
        return files - OWN - 2 * LEAST_TABLES
    return max((files - OWN - connections) // 2, LEAST_TABLES) if name == "table_open_cache" else None


@rule(
    "SYS003",
    "fair-io-scheduler",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The I/O scheduler shares the disk between processes, which slows down the server.",
    needs=("host",),
    evidence=("SCHED-01", "SCHED-02", "SCHED-03"),
    probe="random-read",
    docs=Docs(
        why="In a published run on eight disks cfq did 2,800 transactions a minute where noop and deadline did 6,500. "
        "Current kernels have bfq instead; MariaDB recommends none for solid-state disks and mq-deadline for spinning "
        "ones. Disks that have cfq know noop and deadline instead: Linux 5.0 removed all three.",
        fix="Write none or mq-deadline (noop or deadline in place of cfq) to /sys/block/DISK/queue/scheduler, which "
        "lasts until the next boot, and add a udev rule.",
        risk="Other programs that use the disk lose their fair share.",
        exceptions="Hosts where the database must not starve other programs.",
        reconsider_when="A read-write run on this host that is as fast with bfq.",
    ),
)
def fair_io_scheduler(context: RuleContext) -> Iterator[Finding]:
    """Report a fair I/O scheduler for the data disks."""
    for disk in context.host.storage.disks if context.host.storage else ():
        if disk.scheduler in FAIR:
            better = FAIR[disk.scheduler][0 if is_solid_state(context) else 1]
            yield fair_io_scheduler.finding(
                f"{disk.name} uses the scheduler {disk.scheduler}, which shares the disk between processes.",
                help=f"{kernel_place(context)}run echo {better} > /sys/block/{disk.kernel_name}/queue/scheduler, and "
                f"write a udev rule that sets ATTR{{queue/scheduler}} to {better} at each boot",
            )


@rule(
    "SYS004",
    "swappiness",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The kernel prefers swapping out the server's memory to dropping cached files.",
    needs=("host",),
    evidence=("VM-01", "KRN-18"),
    docs=Docs(
        why="vm.swappiness controls how readily the kernel swaps out a process's memory. The usual 60 suits desktops. "
        "No measurement is known; MariaDB's documentation recommends 1 and warns that 0 makes OOM kills more likely. "
        "With version 1 of control groups (the default of RHEL 8 and Ubuntu 20.04) each group has its own value, "
        "memory.swappiness, which it takes from its parent when it is created: there the group's value counts.",
        fix="Write vm.swappiness = 1 to a file in /etc/sysctl.d and load it with sysctl -p FILE: it takes effect at "
        "once. On most systems a line about it in /etc/sysctl.conf wins at the next boot: change it there (Debian 13 "
        "ignores that file). For a container, do this on its host. With version 1 of control groups also write 1 to "
        "memory.swappiness of the server's group, after each start; on RHEL 8 (kernel 4.18.0-425 and later) "
        "vm.force_cgroup_v2_swappiness = 1 makes vm.swappiness count for all groups.",
        risk="When memory is short, the kernel drops more cached files, such as those of MyISAM tables and binary "
        "logs.",
        exceptions="Hosts without swap. Swap that is faster than the disks, such as zram. A control group that may not "
        "swap (memory.swap.max = 0) is not reported.",
        reconsider_when="A server that is never swapped out at a higher value.",
    ),
)
def swappiness(context: RuleContext) -> Iterator[Finding]:
    """Report a swappiness for desktops on a host with swap."""
    memory, group = context.host.memory, context.host.cgroup
    if memory is None or not memory.swap_total or (group and group.version > 1 and group.swap_limit == 0):
        return
    own = group_swappiness(context)
    value = memory.swappiness if own is None else own
    if (value or 0) > SWAPPY:
        name = "vm.swappiness" if own is None else "memory.swappiness of the server's control group"
        yield swappiness.finding(
            f"{name} is {value}, with {format_size(memory.swap_total)} of swap.",
            help=f"{swappiness_help(context)}{'; it takes effect at once' if own is None else ''}",
        )


@rule(
    "SYS005",
    "pool-beyond-memory-node",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The buffer pool is larger than one NUMA node, and its memory is not interleaved.",
    needs=("host",),
    options=("innodb_numa_interleave", "innodb_buffer_pool_size"),
    evidence=("NUMA-01", "NUMA-02", "NUMA-03"),
    docs=Docs(
        why="A process first takes memory from the node of the processor that it runs on. A pool larger than that node "
        "fills it, and the kernel may swap although other nodes have free memory. The rule checks "
        "innodb_numa_interleave, the policy of the server's process (/proc/PID/numa_maps, which numactl and systemd "
        "set), and if that cannot be read, NUMAPolicy or numactl in its unit.",
        fix="Set innodb_numa_interleave to ON; MariaDB has it if it was built with NUMA support, as Debian's packages "
        "are. Or set NUMAPolicy=interleave and NUMAMask with the numbers of the nodes in the service's unit (systemd "
        "243 and later, and RHEL 8; others ignore both), or start the server under numactl --interleave=all. A "
        "container needs the capability SYS_NICE for either.",
        risk="Memory of other nodes is somewhat slower to access. A server that was built without NUMA support does "
        "not know innodb_numa_interleave and does not start.",
        restart=True,
        exceptions="Servers that are bound to one node on purpose.",
        reconsider_when="Per-node memory of the server (numastat -p) that is even without it.",
    ),
)
def pool_beyond_memory_node(context: RuleContext) -> Iterator[Finding]:
    """Report a pool that is larger than any NUMA node and not interleaved."""
    nodes = context.host.cpu.nodes if context.host.cpu else ()
    sizes = [node.memory for node in nodes if node.memory]
    pool = context.number(POOL)
    if len(sizes) < 2 or pool is None or pool <= max(sizes) or _is_interleaved(context):  # noqa: PLR2004
        return
    built = ", if this build has it" if context.target.is_mariadb else ""
    yield pool_beyond_memory_node.finding(
        f"The pool of {format_size(pool)} is larger than the largest of {len(sizes)} NUMA nodes "
        f"({format_size(max(sizes))}){_unread_policy(context)}.",
        variable_subject(context, POOL),
        help=f"set innodb_numa_interleave = ON{built}, {_interleave_help(context)}, and restart",
    )


def _unread_policy(context: RuleContext) -> str:
    process = context.host.process
    unread = process is not None and process.memory_policy is None and context.service is None
    return "; whether its process interleaves memory could not be read" if unread else ""


def _interleave_help(context: RuleContext) -> str:
    if is_in_image(context):
        return "give the container the capability SYS_NICE"
    nodes = context.host.cpu.nodes if context.host.cpu else ()
    mask = ",".join(str(node.number) for node in nodes if node.memory)
    unit = service_setting_help(context, "NUMAPolicy=interleave", f"NUMAMask={mask}")
    return f"or {unit} with systemd 243 or later (or RHEL 8)"


def _is_interleaved(context: RuleContext) -> bool:
    """Whether the pool's pages are interleaved, by the server, by its process's memory policy, or by its unit."""
    if context.settings.on("innodb_numa_interleave"):
        return True
    policy = context.host.process.memory_policy if context.host.process else None
    if policy is not None:
        return "interleave" in policy
    texts = [copy.text or "" for copy in (context.service.unit_files if context.service else ())]
    policies, starts = ([m[1] for text in texts for m in key.finditer(text)] for key in (NUMA_POLICY, EXEC_START))
    under_numactl = bool(starts) and UNDER_NUMACTL.search(starts[-1]) is not None
    return under_numactl or (bool(policies) and policies[-1] in INTERLEAVING)


@rule(
    "SYS015",
    "slow-clock-source",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The kernel reads the time from a slow clock, which costs a system call for each reading.",
    needs=("host",),
    evidence=("CLK-01", "CLK-02"),
    docs=Docs(
        why="A server reads the time several times per statement. With tsc, kvm-clock or the counters of ARM that "
        "takes some tens of nanoseconds, without a system call. From hpet, acpi_pm or xen it takes a system call (from "
        "xen not on newer kernels under some hypervisors), and up to microseconds: a published test saw 4.5 "
        "microseconds with hpet and 0.1 with tsc. The kernel leaves tsc where it found that the counters of the "
        "processors differ.",
        fix="If tsc is listed in available_clocksource, select it: it takes effect at once. clocksource=tsc on the "
        "kernel's command line keeps it. If tsc is not listed, the kernel's log names the reason, often the firmware, "
        "a hypervisor's setting or an old kernel.",
        risk="Where the counters of the processors do differ the clock may jump: do not force tsc that the kernel "
        "rejected (tsc=reliable).",
        exceptions="Old machines without a constant counter. Xen guests that move between different hosts.",
        reconsider_when="perf top that shows hardly any time in read_hpet, acpi_pm_read or pvclock_clocksource_read.",
    ),
)
def slow_clock_source(context: RuleContext) -> Iterator[Finding]:
    """Report a clock source that is read by a system call."""
    clock = context.host.os.clocksource if context.host.os else None
    if clock in SLOW_CLOCKS:
        yield slow_clock_source.finding(
            f"The kernel's clock is {clock}, read from {SLOW_CLOCKS[clock]}: each reading "
            f"{'usually ' if clock == 'xen' else ''}takes a system call.",
            help=f"{kernel_place(context)}if {CLOCKS}/available_clocksource lists tsc, run echo tsc > "
            f"{CLOCKS}/current_clocksource, and put clocksource=tsc on the kernel's command line, which keeps it after "
            "a reboot; if not, look for the reason with dmesg | grep -i tsc",
        )


@rule(
    "SYS030",
    "asynchronous-requests-used-up",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The host has hardly any asynchronous I/O requests left for another server or a restart.",
    needs=("host",),
    options=(NATIVE_AIO,),
    evidence=("INNA-34",),
    docs=Docs(
        why="fs.aio-max-nr limits the asynchronous requests of all processes together. A MySQL server with its "
        "defaults takes 2,661 (8.0) or 2,918 (9.7) when it starts, MariaDB without io_uring 2,048. MySQL 5.7, 8.0 and "
        "9.7 that got none started without native I/O; those that got only some of them refused to start, after five "
        "attempts. MariaDB 11.4 and 11.8 started without them. A server that restarts needs its own requests again.",
        fix="Set fs.aio-max-nr to 1048576 in /etc/sysctl.d and load it with sysctl -p FILE. For a container, do this "
        "on its host.",
        risk="A little memory of the kernel for each request in use.",
        exceptions="Hosts on which nothing else starts.",
        reconsider_when="fs.aio-nr that stays far below fs.aio-max-nr.",
    ),
)
def asynchronous_requests_used_up(context: RuleContext) -> Iterator[Finding]:
    """Report a host that has fewer asynchronous requests left than a server takes."""
    system = context.host.os
    if system is None or not system.aio_max or system.aio_used is None or context.settings.on(NATIVE_AIO) is None:
        return
    threads = sum(context.number(f"innodb_{kind}_io_threads") or USUAL_THREADS for kind in ("read", "write"))
    left, needed = max(0, system.aio_max - system.aio_used), (threads + OTHER_THREADS) * REQUESTS
    if left < needed:
        wanted = max(USUAL_MAXIMUM, 2 * system.aio_max)
        without = "runs without native AIO, unless it has io_uring" if context.target.is_mariadb else "may not start"
        yield asynchronous_requests_used_up.finding(
            f"{system.aio_used:,} of {system.aio_max:,} asynchronous requests are in use (fs.aio-max-nr). A further "
            f"server like this one takes about {needed:,}; without them it {without}.",
            help=kernel_setting_help(context, "fs.aio-max-nr", wanted),
        )
