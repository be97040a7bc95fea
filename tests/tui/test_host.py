"""The screen of the host: recorded machines in words, bars, the tree of storage, and what is missing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from app_driver import driven, screen_text, snapshot_with, until
from msgspec.structs import replace
from textual.containers import VerticalScroll

from advisor.analysis.audited import AuditResult
from advisor.analysis.context import build_context
from advisor.collect.host import open_root, read_host
from advisor.commands.collect import DEMO
from advisor.facts import Facts, Unavailable
from advisor.facts.host import Cgroup, Cpu, Host, Memory, SkippedPart
from advisor.facts.snapshot import load
from advisor.facts.storage import BlockDevice, Mount, Raid, Storage, Stripe
from advisor.tui.app import AuditApp
from advisor.tui.screens.host.fact_rows import storage_tree, stripe_text
from advisor.tui.screens.host.screen import TITLES, build_sections
from advisor.tui.text import bar, format_ranges
from advisor.tui.view import View

K, M, G = 1 << 10, 1 << 20, 1 << 30
RECORDED = load(DEMO)


def sections(host: Host | None, facts: Facts = RECORDED, width: int = 75) -> dict[str, str]:
    """The sections about the demo's server on this host, as text."""
    facts = replace(facts, host=host)
    view = View(AuditResult(facts, build_context(facts), (), ()), "snapshot", "a file", 0.0)
    return {section.id: section.text.plain for section in build_sections(view, width)}


def numbers(text: str) -> list[int]:
    """The processors of a list: 0-62:2 as lscpu writes it, 0-3,8 as the kernel does."""
    found: list[int] = []
    for part in text.split(","):
        first, last, step = re.fullmatch(r"(\d+)(?:-(\d+))?(?::(\d+))?", part).groups()
        found += range(int(first), int(last or first) + 1, int(step or 1))
    return sorted(found)


def test_recorded_machines_are_shown_as_by_lscpu(shared: Path) -> None:
    """Sockets and the processors of each NUMA node of every recorded machine are those that lscpu names."""
    machines = sorted((shared / "hardware" / "lscpu").glob("*.tar.gz"))
    assert machines
    for machine in machines:
        expected = machine.with_name(machine.name.replace(".tar.gz", ".expected.txt")).read_text()
        text = sections(read_host(open_root(str(machine))), width=1000)
        for node, cpus in re.findall(r"^NUMA node(\d+) CPU\(s\): +(\S+)$", expected, re.MULTILINE):
            listed = re.search(rf"^node {node} .*processors (\S+)$", text["numa"], re.MULTILINE)
            assert numbers(listed[1]) == numbers(cpus), machine.name
        sockets = re.findall(r"^Socket\(s\): +(\d+)$", expected, re.MULTILINE)
        if len(sockets) == 1:  # of several kinds of core lscpu prints each kind's own
            assert f"{sockets[0]} socket" in text["cpu"], machine.name
        for name, count in re.findall(r"^(L\S+) cache: .*\((\d+) instances?\)$", expected, re.MULTILINE):
            assert re.search(rf"^{name} +{count} of ", text["cpu"], re.MULTILINE), machine.name


def test_recorded_storage_is_followed_to_its_disks(shared: Path) -> None:
    """What lsblk shows as mounted is shown with its mount, its partition and, one step deeper, its disk."""
    machine = shared / "hardware" / "lsblk" / "simple-lvm.tar.xz"
    found = read_host(open_root(str(machine)), datadir="/home/archive").storage
    steps = storage_tree(found)
    assert [step.text.partition(" ")[0].strip(",:") for step in steps] == ["/home/archive", "ext4", "sdb1", "sdb"]
    assert [len(step.lead) for step in steps] == [0, 3, 6, 9]


def disk(letter: str) -> BlockDevice:
    """One of the disks under an array that was written by hand."""
    name = f"sd{letter}"
    return BlockDevice(name, name, "8:0", "disk", 512 * G, rotational=True, scheduler="mq-deadline", transport="sas")


