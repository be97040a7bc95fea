"""What stands around a server: host, option files and service, where they are proved to be the server's."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.files import Reader, environment_of, read_again, read_files
from advisor.collect.host import NotProved, ServerClaim, open_root, prove, read_host
from advisor.collect.identity import numbers_of
from advisor.collect.service import read_service, service_of, usual_service
from advisor.facts import Files, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.collect.asking import Notes
    from advisor.collect.host.root import Root
    from advisor.facts import Facts, Host, Server, Service


# Of directories on one mount the first is told, so those whose files matter most come first.
_DIRECTORIES = ("innodb_log_group_home_dir", "innodb_undo_directory", "innodb_data_home_dir")
_BASENAMES = ("log_bin_basename", "relay_log_basename")


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
    host = read_host(root, found.pid, datadir or None, directories(server))
    notes += [Unavailable(f"host.{part.part}", part.reason) for part in host.skipped]
    files = read_files(found.pid, named_files(server), datadir, reader=reader_of(server))
    return Around(host, files, _service(root, found.pid))


def directories(server: Server) -> dict[str, str]:
    """Where the server says that it keeps files outside its data directory, by variable; of a list the first."""
    told = {name: server.variables.get(name, "") for name in _DIRECTORIES}
    told |= {name: posixpath.dirname(server.variables.get(name, "")) for name in _BASENAMES}
    return told | {"tmpdir": server.variables.get("tmpdir", "").split(":")[0]}


def named_files(server: Server) -> list[str]:
    """The files that the server says values came from."""
    return [origin.path for origin in server.origins.values()]


def reader_of(server: Server) -> Reader:
    """Whose reader of option files the server has."""
    return Reader(server.flavour, numbers_of(server.version) or None)


def _service(root: Root, pid: int) -> Service | None:
    name = service_of(root, pid)
    return read_service(root, name, environment_of(pid)) if name else None


def service_at(facts: Facts, top: str, name: str) -> Service | None:
    """The service as a directory has it that holds a copy of a host's files, / for this host; None for no such unit.

    `name` is the service's; without it, it is the server's own, or the only one there under a usual name.
    """
    root, own = open_root(top), facts.service
    wanted = name or (own.name if own else "") or usual_service(root)
    return read_service(root, wanted, own.environment if own else None) if wanted else None


def reread(facts: Facts, leading: Iterable[str], top: str = "") -> Facts:
    """The facts with the option files that a start with these leading words reads, below `top` if it is given."""
    files = facts.files or Files()
    server = facts.server
    return replace(facts, files=read_again(files, leading, named_files(server), reader_of(server), top=top))


def claim_of(server: Server) -> ServerClaim:
    """What the connection and the server's own variables say about where it runs."""
    told = {name: server.variables.get(name, "") for name in ("datadir", "pid_file", "socket", "hostname")}
    link = server.link
    return ServerClaim(via=link.via, peer_pid=link.peer_pid, proxied=link.proxied, **told)
