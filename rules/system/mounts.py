"""STO: rules about the mount options, the free space and the errors of the server's file systems."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_duration, format_size
from rules.core import Docs, rule
from rules.core.advice import kernel_place, remount_command
from rules.core.counters import require_uptime
from rules.core.storage import BINARY_LOG, DATA, kernel_version, mount_under, server_directories
from rules.sizing.memory import GIB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts.storage import Mount, Space
    from rules.core.context import RuleContext

# File systems whose access times follow the mount options; for others the options say nothing.
TIMED = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "jfs", "f2fs"})
SPARING = frozenset({"relatime", "noatime", "lazytime"})
# Recent kernels show emergency_ro if ext4 stopped writing, and leave the mount rw; older kernels remount it ro.
CLOSED = frozenset({"ro", "emergency_ro"})
TWENTIETH, FIFTH = 20, 5
ROOM = 20 * GIB  # the limit if it is less than a fifth: on small disks less space is normal
HOUR, DAY = 3600, 86400
OFF = ("OFF", "FALSE", "0")
BACKGROUND_DISCARD = (5, 15)  # from this kernel on ext4 discards outside of the journal's commit (KRN-16)


@rule(
    "STO005",
    "data-journalled-twice",
    confidence=Confidence.LIKELY,
    summary="The file system writes all data to its journal first, and ignores direct I/O.",
    needs=("host",),
    evidence=("KRN-10", "DBLW-05"),
    docs=Docs(
        why="With data=journal everything is written twice by the file system, on top of InnoDB's redo log and "
        "doublewrite buffer, and ext4 disables delayed allocation and O_DIRECT: pages are then cached in the pool and "
        "in the page cache.",
        fix="Write data=ordered, the default, in its line in /etc/fstab. A remount does not change the journal mode: "
        "stop the server, unmount it and mount it again. For the root file system put rootflags=data=ordered on the "
        "kernel's command line too, and reboot: if both differ, it stays read-only.",
        risk="The server is down meanwhile.",
        restart=True,
        exceptions="None known for InnoDB with doublewrite. A mode that tune2fs -o made the file system's default is "
        "not in the kernel's list of mounts, and is not reported.",
        reconsider_when="A write-heavy run on this host that is no slower with it.",
        disagree="Percona once measured 55 percent more writes with it instead of the doublewrite buffer. Others could "
        "not repeat that, and the follow-up now warns not to try it: it may corrupt data.",
    ),
)
def data_journalled_twice(context: RuleContext) -> Iterator[Finding]:
    """Report the mount option data=journal."""
    mount = mount_under(context)
    if mount is not None and "data=journal" in mount.options:
        yield data_journalled_twice.finding(
            f"{mount.point} is mounted with data=journal: all data is written twice, and direct I/O is ignored.",
            help=_ordered_help(context, mount),
        )


@rule(
    "STO006",
    "data-behind-its-journal",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="After a crash, parts of files that were growing may contain old data of other files.",
    needs=("host",),
    evidence=("KRN-10",),
    docs=Docs(
        why="With data=writeback the file system may note that a file has grown before the new data is on the disk. "
        "InnoDB syncs the data that it depends on, and the binary log is synced with sync_binlog = 1. A binary log "
        "with another value (MariaDB's default is 0), MyISAM tables, text logs and copies made with other programs are "
        "not, and may show old contents of the disk after a crash.",
        fix="Write data=ordered, the default, in its line in /etc/fstab. A remount does not change the journal mode: "
        "stop the server, unmount it and mount it again. For the root file system put rootflags=data=ordered on the "
        "kernel's command line too, and reboot: if both differ, it stays read-only.",
        risk="Syncs may also write some data of other files.",
        restart=True,
        exceptions="Volumes that contain only InnoDB files. A mode that tune2fs -o made the file system's default is "
        "not in the kernel's list of mounts, and is not reported.",
        reconsider_when="A measured gain on this host, on a volume for InnoDB only.",
    ),
)
def data_behind_its_journal(context: RuleContext) -> Iterator[Finding]:
    """Report the mount option data=writeback."""
    mount = mount_under(context)
    if mount is not None and "data=writeback" in mount.options:
        yield data_behind_its_journal.finding(
            f"{mount.point} is mounted with data=writeback: after a crash, files that were growing may contain old "
            "data of other files.",
            help=_ordered_help(context, mount),
        )


def _ordered_help(context: RuleContext, mount: Mount) -> str:
    """How to get data=ordered: no remount changes the journal mode, not even the one that makes / writable at boot."""
    place = kernel_place(context)
    if mount.point == "/" and not place:
        return "put rootflags=data=ordered on the kernel's command line, write data=ordered in /etc/fstab, and reboot"
    return f"{place}write data=ordered for it in /etc/fstab, and unmount and mount it with the server stopped"


@rule(
    "STO007",
    "synchronous-mount",
    summary="The file system is mounted with sync: every write waits for the disk.",
    needs=("host",),
    evidence=("KRN-11", "HOST-04"),
    probe="commit-latency",
    docs=Docs(
        why="With sync the kernel writes all data to the disk before the call returns. The server syncs where its "
        "settings require it; all other writes, including those of temporary files and sorts, then wait as well. "
        "InnoDB with its durable settings does not become safer.",
        fix="Remove sync from its line in /etc/fstab, and run mount -o remount,async on it: no restart is needed.",
        risk="What the server syncs is still synced. What it does not sync, such as MyISAM tables and, with a "
        "sync_binlog other than 1, the binary log, can be lost in a crash of the system, as on other mounts.",
        exceptions="Servers whose own syncs are reduced because the mount syncs: first set "
        "innodb_flush_log_at_trx_commit and sync_binlog to 1.",
        reconsider_when="A run on this host that is as fast with it.",
    ),
)
def synchronous_mount(context: RuleContext) -> Iterator[Finding]:
    """Report the mount option sync."""
    for storage, what in server_directories(context.host):
        if "sync" in storage.mount.options:
            yield synchronous_mount.finding(
                f"{storage.mount.point}, which holds {what}, is mounted with sync: each write waits for the disk, not "
                "only those that must be durable.",
                help=f"{kernel_place(context)}remove sync from its line in /etc/fstab, and run "
                f"{remount_command(context, storage.mount, 'async')}",
            )


@rule(
    "STO008",
    "access-times-written",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="Each read of a file changes its access time, which the file system then writes.",
    needs=("host",),
    evidence=("MAN-01", "FS-04"),
    docs=Docs(
        why="With strictatime each read changes the file's access time, which the file system must write. MySQL's "
        "manual suggests noatime. The default of Linux is relatime, which changes the time once a day and at the first "
        "read after a write, when the file's metadata is written anyway: that is just as good here.",
        fix="Write relatime or noatime in its line in /etc/fstab, and remount it: no restart is needed.",
        risk="Few programs use access times.",
        exceptions="None known.",
        reconsider_when="No fewer writes without it.",
        disagree="A test in 2014 saw no difference between noatime and the default of that time (relatime).",
    ),
)
def access_times_written(context: RuleContext) -> Iterator[Finding]:
    """Report access times that are written at each read."""
    mount = mount_under(context)
    if mount is None or mount.fs_type not in TIMED or "rw" not in mount.options:
        return
    if not SPARING.intersection(mount.options):
        yield access_times_written.finding(
            f"{mount.point} is mounted with strictatime: each read changes a file's access time, which is written too.",
            help=f"{kernel_place(context)}write noatime for it in /etc/fstab, and run "
            f"{remount_command(context, mount, 'noatime')}",
        )


@rule(
    "STO009",
    "nearly-full-file-system",
    confidence=Confidence.LIKELY,
    summary="A file system that the server writes to is nearly full, or has less space than the server may need.",
    needs=("host",),
    evidence=("MAN-02",),
    docs=Docs(
        why="When it is full, statements that write wait or fail, commits wait while the binary log has no room, and a "
        "server that is restarted may not start. MySQL checks for free space once a minute and logs a warning every "
        "ten minutes. Less than 5 percent, or less than a day of binary log at the mean rate since the start (a "
        "counter of MariaDB, performance_schema on MySQL), is a warning; the mean counts once the server has been up "
        "for an hour. Less than 20G where that is less than a fifth, or less than the largest table, is a note: an "
        "ALTER TABLE that copies needs the size of its table at once. The bounds are ours.",
        fix="Free space: purge binary logs that all replicas have, drop what is not needed, enlarge the volume.",
        risk="Deleting the server's files by hand breaks it: use PURGE and DROP statements.",
        exceptions="Data that no longer grows.",
        reconsider_when="A size that has not changed for months.",
    ),
)
def nearly_full_file_system(context: RuleContext) -> Iterator[Finding]:
    """Report little free space, in itself or for a day of binary logs or a copy of the largest table."""
    binary_log = next((what for _, what in server_directories(context.host) if what == BINARY_LOG), DATA)
    young = False
    for storage, what in server_directories(context.host):
        space = storage.space
        if space is None:
            continue
        day = _binary_log_bytes_per_day(context) if what == binary_log else 0
        why, severity = _shortage(context, space, what, day)
        if severity is not None:
            logs = what == binary_log and context.text("log_bin") not in OFF
            room = "purge binary logs that all replicas have" if logs else "remove what is not needed there"
            yield nearly_full_file_system.finding(
                f"{format_size(space.free)} of {format_size(space.size)} is left at {storage.mount.point}, which holds "
                f"{what}{why}.",
                severity=severity,
                help=f"{room}, or enlarge the volume",
            )
        young = young or (space.free < day and severity is not Severity.WARNING)
    if young:
        require_uptime(_counted_seconds(context), HOUR)


def _shortage(context: RuleContext, space: Space, what: str, day: int) -> tuple[str, Severity | None]:
    """What the room is too little for, and how much that matters; no severity where it is enough."""
    if space.free * TWENTIETH < space.size:
        return "", Severity.WARNING
    if space.free < day and (counted := _counted_seconds(context)) >= HOUR:
        since = "its start" if counted == context.server.uptime else "FLUSH GLOBAL STATUS"
        mean = f"at the mean rate of the {format_duration(counted)} since {since}"
        return (
            f": less than the {format_size(day)} of binary log that this server writes a day, {mean}",
            Severity.WARNING,
        )
    data = context.server.data if what == DATA and context.has("server") else None
    if data is not None and space.free < data.largest_bytes:
        return f": less than the largest table ({format_size(data.largest_bytes)}) takes", Severity.NOTE
    scarce = space.free < ROOM and space.free * FIFTH < space.size
    return "", Severity.NOTE if scarce else None


def _binary_log_bytes_per_day(context: RuleContext) -> int:
    """Bytes of binary log a day since the start, 0 where the server doesn't count them."""
    if not context.has("server") or not _counted_seconds(context):
        return 0
    written = context.server.counter("binlog_bytes_written") or context.server.binary_log_bytes
    return written * DAY // _counted_seconds(context) if written else 0


