"""STO: rules about the type of the file system that holds the data directory."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core.rule import Docs, rule
from rules.core.storage import DATA, TEMPORARY, is_solid_state, mount_under, server_directories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

IN_MEMORY = frozenset({"tmpfs", "ramfs"})
LAYERED = frozenset({"overlay", "aufs"})
NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "lustre", "beegfs", "gpfs"})
WITHOUT_JOURNAL = frozenset({"ext2", "vfat", "msdos", "exfat"})
IN_PLACE = frozenset({"nodatacow", "nocow"})
COPYING = frozenset({"btrfs", "bcachefs"})
GIVING_UP = frozenset({"soft", "softerr"})


@rule(
    "STO001",
    "data-in-memory",
    summary="The data directory or a log lies in memory: it is lost when the machine stops.",
    needs=("host",),
    evidence=("KRN-07",),
    docs=Docs(
        why="tmpfs and ramfs keep files in memory, and a disk of the kind zram or brd does so as well. Nothing of "
        "it survives a restart of the machine, whatever the server syncs, and the same memory can't hold pages of "
        "the pool. All data in memory is mostly meant so and noted only; a log in memory beside data on disk is "
        "worse: after a restart the data lacks it.",
        fix="Move the data directory, or the log, to a disk.",
        risk="Writes take the time of a disk.",
        restart=True,
        exceptions="Servers whose data is thrown away after each run, for tests.",
        reconsider_when="Nothing, for data that is to be kept.",
    ),
)
def data_in_memory(context: RuleContext) -> Iterator[Finding]:
    """Report memory-backed file systems and disks that hold data or logs, not only temporary files."""
    for storage, what in server_directories(context.host):
        disks = [disk.name for disk in storage.disks if disk.transport == "memory"]
        if what != TEMPORARY and (disks or storage.mount.fs_type in IN_MEMORY):
            kind = disks[0] if disks else storage.mount.fs_type
            yield data_in_memory.finding(
                f"{storage.mount.point}, the place of {what}, is memory ({kind}): all there is lost when the machine "
                "stops.",
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
        why="What a container writes outside its volumes lies in a layer that is removed with it, at the next "
        "update of the image for instance. Docker's documentation advises volumes for databases, for writing to the "
        "layer is slower too: a file of the image is copied whole before its first change.",
        fix="Give the container a volume for the data directory, and copy the data into it first.",
        risk="The server stands still while its data is copied.",
        restart=True,
        exceptions="Servers whose data is thrown away with their container.",
        reconsider_when="Nothing, for data that is to be kept.",
    ),
)
def data_in_container_layer(context: RuleContext) -> Iterator[Finding]:
    """Report a data directory on a union file system, such as a container's writable layer."""
    mount = mount_under(context)
    if mount is not None and mount.fs_type in LAYERED:
        yield data_in_container_layer.finding(
            f"The data directory lies on {mount.fs_type} at {mount.point}: it is removed with its container.",
            help="give the container a volume for the data directory",
        )


@rule(
    "STO003",
    "data-on-network-file-system",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The data directory lies on a network file system, or on one that a program of its own serves.",
    needs=("host",),
    evidence=("KRN-08",),
    docs=Docs(
        why="Each write and each sync goes to another machine, or through another process, and what a sync promises "
        "is for that one to keep. An NFS mount with soft gives up after some tries and reports an error for a write "
        "that may have happened: its manual warns of silent corruption.",
        fix="Use a local disk or a block device of the network. Where it must be NFS: hard, version 4, sync on the "
        "server, and one server only that opens the data.",
        risk="Moving the data takes the server down.",
        restart=True,
        exceptions="Storage that its maker supports for databases, mounted as the maker says.",
        reconsider_when="A pull of the network cable after which the data was whole.",
    ),
)
def data_on_network_file_system(context: RuleContext) -> Iterator[Finding]:
    """Report a data directory on a network file system or a FUSE file system."""
    mount = mount_under(context)
    if mount is None or not (mount.fs_type in NETWORK or mount.fs_type.startswith("fuse.")):
        return
    soft = GIVING_UP.intersection(mount.options)
    tail = " with soft, which reports writes as failed that may have happened" if soft else ""
    yield data_on_network_file_system.finding(
        f"The data directory lies on {mount.fs_type} at {mount.point}{tail}.",
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
        why="InnoDB recovers what is in its files; it can't recover a file whose name or length the file system has "
        "lost. Without a journal the whole file system is checked after a crash, which takes long, and files may "
        "end up in lost+found.",
        fix="Move the data to ext4 or XFS.",
        risk="Moving the data takes the server down.",
        restart=True,
        exceptions="Data that is thrown away after each run.",
        reconsider_when="Nothing, for data that is to be kept.",
    ),
)
def file_system_without_journal(context: RuleContext) -> Iterator[Finding]:
    """Report a file system type without a journal."""
    mount = mount_under(context)
    if mount is not None and mount.fs_type in WITHOUT_JOURNAL:
        yield file_system_without_journal.finding(
            f"The data lies on {mount.fs_type} at {mount.point}, which has no journal and may lose files in a crash.",
            help="move the data to ext4 or XFS",
        )


@rule(
    "STO013",
    "copy-on-write-data",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The file system writes each changed page to a new place, so tablespaces fall into pieces.",
    needs=("host",),
    evidence=("DOC-02",),
    docs=Docs(
        why="A copy-on-write file system never writes in place. InnoDB changes pages at random, so a tablespace "
        "soon consists of many small pieces with metadata for each. The documentation of btrfs names rewriting in "
        "place as what fragments it, and says that disks with seeks suffer most.",
        fix="On btrfs, before data is loaded: chattr +C on the empty data directory, or mount with nodatacow. That "
        "switches the file system's checksums off for these files; InnoDB has its own. Or use ext4 or XFS.",
        risk="Without copy-on-write snapshots still work, and copy each page that changes after them once.",
        restart=True,
        exceptions="Directories that have the attribute C already, which a mount doesn't show (lsattr -d).",
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
            f"The data lies on {mount.fs_type} at {mount.point}, which writes each changed page to a new place.",
            confidence=Confidence.OPINION if is_solid_state(context) else None,
            help="set the attribute C on the directory before data is loaded (chattr +C), or use ext4 or XFS",
        )
