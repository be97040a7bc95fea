"""A driver connection that refuses any statement that is not on the closed list."""

from __future__ import annotations

import socket
import ssl
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pymysql.connections import Connection
from pymysql.constants import COMMAND, CR
from pymysql.converters import conversions
from pymysql.err import Error, OperationalError

from advisor.collect.connection.limits import AnswerLimits, AnswerTooLarge
from advisor.collect.connection.sockets import peer_pid
from advisor.collect.connection.statements import is_listed
from advisor.redaction.secrets import escape_text

if TYPE_CHECKING:
    import io

# Values stay bytes as the server sent them: no decoder runs, and invalid bytes cause no error.
_ENCODERS: dict[int | type[Any], Any] = {
    kind: encode for kind, encode in conversions.items() if not isinstance(kind, int)
}
# Plugins with which a server asks for the clear-text password; the driver would send it over any connection.
_CLEAR_TEXT = (b"mysql_clear_password", b"dialog")
_BROKEN = (b"mysql_old_password",)


class StatementNotListed(Exception):  # noqa: N818 - no error of the user's: a defect of ours, stopped before a byte was sent
    """A statement that is not on the closed list was about to be sent."""


class ProtocolError(OperationalError):
    """Invalid data from the server: an endless answer, or a packet that is not of the protocol.

    The connection is closed.
    """


class Wire(Connection):
    """A driver connection with autocommit, without local files and decoding, guarded by the closed list.

    Everything from the server is read within the allowance; data that the driver cannot read raises ProtocolError.
    """

    _sock: socket.socket | None
    _rfile: io.BufferedReader
    _secure: bool
    _read_timeout: float
    _current_timeout: float | None
    server_thread_id: tuple[int]
    server_version: str

    def __init__(self, allowance: AnswerLimits, **options: Any) -> None:
        self.sent = 0
        self.allowance = allowance
        self._current_timeout = None
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
            raise StatementNotListed(f"not on the closed list: {text}")
        self.sent += 1
        self.allowance.begin()
        super()._execute_command(command, sql)  # type: ignore[misc]

    def connect(self, sock: socket.socket | None = None) -> None:
        """Connect and log in; both count as one answer."""
        self.allowance.begin()
        super().connect(sock)

    def autocommit(self, value: bool) -> None:
        """Always send SET autocommit: MySQL reports autocommit as on at the start of a session even if it is off.

        The driver relies on that report, so otherwise each statement would leave a transaction open.
        """
        self.autocommit_mode = value
        self._send_autocommit_mode()  # type: ignore[attr-defined]

    def _read_query_result(self, unbuffered: bool = False) -> Any:
        try:
            return super()._read_query_result(unbuffered)  # type: ignore[misc]
        except Error:
            raise
        except Exception as error:  # the driver indexes, unpacks and asserts while it reads
            self._force_close()  # type: ignore[attr-defined]
            raise ProtocolError(CR.CR_MALFORMED_PACKET, _error_description(error)) from error

    def _read_bytes(self, num_bytes: int) -> bytes:
        """Read that many bytes within the allowance, which ends answers that are too slow or endless."""
        data = bytearray()
        try:
            self.allowance.spend(num_bytes)
            while len(data) < num_bytes:
                ready = self._ready()
                if not ready:
                    raise ConnectionResetError("closed by the server")
                data += self._rfile.read(min(ready, num_bytes - len(data)))
        except OSError as error:
            self._force_close()  # type: ignore[attr-defined]
            raise OperationalError(CR.CR_SERVER_LOST, f"Lost connection to the server ({error})") from error
        except AnswerTooLarge as error:
            self._force_close()  # type: ignore[attr-defined]
            raise ProtocolError(CR.CR_MALFORMED_PACKET, str(error)) from error
        return bytes(data)

    def _ready(self) -> int:
        """The number of bytes available after waiting for the first ones; 0 at the end of the stream."""
        timeout = min(self._read_timeout, self.allowance.left())
        if self._sock is not None and timeout != self._current_timeout:
            self._sock.settimeout(timeout)
            self._current_timeout = timeout
        began = time.monotonic()
        try:
            return len(self._rfile.peek(1))
        finally:
            self.allowance.waited(time.monotonic() - began)

    def _process_auth(self, plugin_name: bytes, auth_packet: Any, handler: Any = None) -> Any:
        if plugin_name in _BROKEN or (plugin_name in _CLEAR_TEXT and not self.trusted):
            name = plugin_name.decode("ascii")
            raise OperationalError(CR.CR_AUTH_PLUGIN_ERR, f"{name} would show the password to anybody on the way")
        return super()._process_auth(plugin_name, auth_packet, handler)  # type: ignore[misc]

    @property
    def trusted(self) -> bool:
        """Whether the peer is authenticated and the connection private: a Unix socket, or verified TLS."""
        if isinstance(self._sock, ssl.SSLSocket):
            return self._sock.context.verify_mode == ssl.CERT_REQUIRED
        return self._sock is not None and self._sock.family == socket.AF_UNIX

    @property
    def handshake_id(self) -> int:
        """The connection id from the greeting; behind a proxy it is the proxy's."""
        return self.server_thread_id[0]

    @property
    def peer_pid(self) -> int:
        """The process behind the Unix socket; 0 on TCP, or if the kernel does not report it."""
        return peer_pid(self._sock) if self._sock is not None else 0

    @property
    def tls(self) -> bool:
        """Whether the connection is encrypted."""
        return isinstance(self._sock, ssl.SSLSocket)

    def shut(self) -> None:
        """Interrupt a pending wait at once; may be called from another thread."""
        if self._sock is not None:
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)


def _error_description(error: Exception) -> str:
    """A description of a protocol error; the driver raises RuntimeError only for LOCAL INFILE requests."""
    if isinstance(error, RuntimeError):
        return "it asks for a file of this host, and got none"
    return f"its answer is not of the MySQL protocol ({escape_text(type(error).__name__)})"
