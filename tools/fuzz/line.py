"""A line to a server that lives in the same thread: a socket pair, cut where the client would wait for ever."""

from __future__ import annotations

import select
import socket
from contextlib import suppress
from typing import Any

from packets import Server


class Line(socket.socket):
    """The client's end. Whatever it sends is answered at once; reading more than there is finds the line cut."""

    def __init__(self, server: Server) -> None:
        ours, self._theirs = socket.socketpair()
        super().__init__(fileno=ours.detach())
        self._theirs.setblocking(False)
        self._server = server
        self._waiting = server.greeting()

    def sendall(self, data: Any, flags: int = 0) -> None:
        """See socket: to the server, whose answer waits to be read."""
        super().sendall(data, flags)
        asked = b""
        with suppress(BlockingIOError):
            while part := self._theirs.recv(1 << 16):
                asked += part
        self._waiting += self._server.answer(asked)

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        """See socket: the end of the stream where nothing is left that the server would send."""
        with suppress(BlockingIOError):
            while self._waiting:
                self._waiting = self._waiting[self._theirs.send(self._waiting) :]
        there, _, _ = select.select([self], [], [], 0)
        return super().recv_into(buffer, nbytes, flags) if there else 0

    def close(self) -> None:
        """See socket: both ends."""
        self._theirs.close()
        super().close()