def raid10(**changed: Any) -> Storage:
    """Eight disks as RAID 10, a volume on it, a file system: by hand, for no recorded machine has an array."""
    disks = tuple(map(disk, "abcdefgh"))
    array = BlockDevice(
        "md0",
        "md0",
        "9:0",
        "raid10",
        2 << 40,
        tuple(d.kernel_name for d in disks),
        raid=Raid("raid10", 8, 512 * K, 0x102, "clean", 1),
    )
    volume = BlockDevice("vg0-mysql", "dm-0", "253:0", "lvm", 1 << 40, ("md0",))
    mount = Mount("/var/lib/mysql", "xfs", "/dev/mapper/vg0-mysql", "253:0", options=("rw", "noatime"))
    stripe = Stripe(2 * M, "md", "md0", 512 * K, 4, None)
    storage = Storage("/var/lib/mysql", mount, (volume, array, *disks), stripe)
    return replace(storage, **changed)


def test_an_array_is_shown_with_chunk_state_and_each_disk() -> None:
    """Volume, array with level, chunk and the missing disk, eight disks side by side below it, the stripe in words."""
    text = sections(Host(storage=raid10()))["storage"].split("\n")
    assert text[1].startswith("└─ xfs at /var/lib/mysql, from /dev/mapper/vg0-mysql")
    assert text[2].startswith("   └─ vg0-mysql, lvm, 1T")
    assert text[3].startswith("      └─ md0 RAID10, 8 disks, chunk 512K, 2T, clean, 1 missing")
    disks = [line for line in text if re.match(r" {9}[├└]─ sd[a-h]: sas, 512G, mq-deadline", line)]
    assert len(disks) == 8
    assert [line[9] for line in disks] == ["├"] * 7 + ["└"]
    stripe = " ".join(text).partition("stripe ")[2]
    assert "2M on md0 (4 data disks, 512K each), from the array's geometry" in " ".join(stripe.split())


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        (None, "alignment of the file system unknown"),
        (0, "aligned to a stripe"),
        (M, "starts 1M into a stripe"),
    ],
)
def test_where_the_file_system_begins_within_a_stripe(offset: int | None, words: str) -> None:
    """An offset is shown as a size; zero is no offset, and None is not zero."""
    assert words in stripe_text(raid10(stripe=Stripe(2 * M, "md", "md0", 512 * K, 4, offset)))


def test_a_device_that_carries_two_is_shown_once() -> None:
    """Two partitions of one disk under one volume: the disk's own words stand once, and the tree ends."""
    volume = BlockDevice("vg0-x", "dm-0", "253:0", "lvm", G, ("sda1", "sda2"))
    parts = tuple(BlockDevice(f"sda{n}", f"sda{n}", f"8:{n}", "part", G, ("sda",), start=n * M) for n in (1, 2))
    steps = storage_tree(raid10(devices=(volume, *parts, disk("a")), stripe=None))
    assert [step.text for step in steps if step.text.startswith("sda,") or step.text.startswith("sda:")] == [
        "sda: sas, 512G, mq-deadline, reported as rotational",
        "sda, as above",
    ]


def test_every_missing_part_says_why() -> None:
    """Without a host each section gives its reason, and memory still shows what the server could take."""
    facts = replace(RECORDED, unavailable=(Unavailable("host", "reached by TCP"),))
    text = sections(None, facts)
    assert text["findings"].startswith("none: the rules about the host were skipped")
    assert {part for part, words in text.items() if "not known: reached by TCP" in words} == set(TITLES) - {"findings"}
    assert re.search(r"^ceiling +615G", text["memory"], re.MULTILINE)
    partly = sections(Host(memory=Memory(64 * G), skipped=(SkippedPart("cpu", "no processors in /sys"),)))
    assert partly["cpu"] == partly["numa"] == "not known: no processors in /sys"
    assert partly["memory"].startswith("total         64G, the machine's memory")


def test_a_fact_with_a_label_at_its_field_has_a_row() -> None:
    """What needs no words of its own is shown under the label of its mark, and an unknown fact is left out."""
    cpu = Cpu(logical=1, online=(0,), kinds=(), cores=1, sockets=1, governor="powersave")
    shown = sections(Host(cpu=cpu, cgroup=Cgroup(2, "/system.slice/mysqld.service", tasks=4915)))
    assert re.search(r"^thread limit +4,915$", shown["cgroup"], re.MULTILINE)
    assert re.search(r"^governor +powersave$", shown["cpu"], re.MULTILINE)
    assert "driver" not in shown["cpu"]


