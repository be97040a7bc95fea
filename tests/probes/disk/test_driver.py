"""The driver's processes do exactly what they report: the kernel's own trace and counters are the judges."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mycnf_command import CHECKOUT
from process_checks import PATIENCE, alive, eventually

from probes.disk.aio import aio_available
from probes.disk.driver import DriverProcesses, combine_reports
from probes.disk.files import MINIMUM_BYTES, ScratchFiles, evict, resident_share, supports_o_direct
from probes.disk.sequential_read import reader_ranges
from probes.experiment import ProbeError
from probes.stop import StopSignal

SIZE = MINIMUM_BYTES
SHORT = 0.3  # seconds of measuring
PAGE = 16384
ASKED = re.compile(r"aio_lio_opcode=(\w+).*?aio_nbytes=(\d+), aio_offset=(\d+)")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A file of the driver's own, on the file system of the system's temporary files."""
    directory = str(tmp_path_factory.mktemp("driver"))
    with ScratchFiles(directory, lambda _: None, StopSignal()) as material:
        yield material.create("pages", SIZE)


@pytest.fixture
def direct(path: str) -> None:
    """Skips where files can't be read past the page cache."""
    if not supports_o_direct(os.path.dirname(path)) or not aio_available():
        pytest.skip("no O_DIRECT or no asynchronous I/O for temporary files here")


@pytest.fixture
def crew() -> Iterator[DriverProcesses]:
    """One process."""
    with DriverProcesses(1) as one:
        yield one


