"""How far a source is from this host: what its words say, what they don't, and what to expect then."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest
from mycnf_command import CHECKOUT

from advisor.catalog.targets import parse_target
from advisor.commands.explain import cpus, disks, memory
from advisor.report.measurement_environment import VIRTUAL, Here, machine, measured_sources, sentence, servers
from rules.core.areas import Evidence, all_evidence

GIB = 1 << 30
SHARED = Path(os.environ.get("MYCNF_SHARED", CHECKOUT.parent / "shared")) / "hardware"
HERE = Here(parse_target("mysql-8.0"), False, 2026, 2, 24 * GIB, (VIRTUAL,))


def source(versions: str = "MySQL 8.0.41", hardware: str = "2 CPUs, 16 GB RAM", date: str = "2025") -> Evidence:
    """A measurement without a table."""
    return Evidence("X-01", "measured", "", "", versions, hardware, date, "", "", "", None)


@pytest.mark.parametrize(
    ("hardware", "found"),
    [
        ("Fedora Core i686, 2 Xeon CPUs (1024K caches), 2 drives RAID0, 2 GB RAM", (2, 2 * GIB, ("rotating disks",))),
        ("48-core AMD (X1), 128 GB RAM, SW RAID1 2xNVMe, ext4, Ubuntu 22.04; 20 clients", (48, 128 * GIB, ("NVMe",))),
        ("2x Xeon Gold 6230 (40 cores / 80 threads), 187 GB (same as A), SATA SSD", (40, 187 * GIB, ("SSD",))),
        ("2x Xeon Gold 6230 (80 threads), 187 GiB DDR4", (80, 187 * GIB, ())),
        ("56 threads; ~90 GB data", (None, None, ())),
        ("R900, 8-disk RAID10, 32 GB RAM; 100 warehouses (~10 GB)", (None, 32 * GIB, ("rotating disks",))),
        ("16-core, 16 GB buffer pool (in memory); 140 GB pool", (16, None, ())),
        ("", (None, None, ())),
    ],
)
def test_hardware_in_words(hardware: str, found: tuple[int | None, int | None, tuple[str, ...]]) -> None:
    """Processors, memory and disks are read where they are said; data, pools and clients are none of them."""
    assert machine(hardware) == found


@pytest.mark.parametrize(
    ("versions", "found"),
    [
        ("MySQL 5.7.22, 8.0.15; MariaDB 10.11.19", [("mysql", "5.7"), ("mysql", "8.0"), ("mariadb", "10.11")]),
        ("Percona XtraDB 5.1.43-9.1", [("mysql", "5.1")]),
        ("MySQL 5.7-8.0", [("mysql", "5.7"), ("mysql", "8.0")]),
        ("MariaDB 11.8.6; sysbench 1.0.20 oltp_read_write", [("mariadb", "11.8")]),
        ("XtraDB 2009", [("mysql", "")]),
        ("fio, Linux 6.18, 2025-12", []),
    ],
)
def test_servers_in_words(versions: str, found: list[tuple[str, str]]) -> None:
    """Flavours and series are read, versions of other programs ignored."""
    assert servers(versions) == found


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (source(), "X-01: its stated conditions are close to this server's. It does not state disks."),
        (source(hardware="2 CPUs, 16 GB RAM, SSD"), "X-01: SSD: expect the direction, not the size."),
        (source(date="2007-09-17"), "19 years older: expect the direction"),
        (source("MySQL 5.1.21"), "X-01: on MySQL 5.1: "),
        (source("MariaDB 11.8.6"), "X-01: on MariaDB 11.8: "),
        (source(hardware="8 CPUs, 96 GB RAM"), "X-01: 8 processors, 96G of memory: "),
        (source(hardware="7 CPUs, 95 GB RAM"), "X-01: its stated conditions are close"),
        (source("not stated", ""), "It does not state server, processors, memory or disks."),
    ],
)
def test_what_to_expect(evidence: Evidence, words: str) -> None:
    """Age, server, processors, memory and disks are named where they are far, and what the source leaves out."""
    assert words in sentence(evidence, HERE)


def test_a_host_like_the_sources() -> None:
    """A machine that the words of the source fit in every part may expect its numbers."""
    here = HERE._replace(disks=("NVMe",))
    assert sentence(source(hardware="2 CPUs, 16 GB RAM, NVMe"), here).endswith("expect numbers of about this size.")


def test_numbers_in_a_table_keep_their_order_at_least() -> None:
    """Of a table with points the order is what one may expect elsewhere."""
    assert sentence(all_evidence()["RBS-01"], HERE).endswith("expect the same ranking, not the same factors.")


def test_every_measured_source_has_its_sentence() -> None:
    """Each of the store's measurements is one sentence or two."""
    found = [sentence(e, HERE) for e in measured_sources(list(all_evidence().values()))]
    assert len(found) > 40
    assert all(words.endswith(".") and ": " in words for words in found)


