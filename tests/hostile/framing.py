"""How a mischief takes a real answer apart and frames another: rows, columns, values, and the numbers of packets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hostile_server import GREETING, HEADER, LOGIN, Mischief, columns_of, packet

Packets = tuple[bytes, ...]
NULL = 251
_WIDTHS = {NULL: 1, 252: 3, 253: 4, 254: 9}  # bytes that a length takes, by its first one
_NAME = 4  # of the six texts that describe a column


def only(wanted: Callable[[str], bool], change: Mischief) -> Mischief:
    """The change, on answers to these statements alone."""
    return lambda statement, packets: change(statement, packets) if wanted(statement) else packets


def statements(statement: str) -> bool:
    """Answers to what asks something: no part of the login, and nothing that sets the session up."""
    return statement not in (GREETING, LOGIN) and " SET " not in f" {statement}"


def later(statement: str) -> bool:
    """Answers to what is asked once it is known which server this is."""
    return statements(statement) and "VERSION()" not in statement


def instead(body: bytes) -> Mischief:
    """One packet in place of every answer."""
    return only(statements, lambda _, __: [packet(body, 1)])


def honest(_: str, packets: Packets) -> Packets:
    """Nothing."""
    return packets


def numbered(change: Mischief) -> Mischief:
    """The same packets, each with the number that comes next: a driver looks at it."""

    def counted(statement: str, packets: Packets) -> Iterator[bytes]:
        number = 1
        for piece in change(statement, packets):
            whole, at = bytearray(piece), 0
            while at < len(whole):
                whole[at + 3] = number % 256
                number += 1
                at += HEADER + int.from_bytes(whole[at : at + 3], "little")
            yield bytes(whole)

    return counted


def bent(change: Callable[[bytes], bytes]) -> Mischief:
    """Every row changed."""

    def bend(_: str, packets: Packets) -> Iterator[bytes]:
        head = columns_of(packets)
        yield from packets[:head]
        for whole in packets[head:-1] if head else ():
            yield packet(change(whole[HEADER:]), whole[3])
        yield from packets[-1:]

    return only(statements, bend)


def described(change: Callable[[bytes], bytes]) -> Mischief:
    """Every description of a column changed."""

    def bend(_: str, packets: Packets) -> Iterator[bytes]:
        head = columns_of(packets)
        for at, whole in enumerate(packets):
            yield packet(change(whole[HEADER:]), whole[3]) if 0 < at < head - 1 else whole

    return only(statements, bend)


def values(row: bytes) -> list[bytes]:
    """The values of a row as they stand there, each behind its length."""
    found, at = [], 0
    while at < len(row):
        width = _WIDTHS.get(row[at], 1)
        size = 0 if row[at] == NULL else row[at] if width == 1 else int.from_bytes(row[at + 1 : at + width], "little")
        found.append(row[at : at + width + size])
        at += width + size
    return found


def sized(value: bytes) -> bytes:
    """A value behind its length."""
    return (bytes([len(value)]) if len(value) < NULL else b"\xfd" + len(value).to_bytes(3, "little")) + value


def named(column: bytes, name: bytes) -> bytes:
    """The description of a column with another name."""
    texts = values(column)[:6]
    rest = column[len(b"".join(texts)) :]
    return b"".join([*texts[:_NAME], sized(name), *texts[_NAME + 1 :]]) + rest
