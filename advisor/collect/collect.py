"""Collect all that an audit may know of one server: its answers, its workload, its host and its files."""

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
from advisor.collect.connection.session import open_session, version_numbers
from advisor.collect.files import OptionFileReader, environment_of, read_files, reread_files
from advisor.collect.host import NotProved, ServerClaim, find_server_process, open_root, read_host
from advisor.collect.logs import read_binary_log_bytes, read_redo_waits
from advisor.collect.server.innodb import has_lsn_counter, innodb_status
from advisor.collect.server.replication import read_replication
from advisor.collect.server.server import read_greeting, read_lock_waits, read_server
from advisor.collect.server.workload import read_counters, read_workload, sample_at
from advisor.collect.service import read_service, service_of, usual_service
from advisor.core.errors import ConnectError
from advisor.facts import SCHEMA, Facts, OptionFiles, Unavailable
from advisor.facts.size_limits import fit_snapshot
from advisor.redaction.secrets import escape_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from advisor.collect.connection.connect import ConnectionLimits
    from advisor.collect.connection.options import Account
    from advisor.collect.connection.session import Notes, Session
    from advisor.collect.host.root import Root
    from advisor.collect.server.server import Greeting
    from advisor.facts import Host, Sample, Server, Service, Workload


DEFAULT_WINDOW = 10.0
VERSION_PARTS = 2  # numbers, without which no series is known and no rule can be asked


@dataclass(frozen=True, slots=True)
class CollectRequest:
    """What to collect: which server, and for how many seconds to watch its counters (0: not at all)."""

    connection: ConnectRequest = field(default_factory=ConnectRequest)
    window: float = DEFAULT_WINDOW
    limits: ConnectionLimits | None = None


def collect(request: CollectRequest, wait: Callable[[float], object] = time.sleep) -> Facts:
    """Facts of the server that the request names; what couldn't be read stands in `unavailable` with its reason.

    Raises ConnectError where no connection can be had, or nothing that tells the version. A server lost on the way
    leaves what was read until then, and `lost` says it. So do parts that a snapshot would have no room for.
    """
    return collect_from_account(resolve_account(request.connection), request, wait)


def collect_from_account(
    chosen: Account, request: CollectRequest, wait: Callable[[float], object] = time.sleep
) -> Facts:
    """Facts of the server behind an account that is settled already; otherwise as `collect`."""
    started = time.monotonic()
    taken_at = datetime.now(UTC).isoformat(timespec="seconds")
    notes: Notes = []
    session = open_session(chosen, request.limits or DEFAULT_LIMITS)
    session.bound()
    try:
        server, workload = _read_everything(session, request, notes, wait)
    finally:
        session.close()
    around = read_host_facts(server, notes)
    spent = time.monotonic() - started
    facts = Facts(
        schema=SCHEMA,
        tool=f"mycnf {__version__}",
        taken_at=taken_at,
        server=server,
        workload=workload,
        host=around.host,
        files=around.files,
        service=around.service,
        unavailable=tuple(notes),
        statements=session.sent,
        seconds=max(0.0, spent - (request.window if workload else 0.0)),
        lost=session.lost,
    )
    return fit_snapshot(facts)


def _read_everything(
    session: Session, request: CollectRequest, notes: Notes, wait: Callable[[float], object]
) -> tuple[Server, Workload | None]:
    """The server's answers in the order that loses least if it stops: replication, which may hang, is last."""
    greeting = read_greeting(session, notes)
    if len(greeting.number) < VERSION_PARTS:
        raise ConnectError(session.lost or _untold(session, greeting, notes))
    server = read_server(session, greeting, notes)
    first = read_counters(session, notes, with_text=True)
    server = replace(server, status=first.status, innodb_status=first.innodb_text)
    workload = read_workload(session, first, request.window, notes, wait)
    server = replace(
        server,
        lock_waits=read_lock_waits(session, greeting, first.status, notes),
        redo_waits=read_redo_waits(session, greeting, notes),
        binary_log_bytes=read_binary_log_bytes(session, greeting, notes),
    )
    return replace(server, replication=read_replication(session, greeting, first.status, notes)), workload


