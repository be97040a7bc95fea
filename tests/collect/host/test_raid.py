"""Arrays and stripes.

None of the recorded machines has an md array. These trees are written by hand from the kernel's
Documentation/admin-guide/md.rst (level, chunk_size, raid_disks, layout, array_state) and
Documentation/ABI/stable/sysfs-block (minimum_io_size is the chunk of a striped array, optimal_io_size its stripe).
Where `lsblk` is installed, it reads the same trees.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from advisor.collect.host.devices import data_disks, read_devices
from advisor.collect.host.storage import trace_storage
from advisor.facts.storage import Raid

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from advisor.collect.host.root import Root
    from advisor.facts.storage import Storage


K = 1 << 10
SECTORS = 1 << 21


def device(name: str, number: str, **files: object) -> dict[str, str]:
    """A device where the kernel has it, with its links in /sys/block and /sys/dev/block."""
    base = f"/sys/devices/virtual/block/{name}"
    made = {
        f"{base}/dev": f"{number}\n",
        f"{base}/size": f"{SECTORS}\n",
        f"{base}/queue/scheduler": "[none] mq-deadline\n",
    }
    made[f"/sys/block/{name}"] = f"-> ../devices/virtual/block/{name}"
    made[f"/sys/dev/block/{number}"] = f"-> ../../devices/virtual/block/{name}"
    return made | {f"{base}/{file.replace('__', '/')}": f"{value}\n" for file, value in files.items()}


def standing_on(name: str, *under: str) -> dict[str, str]:
    """The links between a device and those that it is built from, both ways."""
    base = "/sys/devices/virtual/block"
    return {f"{base}/{name}/slaves/{other}": f"-> ../../{other}" for other in under} | {
        f"{base}/{other}/holders/{name}": f"-> ../../{name}" for other in under
    }


def array(level: str, disks: int, chunk: int, layout: int = 0, optimal: int = 0) -> dict[str, str]:
    """/dev/md0 over whole disks sda, sdb, …, with a file system on it that is mounted at /data."""
    names = [f"sd{chr(ord('a') + n)}" for n in range(disks)]
    files = {"/proc/self/mountinfo": "1 0 9:0 / /data rw,noatime shared:1 - xfs /dev/md0 rw,sunit=1024\n"}
    for n, name in enumerate(names):
        files |= device(name, f"8:{n * 16}", queue__rotational=1, device__type=0)
    files |= device(
        "md0",
        "9:0",
        md__level=level,
        md__raid_disks=disks,
        md__chunk_size=chunk,
        md__layout=layout,
        md__array_state="clean",
        md__degraded=0,
        queue__minimum_io_size=chunk or 512,
        queue__optimal_io_size=optimal,
    )
    return files | standing_on("md0", *names)


def traced(root: Root, path: str = "/data/mysql") -> Storage:
    storage = trace_storage(root, path, read_devices(root))
    assert storage
    return storage


def test_raid10_is_followed_to_its_disks(tree: Callable[[dict[str, str]], Root]) -> None:
    """A mount on an array shows the array's level, chunk and state, then its disks, and the stripe of half of them."""
    storage = traced(tree(array("raid10", 8, 512 * K, 0x102, 2048 * K)))
    top = storage.devices[0]
    assert (top.type, top.raid) == ("raid10", Raid("raid10", 8, 512 * K, 0x102, "clean", 0))
    assert [disk.name for disk in storage.disks] == [f"sd{c}" for c in "abcdefgh"]
    stripe = storage.stripe
    assert (stripe.size, stripe.chunk, stripe.data_disks, stripe.source) == (2048 * K, 512 * K, 4, "md")
    assert stripe.offset == 0