def test_a_control_group_is_what_memory_is_measured_against() -> None:
    """The smaller of memory and limit counts, is named, and what goes beyond it says so."""
    group = Cgroup(2, "/system.slice/mysqld.service", limit=2 * G, limit_at="/system.slice", usage=G, oom_kills=3)
    text = sections(Host(memory=Memory(64 * G, available=60 * G), cgroup=group))
    assert text["memory"].startswith("total         2G, the control group's limit")
    assert "each, all at once; more than the" in text["memory"]
    assert "at most 2G (set at /system.slice)" in text["cgroup"]
    assert "3: processes of the group killed by the OOM killer" in text["cgroup"]


@pytest.mark.parametrize(
    ("amount", "whole", "shown"),
    [
        (0, 8, "····"),
        (1, 8, "▌···"),
        (4, 8, "██··"),
        (8, 8, "████"),
        (9, 8, "███▶"),
        (1, 10**6, "▏···"),
        (5, 0, "····"),
    ],
)
def test_a_bar_is_as_long_as_its_share(amount: int, whole: int, shown: str) -> None:
    """To an eighth of a cell; something is never nothing, more than all has an arrow, and no whole draws nothing."""
    assert bar(amount, whole, 4) == shown


def test_ranges_are_the_kernels() -> None:
    """Neighbours are joined, single ones stand alone, none is nothing."""
    assert format_ranges([3, 1, 2, 8, 10, 11]) == "1-3,8,10-11"
    assert format_ranges([]) == ""


async def at_host(app: AuditApp, pilot: Any) -> VerticalScroll:
    """The screen, filled."""
    await pilot.press("4")
    await until(pilot, lambda: "topology" in screen_text(app))
    return app.query_one("#host-scroll", VerticalScroll)


async def test_keys_go_from_part_to_part() -> None:
    """At 80 by 24 n goes on by one section, N back, the keys scroll, and y copies all of it."""
    async with driven(size=(80, 24)) as (app, pilot):
        scroll = await at_host(app, pilot)
        assert "AMD EPYC" in screen_text(app)
        await pilot.press("n", "n")
        await until(pilot, lambda: scroll.scroll_offset.y > 0)
        assert "total         23.5G" in screen_text(app)
        assert "AMD EPYC" not in screen_text(app)
        await pilot.press("N", "N")
        await until(pilot, lambda: scroll.scroll_offset.y == 0)
        await pilot.press("end")
        await until(pilot, lambda: "Findings on the host" in screen_text(app))
        assert "MEM002" in screen_text(app)
        await pilot.press("y")
        await until(pilot, lambda: "Storage\n/var/lib/mysql\n└─ ext4" in app.clipboard)


async def test_wide_screens_have_two_columns_and_the_mouse_scrolls() -> None:
    """Where it is wide the process stands beside the processors; narrowed it is one column; the wheel scrolls."""
    async with driven(size=(120, 40)) as (app, pilot):
        scroll = await at_host(app, pilot)
        row = next(line for line in screen_text(app).split("\n") if "Processors" in line)
        assert "Server process" in row
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not any("Server process" in r for r in screen_text(app).split("\n") if "Proc" in r))
        await pilot._post_mouse_events([_wheel()], "#host-scroll", times=1)
        await until(pilot, lambda: scroll.scroll_offset.y > 0)


def _wheel() -> Any:
    from textual.events import MouseScrollDown

    return MouseScrollDown


async def test_hostile_names_of_devices_are_text(tmp_path: Path) -> None:
    """Brackets and escapes in mount, model and distribution are shown as text."""

    def change(facts: dict[str, Any]) -> None:
        host = facts["host"]
        host["storage"]["mount"]["source"] = "/dev/[red]x[/red]\x1b[2J"
        host["storage"]["devices"][0]["model"] = "[/] 🔥" * 50
        host["os"]["distribution"] = "y" * 10_000

    async with driven("--snapshot", str(snapshot_with(tmp_path, change))) as (app, pilot):
        await at_host(app, pilot)
        await pilot.press("n", "n", "n")
        await until(pilot, lambda: "/dev/[red]x[/red]\\x1b[2J" in screen_text(app))
        assert "\x1b" not in screen_text(app)
