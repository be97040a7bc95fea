"""Block devices, with `lsblk` as the judge."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from advisor.collect.host.archive import open_tar
from advisor.collect.host.devices import read_devices
from advisor.collect.host.root import LiveRoot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from advisor.collect.host.root import Root
    from advisor.facts.storage import BlockDevice

UNITS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
OURS: dict[str, Callable[[BlockDevice], object]] = {
    "KNAME": lambda d: d.kernel_name,
    "MAJ:MIN": lambda d: d.number,
    "TYPE": lambda d: d.type,
    "RO": lambda d: int(d.read_only),
    "ROTA": lambda d: int(d.rotational),
    "SCHED": lambda d: d.scheduler or "",
    "RQ-SIZE": lambda d: d.requests,
    "RA": lambda d: d.read_ahead >> 10,
    "ALIGNMENT": lambda d: d.alignment_offset,
    "MIN-IO": lambda d: d.minimum_io,
    "OPT-IO": lambda d: d.optimal_io,
    "PHY-SEC": lambda d: d.physical_sector,
    "LOG-SEC": lambda d: d.logical_sector,
}
SIZES: dict[str, Callable[[BlockDevice], int | None]] = {
    "SIZE": lambda d: d.size,
    "DISC-GRAN": lambda d: d.discard_granularity,
    "DISC-MAX": lambda d: d.discard_max,
}
Rows = list[dict[str, str]]


def columns(text: str) -> Rows:
    """lsblk's table by its headings: the blanks that stand one below the other in all lines part the columns."""
    lines = text.rstrip("\n").split("\n")
    width = max(map(len, lines))
    padded = [line.ljust(width) for line in lines]
    filled = "".join(" " if all(line[i] == " " for line in padded) else "x" for i in range(width))
    spans = [found.span() for found in re.finditer("x+", filled)]
    headings = [padded[0][a:b].strip() for a, b in spans]
    return [dict(zip(headings, [line[a:b].strip() for a, b in spans], strict=True)) for line in padded[1:]]


def views(machine: Path) -> list[Rows]:
    """The recorded views that can be split into columns; models may hold blanks and are left to other tests."""
    name = machine.name.removesuffix(".tar.xz")
    found = [path for path in machine.parent.glob(f"{name}.*.expected.txt") if ".vendor." not in path.name]
    return [columns(path.read_text()) for path in sorted(found)]


def plain(name: str) -> str:
    """A device's name without the tree that lsblk draws before it."""
    return re.sub(r"^[ |`-]+", "", name)


def test_recorded_devices_are_what_lsblk_shows(lsblk_machine: Path) -> None:
    """Every value of every recorded view that the facts cover agrees, for any recorded machine in the folder."""
    devices = {device.name: device for device in read_devices(open_tar(str(lsblk_machine)))}
    assert views(lsblk_machine)
    for rows in views(lsblk_machine):
        assert {plain(row["NAME"]) for row in rows} == set(devices)
        for row in rows:
            device = devices[plain(row["NAME"])]
            for heading in OURS.keys() & row.keys():
                assert str(OURS[heading](device)) == row[heading], (device.name, heading)
            for heading in SIZES.keys() & row.keys():
                number, unit = re.fullmatch(r"([\d.]+)([BKMGT])", row[heading]).groups()
                # lsblk rounds to one digit behind the point.
                assert SIZES[heading](device) / UNITS[unit] == pytest.approx(float(number), abs=0.051), heading


def test_recorded_tree_has_the_same_branches(lsblk_machine: Path) -> None:
    """What stands on what is what lsblk draws: a device is indented under each that it stands on."""
    drawn: set[tuple[str, str]] = set()
    for rows in views(lsblk_machine):
        path: list[tuple[int, str]] = []
        for row in rows:
            name = plain(row["NAME"])
            depth = len(row["NAME"]) - len(name)
            path = [(d, n) for d, n in path if d < depth]
            drawn |= {(name, path[-1][1])} if path else set()
            path.append((depth, name))
    devices = read_devices(open_tar(str(lsblk_machine)))
    shown = {device.kernel_name: device.name for device in devices}
    assert {(device.name, shown[under]) for device in devices for under in device.under} == drawn