def traced(crew: DriverProcesses, task: dict[str, Any], calls: str, log: Path) -> tuple[dict[str, Any], str]:
    """The report of a task, and what strace saw of it; skips where strace isn't or may not trace."""
    if shutil.which("strace") is None:
        pytest.skip("no strace (apt-get install strace)")
    pid = crew._processes[0].pid
    crew.run([task], 0, StopSignal())  # the first time brings in modules, and those read files too
    command = ["strace", "-f", "-y", "-v", "-e", f"trace={calls}", "-o", str(log), "-p", str(pid)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as strace:
        assert strace.stderr
        line = strace.stderr.readline()
        if "attached" not in line:
            pytest.skip(f"strace may not trace here: {line.strip()}")
        report = crew.run([task], SHORT, StopSignal())[0]
        crew.close()
        strace.wait(PATIENCE)
    return report, log.read_text()


@pytest.mark.usefixtures("direct")
def test_random_reads_ask_for_all_pages_before_any_twice(crew: DriverProcesses, path: str, tmp_path: Path) -> None:
    """Each read is of one aligned page within the file, all are counted, and no page comes a second time too early."""
    task = {"task": "read", "path": path, "size": SIZE, "seed": 1, "direct": True, "way": "aio", "depth": 8}
    report, trace = traced(crew, task | {"block": PAGE}, "io_submit,openat", tmp_path / "trace")
    asked = [(found[1], int(found[2]), int(found[3])) for found in ASKED.finditer(trace)]
    places = [place for _, _, place in asked]
    assert {opcode for opcode, _, _ in asked} == {"IOCB_CMD_PREAD"}
    assert {length for _, length, _ in asked} == {PAGE}
    assert all(place % PAGE == 0 and 0 <= place <= SIZE - PAGE for place in places)
    pages = SIZE // PAGE
    assert len(set(places[:pages])) == min(len(places), pages)
    assert places[:8] != sorted(places[:8])
    assert report["bytes"] == report["count"] * PAGE
    assert 0 < report["count"] <= len(asked) <= report["count"] + 8
    assert "O_DIRECT" in next(line for line in trace.splitlines() if "openat" in line and path in line)


@pytest.mark.usefixtures("direct")
@pytest.mark.parametrize("batch", [1, 8, 100])
def test_random_writes_sync_after_each_batch(crew: DriverProcesses, path: str, tmp_path: Path, batch: int) -> None:
    """Between two syncs lie as many pages as were asked for, also more than are under way at once; all are counted."""
    task = {"task": "write", "path": path, "size": SIZE, "seed": 1, "direct": True, "way": "aio", "depth": 64}
    report, trace = traced(crew, task | {"batch": batch, "block": PAGE}, "io_submit,fsync", tmp_path / "trace")
    pages, batches = 0, []
    for line in trace.splitlines():
        pages += len(ASKED.findall(line))
        if "fsync(" in line:
            batches.append(pages)
            pages = 0
    assert set(batches) == {batch}
    assert report["count"] == batch * len(batches) > 0
    assert os.path.getsize(path) == SIZE


@pytest.mark.parametrize(("call", "block"), [("fsync", 512), ("fdatasync", 65536)])
def test_commits_are_a_write_and_a_sync_each(
    crew: DriverProcesses, path: str, tmp_path: Path, call: str, block: int
) -> None:
    """The pieces follow one another without a gap, each made safe by the call that was named; none goes uncounted."""
    task = {"task": "commit", "path": path, "size": SIZE, "block": block, "call": call, "direct": False}
    report, trace = traced(crew, task, "pwrite64,fsync,fdatasync", tmp_path / "trace")
    steps = re.findall(r"(pwrite64|fsync|fdatasync)\(\d+<([^>]*)>(?:.*, (\d+), (\d+)\))?", trace)
    assert [name for name, _, _, _ in steps] == ["pwrite64", call] * report["count"]
    assert {file for _, file, _, _ in steps} == {path}
    writes = [(int(length), int(place)) for name, _, length, place in steps if name == "pwrite64"]
    assert writes == [(block, number * block % SIZE) for number in range(report["count"])]
    assert report["count"] > 0


@pytest.mark.usefixtures("direct")
def test_direct_reads_come_from_the_device(crew: DriverProcesses, path: str) -> None:
    """The kernel counts as many bytes read from the device as were reported, and nothing stays in the page cache."""
    evict([path])
    if resident_share(path):
        pytest.skip("the file system of temporary files keeps its files in memory")
    pid = crew._processes[0].pid
    before = read_bytes(pid)
    task = {"task": "follow", "path": path, "direct": True, "drop": False, "block": 1 << 20}
    report = crew.run([task | reader_ranges(SIZE, 1, 1 << 20)[0]], SHORT, StopSignal())[0]
    assert read_bytes(pid) - before == pytest.approx(report["bytes"], rel=0.05, abs=1 << 20)
    assert resident_share(path) == 0


def test_dropped_reads_come_from_the_device_in_every_pass(crew: DriverProcesses, path: str) -> None:
    """Reads through the page cache that are to go beyond it are all read from the device, the second pass as well."""
    evict([path])
    if resident_share(path):
        pytest.skip("the file system of temporary files keeps its files in memory")
    task = {"task": "follow", "path": path, "direct": False, "drop": True, "block": 1 << 20}
    order = task | {"start": 0, "length": 4 << 20}
    for _ in range(2):
        before = read_bytes(crew._processes[0].pid)
        report = crew.run([order], SHORT, StopSignal())[0]
        # What was still being read ahead when its pages were to go stays: at most a few reads of a pass.
        assert read_bytes(crew._processes[0].pid) - before > report["bytes"] / 2 > 0


def read_bytes(pid: int) -> int:
    """Bytes that a process had read from devices."""
    return int(re.findall(r"^read_bytes: (\d+)", Path(f"/proc/{pid}/io").read_text(), re.MULTILINE)[0])


@pytest.mark.parametrize("place", ["disk", "memory"])
def test_threads_read_where_nothing_else_can(path: str, tmp_path: Path, place: str) -> None:
    """Without O_DIRECT, on tmpfs too, threads read as many pages as they report latencies of."""
    if place == "memory":
        if not os.access("/dev/shm", os.W_OK):
            pytest.skip("no /dev/shm")
        with ScratchFiles("/dev/shm", lambda _: None, StopSignal()) as material, DriverProcesses(1) as crew:
            report = by_threads(crew, material.create("pages", SIZE))
    else:
        with DriverProcesses(1) as crew:
            report = by_threads(crew, path)
    assert report["count"] > 0
    assert 0 < report["median"] <= report["p99"]


def by_threads(crew: DriverProcesses, path: str) -> dict[str, Any]:
    """The report of random reads by threads."""
    task = {"task": "read", "path": path, "size": SIZE, "seed": 1, "direct": False, "way": "threads", "depth": 4}
    return crew.run([task | {"block": 4096}], SHORT, StopSignal())[0]


@pytest.mark.parametrize("size", [SIZE, 48 << 20, (5 << 20) + 4096])
@pytest.mark.parametrize("readers", [1, 4, 16])
@pytest.mark.parametrize("block", [8192, 1 << 20, 4 << 20])
def test_readers_have_parts_of_whole_blocks(size: int, readers: int, block: int) -> None:
    """Every part lies within the file, begins and ends at a block, and parts only overlap where blocks don't fit."""
    shares = reader_ranges(size, readers, block)
    assert len(shares) == readers
    for share in shares:
        assert share["start"] % block == share["length"] % block == 0
        assert share["length"] > 0
        assert share["start"] + share["length"] <= size
    if readers * block <= size:
        ends = [share["start"] + share["length"] for share in shares]
        assert all(end <= after["start"] for end, after in zip(ends, shares[1:], strict=False))


def test_several_readers_work_at_the_same_time(path: str) -> None:
    """Each reads its own part, and together they count what each did, over the time from the first to the last."""
    with DriverProcesses(3) as crew:
        task = {"task": "follow", "path": path, "direct": False, "drop": False, "block": 65536}
        reports = crew.run([task | part for part in reader_ranges(SIZE, 3, 65536)], SHORT, StopSignal())
    whole = combine_reports(reports)
    assert whole.bytes == sum(report["bytes"] for report in reports)
    assert max(report["began"] for report in reports) < min(report["ended"] for report in reports)
    assert whole.seconds * 1e9 >= max(report["ended"] - report["began"] for report in reports)


class Later(StopSignal):
    """Says stop once a process has read and written more than any order is long: then it measures."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._pid = pid
        self._before = passed_on(pid)

    def is_set(self) -> bool:
        """Whether it has."""
        return passed_on(self._pid) > self._before + 65536


def passed_on(pid: int) -> int:
    """Bytes that a process has read and written by its calls so far."""
    counters = dict(re.findall(r"^(\w+): (\d+)", Path(f"/proc/{pid}/io").read_text(), re.MULTILINE))
    return int(counters["rchar"]) + int(counters["wchar"])


@pytest.mark.parametrize("task", ["read", "follow", "commit"])
def test_the_word_to_stop_ends_a_measurement(crew: DriverProcesses, path: str, task: str) -> None:
    """A measurement of an hour ends once it is told to, with what was done till then; further tasks are taken."""
    words: dict[str, dict[str, Any]] = {
        "read": {"size": SIZE, "seed": 1, "direct": False, "way": "threads", "depth": 2, "block": 4096},
        "follow": {"direct": False, "drop": False, "block": 8192, "start": 0, "length": SIZE},
        "commit": {"size": SIZE, "block": 4096, "call": "fsync", "direct": False},
    }
    order = words[task] | {"task": task, "path": path}
    crew.run([order], 0, StopSignal())  # the first time brings in modules, and those read files too
    stop = Later(crew._processes[0].pid)
    assert crew.run([order], 3600, stop)[0]["count"] > 0
    assert crew.run([order], 3600, stop)[0]["count"] >= 0
    assert crew.run([order], SHORT, StopSignal())[0]["count"] > 0


def test_a_file_that_is_gone_is_one_clear_line(crew: DriverProcesses, tmp_path: Path) -> None:
    """What the system refuses is said in its own words, and the process takes further tasks."""
    task = {"task": "follow", "path": str(tmp_path / "none"), "direct": False, "drop": False, "block": 8192}
    for _ in range(2):
        with pytest.raises(ProbeError, match="refused: No such file or directory"):
            crew.run([task | {"start": 0, "length": 8192}], SHORT, StopSignal())


def test_a_driver_that_dies_is_one_clear_line(crew: DriverProcesses, path: str) -> None:
    """A process that is killed ends the run with a sentence, not with a wait."""
    crew._processes[0].kill()
    with pytest.raises(ProbeError, match="a driver process ended"):
        crew.run([{"task": "commit", "path": path}], SHORT, StopSignal())


OWNER = """
import sys, threading
from probes.disk.driver import DriverProcesses
from probes.stop import StopSignal
crew = DriverProcesses(2)
print(*(process.pid for process in crew._processes), flush=True)
task = {"task": "follow", "path": sys.argv[1], "direct": False, "drop": False, "block": 8192, "start": 0}
crew.run([task | {"length": 8192}] * 2, 3600, StopSignal())
"""


def test_the_driver_dies_with_its_owner(path: str) -> None:
    """After kill -9 of the process that measures, none of the driver's own goes on."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, path], stdout=subprocess.PIPE, text=True, cwd=CHECKOUT
    ) as owner:
        assert owner.stdout
        pids = [int(word) for word in owner.stdout.readline().split()]
        assert len(pids) == 2
        assert all(alive(pid) for pid in pids)
        owner.kill()
    eventually(lambda: not any(alive(pid) for pid in pids), what="the driver ends with its owner")
