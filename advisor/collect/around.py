"""What stands around a server: its host and its option files, where they are proved to be the server's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.files import Reader, read_files
from advisor.collect.host import NotProved, ServerClaim, open_root, prove, read_host
from advisor.facts import Unavailable

if TYPE_CHECKING:
    from advisor.collect.asking import Notes
    from advisor.facts import Files, Host, Server


def read_around(server: Server, notes: Notes) -> tuple[Host | None, Files | None]:
    """Host and option files of a server that is a process of this host; else nothing, with the reason noted twice."""
    root = open_root("/")
    found = prove(root, claim_of(server))
    if isinstance(found, NotProved):
        notes += [Unavailable("host", found.reason), Unavailable("files", found.reason)]
        return None, None
    datadir = server.variables.get("datadir", "")
    host = read_host(root, found.pid, datadir or None)
    notes += [Unavailable(f"host.{part.part}", part.reason) for part in host.skipped]
    named = [origin.path for origin in server.origins.values()]
    version = tuple(int(n) for n in server.version.split(".") if n.isdigit())
    return host, read_files(found.pid, named, datadir, reader=Reader(server.flavour, version or None))


def claim_of(server: Server) -> ServerClaim:
    """What the connection and the server's own variables say about where it runs."""
    told = {name: server.variables.get(name, "") for name in ("datadir", "pid_file", "socket", "hostname")}
    link = server.link
    return ServerClaim(via=link.via, peer_pid=link.peer_pid, proxied=link.proxied, **told)
