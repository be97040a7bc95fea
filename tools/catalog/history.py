"""When options were added and removed, and which of their facts changed between patches of one series."""

from __future__ import annotations

import itertools

from builds import Build, Record
from fact import Fact
from tables import Row, Version, dotted_version, read, version

# These builds were queried without InnoDB and Performance Schema: an option that is not listed may still exist.
PARTIAL = {("mysql", (8, 0, 43)), ("mysql", (8, 4, 8)), ("mariadb", (10, 4, 12))}
UNCONFIRMED, NEVER_RELEASED = "unconfirmed", (6, 0)
# Facts that may differ between two patches; the others are only completed.
CHANGING = ("arg", "default", "kind", "bits", "min", "max", "block", "values", "ignored", "dynamic")


def _presence() -> dict[tuple[str, str], list[tuple[Version, Version]]]:
    presence = {}
    for row in read("changes", "presence.tsv"):
        runs = [tuple(version(end) for end in run.split("..")) for run in row["runs"].split(",")]
        presence[row["option"], row["flavour"]] = [(first, last) for first, last in runs]
    return presence


def _events(*tables: str) -> dict[str, list[Row]]:
    events: dict[str, list[Row]] = {}
    for row in (r for table in tables for r in read("changes", table)):
        events.setdefault(row["name"], []).append(row)
    return events


PRESENCE = _presence()
EVENTS = _events("events.tsv", "noted.tsv", "manual.tsv")
MARIADB_EVENTS = _events("mariadb-events.tsv")
FULL_BUILDS = [
    (row["flavour"], version(row["version"]))
    for row in read("changes", "presence-builds.tsv")
    if (row["flavour"], version(row["version"])) not in PARTIAL
]


def documented_versions(option: str, event: str, flavour: str = "mysql") -> list[Version]:
    """The documented versions of an event (introduced, deprecated or removed), oldest first."""
    events = MARIADB_EVENTS if flavour == "mariadb" else EVENTS
    return sorted(version(e["value"]) for e in events.get(option, []) if e["event"] == event)


def in_manuals(option: str, event: str, flavour: str = "mysql") -> list[Version]:
    """As `documented`, but only from a manual's table of releases: no unconfirmed notes, no series 6.0."""
    if flavour == "mariadb":
        return documented_versions(option, event, flavour)
    events = [e for e in EVENTS.get(option, []) if e["event"] == event and e["source"] != UNCONFIRMED]
    return sorted(v for e in events if (v := version(e["value"]))[:2] != NEVER_RELEASED)


def replacement(option: str) -> str | None:
    """The documented replacement of the option (MySQL)."""
    return next(
        (e["value"] for e in EVENTS.get(option, []) if e["event"] == "replaced" and "." not in e["value"]), None
    )


def had(option: str, flavour: str, at: Version) -> bool:
    """Whether a build of that version listed the option."""
    return any(first <= at <= last for first, last in PRESENCE.get((option, flavour), []))


def introduction(option: str, flavour: str, series: Version) -> Version | None:
    """The first version with the option; None if unknown.

    It is in this series if an earlier patch lacked the option, else in the flavour.
    """
    if flavour == "mariadb":
        return introduced_mariadb(option, series)
    builds = sorted(v for f, v in FULL_BUILDS if f == flavour)
    lacking = [v for v in builds if not had(option, flavour, v)]
    runs = PRESENCE.get((option, flavour), [])
    in_series = [v for v in lacking if v[:2] == series and any(first > v for first, _ in runs if first[:2] == series)]
    versions = documented_versions(option, "introduced") or successor_since(option)
    if in_series:
        after = max(in_series)
        seen = min(first for first, _ in runs if first > after)
        partly = ("mysql", seen) in PARTIAL  # first seen long after: any patch in between may have introduced it
        return next((v for v in versions if after < v <= seen), (*after[:2], after[2] + 1) if partly else seen)
    late = [v for v in versions if v[:2] == series]
    if late and not any(first[:2] == series and first <= late[0] for first, _ in runs):
        return late[0]
    earlier = [v for v in versions if v[:2] <= series]
    return earlier[0] if earlier else (runs[0][0] if runs and runs[0][0] != builds[0] else None)


def successor_since(option: str) -> list[Version]:
    """The versions that introduced a new name: those that deprecated the old one."""
    old = next(
        (n for n, events in EVENTS.items() if any(e["event"] == "replaced" and e["value"] == option for e in events)),
        None,
    )
    return documented_versions(old, "deprecated") if old else []


def introduced_mariadb(option: str, series: Version) -> Version | None:
    """As `introduced`; MariaDB adds a variable to several series at once, so the version in this series is used.

    An option may be older than the variable that it sets: a build with the option overrides the documentation.
    """
    first = min((first for first, _ in PRESENCE.get((option, "mariadb"), [])), default=None)
    versions = documented_versions(option, "introduced", "mariadb")
    here = [v for v in versions if v[:2] == series and len(v) > 2]  # noqa: PLR2004 - a patch
    if here and (first is None or first[:2] >= series):
        return here[0]
    earlier = [v for v in versions if v[:2] < series]
    return min(earlier) if earlier else None


def removal(option: str, flavour: str, series: Version) -> Version | None:
    """The first version of this or a later series without the option; None if it still exists or is unknown."""
    runs = PRESENCE.get((option, flavour), [])
    last = max((end for _, end in runs if end[:2] == series), default=None)
    if last:
        later = [v for f, v in FULL_BUILDS if f == flavour and v[:2] == series and v > last]
        if later and not any(first[:2] == series and first > last for first, _ in runs):
            return min(later)
    versions = documented_versions(option, "removed", flavour)
    return next((v for v in versions if v > (last or series)), None)


