"""A small ring buffer of counters per server, in a file, and how samples get into it.

A slot has 64-bit integers and a checksum, written in place: an interrupted write damages only that slot, which is then
ignored. All slots are allocated at creation, so a full disk does not matter later.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from array import array
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from advisor.facts.workload import SPACE
from advisor.state.directory import lock_folder, make_state_folder, server_id, server_name, state_folder
from advisor.state.private_file import replace_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import IO

    from advisor.facts import Sample


RESOLUTION = 600  # seconds between samples
SLOTS = 14 * 86400 // RESOLUTION
MAGIC = b"mycnf ring 1\n"
HEAD = 4096  # bytes
WORD = 8  # bytes
FIXED = 4  # words of a slot before the counters: number, time, uptime, redo log position
NONE = (1 << 64) - 1  # marks a missing value
MAX_SLOTS = 1 << 20
MAX_NAMES = 200
FOLDER = "samples"
ENDING = ".ring"
MOST_NAME = 300  # characters of a server's name; fits into the head in any encoding
STARTS_AGREE = 120  # seconds by which the start times computed from two samples may differ, since clocks are adjusted


class RingError(MycnfError):
    """A ring cannot be read or written; the message is one line with the remedy."""


class RingSample(NamedTuple):
    """One sample: seconds since 1970, seconds since the server's start, redo log position, and counters by name."""

    time: int
    uptime: int
    lsn: int | None
    counters: dict[str, int]


class Head(NamedTuple):
    """The server's name, the names of the counters, and the number of slots."""

    server: str
    names: tuple[str, ...]
    slots: int


def create(path: str, head: Head, entries: Iterable[RingSample] = ()) -> None:
    """Write a ring atomically, with the entries in the first slots; raises OSError."""
    size = _width(head.names) * WORD
    body = bytearray(size * head.slots)
    for number, entry in enumerate(entries, start=1):
        at = (number - 1) % head.slots * size
        body[at : at + size] = _pack(number, entry, head.names)
    replace_private(path, _head(head) + bytes(body))


def append(path: str, head: Head, entry: RingSample) -> int:
    """Overwrite the oldest entry, synced to disk, and return the number of entries; raises OSError."""
    with open(path, "r+b", buffering=0) as file:
        number = _newest(file.fileno(), head) + 1
        data = _pack(number, entry, head.names)
        os.pwrite(file.fileno(), data, _place(number, head))
        os.fdatasync(file.fileno())
    return min(number, head.slots)


def last(path: str, head: Head) -> RingSample | None:
    """Return the newest entry, None if the ring is empty; raises OSError."""
    with open(path, "rb", buffering=0) as file:
        number = _newest(file.fileno(), head)
        return _slot(file.fileno(), number, head) if number else None


def read(path: str) -> tuple[Head, list[RingSample]]:
    """Return the head and all valid entries, oldest first; raises OSError, and RingError for an invalid ring."""
    with open(path, "rb") as file:
        head = _parse_head(file.read(HEAD), path)
        words = _slots(file, head, path)
    width = _width(head.names)
    held = len(words) // width
    numbered = sorted((words[slot * width], slot) for slot in range(held) if words[slot * width])
    found = [_unpack(words, slot, head.names) for _, slot in numbered]
    return head, [entry for entry in found if entry is not None]


def read_head(path: str) -> Head:
    """Return the head; raises OSError and RingError."""
    with open(path, "rb") as file:
        return _parse_head(file.read(HEAD), path)


def _width(names: tuple[str, ...]) -> int:
    """Return the number of words of a slot, including the checksum at the end."""
    return FIXED + len(names) + 1


def _pack(number: int, entry: RingSample, names: tuple[str, ...]) -> bytes:
    values = (entry.time, entry.uptime, entry.lsn, *(entry.counters.get(name) for name in names))
    words = array("Q", [number, *(NONE if v is None or not 0 <= v < NONE else v for v in values)])
    words.append(_checksum(words))
    return words.tobytes()


def _unpack(words: array[int], slot: int, names: tuple[str, ...]) -> RingSample | None:
    """Return the entry of a slot; None if it is damaged."""
    width = _width(names)
    own = words[slot * width : (slot + 1) * width]
    if own.pop() != _checksum(own):
        return None
    _, time, uptime, lsn, *counters = own
    known = {name: value for name, value in zip(names, counters, strict=True) if value != NONE}
    return RingSample(time, uptime, None if lsn == NONE else lsn, known)


def _checksum(words: array[int]) -> int:
    return zlib.crc32(words.tobytes()) | 1 << 32  # never that of an empty slot


