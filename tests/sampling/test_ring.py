"""The ring keeps its size, loses no more than a slot to a write that is cut off, and serves two at once."""

from __future__ import annotations

import gc
import itertools
import os
import stat
import subprocess
import sys
import tempfile
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mycnf_command import CHECKOUT

from advisor.commands.sample import load_samples
from advisor.core.errors import USAGE, MycnfError
from advisor.facts import Sample, Server
from advisor.facts.server import Link
from advisor.state import sample_ring
from advisor.state.sample_ring import Head, RingError, RingSample, ring_path, save_sample

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD = Head("db1", ("questions", "connections"), 5)
SERVER = {"hostname": "db1", "port": "3306", "datadir": "/var/lib/mysql/"}
NOON = 1_795_262_400


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def entry(number: int) -> RingSample:
    """The sample of that number, ten minutes after the one before."""
    return RingSample(
        NOON + 600 * number, 5000 + 600 * number, 10**12 + number, {"questions": number, "connections": 7}
    )


@given(st.integers(0, 23))
@settings(max_examples=20)
def test_the_newest_are_kept(tmp_path: Path, count: int) -> None:
    """However many are written, the ring holds the newest, in order, in a file of the same size."""
    path = str(tmp_path / "ring")
    sample_ring.create(path, HEAD)
    size = os.path.getsize(path)
    held = [sample_ring.append(path, HEAD, entry(number)) for number in range(count)]
    assert held == [min(number + 1, 5) for number in range(count)]
    assert sample_ring.read(path) == (HEAD, [entry(number) for number in range(count)][-5:])
    assert sample_ring.last(path, HEAD) == (entry(count - 1) if count else None)
    assert os.path.getsize(path) == size


@given(st.integers(1, 12), st.data())
@settings(max_examples=60)
def test_a_spoiled_slot_is_skipped(tmp_path: Path, count: int, data: st.DataObject) -> None:
    """Bytes that are lost or changed cost the slots that they are in, and the ring goes on."""
    path = tmp_path / "ring"
    sample_ring.create(str(path), HEAD, [entry(n) for n in range(count)])
    whole = sample_ring.read(str(path))[1]
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(sample_ring.HEAD, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    left = sample_ring.read(str(path))[1]
    assert len(whole) - len(left) <= 1
    assert [e for e in whole if e in left] == left
    sample_ring.append(str(path), HEAD, entry(count))
    assert sample_ring.last(str(path), HEAD) == entry(count)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9])
def test_a_cut_off_ring(tmp_path: Path, share: float) -> None:
    """A ring without its end is read as far as it goes; one without its head is one line with the remedy."""
    path = tmp_path / "ring"
    sample_ring.create(str(path), HEAD, [entry(n) for n in range(5)])
    content = path.read_bytes()
    path.write_bytes(content[: sample_ring.HEAD + int((len(content) - sample_ring.HEAD) * share)])
    assert sample_ring.read(str(path))[1] == [entry(n) for n in range(int(5 * share))]
    path.write_bytes(content[:100])
    with pytest.raises(RingError, match=r"^[^\n]*remove it, and mycnf sample creates a new one$") as caught:
        sample_ring.read(str(path))
    assert caught.value.code == USAGE


@given(st.binary(max_size=9000))
@settings(max_examples=40)
def test_anything_else_is_refused(tmp_path: Path, data: bytes) -> None:
    """Other files are no rings, with any content."""
    path = tmp_path / "ring"
    path.write_bytes(data)
    with pytest.raises(RingError):
        sample_ring.read(str(path))


def sample(uptime: int, **counters: int) -> Sample:
    """Counters at an uptime."""
    return Sample(float(uptime), {"questions": uptime, **counters}, uptime * 1000)


def test_a_ring_is_private(state: Path) -> None:
    """File and folder are their owner's alone, and nothing stays beside the ring but the lock."""
    save_sample(sample(5000), SERVER, NOON)
    folder = state / "mycnf" / "samples"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert len(list(folder.glob("*.ring"))) == len(list(folder.iterdir())) - 1 == 1


