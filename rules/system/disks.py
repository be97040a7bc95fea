"""STO: rules about the arrays and disks under the data directory and the logs."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_size
from rules.core import Docs, rule
from rules.core.advice import advise, help_line, present
from rules.core.counters import steady_window, window_text
from rules.core.storage import THIN_POOL, disk_names, is_solid_state_array, is_spinning, server_directories
from rules.core.subject import variable_subject
from rules.innodb.io_capacity import is_in_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts.storage import BlockDevice, Raid
    from rules.core.context import RuleContext

NEIGHBOURS = "innodb_flush_neighbors"
METHOD, UNSYNCED = "innodb_flush_method", "O_DIRECT_NO_FSYNC"
DOUBLEWRITE, FAST = "innodb_doublewrite", "fast"
REDO = "innodb_log_group_home_dir"
WITHOUT_CACHE = "write through"  # the kernel's word for a disk without a volatile cache
WATCH = "Innodb_data_writes"
WITH_PARITY = frozenset({"raid4", "raid5", "raid6"})
WRITES = 100  # a second; about what a spinning disk can do
REBUILT = "recover"
BUSY = {
    REBUILT: "being rebuilt onto a new disk",
    "resync": "being resynchronized",
    "reshape": "being reshaped",
    "repair": "being checked and repaired",
    "check": "being checked",
}


def _raid_arrays(context: RuleContext) -> Iterator[tuple[BlockDevice, Raid]]:
    devices = {
        device.kernel_name: device for storage, _ in server_directories(context.host) for device in storage.devices
    }
    for device in devices.values():
        if device.raid is not None:
            yield device, device.raid


@rule(
    "STO014",
    "degraded-array",
    severity=Severity.ERROR,
    summary="A RAID array under the data or a log is degraded.",
    needs=("host",),
    evidence=("KRN-12",),
    docs=Docs(
        why="The array continues without the disk, more slowly if it must reconstruct data from parity, and the "
        "failure of one more disk may destroy the data.",
        fix="Replace the disk and add the new one (mdadm --add; --replace is for a disk that still works), and make "
        "sure that the backup is recent.",
        risk="A rebuild reads the other disks, in RAID 10 those with the same data, from end to end, which may expose "
        "errors on them.",
        exceptions="Arrays that were created with a missing disk on purpose.",
        reconsider_when="Nothing.",
    ),
)
def degraded_array(context: RuleContext) -> Iterator[Finding]:
    """Report degraded RAID arrays."""
    for device, raid in _raid_arrays(context):
        if raid.degraded:
            what = "wait until the rebuild has finished" if raid.action == REBUILT else "replace the disk"
            yield degraded_array.finding(
                f"{device.name} ({raid.level}) runs without {raid.degraded} of its "
                f"{f'{raid.disks} disks' if raid.disks else 'disks'}.",
                help=f"{what}, and make sure that the backup is recent",
            )


@rule(
    "STO015",
    "busy-array",
    severity=Severity.NOTE,
    summary="An array under the data or a log is being rebuilt or checked, which slows it down.",
    needs=("host",),
    evidence=("KRN-12",),
    docs=Docs(
        why="Rebuilding and checking read or write disks of the array, mostly from end to end. The kernel gives other "
        "requests priority, but keeps a minimum speed for the rebuild. Rates and latencies that are measured meanwhile "
        "are worse than usual.",
        fix="Wait until it has finished before you measure or tune anything. Lower dev.raid.speed_limit_max if the "
        "server suffers, and schedule monthly checks in quiet hours.",
        risk="A slower rebuild leaves the data without redundancy for longer.",
        exceptions="None.",
        reconsider_when="sync_action of the array is idle.",
    ),
)
def busy_array(context: RuleContext) -> Iterator[Finding]:
    """Report arrays that are being rebuilt or checked."""
    for device, raid in _raid_arrays(context):
        if raid.action in BUSY:
            yield busy_array.finding(
                f"{device.name} ({raid.level}) is {BUSY[raid.action]} now, which slows it down.",
                help="measure and tune after that; lower dev.raid.speed_limit_max if the server suffers",
            )


@rule(
    "STO016",
    "parity-array-under-writes",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The server writes heavily to an array with parity, where a small write costs several requests.",
    needs=("host", "workload"),
    evidence=("MAN-01",),
    probe="random-write",
    docs=Docs(
        why="For a write that is smaller than a stripe the array reads the old data and the old parity and writes both "
        "again: four requests with single parity and six with double parity. MySQL's manual warns against such arrays "
        "for write-heavy loads. The rule applies from 100 writes a second on, which is what one spinning disk does.",
        fix="Use RAID 10 for data and logs when you rebuild the array.",
        risk="Rebuilding an array destroys its data. RAID 10 has less capacity.",
        exceptions="Arrays with a journal on a fast disk in write-back mode. Solid-state disks, which do tens of "
        "thousands of writes a second, are not reported, nor are arrays on which a probe measured reads that are too "
        "fast for a spinning disk.",
        reconsider_when="A random-write probe on this array that shows a sufficient rate.",
    ),
)
def parity_array_under_writes(context: RuleContext) -> Iterator[Finding]:
    """Report an array with parity under many writes."""
    window = steady_window(context)
    writes = window.rate("innodb_data_writes")
    if writes is None or writes < WRITES:
        return
    for device in context.host.storage.devices if context.host.storage else ():
        if device.raid is not None and device.raid.level in WITH_PARITY and not is_solid_state_array(context, device):
            yield parity_array_under_writes.finding(
                f"{writes:,.0f} writes a second go to {device.name} ({device.raid.level}) {window_text(window)}; each "
                "small "
                f"one costs {6 if device.raid.level == 'raid6' else 4} requests to its disks.",
                help="use RAID 10 when you rebuild the array",
            )


@rule(
    "STO017",
    "loop-device-under-data",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The data is in a file on another file system, through a loop device.",
    needs=("host",),
    docs=Docs(
        why="Each write passes two file systems and each sync two journals, and without direct I/O (losetup "
        "--direct-io) the outer file system caches the data too. It may be full while the inner one still shows free "
        "space, because such files are usually sparse.",
        fix="Put the data on a partition or a logical volume.",
        risk="Moving the data needs downtime.",
        restart=True,
        exceptions="Tests, and quotas that are implemented this way, with direct I/O and preallocated space.",
        reconsider_when="A commit-latency probe that is no slower than on the outer file system.",
    ),
)
def loop_device_under_data(context: RuleContext) -> Iterator[Finding]:
    """Report a loop device at any level under the data directory."""
    loops = [d.name for d in (context.host.storage.devices if context.host.storage else ()) if d.type == "loop"]
    if loops:
        yield loop_device_under_data.finding(
            f"The data is in a file on another file system, through the loop device {loops[0]}: each sync goes through "
            "both.",
            help="put the data on a partition or a logical volume",
        )


@rule(
    "STO018",
    "lone-flush-on-spinning-disk",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Dirty pages are written one by one to spinning disks, although flushing neighbors would save seeks.",
    needs=("host",),
    options=(NEIGHBOURS,),
    evidence=("NB-01",),
    probe="ab",
    docs=Docs(
        why="On a spinning disk a seek takes as long as writing dozens of pages in a row. With innodb_flush_neighbors "
        "at 1 InnoDB writes adjacent dirty pages of an extent together, with 2 all dirty pages of it. MySQL 8.0 has 0, "
        "because most servers have solid-state disks, and its developers expected losses on spinning disks. The "
        "default is reported where 100 pages a second or more are written, which is our choice, and in option files "
        "that set the size of the pool.",
        fix="Set innodb_flush_neighbors to 1.",
        risk="A page that soon changes again is written twice.",
        exceptions="Controllers with a large cache, which sort the writes.",
        reconsider_when="A write-heavy run on this host that is no faster with it.",
    ),
)
def lone_flush_on_spinning_disk(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_flush_neighbors = 0 on spinning disks."""
    if context.number(NEIGHBOURS) == 0 and is_in_use(context, NEIGHBOURS) and is_spinning(context):
        action = advise(context, NEIGHBOURS, 1, risk="pages that soon change again are written twice", watch=WATCH)
        yield lone_flush_on_spinning_disk.finding(
            f"The data is on spinning disks ({disk_names(context.host)}), but {NEIGHBOURS} is 0: each page costs a "
            "seek.",
            variable_subject(context, NEIGHBOURS),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "STO030",
    "unsynced-data-beside-redo",
    confidence=Confidence.LIKELY,
    summary="Data files are not synced after writes, and the redo log is on another disk.",
    needs=("host",),
    options=(METHOD, DOUBLEWRITE),
    evidence=("FLUSH-06", "ASK-DUR-03", "DBLW-09"),
    docs=Docs(
        why="With O_DIRECT_NO_FSYNC the server relies on the syncs of the redo log, which also flush the disk cache "
        "for the data files if both are on the same disk. With the redo log on another disk nothing flushes the cache "
        "under the data files: MySQL's manual warns that data may be lost when a checkpoint passes before that cache "
        "is written. MariaDB 11.0.6 and later then runs with innodb_doublewrite = fast, which can also be set alone: "
        "the doublewrite buffer is synced, the files of tables are not.",
        fix="Set innodb_flush_method to O_DIRECT, or innodb_doublewrite = fast back to ON. Or put the redo log on the "
        "disk of the data.",
        risk="More syncs.",
        restart=True,
        exceptions="Disks and controllers whose cache survives a loss of power. Nothing is reported where the kernel "
        "shows that the data's disks have no volatile cache.",
        reconsider_when="Nothing: the owner of the data decides what may be lost.",
    ),
)
def unsynced_data_beside_redo(context: RuleContext) -> Iterator[Finding]:
    """Report O_DIRECT_NO_FSYNC, or MariaDB's fast doublewrite, with the redo log on other disks than the data."""
    data = context.host.storage
    redo = next((place.storage for place in context.host.places if place.variable == REDO), None)
    if data is None or redo is None or not data.disks or not redo.disks:
        return
    if {d.kernel_name for d in data.disks} & {d.kernel_name for d in redo.disks}:
        return
    if all(disk.write_cache == WITHOUT_CACHE for disk in data.disks):
        return
    if context.text(METHOD) == UNSYNCED:
        name, value, synced = METHOD, UNSYNCED, "O_DIRECT"
    elif context.target.is_mariadb and context.text(DOUBLEWRITE) == FAST.upper():
        name, value, synced = DOUBLEWRITE, FAST, "ON"
    else:
        return
    action = advise(context, name, synced, risk="more syncs")
    yield unsynced_data_beside_redo.finding(
        f"{name} is {value}, and the redo log is on other disks ({redo.mount.point}) than the data: a power failure "
        "can lose pages that a checkpoint counts as written.",
        variable_subject(context, name),
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "STO020",
    "overcommitted-thin-pool",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The volumes of a thin pool may grow beyond the pool's size; writes then fail on file systems with free "
    "space.",
    needs=("host",),
    evidence=("KRN-17",),
    docs=Docs(
        why="A thin volume of LVM takes its blocks from the pool when they are written. When the pool is full, the "
        "kernel queues writes for 60 seconds, then they fail, although df shows free space. /sys does not show how "
        "full the pool is, so the rule compares the size of all active thin volumes with the size of their pool. "
        "Inactive snapshots need space too, but are not counted.",
        fix="Look at Data% and Meta% of the pool with lvs, and monitor both. Extend the pool in time (lvextend), or "
        "let LVM do it: thin_pool_autoextend_threshold in lvm.conf, with free space in the volume group.",
        risk="Extending the pool takes space in the volume group that other volumes may need.",
        exceptions="Pools that are monitored or extended automatically. Pools of a hypervisor or a storage array are "
        "not visible here.",
        reconsider_when="A pool that is as large as all its volumes.",
    ),
)
def overcommitted_thin_pool(context: RuleContext) -> Iterator[Finding]:
    """Report thin pools under the server's directories that are smaller than their thin volumes together."""
    places = {
        pool.kernel_name: (pool, storage, what)
        for storage, what in server_directories(context.host)
        for pool in storage.devices
        if pool.name.endswith(THIN_POOL)
    }
    for pool, storage, what in places.values():
        name = pool.name.removesuffix(THIN_POOL)
        volumes = [one for one in context.host.devices if one.under == (pool.kernel_name,) and one.name != name]
        size = sum(volume.size for volume in volumes)
        if size > pool.size:
            free = f" although {format_size(storage.space.free)} is free there" if storage.space else ""
            yield overcommitted_thin_pool.finding(
                f"{storage.mount.point}, which holds {what}, is on the thin pool {name} of {format_size(pool.size)}, "
                f"whose volumes may take {format_size(size)}: when the pool is full, writes fail{free}.",
                help=f"look at Data% and Meta% of {name} with lvs, and extend the pool in time",
            )
