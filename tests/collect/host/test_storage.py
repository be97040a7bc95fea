"""Which mount holds a path, and the way from there down; the kernel itself is the judge where it can be."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from advisor.collect.host.devices import read_devices
from advisor.collect.host.host import read_host
from advisor.collect.host.root import LiveRoot
from advisor.collect.host.storage import mount_of, read_mounts, trace_storage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from advisor.collect.host.root import Root
    from advisor.facts.storage import Storage

SDA = {
    "/sys/block/sda/dev": "8:0",
    "/sys/block/sda/size": "4096",
    "/sys/block/sda/sda1/dev": "8:1",
    "/sys/block/sda/sda1/size": "2048",
    "/sys/block/sda/sda1/start": "1024",
    "/sys/block/sdb/dev": "8:16",
    "/sys/block/sdb/size": "4096",
}


def traced(root: Root, path: str) -> Storage | None:
    return trace_storage(root, path, read_devices(root))


def names(storage: Storage) -> list[str]:
    return [device.name for device in storage.devices]


def number(device: int) -> str:
    return f"{os.major(device)}:{os.minor(device)}"


def test_every_mount_of_this_machine_is_found_again() -> None:
    """For each mount point the mount that is found has the number of the device that stat() gives."""
    mounts = read_mounts(LiveRoot())
    assert mounts
    for mount in {entry.mount for entry in mounts}:
        # A subvolume has a number of its own, and stat() on an automount point would mount it.
        if mount.fs_type not in ("btrfs", "autofs") and os.access(mount.point, os.X_OK):
            assert mount_of(mounts, mount.point).number == number(os.stat(mount.point).st_dev), mount.point


NOT_ALLOWED = ("Operation not permitted", "ermission denied", "must be superuser")  # of unshare, mount, BusyBox's mount
STACK = """
set -e
mkdir -p {0}/a {0}/plain
mount -t tmpfs -o size=64k outer {0}/a
mkdir {0}/a/inner {0}/a/sub
mount -t tmpfs -o size=64k inner {0}/a/inner
mount --bind {0}/a/sub {0}/plain
mount -t tmpfs -o size=64k over {0}/a
mkdir {0}/a/inner '{0}/a/with blank'
mount -t tmpfs -o size=64k blank '{0}/a/with blank'
cat /proc/self/mountinfo
echo ----
for p in {0} {0}/a {0}/a/inner {0}/plain '{0}/a/with blank'; do stat -c '%d %n' "$p"; done
"""


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root and unshare")
def test_stacked_hidden_and_bind_mounts_are_told_apart(tmp_path: Path, tree: Callable[[dict[str, str]], Root]) -> None:
    """In a real mount namespace: a mount over a mount hides what is in it, a bind mount has its source's device."""
    scratch = tmp_path / "scratch"
    command = ["unshare", "-m", "sh", "-c", STACK.format(scratch)]
    english = {**os.environ, "LC_ALL": "C"}
    out = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env=english)
    if any(words in out.stderr for words in NOT_ALLOWED):
        pytest.skip(f"mounting isn't allowed here: {out.stderr.strip()}")
    assert out.returncode == 0, out.stderr
    table, asked = out.stdout.split("----\n")
    mounts = read_mounts(tree({"/proc/self/mountinfo": table}))
    for line in asked.splitlines():
        device, path = line.split(" ", 1)
        assert mount_of(mounts, path).number == number(int(device)), path
    assert mount_of(mounts, f"{scratch}/plain/x").root == "/sub"


def test_path_on_a_partition_goes_down_to_its_disk(tree: Callable[[dict[str, str]], Root]) -> None:
    """The longest way: a link to another directory, its mount, the partition, the disk; all options are kept."""
    mount = "1 0 8:16 / / rw - ext4 /dev/sdb rw\n2 1 8:1 / /srv rw,noatime shared:1 - xfs /dev/sda1 rw,attr2,inode64\n"
    root = tree({**SDA, "/proc/self/mountinfo": mount, "/srv/db/": "", "/var/lib/mysql": "-> /srv/db"})
    storage = traced(root, "/var/lib/mysql")
    assert (storage.path, storage.mount.point, names(storage)) == ("/srv/db", "/srv", ["sda1", "sda"])
    assert storage.mount.options == ("rw", "noatime", "attr2", "inode64")
    assert storage.untraced is None


