"""The task of a load driver, and its result."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from probes.experiment import ProbeError

if TYPE_CHECKING:
    from ssl import SSLContext

    from probes.workload.statements import Access, StatementMix


LOOPBACK = "127.0.0.1"
# What verifies the server, and what the client shows it; sysbench reads files of these names in its directory.
SERVER_CERTIFICATE, CLIENT_CERTIFICATE, CLIENT_KEY = CERTIFICATES = ("cacert.pem", "client-cert.pem", "client-key.pem")


class DriverError(ProbeError):
    """The driver of a load broke off: it could not be started, or a server left it."""


class Login(NamedTuple):
    """How a driver's connections log in: through the socket, or at a `port` of 127.0.0.1, by TLS where `encrypted`.

    For TLS the task's `room` holds the files of CERTIFICATES.
    """

    user: str = "root"
    password: str = ""
    port: int | None = None
    encrypted: bool = False

    def options(self, socket: str, folder: str = "") -> dict[str, Any]:
        """How PyMySQL connects so; the files of CERTIFICATES lie in `folder`."""
        where: dict[str, Any] = {"unix_socket": socket}
        if self.port is not None:
            where = {"host": LOOPBACK, "port": self.port}
        # PyMySQL would encrypt even a socket, which no client of the servers' own does.
        how = {"ssl": self._context(folder)} if self.encrypted else {"ssl_disabled": True}
        return {"user": self.user, "password": self.password, **where, **how}

    def _context(self, folder: str) -> SSLContext:
        import ssl

        context = ssl.create_default_context(cafile=os.path.join(folder, SERVER_CERTIFICATE))
        context.check_hostname = False  # certificates that servers make themselves name no host
        context.load_cert_chain(os.path.join(folder, CLIENT_CERTIFICATE), os.path.join(folder, CLIENT_KEY))
        return context


class Task(NamedTuple):
    """A load on a server: which tables (sbtest1 to sbtest`tables`, of `rows` rows each), what, and by how many at once.

    `room` is a folder in a scratch directory for the driver's scripts and reports; equal `seed`s draw equal rows.
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
    """What a load did: whole `seconds`, counts, and per-second values of transactions and queries.

    `p95` and `p99` are percentiles of the latency of transactions, in milliseconds; `p99_by_second` is that of the
    transactions that ended in each second, 0 where none did. `repeated` transactions met a deadlock or a lock wait
    timeout and are in no count of transactions. `cpu` is the driver's own processor seconds, None where not counted.
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
