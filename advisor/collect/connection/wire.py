"""A driver connection that refuses statements that are not on the closed list, and limits the server's answers."""

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

from advisor.collect.connection.sockets import peer_pid, peer_user, runs_servers
from advisor.collect.connection.statements import is_listed
from advisor.redaction import escape_text

if TYPE_CHECKING:
    import io


# Values stay bytes as the server sent them: no decoder runs, and invalid bytes cause no error.
_ENCODERS: dict[int | type[Any], Any] = {
    kind: encode for kind, encode in conversions.items() if not isinstance(kind, int)
}

# Plugins with which a server asks for the clear-text password; the driver would send it over any connection.
_CLEAR_TEXT = (b"mysql_clear_password", b"dialog")
_BROKEN = (b"mysql_old_password",)
MAX_ANSWER_BYTES = 8 << 20  # bytes; the largest answers of real servers have a few hundred thousand
MAX_TOTAL_BYTES = 48 << 20  # bytes; all answers of an audit together are much smaller

# Python's overhead for each piece of an answer: a million empty rows are not free.
PIECE = 64


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
                ready = self._wait_for_bytes()
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

    def _wait_for_bytes(self) -> int:
        """The number of bytes available after waiting for the first ones; 0 at the end of the stream."""
        timeout = min(self._read_timeout, self.allowance.seconds_left())
        if self._sock is not None and timeout != self._current_timeout:
            self._sock.settimeout(timeout)
            self._current_timeout = timeout
        began = time.monotonic()
        try:
            return len(self._rfile.peek(1))
        except TimeoutError as error:
            if timeout < self._read_timeout:  # it was the rest of what one answer may take
                raise AnswerTooSlow(str(error)) from error
            raise
        finally:
            self.allowance.add_wait(time.monotonic() - began)

    def _process_auth(self, plugin_name: bytes, auth_packet: Any, handler: Any = None) -> Any:
        if plugin_name in _BROKEN or (plugin_name in _CLEAR_TEXT and not self.trusted):
            name = plugin_name.decode("ascii")
            raise OperationalError(CR.CR_AUTH_PLUGIN_ERR, f"{name} would show the password to {self._reader}")
        return super()._process_auth(plugin_name, auth_packet, handler)  # type: ignore[misc]

    @property
    def _reader(self) -> str:
        """Who could read a password in clear text."""
        if self._sock is not None and self._sock.family == socket.AF_UNIX:
            return f"a process of user {peer_user(self._sock)}"
        return "anyone on the network path"

    @property
    def trusted(self) -> bool:
        """Whether the peer is authenticated and the connection private: verified TLS, or a Unix socket.

        The latter's listener must be of root, of us or of a user that servers run as: anyone can listen on a socket.
        """
        if isinstance(self._sock, ssl.SSLSocket):
            return self._sock.context.verify_mode == ssl.CERT_REQUIRED
        if self._sock is None or self._sock.family != socket.AF_UNIX:
            return False
        return runs_servers(peer_user(self._sock))

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
        open_socket = self._sock  # the thread that waits may close it and set None at any moment
        if open_socket is not None:
            with suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)


def _error_description(error: Exception) -> str:
    """A description of a protocol error; the driver raises RuntimeError only for LOCAL INFILE requests."""
    if isinstance(error, RuntimeError):
        return "it asks for a file of this host, and got none"
    return f"its answer does not follow the MySQL protocol ({escape_text(type(error).__name__)})"


class AnswerTooLarge(Exception):  # noqa: N818 - becomes a lost connection, with its words
    """The server sends more than a valid answer can contain."""


class AnswerTooSlow(TimeoutError):  # noqa: N818 - a time-out like that of silence, for which the driver looks
    """The server keeps sending without finishing its answer."""


class AnswerLimits:
    """The remaining limits: seconds and bytes for one answer since `begin`, and for all answers since `bound`.

    Only time spent waiting for the server counts, in seconds of the monotonic clock.
    """

    __slots__ = ("_began", "_bytes", "_seconds", "_spent", "_waited", "_whole")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._whole: float | None = None
        self._waited = 0.0
        self._spent = 0
        self.begin()

    def begin(self) -> None:
        """Start the limits of a new answer."""
        self._began = time.monotonic()
        self._bytes = 0

    def bound(self, seconds: float) -> None:
        """Start the limits for all further answers together: this time, and MAX_TOTAL_BYTES."""
        self._whole, self._waited, self._spent = seconds, 0.0, 0

    def spend(self, size: int) -> None:
        """Account for a piece of this size before it is read; raises AnswerTooLarge beyond either limit."""
        self._bytes += size + PIECE
        if self._bytes > MAX_ANSWER_BYTES:
            raise AnswerTooLarge(f"its answer is larger than {MAX_ANSWER_BYTES >> 20}M")
        if self._whole is not None:
            self._spent += size + PIECE
            if self._spent > MAX_TOTAL_BYTES:
                raise AnswerTooLarge(f"its answers are larger than {MAX_TOTAL_BYTES >> 20}M")

    def add_wait(self, seconds: float) -> None:
        """Add time spent waiting for the server."""
        if self._whole is not None:
            self._waited += seconds

    @property
    def over(self) -> bool:
        """Whether the time for all answers is used up."""
        return self._whole is not None and self._waited >= self._whole

    def seconds_left(self) -> float:
        """Seconds that may still be spent waiting for the server; raises AnswerTooSlow if there are none."""
        left = self._began + self._seconds - time.monotonic()
        if self._whole is not None:
            left = min(left, self._whole - self._waited)
        if left <= 0:
            raise AnswerTooSlow("timed out")
        return left
