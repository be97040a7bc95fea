"""A server that means harm: it answers as a real one was heard to answer, but for what a mischief makes of it.

The packets are a real server's, as the protocol's documentation frames them: three bytes of length, one that counts.
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
GREETING, LOGIN = "greeting", "login"  # what stands for a statement before there is one
OK, MORE, LOCAL_FILE, END, ERROR = 0x00, 0x01, 0xFB, 0xFE, 0xFF
TLS_ASKED = 32  # bytes of the packet with which a client asks for TLS
SHORT = 9  # bytes; a packet that begins as an end does and is longer is a row
_DIGITS = re.compile(r"[0-9]+")

# Makes of the packets of a real answer what is sent in their place; the statement says which answer it is.
Mischief = Callable[[str, tuple[bytes, ...]], Iterable[bytes]]


class Recording(NamedTuple):
    """How a real server greets, lets in and answers: whole packets, the answers by `key` of their statement."""

    hello: tuple[bytes, ...]
    answers: dict[str, tuple[bytes, ...]]


class Cut(Exception):  # noqa: N818 - what a mischief raises to close the connection
    """The server closes the connection here."""


class Hold(Exception):  # noqa: N818 - what a mischief raises to fall silent
    """The server says no more, and keeps the connection open."""


class Heard:
    """What clients said to a hostile server: every packet, and the statements among them; `tls` is what it offers."""

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
    """A plain success."""
    return packet(b"\0\0\0\2\0\0\0", number)


def key(statement: str) -> str:
    """A statement without its numbers: connections and limits have others each time."""
    return _DIGITS.sub("#", statement)


def is_end(whole: bytes) -> bool:
    """Whether a packet ends columns or rows."""
    return whole[HEADER : HEADER + 1] == bytes([END]) and len(whole) - HEADER < SHORT


def columns_of(packets: tuple[bytes, ...]) -> int:
    """How many packets of an answer come before its rows; 0 where it has none."""
    return next((at + 1 for at, whole in enumerate(packets) if is_end(whole)), 0)


@contextmanager
def hostile(
    recording: Recording, place: str | None, mischief: Mischief, tls: ssl.SSLContext | None = None
) -> Iterator[tuple[Heard, int]]:
    """The server on a Unix socket at `place`, or on a TCP port of this host, which is given with what it hears."""
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
            with client.makefile("rb") as said:
                _answer(client, said, recording, mischief, heard)
        except Hold:
            while client.recv(STEP):
                pass


def _answer(client: socket.socket, said: BinaryIO, recording: Recording, mischief: Mischief, heard: Heard) -> None:
    if _hear(said, heard):
        _say(client, mischief(LOGIN, recording.hello[1:]))
    while told := _hear(said, heard):
        if told[3]:  # no statement: the rest of a login, or a file
            client.sendall(okay(told[3] + 1))
        elif told[HEADER] == QUERY:
            statement = told[HEADER + 1 :].decode("utf-8", "replace")
            heard.statements.append(statement)
            unknown = (error(1064, b"no such statement"),)
            _say(client, mischief(statement, recording.answers.get(key(statement), unknown)))
        else:
            return


def _say(client: socket.socket, pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        client.sendall(piece)


def _hear(said: BinaryIO, heard: Heard) -> bytes:
    whole = read_packet(said)
    if whole:
        heard.packets.append(whole)
    return whole


def read_packet(source: BinaryIO) -> bytes:
    """One packet with its header; empty where the other end has closed."""
    header = source.read(HEADER)
    return header + source.read(int.from_bytes(header[:3], "little")) if len(header) == HEADER else b""
