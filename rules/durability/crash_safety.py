"""DUR, STO: rules about data loss if the server, the operating system or the power fails, or files are cleaned up."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, exact_duration
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, kernel_place, present, remount_command
from rules.core.subject import variable_subject, written_name
from rules.durability import uses_innodb_binary_log, writes_binary_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext


COMMIT = "innodb_flush_log_at_trx_commit"
LOST = {0: "a crash of the server", 2: "a crash of the system or a loss of power"}
LOST_BY_ALL = {0: "a crash of all nodes at once", 2: "a loss of power of all nodes at once"}
# They write pages of 16K atomically: RDS with Optimized Writes has no doublewrite buffer, and Aurora no data files.
WHOLE_PAGES = frozenset({"rds", "aurora"})
# Where the doublewrite buffer is, on MySQL 8.0.20 and later and on Percona Server 5.7; file systems in memory.
COPIES = ("innodb_doublewrite_dir", "innodb_parallel_doublewrite_path")
MEMORY_PLACES = ("/dev/shm/", "/run/", "/var/run/")  # noqa: S108 - none is written
UNSYNCED_DATA = "O_DIRECT_NO_FSYNC"
UNSYNCED_LOG = "No commit syncs the binary log"  # a rotation and a shutdown do
UNSYNCED, FOR_TESTS = "NOSYNC", frozenset({"NOSYNC", "LITTLESYNC"})
HALF_CHECKED = frozenset({"NONE", "STRICT_NONE"})
CHECKSUM, GROUP = "binlog_checksum", "group_replication_group_name"
NEEDS_NONE_BEFORE = (8, 0, 21)  # group replication takes no checksums in the binary log before
GALERA = frozenset({"wsrep_on", "wsrep_provider"})
UNSAFE_MOUNT = frozenset({"nobarrier", "barrier=0"})
# The kernel's words for a disk with a volatile cache, which has to be flushed, and for one without.
WRITE_BACK, WRITE_THROUGH = "write back", "write through"


@rule(
    "DUR001",
    "lost-commits",
    summary="Commits that were confirmed to the client can be lost.",
    options=(COMMIT,),
    evidence=("DUR-02", "ASK-DUR-04", "DUR-01", "DUR-04", "FSY-01", "GAL-DUR-01", "GAL-DUR-02", "IBLOG-04"),
    probe="commit",
    docs=Docs(
        why="With 1 each commit is on disk before it is confirmed to the client. With 2 it is written to the file, but "
        "the system may not have synced it; with 0 it may not even be written. The binary log can keep what InnoDB "
        "lost: replicas then have commits that their source lacks. A test of 2010 without a binary log did 36 percent "
        "fewer updates with 1 than with 0; on a virtual disk one session did two thirds fewer than with 2, 64 as many.",
        fix="Set it to 1.",
        risk="Commits take the time of a sync; on a device without power-loss protection that may be milliseconds.",
        exceptions="Data that can be recreated. On a replica, which mycnf recognizes by read_only in an option file, "
        "the finding is a note if the source sends lost changes again. It does not where MySQL's GTIDs are in the "
        "replica's own binary log, or its position is in a file: there rows can be missing without an error.",
        reconsider_when="Nothing: the owner of the data decides what may be lost.",
        disagree="On a Galera node the finding is a note: a node that crashes gets what it lost from the others. "
        "Codership's documentation sets 0 there; MariaDB's offers 0 and 2 for speed and recommends 1 for durability. "
        "Both warn that 0 and 2 lose commits if all nodes fail at once, as when the site loses power. With the "
        "InnoDB-based binary log (12.3) MariaDB's manual proposes 0 or 2 for speed: log and InnoDB agree after a "
        "crash, but both lack the last commits.",
    ),
)
def lost_commits(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_flush_log_at_trx_commit values that do not sync the redo log at each commit."""
    value = context.number(COMMIT)
    if value in LOST and context.is_set(COMMIT):
        action = advise(context, COMMIT, 1, risk="commits take the time of a sync", watch="Innodb_data_fsyncs")
        seconds = context.number("innodb_flush_log_at_timeout") or 1
        lost = exact_duration(seconds) if seconds > 1 else "a second"
        cause = (LOST_BY_ALL if _is_galera_node(context) else LOST)[value]
        logged = " The InnoDB-based binary log loses them too." if uses_innodb_binary_log(context) else ""
        replica, gone = _is_replica(context), ""
        what = "commits that clients believe to be durable"
        if replica:  # a file with read_only may also be that of a source's successor
            from rules.replication import unfetched_changes  # lazily: few files relax commits on a replica

            what = "changes that this replica applied" if context.has("server") else "commits"
            gone = unfetched_changes(context)
        yield lost_commits.finding(
            f"With {COMMIT} = {value} {cause} can lose up to {lost} of {what}.{gone}{logged}",
            variable_subject(context, COMMIT),
            severity=Severity.NOTE if (replica and not gone) or _is_galera_node(context) else None,
            help=help_line(action),
            actions=present(action),
        )