def _untold(session: Session, greeting: Greeting, notes: Notes) -> str:
    why = (
        f"{escape_text(greeting.version[:40])!r} is none"
        if greeting.version
        else notes[0].reason
        if notes
        else "no answer"
    )
    return f"{session.account.place} told no version of MySQL or MariaDB ({why}); check host and port"


# Of directories on one mount the first is told, so those whose files matter most come first.
_DIRECTORIES = ("innodb_log_group_home_dir", "innodb_undo_directory", "innodb_data_home_dir")
_BASENAMES = ("log_bin_basename", "relay_log_basename")


class HostFacts(NamedTuple):
    """What a server's host has; None for what it has not, or what can't be told to be the server's."""

    host: Host | None = None
    files: OptionFiles | None = None
    service: Service | None = None


def read_host_facts(server: Server, notes: Notes) -> HostFacts:
    """What stands around a server that is a process of this host; else nothing, with the reason noted for each part."""
    root = open_root("/")
    found = find_server_process(root, server_claim(server))
    if isinstance(found, NotProved):
        notes += [Unavailable("host", found.reason), Unavailable("files", found.reason)]
        return HostFacts()
    datadir = server.variables.get("datadir", "")
    host = read_host(root, found.pid, datadir or None, configured_directories(server))
    notes += [Unavailable(f"host.{part.part}", part.reason) for part in host.skipped]
    files = read_files(found.pid, named_files(server), datadir, reader=option_file_reader(server))
    return HostFacts(host, files, _service(root, found.pid))


def configured_directories(server: Server) -> dict[str, str]:
    """Where the server says that it keeps files outside its data directory, by variable; of a list the first."""
    told = {name: server.variables.get(name, "") for name in _DIRECTORIES}
    told |= {name: posixpath.dirname(server.variables.get(name, "")) for name in _BASENAMES}
    return told | {"tmpdir": server.variables.get("tmpdir", "").split(":")[0]}


def named_files(server: Server) -> list[str]:
    """The files that the server says values came from."""
    return [origin.path for origin in server.origins.values()]


def option_file_reader(server: Server) -> OptionFileReader:
    """Whose reader of option files the server has."""
    return OptionFileReader(server.flavour, version_numbers(server.version) or None)


def _service(root: Root, pid: int) -> Service | None:
    name = service_of(root, pid)
    return read_service(root, name, environment_of(pid)) if name else None


def service_below(facts: Facts, top: str, name: str) -> Service | None:
    """The service as a directory has it that holds a copy of a host's files, / for this host; None for no such unit.

    `name` is the service's; without it, it is the server's own, or the only one there under a usual name.
    """
    root, own = open_root(top), facts.service
    wanted = name or (own.name if own else "") or usual_service(root)
    return read_service(root, wanted, own.environment if own else None) if wanted else None


def reread_option_files(facts: Facts, leading: Iterable[str], top: str = "") -> Facts:
    """The facts with the option files that a start with these leading words reads, below `top` if it is given."""
    files = facts.files or OptionFiles()
    server = facts.server
    return replace(facts, files=reread_files(files, leading, named_files(server), option_file_reader(server), top=top))


def server_claim(server: Server) -> ServerClaim:
    """What the connection and the server's own variables say about where it runs."""
    told = {name: server.variables.get(name, "") for name in ("datadir", "pid_file", "socket", "hostname")}
    link = server.link
    return ServerClaim(via=link.via, peer_pid=link.peer_pid, proxied=link.proxied, **told)


def read_variables_and_counters(request: ConnectRequest) -> tuple[dict[str, str], Sample]:
    """The server's variables and its counters now, at its own uptime.

    The redo position is read from InnoDB's status where no counter tells it, and is None where the account may not.
    Raises ConnectError where no connection can be had or it is lost on the way.
    """
    notes: Notes = []
    session = open_session(resolve_account(request))
    session.bound()
    try:
        variables = read_greeting(session, notes).variables
        reading = read_counters(session, notes, with_text=False)
        text = "" if has_lsn_counter(reading.status) else innodb_status(session, notes)
    finally:
        session.close()
    if not variables or "uptime" not in reading.status:
        raise ConnectError(session.lost or f"the server told no counters: {notes[0].reason if notes else 'no answer'}")
    return variables, sample_at(reading.status, float(reading.uptime), text)
