"""A connection to a server in the same thread: a socket pair that is closed when the client would wait forever."""

from __future__ import annotations

import select
import socket
from contextlib import suppress
from typing import Any

from packets import Server


class Line(socket.socket):
    """The client's end of the connection.

    Everything sent is answered at once; reading more than the answer finds the connection closed.
    """

    def __init__(self, server: Server) -> None:
        ours, self._theirs = socket.socketpair()
        super().__init__(fileno=ours.detach())
        self._theirs.setblocking(False)
        self._server = server
        self._waiting = server.greeting()

    def sendall(self, data: Any, flags: int = 0) -> None:
        """See socket: sends to the server, whose answer can then be read."""
        super().sendall(data, flags)
        asked = b""
        with suppress(BlockingIOError):
            while part := self._theirs.recv(1 << 16):
                asked += part
        self._waiting += self._server.answer(asked)

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        """See socket: the end of the stream if the server has nothing left to send."""
        with suppress(BlockingIOError):
            while self._waiting:
                self._waiting = self._waiting[self._theirs.send(self._waiting) :]
        there, _, _ = select.select([self], [], [], 0)
        return super().recv_into(buffer, nbytes, flags) if there else 0

    def close(self) -> None:
        """See socket: closes both ends."""
        self._theirs.close()
        super().close()
