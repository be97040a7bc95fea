"""Collect all facts for an audit of one server: the server itself, its workload, its host and its files."""

from __future__ import annotations

import posixpath
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from advisor import __version__
from advisor.collect.connection.connect import DEFAULT_LIMITS
from advisor.collect.connection.options import ConnectRequest, resolve_account
from advisor.collect.connection.session import open_session, version_numbers, whole_number
from advisor.collect.files import OptionFileReader, environment_of, read_files, reread_files
from advisor.collect.host import NotProved, ServerClaim, find_server_process, open_root, read_host
from advisor.collect.host.server_files import read_server_files
from advisor.collect.host.storage import trace_storage
from advisor.collect.logs import PART as ERROR_LOG
from advisor.collect.logs import read_binary_log_bytes, read_error_file, read_error_table
from advisor.collect.server.blocking import read_blocking
from advisor.collect.server.replication import read_channels, read_replication
from advisor.collect.server.schema import PART as SCHEMA_PART
from advisor.collect.server.schema import read_schema
from advisor.collect.server.server import has_lsn_counter, innodb_status, read_greeting, read_server
from advisor.collect.server.workload import read_counters, read_workload, sample_at
from advisor.collect.service import read_service, service_of, usual_service
from advisor.core.errors import ConnectError
from advisor.facts import SCHEMA, Facts, OptionFiles, Unavailable
from advisor.facts.snapshot import fit_snapshot
from advisor.facts.workload import SPACE
from advisor.redaction import escape_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from advisor.collect.connection.connect import ConnectionLimits
    from advisor.collect.connection.options import Account
    from advisor.collect.connection.session import Notes, Session
    from advisor.collect.host.root import Root
    from advisor.collect.server.schema import SchemaLimits
    from advisor.collect.server.server import Greeting
    from advisor.facts import Host, Link, Sample, SchemaRisks, Server, Service, Workload
    from advisor.facts.server import ErrorLog


DEFAULT_WINDOW = 10.0
_ROW_WAITS = "innodb_row_lock_current_waits"
VERSION_PARTS = 2  # numbers; with fewer, the series is unknown and no rule applies


@dataclass(frozen=True, slots=True)
class CollectRequest:
    """What to collect: the server, and the length of the counter window in seconds (0 for no window).

    `schema` has the limits for reading the tables' definitions, None to leave them out.
    """

    connection: ConnectRequest = field(default_factory=ConnectRequest)
    window: float = DEFAULT_WINDOW
    limits: ConnectionLimits | None = None
    schema: SchemaLimits | None = None


def collect(request: CollectRequest, wait: Callable[[float], object] = time.sleep) -> Facts:
    """Collect facts from the requested server; `unavailable` lists the parts that could not be read, with reasons.

    Raises ConnectError if there is no connection, or nothing shows the version or the variables. If the connection is
    lost midway, the facts read so far are returned and `lost` is set. Parts that are too large for a snapshot are
    listed in `unavailable` too.
    """
    return collect_from_account(resolve_account(request.connection), request, wait)


def collect_from_account(
    chosen: Account, request: CollectRequest, wait: Callable[[float], object] = time.sleep
) -> Facts:
    """As `collect`, for an account that is already resolved."""
    started = time.monotonic()
    taken_at = datetime.now(UTC).isoformat(timespec="seconds")
    notes: Notes = []
    session = open_session(chosen, request.limits or DEFAULT_LIMITS)
    session.bound()
    try:
        server, workload, schema = _read_everything(session, request, taken_at, notes, wait)
    finally:
        session.close()
    around = read_host_facts(server, notes)
    spent = time.monotonic() - started
    facts = Facts(
        schema=SCHEMA,
        tool=f"mycnf {__version__}",
        taken_at=taken_at,
        server=replace(server, error_log=around.error_log),
        workload=workload,
        host=around.host,
        files=around.files,
        service=around.service,
        unavailable=tuple(notes),
        statements=session.sent,
        seconds=max(0.0, spent - (request.window if workload else 0.0)),
        lost=session.lost,
        schema_risks=schema,
    )
    return fit_snapshot(facts)


