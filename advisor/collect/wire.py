"""The driver's connection, made to refuse any statement that isn't on the closed list."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from typing import Any

from pymysql.connections import Connection
from pymysql.constants import COMMAND, CR
from pymysql.converters import conversions
from pymysql.err import OperationalError

from advisor.collect.sockets import peer_pid
from advisor.collect.statements import is_listed

# Values stay the bytes that the server sent: no decoder runs on them, and no odd byte stops us.
_ENCODERS: dict[int | type[Any], Any] = {
    kind: encode for kind, encode in conversions.items() if not isinstance(kind, int)
}
# Plugins by which a server asks for the password itself; the driver would hand it over on any line.
_CLEAR_TEXT = (b"mysql_clear_password", b"dialog")
_BROKEN = (b"mysql_old_password",)


class NotListed(Exception):  # noqa: N818 - no error of the user's: a defect of ours, stopped before a byte was sent
    """A statement that isn't on the closed list was about to be sent."""


class Wire(Connection):
    """A driver connection with autocommit on, no local files, no decoding, and the closed list as its guard."""

    _sock: socket.socket | None
    _secure: bool
    server_thread_id: tuple[int]

    def __init__(self, **options: Any) -> None:
        self.sent = 0
        super().__init__(
            charset="utf8mb4",
            use_unicode=False,
            conv=_ENCODERS,
            autocommit=True,
            local_infile=False,
            program_name="mycnf",
            defer_connect=True,
            **options,
        )

    def _execute_command(self, command: int, sql: str | bytes) -> None:
        text = sql if isinstance(sql, str) else sql.decode("utf-8", "replace")
        if command != COMMAND.COM_QUERY or not is_listed(text):
            raise NotListed(f"not on the closed list: {text}")
        self.sent += 1
        super()._execute_command(command, sql)  # type: ignore[misc]

    def _process_auth(self, plugin_name: bytes, auth_packet: Any, handler: Any = None) -> Any:
        if plugin_name in _BROKEN or (plugin_name in _CLEAR_TEXT and not self.secure):
            name = plugin_name.decode("ascii")
            raise OperationalError(CR.CR_AUTH_PLUGIN_ERR, f"{name} would show the password to anybody on the way")
        return super()._process_auth(plugin_name, auth_packet, handler)  # type: ignore[misc]

    @property
    def secure(self) -> bool:
        """Whether nobody between us and the server can read along: TLS or a Unix socket."""
        return self._secure

    @property
    def handshake_id(self) -> int:
        """The connection id that the greeting carried; behind a proxy it is the proxy's."""
        return self.server_thread_id[0]

    @property
    def peer_pid(self) -> int:
        """The process behind the Unix socket; 0 on TCP, or where the kernel doesn't tell."""
        return peer_pid(self._sock) if self._sock is not None else 0

    @property
    def tls(self) -> bool:
        """Whether the connection is encrypted."""
        return isinstance(self._sock, ssl.SSLSocket)

    def shut(self) -> None:
        """End whatever the connection waits for, at once; may be called from another thread."""
        if self._sock is not None:
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