def _is_replica(context: RuleContext) -> bool:
    """Whether the server is a replica; in an option file read_only says so, since its clients commit nothing."""
    if not context.has("server"):
        return any(context.settings.on(name) and context.is_set(name) for name in ("super_read_only", "read_only"))
    return context.server.replication is not None and context.server.replication.is_replica


def _is_galera_node(context: RuleContext) -> bool:
    if not context.has("server") and not GALERA.intersection(context.file_verdict.effective):
        return False
    from rules.core.network import has_provider  # lazily: most files configure no Galera node

    # With one of the two alone the server joins no cluster, and no other node has its commits.
    return context.text("wsrep_on") == "ON" and (context.has("server") or has_provider(context))


@rule(
    "DUR002",
    "unsynced-binary-log",
    summary="The binary log is not synced at each commit, so it can lack what InnoDB has.",
    options=("sync_binlog",),
    triggers=("log_bin",),
    evidence=("DUR-03", "BINLOG-01", "BINLOG-02", "DUR-04", "GAL-DUR-02", "IBLOG-04"),
    probe="commit",
    docs=Docs(
        why="After a crash of the system the binary log can lack transactions that the server has, so replicas and "
        "restored backups differ from it. The gain is 1 to 9 percent of throughput with 56 threads in published runs, "
        "which with 0 stalled to nearly zero in 4 to 5 percent of the seconds. On a virtual disk 0 doubled the updates "
        "of one session, and gave 46 and 72 percent more with 16. MySQL's default is 1, MariaDB's 0.",
        fix="Set sync_binlog to 1.",
        risk="Commits wait for a sync of the binary log, shared by those that commit together. On a busy "
        "server with slow storage the change can stall sessions.",
        exceptions="Replicas that can be rebuilt, and MariaDB 12.3 with the InnoDB-based binary log, which ignores "
        "sync_binlog. On a Galera node the finding is a note: the data comes back from the other nodes, but the lost "
        "end of this node's binary log does not.",
        reconsider_when="Nothing: the owner of the data decides what may be lost.",
    ),
)
def unsynced_binary_log(context: RuleContext) -> Iterator[Finding]:
    """Report a binary log that is not synced at each commit."""
    value = context.number("sync_binlog")
    if value is None or value == 1 or not writes_binary_log(context) or uses_innodb_binary_log(context):
        return
    if not (context.is_set("sync_binlog") or context.is_set("log_bin")):
        return
    action = advise(
        context, "sync_binlog", 1, risk="commits wait for a sync, which can stall sessions on slow storage",
        watch="Binlog_group_commits" if context.target.is_mariadb else None,
    )  # fmt: skip
    often = f"The binary log is synced only once in {value:,} groups of commits" if value else UNSYNCED_LOG
    missing = "that the cluster has, and its replicas too" if _is_galera_node(context) else "that InnoDB has committed"
    weighty = context.is_set("sync_binlog") and not _is_replica(context) and not _is_galera_node(context)
    yield unsynced_binary_log.finding(
        f"{often}; after a crash of the system it can lack transactions {missing}.",
        variable_subject(context, "sync_binlog"),
        severity=None if weighty else Severity.NOTE,
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "DUR003",
    "no-doublewrite",
    summary="A crash during a page write can leave a torn page that cannot be recovered.",
    options=("innodb_doublewrite", *COPIES),
    evidence=("DBLW-03", "DBLW-04", "DBLW-06", "DBLW-07", "DBLW-08"),
    probe="doublewrite",
    docs=Docs(
        why="A page of 16K is written in several steps. A crash between them leaves half of the old and half of the "
        "new page, which the redo log cannot repair; the doublewrite buffer holds a complete copy. "
        "innodb_doublewrite_dir, and innodb_parallel_doublewrite_path of Percona Server 5.7, set where the copies are "
        "written: in memory (/dev/shm, /run) they are lost after a power failure. Neither replaces innodb_doublewrite.",
        fix="Switch the doublewrite buffer on, unless the file system or the device writes whole pages atomically. "
        "From OFF this needs a restart, except on MariaDB 11.4 and later; from DETECT_ONLY it does not. Keep its files "
        "on disk.",
        risk="More is written: in a published test on one SSD, the 95th percentile of the response time was eight "
        "times as high.",
        exceptions="Storage that writes pages atomically: ZFS with records of at least the page's size, Amazon RDS "
        "with Optimized Writes, which shows innodb_doublewrite as OFF, and Aurora. On ZFS, RDS and Aurora there is no "
        "finding. Where the storage is unknown, the finding is a note if innodb_use_native_aio is off too, as guides "
        "for ZFS advise.",
        reconsider_when="A guarantee by the storage that it writes pages of this size atomically.",
        disagree="Other advisors flag DETECT_AND_RECOVER, which is as safe as ON, and MariaDB's fast, which can be "
        "safe if all files are in one file system.",
    ),
)
def no_doublewrite(context: RuleContext) -> Iterator[Finding]:
    """Report a doublewrite buffer that is disabled or only detects torn pages."""
    value = context.text("innodb_doublewrite")
    off = value in {"OFF", "FALSE", "DETECT_ONLY"}
    if _writes_whole_pages(context):
        return
    if off and context.is_set("innodb_doublewrite"):
        from rules.innodb.io_capacity import is_meant_for_zfs

        action, zfs = advise(context, "innodb_doublewrite", "ON", risk="more is written"), is_meant_for_zfs(context)
        placed = next((name for name in COPIES if context.is_set(name) and context.text(name)), "")
        yield no_doublewrite.finding(
            "A page that is torn by a crash can only be detected, not recovered."
            if value == "DETECT_ONLY"
            else "A torn page cannot be recovered after a crash: the server keeps no second copy of it."
            + (f" {placed} sets only where copies would be written." if placed else ""),
            variable_subject(context, "innodb_doublewrite"),
            severity=Severity.NOTE if zfs else None,
            help=help_line(action) + (", unless the data is on ZFS, which writes each page atomically" if zfs else ""),
            actions=present(action),
        )
    for name in () if off else COPIES:
        if context.is_set(name) and f"{context.settings.text(name)}/".startswith(MEMORY_PLACES):
            yield no_doublewrite.finding(
                "The doublewrite buffer is in memory, so a page that is torn by a loss of power cannot be recovered.",
                variable_subject(context, name),
                confidence=Confidence.LIKELY,
                help=f"remove {name}, or name a place on the disk of the data directory",
            )


