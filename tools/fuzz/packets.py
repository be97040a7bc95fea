"""A server's packets by the documentation of the protocol, with random errors."""

from __future__ import annotations

import random
import struct
from collections.abc import Mapping, Sequence

from mangling import mangle
from strange import TEXTS

QUERY, QUIT = 3, 1
PLUGINS = (
    *(b"mysql_native_password", b"caching_sha2_password"),
    *(b"sha256_password", b"client_ed25519", b"mysql_clear_password"),
    *(b"mysql_old_password", b"dialog", b"parsec", b"auth_gssapi_client", b"", b"\xff"),
)
VERSIONS = (
    *(b"8.0.36", b"9.7.4", b"5.7.22-log", b"5.5.5-10.11.19-MariaDB-1", b"11.8.9-MariaDB", b"", b"x", b"9" * 400),
    *(b"8.0.\xc2\xb2", b"10.11.6-MariaDB\xff", b"8", b".", b"-1.2.3"),
)
ERRORS = (0, 1045, 1142, 1146, 1193, 1205, 1227, 1317, 1969, 2006, 2013, 3024, 65535)
TYPES = (0, 1, 3, 5, 8, 10, 12, 15, 245, 246, 252, 253, 254, 255)
MOST = 0xFFFFFF
FIELDS = ("1", "0", "12.00", "1.5e10", "ON", "/data/", "COMPILED", "InnoDB", "8.0.36")


def frame_packet(payload: bytes, number: int) -> bytes:
    """A packet with its header: length and number."""
    return struct.pack("<I", len(payload))[:3] + bytes([number % 256]) + payload


def length_prefixed(text: bytes) -> bytes:
    """A text preceded by its length."""
    return number_of(len(text)) + text


def number_of(value: int) -> bytes:
    """A length-encoded integer of the protocol."""
    if value < 251:
        return bytes([value])
    return b"\xfc" + struct.pack("<H", value) if value < 1 << 16 else b"\xfd" + struct.pack("<I", value)[:3]


