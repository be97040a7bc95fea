"""Generate rings of samples, packed without the product's code; obfuscated login paths, and rows of a fleet."""

from __future__ import annotations

import json
import random
import struct
import zlib

from strange import document, json_text, strange

MAGIC, HEAD, NONE = b"mycnf ring 1\n", 4096, (1 << 64) - 1
NAMES = ("questions", "connections", "threads_connected", "uptime_since_flush_status", "created_tmp_disk_tables", "x")
TIMES = (0, 1, 1_795_262_400, 1 << 31, 1 << 62, NONE - 1, NONE)
LOGIN = (
    *(b"[client]\n", b"user=reader\n", b"password=x\n", b"host=db1\n", b"[x\n"),
    *(b"port=abc\n", b"\xff=\0\n", b"\n", b"!include /\n"),
)


def _head(chance: random.Random, slots: int, names: list[str]) -> bytes:
    fields: dict[str, object] = {"server": "db1", "names": names, "slots": slots}
    if chance.random() < 0.3:
        fields[chance.choice((*fields, "more"))] = strange(chance)
    head = json_text(fields, chance).replace(b"\n", b" ")
    return (MAGIC + f"{zlib.crc32(head):08x}\n".encode() + head + b"\n").ljust(HEAD, b"\0")


def _slot(chance: random.Random, number: int, width: int) -> bytes:
    time = chance.choice(TIMES) if chance.random() < 0.1 else 1_795_262_400 + 600 * number
    counters = [chance.choice((number, number * 7, NONE, 1 << 63, 0)) for _ in range(width)]
    fixed = (number, time, 5000 + 600 * number, chance.choice((NONE, number * 1000)))
    words = struct.pack(f"={width + 4}Q", *fixed, *counters)
    return words + struct.pack("=Q", zlib.crc32(words) | 1 << 32)


def ring(chance: random.Random) -> bytes:
    """A ring with a few slots, some of them invalid, more or fewer than its header says."""
    names = list(NAMES[: chance.randrange(len(NAMES) + 1)])
    slots = chance.choice((1, 2, 5, 20, 40))
    first = chance.choice((1, 1, 3, 1000, 1 << 40))
    body = [_slot(chance, first + n, len(names)) for n in range(slots)]
    turn = chance.randrange(slots)
    data = bytearray(_head(chance, chance.choice((slots, slots, slots, 0, -1, 1 << 20, 10**9)), names))
    data += b"".join(body[turn:] + body[:turn])
    for _ in range(chance.choice((0, 0, 1, 5))):
        data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
    return bytes(data[: chance.randrange(len(data))] if chance.random() < 0.1 else data)


def login_path(chance: random.Random) -> bytes:
    """A login path file as mysql_config_editor obfuscates it, with some invalid chunks."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    stored = bytes(chance.randrange(256) for _ in range(20))
    key = bytearray(16)
    for place, byte in enumerate(stored):
        key[place % 16] ^= byte
    cipher = Cipher(algorithms.AES128(bytes(key)), modes.ECB())  # noqa: S305 - the format's own
    data = bytes(4) + stored
    for place in range(chance.randrange(8)):
        line = chance.choice(LOGIN if place else LOGIN[:1])
        fill = 16 - len(line) % 16
        padding = bytes([chance.choice((fill, fill, fill, 0, 255))]) * fill
        chunk = cipher.encryptor().update(line + padding)
        length = len(chunk) if chance.random() < 0.97 else chance.choice((len(chunk), 0, -16, 15, 1 << 30))
        data += struct.pack("<i", length) + chunk
    return data[: chance.randrange(len(data) + 1)] if chance.random() < 0.1 else data


def row(chance: random.Random) -> bytes:
    """A row of a fleet's host, as in the run directory."""
    fields: object = {
        "name": "db1", "groups": ["all"], "status": "audited", "reason": "", "place": "db1:3306",
        "snapshot": "snapshots/db1.json", "host": "", "seconds": 1.5, "schema": "1.0",
    }  # fmt: skip
    return document([json.dumps(fields).encode()], chance)