def _newest(handle: int, head: Head) -> int:
    """Return the number of the newest valid entry; 0 if the ring is empty.

    Numbers increase from slot to slot up to the newest, which is found by bisection; if slots are damaged, all are
    read.
    """
    first = _number(handle, 1, head)
    low, high = 0, head.slots
    while first and high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _number(handle, middle + 1, head) == first + middle else (low, middle)
    newest = first + low
    after = _number(handle, low + 2, head) if low + 1 < head.slots else 0
    sound = first % head.slots == 1 % head.slots and after in (0, newest + 1 - head.slots)
    if sound and _slot(handle, first, head) and _slot(handle, newest, head):
        return newest
    there = min(head.slots, (os.fstat(handle).st_size - HEAD) // (_width(head.names) * WORD) + 1)  # may be truncated
    numbers = sorted((_number(handle, slot, head) for slot in range(1, there + 1)), reverse=True)
    return next((n for n in numbers if n and _number(handle, n, head) == n and _slot(handle, n, head)), 0)


def _place(number: int, head: Head) -> int:
    """Return the file offset of the entry with that number."""
    return HEAD + (number - 1) % head.slots * _width(head.names) * WORD


def _number(handle: int, number: int, head: Head) -> int:
    """Return the number stored in the slot for `number`; 0 if the file has no such slot."""
    return int.from_bytes(os.pread(handle, WORD, _place(number, head)).ljust(WORD, b"\0"), sys.byteorder)


def _slot(handle: int, number: int, head: Head) -> RingSample | None:
    """Return the entry with that number; None if it is damaged."""
    words = array("Q")
    words.frombytes(
        os.pread(handle, _width(head.names) * WORD, _place(number, head)).ljust(WORD * _width(head.names), b"\0")
    )
    return _unpack(words, 0, head.names)


def _head(head: Head) -> bytes:
    text = json.dumps(head._asdict(), ensure_ascii=True).encode("ascii")
    data = MAGIC + f"{zlib.crc32(text):08x}\n".encode() + text + b"\n"
    if len(data) > HEAD:
        raise RingError("the server's name is too long for a sample file")
    return data.ljust(HEAD, b"\0")


def _parse_head(data: bytes, path: str) -> Head:
    damaged = RingError(f"{path} is not a sample file, or is damaged; remove it, and mycnf sample creates a new one")
    magic, _, rest = data[:HEAD].partition(b"\n")
    checksum, _, rest = rest.partition(b"\n")
    text = rest.partition(b"\n")[0]
    if magic + b"\n" != MAGIC or checksum != f"{zlib.crc32(text):08x}".encode():
        raise damaged
    try:
        fields = json.loads(text)
        head = Head(str(fields["server"]), tuple(map(str, fields["names"])), int(fields["slots"]))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise damaged from error
    if not 0 < head.slots <= MAX_SLOTS or len(head.names) > MAX_NAMES:
        raise damaged
    return head


def _slots(file: IO[bytes], head: Head, path: str) -> array[int]:
    """Return the words of all complete slots in the file, regardless of the number in the head."""
    size = _width(head.names) * WORD
    length = os.fstat(file.fileno()).st_size
    if length < HEAD:
        raise RingError(f"{path} is truncated; remove it, and mycnf sample creates a new one")
    there = min(head.slots, (length - HEAD) // size)
    words = array("Q")
    words.frombytes(file.read(there * size))
    return words


REDO = (
    "innodb_log_waits",
    "innodb_checkpoint_age",
    "innodb_checkpoint_max_age",
    "innodb_redo_log_current_lsn",
    "innodb_redo_log_checkpoint_lsn",
    "innodb_redo_log_capacity_resized",
)

CONNECTIONS = (
    "connections",
    "connection_errors_max_connections",
    "threads_connected",
    "threads_running",
    "threads_created",
    "max_used_connections",
    "aborted_connects",
    "aborted_clients",
)

TEMPORARY = (
    "created_tmp_tables",
    "created_tmp_disk_tables",
    "created_tmp_files",
    "temptable_count_hit_max_ram",
)

WORK = (
    "uptime_since_flush_status",
    "questions",
    "com_select",
    "com_insert",
    "com_update",
    "com_delete",
    "com_commit",
    "slow_queries",
    "sort_merge_passes",
    "innodb_buffer_pool_read_requests",
    "innodb_buffer_pool_reads",
    "innodb_buffer_pool_wait_free",
    "innodb_os_log_written",
)
NAMES = (*REDO, *CONNECTIONS, *TEMPORARY, *WORK, *SPACE)


class SavedSample(NamedTuple):
    """The result of saving a sample: the ring's file, its number of samples, and whether this one was too early."""

    path: str
    held: int = 0
    too_soon: bool = False


def ring_path(variables: Mapping[str, str]) -> str:
    """Return the path of a server's ring, which may not exist."""
    return os.path.join(state_folder(FOLDER), f"{server_id(variables)}{ENDING}")


def save_sample(sample: Sample, variables: Mapping[str, str], now: int, slots: int = SLOTS) -> SavedSample:
    """Save a sample in the ring of the server with these variables; `now` is seconds since 1970.

    A sample less than half the resolution after the newest is dropped, so that the ring covers its days however often
    it is called. Raises MycnfError if the ring cannot be written; it stays unchanged.
    """
    folder = make_state_folder(FOLDER)
    path = os.path.join(folder, f"{server_id(variables)}{ENDING}")
    head = Head(server_name(variables)[:MOST_NAME], NAMES, slots)
    counters = {name: sample.status[name] for name in NAMES if name in sample.status}
    entry = RingSample(now, int(sample.at), sample.lsn, counters)
    try:
        with lock_folder(folder):
            _prepare_ring(path, head)
            newest = last(path, head)
            if newest is not None and _too_soon(newest, entry):
                return SavedSample(path, too_soon=True)
            return SavedSample(path, append(path, head, entry))
    except OSError as error:
        raise RingError(
            f"the sample cannot be saved in {path} ({error.strerror}); free some space there, or set XDG_STATE_HOME"
        ) from error


def same_start(earlier: RingSample, later: RingSample) -> bool:
    """Whether both samples are from one start of the server, by uptime and clock, without a clock jump."""
    started = (earlier.time - earlier.uptime, later.time - later.uptime)
    return later.uptime >= earlier.uptime and abs(started[1] - started[0]) <= STARTS_AGREE


def _too_soon(newest: RingSample, entry: RingSample) -> bool:
    return entry.uptime - newest.uptime < RESOLUTION // 2 and same_start(newest, entry)


def _prepare_ring(path: str, head: Head) -> None:
    """Create a missing ring; rewrite one with other counters, from another version of mycnf, with its samples."""
    if not os.path.exists(path):
        create(path, head)
    elif read_head(path)[1:] != head[1:]:
        create(path, head, read(path)[1])
