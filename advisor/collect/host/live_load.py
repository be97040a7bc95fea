"""The load of this host and of one process on it, by psutil: counters that only rise, and levels."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import psutil

from advisor.facts.workload import DISK_BUSY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.facts.host import Host


class HostSeconds(NamedTuple):
    """Seconds of all processors together since the host started.

    `used` counts what the hypervisor stole too, as no other work could run then; waiting for disks is no use.
    """

    used: float
    whole: float
    iowait: float = 0.0
    steal: float = 0.0


def read_host_seconds() -> HostSeconds:
    """What the kernel has counted so far."""
    times = psutil.cpu_times()
    guests = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)  # counted as user and nice already
    whole, iowait = sum(times) - guests, getattr(times, "iowait", 0.0)
    return HostSeconds(whole - times.idle - iowait, whole, iowait, getattr(times, "steal", 0.0))


class LoadReader:
    """Reads the load of this host, of the devices below the data directory, and of the server's process."""

    def __init__(self, pid: int, device: str = "", disks: Sequence[str] = ()) -> None:
        self._device, self._disks = device, tuple(disks)
        self._process: psutil.Process | None = None
        with suppress(psutil.Error):
            self._process = psutil.Process(pid)

    def read(self) -> dict[str, int]:
        """Counters by name, times in milliseconds, sizes in bytes; what the kernel does not show is missing."""
        counters = _processors() | _memory()
        with suppress(psutil.Error, OSError):
            counters |= self._read_disks()
        with suppress(psutil.Error):
            counters |= self._read_process()
        return counters

    def _read_disks(self) -> dict[str, int]:
        known = psutil.disk_io_counters(perdisk=True, nowrap=False) or {}
        counters = {f"{DISK_BUSY}{name}": int(known[name].busy_time) for name in self._disks if name in known}
        if device := known.get(self._device):
            counters |= {
                "host_disk_reads": device.read_count,
                "host_disk_writes": device.write_count,
                "host_disk_read_ms": device.read_time,
                "host_disk_write_ms": device.write_time,
                "host_disk_read_bytes": device.read_bytes,
                "host_disk_written_bytes": device.write_bytes,
            }
        return counters

    def _read_process(self) -> dict[str, int]:
        if self._process is None or not self._process.is_running():  # another process may have its number by now
            return {}
        with self._process.oneshot():
            times = self._process.cpu_times()
            resident = self._process.memory_info().rss
        return {"server_cpu_ms": _milliseconds(times.user + times.system), "server_rss": resident}


def _processors() -> dict[str, int]:
    now = read_host_seconds()
    return {
        "host_cpu_ms": _milliseconds(now.whole),
        "host_cpu_busy_ms": _milliseconds(now.used - now.steal),
        "host_cpu_iowait_ms": _milliseconds(now.iowait),
        "host_cpu_steal_ms": _milliseconds(now.steal),
    }


def _memory() -> dict[str, int]:
    memory = psutil.virtual_memory()
    counters = {"host_memory_total": memory.total, "host_memory_available": memory.available}
    with suppress(OSError, RuntimeError):  # a container may hide /proc/vmstat
        counters["host_swapped_in"] = psutil.swap_memory().sin
    return counters


def _milliseconds(seconds: float) -> int:
    return round(1000 * seconds)


def load_reader(host: Host | None) -> LoadReader | None:
    """A reader for the host that a server was proved to run on; None without a process of this host."""
    if host is None or host.process is None:
        return None
    storage = host.storage
    devices = storage.devices if storage else ()
    device = devices[0].kernel_name if devices else ""
    return LoadReader(host.process.pid, device, [disk.kernel_name for disk in storage.disks] if storage else ())