def test_process_sees_its_own_mounts(tree: Callable[[dict[str, str]], Root]) -> None:
    """A server in a mount namespace of its own has its data where its own table says, not ours."""
    root = tree(
        {
            **SDA,
            "/proc/self/mountinfo": "1 0 8:16 / / rw - ext4 /dev/sdb rw\n",
            "/proc/7/mountinfo": "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n",
        }
    )
    devices = read_devices(root)
    assert names(trace_storage(root, "/data", devices)) == ["sdb"]
    assert names(trace_storage(root, "/data", devices, 7)) == ["sda1", "sda"]


def test_place_of_a_service_is_named_as_the_host_has_it(tree: Callable[[dict[str, str]], Root]) -> None:
    """A part that systemd binds for a service is no mount of /etc/fstab; its options are the service's own."""
    bound = "2 1 8:1 /tmp/systemd-private-ab/tmp /tmp rw,noatime - ext4 /dev/sda1 rw\n"
    bound += "3 1 8:1 /srv/db /srv/db rw - ext4 /dev/sda1 rw\n4 1 0:50 / /run rw - tmpfs tmpfs rw\n"
    top = "1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
    root = tree({**SDA, "/proc/self/mountinfo": top, "/proc/7/mountinfo": top + bound})
    devices = read_devices(root)
    mount = trace_storage(root, "/tmp", devices, 7).mount
    assert (mount.point, mount.root, "noatime" in mount.options) == ("/", "/", True)
    assert trace_storage(root, "/run/x", devices, 7).mount.point == "/run"
    directories = {"tmpdir": "/tmp", "innodb_undo_directory": "/run/undo"}
    host = read_host(root, 7, "/srv/db", directories)
    assert host.storage.mount.point == "/"
    assert [place.variable for place in host.places] == ["innodb_undo_directory"]


BOUND = """
set -e
mkdir -p {0}/private {0}/place
mount --bind {0}/private {0}/place
echo bound
cat
"""


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root and unshare")
def test_mount_of_a_real_service_is_one_that_this_process_has(tmp_path: Path) -> None:
    """What a process has bound for itself alone cannot be mounted again under that name by any other."""
    command = ["unshare", "-m", "sh", "-c", BOUND.format(tmp_path)]
    english, pipe = {**os.environ, "LC_ALL": "C"}, subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=english) as child:
        if child.stdout.readline() != "bound\n":
            _, said = child.communicate()
            assert any(words in said for words in NOT_ALLOWED), said
            pytest.skip(f"mounting isn't allowed here: {said.strip()}")
        root, place = LiveRoot(), f"{tmp_path}/place"
        inside = mount_of(read_mounts(root, child.pid), place)
        mount = trace_storage(root, place, read_devices(root), child.pid).mount
        child.stdin.close()
    assert inside.point == place
    assert mount == mount_of(read_mounts(root), place)


def test_subvolume_is_followed_to_all_devices_of_its_btrfs(tree: Callable[[dict[str, str]], Root]) -> None:
    """A btrfs subvolume hides its device's number; the source names one device, and /sys/fs/btrfs the others."""
    root = tree(
        {
            **SDA,
            "/proc/self/mountinfo": "1 0 0:33 /@data /data rw - btrfs /dev/sda1 rw,subvol=/@data\n",
            "/sys/fs/btrfs/5e1f/devices/sda1": "-> ../../../../block/sda/sda1",
            "/sys/fs/btrfs/5e1f/devices/sdb": "-> ../../../../block/sdb",
            "/sys/fs/btrfs/features/": "",
        }
    )
    storage = traced(root, "/data/mysql")
    assert (names(storage), storage.mount.root) == (["sda1", "sdb", "sda"], "/@data")