def test_this_host() -> None:
    """Processors and memory are those that the operating system reports."""
    assert cpus("/") == os.cpu_count()
    assert memory("/") == pytest.approx(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), rel=0.05)


def test_a_host_that_reports_nothing(tmp_path: Path) -> None:
    """Without /proc and /sys nothing is known, and nothing is made up."""
    assert (cpus(str(tmp_path)), memory(str(tmp_path)), disks(str(tmp_path))) == (None, None, ())


@pytest.mark.parametrize("path", sorted(SHARED.glob("lscpu/*.tar.gz")), ids=lambda p: p.name)
def test_recorded_processors(path: Path, tmp_path: Path) -> None:
    """As many processors are online as lscpu counted on the recorded machine."""
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path, [one for one in archive if one.name.endswith("/cpu/online")], filter="tar")
    root = tmp_path / path.name.removesuffix(".tar.gz")
    expected = (SHARED / "lscpu" / path.name.replace(".tar.gz", ".expected.txt")).read_text()
    listed = next((line.partition(":")[2].strip() for line in expected.splitlines() if "On-line CPU" in line), "")
    if not listed or not (root / "sys/devices/system/cpu/online").exists():
        pytest.skip(f"{path.name} doesn't say which processors are online")
    spans = [part.partition("-")[::2] for part in listed.split(",")]
    assert cpus(str(root)) == sum(int(last or first) - int(first) + 1 for first, last in spans)


@pytest.mark.parametrize(
    ("files", "kinds"),
    [
        ({"nvme0n1/queue/rotational": "0", "loop0/queue/rotational": "1"}, ("NVMe",)),
        ({"sda/queue/rotational": "1", "sda/device/vendor": "ATA", "sr0/queue/rotational": "1"}, ("rotating disks",)),
        ({"sda/queue/rotational": "0", "sdb/queue/rotational": "1"}, ("SSD", "rotating disks")),
        ({"vda/queue/rotational": "1"}, (VIRTUAL,)),
        ({"sda/queue/rotational": "1", "sda/device/vendor": "QEMU"}, (VIRTUAL,)),
        ({"sda/device/vendor": "ATA"}, ()),
    ],
)
def test_kinds_of_disks(files: dict[str, str], kinds: tuple[str, ...], tmp_path: Path) -> None:
    """A virtual disk is one with either rotational flag; what is unknown is left out."""
    for name, text in files.items():
        path = tmp_path / "sys" / "block" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    assert disks(str(tmp_path)) == kinds


def test_the_control_groups_limit(tmp_path: Path) -> None:
    """Where a container may use less than there is, that is the memory; `max` is no limit."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "meminfo").write_text("MemTotal:       16777216 kB\nMemFree: 1 kB\n")
    limit = tmp_path / "sys" / "fs" / "cgroup" / "memory.max"
    limit.parent.mkdir(parents=True)
    for text, size in (("max", 16 * GIB), (str(2 * GIB), 2 * GIB), (str(64 * GIB), 16 * GIB)):
        limit.write_text(text)
        assert memory(str(tmp_path)) == size
