"""The audited servers of a fleet, compared: outliers in their group, and drift between servers that should be alike."""

from __future__ import annotations

import sys
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from advisor.compare import differs_by_nature
from advisor.core.model import Origin
from advisor.verdict.settings import normalise_value
from rules.core.network import READ_ONLY
from rules.replication.chain import ChainServer, SourceLink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from advisor.core.model import Setting, Target
    from advisor.facts import Facts, Server
    from rules.core.context import RuleContext


class MemberValue(NamedTuple):
    """A variable's value as the server prints it, whether it is explicit, and its origin: file and line, or text."""

    text: str
    is_set: bool
    origin: str


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
    peer_sets = []
    for row in server.replication.replica_rows if server.replication else ():
        plain = {name.lower(): value for name, value in row.items()}
        source = plain.get("source_host") or plain.get("master_host")
        if source:
            port = plain.get("source_port") or plain.get("master_port") or "3306"
            peer_sets.append(("replicas", f"{source}:{port}"))
    if server.replication and server.replication.galera:
        uuid = server.status.get("wsrep_cluster_state_uuid", "")
        peer_sets.append(("galera", f"{server.variables.get('wsrep_cluster_name', '')} {uuid}".strip()))
    group = server.variables.get("group_replication_group_name", "")
    return [*peer_sets, *([(GROUP, group)] if group else [])]


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
        cut=len(variables.get("gtid_executed", "")) >= SHOWN,
    )


def _source_link(row: dict[str, str | None]) -> SourceLink:
    plain = {name.lower().replace("master", "source"): value or "" for name, value in row.items()}
    fields = ("source_host", "source_port", "source_server_id", "source_uuid")
    return SourceLink(*(plain.get(field, "") for field in fields))


SHOWN = 1024  # characters of a value in SHOW VARIABLES of MySQL
VERSION, GROUP = "version", "group_replication"
MIN_GROUP = 3  # members; two have no majority
# Further variables that servers in the same role need different values of, or that depend on their location.
OWN = frozenset(
    (
        *("auto_increment_offset", "group_replication_member_weight", "wsrep_gtid_domain_id", "wsrep_provider_options"),
        *("wsrep_patch_version", "innodb_buffer_pool_load_at_startup", "proxy_user", "external_user", "identity"),
    )
)


class Outlier(NamedTuple):
    """A variable for which few members of a group differ: the usual value, the group's size, and the outliers.

    `is_set` is whether any member of the group sets it explicitly; otherwise the servers derived it.
    """

    group: str
    series: str
    variable: str
    usual: str
    members: int
    others: tuple[tuple[str, MemberValue], ...]
    is_set: bool


class Difference(NamedTuple):
    """A variable's values among peers, most frequent first, each with its members; `is_set` if any is explicit."""

    variable: str
    values: tuple[tuple[str, tuple[str, ...]], ...]
    is_set: bool


class AbsentVariables(NamedTuple):
    """Variables that only some peers of one version have, as with a plugin, and the peers that lack them."""

    variables: tuple[str, ...]
    members: tuple[str, ...]


class PeerGroup(NamedTuple):
    """Servers that should be alike, and their differences. `kind` is replicas, galera or group_replication."""

    kind: str
    name: str
    members: tuple[str, ...]
    versions: tuple[str, ...]
    differences: tuple[Difference, ...]
    absent: tuple[AbsentVariables, ...] = ()


def outliers(members: Sequence[Member]) -> list[Outlier]:
    """Variables for which less than half of a group of one series differ from the rest, fewest outliers first.

    Groups with the same members are reported once, by the first name. Of nested groups the smaller one is reported,
    because its members are more alike.
    """
    distinct: dict[tuple[str, str], Outlier] = {}
    members = _with_variables(members)
    for group, series, alike in sorted(_groups(members), key=lambda one: (len(one[2]), one[0])):
        for variable in _comparable_variables(alike):
            counted = _majority(variable, alike)
            if counted is None:
                continue
            usual, others = counted
            values = tuple((m.name, m.values[variable]) for m in others)
            key = (variable, ",".join(name for name, _ in values))
            chosen = any(m.values[variable].is_set for m in alike)
            distinct.setdefault(key, Outlier(group, series, variable, usual, len(alike), values, chosen))
    return [*_versions(members), *sorted(distinct.values(), key=_sort_key)]


def _with_variables(members: Sequence[Member]) -> list[Member]:
    """Return those whose variables were read: only what all members have is compared."""
    return [member for member in members if member.plain]


