"""One audited server of a fleet, with the data for comparisons."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Origin
from advisor.verdict.settings import normalise_value
from rules.replication.chain import ChainServer, SourceLink

if TYPE_CHECKING:
    from advisor.core.model import Setting, Target
    from advisor.facts import Facts, Server
    from rules.core.context import RuleContext


class MemberValue(NamedTuple):
    """A variable's value as the server prints it, whether it is explicit, and its origin: file and line, or text."""

    text: str
    is_set: bool
    where: str


class Member(NamedTuple):
    """A server by its host's name: inventory groups, version, values, and the peer sets it belongs to.

    `plain` are normalized values with the server's own names and directories replaced, so that equivalent values are
    equal. `sets` are (kind, name): replicas of a source, nodes of a Galera cluster, members of a replication group.
    """

    name: str
    groups: tuple[str, ...]
    target: Target
    values: dict[str, MemberValue]
    plain: dict[str, str]
    peer_sets: tuple[tuple[str, str], ...]


def member_of(name: str, groups: tuple[str, ...], known: RuleContext, server: Server) -> Member:
    """Extract from one server's facts what is compared."""
    values = {variable: _value(known.settings.get(variable), text) for variable, text in server.variables.items()}
    own = _own_words(name, server)
    plain = {v: sys.intern(normalise_value(_without_own_words(v, text, own))) for v, text in server.variables.items()}
    return Member(name, groups, known.target, values, plain, tuple(_peer_sets(server)))


def _value(setting: Setting | None, text: str) -> MemberValue:
    if setting is None:
        return _interned_value(text, is_set=False, where="")
    place = setting.location
    where = f"{place.path}:{place.line}" if place and place.line else place.path if place else str(setting.origin.value)
    is_set = setting.origin not in (Origin.COMPILED, Origin.UNKNOWN)
    return _interned_value(text, is_set=is_set, where=where if is_set else "")


@lru_cache(maxsize=1 << 16)
def _interned_value(text: str, *, is_set: bool, where: str) -> MemberValue:
    """One object per distinct value, because servers of a fleet share most values."""
    return MemberValue(text, is_set, where)


def _own_words(name: str, server: Server) -> tuple[tuple[str, str], ...]:
    """The names and values specific to this server, longest first: its directories and names."""
    words = [(server.variables.get(v, "").rstrip("/"), f"<{v}>") for v in ("datadir", "basedir")]
    words += [(server.variables.get("hostname", ""), "<host>"), (name, "<host>")]
    return tuple(sorted(((w, sign) for w, sign in words if len(w) > 1), key=lambda pair: -len(pair[0])))


def _without_own_words(variable: str, text: str, own: tuple[tuple[str, str], ...]) -> str:
    for words, sign in own:
        if words in text and variable != sign[1:-1]:
            text = text.replace(words, sign)
    return text


def _peer_sets(server: Server) -> list[tuple[str, str]]:
    found = []
    for row in server.replication.replica_rows if server.replication else ():
        plain = {name.lower(): value for name, value in row.items()}
        source = plain.get("source_host") or plain.get("master_host")
        if source:
            port = plain.get("source_port") or plain.get("master_port") or "3306"
            found.append(("replicas", f"{source}:{port}"))
    if server.replication and server.replication.galera:
        uuid = server.status.get("wsrep_cluster_state_uuid", "")
        found.append(("galera", f"{server.variables.get('wsrep_cluster_name', '')} {uuid}".strip()))
    group = server.variables.get("group_replication_group_name", "")
    return [*found, *([("group_replication", group)] if group else [])]


def chain_server(name: str, target: Target, facts: Facts, place: str = "") -> ChainServer:
    """Extract from one server's facts what is compared between the servers of a replication chain.

    `place` is where it was asked, as host:port.
    """
    variables, part = facts.server.variables, facts.server.replication
    names = (variables.get(variable, "") for variable in ("hostname", "report_host", "bind_address"))
    own = {name, *names, place.rpartition(":")[0]} - {"", "*", "::", "0.0.0.0"}  # noqa: S104 - not bound to
    return ChainServer(
        name,
        target,
        server_id=variables.get("server_id", ""),
        uuid=variables.get("server_uuid", ""),
        hostname=variables.get("hostname", ""),
        addresses=frozenset(own),
        port=variables.get("report_port") or variables.get("port", ""),
        executed=variables.get("gtid_executed", ""),
        binlog_state=variables.get("gtid_binlog_state", ""),
        logs_updates="ON" in (variables.get("log_slave_updates"), variables.get("log_replica_updates")),
        clustered=bool(variables.get("group_replication_group_name")) or bool(part and part.galera),
        read_at=facts.taken_at,
        sources=tuple(map(_source_link, part.replica_rows if part else ())),
    )


def _source_link(row: dict[str, str | None]) -> SourceLink:
    plain = {name.lower().replace("master", "source"): value or "" for name, value in row.items()}
    fields = ("source_host", "source_port", "source_server_id", "source_uuid")
    return SourceLink(*(plain.get(field, "") for field in fields))
