"""The storage probes run from plan to result on real file systems, and say what they could not see."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from advisor.collect.host import open_root, read_host
from advisor.facts.host import Host
from advisor.facts.probes import Arm, Block, Metric, ProbeResult
from advisor.facts.storage import BlockDevice, Mount, Storage
from probes.conclusion import metric_means
from probes.disk import commit_latency, files, random_read, random_write
from probes.disk.aio import aio_available
from probes.disk.driver import CombinedReport, DiskTally, DiskWork, SingleFileBench
from probes.disk.files import supports_o_direct
from probes.experiment import Cost, Environment, Experiment, ProbeError, ProbeRequest, RunPlan, Turn, Variant
from probes.registry import load
from probes.rounds import run_experiment
from probes.stop import StopSignal

NAMES = ("commit-latency", "random-read", "random-write", "sequential-read")
SMALL = {
    "commit-latency": {"sizes": "512,16K"},
    "random-read": {"size": "64M", "depths": "1,8"},
    "random-write": {"size": "64M", "pages": "1,20"},
    "sequential-read": {"size": "64M", "blocks": "8K,256K,1M", "readers": "1,2"},
}
FORCED = frozenset({"busy", "neighbour", "full", "little"})


@pytest.fixture(params=["disk", "memory"])
def directory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A directory of temporary files, and one on a file system that has no device."""
    if request.param == "disk":
        yield str(tmp_path)
        return
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no /dev/shm")
    path = tempfile.mkdtemp(dir="/dev/shm")
    yield path
    shutil.rmtree(path)


def ground(directory: str) -> Environment:
    """This host."""
    return Environment(read_host(open_root("/"), datadir=directory), "here", report=lambda _: None)


def plan_of(name: str, directory: str, **choices: str) -> RunPlan:
    """The plan of an experiment."""
    return load(name).plan(ground(directory), ProbeRequest(directory, choices=choices))