def _writes_whole_pages(context: RuleContext) -> bool:
    """Whether the storage writes pages atomically."""
    managed = context.has("server") and context.server.managed in WHOLE_PAGES
    storage = context.host.storage if context.has("host") else None
    return managed or (storage is not None and storage.mount.fs_type == "zfs")


@rule(
    "DUR004",
    "unsynced-data-files",
    severity=Severity.ERROR,
    summary="A value for tests of the server: with nosync the redo log is not synced at each commit.",
    options=("innodb_flush_method",),
    evidence=("ASK-DUR-05", "FLUSH-04", "FSY-03"),
    docs=Docs(
        why="With nosync InnoDB writes its redo log without syncing it: MySQL 9.7 synced it at none of 20 commits, "
        "MariaDB 10.11 at one, and MySQL 5.7 without a binary log at one of 50. A crash of the system can lose "
        "commits, and pages that are newer than the log can destroy a tablespace. Data files were synced all the same. "
        "With littlesync, and with nosync on MariaDB 11.4 and later, servers synced as with fsync: there the finding "
        "is a note. MySQL's manual calls nosync a value for tests.",
        fix="Remove the line, or set O_DIRECT.",
        risk="Writes take the time of their syncs.",
        restart=True,
        exceptions="Servers whose data is discarded after each run.",
        reconsider_when="Nothing.",
    ),
)
def unsynced_data_files(context: RuleContext) -> Iterator[Finding]:
    """Report values of innodb_flush_method for tests; a note where servers sync with them as with fsync."""
    value = context.text("innodb_flush_method") or ""
    if value in FOR_TESTS and context.is_set("innodb_flush_method"):
        unsynced = value == UNSYNCED and not context.target.since("mariadb", 11, 4)
        yield unsynced_data_files.finding(
            "The redo log is not always synced to disk: a crash of the system can lose commits and destroy tablespaces."
            if unsynced
            else f"{value.lower()} is only for tests of the server; servers that we tested synced as with fsync.",
            variable_subject(context, "innodb_flush_method"),
            severity=None if unsynced else Severity.NOTE,
            help="remove the line: the default syncs",
        )


