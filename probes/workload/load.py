"""The task of a load driver, and its result."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from probes.experiment import ProbeError

if TYPE_CHECKING:
    from ssl import SSLContext

    from probes.workload.statements import Access, StatementMix


LOOPBACK = "127.0.0.1"
# The CA that verifies the server, and the client's certificate and key; sysbench reads these names in its directory.
SERVER_CERTIFICATE, CLIENT_CERTIFICATE, CLIENT_KEY = CERTIFICATES = ("cacert.pem", "client-cert.pem", "client-key.pem")


class DriverError(ProbeError):
    """The load driver failed: it could not be started, or lost its server."""


class Login(NamedTuple):
    """How a driver's connections log in: over the socket, or to a `port` of 127.0.0.1, with TLS if `encrypted`.

    For TLS the task's `room` holds the files of CERTIFICATES.
    """

    user: str = "root"
    password: str = ""
    port: int | None = None
    encrypted: bool = False

    def options(self, socket: str, folder: str = "") -> dict[str, Any]:
        """The PyMySQL options for this login; `folder` contains the files of CERTIFICATES."""
        where: dict[str, Any] = {"unix_socket": socket}
        if self.port is not None:
            where = {"host": LOOPBACK, "port": self.port}
        # PyMySQL would encrypt even a socket connection, which the servers' own clients do not.
        how = {"ssl": self._context(folder)} if self.encrypted else {"ssl_disabled": True}
        return {"user": self.user, "password": self.password, **where, **how}

    def _context(self, folder: str) -> SSLContext:
        import ssl

        context = ssl.create_default_context(cafile=os.path.join(folder, SERVER_CERTIFICATE))
        context.check_hostname = False  # certificates that servers generate do not name a host
        context.load_cert_chain(os.path.join(folder, CLIENT_CERTIFICATE), os.path.join(folder, CLIENT_KEY))
        return context


class Task(NamedTuple):
    """A load on a server: the tables, the workload and the concurrency.

    The tables are sbtest1 to sbtest`tables`, of `rows` rows each. `room` is a folder in a scratch directory for the
    driver's scripts and reports; equal `seed`s draw equal rows.
    """

    socket: str
    scratch_folder: str
    workload: StatementMix
    access: Access
    threads: int
    rows: int
    tables: int = 1
    database: str = "sbtest"
    seed: int = 1
    login: Login = Login()


class LoadResult(NamedTuple):
    """The result of a load: whole `seconds`, counts, and per-second values of transactions and queries.

    `p95` and `p99` are percentiles of the latency of transactions, in milliseconds; `p99_by_second` is that of the
    transactions that ended in each second, 0 if none did. `repeated` transactions failed with a deadlock or lock wait
    timeout and are not counted as transactions. `cpu` is the driver's own CPU seconds, None if not counted.
    """

    seconds: float
    transactions: int
    queries: int
    repeated: int
    p95: float
    p99: float
    tps: tuple[float, ...]
    qps: tuple[float, ...]
    p99_by_second: tuple[float, ...]
    cpu: float | None = None
