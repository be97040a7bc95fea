"""Made-up inputs for everything that reads what comes from outside: what `make fuzz OUTSIDE=1` does with a million."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
import telling
import trying
from outside import READERS, Reader

if TYPE_CHECKING:
    import random
    from pathlib import Path

# Of the many; those that do more with each input get fewer.
COUNTS = {
    "audit-of-snapshot": 4,
    "lint": 20,
    "packets": 60,
    "host-tar": 60,
    "stalk": 60,
    "history": 80,
    "snapshot": 120,
    "text": 120,
    "text-read-back": 60,
    "verdict": 120,
}
USUAL = 250


@pytest.mark.parametrize("name", READERS)
def test_nothing_breaks_a_reader(name: str) -> None:
    """A reader reads any input or refuses it in one line, within a second."""
    count = COUNTS.get(name, USUAL)
    done = trying.batch(name, f"tests/{name}", count)
    assert done.broken == ()
    assert done.read + done.refused == count


@pytest.mark.parametrize("name", sorted(set(READERS) - {"audit-of-snapshot", "lint"}))
def test_inputs_get_past_the_door(name: str) -> None:
    """Some of what is made up is taken, so that more than the first check of a reader is tried."""
    assert trying.batch(name, f"past/{name}", 60).read > 0


def test_the_same_seed_makes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """An input that broke a reader comes again with the seed of its run."""
    made: list[bytes] = []
    for name, reader in READERS.items():
        keeping = reader._replace(read=lambda data, _: made.append(data))
        monkeypatch.setitem(READERS, name, keeping)
        for _ in range(2):
            trying.batch(name, "seed", 3)
        assert made[:3] == made[3:], name
        made.clear()


def _crash(_data: bytes, _folder: str) -> None:
    raise KeyError("innodb")


def _loop(_data: bytes, _folder: str) -> None:
    while True:
        pass


def _wait(_data: bytes, _folder: str) -> None:
    time.sleep(60)


def _spend(_data: bytes, _folder: str) -> None:
    until = time.process_time() + 1.2 * trying.SLOW  # the profiling timer counts in ticks, and at 3 ends it
    while time.process_time() < until:
        pass


def _one(_chance: random.Random) -> bytes:
    return b"x"


@pytest.mark.parametrize(
    ("read", "how"),
    [
        (_crash, "KeyError: 'innodb'"),
        (_loop, "Hang: it didn't end"),
        (_wait, "Hang: it waited"),
        (_spend, "took "),
    ],
)
def test_a_broken_reader_is_noticed(monkeypatch: pytest.MonkeyPatch, read: Any, how: str) -> None:
    """An exception that is none of ours, a loop, an endless wait and a second of work are reported with the input."""
    monkeypatch.setattr(trying, "SLOW", 0.1)
    monkeypatch.setattr(trying, "STUCK", 1.0 if read is _wait else trying.STUCK)
    monkeypatch.setitem(READERS, "broken", Reader(_one, read, 1))
    (broken,) = trying.batch("broken", "seed", 1).broken
    assert (broken.reader, broken.data) == ("broken", b"x")
    assert broken.how.startswith(how)


def test_memory_without_end_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that asks for gigabytes fails at it in a process of its own, and is reported."""
    monkeypatch.setitem(READERS, "broken", Reader(_one, lambda _data, _folder: bytearray(4 << 30), 1))
    (done,) = trying.run({"broken": 1}, "seed", 1)
    assert [broken.how.partition(":")[0] for broken in done.broken] == ["MemoryError"]


def test_what_broke_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each input is in a file that is named, however often the same thing broke; the count is the exit's."""
    broken = tuple(trying.Broken("ring", bytes([n]), "KeyError: 'x' (ring.py:1)") for n in range(5))
    done = trying.Batch("ring", 7, 3, broken, 0.25, 50 << 20)
    assert telling.tell([done, done._replace(broken=())], str(tmp_path)) == 5
    printed = capsys.readouterr().out
    assert len(list(tmp_path.iterdir())) == telling.SHOWN == printed.count("KeyError")
    assert "25 inputs, 5 broke a reader, 50 MB" in printed


def test_every_reader_has_its_share() -> None:
    """A million inputs are dealt out to all readers, and to one where it is named."""
    dealt = trying.shares(1_000_000, [])
    assert set(dealt) == set(READERS)
    assert 990_000 < sum(dealt.values()) < 1_010_000
    assert trying.shares(100, ["ring"]) == {"ring": 100}