@rule(
    "DUR010",
    "data-files-without-sync",
    confidence=Confidence.LIKELY,
    summary="MySQL before 5.7.25 and 8.0.14 with O_DIRECT_NO_FSYNC never syncs data files, even when they grow.",
    targets=(Span("mysql", before=(8, 0, 14)),),
    options=("innodb_flush_method",),
    evidence=("ASK-DUR-02", "ASK-DUR-03", "FLUSH-05", "FLUSH-06"),
    docs=Docs(
        why="Direct I/O bypasses the system's page cache, but neither the metadata of the file system, such as a "
        "file's new length, nor the disk's own cache. MySQL 5.7.22 did not sync a table's file once while it grew by "
        "24 MB; MySQL 8.0.15 and 9.7 synced it whenever it grew, as the manual states for 8.0.14 and later, and so did "
        "MariaDB 10.11, 11.4 and 11.8. MySQL 5.7.25 has the same fix. After a power failure, pages that the redo log "
        "no longer holds may be missing. Percona's documentation warns of it on XFS.",
        fix="Set innodb_flush_method to O_DIRECT.",
        risk="More syncs.",
        restart=True,
        exceptions="File systems that write metadata with the data, on disks whose cache survives a loss of power.",
        reconsider_when="Nothing: the owner of the data decides what may be lost.",
    ),
)
def data_files_without_sync(context: RuleContext) -> Iterator[Finding]:
    """Report O_DIRECT_NO_FSYNC on a version that then never syncs data files."""
    if context.text("innodb_flush_method") == UNSYNCED_DATA and context.is_set("innodb_flush_method"):
        action = advise(context, "innodb_flush_method", "O_DIRECT", risk="more syncs")
        mount = context.host.storage.mount if context.has("host") and context.host.storage else None
        where = (
            f" {mount.point or 'The data'} is XFS, which needs these syncs." if mount and mount.fs_type == "xfs" else ""
        )
        corrected = not context.target.since("mysql", 8) and context.target.since("mysql", 5, 7, 25)
        yield data_files_without_sync.finding(
            "Data files are synced when they grow (since 5.7.25), but not after writes: a volatile disk cache can lose "
            "pages in a power failure."
            if corrected
            else "Data files are never synced, even when they grow: a power failure can lose pages that were "
            f"written.{where}",
            variable_subject(context, "innodb_flush_method"),
            severity=Severity.NOTE if corrected else None,
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "DUR005",
    "checksums-off",
    summary="Corruption of pages or of the binary log goes unnoticed.",
    options=("innodb_checksum_algorithm", "innodb_checksums", CHECKSUM),
    evidence=("ASK-12",),
    confidence=Confidence.LIKELY,
    docs=Docs(
        why="Without checksums a page that a disk or cable has damaged is treated as valid, copied to backups and "
        "returned to clients. CRC32 costs little on processors of the last ten years.",
        fix="Remove the line: the default computes checksums.",
        risk="None for the binary log. Pages written without a checksum get one when they are next written.",
        exceptions="Very old replicas that can't read binary logs with checksums. Members of a group before MySQL "
        "8.0.21, which cannot start group replication with them (GRP-07): there binlog_checksum is not reported.",
        reconsider_when="A measurement on this host in which checksums cost more than the damage that they find.",
    ),
)
def checksums_off(context: RuleContext) -> Iterator[Finding]:
    """Report disabled checksums of pages or of the binary log."""
    for name in ("innodb_checksum_algorithm", "innodb_checksums", CHECKSUM):
        value = context.text(name)
        off = value in HALF_CHECKED or (name == "innodb_checksums" and value == "OFF")
        needed = name == CHECKSUM and (_may_forbid_checksums(context) or uses_innodb_binary_log(context))
        if off and not needed and context.is_set(name):
            yield checksums_off.finding(
                f"With {name} = {value} damage goes unnoticed: no checksum is verified on reading.",
                variable_subject(context, name),
                help="remove the line: the default computes checksums",
            )


def _may_forbid_checksums(context: RuleContext) -> bool:
    """Whether the file names a group that needs the binary log without checksums.

    Its plugin may have been installed by INSTALL PLUGIN: lines with the prefix loose_ then name the group.
    """
    names = (written_name(line.placed.line).removeprefix("loose_") for line in context.file_verdict.lines)
    return (
        context.target.is_mysql
        and context.target.version < NEEDS_NONE_BEFORE
        and (context.is_set(GROUP) or GROUP in names)
    )


