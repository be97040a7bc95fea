"""The driver's connection, made to refuse any statement that isn't on the closed list."""

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

# Values stay the bytes that the server sent: no decoder runs on them, and no odd byte stops us.
_ENCODERS: dict[int | type[Any], Any] = {
    kind: encode for kind, encode in conversions.items() if not isinstance(kind, int)
}
# Plugins by which a server asks for the password itself; the driver would hand it over on any line.
_CLEAR_TEXT = (b"mysql_clear_password", b"dialog")
_BROKEN = (b"mysql_old_password",)


class StatementNotListed(Exception):  # noqa: N818 - no error of the user's: a defect of ours, stopped before a byte was sent
    """A statement that isn't on the closed list was about to be sent."""


class ProtocolError(OperationalError):
    """What no server sends: an answer without end, or no packet of the protocol. The connection is closed."""


class Wire(Connection):
    """A driver connection with autocommit on, no local files, no decoding, and the closed list as its guard.

    What the server sends is read within the allowance, and whatever the driver can't read of it is Nonsense.
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
        """Connect and log in, which counts as one answer."""
        self.allowance.begin()
        super().connect(sock)

    def autocommit(self, value: bool) -> None:
        """Switch it in any case: MySQL says that it is on when a session begins, also where the server has it off.

        The driver takes its word, and each statement of ours would leave a transaction open.
        """
        self.autocommit_mode = value
        self._send_autocommit_mode()  # type: ignore[attr-defined]

    def _read_query_result(self, unbuffered: bool = False) -> Any:
        try:
            return super()._read_query_result(unbuffered)  # type: ignore[misc]
        except Error:
            raise
        except Exception as error:  # the driver indexes, unpacks and asserts as it reads
            self._force_close()  # type: ignore[attr-defined]
            raise ProtocolError(CR.CR_MALFORMED_PACKET, _error_description(error)) from error

    def _read_bytes(self, num_bytes: int) -> bytes:
        """So many bytes within the allowance: one byte a second is no answer, nor is one without end."""
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
        """How many bytes can be taken without waiting, once there are any; 0 where no more will come."""
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
        """Whether the other end is who we take it for, unheard by others: a Unix socket, or TLS that was verified."""
        if isinstance(self._sock, ssl.SSLSocket):
            return self._sock.context.verify_mode == ssl.CERT_REQUIRED
        return self._sock is not None and self._sock.family == socket.AF_UNIX

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


def _error_description(error: Exception) -> str:
    """What is wrong with an answer, in words: the driver's own are of its making only where it asked for no file."""
    if isinstance(error, RuntimeError):
        return "it asks for a file of this host, and got none"
    return f"its answer is not of the MySQL protocol ({escape_text(type(error).__name__)})"
