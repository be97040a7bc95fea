"""Compare the servers of a fleet: outliers in their group, and drift between servers that should be alike."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from advisor.compare.compare import differs_by_nature
from advisor.fleet.member import MemberValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from advisor.fleet.member import Member

VERSION = "version"
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


class PeerGroup(NamedTuple):
    """Servers that should be alike, and their differences. `kind` is replicas, galera or group_replication."""

    kind: str
    name: str
    members: tuple[str, ...]
    versions: tuple[str, ...]
    differences: tuple[Difference, ...]


def outliers(members: Sequence[Member]) -> list[Outlier]:
    """Variables for which less than half of a group of one series differ from the rest, fewest outliers first.

    Groups with the same members are reported once, by the first name. Of nested groups the smaller one is reported,
    because its members are more alike.
    """
    found: dict[tuple[str, str], Outlier] = {}
    for group, series, alike in sorted(_groups(members), key=lambda one: (len(one[2]), one[0])):
        for variable in _comparable_variables(alike):
            counted = _majority(variable, alike)
            if counted is None:
                continue
            usual, others = counted
            values = tuple((m.name, m.values[variable]) for m in others)
            key = (variable, ",".join(name for name, _ in values))
            chosen = any(m.values[variable].is_set for m in alike)
            found.setdefault(key, Outlier(group, series, variable, usual, len(alike), values, chosen))
    return [*_versions(members), *sorted(found.values(), key=_sort_key)]


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
    for member in members:
        for one in dict.fromkeys(member.peer_sets):
            sets.setdefault(one, []).append(member)
    return [_compare_peers(*key, alike) for key, alike in sorted(sets.items()) if len(alike) > 1]


def _compare_peers(kind: str, name: str, alike: list[Member]) -> PeerGroup:
    found = [d for variable in _comparable_variables(alike) if (d := _difference(variable, alike)) is not None]
    found.sort(key=lambda d: (not d.is_set, d.variable))
    versions = tuple(dict.fromkeys(m.target.label for m in alike))
    return PeerGroup(kind, name, tuple(m.name for m in alike), versions, tuple(found))


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
    found: dict[tuple[str, str], list[Member]] = {}
    for member in members:
        for group in dict.fromkeys((*member.groups, "all")):
            found.setdefault((group, part(member)), []).append(member)
    return found


def _series(member: Member) -> str:
    return member.target.label.rpartition(".")[0]


def _comparable_variables(alike: list[Member]) -> list[str]:
    """Variables that all members have, except those that are specific to each server."""
    return sorted(set.intersection(*(set(m.plain) for m in alike)) - OWN)


def _differ(variable: str, one: Member, other: Member) -> bool:
    """Whether two members differ in more than their names, locations and histories."""
    if one.plain[variable] == other.plain[variable]:
        return False
    return not differs_by_nature(variable, one.values[variable].text, other.values[variable].text)


def _majority(variable: str, alike: list[Member]) -> tuple[str, list[Member]] | None:
    """The value of more than half, and the members with another one; None if all are equal or there is no majority."""
    counts = Counter(m.plain[variable] for m in alike)
    usual, count = counts.most_common(1)[0]
    if count == len(alike) or 2 * count <= len(alike):
        return None
    first = next(m for m in alike if m.plain[variable] == usual)
    others = [m for m in alike if _differ(variable, first, m)]
    return (first.values[variable].text, others) if others else None


def _sort_key(one: Outlier) -> tuple[object, ...]:
    """Explicit settings first, then by the share of outliers."""
    return (not one.is_set, len(one.others) / one.members, one.variable, one.group)
