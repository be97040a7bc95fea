"""Answers without an end, and answers that never end."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator

from hostile_server import END, GREETING, HEADER, LOGIN, Hold, Mischief, columns_of, error, okay, packet

from advisor.collect.connection.wire import MAX_ANSWER_BYTES, PIECE
from tests.hostile.framing import NULL, Packets, later, numbered, only, sized, statements

BIGGEST = (1 << 24) - 1  # bytes of a packet; one of this size goes on in the next
STEP = 1 << 16
MORE_RESULTS = 0x0008
WIDE = 30_000
SLOW = 0.02  # seconds between two bytes


def endless_rows(row: bytes | None = None) -> Mischief:
    """Rows without end: this one again and again, or those of the real answer."""

    def change(_: str, packets: Packets) -> Iterable[bytes]:
        head = columns_of(packets)
        if not head:
            yield from packets
            return
        rows = [row] if row is not None else [whole[HEADER:] for whole in packets[head:-1]] or [b"\xfb"]
        yield from packets[:head]
        for turn in itertools.count(0, STEP):
            some = itertools.islice(itertools.cycle(rows), max(1, STEP // (len(rows[0]) + HEADER)))
            yield b"".join(packet(body, head + 1 + turn + at) for at, body in enumerate(some))

    return only(statements, numbered(change))


@numbered
def _endless_packet(_: str, packets: Packets) -> Iterator[bytes]:
    while True:
        yield BIGGEST.to_bytes(3, "little") + b"\0" + bytes(BIGGEST)


@numbered
def _columns_without_end(_: str, packets: Packets) -> Iterator[bytes]:
    yield packet(b"\xfe" + (1 << 62).to_bytes(8, "little"), 1)
    column = packets[1] if len(packets) > 1 else packet(b"x", 1)
    while True:
        yield column * 100


@numbered
def _results_without_end(_: str, packets: Packets) -> Iterator[bytes]:
    while True:
        yield packet(b"\0\0\0" + (MORE_RESULTS | 2).to_bytes(2, "little") + b"\0\0", 1) * 100


@numbered
def _wide_rows(_: str, packets: Packets) -> Iterator[bytes]:
    yield packet(b"\xfc" + WIDE.to_bytes(2, "little"), 1)
    yield (packets[1] if len(packets) > 1 else okay()) * WIDE
    yield packet(bytes([END, 0, 0, 2, 0]), 1)
    while True:
        yield packet(bytes([NULL]) * WIDE, 1)


@numbered
def _nearly_too_much(_: str, packets: Packets) -> Iterator[bytes]:
    """As many short rows, each with a name of its own, as one answer may have."""
    head = columns_of(packets)
    width = head - 2
    yield b"".join(packets[:head])
    rows = MAX_ANSWER_BYTES // (2 * PIECE + 2 * HEADER + 10 * max(1, width)) - head if head else 0
    for at in range(0, rows, 1000):
        yield b"".join(packet(sized(b"v%08d" % (at + more)) * width, 1) for more in range(1000))
    yield packets[-1]


TOO_MUCH = {
    "rows without end": endless_rows(),
    "empty rows without end": endless_rows(b"\xfb\xfb"),
    "a packet without end": only(statements, _endless_packet),
    "columns without end": only(statements, _columns_without_end),
    "results without end": only(statements, _results_without_end),
    "rows of 30,000 columns without end": only(statements, _wide_rows),
    "answers that are nearly too much": only(later, _nearly_too_much),
    "an error of 16 MB": only(statements, lambda _, __: [error(1105, b"x" * (BIGGEST - 9))]),
}


def _never(_: str, packets: Packets) -> Iterator[bytes]:
    if packets:
        raise Hold
    yield b""


def _drip(_: str, packets: Packets) -> Iterator[bytes]:
    for byte in b"".join(packets):
        yield bytes([byte])
        time.sleep(SLOW)


def _announced(_: str, packets: Packets) -> Iterator[bytes]:
    yield (1 << 20).to_bytes(3, "little") + b"\x01" + bytes(100)
    raise Hold


def _half(_: str, packets: Packets) -> Iterator[bytes]:
    whole = b"".join(packets)
    yield whole[: len(whole) // 2]
    raise Hold


TOO_LITTLE = {
    "silence": _never,
    "silence after the login": only(statements, _never),
    "a byte now and then": _drip,
    "a byte now and then after the login": only(statements, _drip),
    "a packet that is announced": only(statements, _announced),
    "half an answer": only(statements, _half),
    "half a greeting": only(lambda statement: statement == GREETING, _half),
    "half a login": only(lambda statement: statement == LOGIN, _half),
}
