"""VariantServer: a throwaway server that applies the options of one variant after another, and its common settings."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import TYPE_CHECKING, Any

from advisor.catalog import load
from advisor.verdict import Outcome, judge_value
from advisor.verdict.settings import is_same_value
from probes.experiment import Cost, ProbeError
from probes.sandbox import SandboxError, open_port, start_server
from probes.sandbox.errors import disk_full_error, reports_disk_full
from probes.sandbox.scratch import is_disk_full
from probes.sandbox.server import CLIENT_ERRORS
from probes.workload.load import DriverError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pymysql

    from advisor.catalog import Catalog, Option
    from advisor.core.model import Target
    from probes.experiment import Environment
    from probes.sandbox import Binary, Sandbox


Connection = Any
END_SECONDS = 1.0  # seconds to wait for the server's end after the driver failed; later it counts as alive
LOST_SECONDS = 10.0  # the same after a lost connection, which has no other cause; a large server takes long to end
POLL = 0.02
BINLOG_SYNCS = "syncs of the binary log"

# MISC counts calls that neither read nor write; for this file these are mostly syncs. MariaDB's is empty by default.
ASK_BINLOG_SYNCS = (
    "SELECT COUNT_MISC FROM performance_schema.file_summary_by_event_name WHERE EVENT_NAME = 'wait/io/file/sql/binlog'"
)

# Resizing a pool or a redo log continues in the background during the measurement. The doublewrite buffer cannot be
# enabled or disabled at run time, although in some versions the change between ON and DETECT_ONLY is dynamic.
RESTART_OPTIONS = frozenset(
    ["innodb_buffer_pool_size", "innodb_doublewrite", "innodb_redo_log_capacity", "innodb_log_file_size"]
)
MIB = 1 << 20
CONNECTIONS = 300
FRESH_DATADIR = 250 * MIB  # maximum size of a fresh data directory with its undo, system and temporary tablespaces
PROCESS_MEMORY = 450 * MIB  # memory besides the buffer pool; mostly MySQL's Performance Schema
CONNECTION_MEMORY = 2 * MIB
BINARY_LOG = 64 * MIB  # bytes per file; old files are purged between blocks
PAGE = 16 << 10
FREE_SHARE = 32  # one in so many pages is kept free, as in a pool of half a gigabyte
LEAST_DEPTH = 100  # minimum of innodb_lru_scan_depth
USUAL_DEPTH = 1024
START_SECONDS = 12.0  # maximum time to initialize and start on an idle disk
LOAD_RATE = 20 * MIB  # bytes of a table per second, filled and indexed, on a slow machine

BOUNDED_OPTIONS = (
    f"--max-connections={CONNECTIONS}",
    "--table-open-cache=200",
    "--table-definition-cache=400",
    "--innodb-buffer-pool-dump-at-shutdown=OFF",
    "--innodb-buffer-pool-load-at-startup=OFF",
)


@contextlib.contextmanager
def start_variant_server(
    environment: Environment,
    binary: Binary,
    directory: str,
    arguments: Iterable[str],
    *,
    initial: Iterable[str] = (),
) -> Iterator[VariantServer]:
    """Start a server in `directory`; leaving the context stops it and removes all its files.

    `initial` options shape the data files. Raises ProbeError if the server is not available.
    """
    environment.report(f"starting {binary.name} in {directory}")
    shaping, given = tuple(initial), tuple(arguments)
    try:
        sandbox = start_server(
            binary, base=directory, arguments=given, initial=shaping, templates=environment.templates
        )
    except SandboxError as error:
        raise ProbeError(str(error)) from error
    with sandbox:
        server = VariantServer(sandbox, (*shaping, *given))
        with server.explain_errors(), watch_disk_space(sandbox):
            yield server


class VariantServer:
    """A running throwaway server and the options set on it; `room` is a folder for the driver's files."""

    def __init__(self, sandbox: Sandbox, arguments: tuple[str, ...]) -> None:
        self.sandbox = sandbox
        self.target = sandbox.binary.target
        self.catalog = load(self.target)
        self.scratch_folder = os.path.join(sandbox.directory, "tmp")
        self._base = arguments
        self._at_start: dict[str, str] = {}
        self._changed: dict[str, str] = {}
        self._originals: dict[str, str] = {}
        self._connection: pymysql.Connection[Any] | None = None
        self._round = 1
        self._is_of_earlier_round = False

    def apply_settings(self, settings: dict[str, str]) -> bool:
        """Apply these options and restore all others that were changed; returns whether that took a restart.

        Raises ProbeError if the server refuses one.
        """
        at_start = {name: value for name, value in settings.items() if not self._is_dynamic(name)}
        restarted = at_start != self._at_start or (bool(at_start) and self._is_of_earlier_round)
        if restarted:
            self.restart(at_start)
        changing = {name: value for name, value in settings.items() if name not in at_start}
        for name in [name for name in self._changed if name not in changing]:
            self._set(name, self._originals[name])
            del self._changed[name]
        for name, value in changing.items():
            if self._changed.get(name) != value:
                self._originals.setdefault(name, self.variable(name))
                self._set(name, value)
                self._changed[name] = value
        return restarted

    def restart(self, at_start: dict[str, str] | None = None) -> None:
        """Restart the server with startup options in addition to its own; None keeps the current ones."""
        self._is_of_earlier_round = False
        self._at_start = self._at_start if at_start is None else dict(at_start)
        self._changed.clear()
        self._disconnect()
        given = [f"--{name.replace('_', '-')}={value}" for name, value in self._at_start.items()]
        try:
            self.sandbox.restart([*self._base, *given])
        except SandboxError as error:
            raise ProbeError(str(error)) from error

    def begin_round(self, number: int) -> None:
        """Note that a block of this round begins: variants that take a restart get a new process in each round.

        Without it, the last variant of a round would keep its process if it is the first of the next one. See
        `restart_for_round`.
        """
        self._is_of_earlier_round = self._is_of_earlier_round or number != self._round
        self._round = number

    def restart_for_round(self, number: int) -> bool:
        """Restart the server if it has not run a block of this round yet; returns whether it did.

        For experiments that compare servers: one of two equal processes can be faster for as long as both run, so
        that the rounds of a run with one process each would not be independent.
        """
        if number == self._round:
            return False
        self._round = number
        self.restart()
        return True

    def stop(self) -> None:
        """Shut the server down and keep its data for `restart`."""
        self._disconnect()
        self.sandbox.stop()

    def restart_with(self, variables: dict[str, str]) -> None:
        """Restart the server with these environment variables instead of the previous ones."""
        self.sandbox.variables = dict(variables)
        self.restart()

    def open_port(self, *arguments: str) -> int:
        """Restart the server with additional options and a free port of 127.0.0.1; returns the port."""
        self._base = (*self._base, *arguments)
        self._changed.clear()
        self._disconnect()
        try:
            open_port(self.sandbox, self._base)
        except SandboxError as error:
            raise ProbeError(str(error)) from error
        return self.sandbox.port or 0

    def query(self, sql: str) -> tuple[tuple[Any, ...], ...]:
        """The result rows of a statement, executed as root on a persistent connection."""
        with self.connection().cursor() as cursor:
            cursor.execute(sql)
            return tuple(cursor.fetchall())

    def connection(self) -> Connection:
        """Root's connection to the running server, the same one until a restart."""
        if self._connection is None:
            self._connection = self.sandbox.connect(autocommit=True)
        return self._connection

    def variable(self, name: str) -> str:
        """A global variable's value; raises ProbeError if the server does not have the variable."""
        rows = self.query(f"SHOW GLOBAL VARIABLES WHERE Variable_name = '{self._variable_of(name) or name}'")
        if not rows:
            raise ProbeError(f"{self.sandbox.binary.name} has no variable {name}")
        return str(rows[0][1])

    def purge_binary_logs(self) -> None:
        """Purge completed binary log files, which would fill the disk."""
        if self._has_binary_log():
            self.query("PURGE BINARY LOGS BEFORE NOW()")

    def differing_value(self, name: str, value: str) -> str | None:
        """The running value if it differs from the requested one; None if it is the same or there is no variable."""
        if self._variable_of(name) is None:
            return None
        running = self.variable(name)
        verdict = judge_value(name, value, self.catalog)
        taken = verdict.outcome is Outcome.ACCEPTED and any(
            is_same_value(text, running) for text in (value, verdict.value) if text is not None
        )
        return None if taken else running

    def status(self) -> dict[str, int]:
        """The status counters that are integers, and BINLOG_SYNCS if the server counts them."""
        counters = {str(name): int(value) for name, value in self.query("SHOW GLOBAL STATUS") if str(value).isdigit()}
        for (syncs,) in self.query(ASK_BINLOG_SYNCS) if self._has_binary_log() else ():
            counters[BINLOG_SYNCS] = int(syncs)
        return counters

    @contextlib.contextmanager
    def explain_errors(self) -> Iterator[None]:
        """Convert errors of the server to a ProbeError with the end of the server's log."""
        import pymysql

        try:
            yield
        except (SandboxError, pymysql.Error, OSError, DriverError) as error:
            raise self._explain(error) from error

    def _has_binary_log(self) -> bool:
        return any(argument.startswith("--log-bin") for argument in self._base)

    def _explain(self, error: Exception) -> ProbeError:
        gone = self._has_ended(LOST_SECONDS if _is_connection_lost(error) else END_SECONDS)
        if gone:
            self._disconnect()
        if (disk_full_error := disk_space_error(self.sandbox, str(error))) is not None:
            return ProbeError(str(disk_full_error))
        if gone:
            return ProbeError(str(self.sandbox.ended_error("in the middle of the run")))
        if isinstance(error, DriverError):
            return ProbeError(str(error))
        return ProbeError(f"{self.sandbox.binary.name} refused: {_error_text(error)}")

    def _is_dynamic(self, name: str) -> bool:
        return is_dynamic(self.catalog, name)

    def _has_ended(self, patience: float) -> bool:
        """Whether the server has ended; its connections break a moment before its process ends."""
        deadline = time.monotonic() + patience
        while self.sandbox.running and time.monotonic() < deadline:
            time.sleep(POLL)
        return not self.sandbox.running

    def _variable_of(self, name: str) -> str | None:
        option = _option(self.catalog, name)
        return option.variable if option else name

    def _set(self, name: str, value: str) -> None:
        with self.connection().cursor() as cursor:
            cursor.execute(f"SET GLOBAL {self._variable_of(name) or name} = {self._literal(name, value)}")

    def _literal(self, name: str, value: str) -> str:
        """A value as a literal for SET.

        Numbers are unquoted with their suffix resolved, switches are ON or OFF, anything else is quoted.
        """
        made = judge_value(name, value, self.catalog)
        kind = made.option.kind if made.option else "string"
        if kind in ("int", "uint", "double") and made.value is not None:
            return made.value
        if kind == "bool" and made.value in ("TRUE", "FALSE"):
            return "ON" if made.value == "TRUE" else "OFF"
        return value if value.lstrip("-").isdigit() else "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"

    def _disconnect(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(Exception):
                self._connection.close()
            self._connection = None


def _is_connection_lost(error: Exception) -> bool:
    """Whether a connection was lost, now or before."""
    import pymysql

    broke = bool(error.args) and error.args[0] in CLIENT_ERRORS
    return isinstance(error, pymysql.err.InterfaceError) or (isinstance(error, pymysql.Error) and broke)


def _error_text(error: Exception) -> str:
    """The text of an error, followed by the server's error number."""
    import pymysql

    known = isinstance(error, pymysql.Error) and len(error.args) == 2  # noqa: PLR2004 - a number and words
    return f"{error.args[1]} ({error.args[0]})" if known else str(error)


def is_dynamic(catalog: Catalog, name: str) -> bool:
    """Whether an option can be set by SET GLOBAL, without a restart."""
    option = _option(catalog, name)
    return bool(option and option.dynamic and option.variable not in RESTART_OPTIONS)


def _option(catalog: Catalog, name: str) -> Option | None:
    return catalog.get(name) or catalog.find_variable(name)


POLL_SECONDS = 0.5  # seconds


@contextlib.contextmanager
def watch_disk_space(sandbox: Sandbox) -> Iterator[None]:
    """Monitor the free space of a server's file system while the context lasts, and kill the server if it is full.

    MyISAM tables and binary logs, and with them the clients, wait on a full file system until space is freed.
    Meanwhile writes of other programs fail; killing the server is also the first step to free the space.
    """
    over = threading.Event()
    thread = threading.Thread(target=_kill_when_full, args=(sandbox, over), name="mycnf-room", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def disk_space_error(sandbox: Sandbox, message: str = "") -> SandboxError | None:
    """The disk full error, by the file system, the server's log or the error `said`; None if there is space."""
    if is_disk_full(sandbox.directory) or reports_disk_full(sandbox.read_log()) or reports_disk_full(message):
        return disk_full_error(f"{sandbox.binary.name} cannot continue in {sandbox.directory}")
    return None


def _kill_when_full(sandbox: Sandbox, over: threading.Event) -> None:
    while not over.wait(POLL_SECONDS):
        if sandbox.running and disk_space_error(sandbox):
            sandbox.kill()


def server_arguments(
    target: Target, *, pool: int, redo: int = 256 * MIB, binary_log: bool = False, direct: bool = True
) -> tuple[str, ...]:
    """Options of a server with a buffer pool and a redo log of these sizes in bytes.

    `binary_log` enables the binary log. `direct` makes InnoDB bypass the page cache, so that only the pool caches
    data. The number of free pages is reduced in proportion for small pools. Everything else has the server's defaults.
    """
    flags = [f"--innodb-buffer-pool-size={pool}", *BOUNDED_OPTIONS, *_redo_options(target, redo), *_lru_options(pool)]
    logging = ["--log-bin=binlog", "--server-id=1", f"--max-binlog-size={BINARY_LOG}"]
    flags += logging if binary_log else ["--skip-log-bin"]
    flags += ["--innodb-flush-method=O_DIRECT"] if direct else ["--innodb-flush-method=fsync"]
    # MariaDB generates a key of 4096 bits at every start, which takes seconds, and the socket needs no TLS.
    flags += ["--skip-ssl"] if target.since("mariadb", 11, 4) else []
    return tuple(flags)


def lru_scan_depth(pool: int) -> int:
    """innodb_lru_scan_depth for a pool of that many bytes."""
    return min(USUAL_DEPTH, max(LEAST_DEPTH, pool // PAGE // FREE_SHARE))


def _lru_options(pool: int) -> list[str]:
    # The server keeps innodb_lru_scan_depth pages free by evictions; in a pool of 16M that would be nearly all pages.
    depth = lru_scan_depth(pool)
    return [f"--innodb-lru-scan-depth={depth}"] if depth < USUAL_DEPTH else []


def _redo_options(target: Target, redo: int) -> list[str]:
    if load(target).get("innodb_redo_log_capacity") is not None:
        return [f"--innodb-redo-log-capacity={redo}"]
    if target.since("mariadb", 10, 5):  # a single file since that version
        return [f"--innodb-log-file-size={redo}"]
    return [f"--innodb-log-file-size={redo // 2}", "--innodb-log-files-in-group=2"]


def server_cost(
    *, pool: int, data: int, redo: int = 256 * MIB, growth: int = 0, servers: int = 1, threads: int = 1
) -> Cost:
    """The cost of servers with `data` bytes of tables each; `growth` is what the whole run may write."""
    return Cost(
        disk=servers * (FRESH_DATADIR + redo + int(data * 1.3)) + growth,
        memory=servers * (PROCESS_MEMORY + int(pool * 1.1)) + threads * CONNECTION_MEMORY,
        prepare=servers * (START_SECONDS + data / LOAD_RATE),
        creates=(
            "a scratch directory with a throwaway server's data, removed when it ends",
            "that server, which listens only on a socket there",
        ),
    )
