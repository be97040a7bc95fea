"""Compare the driver of the storage probes with fio: same file, same requests, alternating."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from figure import Figure

from probes.disk.aio import aio_available
from probes.disk.driver import DriverProcesses, combine_reports
from probes.disk.files import ScratchFiles, supports_o_direct
from probes.disk.sequential_read import reader_ranges
from probes.stop import StopSignal

PAIRS = 5
TURNS = 4  # turns of each in a pair
SECONDS = float(os.environ.get("SECONDS_EACH", "0.75"))
WITHIN = 15  # percent
SIZE = 1 << 30
KIB, MIB = 1 << 10, 1 << 20


class Case(NamedTuple):
    """One request, as configured for our driver and for fio; `ours` and `fios` extract the figure from the output."""

    name: str
    unit: str
    tasks: list[dict[str, Any]]
    fio: list[str]
    ours: Callable[[list[dict[str, Any]]], float]
    fios: Callable[[dict[str, Any]], float]


class Pairs(NamedTuple):
    """The results of both, pair by pair, and `itself`: ratios of fio to fio, measured in the same way."""

    case: Case
    ours: list[float]
    fio: list[float]
    itself: list[float]

    @property
    def ratio(self) -> float:
        """The median ratio of the pairs, ours divided by fio's."""
        return statistics.median(own / beside for own, beside in zip(self.ours, self.fio, strict=True))

    @property
    def noise(self) -> float:
        """The median ratio of fio to itself; a deviation of this size is noise."""
        return statistics.median(self.itself)

    @property
    def off(self) -> float:
        """The deviation of the ratio from 1, in percent."""
        return abs(self.ratio - 1) * 100


def figures(_top: str) -> Iterator[Figure]:
    """Our figure, fio's, and the deviation of the median ratio from 1."""
    directory = os.environ.get("DIR", tempfile.gettempdir())
    if reason := lacking(directory):
        yield Figure("storage driver beside fio", None, reason_missing=reason)
        return
    for pairs in beside_fio(directory):
        name, unit = pairs.case.name, pairs.case.unit
        yield Figure(f"{name}: ours, median of {PAIRS}", statistics.median(pairs.ours), unit)
        yield Figure(f"{name}: fio's", statistics.median(pairs.fio), unit)
        yield Figure(f"{name}: fio beside itself is off by", abs(pairs.noise - 1) * 100, "%")
        yield Figure(f"{name}: the pairs' median is off by", pairs.off, "%", "<=", WITHIN)


def lacking(directory: str) -> str:
    """Why the two cannot be compared here; empty if they can."""
    if shutil.which("fio") is None:
        return "no fio (apt-get install fio)"
    if not supports_o_direct(directory):
        return f"no O_DIRECT in {directory} (DIR=… names another)"
    return "" if aio_available() else "the kernel grants no asynchronous I/O"


def beside_fio(directory: str) -> Iterator[Pairs]:
    """Every case, pair by pair, on one file."""
    stop = StopSignal()
    with ScratchFiles(directory, lambda _: None, stop) as material, DriverProcesses(4) as crew:
        path = material.create("pages", SIZE)
        size = os.path.getsize(path)
        for case in _cases(path, size):
            measure = (
                lambda case=case: case.ours(crew.run(case.tasks, SECONDS, stop)),
                lambda case=case: case.fios(_fio(path, size, case.fio)),
            )
            pairs, alike = [], []
            for _ in range(PAIRS):
                pairs.append(_pair(*measure))
                alike.append(_pair(measure[1], measure[1]))
            itself = [one / other for one, other in alike]
            yield Pairs(case, [own for own, _ in pairs], [beside for _, beside in pairs], itself)


def _pair(ours: Callable[[], float], fios: Callable[[], float]) -> tuple[float, float]:
    """Medians of a few short turns each, in alternating order, so that disturbances of the host affect both alike."""
    own: list[float] = []
    beside: list[float] = []
    for turn in range(TURNS):
        for measure, values in ((ours, own), (fios, beside))[:: 1 if turn % 2 == 0 else -1]:
            values.append(measure())
    return statistics.median(own), statistics.median(beside)


def _cases(path: str, size: int) -> Iterator[Case]:
    for depth in (1, 4, 16, 32, 64):
        yield _random(path, size, depth)
    for block, readers in ((128 * KIB, 1), (MIB, 1), (MIB, 4)):
        yield _sequential(path, size, block, readers, direct=True)
    yield _sequential(path, size, 128 * KIB, 1, direct=False)
    for call in ("fsync", "fdatasync"):
        for direct in (False, True):
            yield _commit(path, size, call, direct=direct)


def _random(path: str, size: int, depth: int) -> Case:
    task = {"task": "read", "path": path, "size": size, "seed": 1, "direct": True, "way": "aio"}
    return Case(
        f"random reads of 16K, {depth} at once",
        "1/s",
        [task | {"depth": depth, "block": 16 * KIB}],
        ["--rw=randread", "--bs=16k", "--ioengine=libaio", f"--iodepth={depth}", "--direct=1", "--randrepeat=0"],
        lambda reports: combine_reports(reports).done / combine_reports(reports).seconds,
        lambda job: float(job["read"]["iops"]),
    )


def _sequential(path: str, size: int, block: int, readers: int, *, direct: bool) -> Case:
    task = {"task": "follow", "path": path, "direct": direct, "drop": False, "block": block}
    apart = size // readers // block * block
    return Case(
        f"sequential reads of {block // KIB}K, {'O_DIRECT' if direct else 'cached'}, {readers} at once",
        "MB/s",
        [task | part for part in reader_ranges(size, readers, block)],
        [
            *(
                "--rw=read",
                f"--bs={block}",
                "--ioengine=psync",
                f"--direct={direct:d}",
                "--thread",
                "--group_reporting",
            ),
            *(f"--numjobs={readers}", f"--size={apart}", f"--offset_increment={apart}"),
        ],
        lambda reports: combine_reports(reports).bytes / combine_reports(reports).seconds / 1e6,
        lambda job: float(job["read"]["bw_bytes"]) / 1e6,
    )


def _commit(path: str, size: int, call: str, *, direct: bool) -> Case:
    task = {"task": "commit", "path": path, "size": size, "block": 16 * KIB, "call": call, "direct": direct}
    return Case(
        f"{call} after 16K, {'O_DIRECT' if direct else 'buffered'}, median",
        "us",
        [task],
        ["--rw=write", "--bs=16k", "--ioengine=psync", f"--direct={direct:d}", f"--{call}=1"],
        lambda reports: float(reports[0]["sync"]),
        lambda job: float(job["sync"]["lat_ns"]["percentile"]["50.000000"]) / 1000,
    )


def _fio(path: str, size: int, words: list[str]) -> dict[str, Any]:
    """One fio job on our file; its caches are left as they are."""
    common = [
        "--name=beside",
        f"--filename={path}",
        f"--size={size}",
        "--time_based",
        f"--runtime={SECONDS * 1000:.0f}ms",
    ]
    command = ["fio", *common, *words, "--invalidate=0", "--allow_file_create=0", "--output-format=json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=os.path.dirname(path))
    job: dict[str, Any] = json.loads(ran.stdout[ran.stdout.index("{") :])["jobs"][0]
    return job
