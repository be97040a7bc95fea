"""A malicious server: it replays a real server's answers, modified by a function.

The packets are a real server's, with the header from the protocol's documentation: three bytes of length and one
sequence number.
"""

from __future__ import annotations

import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple

HEADER = 4
QUERY = 3
STEP = 1 << 16
GREETING, LOGIN = "greeting", "login"  # placeholders for the statement before the first one
OK, MORE, LOCAL_FILE, END, ERROR = 0x00, 0x01, 0xFB, 0xFE, 0xFF
TLS_ASKED = 32  # bytes of the packet with which a client requests TLS
SHORT = 9  # bytes; a longer packet with the same first byte as an end packet is a row
_DIGITS = re.compile(r"[0-9]+")

# Replaces the packets of a real answer; the first argument is the statement.
Mischief = Callable[[str, tuple[bytes, ...]], Iterable[bytes]]


class Recording(NamedTuple):
    """A real server's greeting, login and answers: whole packets, the answers by `key` of their statement."""

    hello: tuple[bytes, ...]
    answers: dict[str, tuple[bytes, ...]]


class Cut(Exception):  # noqa: N818 - what a mischief raises to close the connection
    """The server closes the connection here."""


class Hold(Exception):  # noqa: N818 - what a mischief raises to fall silent
    """The server sends nothing more, but keeps the connection open."""


class Heard:
    """What clients sent to a hostile server: every packet, and the statements; `tls` is the context that it offers."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.tls = tls
        self.packets: list[bytes] = []
        self.statements: list[str] = []


def packet(body: bytes, number: int) -> bytes:
    """A packet with its header."""
    return len(body).to_bytes(3, "little") + bytes([number % 256]) + body


def error(code: int, text: bytes, number: int = 1) -> bytes:
    """An error as servers send it."""
    return packet(bytes([ERROR]) + code.to_bytes(2, "little") + b"#HY000" + text, number)


def okay(number: int = 1) -> bytes:
    """An OK packet."""
    return packet(b"\0\0\0\2\0\0\0", number)


def key(statement: str) -> str:
    """A statement without its numbers, which differ between connections and limits."""
    return _DIGITS.sub("#", statement)


def is_end(whole: bytes) -> bool:
    """Whether a packet ends columns or rows."""
    return whole[HEADER : HEADER + 1] == bytes([END]) and len(whole) - HEADER < SHORT


def columns_of(packets: tuple[bytes, ...]) -> int:
    """The number of packets in an answer before its rows; 0 without rows."""
    return next((at + 1 for at, whole in enumerate(packets) if is_end(whole)), 0)


@contextmanager
def hostile(
    recording: Recording, place: str | None, mischief: Mischief, tls: ssl.SSLContext | None = None
) -> Iterator[tuple[Heard, int]]:
    """Run the server on a Unix socket at `place`, or on a local TCP port; yields what it received, and the port."""
    heard = Heard(tls)
    family = socket.AF_UNIX if place else socket.AF_INET
    with socket.socket(family) as listening:
        listening.bind(place or ("127.0.0.1", 0))
        listening.listen()
        threading.Thread(target=_serve, args=(listening, recording, mischief, heard), daemon=True).start()
        try:
            yield heard, 0 if place else listening.getsockname()[1]
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)


def _serve(listening: socket.socket, recording: Recording, mischief: Mischief, heard: Heard) -> None:
    with suppress(OSError):
        while True:
            client = listening.accept()[0]
            threading.Thread(target=_converse, args=(client, recording, mischief, heard), daemon=True).start()


def _converse(client: socket.socket, recording: Recording, mischief: Mischief, heard: Heard) -> None:
    with suppress(OSError, Cut), client:
        try:
            _say(client, mischief(GREETING, recording.hello[:1]))
            if heard.tls is not None and client.recv(HEADER + TLS_ASKED, socket.MSG_WAITALL):
                client = heard.tls.wrap_socket(client, server_side=True)
            with client.makefile("rb") as requests:
                _answer(client, requests, recording, mischief, heard)
        except Hold:
            while client.recv(STEP):
                pass


def _answer(client: socket.socket, requests: BinaryIO, recording: Recording, mischief: Mischief, heard: Heard) -> None:
    if _hear(requests, heard):
        _say(client, mischief(LOGIN, recording.hello[1:]))
    while request := _hear(requests, heard):
        if request[3]:  # not a statement, but the rest of a login, or a file
            client.sendall(okay(request[3] + 1))
        elif request[HEADER] == QUERY:
            statement = request[HEADER + 1 :].decode("utf-8", "replace")
            heard.statements.append(statement)
            unknown = (error(1064, b"no such statement"),)
            _say(client, mischief(statement, recording.answers.get(key(statement), unknown)))
        else:
            return


def _say(client: socket.socket, pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        client.sendall(piece)


def _hear(requests: BinaryIO, heard: Heard) -> bytes:
    whole = read_packet(requests)
    if whole:
        heard.packets.append(whole)
    return whole


def read_packet(source: BinaryIO) -> bytes:
    """One packet with its header; empty if the other end has closed."""
    header = source.read(HEADER)
    return header + source.read(int.from_bytes(header[:3], "little")) if len(header) == HEADER else b""
