"""A whole host in one value, with the reason for each part that is missing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from advisor.collect.host import open_root, read_host
from advisor.collect.host.host import host_from_options
from advisor.facts.host import HIDDEN_GROUP, Host, Memory, Process, SkippedPart

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.collect.host.root import Root

    Make = Callable[[dict[str, str]], Root]


def server(pid: int) -> dict[str, str]:
    """A server's process with its data in /data."""
    files = {"comm": "mysqld\n", "status": "Name:\tmysqld\n", "cwd": "-> /data"}
    return {f"/proc/{pid}/{name}": text for name, text in files.items()}


DATA = {"/data/": "", "/proc/self/mountinfo": "1 0 8:0 / / rw - ext4 /dev/sda rw\n"}


def test_this_host_is_read_whole() -> None:
    """On a running machine, with a process and a path, no part is missing that every machine has."""
    host = read_host(open_root("/"), os.getpid(), "/")
    assert {part.part for part in host.skipped} <= {"cgroup", "devices"}
    assert host.usable_memory <= host.memory.total
    assert host.usable_cpus <= len(host.cpu.online)


def test_empty_root_says_what_is_missing(tree: Make) -> None:
    """Every part that couldn't be read stands there with a reason, and nothing is raised."""
    host = read_host(tree({"/proc/": ""}))
    parts = ["cpu", "memory", "cgroup", "devices", "storage", "process", "os"]
    assert [skipped.part for skipped in host.skipped] == parts
    assert all(skipped.reason for skipped in host.skipped)
    assert (host.usable_memory, host.usable_cpus) == (None, None)


def test_recorded_host_with_one_server_is_about_that_server(tree: Make) -> None:
    """From a copy of a host with a single server its process is read and the storage that it works on."""
    host = read_host(tree(DATA | server(7)))
    assert (host.process.pid, host.storage.path, host.storage.mount.source) == (7, "/data", "/dev/sda")


def test_recorded_host_with_two_servers_is_about_none(tree: Make) -> None:
    """Of two servers neither is meant until a pid says so."""
    root = tree(DATA | server(7) | server(8))
    assert read_host(root).process is None
    assert read_host(root, 8).process.pid == 8
    assert "several servers" in {part.part: part.reason for part in read_host(root).skipped}["process"]


def test_smallest_of_all_limits_is_usable(tree: Make) -> None:
    """A group's limit below the memory, and processors that the process may use, bound what counts."""
    files = {
        "/proc/meminfo": "MemTotal: 8388608 kB\n",
        "/sys/devices/system/cpu/online": "0-7\n",
        "/proc/self/mountinfo": "1 0 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        "/proc/7/cgroup": "0::/db\n",
        "/sys/fs/cgroup/db/memory.max": f"{4 << 30}\n",
        "/sys/fs/cgroup/db/cpu.max": "350000 100000\n",
    }
    process = {"/proc/7/status": "Name:\tmysqld\nCpus_allowed_list:\t0-3\n", "/proc/7/comm": "mysqld\n"}
    host = read_host(tree(files | process))
    assert (host.usable_memory, host.usable_cpus) == (4 << 30, 3.5)


def test_other_directories_are_listed_where_they_are_elsewhere(tree: Make) -> None:
    """Each mount besides that of the data is listed once, by the first variable that leads there."""
    mounts = (
        "1 0 8:0 / / rw - ext4 /dev/sda rw\n"
        "2 1 8:16 / /logs rw - xfs /dev/sdb rw\n"
        "3 1 0:40 / /tmp rw,relatime - tmpfs tmpfs rw,size=65536k\n"
    )
    root = tree(DATA | {"/proc/self/mountinfo": mounts, "/logs/redo/": "", "/logs/bin/": "", "/tmp/": ""})
    others = {
        "innodb_log_group_home_dir": "/logs/redo",
        "innodb_undo_directory": "./",
        "innodb_data_home_dir": "",
        "log_bin_basename": "../logs/bin",
        "tmpdir": "/tmp",
    }
    host = read_host(root, datadir="/data", others=others)
    assert [(place.variable, place.storage.mount.point) for place in host.places] == [
        ("innodb_log_group_home_dir", "/logs"),
        ("tmpdir", "/tmp"),
    ]
    assert read_host(root, others=others).places == ()


def test_described_memory_is_all_that_counts() -> None:
    """--ram replaces a limit that is not visible, and is a machine without the huge pages of this one."""
    memory = Memory(64 << 30, huge_page=2 << 20, huge_pages_total=20480)
    skipped = (SkippedPart("cgroup", HIDDEN_GROUP), SkippedPart("devices", "none"))
    read = Host(memory=memory, process=Process(7, "mysqld", huge_pages=0), skipped=skipped)
    assert read.usable_memory == 24 << 30
    described = host_from_options(ram="8G", cpus=None, disk=None, tar=None, read=read)
    assert (described.usable_memory, [part.part for part in described.skipped]) == (8 << 30, ["devices"])