@pytest.mark.parametrize(
    ("level", "disks", "layout", "expected"),
    [
        ("raid0", 4, 0, 4),
        ("raid4", 4, 0, 3),
        ("raid5", 4, 2, 3),
        ("raid6", 6, 2, 4),
        ("raid10", 4, 0x102, 2),  # two near copies
        ("raid10", 4, 0x201, 4),  # two far copies: data is striped over all disks
        ("raid10", 3, 0x102, 3),  # the disks are no multiple of the copies
        ("raid10", 2, 0x102, None),  # a mirror by another name
        ("raid1", 2, 0, None),
        ("linear", 3, 0, None),
        ("container", 3, 0, None),
        ("raid5", 2, 2, None),
    ],
)
def test_data_disks_of_a_stripe(level: str, disks: int, layout: int, expected: int | None) -> None:
    """Parity and near copies don't hold data of their own; levels that don't stripe have no data disks to count."""
    assert data_disks(Raid(level, disks, 64 * K, layout)) == expected


def test_array_being_reshaped_counts_its_new_disks(tree: Callable[[dict[str, str]], Root]) -> None:
    """While disks are added, the kernel writes the new number and the old one in brackets."""
    files = array("raid5", 5, 64 * K)
    files["/sys/devices/virtual/block/md0/md/raid_disks"] = "5 (4)\n"
    assert traced(tree(files)).stripe.data_disks == 4


def test_mirror_has_no_stripe(tree: Callable[[dict[str, str]], Root]) -> None:
    """RAID 1 has no chunk and stripes nothing."""
    storage = traced(tree(array("raid1", 2, 0)))
    assert (storage.devices[0].type, storage.stripe) == ("raid1", None)


def test_partition_of_an_array_is_held_against_the_stripe(tree: Callable[[dict[str, str]], Root]) -> None:
    """A partition that begins amid a stripe shows where: 1 MiB into a stripe of 1.5 MiB."""
    files = array("raid5", 4, 512 * K)
    base = "/sys/devices/virtual/block/md0/md0p1"
    files |= {f"{base}/dev": "259:0\n", f"{base}/size": "4096\n", f"{base}/start": "2048\n", f"{base}/partition": "1\n"}
    files["/proc/self/mountinfo"] = "1 0 259:0 / /data rw - ext4 /dev/md0p1 rw\n"
    storage = traced(tree(files))
    assert [d.name for d in storage.devices][:2] == ["md0p1", "md0"]
    assert (storage.stripe.size, storage.stripe.offset) == (1536 * K, 1024 * K)


def test_volume_on_an_array_has_its_stripe_with_unknown_offset(tree: Callable[[dict[str, str]], Root]) -> None:
    """Where LVM's data begins is unknown, so alignment is unknown too; the array's stripe is known all the same."""
    files = array("raid5", 4, 512 * K, optimal=1536 * K)
    queue = {"queue__minimum_io_size": 512 * K, "queue__optimal_io_size": 1536 * K}
    files |= device("dm-0", "253:0", dm__name="vg0-mysql", dm__uuid="LVM-x", **queue) | standing_on("dm-0", "md0")
    files["/proc/self/mountinfo"] = "1 0 253:0 / /data rw - xfs /dev/mapper/vg0-mysql rw\n"
    storage = traced(tree(files))
    assert [d.name for d in storage.devices] == ["vg0-mysql", "md0", "sda", "sdb", "sdc", "sdd"]
    assert (storage.stripe.device, storage.stripe.size, storage.stripe.offset) == ("md0", 1536 * K, None)


def one_disk(name: str, minimum: int, optimal: int, path: str) -> dict[str, str]:
    """A mounted disk with the request sizes that it names."""
    files = {f"/sys/devices/{path}/{file}": text for file, text in (("dev", "8:0\n"), ("size", "9999\n"))}
    files |= {f"/sys/devices/{path}/queue/minimum_io_size": f"{minimum}\n"}
    files |= {f"/sys/devices/{path}/queue/optimal_io_size": f"{optimal}\n"}
    files |= {f"/sys/devices/{path}/queue/physical_block_size": "512\n"}
    mount = f"1 0 8:0 / / rw - ext4 /dev/{name} rw\n"
    return {**files, f"/sys/block/{name}": f"-> ../devices/{path}", "/proc/self/mountinfo": mount}


