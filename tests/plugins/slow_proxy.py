"""A proxy in front of a real server's socket that delays each statement, by seconds or until released."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

HEADER = 4  # bytes: three of length and a sequence number, which is 0 in a command
QUERY = 3


class Gate:
    """Blocks statements while it is shut; `waiting` are the blocked ones, `passed` those that continued."""

    def __init__(self) -> None:
        self.waiting: list[str] = []
        self.passed: list[str] = []
        self._changed = threading.Condition()
        self._open = True

    def shut(self) -> None:
        """Block all statements from now on."""
        with self._changed:
            self._open = False

    def open(self) -> None:
        """Let all statements through, waiting ones first."""
        with self._changed:
            self._open = True
            self._changed.notify_all()

    def __call__(self, statement: str) -> None:
        """Block this statement while the gate is shut."""
        with self._changed:
            self.waiting.append(statement)
            self._changed.wait_for(lambda: self._open)
            self.waiting.remove(statement)
            self.passed.append(statement)


@contextmanager
def slowed(server: str, place: str, hold: Callable[[str], None]) -> Iterator[None]:
    """A socket at `place` that forwards to the server's; `hold` returns when a statement may continue."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        threading.Thread(target=_serve, args=(listening, server, hold), daemon=True).start()
        try:
            yield
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)


def _serve(listening: socket.socket, server: str, hold: Callable[[str], None]) -> None:
    with suppress(OSError):
        while True:
            client = listening.accept()[0]
            to = socket.socket(socket.AF_UNIX)
            to.connect(server)
            threading.Thread(target=_there, args=(client, to, hold), daemon=True).start()
            threading.Thread(target=_back, args=(to, client), daemon=True).start()


def _there(client: socket.socket, server: socket.socket, hold: Callable[[str], None]) -> None:
    """Forward packet by packet; each statement after its delay."""
    with client, server, suppress(OSError), client.makefile("rb") as packets:
        while len(header := packets.read(HEADER)) == HEADER:
            body = packets.read(int.from_bytes(header[:3], "little"))
            if header[3] == 0 and body[:1] == bytes([QUERY]):
                hold(body[1:].decode("utf-8", "replace"))
            server.sendall(header + body)


def _back(server: socket.socket, client: socket.socket) -> None:
    with suppress(OSError):
        while data := server.recv(1 << 16):
            client.sendall(data)