def _counted_seconds(context: RuleContext) -> int:
    """The seconds in which the bytes were counted: FLUSH GLOBAL STATUS of MariaDB 11.5 and later begins again."""
    return context.server.peak_seconds if context.target.since("mariadb", 11, 5) else context.server.uptime


@rule(
    "STO010",
    "few-files-left",
    confidence=Confidence.LIKELY,
    summary="A file system that the server writes to is nearly out of inodes.",
    needs=("host",),
    evidence=("MAN-02",),
    docs=Docs(
        why="A file system such as ext4 is created with a fixed number of inodes, one for each file. When they are "
        "used up, no table, binary log or temporary file can be created, and the error says that the disk is full. "
        "Usually each table takes one file or more, and so does each partition. The threshold, 5 percent, is our "
        "choice.",
        fix="Remove many small files, or move the data to a file system with more inodes (mkfs.ext4 -N), or to XFS.",
        risk="Moving the data takes the server down.",
        exceptions="Data to which no tables are added.",
        reconsider_when="A number of files that has not changed for months.",
    ),
)
def few_files_left(context: RuleContext) -> Iterator[Finding]:
    """Report less than a twentieth of the inodes free."""
    for storage, what in server_directories(context.host):
        space = storage.space
        if space is not None and space.files_free * TWENTIETH < space.files:
            yield few_files_left.finding(
                f"{space.files_free:,} of {space.files:,} inodes are left at {storage.mount.point}, which holds "
                f"{what}: no more files than that can be created.",
                help="remove small files, or move the data to a file system with more inodes",
            )


