"""Probe of the cost of connections: by socket, TCP and TLS, with and without a thread cache, and with a thread pool."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from probes.choices import ChosenOptions
from probes.experiment import Choice, ProbeError, RunPlan, Variant
from probes.server_probes import server_settings
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.logins import missing_tls_reason, negotiated_cipher, open_port_for_one
from probes.server_probes.mechanism import Bounds, Precondition
from probes.server_probes.under_load import P95, P99, TPS, WorkloadBench
from probes.server_probes.variant_server import start_variant_server
from probes.workload.driver import DRIVER_CHOICE, choose_driver
from probes.workload.load import Login, Task
from probes.workload.statements import CONNECT_SELECT, OLTP, Access
from probes.workload.tables import TableShape, fill_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.sandbox import Binary
    from probes.server_probes.mechanism import BlockActivity
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal
    from probes.workload.statements import StatementMix

POOL = 64 << 20
SHAPE = TableShape(10_000, key_on_k=False)
TRANSPORT, CACHE, HANDLING = "transport", "thread-cache", "thread-handling"
NEW_EACH, PERSISTENT = "storm", "kept"
LOADS: dict[str, StatementMix] = {NEW_EACH: CONNECT_SELECT, PERSISTENT: OLTP["oltp_point_select"]}
SOCKET, TCP, TLS = "socket", "TCP", "TLS"
CACHE_SIZE, THREAD_HANDLING = "thread_cache_size", "thread_handling"
THREAD_EACH, THREAD_POOL = "one-thread-per-connection", "pool-of-threads"
ROUNDS = 5
SECONDS = 180.0
SECONDS_WITH_RESTARTS = 360.0
OVERHEAD = 0.4  # start of the driver, and the statements that set the options
RESTART = 3.0
TCP_ACCEPTED = "TCP connections accepted"
CONNECTIONS_MADE, THREADS_CREATED, TLS_HANDSHAKES = "Connections", "Threads_created", "Ssl_finished_accepts"
TLS_RESUMED, POOL_THREADS = "Ssl_session_cache_hits", "Threadpool_threads"
MOST_SHARE, FEW_SHARE = 0.9, 0.1  # of connections
HALF_SHARE = 0.5  # of connections
TOLERANCE = 0.02  # of the connections in a storm
EXTRA_CONNECTIONS = 3  # maximum connections per driver thread besides those of transactions
LISTENS_TEXT = (
    "that server, which listens on a socket there and on a free port of 127.0.0.1; the port accepts only one "
    "account, with a random password"
)
LOOPBACK_LIMIT = (
    "Client and server share this host: a network adds latency to every round trip, and connecting takes several."
)
HANDSHAKE_LIMIT = (
    "Each TLS connection does a full handshake with an RSA 2048 certificate. Larger keys cost more; clients "
    "that resume sessions pay less. The client's half of the work runs on this host too."
)
NO_WAITS_LIMIT = "Sessions read single rows from memory: waits for locks or disks are not measured."
STACKS_LIMIT = "The memory of cached threads is not measured."
FEW_SESSIONS_LIMIT = "A thread pool is meant for hundreds of sessions: use threads=256 to measure them."


class ConnectionCase(NamedTuple):
    """A variant: its load, the number of connections, their transport, and the server's options."""

    load: str
    threads: int
    transport: str = SOCKET
    settings: dict[str, str] = {}  # noqa: RUF012 - never changed

    @property
    def variant(self) -> Variant:
        """The variant with its name; variants with the same load form a group."""
        connections = "1 connection" if self.threads == 1 else f"{self.threads} connections"
        way = self.settings.get(THREAD_HANDLING, self.transport)
        if CACHE_SIZE in self.settings:
            way = f"{CACHE_SIZE}={self.settings[CACHE_SIZE]}"
        name = f"{self.load}, {way}, {connections}"
        return Variant(name, self.settings, float(self.threads), f"{self.load}, {connections}")


