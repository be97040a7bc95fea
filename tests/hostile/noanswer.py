"""Answers that are none, and a server's requests to us that are refused."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from hostile_server import END, GREETING, HEADER, LOCAL_FILE, LOGIN, Mischief, columns_of, error, packet

from tests.hostile.framing import (
    NULL,
    Packets,
    bent,
    described,
    instead,
    later,
    named,
    numbered,
    only,
    sized,
    statements,
    values,
)

TLS = 0x0800  # of the capabilities
UNREADABLE = b"a\xff\xfe\x80b"


def _counted(wanted: int) -> Mischief:
    """Another number of columns: announced, described and sent."""

    def change(_: str, packets: Packets) -> Iterator[bytes]:
        head = columns_of(packets)
        if not head:
            yield from packets
            return
        yield packet(bytes([wanted]), 1)
        yield packets[1] * wanted
        yield packets[head - 1]
        for whole in packets[head:-1]:
            yield packet(b"".join(itertools.islice(itertools.cycle(values(whole[HEADER:])), wanted)), 1)
        yield packets[-1]

    return only(statements, numbered(change))


def _no_rows(_: str, packets: Packets) -> Iterable[bytes]:
    head = columns_of(packets)
    return [*packets[:head], packet(packets[-1][HEADER:], head + 1)] if head else packets


def _unreadable(row: bytes) -> bytes:
    first, *rest = values(row)
    return first + sized(UNREADABLE) * len(rest)


NO_ANSWER = {
    "asks for a file": instead(bytes([LOCAL_FILE]) + b"/etc/passwd"),
    "success": instead(b"\0\0\0\2\0\0\0"),
    "an end": instead(bytes([END, 0, 0, 2, 0])),
    "an empty packet": instead(b""),
    "one byte": instead(b"\x05"),
    "a short error": instead(b"\xff"),
    "zeros": instead(bytes(40)),
    "a wrong number": only(statements, lambda _, packets: [packet(packets[0][HEADER:], 77)]),
    "twice": only(statements, lambda _, packets: packets * 2),
    "no rows": only(statements, _no_rows),
    "one column": _counted(1),
    "three columns": _counted(3),
    "twenty columns": _counted(20),
    "rows cut short": bent(lambda row: row[: len(row) // 2]),
    "rows without their first value": bent(lambda row: b"".join(values(row)[1:]) or bytes([NULL])),
    "lengths beyond the row": bent(lambda row: b"\xfe" + b"\xff" * 8 + row),
    "names that are no UTF-8": described(lambda column: named(column, UNREADABLE)),
    "columns cut short": described(lambda column: column[: len(column) // 2]),
    "every column a number": described(lambda column: column[:-6] + b"\x03" + column[-5:]),
    "values that are no UTF-8": bent(_unreadable),
    "nothing but NULL": bent(lambda row: bytes([NULL]) * len(values(row))),
}

SWITCHES = {
    "mysql_clear_password": b"mysql_clear_password\0",
    "dialog": b"dialog\0\x04Password: ",
    "mysql_old_password": b"mysql_old_password\0" + b"salt" * 5,
    "a plugin of nobody's": b"\xff\x1b[2J\0" + b"salt" * 5,
    "nothing": b"",
}


def switch(to: bytes, number: int = 2) -> Mischief:
    """At the login, another way to log in is asked for."""
    return only(lambda statement: statement == LOGIN, lambda _, __: [packet(bytes([END]) + to, number)])


def greeting_of(plugin: bytes, *, tls: bool = False) -> Mischief:
    """A greeting that names another way to log in, and offers TLS or doesn't."""

    def change(_: str, packets: Packets) -> list[bytes]:
        body = packets[0][HEADER:]
        at = body.index(b"\0") + 1 + 4 + 8 + 1  # version, connection, salt, filler: the capabilities' lower half
        flags = int.from_bytes(body[at : at + 2], "little") & ~TLS | (TLS if tls else 0)
        name = body.rindex(b"\0", 0, len(body) - 1) + 1
        return [packet(body[:at] + flags.to_bytes(2, "little") + body[at + 2 : name] + plugin + b"\0", 0)]

    return only(lambda statement: statement == GREETING, change)


def together(one: Mischief, other: Mischief) -> Mischief:
    """One mischief after another."""
    return lambda statement, packets: other(statement, tuple(one(statement, packets)))


def refused_answers(code: int) -> Mischief:
    """This error in place of every answer but the first."""
    return only(later, lambda _, __: [error(code, b"no \x1b[2J\xe2\x80\xae entry \xff")])