@rule(
    "STO011",
    "read-only-file-system",
    severity=Severity.ERROR,
    summary="A file system that the server must write to refuses writes.",
    needs=("host",),
    options=("innodb_read_only",),
    evidence=("HOST-05", "HOST-08"),
    docs=Docs(
        why="ext4, btrfs and others can become read-only by themselves after a disk error or damage to their own "
        "structures. InnoDB ends the server at its first write that fails: MySQL 5.7 and 9.7 and MariaDB 10.11 and "
        "11.8 ended at an INSERT, or at a SELECT for which changed pages had to leave the pool. Until then reads are "
        "answered.",
        fix="Look in the kernel's log for the cause, save what can be read, check the file system (fsck) with the "
        "server down, and restore from a backup or a replica where data was damaged.",
        risk="A check that repairs may remove damaged files.",
        restart=True,
        exceptions="Servers that run on read-only media on purpose, with innodb_read_only.",
        reconsider_when="Nothing.",
    ),
)
def read_only_file_system(context: RuleContext) -> Iterator[Finding]:
    """Report a read-only file system under a server that is not read-only."""
    if context.settings.on("innodb_read_only"):
        return
    for storage, what in server_directories(context.host):
        if CLOSED.intersection(storage.mount.options):
            yield read_only_file_system.finding(
                f"{storage.mount.point}, which holds {what}, is read-only: the server's writes to it fail.",
                help="look in the kernel's log for the cause, and save what can be read",
            )