def short(name: str, directory: str) -> ProbeResult:
    """A run of two seconds, of small files."""
    return run_experiment(
        load(name), ground(directory), ProbeRequest(directory, 2.0, choices=SMALL[name], force=FORCED), StopSignal()
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_run_gives_every_variant_its_metrics_and_leaves_nothing(name: str, directory: str) -> None:
    """Each block of each variant has each metric, positive and finite, and the directory is empty afterwards."""
    result = short(name, directory)
    assert result.rounds >= 1
    assert result.baseline in {arm.name for arm in result.arms}
    for arm in result.arms:
        assert arm.point
        assert result.axis in arm.settings
        for block in arm.blocks:
            assert set(block.metrics) == {metric.name for metric in result.metrics}
            assert all(math.isfinite(value) and value >= 0 for value in block.metrics.values())
            assert block.metrics[result.metrics[0].name] > 0
    assert result.limits
    assert os.listdir(directory) == []
    json.dumps(result.facts)


def test_the_driver_says_how_it_asked(directory: str) -> None:
    """Past the page cache by asynchronous I/O where both are to be had, else by threads, with what that means."""
    plan = plan_of("random-read", directory)
    if directory.startswith("/dev/shm"):
        assert plan.driver == "mycnf (threads, through the page cache)"
        assert "memory" in plan.notes[0]
    elif supports_o_direct(directory) and aio_available():
        assert plan.driver == "mycnf (Linux AIO, O_DIRECT)"
        assert plan.notes == ()
    assert plan_of("random-read", directory, open="buffered").driver == "mycnf (threads, through the page cache)"


def test_memory_has_no_direct_reads() -> None:
    """On tmpfs, which takes the flag of O_DIRECT, only cached reads are planned, and asking for others is refused."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no /dev/shm")
    plan = plan_of("sequential-read", "/dev/shm")
    assert {variant.settings["from"] for variant in plan.variants} == {"cached"}
    assert "tmpfs" in plan.notes[0]
    with pytest.raises(ProbeError, match="--dir"):
        plan_of("sequential-read", "/dev/shm", ways="direct")
    with pytest.raises(ProbeError, match="O_DIRECT"):
        plan_of("random-read", "/dev/shm", open="direct")


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_touches_nothing_and_keeps_to_its_time(name: str, tmp_path: Path) -> None:
    """A plan makes no file, takes 20 seconds besides preparation, and every block of it is long enough."""
    before = tmp_path.stat().st_mtime_ns
    plan = plan_of(name, str(tmp_path))
    assert tmp_path.stat().st_mtime_ns == before
    assert plan.seconds <= 20
    assert plan.rounds >= 3
    assert plan.seconds / (plan.rounds * len(plan.variants)) >= plan.shortest + plan.overhead
    assert len({variant.name for variant in plan.variants}) == len(plan.variants)
    assert plan.cost.disk > 0
    assert plan.cost.memory > 0
    assert str(tmp_path) in plan.cost.creates[0]


@pytest.mark.parametrize("name", NAMES)
def test_the_cost_is_what_is_taken(name: str, tmp_path: Path) -> None:
    """While it measures, the files take the room that the plan names, to a mebibyte."""
    experiment: Experiment = load(name)
    wanted = ProbeRequest(str(tmp_path), choices=SMALL[name])
    plan = experiment.plan(ground(str(tmp_path)), wanted)
    with experiment.prepare(ground(str(tmp_path)), wanted, plan, StopSignal()):
        taken = sum(file.stat().st_blocks * 512 for file in tmp_path.rglob("*") if file.is_file())
    assert plan.cost.disk <= taken <= plan.cost.disk + (1 << 20)
    assert list(tmp_path.iterdir()) == []


def test_sequential_reads_cover_what_they_promise(tmp_path: Path) -> None:
    """Blocks of 8K to 32M, cached and past the cache, by 1, 4 and 16 readers; read-ahead by one reader."""
    if not supports_o_direct(str(tmp_path)):
        pytest.skip("no O_DIRECT for temporary files here")
    plan = plan_of("sequential-read", str(tmp_path))
    seen: dict[tuple[str, str], list[int]] = {}
    for variant in plan.variants:
        seen.setdefault((variant.settings["from"], variant.settings["readers"]), []).append(int(variant.point or 0))
    assert set(seen) == {(way, n) for way in ("cached", "direct") for n in ("1", "4", "16")} | {("ahead", "1")}
    assert seen["direct", "1"] == [8192 << step for step in range(0, 13, 2)]
    assert all(points[0] == 8192 and points[-1] == 32 << 20 for points in seen.values())


def test_a_bound_is_no_advice(tmp_path: Path) -> None:
    """The bound for innodb_io_capacity is given to two digits, and as no reason to raise anything."""
    result = short("random-write", str(tmp_path))
    if "at_least" not in result.facts:  # on a busy host the driver is the limit
        assert float(result.facts["io_capacity_bound"]) == pytest.approx(float(result.facts["most_writes"]), rel=0.05)
    assert any("innodb_io_capacity" in limit and "never by itself a reason" in limit for limit in result.limits)


def test_writes_smaller_than_a_sector_are_left_out(tmp_path: Path) -> None:
    """A disk of 4096-byte sectors takes no 512 bytes past the page cache: those are left out, and said to be."""
    disk = BlockDevice("sda", "sda", "8:0", "disk", 1 << 40, logical_sector=4096)
    host = Host(storage=Storage(str(tmp_path), Mount("/", "ext4", "/dev/sda"), (disk,)))
    here = Environment(host, "here")
    plan = load("commit-latency").plan(here, ProbeRequest(str(tmp_path)))
    if not files.can_use_o_direct(here, ProbeRequest(str(tmp_path))):
        pytest.skip("no O_DIRECT for temporary files here")
    assert "fsync 512" in {variant.name for variant in plan.variants}
    assert "fsync 512 O_DIRECT" not in {variant.name for variant in plan.variants}
    assert "fsync 4K O_DIRECT" in {variant.name for variant in plan.variants}
    assert "4096" in plan.notes[0]


@pytest.mark.parametrize(
    ("name", "choice", "words"),
    [
        ("random-read", {"size": "1M"}, "size=1M"),
        ("random-read", {"size": "9999T"}, "the maximum is 1T"),
        ("random-read", {"blocks": "1000"}, "multiples of 512"),
        ("random-read", {"depths": "0"}, "depths=0"),
        ("random-read", {"depths": "5000"}, "the maximum is 1024"),
        ("random-read", {"open": "sideways"}, "auto, direct, buffered"),
        ("random-write", {"pages": "100000"}, "the maximum is 4096"),
        ("sequential-read", {"readers": "1000"}, "the maximum is 128"),
        ("sequential-read", {"blocks": "512"}, "minimum 4K"),
        ("sequential-read", {"ways": ""}, "ways"),
        ("commit-latency", {"calls": "sync"}, "fsync, fdatasync"),
        ("commit-latency", {"blocks": "4K"}, "blocks"),
    ],
)
def test_a_choice_that_cannot_be_is_one_clear_line(
    tmp_path: Path, name: str, choice: dict[str, str], words: str
) -> None:
    """What was chosen, and what can be chosen instead, are in one line."""
    with pytest.raises(ProbeError, match=words) as refused:
        plan_of(name, str(tmp_path), **choice)
    assert "\n" not in str(refused.value)


def test_a_driver_at_its_own_limit_says_at_least() -> None:
    """Nine tenths of a processor or more make a figure a lower bound, named; less don't."""
    tally = DiskTally()
    quick, slow = Variant("quick", {}), Variant("slow", {})
    for _ in range(3):
        tally.add(quick, CombinedReport(1.0, 1, 1, processor=0.93, queued=0.0), {"reads": 1.0})
        tally.add(slow, CombinedReport(1.0, 1, 1, processor=0.5, queued=0.0), {"reads": 1.0})
    assert tally.facts(["quick", "slow"]) == {"at_least": "quick"}
    assert tally.notes(["quick", "slow"])[0].startswith("Lower bounds")
    assert tally.notes(["slow"]) == ()


def test_a_driver_that_waits_for_a_processor_says_so() -> None:
    """Where others keep the processors busy, the figures are lower bounds as well."""
    tally = DiskTally()
    tally.add(Variant("one", {}), CombinedReport(1.0, 1, 1, processor=0.3, queued=0.4), {"reads": 1.0})
    assert "waited" in tally.notes(["one"])[0]


def test_the_answer_gives_the_means_of_the_table(directory: str) -> None:
    """One far block of five is drawn in, in the sentence as in the table beside it."""
    tally, reads = DiskTally(), Metric("reads", "1/s")
    rows = {"1 at once": (100.0, 104.0, 97.0, 101.0, 30.0), "4 at once": (300.0, 310.0, 290.0, 303.0, 299.0)}
    for name, row in rows.items():
        for value in row:
            tally.add(Variant(name, {}), CombinedReport(1.0, 1, 1, 0.5, 0.0), {reads.name: value})
    arms = tuple(
        Arm(name, {}, tuple(Block(n, 0.0, 1.0, {reads.name: value}) for n, value in enumerate(row)))
        for name, row in rows.items()
    )
    shown = metric_means(
        replace(short("random-read", directory), arms=arms, metrics=(reads,), baseline="1 at once"), reads
    )
    assert {name: tally.mean(name, reads.name) for name in rows} == pytest.approx(shown)
    assert tally.best(rows, reads.name) == ("4 at once", tally.mean("4 at once", reads.name))


@pytest.mark.parametrize(
    ("processor", "queued", "first"), [(0.5, 0.0, "At most"), (0.95, 0.0, "At least"), (0.5, 0.2, "At least")]
)
def test_the_most_writes_are_a_bound_only_where_the_disk_was_the_limit(
    processor: float, queued: float, first: str
) -> None:
    """A driver without processor time, its own or for other processes, leaves a figure that the disk may exceed."""
    tally, name = DiskTally(), "64 to each fsync"
    for _ in range(3):
        report = CombinedReport(1.0, 640, 1, processor=processor, queued=queued)
        tally.add(Variant(name, {}), report, {"writes": 640.0, "batch": 900.0, "batch_p99": 2000.0})
    facts = random_write._facts(tally, [name])
    assert str(facts["answer"]).startswith(f"{first} 640 random page writes per second are durable")
    assert ("io_capacity_bound" in facts) == (first == "At most")
    assert tally.facts([name]) == ({} if first == "At most" else {"at_least": name})


@pytest.mark.parametrize(("faster", "said"), [(0.9, False), (0.5, True)])
def test_no_way_is_called_the_fastest_by_chance(faster: float, said: bool) -> None:
    """Of sixteen alike one always has the shortest median; it is named if it differs by more than noise."""
    tally, draw = DiskTally(), random.Random(5)  # noqa: S311 - noise, no secret
    names = [f"fsync {size}" for size in range(16)]
    for _ in range(5):
        for name in names:
            latency = 1000.0 * math.exp(draw.gauss(0, 0.15)) * (faster if name == names[7] else 1.0)
            report = CombinedReport(1.0, 1, 1, 0.1, 0.0)
            tally.add(Variant(name, {}), report, {"latency": latency, "latency_p99": 5 * latency})
    facts = commit_latency._facts(tally, names)
    assert ("has the shortest median" in str(facts["answer"])) is said
    assert facts["quickest"] == names[7]


def test_excluded_blocks_have_no_part_in_the_answer() -> None:
    """A block that was disturbed is in no table, nor in the sentence above it."""
    reads = iter([100.0, 101.0, 99.0, 1000.0, 100.0])

    def run(_tasks: object, _seconds: float, _stop: StopSignal) -> list[dict[str, float]]:
        return [{"began": 0, "ended": 1e9, "count": 9, "bytes": 9, "cpu": 0.1, "queued": 0.0, "median": next(reads)}]

    variant = Variant("1 at once", {"queue depth": "1", "bytes": "16384"})
    plan = RunPlan((variant,), variant.name, (), Cost(0, 0, 0.0, ()), 1.0, 5)
    work = DiskWork({}, lambda _: {}, "reads", {"latency": "median", "latency_p99": "median"}, random_read._facts)
    bench = SingleFileBench(SimpleNamespace(run=run), plan, work, {})
    blocks = [
        Block(number, 0.0, 1.0, bench.measure(variant, Turn(number, 1.0), StopSignal()).metrics) for number in range(5)
    ]
    blocks[3] = Block(3, 0.0, 1.0, {}, invalid="other processes used 40% of the processors; the limit is 25%")
    bench.keep_blocks((Arm(variant.name, {}, tuple(blocks)),))
    assert float(bench.facts()["one_read"]) == pytest.approx(100, abs=0.1)