def test_source_may_be_a_link_or_a_mapped_name(tree: Callable[[dict[str, str]], Root]) -> None:
    """/dev/disk/by-uuid/… is followed, and /dev/mapper/NAME is the dm device of that name."""
    files = {**SDA, "/dev/sdb": "", "/dev/disk/by-uuid/12": "-> ../../sdb", "/proc/self/mountinfo": ""}
    files |= {"/sys/block/dm-0/dev": "253:0", "/sys/block/dm-0/size": "8", "/sys/block/dm-0/dm/name": "vg-data"}
    root = tree(files)
    for source, name in (("/dev/disk/by-uuid/12", "sdb"), ("/dev/mapper/vg-data", "vg-data")):
        tree({"/proc/self/mountinfo": f"1 0 0:40 / / rw - btrfs {source} rw\n"})
        assert names(traced(root, "/")) == [name]


@pytest.mark.parametrize(
    ("fs_type", "source", "reason"),
    [
        ("overlay", "overlay", "overlay"),
        ("tmpfs", "tmpfs", "memory"),
        ("zfs", "tank/mysql", "ZFS"),
        ("nfs4", "filer:/export", "network"),
        ("ext4", "/dev/sdz9", "/dev/sdz9"),
    ],
)
def test_way_that_ends_early_says_why(
    tree: Callable[[dict[str, str]], Root], fs_type: str, source: str, reason: str
) -> None:
    """Where a mount has no device here, there are none and the reason is reported."""
    root = tree({**SDA, "/proc/self/mountinfo": f"1 0 0:40 / / rw - {fs_type} {source} rw\n"})
    storage = traced(root, "/var/lib/mysql")
    assert storage.devices == ()
    assert reason in storage.untraced


def test_devices_that_stand_on_each_other_end(tree: Callable[[dict[str, str]], Root]) -> None:
    """A tree that bites its tail, and a device that stands on an unknown one, neither hang nor fail."""
    files = {"/sys/block/dm-0/dev": "253:0", "/sys/block/dm-0/size": "8", "/sys/block/dm-0/slaves/dm-1": ""}
    files |= {"/sys/block/dm-1/dev": "253:1", "/sys/block/dm-1/size": "8", "/sys/block/dm-1/slaves/dm-0": ""}
    files |= {"/sys/block/dm-1/slaves/sdx": "", "/proc/self/mountinfo": "1 0 253:0 / / rw - xfs /dev/dm-0 rw\n"}
    storage = traced(tree(files), "/")
    assert names(storage) == ["dm-0", "dm-1"]
    assert "sdx" in storage.untraced


def test_path_without_a_mount_is_nowhere(tree: Callable[[dict[str, str]], Root]) -> None:
    """Without a table of mounts there is nothing to follow."""
    assert traced(tree(SDA), "/data") is None


def test_space_is_what_the_kernel_reports() -> None:
    """A live file system's space is that of statvfs, and unknown where it is on another machine."""
    root = LiveRoot()
    space = traced(root, "/").space
    usage = os.statvfs("/")
    assert (space.size, space.files) == (usage.f_blocks * usage.f_frsize, usage.f_files)
    assert 0 <= space.free <= space.size
    assert root.space("/no such place") is None


def test_network_file_systems_are_not_asked_for_room(
    tree: Callable[[dict[str, str]], Root], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system whose server is gone answers never, so it isn't asked."""
    root = tree({"/proc/self/mountinfo": "1 0 0:50 / / rw,hard - nfs4 box:/data rw\n", "/data/": ""})
    asked: list[str] = []
    monkeypatch.setattr(root, "space", asked.append)
    assert traced(root, "/data").space is None
    assert asked == []


def test_errors_that_ext4_counts(tree: Callable[[dict[str, str]], Root]) -> None:
    """The count is that of the device that is mounted."""
    mount = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
    files = {**SDA, "/proc/self/mountinfo": mount, "/data/": "", "/sys/fs/ext4/sda1/errors_count": "3\n"}
    assert traced(tree(files), "/data").errors == 3
