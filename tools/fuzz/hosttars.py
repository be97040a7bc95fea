"""Generate tars of hosts with contents that no kernel writes."""

from __future__ import annotations

import io
import random
import tarfile

from strange import TEXTS

PATHS = (
    *("proc/cpuinfo", "proc/meminfo", "proc/stat"),
    *("proc/version", "proc/mounts", "proc/sys/vm/swappiness", "proc/vmstat"),
    *("proc/sys/kernel/osrelease", "proc/7/comm", "proc/7/status"),
    *("proc/7/limits", "proc/7/cgroup", "proc/7/mountinfo"),
    *("proc/7/numa_maps", "sys/block/sda/queue/rotational", "sys/block/sda/queue/scheduler", "sys/block/sda/dev"),
    *("sys/block/md0/md/level", "sys/block/sda/size"),
    *("sys/devices/system/cpu/online", "sys/devices/system/cpu/possible"),
    *("sys/devices/system/cpu/cpu0/cache/index0/size", "sys/devices/system/cpu/cpu0/topology/core_id"),
    *("sys/devices/system/node/node0/meminfo", "sys/fs/cgroup/memory.max"),
    *("sys/class/dmi/id/sys_vendor", "etc/os-release"),
    *("sys/kernel/mm/transparent_hugepage/enabled", "../../x", "proc", "sys/block/sda", "/proc/x", "x/proc/meminfo"),
)
SAID = (
    *("0", "1", "-1", "0-3,8", "0-99999999999", "ffffffff,ffffffff", "9" * 5000, "max", "[none] mq-deadline", "8:0"),
    *("MemTotal: 16384 kB\nMemFree: x kB", "processor : 0\nflags : lm\n\nprocessor : 70000"),
    *("cpu0 1 2\ncpu1 x", "mysqld"),
    *("1 1 8:0 / / rw - ext4 /dev/sda rw\n2 1 8:0 / /x rw - btrfs /dev/sda rw", "Max open files  1 2 3"),
    *("raid10", "32K"),
    *("Name:\tmysqld\nUid:\t0\nVmRSS:\t1 kB", "0::/a/../../b\n4:memory:/x"),
    *("PRETTY_NAME='\x1b[31m", "Linux version 6.1"),
)


def host_tar(chance: random.Random) -> bytes:
    """A tar with some of the files, and with links."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for path in chance.sample(PATHS, chance.randrange(1, 20)):
            entry = tarfile.TarInfo(path)
            if chance.random() < 0.1:
                entry.type, entry.linkname = tarfile.SYMTYPE, chance.choice(PATHS)
                archive.addfile(entry)
                continue
            content = chance.choice(SAID if chance.random() < 0.8 else TEXTS).encode("utf-8", "surrogatepass")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    data = made.getvalue()
    return data if chance.random() < 0.9 else data[: chance.randrange(len(data))]