class Server:
    """Answers like a real server, sometimes wrongly; depends only on the random generator."""

    def __init__(self, chance: random.Random, variables: Mapping[str, str], status: Mapping[str, str]) -> None:
        self.chance = chance
        self._tables = {"VARIABLES": variables, "STATUS": status}
        self._wrong = chance.choice((0.0, 0.0, 0.005, 0.03, 0.2))  # share of wrong answers

    def greeting(self) -> bytes:
        """The handshake packet."""
        chance = self.chance
        plugin = chance.choice(PLUGINS[:2] if chance.random() < 0.8 else PLUGINS)
        status, charset = chance.choice((2, 2, 0, 65535)), chance.choice((45, 255, 0))
        own = chance.choice((7, 0, 1 << 31))
        odd = (0x00FFF7DF, 0, 0xFFFFFFFF)
        flags = (0x807FF7FF if chance.random() < 0.9 else chance.choice(odd)) & ~0x800  # no TLS
        version = chance.choice(VERSIONS[:5] if chance.random() < 0.8 else VERSIONS)
        payload = b"\x0a" + version + b"\0" + struct.pack("<I", own) + b"saltsalt\0"
        payload += struct.pack("<HBHHB", flags & 0xFFFF, charset, status, flags >> 16, 21) + bytes(10)
        payload += b"saltsaltsalt\0" + plugin + b"\0"
        return self._sent([payload], 0)

    def answer(self, asked: bytes) -> bytes:
        """The answer to one packet of the client."""
        number, payload = asked[3] if len(asked) > 3 else 0, asked[4:]
        if number:
            return self._sent([self._authenticate()], number + 1)
        if payload[:1] == bytes([QUIT]):
            return b""
        return self._sent(self._answer(payload[1:].decode("utf-8", "replace")), 1)

    def _authenticate(self) -> bytes:
        kind = self.chance.random()
        if kind < 0.8:
            return self._ok()
        if kind < 0.9:
            return b"\xfe" + self.chance.choice(PLUGINS) + b"\0" + b"saltsaltsaltsaltsalt\0"
        return self._error() if kind < 0.95 else b"\x01" + self.chance.choice((b"\3", b"\4", b"\2", b"", b"-----BEGIN"))

    def _ok(self) -> bytes:
        return b"\0\0\0" + struct.pack("<HH", self.chance.choice((*[2] * 40, 0, 8, 65535)), 0)

    def _error(self) -> bytes:
        message = self.chance.choice(TEXTS).encode("utf-8", "surrogatepass")
        state = b"#42000"[: self.chance.choice((6, 6, 6, 1, 0))]
        return b"\xff" + struct.pack("<H", self.chance.choice(ERRORS)) + state + message

    def _answer(self, sql: str) -> list[bytes]:
        kind = self.chance.random() * (20 if "SET " in sql else 1)  # after a failed setup the client stops
        if kind < 0.03:
            return [self._error()]
        if kind < 0.04:
            return [b"\xfb/etc/passwd"]  # requests a file
        if "SET " in sql or "KILL" in sql:
            return [self._ok()]
        return self._table(*self._rows(sql))

    def _rows(self, sql: str) -> tuple[int, list[Sequence[bytes | None]]]:
        for word, table in self._tables.items():
            if f"GLOBAL {word}" in sql:
                start = self.chance.randrange(len(table))
                chosen = list(table.items())[start : start + self.chance.choice((1, 5, 30, 150))]
                known = [(n, table[n]) for n in ("version", "log_bin", "performance_schema", "Uptime") if n in table]
                return 2, [(self._text(n), self._text(v)) for n, v in (*known, *chosen)]
        if "VERSION()" in sql and self.chance.random() > self._wrong:
            return 4, [[self._text(text) for text in ("8.0.36", "MySQL Community Server", "7", "reader@%")]]
        width = sql.partition(" FROM ")[0].count(",") + 1 if "SELECT" in sql else self.chance.choice((1, 2, 3, 5, 60))
        width = width if self.chance.random() > self._wrong else self.chance.choice((1, 2, 4, 9))
        count = self.chance.choice((0, 1, 1, 1, 2, 20))
        return width, [[self._field() for _ in range(width)] for _ in range(count)]

    def _field(self) -> bytes | None:
        if self.chance.random() < 0.1:
            return None
        return self._text(self.chance.choice(FIELDS))

    def _text(self, usual: str) -> bytes:
        chosen = self.chance.choice(TEXTS) if self.chance.random() < self._wrong else usual
        return chosen.encode("utf-8", "surrogatepass")

    def _table(self, width: int, rows: list[Sequence[bytes | None]]) -> list[bytes]:
        end = b"\xfe" + struct.pack("<HH", 0, 2)
        columns = [
            b"\3def\0\0\0" + length_prefixed(self._text(f"c{n}")) + b"\0\x0c"
            + struct.pack("<HIBHB", self.chance.choice((45, 63, 255)), 100, self.chance.choice(TYPES), 0, 0) + b"\0\0"
            for n in range(width)
        ]  # fmt: skip
        packets = [b"".join(b"\xfb" if field is None else length_prefixed(field) for field in row) for row in rows]
        return [number_of(width), *columns, end, *packets, end]

    def _sent(self, payloads: list[bytes], first: int) -> bytes:
        """The packets, sometimes with an error in one of them or in their boundaries."""
        chance = self.chance
        if payloads and chance.random() < self._wrong:
            at = chance.randrange(len(payloads))
            payloads[at] = mangle(payloads[at] or b"\0", payloads, chance)[:MOST]
        data = b"".join(frame_packet(payload, first + n) for n, payload in enumerate(payloads))
        if chance.random() < self._wrong / 3:
            return mangle(data, [data, b"\xff\xff\xff\0"], chance)
        return data