@rule(
    "STO012",
    "damaged-file-system",
    severity=Severity.ERROR,
    summary="The file system has counted errors of its own structures and has not been checked since.",
    needs=("host",),
    evidence=("HOST-05",),
    docs=Docs(
        why="ext4 records in its superblock how many errors occurred since the last check. With errors=continue, the "
        "usual default, it continues despite errors, and the damage may spread.",
        fix="Take a backup now, from a replica if there is one. Then stop the server, unmount, and run e2fsck.",
        risk="A check that repairs may remove damaged files.",
        restart=True,
        exceptions="None.",
        reconsider_when="A check that finds nothing, which sets the count back to zero.",
    ),
)
def damaged_file_system(context: RuleContext) -> Iterator[Finding]:
    """Report errors that ext4 has counted."""
    for storage, what in server_directories(context.host):
        if storage.errors:
            yield damaged_file_system.finding(
                f"{storage.mount.fs_type} at {storage.mount.point}, which holds {what}, has counted errors since its "
                f"last check: {storage.errors:,}.",
                help="take a backup now, then check the file system with the server stopped",
            )


@rule(
    "STO019",
    "discard-at-each-commit",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="ext4 discards freed blocks as part of its journal's commit, and syncs wait for it.",
    needs=("host",),
    evidence=("KRN-16", "DOC-04"),
    docs=Docs(
        why="With the mount option discard ext4 passes freed blocks on to the disk. Before Linux 5.15 the thread that "
        "commits the journal does so and waits. After a large file is removed, a dropped table or a purged binary log, "
        "syncs of the server can then take long. Red Hat recommends fstrim at intervals instead. There is a finding "
        "only if the device that is mounted accepts discards.",
        fix="Enable fstrim.timer, remove discard from the line in /etc/fstab, and remount with nodiscard: no restart "
        "is needed.",
        risk="A thin pool gets freed blocks back only at each fstrim, which itself loads the disk for a while.",
        exceptions="Disks that discard quickly. Distribution kernels may include the change of 5.15 earlier.",
        reconsider_when="No slow commits while a table of many gigabytes is dropped.",
    ),
)
def discard_at_commit(context: RuleContext) -> Iterator[Finding]:
    """Report ext4 mounted with discard on a kernel that discards within the journal's commit."""
    kernel = kernel_version(context.host)
    if kernel is None or kernel >= BACKGROUND_DISCARD:
        return
    for storage, what in server_directories(context.host):
        accepted = bool(storage.devices and storage.devices[0].discard_max)  # dm-crypt may hold back those of its disk
        if storage.mount.fs_type == "ext4" and "discard" in storage.mount.options and accepted:
            yield discard_at_commit.finding(
                f"{storage.mount.point}, which holds {what}, is mounted with discard: syncs wait while freed blocks "
                "are discarded.",
                help=f"{kernel_place(context)}run systemctl enable --now fstrim.timer, remove discard from its line in "
                f"/etc/fstab, and run {remount_command(context, storage.mount, 'nodiscard')}",
            )