def test_too_soon_is_left_out() -> None:
    """A sample seconds after the last is left out; after a restart or a jump of the clock it is kept."""
    assert not save_sample(sample(5000), SERVER, NOON).too_soon
    assert save_sample(sample(5010), SERVER, NOON + 10).too_soon
    assert not save_sample(sample(20), SERVER, NOON + 40).too_soon
    assert not save_sample(sample(40), SERVER, NOON - 86400).too_soon
    assert len(sample_ring.read(ring_path(SERVER))[1]) == 3


def test_an_older_ring_is_taken_over() -> None:
    """A ring of other counters and another length keeps what it has when the next sample comes."""
    save_sample(sample(5000), SERVER, NOON)
    path = ring_path(SERVER)
    sample_ring.create(path, Head("db1", ("questions", "no_longer"), 3), sample_ring.read(path)[1])
    assert save_sample(sample(6000), SERVER, NOON + 1000).held == 2
    assert [(e.uptime, e.counters["questions"]) for e in sample_ring.read(path)[1]] == [(5000, 5000), (6000, 6000)]


def test_a_full_disk_leaves_the_old_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written it is one line, and the ring is as it was."""
    save_sample(sample(5000), SERVER, NOON)
    before = sample_ring.read(ring_path(SERVER))

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("advisor.state.sample_ring.os.pwrite", full)
    with pytest.raises(MycnfError, match=r"^the sample cannot be saved in \S+ \(No space left on device\); [^\n]*$"):
        save_sample(sample(6000), SERVER, NOON + 1000)
    assert sample_ring.read(ring_path(SERVER)) == before


def test_two_at_once_lose_nothing(state: Path) -> None:
    """Four processes that sample at once, each another moment of a server, keep all that they sample."""
    code = (
        "import sys; from advisor.facts import Sample; from advisor.state.sample_ring import save_sample\n"
        "for n in range(25):\n"
        "    at = 600 * (4 * n + int(sys.argv[1])) + 1000\n"
        "    save_sample(Sample(float(at), {'questions': at}), {'hostname': 'db1'}, -at)"  # each start is another one
    ).replace("-at)", "10**9 + at * 3)")
    environment = {**os.environ, "XDG_STATE_HOME": str(state), "PYTHONPATH": str(CHECKOUT)}
    each = [subprocess.Popen([sys.executable, "-c", code, str(n)], env=environment) for n in range(4)]
    assert [process.wait(120) for process in each] == [0] * 4
    kept = sample_ring.read(ring_path({"hostname": "db1"}))[1]
    assert sorted(e.uptime for e in kept) == [600 * n + 1000 for n in range(100)]


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A state directory in memory, where there is one: ten thousand times to the disk take minutes."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path) as folder:
        monkeypatch.setenv("XDG_STATE_HOME", folder)
        yield


def test_thousands_of_windows_take_no_more_room(quick: None) -> None:
    """Three weeks of sampling in one process: the file keeps its size, and memory doesn't grow by 5 %.

    A third of it comes after the ring is full; `tools/figures --only weeks` samples ten thousand windows.
    """
    uptimes = itertools.count(5000, 600)

    def turn(times: int) -> int:
        for _, at in zip(range(times), uptimes, strict=False):
            save_sample(sample(at, connections=at), SERVER, NOON + at)
        gc.collect()  # garbage that waits to be collected is no growth
        return tracemalloc.get_traced_memory()[0]

    turn(50)
    size = os.path.getsize(ring_path(SERVER))
    tracemalloc.start()
    try:
        early = turn(150)
        late = turn(2 * sample_ring.SLOTS - 1000)
    finally:
        tracemalloc.stop()
    assert os.path.getsize(ring_path(SERVER)) == size
    assert size < 1 << 20
    assert late <= early * 1.05 + 4096
    assert len(sample_ring.read(ring_path(SERVER))[1]) == sample_ring.SLOTS


@pytest.mark.parametrize(("days", "used"), [(13, True), (15, False)])
def test_samples_of_long_ago_are_not_used(days: int, used: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Once no sample was taken for two weeks audits no longer report the busiest hour of then, and say so."""
    for number in range(8):
        save_sample(sample(5000 + 600 * number), SERVER, int(time.time()) - days * 86400 + 600 * number)
    sampled = load_samples(Server("mysql", "9.7.4", "", "MySQL", Link("socket"), SERVER, {}))
    assert (sampled is not None and sampled.hour("redo") is not None) is used
    assert ("the newest is 15 days old" in capsys.readouterr().err) is not used
