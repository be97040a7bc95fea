"""What stands around a server: host, option files and service, where they are proved to be the server's."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.files import Reader, environment_of, read_files
from advisor.collect.host import NotProved, ServerClaim, open_root, prove, read_host
from advisor.collect.service import read_service, service_of
from advisor.facts import Unavailable

if TYPE_CHECKING:
    from advisor.collect.asking import Notes
    from advisor.collect.host.root import Root
    from advisor.facts import Files, Host, Server, Service


class Around(NamedTuple):
    """What a server's host has; None for what it has not, or what can't be told to be the server's."""

    host: Host | None = None
    files: Files | None = None
    service: Service | None = None


def read_around(server: Server, notes: Notes) -> Around:
    """What stands around a server that is a process of this host; else nothing, with the reason noted for each part."""
    root = open_root("/")
    found = prove(root, claim_of(server))
    if isinstance(found, NotProved):
        notes += [Unavailable("host", found.reason), Unavailable("files", found.reason)]
        return Around()
    datadir = server.variables.get("datadir", "")
    host = read_host(root, found.pid, datadir or None)
    notes += [Unavailable(f"host.{part.part}", part.reason) for part in host.skipped]
    files = read_files(found.pid, named_files(server), datadir, reader=reader_of(server))
    return Around(host, files, _service(root, found.pid))


def named_files(server: Server) -> list[str]:
    """The files that the server says values came from."""
    return [origin.path for origin in server.origins.values()]


def reader_of(server: Server) -> Reader:
    """Whose reader of option files the server has."""
    return Reader(server.flavour, tuple(int(n) for n in server.version.split(".") if n.isdigit()) or None)


def _service(root: Root, pid: int) -> Service | None:
    name = service_of(root, pid)
    return read_service(root, name, environment_of(pid)) if name else None


def claim_of(server: Server) -> ServerClaim:
    """What the connection and the server's own variables say about where it runs."""
    told = {name: server.variables.get(name, "") for name in ("datadir", "pid_file", "socket", "hostname")}
    link = server.link
    return ServerClaim(via=link.via, peer_pid=link.peer_pid, proxied=link.proxied, **told)