def _versions(members: Sequence[Member]) -> Iterator[Outlier]:
    """Groups in which more than half of the members run one version, with the members that run another."""
    seen = set()
    for group, alike in sorted(_by_group(members, lambda _: "").items(), key=lambda one: (len(one[1]), one[0])):
        usual, count = Counter(m.target.label for m in alike).most_common(1)[0]
        others = tuple((m.name, MemberValue(m.target.label, False, "")) for m in alike if m.target.label != usual)
        if len(alike) >= MIN_GROUP and 2 * count > len(alike) and others and others not in seen:
            seen.add(others)
            yield Outlier(group[0], "", VERSION, usual, len(alike), others, is_set=True)


def peer_groups(members: Sequence[Member]) -> list[PeerGroup]:
    """Replicas of one source, nodes of one cluster and members of one group, at least two, with their differences."""
    sets: dict[tuple[str, str], list[Member]] = {}
    for member in _with_variables(members):
        for one in dict.fromkeys(member.peer_sets):
            sets.setdefault(one, []).append(member)
    return [_compare_peers(*key, alike) for key, alike in sorted(sets.items()) if len(alike) > 1]


def _compare_peers(kind: str, name: str, alike: list[Member]) -> PeerGroup:
    differences = [d for variable in _comparable_variables(alike) if (d := _difference(variable, alike)) is not None]
    differences.sort(key=lambda d: (not d.is_set, d.variable))
    versions = tuple(dict.fromkeys(m.target.label for m in alike))
    return PeerGroup(kind, name, tuple(m.name for m in alike), versions, tuple(differences), _absent_variables(alike))


def _absent_variables(alike: list[Member]) -> tuple[AbsentVariables, ...]:
    """Return the variables that not all of one version have, by who lacks them."""
    absent: dict[tuple[str, ...], list[str]] = {}
    for target in dict.fromkeys(m.target for m in alike):
        same = [m for m in alike if m.target == target]
        every = set.intersection(*(set(m.plain) for m in same))
        for variable in sorted({name for m in same for name in m.plain} - every):
            absent.setdefault(tuple(m.name for m in same if variable not in m.plain), []).append(variable)
    return tuple(AbsentVariables(tuple(variables), members) for members, variables in absent.items())


def _difference(variable: str, alike: list[Member]) -> Difference | None:
    by_text: dict[str, list[Member]] = {}
    for member in alike:
        by_text.setdefault(member.plain[variable], []).append(member)
    first, *others = (have[0] for have in by_text.values())
    if not any(_differ(variable, first, other) for other in others):
        return None
    ordered = sorted(by_text.values(), key=lambda have: (-len(have), have[0].name))
    values = tuple((have[0].values[variable].text, tuple(m.name for m in have)) for have in ordered)
    return Difference(variable, values, any(m.values[variable].is_set for m in alike))


def _groups(members: Sequence[Member]) -> Iterator[tuple[str, str, list[Member]]]:
    """The members of each inventory group by series, because defaults depend on the series."""
    found = _by_group(members, _series)
    return ((group, series, alike) for (group, series), alike in found.items() if len(alike) >= MIN_GROUP)


def _by_group(members: Sequence[Member], part: Callable[[Member], str]) -> dict[tuple[str, str], list[Member]]:
    """Members by inventory group and another property; all members also form a group."""
    groups: dict[tuple[str, str], list[Member]] = {}
    for member in members:
        for group in dict.fromkeys((*member.groups, "all")):
            groups.setdefault((group, part(member)), []).append(member)
    return groups


def _series(member: Member) -> str:
    return member.target.label.rpartition(".")[0]


def _comparable_variables(alike: list[Member]) -> list[str]:
    """Variables that all members have, except those that are specific to each server, or to its part in a group."""
    grouped = all(any(kind == GROUP for kind, _ in m.peer_sets) for m in alike)
    return sorted(set.intersection(*(set(m.plain) for m in alike)) - OWN - (READ_ONLY if grouped else frozenset()))


def _differ(variable: str, member: Member, other: Member) -> bool:
    """Whether two members differ in more than their names, locations and histories."""
    text, other_text = member.values[variable].text, other.values[variable].text
    if member.plain[variable] == other.plain[variable] or text == other_text:  # a host may be named like a part of it
        return False
    return not differs_by_nature(variable, text, other_text)


def _majority(variable: str, alike: list[Member]) -> tuple[str, list[Member]] | None:
    """The value of more than half, and the members with another one; None if all are equal or there is no majority."""
    counts = Counter(m.plain[variable] for m in alike)
    usual, count = counts.most_common(1)[0]
    if count == len(alike) or 2 * count <= len(alike):
        return None
    first = next(m for m in alike if m.plain[variable] == usual)
    others = [m for m in alike if _differ(variable, first, m)]
    return (first.values[variable].text, others) if others else None


def _sort_key(outlier: Outlier) -> tuple[object, ...]:
    """Explicit settings first, then by the share of outliers."""
    return (not outlier.is_set, len(outlier.others) / outlier.members, outlier.variable, outlier.group)
