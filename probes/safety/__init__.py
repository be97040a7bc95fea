"""Safety of probe runs: objections to a run before it starts, each with a name by which the user can override it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.host.live_load import read_host_seconds
from advisor.core.model import format_size
from probes.experiment import ProbeError
from probes.safety import watch as at
from probes.safety.neighbours import disk_bytes, find_other_servers, processor_seconds
from probes.safety.watch import watch_other_servers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.facts.host import Host
    from probes.experiment import Cost, Environment, ProbeRequest
    from probes.safety.neighbours import OtherServer


LEAST_SECONDS = 0.01  # seconds of processor time, the unit in which the kernel counts
SYSTEM_FILES = ("ibdata1", "mysql.ibd", "aria_log_control", "auto.cnf")


class Objection(NamedTuple):
    """A reason not to run: its name for `--force`, the sentence, and whether it is final."""

    name: str
    words: str
    remedy: str
    final: bool = False

    def __str__(self) -> str:
        way = "" if self.final else f", or use --force {self.name}"
        return f"{self.words}: {self.remedy}{way}"


def require_no_objection(environment: Environment, request: ProbeRequest, cost: Cost) -> None:
    """Raise ProbeError with the first objection that the user has not overridden."""
    for objection in find_objections(environment, request, cost):
        if objection.final or objection.name not in request.force:
            raise ProbeError(str(objection))


def find_objections(environment: Environment, request: ProbeRequest, cost: Cost) -> Iterator[Objection]:
    """The objections, most serious first; the last ones need a second to sample the host."""
    neighbours = find_other_servers()
    directories = (request.directory, *cost.elsewhere)
    for directory in directories:
        yield from _data_directory_objections(directory, neighbours)
    for directory in directories:
        yield from _space_objections(
            directory, cost.disk * _count_on_same_device(directory, directories) // len(directories)
        )
    yield from _memory_objections(environment.host, cost.memory)
    if "busy" not in request.force:  # sampling takes a second
        yield from _load_objections(neighbours)


def _data_directory_objections(directory: str, neighbours: tuple[OtherServer, ...]) -> Iterator[Objection]:
    here = os.path.realpath(directory)
    held = {n.datadir for n in neighbours if n.datadir}
    place = here
    while True:
        if place in held or any(os.path.lexists(os.path.join(place, name)) for name in SYSTEM_FILES):
            words = f"{place} is a server's data directory; probes never write into one"
            yield Objection("data-directory", words, "use another directory with --dir", final=True)
            return
        if place == os.path.dirname(place):
            return
        place = os.path.dirname(place)


def _count_on_same_device(directory: str, directories: tuple[str, ...]) -> int:
    """How many of the directories are on the same file system as this one."""
    devices = [os.stat(each).st_dev for each in directories if os.path.isdir(each)]
    return devices.count(os.stat(directory).st_dev) if os.path.isdir(directory) else 1


def _space_objections(directory: str, needed: int) -> Iterator[Objection]:
    try:
        room = os.statvfs(directory)
    except OSError as error:
        words = f"cannot use {directory} ({error.strerror})"
        yield Objection("directory", words, "use another directory with --dir", final=True)
        return
    free, size = room.f_bavail * room.f_frsize, room.f_blocks * room.f_frsize
    keep = max(at.FULL_BYTES, int(size * at.FULL_SHARE))
    if free - needed < keep:
        words = (
            f"not enough disk space in {directory}: {format_size(free)} free, the probe needs {format_size(needed)}, "
            f"and {format_size(keep)} must stay free"
        )
        yield Objection("full", words, "free space, or use another file system with --dir")


def _memory_objections(host: Host, needed: int) -> Iterator[Objection]:
    available, total = _available_and_total(host)
    if available is None or total is None:
        return
    keep = max(at.LITTLE_BYTES, int(total * at.LITTLE_SHARE))
    if available - needed < keep:
        words = (
            f"not enough memory: {format_size(available)} available, the probe needs {format_size(needed)}, "
            f"and {format_size(keep)} must stay available"
        )
        yield Objection("little", words, "stop another program, or choose smaller sizes")


def _available_and_total(host: Host) -> tuple[int | None, int | None]:
    """Available and total memory, considering the control group's limit."""
    if host.memory is None:
        return None, None
    available, total = host.memory.available, host.memory.total
    group = host.cgroup
    if group and group.limit and group.limit < total:
        left = group.limit - (group.usage or 0)
        return (left if available is None else min(left, available)), group.limit
    return available, total


def _load_objections(neighbours: tuple[OtherServer, ...]) -> Iterator[Objection]:
    before = [_server_use(n) for n in neighbours]
    host = read_host_seconds()
    time.sleep(at.BUSY_SAMPLE)
    for neighbour, (cpu, disk) in zip(neighbours, before, strict=True):
        now_cpu, now_disk = _server_use(neighbour)
        cores, rate = (now_cpu - cpu) / at.BUSY_SAMPLE, (now_disk - disk) / at.BUSY_SAMPLE
        if cores >= at.BUSY_SERVER_CPU or rate >= at.BUSY_SERVER_IO:
            words = f"{neighbour} is busy ({cores:.1f} processors, {format_size(int(rate))}/s of disk I/O)"
            yield Objection("busy", words, "run the probe at a quiet time")
            return
    host_now = read_host_seconds()
    used = (host_now.used - host.used) / max(LEAST_SECONDS, host_now.whole - host.whole)
    if used >= at.BUSY_HOST:
        words = f"this host is busy: {used:.0%} of its processor time is in use, which would distort the results"
        yield Objection("busy", words, "run the probe at a quiet time")


def _server_use(neighbour: OtherServer) -> tuple[float, int]:
    return processor_seconds(neighbour.pid) or 0.0, disk_bytes(neighbour.pid) or 0


# As the firmware names the machine: families of instances whose processors are paid by credits.
BURSTABLE_TYPES = (
    "t2.",
    "t3.",
    "t3a.",
    "t4g.",
    "Standard_B",
    "e2-micro",
    "e2-small",
    "e2-medium",
    "f1-micro",
    "g1-small",
)


def host_cautions(host: Host) -> Iterator[str]:
    """Sentences on properties of this host that may distort a short run."""
    system = host.os
    if system and system.cloud:
        yield (
            f"This is a {system.cloud} instance: its disks may use burst credits, so a short run can be faster "
            "than sustained I/O. Repeat with a longer --time before you rely on it."
        )
    if system and system.product and system.product.startswith(BURSTABLE_TYPES):
        yield f"{system.product} has CPU credits: results are slower once they are used up."
    if system and system.containers:
        yield "This is a container: other containers on the host are not visible here and may share the disk."
    kinds = host.cpu.kinds if host.cpu else ()
    if len(kinds) > 1:
        yield "This machine has different kinds of cores: which one a measurement ran on is not controlled."


__all__ = ["Objection", "find_objections", "host_cautions", "require_no_objection", "watch_other_servers"]
