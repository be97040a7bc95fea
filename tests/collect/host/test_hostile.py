"""With any content of the files, reading a host ends with a host."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.collect.host import NotProved, OwnershipProof, ServerClaim, find_server_process, read_host
from advisor.collect.host.root import MAX_READ, FileId, LiveRoot
from advisor.facts.host import Host
from advisor.facts.snapshot import to_plain, to_value
from advisor.facts.storage import Space

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = [
    "0-3,8", "0-99999999999", "ffffffff,ffffffff", "-1", "0", "9" * 5000, "99999999999999999999", "max", "max 100000",
    "[none] mq-deadline", "[", "8:0", "259:1", "raid10", "raid5", "4 (3)", "32K", "Unified", "Name:\tmysqld\nUid:\t0",
    "1 1 8:0 / / rw - ext4 /dev/sda rw\n2 1 8:0 / / rw - btrfs /dev/sda:/dev/md0 rw\n1 2 0:1 / / rw - cgroup2 x rw",
    "0::/a/../../b\n4:memory,cpu:/" + "x/" * 3000, "processor : 0\nflags : lm\nprocessor : 70000\nprocessor 1: x : y",
    "MemTotal: 1 kB\nHugePages_Total: x", "a=b\nPRETTY_NAME='\x1b[31m", "CPU Topology SW: 0 0 4 2 3 8", "\x00",
    "\\777",
    "cache3 : level=9 type=Data scope=Shared size=64K", "Max open files  1 2 3", "238: online", "/lib/libjemalloc.so",
]  # fmt: skip
NAMES = [
    "sda",
    "sda1",
    "md0",
    "dm-0",
    "loop0",
    "cciss!c0d0",
    "cpu0",
    "node1",
    "node99999999",
    "index0",
    "7",
    "..",
    "a b",
]
claims = st.builds(
    ServerClaim,
    via=st.sampled_from(["socket", "tcp", ""]),
    peer_pid=st.integers(-1, 1 << 22),
    proxied=st.booleans(),
    datadir=st.text() | st.just("/data/"),
    pid_file=st.text() | st.just("/run/mysqld.pid"),
    socket=st.text(),
    hostname=st.text(),
)


class Rubbish:
    """A root where every path exists and holds one of a few texts, names and links, none of which fits."""

    def __init__(self, texts: list[str], names: list[str], salt: int) -> None:
        self._texts, self._names, self._salt = texts, names, salt

    def _pick(self, path: str) -> int:
        return sum(path.encode()) * 31 + self._salt

    def read(self, path: str, limit: int = MAX_READ) -> str | None:
        text = self._texts[self._pick(path) % len(self._texts)]
        return None if text == "" else text[:limit]

    def names(self, path: str) -> tuple[str, ...]:
        return tuple(self._names) if self._pick(path) % 3 else ()

    def link(self, path: str) -> str | None:
        return self._texts[self._pick(path) % len(self._texts)] or None

    def real(self, path: str) -> str | None:
        return path if self._pick(path) % 2 else None

    def identify(self, path: str) -> FileId | None:
        return FileId(1, self._pick(path) % 3, 0) if self._pick(path) % 2 else None

    def machine(self) -> str | None:
        return None

    def space(self, path: str) -> Space | None:
        return Space(self._pick(path), self._pick(path) % 7) if self._pick(path) % 2 else None


class Damaged(LiveRoot):
    """This machine, with each file's text changed in the same way."""

    def __init__(self, damage: Callable[[str], str]) -> None:
        self._damage = damage

    def read(self, path: str, limit: int = MAX_READ) -> str | None:
        text = super().read(path, limit)
        return None if text is None else self._damage(text)


def check(host: Host) -> None:
    """A host is a host: it goes into a snapshot and comes out the same, and its summaries can be asked for."""
    assert to_value(json.loads(json.dumps(to_plain(host))), Host) == host
    assert host.usable_memory is None or host.usable_memory > 0
    assert host.usable_cpus is None or host.usable_cpus > 0


@settings(max_examples=60)
@given(
    texts=st.lists(st.sampled_from(WORDS) | st.text(max_size=200), min_size=1, max_size=6),
    names=st.lists(st.sampled_from(NAMES) | st.text(min_size=1, max_size=9), max_size=4, unique=True),
    salt=st.integers(0, 1 << 16),
    claim=claims,
)
def test_rubbish_in_every_file_gives_a_host(texts: list[str], names: list[str], salt: int, claim: ServerClaim) -> None:
    """No text, name or link makes the reader fail, nor the proof of whose host it is."""
    root = Rubbish(texts, names, salt)
    check(read_host(root, 7, "/var/lib/mysql"))
    assert isinstance(find_server_process(root, claim), OwnershipProof | NotProved)


@settings(max_examples=40)
@given(st.data())
def test_damaged_files_of_this_machine_give_a_host(data: st.DataObject) -> None:
    """Texts cut short, doubled, or with other numbers in them are read for what they still say."""
    kind = data.draw(st.sampled_from(["cut", "double", "numbers", "letters", "shuffle"]))
    amount = data.draw(st.integers(0, 40))
    digits = data.draw(st.sampled_from(["0", "-1", "9" * 18, "9" * 400, "", "\x00", "1.5"]))

    def damage(text: str) -> str:
        if kind == "cut":
            return text[:amount]
        if kind == "double":
            return text + text[amount:]
        if kind == "numbers":
            return re.sub(r"[0-9]+", digits, text)
        if kind == "letters":
            return text.translate({ord("a") + amount % 26: ":"})
        return "\n".join(sorted(text.split("\n")))

    check(read_host(Damaged(damage), os.getpid(), "/"))