def _read_everything(
    session: Session, request: CollectRequest, taken_at: str, notes: Notes, wait: Callable[[float], object]
) -> tuple[Server, Workload | None, SchemaRisks | None]:
    """The server's facts, read in an order that loses least if the connection fails.

    The replica status, which may hang, is last before the window and last after it; only the schema, which is read on
    request, comes later.
    """
    greeting = read_greeting(session, notes)
    if len(greeting.number) < VERSION_PARTS:
        raise ConnectError(session.lost or _untold(session, greeting, notes))
    if not greeting.variables and not session.lost:
        why = next((note.reason for note in notes if note.part == "server.variables"), "it has none")
        raise ConnectError(f"{session.account.place} showed no variables, so nothing can be checked: {why}")
    server = read_server(session, greeting, notes)
    first = read_counters(session, notes, with_text=True)
    server = replace(server, status=first.status, innodb_status=first.innodb_text)
    channels = read_channels(session, greeting, notes) if request.window > 0 and first.status else None
    workload = read_workload(session, first, request.window, notes, wait)
    counted = workload.last.status.get(_ROW_WAITS) if workload else whole_number(first.status.get(_ROW_WAITS))
    observed = read_blocking(session, greeting, counted or 0, server.plugins, notes)
    logged = read_error_table(session, greeting, notes)
    server = replace(
        server,
        lock_waits=observed.states,
        blocking=observed.blocking,
        redo_waits=logged.redo_waits,
        error_log=logged.error_log,
        binary_log_bytes=read_binary_log_bytes(session, greeting, notes),
    )
    server = replace(server, replication=read_replication(session, greeting, first.status, notes, channels))
    return server, workload, _schema(session, greeting, request, taken_at, notes)


def _schema(
    session: Session, greeting: Greeting, request: CollectRequest, taken_at: str, notes: Notes
) -> SchemaRisks | None:
    if request.schema is None:
        notes.append(Unavailable(SCHEMA_PART, "not examined; add --schema"))
        return None
    return read_schema(session, greeting, request.schema, taken_at, notes)


def _untold(session: Session, greeting: Greeting, notes: Notes) -> str:
    why = (
        f"{escape_text(greeting.version[:40])!r} is none"
        if greeting.version
        else notes[0].reason
        if notes
        else "no answer"
    )
    return f"{session.account.place} reported no version of MySQL or MariaDB ({why}); check host and port"


# Only the first directory per mount is reported, so the most important ones come first.
_DIRECTORIES = ("innodb_log_group_home_dir", "innodb_undo_directory", "innodb_data_home_dir")
_BASENAMES = ("log_bin_basename", "relay_log_basename")


_ELSEWHERE = "the error log is on the server's host: audit it there by its socket, or give the log with --from"


class HostFacts(NamedTuple):
    """Facts about a server's host; None if they are missing, or are not proved to be the server's.

    `error_log` is that of the server's file, or else the given server's own.
    """

    host: Host | None = None
    files: OptionFiles | None = None
    service: Service | None = None
    error_log: ErrorLog | None = None


def read_host_facts(server: Server, notes: Notes) -> HostFacts:
    """Facts around a server that runs on this host; otherwise empty, with the reason noted for each part."""
    root = open_root("/")
    proof = find_server_process(root, server_claim(server))
    if isinstance(proof, NotProved):
        notes += [Unavailable("host", proof.reason), Unavailable("files", proof.reason)]
        if server.error_log is None and not any(note.part == ERROR_LOG for note in notes):
            notes.append(Unavailable(ERROR_LOG, _ELSEWHERE))
        return HostFacts(error_log=server.error_log)
    datadir = server.variables.get("datadir", "")
    host = read_host(root, proof.pid, datadir or None, configured_directories(server))
    host = replace(host, files=read_server_files(proof.pid, server.variables))
    notes += [Unavailable(f"host.{part.part}", part.reason) for part in host.skipped]
    files = read_files(proof.pid, named_files(server), datadir, reader=option_file_reader(server))
    error_log = read_error_file(server.variables, proof.pid, notes, tabled=server.error_log)
    return HostFacts(host, files, _service(root, proof.pid), error_log)


