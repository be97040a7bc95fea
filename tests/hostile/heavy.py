"""Answers that are allowed, and take many times their own size once they are written down."""

from __future__ import annotations

from collections.abc import Iterator

from hostile_server import END, HEADER, Mischief, columns_of, packet

from advisor.collect.connection.wire import MAX_ANSWER_BYTES
from tests.hostile.endless import TOO_MUCH
from tests.hostile.framing import NULL, Packets, named, numbered, only, sized

NAMES, NAME = 1000, 2000  # columns, and bytes of the name of each
ROWS = (MAX_ANSWER_BYTES // 2 - NAMES * (NAME + 200)) // (2 * NAMES)


def _filled(value: bytes, share: int, step: int = 10_000) -> Mischief:
    """Rows of values made of this one, so many that each answer has that part of what it may have."""

    def change(_: str, packets: Packets) -> Iterator[bytes]:
        head = columns_of(packets)
        yield from packets[:head] or packets
        for at in range(MAX_ANSWER_BYTES // share // step if head else 0):
            values = (b"%06d" % at + value * (step // len(value)), *[b"1"] * (head - 3))
            yield packet(b"".join(map(sized, values)), 1)
        yield from packets[-1:] if head else ()

    return only(lambda statement: "SHOW GLOBAL" in statement, numbered(change))


def _named_at_length(_: str, packets: Packets) -> Iterator[bytes]:
    """Columns of long names, and rows of nothing: each row is to name its columns."""
    head = columns_of(packets)
    if not head:
        yield from packets
        return
    yield packet(b"\xfc" + NAMES.to_bytes(2, "little"), 1)
    for at in range(NAMES):
        yield packet(named(packets[1][HEADER:], b"%04d" % at + b"n" * (NAME - 4)), 1)
    yield packet(bytes([END, 0, 0, 2, 0]), 1)
    for _row in range(ROWS):
        yield packet(bytes([NULL]) * NAMES, 1)
    yield packets[-1]


HEAVY: dict[str, Mischief] = {
    "as many rows as one answer may have": TOO_MUCH["answers that are nearly too much"],
    "values that are no UTF-8": _filled(b"\xff", 2),
    "values that are controls": _filled(b"\x01", 2),
    "values in another script": _filled("\N{GREEK SMALL LETTER ALPHA}".encode(), 2),
    "names of columns at length": only(
        lambda statement: "SLAVE" in statement or "REPLICA" in statement, numbered(_named_at_length)
    ),
}
