"""The results of a fleet audit, and its servers by rule, by version and by what could not be checked."""

from __future__ import annotations

from advisor.catalog.targets import END_OF_LIFE
from advisor.core import NamedTuple
from advisor.core.model import Severity
from rules.core.advice import value_of_actions
from rules.core.areas import group_by_area
from rules.core.statements import permanent_setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.core.model import Finding, SkippedCheck, Target
    from advisor.fleet.outliers import MemberValue, Outlier, PeerGroup
    from advisor.fleet.run_directory import HostRow
    from rules.core.areas import Area


RANK = {severity: number for number, severity in enumerate(Severity)}

# Builds that are supported for as long as the series; cloud providers and others have dates of their own.
VENDOR_BUILDS = frozenset({"", "enterprise", "percona", "pxc"})

KINDS = {
    "replicas": "replicas of {name}",
    "galera": "nodes of Galera cluster {name}",
    "group_replication": "members of replication group {name}",
}


class JudgedServer(NamedTuple):
    """One server of the fleet: its row, what it is, the findings worst first, and what was skipped."""

    row: HostRow
    target: Target
    vendor: str
    hostname: str
    findings: tuple[Finding, ...]
    skipped: tuple[SkippedCheck, ...]


class Survey(NamedTuple):
    """The whole fleet. `absent` are the rows of hosts of which there are no facts; `now` is UTC, `folder` the run's."""

    folder: str
    now: str
    judged: tuple[JudgedServer, ...]
    absent: tuple[HostRow, ...]
    outliers: tuple[Outlier, ...]
    equals: tuple[PeerGroup, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of all servers."""
        return tuple(f for one in self.judged for f in one.findings)


class RuleOnFleet(NamedTuple):
    """One rule over the fleet: the hosts on which it found something, and the worst that it said there."""

    code: str
    name: str
    severity: Severity
    hosts: tuple[str, ...]


class CommonFix(NamedTuple):
    """One setting, or advice in words, that findings of a rule give on these hosts; a setting needs a restart or not.

    `settings` are the different lines that were advised, empty for advice in words. `servers` counts the hosts, and
    `hosts` may name only the first of them.
    """

    code: str
    severity: Severity
    option: str
    settings: tuple[str, ...]
    words: str
    restart: bool
    hosts: tuple[str, ...]
    servers: int


class Advice(NamedTuple):
    """What one finding advises: a setting, or words; `option` is empty for a finding of no option."""

    code: str
    severity: Severity
    option: str
    setting: str
    words: str
    restart: bool


Fixes = dict[tuple[str, str], CommonFix]  # by rule and option
MOST_FIXES = 10_000


class Series(NamedTuple):
    """The servers of one version; `ends` is when the vendor's support ends (2032-04 or 2026-04-30), "" where unknown.

    `ended` says whether that was before the day of the report.
    """

    label: str
    ends: str
    ended: bool
    hosts: tuple[str, ...]


def by_rule(judged: Iterable[JudgedServer]) -> list[RuleOnFleet]:
    """The rules that found something: worst first, then those on most servers."""
    seen: dict[str, RuleOnFleet] = {}
    for server in judged:
        for f in server.findings:
            known = seen.get(f.code, RuleOnFleet(f.code, f.name, f.severity, ()))
            worst = min(known.severity, f.severity, key=lambda s: RANK[s])
            hosts = known.hosts if server.row.name in known.hosts[-1:] else (*known.hosts, server.row.name)
            seen[f.code] = known._replace(severity=worst, hosts=hosts)
    return sorted(seen.values(), key=lambda s: (RANK[s.severity], -len(s.hosts), s.code))


def common_fixes(judged: Iterable[JudgedServer]) -> list[CommonFix]:
    """What errors and warnings advise, by rule and option: on most servers first, then the worst."""
    fixes: Fixes = {}
    for server in judged:
        count_advice(fixes, server.row.name, map(advice_of, server.findings))
    return most_common(fixes)


def advice_of(f: Finding) -> Advice | None:
    """What a finding advises; None for a note, and without advice."""
    if f.severity is Severity.NOTE or not (f.actions or f.help):
        return None
    restart = any(action.restart for action in f.actions)
    return Advice(f.code, f.severity, f.canonical or f.option or "", _advised_setting(f), f.help, restart)


def count_advice(fixes: Fixes, server: str, advised: Iterable[Advice | None], most: int | None = None) -> None:
    """Count what the findings of one server advise; of hosts and different settings, `most` are kept."""
    seen: set[tuple[str, str]] = set()
    for advice in filter(None, advised):
        key = advice.code, advice.option
        if len(fixes) >= MOST_FIXES and key not in fixes:
            continue  # options of any name, such as misspelt ones of many files
        known = fixes.get(key, CommonFix(advice.code, advice.severity, advice.option, (), advice.words, False, (), 0))
        new = key not in seen
        seen.add(key)
        settings = dict.fromkeys((*known.settings, advice.setting)) if advice.setting else known.settings
        fixes[key] = known._replace(
            severity=min(known.severity, advice.severity, key=RANK.__getitem__),
            settings=tuple(settings)[:most],
            restart=known.restart or advice.restart,
            hosts=(*known.hosts, server)[:most] if new else known.hosts,
            servers=known.servers + new,
        )


def most_common(fixes: Fixes) -> list[CommonFix]:
    """Those on most servers first, then the worst."""
    return sorted(fixes.values(), key=lambda x: (-x.servers, RANK[x.severity], x.code, x.option))


def _advised_setting(f: Finding) -> str:
    """What the actions set for the finding's own option, else their first line; empty for advice in words."""
    change = value_of_actions(f)
    if change is not None and change.option in (f.canonical, f.option):
        return f"{change.option} = {change.after}"
    return next((kept for action in f.actions if (kept := permanent_setting(action))), "")


def by_area(server: JudgedServer) -> dict[Area, dict[Severity, int]]:
    """How many findings of each severity a server has in each area where it has any."""
    return {area: counts(found) for area, found in group_by_area(server.findings).items()}


class DifferingHost(NamedTuple):
    """One host and the variables in which it is an outlier of its group, those set explicitly first."""

    name: str
    variables: tuple[tuple[Outlier, MemberValue], ...]


def by_host(outliers: Iterable[Outlier]) -> list[DifferingHost]:
    """The hosts that differ from their group, those with most such variables first."""
    hosts: dict[str, list[tuple[Outlier, MemberValue]]] = {}
    for outlier in outliers:
        for name, value in outlier.others:
            hosts.setdefault(name, []).append((outlier, value))
    found = [DifferingHost(name, tuple(variables)) for name, variables in hosts.items()]
    return sorted(found, key=lambda host: (-len(host.variables), host.name))


def by_series(judged: Iterable[JudgedServer], now: str) -> list[Series]:
    """Which versions there are: those that lack support first, then by number."""
    hosts: dict[Target, list[str]] = {}
    for server in judged:
        hosts.setdefault(server.target, []).append(server.row.name)
    versions = []
    for target, names in hosts.items():
        own = target.build in VENDOR_BUILDS
        end = END_OF_LIFE.get(target.flavour, {}).get(target.version[:2]) if own else None
        ends = "-".join(f"{part:02}" for part in end if part) if end else ""
        versions.append((target, Series(target.label, ends, bool(ends) and ends < now[: len(ends)], tuple(names))))
    versions.sort(key=lambda pair: (not pair[1].ended, pair[0].flavour, pair[0].version))
    return [series for _, series in versions]


def unseen_parts(judged: Sequence[JudgedServer]) -> list[tuple[str, tuple[str, ...], int]]:
    """What kept rules from looking: the reason, the servers, and how many rules and parts of the facts; most first.

    What a reason says in brackets differs from server to server (how long it is up); the first stands for all.
    """
    reasons: dict[str, dict[str, int]] = {}
    words: dict[str, str] = {}
    for server in judged:
        for skip in server.skipped:
            key = skip.reason.partition(" (")[0]
            words.setdefault(key, skip.reason)
            hosts = reasons.setdefault(key, {})
            hosts[server.row.name] = hosts.get(server.row.name, 0) + 1
    kinds = [
        (words[key] if len(hosts) == 1 else key, tuple(hosts), sum(hosts.values())) for key, hosts in reasons.items()
    ]
    return sorted(kinds, key=lambda kind: (-len(kind[1]), -kind[2], kind[0]))


def counts(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many of each severity."""
    by_severity = dict.fromkeys(Severity, 0)
    for f in findings:
        by_severity[f.severity] += 1
    return by_severity


def few(names: Sequence[str], most: int = 6, count: int = 0) -> str:
    """`db1, db2 and 14 more`; `count` is the number of all if `names` are only the first."""
    shown, left = ", ".join(names[:most]), max(count, len(names)) - most
    return f"{shown} and {left:,} more" if left > 0 else shown


def state(series: Series) -> str:
    """Whether the vendor still supports it, in words."""
    if not series.ends:
        return "end of support unknown"
    return f"support ended {series.ends}" if series.ended else f"supported until {series.ends}"


def group_name(group: PeerGroup) -> str:
    """What a set of equals is, in words."""
    return KINDS[group.kind].format(name=group.name)


def differs(outlier: Outlier) -> str:
    """`the other 5 of 6 in db (MySQL 8.0)`: how many have the usual value, of whom."""
    series = f" ({outlier.series})" if outlier.series else ""
    return f"the other {outlier.members - len(outlier.others)} of {outlier.members} in {outlier.group}{series}"