@pytest.mark.skipif(not shutil.which("lsblk"), reason="lsblk is not installed")
def test_devices_of_this_machine_are_what_lsblk_shows() -> None:
    """The live reader and lsblk say the same of the machine that the test runs on."""
    devices = {device.kernel_name: device for device in read_devices(LiveRoot()) if device.size}
    names = ["KNAME", "PKNAME", "MAJ:MIN", "TYPE", "SIZE", "RO", "ROTA", "SCHED", "RQ-SIZE", "RA", "MIN-IO", "OPT-IO"]
    out = subprocess.run(
        ["lsblk", "-b", "-J", "-o", ",".join([*names, "PHY-SEC", "LOG-SEC", "DISC-GRAN", "DISC-MAX"])],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [row for row in flat(json.loads(out.stdout)["blockdevices"]) if int(row["size"])]
    assert {row["kname"] for row in rows} == set(devices)
    for row in rows:
        device = devices[row["kname"]]
        for heading, ours in (OURS | SIZES).items():
            if row.get(heading.lower()) is not None:
                theirs = row[heading.lower()]
                assert str(ours(device)) == str(int(theirs) if isinstance(theirs, bool) else theirs).strip(), heading
        assert row["pkname"] is None or row["pkname"] in device.under


def flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [inner for row in rows for inner in (row, *flat(row.get("children", [])))]


def disk(name: str, number: str, sectors: int = 2048, **files: str) -> dict[str, str]:
    """A disk's files; `__` in a name means a slash."""
    base = f"/sys/block/{name}"
    made = {f"{base}/dev": number, f"{base}/size": str(sectors)}
    return made | {f"{base}/{file.replace('__', '/')}": text for file, text in files.items()}


def test_devices_that_hold_nothing_are_left_out(tree: Callable[[dict[str, str]], Root]) -> None:
    """RAM disks, loop devices without a file and hidden NVMe paths are no storage; an empty card reader is."""
    root = tree(
        {
            **disk("ram0", "1:0"),
            **disk("loop0", "7:0", 0),
            **disk("nvme0c0n1", "259:5", hidden="1"),
            **disk("mmcblk0", "179:0", 0),
            **disk("sda", "8:0", hidden="0"),
        }
    )
    assert [device.name for device in read_devices(root)] == ["mmcblk0", "sda"]


def test_name_with_a_slash_is_shown_as_under_dev(tree: Callable[[dict[str, str]], Root]) -> None:
    """/sys writes cciss!c0d0 for what is /dev/cciss/c0d0, for disks and for what stands on them."""
    root = tree(
        {
            **disk("cciss!c0d0", "104:0"),
            "/sys/block/cciss!c0d0/cciss!c0d0p1/dev": "104:1",
            "/sys/block/cciss!c0d0/cciss!c0d0p1/size": "1024",
            "/sys/block/cciss!c0d0/cciss!c0d0p1/start": "63",
        }
    )
    whole, part = read_devices(root)
    assert (whole.name, part.name, part.under, part.start) == (
        "cciss/c0d0",
        "cciss/c0d0p1",
        ("cciss/c0d0",),
        63 * 512,
    )


@pytest.mark.parametrize(
    ("uuid", "kind"),
    [
        ("LVM-abc", "lvm"),
        ("CRYPT-LUKS2-abc", "crypt"),
        ("mpath-3600", "mpath"),
        ("part1-mpath-3600", "part"),
        ("", "dm"),
    ],
)
def test_device_mapper_names_its_owner(tree: Callable[[dict[str, str]], Root], uuid: str, kind: str) -> None:
    """What stands before the first dash of a dm device's uuid says what it is."""
    root = tree(disk("dm-0", "253:0", dm__name="data", dm__uuid=uuid))
    assert [(device.name, device.type) for device in read_devices(root)] == [("data", kind)]


@pytest.mark.parametrize(
    ("name", "path", "transport"),
    [
        ("sda", "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda", "sata"),
        ("sda", "pci0000:00/0000:00:14.0/usb1/1-1/1-1:1.0/host6/target6:0:0/6:0:0:0/block/sda", "usb"),
        ("sda", "pci0000:00/0000:03:00.0/host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0/block/sda", "sas"),
        ("sda", "pci0000:00/0000:00:05.0/virtio2/host2/target2:0:0/2:0:0:0/block/sda", "virtio"),
        ("sda", "pci0000:00/0000:05:00.0/host0/rport-0:0-1/target0:0:0/0:0:0:0/block/sda", "fc"),
        ("sda", "platform/host3/session1/target3:0:0/3:0:0:0/block/sda", "iscsi"),
        ("sda", "pci0000:00/0000:02:00.0/host0/target0:2:0/0:2:0:0/block/sda", "scsi"),
        ("vda", "pci0000:00/0000:00:04.0/virtio1/block/vda", "virtio"),
        ("nvme0n1", "pci0000:00/0000:00:01.0/nvme/nvme0/nvme0n1", "nvme"),
        ("xvda", "vbd-51712/block/xvda", "xen"),
    ],
)
def test_attachment_shows_in_the_path(
    tree: Callable[[dict[str, str]], Root], name: str, path: str, transport: str
) -> None:
    """How a disk is attached is known by its place among the kernel's devices, or by its name."""
    files = {f"/sys/devices/{path}/dev": "8:0", f"/sys/devices/{path}/size": "2048"}
    root = tree({**files, f"/sys/block/{name}": f"-> ../devices/{path}"})
    assert [device.transport for device in read_devices(root)] == [transport]


def test_model_is_reported_in_full_where_udev_knows_it(tree: Callable[[dict[str, str]], Root]) -> None:
    """SCSI's field ends after 16 characters; udev's database has the rest."""
    files = disk("sda", "8:0", device__model="Samsung SSD 870 \n", device__vendor="ATA     \n")
    short = read_devices(tree(files))[0]
    long = read_devices(tree({"/run/udev/data/b8:0": "S:disk/by-id/x\nE:ID_MODEL=Samsung_SSD_870_EVO_1TB\n"}))[0]
    assert (short.model, short.vendor) == ("Samsung SSD 870", None)
    assert long.model == "Samsung SSD 870 EVO 1TB"
