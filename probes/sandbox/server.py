"""Sandbox: a throwaway server that is ready when you get it and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Any, Self

from probes.sandbox import cleanup
from probes.sandbox.binary import NO_VARIABLES, placement_options, user_option
from probes.sandbox.cleanup import spawn
from probes.sandbox.datadir import copy_template, initialize
from probes.sandbox.errors import (
    PORT_TAKEN,
    SandboxError,
    disk_full_error,
    first_log_errors,
    log_tail,
    server_ended_error,
)
from probes.sandbox.scratch import KILL_TIMEOUT, SHORT_BASE, Scratch, default_base, is_disk_full, sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

    import pymysql

    from probes.sandbox.binary import Binary


READY_TIMEOUT = 180.0
STOP_TIMEOUT = 60.0
POLL = 0.02
CLIENT_ERRORS = range(2000, 3000)  # raised by the client; other numbers are answers of the server, even if it refuses
LOG_BYTES = 1 << 20  # bytes read from the end of an error log
PORT_RETRIES = 3  # retries with another port
# Ports of the sandbox; from the second on Linux takes those of outgoing connections (net.ipv4.ip_local_port_range).
LEAST_PORT, FIRST_OUTGOING_PORT, PORT_TRIES = 10_000, 32_768, 100

SMALL_OPTIONS = (
    "--innodb-buffer-pool-size=32M",
    "--max-connections=40",
    "--table-open-cache=200",
    "--table-definition-cache=400",
    "--skip-log-bin",
)


class Sandbox:
    """A running throwaway server; leaving the `with` block, or calling `close`, removes everything.

    `socket`, `error_log` and `datadir` are paths, `port` is None without TCP, `pid` is the server's process.
    `variables` are added to its environment at its next start.
    """

    def __init__(
        self, binary: Binary, scratch: Scratch, port: int | None, option_file: str | None, arguments: tuple[str, ...]
    ) -> None:
        self.binary = binary
        self.port = port
        self.option_file = option_file
        self.arguments = arguments
        self.variables: dict[str, str] = {}
        self.directory = scratch.path
        self.datadir = scratch.file("data")
        self.socket = scratch.socket
        self.error_log = scratch.file("error.log")
        self._scratch = scratch
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0
        cleanup.register(self)

    @property
    def pid(self) -> int:
        """The server's process id; raises SandboxError while it is stopped."""
        if self._process is None:
            raise SandboxError(f"{self.binary.name} is stopped: start it with restart()")
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the server's process is alive."""
        process = self._process
        return process is not None and process.poll() is None

    def read_log(self) -> str:
        """The server's error log since its last start, including stderr; only the end if it is long."""
        with contextlib.suppress(OSError), open(self.error_log, "rb") as text:
            text.seek(max(self._log_start, os.path.getsize(self.error_log) - LOG_BYTES))
            return text.read().decode("utf-8", "replace")
        return ""

    def ended_error(self, when: str) -> SandboxError:
        """The error for a server that ended by itself; `when` is the phase, such as "at its start"."""
        process = self._process
        code = process.poll() if process else None
        return server_ended_error(self.binary.name, when, code or 0, self.read_log())

    def connect(self, **options: Any) -> pymysql.Connection[Any]:
        """A PyMySQL connection as root over the socket; options as for `pymysql.connect`."""
        import pymysql

        # PyMySQL prepares TLS even for a socket, which takes a thousand times as long as connecting.
        return pymysql.connect(**{"unix_socket": self.socket, "user": "root", "ssl_disabled": True, **options})

    def stop(self) -> None:
        """Shut the server down normally and keep its data directory for `restart`."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                self.kill()
        self._process = None

    def kill(self) -> None:
        """Kill the server; its directory is kept until `close`."""
        process = self._process  # the exit handler may close it at the same time as the thread that uses it
        if process is not None and process.poll() is None:
            process.kill()
            # With a timeout: if a signal handler calls this, it may have interrupted the same wait.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(KILL_TIMEOUT)

    def restart(self, arguments: Iterable[str] | None = None, *, timeout: float = READY_TIMEOUT) -> None:
        """Shut down and start again on the same data; new `arguments` replace the old ones.

        Where another program took the port in the meantime it is replaced with a free one. Raises SandboxError if the
        server does not come back; its directory is kept until `close`.
        """
        self.stop()
        if arguments is not None:
            self.arguments = tuple(arguments)
        for _ in range(PORT_RETRIES):
            try:
                return self._launch(timeout)
            except SandboxError as error:
                if self.port is None or PORT_TAKEN not in str(error):
                    raise
            os.truncate(self.error_log, self._log_start)  # what the failed start wrote is not about this server
            self.port = free_port()
        return self._launch(timeout)

    def close(self) -> None:
        """Kill the server and remove its directory; calling it again has no effect."""
        if os.getpid() != self._scratch.owner:
            return
        self.kill()
        self._process = None
        self._scratch.remove()
        cleanup.unregister(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def command(self) -> list[str]:
        """The complete command line; later options override earlier ones and the file."""
        first = f"--defaults-file={self.option_file}" if self.option_file else "--no-defaults"
        return [
            self.binary.program,
            first,
            *placement_options(self.binary),
            *user_option(),
            f"--datadir={self.datadir}",
            f"--socket={self.socket}",
            *self._network_options(),
            *self._path_options(),
            *self.arguments,
        ]

    def _network_options(self) -> list[str]:
        options = ["--skip-networking"] if self.port is None else [f"--port={self.port}", "--bind-address=127.0.0.1"]
        if self.binary.target.since("mysql", 8):
            options.append(f"--loose-mysqlx-socket={os.path.dirname(self.socket)}/mysqlx.sock")
            if self.port is not None:
                options += ["--loose-mysqlx-bind-address=127.0.0.1", f"--loose-mysqlx-port={free_port()}"]
        return options

    def _path_options(self) -> list[str]:
        # An option file may point anywhere on the host; without one, the server's defaults are in the scratch
        # directory or come from the environment.
        if self.option_file is None:
            return []
        inside = self._scratch.file
        return [f"--log-error={self.error_log}", f"--pid-file={inside('pid')}", f"--tmpdir={inside('tmp')}"]

    def _launch(self, timeout: float) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.socket)
        with contextlib.suppress(FileNotFoundError):
            self._log_start = os.path.getsize(self.error_log)
        temporary = self._scratch.file("tmp")
        self._process = spawn(self.command(), log=self.error_log, temporary=temporary, variables=self.variables)
        self._scratch.note(self._process.pid)
        self._await_ready(time.monotonic() + timeout)

    def _await_ready(self, deadline: float) -> None:
        while not self._is_ready():
            if not self.running:
                raise self.ended_error("at its start")
            if is_disk_full(self.directory):
                self.kill()
                raise disk_full_error(f"{self.binary.name} was ended at its start")
            if time.monotonic() > deadline:
                self.kill()
                raise SandboxError(
                    f"{self.binary.name} was not ready in time: is the host overloaded? "
                    + first_log_errors(self.read_log()),
                    log_tail(self.read_log()),
                )
            time.sleep(POLL)

    def _is_ready(self) -> bool:
        # A complete login and logout, because merely opening a socket would be counted as an aborted connection.
        if not os.path.exists(self.socket):
            return False
        try:
            self.connect(connect_timeout=5, read_timeout=5).close()
        except OSError:
            return False
        except Exception as error:  # noqa: BLE001  PyMySQL is loaded only here; its errors carry the server's number
            return bool(error.args) and error.args[0] not in CLIENT_ERRORS
        return True


def free_port() -> int:
    """A TCP port of 127.0.0.1 without a listener, below those that the kernel gives to outgoing connections.

    One of those may be taken before the server listens, or while it is restarted.
    """
    for port in random.SystemRandom().sample(range(LEAST_PORT, FIRST_OUTGOING_PORT), PORT_TRIES):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_server(
    binary: Binary,
    *,
    base: str | os.PathLike[str] | None = None,
    option_file: str | os.PathLike[str] | None = None,
    arguments: Iterable[str] = (),
    initial: Iterable[str] = (),
    tcp: bool = False,
    small: bool = False,
    templates: str | os.PathLike[str] | None = None,
    variables: Mapping[str, str] = NO_VARIABLES,
    timeout: float = READY_TIMEOUT,
) -> Sandbox:
    """Start a server in a scratch directory in `base` and return it when it accepts connections.

    By default it is an unmodified server that listens only on its socket. `arguments` come last on its command line,
    after `initial`, which are also used to initialize the data directory (a page size). Without an option file MySQL
    also ignores its persisted options (`SET PERSIST`); an empty file makes it read them. `tcp` opens a free port of
    127.0.0.1. `small` limits its memory. `templates` is a directory in which an initialized data directory is kept and
    copied from, which is faster than initializing again. `variables` are added to its environment. Raises
    SandboxError, and then leaves nothing behind.
    """
    for place in {SHORT_BASE, default_base(), os.fspath(base or default_base())}:
        sweep(place)
    file = None if option_file is None else os.path.abspath(os.fspath(option_file))
    scratch = Scratch(base)
    shaping = tuple(initial)
    given = (*(SMALL_OPTIONS if small else ()), *shaping, *arguments)
    sandbox = Sandbox(binary, scratch, free_port() if tcp else None, file, given)
    sandbox.variables = dict(variables)
    try:
        if templates is None:
            initialize(binary, sandbox.datadir, scratch.file("tmp"), shaping)
        else:
            copy_template(binary, os.fspath(templates), sandbox.datadir, shaping)
        sandbox.restart(timeout=timeout)
    except BaseException:
        sandbox.close()
        raise
    return sandbox


def open_port(sandbox: Sandbox, arguments: Iterable[str], timeout: float = READY_TIMEOUT) -> None:
    """Restart a server with these `arguments` and, in addition to its socket, a free port of 127.0.0.1.

    The caller decides which accounts may log in there: MariaDB's root has no password at 127.0.0.1 either. Raises
    SandboxError if the server does not come back.
    """
    sandbox.arguments = tuple(arguments)
    sandbox.port = free_port()
    sandbox.restart(timeout=timeout)