class Connections:
    """The probe `connections`."""

    name = "connections"
    title = "What connections cost"
    question = (
        "What do TCP, TLS, the thread cache and MariaDB's thread pool cost or save, for new and persistent connections?"
    )
    kind = "server"
    evidence = ("CONN-01", "CONN-02", "TP-01", "SSL-01")
    choices = (
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("compare", "word", TRANSPORT, f"what to compare: {TRANSPORT}, {CACHE} or {HANDLING} (MariaDB)"),
        Choice("transports", "words", "socket,tcp,tls", "ways to connect; the first is the baseline"),
        Choice("cache", "numbers", "64,0", f"values of {CACHE_SIZE}; the first is the baseline"),
        Choice("loads", "words", "storm,kept", "storm: a new connection for each SELECT; kept: persistent connections"),
        Choice("threads", "numbers", "1,16", "concurrent connections"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """A group for each load and number of connections; raises ProbeError for what the server does not support."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        compare = chosen.word("compare", TRANSPORT, CACHE, HANDLING)
        notes = _tls_notes(binary, compare, request)
        variants = tuple(case.variant for case in _cases(chosen, binary, tls=not notes))
        threads = max(chosen.numbers("threads", 1))
        cost = server_settings.server_cost(pool=POOL, data=SHAPE.bytes, threads=threads)
        restarted = compare == HANDLING
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(TPS, P95, P99),
            cost=cost._replace(creates=(cost.creates[0], LISTENS_TEXT)) if compare == TRANSPORT else cost,
            seconds=SECONDS_WITH_RESTARTS if restarted else SECONDS,
            rounds=ROUNDS,
            overhead=RESTART if restarted else OVERHEAD,
            shortest=1.0,
            grain=1.0,
            axis="connections",
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters={"compare": compare, "rows": str(SHAPE.rows), "pool": str(POOL)},
            limits=_limits(compare),
            notes=notes,
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[ConnectionsBench]:
        """Start a server with one small table, with an account for the load if it uses TCP."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        planned = {variant.name for variant in plan.variants}
        cases = {case.variant.name: case for case in _cases(chosen, binary) if case.variant.name in planned}
        room = max(server_settings.CONNECTIONS, 4 * max(case.threads for case in cases.values()))
        arguments = (*server_settings.server_arguments(binary.target, pool=POOL), f"--max-connections={room}")
        with start_variant_server(environment, binary, request.directory, arguments) as server:
            fill_tables(server.connection(), SHAPE, stop)
            login, agreed = Login(), ""
            if chosen.word("compare") == TRANSPORT:
                encrypted = any(case.transport == TLS for case in cases.values())
                login = open_port_for_one(server, encrypted=encrypted)
                agreed = negotiated_cipher(server, login) if encrypted else ""
            yield ConnectionsBench(server, plan.driver, cases, login, agreed)


class ConnectionsBench(WorkloadBench):
    """Also counts the TCP connections that the server's host accepted, besides the server's counters."""

    def __init__(
        self, server: VariantServer, driver: str, cases: dict[str, ConnectionCase], login: Login, agreed: str
    ) -> None:
        self._agreed = agreed
        ways = {
            SOCKET: login._replace(port=None),
            TCP: login,
            TLS: login._replace(encrypted=True),
        }

        def task_of(variant: Variant) -> Task:
            case = cases[variant.name]
            task = Task(
                server.sandbox.socket,
                server.scratch_folder,
                LOADS[case.load],
                Access(),
                threads=case.threads,
                rows=SHAPE.rows,
            )
            return task._replace(login=ways[case.transport])

        super().__init__(server, driver, task_of, warm_seconds=0, preconditions=preconditions(cases))

    def facts(self) -> dict[str, float | str]:
        """The facts of WorkloadBench, with the negotiated TLS version and cipher."""
        return {**super().facts(), **({TLS: self._agreed} if self._agreed else {})}

    def _warm_up(self, variant: Variant, turn: Turn, stop: StopSignal) -> None:
        """Read the table into the pool, so that no page is read during the measurement.

        The pool is empty after a restart.
        """
        self.server.query("SELECT SUM(k) FROM sbtest.sbtest1")
        super()._warm_up(variant, turn, stop)

    def _read_status(self) -> dict[str, int]:
        return {**super()._read_status(), **_read_tcp_accepted(self.server.sandbox.pid)}


def preconditions(cases: dict[str, ConnectionCase]) -> tuple[Precondition, ...]:
    """Preconditions: connections were made, used the intended transport, and got their threads as configured."""

    def of(
        bounds: Callable[[ConnectionCase, BlockActivity], Bounds | None],
    ) -> Callable[[Variant, BlockActivity], Bounds | None]:
        return lambda variant, activity: bounds(cases[variant.name], activity)

    return (
        Precondition(
            "connections/transaction",
            lambda activity: activity.per_transaction(CONNECTIONS_MADE),
            of(_connection_bounds),
        ),
        Precondition("TLS handshakes/connection", _per_connection(TLS_HANDSHAKES), of(_handshake_bounds)),
        Precondition("TLS sessions resumed/connection", _per_connection(TLS_RESUMED), lambda *_: None),
        Precondition("TCP connections/connection", _per_connection(TCP_ACCEPTED), of(_tcp_bounds)),
        Precondition("threads created/connection", _per_connection(THREADS_CREATED), of(_thread_bounds)),
        Precondition("threads in the pool", lambda activity: activity.after.get(POOL_THREADS), of(_pool_bounds)),
    )


def _per_connection(counter: str) -> Callable[[BlockActivity], float | None]:
    def value(activity: BlockActivity) -> float | None:
        made, grown = activity.grown.get(CONNECTIONS_MADE), activity.grown.get(counter)
        return None if not made or grown is None else grown / made

    return value


def _connection_bounds(case: ConnectionCase, activity: BlockActivity) -> Bounds:
    besides = EXTRA_CONNECTIONS * activity.threads / max(1, activity.transactions)
    return Bounds(1 - TOLERANCE, 1 + TOLERANCE + besides) if case.load == NEW_EACH else Bounds(high=besides)


def _handshake_bounds(case: ConnectionCase, _activity: BlockActivity) -> Bounds:
    return Bounds(MOST_SHARE) if case.transport == TLS else Bounds(high=0.0)


def _tcp_bounds(case: ConnectionCase, _activity: BlockActivity) -> Bounds | None:
    # The host's other connections are counted too, but that does not invalidate a lower bound.
    return None if case.transport == SOCKET else Bounds(MOST_SHARE)


def _thread_bounds(case: ConnectionCase, activity: BlockActivity) -> Bounds | None:
    size = int(case.settings.get(CACHE_SIZE, -1))
    if size == 0:
        return Bounds(MOST_SHARE)
    if size < 2 * case.threads:
        return None
    filling = size / max(1, activity.grown.get(CONNECTIONS_MADE, 0))  # the cache is filled once
    return Bounds(high=min(FEW_SHARE + filling, HALF_SHARE))


def _pool_bounds(case: ConnectionCase, _activity: BlockActivity) -> Bounds | None:
    handling = case.settings.get(THREAD_HANDLING)
    if handling is None:
        return None
    return Bounds(1.0) if handling == THREAD_POOL else Bounds(high=0.0)


def _read_tcp_accepted(pid: int) -> dict[str, int]:
    """The number of TCP connections accepted in a process's network namespace.

    Empty if the kernel does not report it.
    """
    try:
        with open(f"/proc/{pid}/net/snmp", encoding="ascii") as text:
            names, values = [line.split() for line in text if line.startswith("Tcp:")]
        return {TCP_ACCEPTED: int(dict(zip(names, values, strict=True))["PassiveOpens"])}
    except (OSError, ValueError, KeyError):
        return {}


def _cases(chosen: ChosenOptions, binary: Binary, *, tls: bool = True) -> list[ConnectionCase]:
    """The cases, each group's baseline first."""
    compare, loads = chosen.word("compare", TRANSPORT, CACHE, HANDLING), chosen.words("loads", *LOADS)
    ways: list[tuple[str, dict[str, str]]] = []
    if compare == TRANSPORT:
        names = {"socket": SOCKET, "tcp": TCP, "tls": TLS}
        ways = [(names[word], {}) for word in chosen.words("transports", *names) if tls or word != "tls"]
    elif compare == CACHE:
        loads = [NEW_EACH]  # persistent connections create no threads
        ways = [(SOCKET, {CACHE_SIZE: str(size)}) for size in chosen.numbers("cache")]
    elif binary.target.is_mariadb:
        ways = [(SOCKET, {THREAD_HANDLING: handling}) for handling in (THREAD_EACH, THREAD_POOL)]
    else:
        raise ProbeError(
            f"{binary.name} has no built-in thread pool (MySQL's is a plugin of the commercial edition): choose a "
            f"MariaDB server, or compare={CACHE}"
        )
    return [
        ConnectionCase(load, threads, *way)
        for load in loads
        for threads in chosen.numbers("threads", 1)
        for way in ways
    ]


def _tls_notes(binary: Binary, compare: str, request: ProbeRequest) -> tuple[str, ...]:
    """Why TLS is not among the variants; raises ProbeError if it was requested explicitly."""
    asked = request.choices.get("transports")
    if compare != TRANSPORT or (asked is not None and "tls" not in asked):
        return ()
    why = missing_tls_reason(binary)
    if why and asked:
        raise ProbeError(f"{why}: choose transports=socket,tcp")
    return (f"TLS is skipped: {why}.",) if why else ()


def _limits(compare: str) -> tuple[str, ...]:
    if compare == TRANSPORT:
        return LOOPBACK_LIMIT, HANDSHAKE_LIMIT
    return (STACKS_LIMIT,) if compare == CACHE else (NO_WAITS_LIMIT, FEW_SESSIONS_LIMIT)


EXPERIMENT = Connections()
