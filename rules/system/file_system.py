"""STO: rules about the type of the file system that holds the data directory."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core import Docs, rule
from rules.core.storage import DATA, TEMPORARY, is_solid_state, mount_under, server_directories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

IN_MEMORY = frozenset({"tmpfs", "ramfs"})
LAYERED = frozenset({"overlay", "aufs", "fuse.fuse-overlayfs"})
NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "lustre", "beegfs", "gpfs"})
WITHOUT_JOURNAL = frozenset({"ext2", "vfat", "msdos", "exfat"})
IN_PLACE = frozenset({"nodatacow", "nocow"})
COPYING = frozenset({"btrfs", "bcachefs"})
GIVING_UP = frozenset({"soft", "softerr"})


@rule(
    "STO001",
    "data-in-memory",
    summary="The data directory or a log is in memory: it is lost when the machine stops.",
    needs=("host",),
    evidence=("KRN-07",),
    docs=Docs(
        why="tmpfs and ramfs keep files in memory, and a disk of the kind zram or brd does so as well. Nothing there "
        "survives a restart of the machine, whatever the server syncs, a container's tmpfs not even the end of the "
        "container, and the same memory cannot hold pages of the pool. Having all data in memory is usually intended, "
        "and is only a note; a log in memory with the data on disk is worse: after a restart the log is missing.",
        fix="Move the data directory, or the log, to a disk.",
        risk="Writes take the time of a disk.",
        restart=True,
        exceptions="Test servers whose data is discarded after each run.",
        reconsider_when="Nothing, for data that must be kept.",
    ),
)
def data_in_memory(context: RuleContext) -> Iterator[Finding]:
    """Report memory-backed file systems and disks that hold data or logs, not only temporary files."""
    for storage, what in server_directories(context.host):
        disks = [disk.name for disk in storage.disks if disk.transport == "memory"]
        if what != TEMPORARY and (disks or storage.mount.fs_type in IN_MEMORY):
            kind = disks[0] if disks else storage.mount.fs_type
            yield data_in_memory.finding(
                f"{storage.mount.point}, which holds {what}, is in memory ({kind}): everything there is lost when the "
                "machine stops.",
                severity=Severity.NOTE if what == DATA else None,
                help="move it to a disk",
            )


@rule(
    "STO002",
    "data-in-container-layer",
    severity=Severity.NOTE,
    summary="The data directory is in a container's writable layer and is lost with the container.",
    needs=("host",),
    evidence=("DOC-01",),
    docs=Docs(
        why="What a container writes outside its volumes is in a layer that is removed with it, for instance at the "
        "next update of the image. Docker's documentation recommends volumes for databases, because writing to the "
        "layer is also slower: a file of the image is copied completely before its first change.",
        fix="Give the container a volume for the data directory, and copy the data into it first.",
        risk="The server is down while its data is copied.",
        restart=True,
        exceptions="Servers whose data is discarded with their container.",
        reconsider_when="Nothing, for data that must be kept.",
    ),
)
def data_in_container_layer(context: RuleContext) -> Iterator[Finding]:
    """Report a data directory on a union file system, such as a container's writable layer."""
    mount = mount_under(context)
    if mount is not None and mount.fs_type in LAYERED:
        yield data_in_container_layer.finding(
            f"The data directory is on {mount.fs_type} at {mount.point}: a container's own layer is removed with "
            "the container.",
            help="give the container a volume for the data directory",
        )