def configured_directories(server: Server) -> dict[str, str]:
    """The configured directories outside the data directory, by variable; the first one of a list."""
    directories = {name: server.variables.get(name, "") for name in _DIRECTORIES}
    directories |= {name: posixpath.dirname(server.variables.get(name, "")) for name in _BASENAMES}
    return directories | {"tmpdir": server.variables.get("tmpdir", "").split(":")[0]}


def named_files(server: Server) -> list[str]:
    """The files that the server reports as origins of values."""
    return [origin.path for origin in server.origins.values()]


def option_file_reader(server: Server) -> OptionFileReader:
    """The flavour and version that decide how the server reads option files."""
    return OptionFileReader(server.flavour, version_numbers(server.version) or None)


def _service(root: Root, pid: int) -> Service | None:
    name = service_of(root, pid)
    return read_service(root, name, environment_of(pid)) if name else None


def service_below(facts: Facts, top: str, name: str) -> Service | None:
    """The systemd service in a directory with a copy of a host's files (/ for this host); None without such a unit.

    `name` is the service's name; the default is the server's own, or the only one there with a usual name.
    """
    root, own = open_root(top), facts.service
    wanted = name or (own.name if own else "") or usual_service(root)
    return read_service(root, wanted, own.environment if own else None) if wanted else None


def reread_option_files(facts: Facts, leading: Iterable[str], top: str = "") -> Facts:
    """The facts with the option files that a start with these leading arguments reads, below `top` if given."""
    files = facts.files or OptionFiles()
    server = facts.server
    return replace(facts, files=reread_files(files, leading, named_files(server), option_file_reader(server), top=top))


def server_claim(server: Server) -> ServerClaim:
    """What the connection and the server's variables say about where the server runs."""
    return _claim(server.link, server.variables)


def _claim(link: Link, variables: Mapping[str, str]) -> ServerClaim:
    identity = {name: variables.get(name, "") for name in ("datadir", "pid_file", "socket", "hostname")}
    return ServerClaim(via=link.via, peer_pid=link.peer_pid, proxied=link.proxied, **identity)


def read_variables_and_counters(request: ConnectRequest) -> tuple[dict[str, str], Sample]:
    """The server's variables and its current counters, at its uptime.

    If no counter shows the redo position, it is read from InnoDB's status; None if the account may not read that. The
    room of the data directory's file system is added where the server runs on this host.
    Raises ConnectError if there is no connection or it is lost.
    """
    notes: Notes = []
    session = open_session(resolve_account(request))
    session.bound()
    try:
        greeting = read_greeting(session, notes)
        variables = greeting.variables
        reading = read_counters(session, notes, with_text=False)
        text = "" if has_lsn_counter(reading.status) else innodb_status(session, notes)
    finally:
        session.close()
    if not variables or "uptime" not in reading.status:
        raise ConnectError(
            session.lost or f"the server reported no counters: {notes[0].reason if notes else 'no answer'}"
        )
    sample = sample_at(reading.status, float(reading.uptime), text)
    return variables, replace(sample, status=sample.status | _data_space(greeting.link, variables))


def _data_space(link: Link, variables: Mapping[str, str]) -> dict[str, int]:
    """Bytes of the file system that holds the data directory; empty unless the server is proved to run here."""
    root = open_root("/")
    proof = find_server_process(root, _claim(link, variables))
    if isinstance(proof, NotProved) or not variables.get("datadir"):
        return {}
    storage = trace_storage(root, variables["datadir"], (), proof.pid)
    space = storage.space if storage else None
    return {} if space is None else dict(zip(SPACE, (space.size, space.free), strict=True))
