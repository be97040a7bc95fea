"""The task of a load driver and its result.

A workload is data: the statements of a transaction, and the distribution of the rows.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from probes.experiment import ProbeError

if TYPE_CHECKING:
    from ssl import SSLContext


LOOPBACK = "127.0.0.1"

# The CA that verifies the server, and the client's certificate and key; sysbench reads these names in its directory.
SERVER_CERTIFICATE, CLIENT_CERTIFICATE, CLIENT_KEY = CERTIFICATES = ("cacert.pem", "client-cert.pem", "client-key.pem")
PARETO_SHAPE = 0.2  # sysbench's --rand-pareto-h: 80 % of the draws fall on the first fifth of the rows


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
    """The result of a load: its `seconds`, counts, and per-second values of transactions and queries.

    `seconds` end with the last transactions. `p95` and `p99` are percentiles of the latency of transactions, in
    milliseconds; `p99_by_second` is that of the transactions that ended in each second, 0 if none did. `repeated`
    transactions failed with a deadlock or lock wait timeout and are not counted as transactions. `cpu` is the driver's
    own CPU seconds in that time, None if not counted.
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


class TransactionStep(NamedTuple):
    """Statements that share one draw of values, sent `times` times per transaction with a new draw each time.

    They may contain {table}, {id}, {end} (the last row of a range of `StatementMix.span`), {k}, {c} and {pad}.
    """

    statements: tuple[str, ...]
    times: int = 1


class StatementMix(NamedTuple):
    """The statements of one transaction, between BEGIN and COMMIT if `bracketed`.

    If `connecting`, each transaction uses a new connection. `script` is the name of sysbench's own script with the
    same statements, None if there is none.
    """

    name: str
    steps: tuple[TransactionStep, ...]
    bracketed: bool = False
    span: int = 100
    script: str | None = None
    connecting: bool = False

    @property
    def queries(self) -> int:
        """Statements per transaction."""
        return sum(len(step.statements) * step.times for step in self.steps) + (2 if self.bracketed else 0)

    @property
    def updates(self) -> int:
        """UPDATE statements per transaction; each changes one row."""
        return sum(step.times for step in self.steps for text in step.statements if text.startswith("UPDATE"))


class Access(NamedTuple):
    """The distribution of rows.

    `kind` is uniform or pareto; `keys_file` contains the only keys to use, one per line.
    """

    kind: str = "uniform"
    keys_file: str | None = None


_RANGE = "WHERE id BETWEEN {id} AND {end}"
POINT = "SELECT c FROM {table} WHERE id={id}"
SIMPLE_RANGE = "SELECT c FROM {table} WHERE id BETWEEN {id} AND {end}"

_READS = (
    TransactionStep((POINT,), 10),
    TransactionStep((SIMPLE_RANGE,)),
    TransactionStep(("SELECT SUM(k) FROM {table} WHERE id BETWEEN {id} AND {end}",)),
    TransactionStep(("SELECT c FROM {table} WHERE id BETWEEN {id} AND {end} ORDER BY c",)),
    TransactionStep(("SELECT DISTINCT c FROM {table} WHERE id BETWEEN {id} AND {end} ORDER BY c",)),
)
_INDEX_UPDATE = TransactionStep(("UPDATE {table} SET k=k+1 WHERE id={id}",))
_OTHER_UPDATE = TransactionStep(("UPDATE {table} SET c='{c}' WHERE id={id}",))

_REPLACE = TransactionStep(
    ("DELETE FROM {table} WHERE id={id}", "INSERT INTO {table} (id, k, c, pad) VALUES ({id}, {k}, '{c}', '{pad}')")
)

OLTP: dict[str, StatementMix] = {
    workload.name: workload._replace(script=workload.name)
    for workload in (
        StatementMix("oltp_read_write", (*_READS, _INDEX_UPDATE, _OTHER_UPDATE, _REPLACE), bracketed=True),
        StatementMix("oltp_read_only", _READS, bracketed=True),
        StatementMix("oltp_write_only", (_INDEX_UPDATE, _OTHER_UPDATE, _REPLACE), bracketed=True),
        StatementMix("oltp_point_select", (TransactionStep((POINT,)),)),
        StatementMix("oltp_update_index", (_INDEX_UPDATE,)),
        StatementMix("oltp_update_non_index", (_OTHER_UPDATE,)),
    )
}

# A new connection for each SELECT of one row.
CONNECT_SELECT = OLTP["oltp_point_select"]._replace(name="connect_select", script=None, connecting=True)


def simple_ranges(span: int) -> StatementMix:
    """Ranges of that many rows by primary key without a transaction; none of sysbench's bundled scripts does that."""
    return StatementMix(f"simple_ranges_{span}", (TransactionStep((SIMPLE_RANGE,)),), span=span)


def sorts(span: int) -> StatementMix:
    """Sorts of that many rows by a text of 120 bytes.

    Only the last row is returned, so that the sort dominates the cost.
    """
    text = f"SELECT id FROM {{table}} {_RANGE} ORDER BY c LIMIT {span - 1}, 1"  # noqa: S608 - numbers of our own
    return StatementMix(f"sorts_{span}", (TransactionStep((text,)),), span=span)


def joins(span: int, inner: int) -> StatementMix:
    """Joins of that many rows with the first `inner` rows on columns without an index."""
    text = (
        "SELECT COUNT(*) FROM {table} AS a STRAIGHT_JOIN {table} AS b "  # noqa: S608 - numbers of our own
        f"WHERE a.id BETWEEN {{id}} AND {{end}} AND b.id <= {inner} AND a.c = b.pad"
    )
    return StatementMix(f"joins_{span}", (TransactionStep((text,)),), span=span)


def sorts_and_groups(*spans: int) -> StatementMix:
    """A sort and a temporary table for each of these numbers of rows, in one transaction."""
    texts = [(span, text) for span in spans for of in (sorts, groups) for text in of(span).steps[0].statements]
    steps = tuple(TransactionStep((text.replace("{end}", f"{{id}} + {span - 1}"),)) for span, text in texts)
    return StatementMix("sorts_and_groups", steps, span=max(spans))


def groups(span: int) -> StatementMix:
    """Temporary tables of that many rows, each with a text of 120 bytes or more; one row is returned."""
    text = f"SELECT CONCAT(id, c) AS g, COUNT(*) FROM {{table}} {_RANGE} GROUP BY g ORDER BY NULL LIMIT 1"  # noqa: S608
    return StatementMix(f"groups_{span}", (TransactionStep((text,)),), span=span)