@rule(
    "STO003",
    "data-on-network-file-system",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The data directory is on a network file system or on a user-space (FUSE) file system.",
    needs=("host",),
    evidence=("KRN-08",),
    docs=Docs(
        why="Each write and each sync goes to another machine, or through another process, and a sync is only as "
        "reliable as that machine or process. An NFS mount with soft gives up after some tries and reports an error "
        "for a write that may have happened: its manual warns about silent corruption.",
        fix="Use a local disk or a network block device. If it must be NFS: mount with hard and version 4, use sync on "
        "the NFS server, and let only one server open the data.",
        risk="Moving the data takes the server down.",
        restart=True,
        exceptions="Storage that its vendor supports for databases, mounted as the vendor recommends.",
        reconsider_when="A test in which the data was intact after the network cable was pulled.",
    ),
)
def data_on_network_file_system(context: RuleContext) -> Iterator[Finding]:
    """Report a data directory on a network file system or a FUSE file system."""
    mount = mount_under(context)
    if mount is None or mount.fs_type in LAYERED or not (mount.fs_type in NETWORK or mount.fs_type.startswith("fuse.")):
        return
    soft = GIVING_UP.intersection(mount.options)
    tail = " with soft, which reports writes as failed that may have happened" if soft else ""
    yield data_on_network_file_system.finding(
        f"The data directory is on {mount.fs_type} at {mount.point}{tail}.",
        severity=Severity.WARNING if soft else None,
        help="mount it with hard" if soft else "prefer a local disk or a block device",
    )


@rule(
    "STO004",
    "file-system-without-journal",
    confidence=Confidence.LIKELY,
    summary="The file system has no journal, so a crash of the system can damage its directories and files.",
    needs=("host",),
    evidence=("KRN-09",),
    docs=Docs(
        why="InnoDB recovers what is in its files, but not a file whose name or length the file system has lost. "
        "Without a journal the whole file system is checked after a crash, which takes long, and files may end up in "
        "lost+found.",
        fix="Move the data to ext4 or XFS.",
        risk="Moving the data takes the server down.",
        restart=True,
        exceptions="Data that is discarded after each run.",
        reconsider_when="Nothing, for data that must be kept.",
    ),
)
def file_system_without_journal(context: RuleContext) -> Iterator[Finding]:
    """Report a file system type without a journal."""
    mount = mount_under(context)
    if mount is not None and mount.fs_type in WITHOUT_JOURNAL:
        yield file_system_without_journal.finding(
            f"The data is on {mount.fs_type} at {mount.point}, which has no journal and may lose files in a crash.",
            help="move the data to ext4 or XFS",
        )


@rule(
    "STO013",
    "copy-on-write-data",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The file system writes each changed page to a new place, so tablespaces become fragmented.",
    needs=("host",),
    evidence=("DOC-02",),
    docs=Docs(
        why="A copy-on-write file system never writes in place. InnoDB changes pages at random, so a tablespace soon "
        "consists of many small pieces with metadata for each. The documentation of btrfs names in-place updates as "
        "the cause of fragmentation, and says that spinning disks suffer most.",
        fix="On btrfs, before data is loaded: chattr +C on the empty data directory, or mount with nodatacow. That "
        "switches the file system's checksums off for these files; InnoDB has its own. Or use ext4 or XFS.",
        risk="Without copy-on-write, snapshots still work, and copy each page once when it changes after a snapshot. "
        "If btrfs itself mirrors the data, it cannot tell which of two differing copies is right.",
        restart=True,
        exceptions="Directories that already have the attribute C, which the mount options do not show (lsattr -d).",
        reconsider_when="A write-heavy run on this host that is no slower than on ext4 or XFS.",
        disagree="The same page calls fragments no problem on disks without seeks, where the metadata is what they "
        "cost.",
    ),
)
def copy_on_write_data(context: RuleContext) -> Iterator[Finding]:
    """Report a copy-on-write file system that is not configured to write in place."""
    mount = mount_under(context)
    if mount is not None and mount.fs_type in COPYING and not IN_PLACE.intersection(mount.options):
        yield copy_on_write_data.finding(
            f"The data is on {mount.fs_type} at {mount.point}, which writes each changed page to a new place.",
            confidence=Confidence.OPINION if is_solid_state(context) else None,
            help="set the attribute C on the directory before data is loaded (chattr +C), or use ext4 or XFS",
        )