@rule(
    "DUR006",
    "file-system-without-barriers",
    confidence=Confidence.LIKELY,
    summary="The file system is mounted without write barriers, so a loss of power can reorder what was synced.",
    needs=("host",),
    evidence=("FSY-01", "FSY-04", "DUR-01"),
    probe="commit-latency",
    docs=Docs(
        why="Without barriers the disk may keep synced writes in its own cache and write them in another order. That "
        "is safe only where the cache survives a loss of power. The kernel shows whether a disk reports a volatile "
        "cache (write back in /sys/block/DISK/queue/write_cache); where all disks report none, the finding is a note.",
        fix="Remove nobarrier or barrier=0 in /etc/fstab, and remount with barrier: otherwise a remount keeps it.",
        risk="Syncs take as long as the disk really needs.",
        exceptions="Controllers with a battery, and drives with power-loss protection.",
        reconsider_when="Proof that every cache on the way to the disk survives a loss of power.",
    ),
)
def file_system_without_barriers(context: RuleContext) -> Iterator[Finding]:
    """Report mount options that disable write barriers."""
    storage = context.host.storage
    unsafe = sorted(UNSAFE_MOUNT.intersection(storage.mount.options)) if storage else []
    if storage and unsafe:
        volatile = [disk.name for disk in storage.disks if disk.write_cache == WRITE_BACK]
        safe = bool(storage.disks) and all(disk.write_cache == WRITE_THROUGH for disk in storage.disks)
        yield file_system_without_barriers.finding(
            f"{storage.mount.point} is mounted with {', '.join(unsafe)}; a loss of power may undo synced writes."
            + (f" {volatile[0]} has a volatile write cache." if volatile else ""),
            severity=Severity.NOTE if safe else None,
            help=f"unless each cache survives it: {kernel_place(context)}run "
            f"{remount_command(context, storage.mount, 'barrier')}, and remove {', '.join(unsafe)} in /etc/fstab",
        )


MODE = "sql_mode"
STRICT = frozenset({"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "TRADITIONAL"})


@rule(
    "DUR009",
    "lax-sql-mode",
    severity=Severity.NOTE,
    confidence=Confidence.CERTAIN,
    summary="Values that don't fit their column are truncated or changed instead of rejected.",
    options=(MODE,),
    evidence=("ASK-19",),
    docs=Docs(
        why="Without strict mode a string that is too long is truncated, a number out of range becomes the nearest "
        "limit and an invalid date becomes zeros. The statement succeeds, with a warning that few programs read. "
        "Strict mode is the default of every version that mycnf knows.",
        fix="Add STRICT_TRANS_TABLES, after testing the programs that write.",
        risk="Statements whose values were silently changed fail with an error.",
        exceptions="Old programs that rely on it; set the mode in their sessions alone where that is possible.",
        reconsider_when="A program that can't be changed.",
    ),
)
def lax_sql_mode(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured sql_mode without a strict mode."""
    value = context.text(MODE)
    if value is None or not context.is_set(MODE) or STRICT.intersection(value.replace(" ", "").split(",")):
        return
    yield lax_sql_mode.finding(
        "Strict mode is off: a value that does not fit its column is truncated or changed, with only a warning.",
        variable_subject(context, MODE),
        help="add STRICT_TRANS_TABLES, after testing the programs that write",
    )


KEPT = ("datadir", "log_bin", "relay_log", "innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory")
CLEANED = ("/tmp/", "/var/tmp/")  # noqa: S108 - the directories that the rule is about


@rule(
    "STO021",
    "data-in-temporary-directory",
    summary="Data or logs are in a directory for temporary files, which many systems clean.",
    options=KEPT,
    evidence=("STOV-01", "STOA-01"),
    docs=Docs(
        why="By default systemd-tmpfiles removes files of /tmp unused for 10 days, and of /var/tmp unused for 30, "
        "though not on Debian before 13. Many systems empty /tmp at each boot or keep it in memory. With PrivateTmp a "
        "service gets private directories instead, which are removed when it stops.",
        fix="Move the files to a directory such as /var/lib/mysql while the server is stopped, and write its path. The "
        "index of a binary or relay log names its files with their directory: correct it too.",
        risk="If the server starts with the new path before the files are moved, it has no data or does not start.",
        restart=True,
        exceptions="Test servers, whose data may be lost.",
        reconsider_when="A directory that the system's rules for temporary files exclude.",
    ),
)
def data_in_temporary_directory(context: RuleContext) -> Iterator[Finding]:
    """Report directories of data and logs below /tmp or /var/tmp."""
    for name in KEPT:
        line = context.file_verdict.effective.get(name)
        path = "" if line is None or line.placed.line.templated else line.placed.line.value or ""
        if root := next((root for root in CLEANED if f"{path}/".startswith(root)), None):
            yield data_in_temporary_directory.finding(
                f"{name} is in {root.rstrip('/')}: many systems remove unused files there after days, or all at boot.",
                variable_subject(context, name),
                help="move the files to a directory such as /var/lib/mysql while the server is stopped",
            )
            return