def merge(builds: dict[Version, Build]) -> dict[str, tuple[Record, list[tuple[Version, Record]]]]:
    """For each option of a series its newest facts, and earlier facts as (version, facts before it), newest first."""
    lend_running(builds)
    merged = {}
    for option in sorted({o for b in builds.values() for o in b}):
        having = sorted((v for v in builds if option in builds[v]), reverse=True)
        base = complete([builds[v][option] for v in having])
        before: list[tuple[Version, Record]] = []
        current = base
        for newer, older in itertools.pairwise(having):
            changed = differences(current, builds[older][option])
            if changed:
                add_change(before, changed_at(option, older, newer), changed)
                current = current | changed
        merged[option] = (base, before)
    return merged


def add_change(before: list[tuple[Version, Record]], at: Version, changed: Record) -> None:
    """Insert a change behind later changes.

    Builds in between take from a later one whether a variable is dynamic; one that changed from a switch to an
    enumeration became dynamic at the same time.
    """
    turned = next((i for i, (_, facts) in enumerate(before) if "kind" in facts), None)
    if set(changed) == {"dynamic"} and turned is not None:
        before[turned] = before[turned][0], before[turned][1] | changed
    else:
        before.append((at, changed))


def lend_running(builds: dict[Version, Build]) -> None:
    """Copy the running values of a series' started build to builds that were not started.

    A value is copied only if the defaults are equal.
    """
    started = next((b for b in builds.values() if any("running" in r for r in b.values())), {})
    for build in builds.values():
        for option, record in build.items():
            other = started.get(option, {})
            if build is not started and "running" in other and same_default(record, other):
                record["running"] = Fact(other["running"].value, "inferred")


def same_default(record: Record, other: Record) -> bool:
    """Whether two builds print the same default."""
    return "default" in record and "default" in other and record["default"].value == other["default"].value


def complete(records: list[Record]) -> Record:
    """The newest record, in which inferred and missing facts are replaced by answers of older builds."""
    base = dict(records[0])
    for older in records[1:]:
        for field, fact in older.items():
            if field == "running" and not same_default(older, base):
                continue
            weak = field not in base or (base[field].source == "inferred" and fact.source != "inferred")
            if weak:
                base[field] = fact
    return base


def differences(newer: Record, older: Record) -> Record:
    """The older build's answers that differ from the newer build's."""
    unknown = Fact(None, "asked")
    now, then = newer.get("running", unknown), older.get("running", unknown)
    changed = {} if now.value == then.value else {"running": then}
    return changed | {
        field: older[field]
        for field in CHANGING
        if field in older
        and field in newer
        and newer[field].value != older[field].value
        and (older[field].source == "asked" or newer[field].source == "documented")
    }


def documented_default(option: str, after: Version, upto: Version) -> tuple[Version, str] | None:
    """The last documented change of a default (MySQL) after one version and up to another."""
    defaults = [(version(e["value"]), e["to"]) for e in EVENTS.get(option, []) if e["event"] == "default"]
    return max((s for s in defaults if after < s[0] <= upto), default=None)


def with_documented_default(option: str, record: Record, after: Version, upto: Version) -> Record:
    """The record with the documented change of its default between two versions, in the help's notation."""
    default = documented_default(option, after, upto)
    if default is None:
        return record
    value: str | None = (
        {"ON": "TRUE", "OFF": "FALSE"}.get(default[1], default[1]) if record["kind"].value == "bool" else default[1]
    )
    value = None if value == "autosized" else "(No default value)" if value == "NULL" else value
    return (
        record | {"default": Fact(value, "documented")} | ({"host": Fact(True, "documented")} if value is None else {})
    )


def changed_at(option: str, older: Version, newer: Version) -> Version:
    """The version of a change between two builds: the documented one, else the first build with the new value."""
    versions = [version(e["value"]) for e in EVENTS.get(option, []) if e["event"] == "default"]
    return next((v for v in sorted(versions) if older < v <= newer), newer)


def by_whom(option: str, event: str, at: Version, flavour: str) -> str:
    """Whether a version is named in the manuals, or was inferred from the builds that list the option."""
    return "documented" if at in in_manuals(option, event, flavour) else "inferred"


def with_lifecycle(option: str, record: Record, flavour: str, series: Version) -> Record:
    """The record with the versions in which the option was introduced, deprecated and removed, and its replacement."""
    hidden = (
        "shown" in record and record["shown"].source == "asked" and not record["shown"].value and "ignored" in record
    )
    came, went = introduction(option, flavour, series), removal(option, flavour, series)
    if hidden or (went and went[:2] <= series):
        went = went if went and flavour == "mysql" and not hidden else None  # the queried server still accepts it
    for field, event, release in (("since", "introduced", None if hidden else came), ("gone", "removed", went)):
        if release:
            record.setdefault(field, Fact(dotted_version(release), by_whom(option, event, release, flavour)))
    versions = in_manuals(option, "deprecated", flavour)
    if versions:
        at = next((v for v in versions if v[:2] == series), versions[0])  # 5.7.38 may be later than 8.0.28
        record.setdefault("deprecated", Fact(dotted_version(at), "documented"))
    if flavour == "mysql" and (new := replacement(option)):
        record.setdefault("replaced_by", Fact(new, "documented"))
    return record