def test_hardware_raid_hints_at_its_stripe(tree: Callable[[dict[str, str]], Root]) -> None:
    """A controller's volume names its chunk as the least and its stripe as the best request."""
    stripe = traced(tree(one_disk("sda", 64 * K, 256 * K, "pci/host0/target0:2:0/0:2:0:0/block/sda"))).stripe
    assert (stripe.size, stripe.chunk, stripe.data_disks, stripe.source) == (256 * K, 64 * K, 4, "queue")


def test_hint_without_a_chunk_says_only_the_stripe(tree: Callable[[dict[str, str]], Root]) -> None:
    """A least request of one sector is no chunk."""
    stripe = traced(tree(one_disk("sda", 512, 256 * K, "pci/host0/target0:2:0/0:2:0:0/block/sda"))).stripe
    assert (stripe.size, stripe.chunk, stripe.data_disks) == (256 * K, None, None)


@pytest.mark.parametrize(
    ("name", "minimum", "optimal", "path"),
    [
        ("nvme0n1", 4096, 128 * K, "pci/nvme/nvme0/nvme0n1"),
        ("sda", 512, 33553920, "pci/usb1/1-1/host6/target6:0:0/6:0:0:0/block/sda"),
        ("sda", 4096, 16773120, "pci/ata1/host0/target0:0:0/0:0:0:0/block/sda"),
        ("sda", 512, 0, "pci/host0/target0:2:0/0:2:0:0/block/sda"),
        ("sda", 512, 33553920, "pci/host0/target0:2:0/0:2:0:0/block/sda"),
    ],
)
def test_single_disk_has_no_stripe(
    tree: Callable[[dict[str, str]], Root], name: str, minimum: int, optimal: int, path: str
) -> None:
    """Flash, USB bridges and SATA disks name request sizes that mean no stripe, and so does 65,535 sectors."""
    assert traced(tree(one_disk(name, minimum, optimal, path))).stripe is None


def test_striped_volume_hints_by_differing_from_its_disks(tree: Callable[[dict[str, str]], Root]) -> None:
    """LVM striping shows as request sizes that its disks don't have; a linear volume passes on its disk's."""
    disks = device("nvme0n1", "259:0") | device("nvme1n1", "259:1")
    for name in ("nvme0n1", "nvme1n1"):
        base = f"/sys/devices/virtual/block/{name}/queue"
        disks |= {f"{base}/minimum_io_size": "4096\n", f"{base}/optimal_io_size": f"{128 * K}\n"}
    queue = {"queue__minimum_io_size": 64 * K, "queue__optimal_io_size": 128 * K}
    files = {**disks, **device("dm-0", "253:0", dm__uuid="LVM-x", **queue), **standing_on("dm-0", "nvme0n1", "nvme1n1")}
    mount = {"/proc/self/mountinfo": "1 0 253:0 / / rw - xfs /dev/dm-0 rw\n"}
    striped = traced(tree({**files, **mount})).stripe
    assert (striped.device, striped.size, striped.chunk, striped.data_disks) == ("dm-0", 128 * K, 64 * K, 2)
    linear = {"/sys/devices/virtual/block/dm-0/queue/minimum_io_size": "4096\n"}
    assert traced(tree(linear)).stripe is None


@pytest.mark.skipif(not shutil.which("lsblk"), reason="lsblk is not installed")
def test_lsblk_reads_the_same_array(tree: Callable[[dict[str, str]], Root], tmp_path: Path) -> None:
    """Names, types, sizes, request sizes and branches of the hand-made tree are those that lsblk prints."""
    devices = read_devices(tree(array("raid5", 4, 512 * K, optimal=1536 * K)))
    command = ["lsblk", "--sysroot", str(tmp_path), "-J", "-b", "-o", "KNAME,TYPE,SIZE,PKNAME,OPT-IO,SCHED"]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    columns = ("kname", "type", "size", "pkname", "opt-io", "sched")
    theirs = {tuple(row[column] for column in columns) for row in json.loads(out.stdout)["blockdevices"]}
    ours = {
        (d.kernel_name, d.type, d.size, under, d.optimal_io, d.scheduler)
        for d in devices
        for under in d.under or (None,)
    }
    assert ours == theirs
