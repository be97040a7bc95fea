"""When an option came and went, and which of its facts changed between the patches of one series."""

from __future__ import annotations

from builds import Build, Record
from fact import Fact
from tables import Row, Version, read, version

# What was asked of these builds leaves out InnoDB and performance schema: an option not listed there may still exist.
PARTIAL = {("mysql", (8, 0, 43)), ("mysql", (8, 4, 8)), ("mariadb", (10, 4, 12))}
# Facts that may differ between two patches; the others are only ever completed.
CHANGING = ("arg", "default", "kind", "bits", "min", "max", "block", "values", "ignored")


def dotted(numbers: Version) -> str:
    """A version as people write it."""
    return ".".join(str(n) for n in numbers)


def _presence() -> dict[tuple[str, str], list[tuple[Version, Version]]]:
    found = {}
    for row in read("changes", "presence.tsv"):
        runs = [tuple(version(end) for end in run.split("..")) for run in row["runs"].split(",")]
        found[row["option"], row["flavour"]] = [(first, last) for first, last in runs]
    return found


def _events() -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in read("changes", "events.tsv"):
        found.setdefault(row["name"], []).append(row)
    return found


PRESENCE = _presence()
EVENTS = _events()
FULL_BUILDS = [
    (row["flavour"], version(row["version"]))
    for row in read("changes", "presence-builds.tsv")
    if (row["flavour"], version(row["version"])) not in PARTIAL
]


def documented(option: str, event: str) -> list[Version]:
    """The versions in which the option is documented to have been introduced, deprecated or removed (MySQL), oldest first."""
    return sorted(version(e["value"]) for e in EVENTS.get(option, []) if e["event"] == event)


def replacement(option: str) -> str | None:
    """The option that is documented to take its place (MySQL)."""
    return next((e["value"] for e in EVENTS.get(option, []) if e["event"] == "replaced" and "." not in e["value"]), None)


def had(option: str, flavour: str, at: Version) -> bool:
    """Whether a build of that version listed the option."""
    return any(first <= at <= last for first, last in PRESENCE.get((option, flavour), []))


def introduced(option: str, flavour: str, series: Version) -> Version | None:
    """The first version that has it: in this series where an earlier patch lacked it, else in the flavour; None when unknown."""
    builds = sorted(v for f, v in FULL_BUILDS if f == flavour)
    lacking = [v for v in builds if not had(option, flavour, v)]
    runs = PRESENCE.get((option, flavour), [])
    in_series = [v for v in lacking if v[:2] == series and any(first > v for first, _ in runs if first[:2] == series)]
    said = documented(option, "introduced") if flavour == "mysql" else []
    if in_series:
        after = max(in_series)
        seen = min(first for first, _ in runs if first > after)
        return next((v for v in said if after < v <= seen), seen)
    late = [v for v in said if v[:2] == series]
    if late and not any(first[:2] == series and first <= late[0] for first, _ in runs):
        return late[0]
    earlier = [v for v in said if v[:2] <= series]
    return earlier[0] if earlier else (runs[0][0] if runs and runs[0][0] != builds[0] else None)


def removed(option: str, flavour: str, series: Version) -> Version | None:
    """The first version of this series or a later one that no longer has it; None when it is still there or nobody tells."""
    runs = PRESENCE.get((option, flavour), [])
    last = max((end for _, end in runs if end[:2] == series), default=None)
    if last:
        later = [v for f, v in FULL_BUILDS if f == flavour and v[:2] == series and v > last]
        if later and not any(first[:2] == series and first > last for first, _ in runs):
            return min(later)
    said = documented(option, "removed") if flavour == "mysql" else []
    return next((v for v in said if v > (last or series)), None)


def merge(builds: dict[Version, Build]) -> dict[str, tuple[Record, list[tuple[Version, Record]]]]:
    """For each option of a series its newest facts, and what they were before: (version, facts before that version), newest first."""
    merged = {}
    for option in sorted({o for b in builds.values() for o in b}):
        having = sorted((v for v in builds if option in builds[v]), reverse=True)
        base = complete([builds[v][option] for v in having])
        before: list[tuple[Version, Record]] = []
        current = base
        for newer, older in zip(having, having[1:], strict=False):
            changed = differences(current, builds[older][option])
            if changed:
                before.append((changed_at(option, older, newer), changed))
                current = current | changed
        merged[option] = (base, before)
    return merged


def complete(records: list[Record]) -> Record:
    """The newest record, with what only older builds were asked in place of what was concluded or is missing."""
    base = dict(records[0])
    for older in records[1:]:
        for field, fact in older.items():
            if field == "running" and older["default"].value != base["default"].value:
                continue
            weak = field not in base or (base[field].source == "inferred" and fact.source != "inferred")
            if weak:
                base[field] = fact
    return base


def differences(newer: Record, older: Record) -> Record:
    """What the older build was asked and the newer one says otherwise."""
    return {
        field: older[field]
        for field in CHANGING
        if field in older and older[field].source == "asked" and field in newer and newer[field].value != older[field].value
    }


def changed_at(option: str, older: Version, newer: Version) -> Version:
    """The version of a change seen between two builds: the documented one, else the build in which it was first seen."""
    said = [version(e["value"]) for e in EVENTS.get(option, []) if e["event"] == "default"]
    return next((v for v in sorted(said) if older < v <= newer), newer)


def with_lifecycle(option: str, record: Record, flavour: str, series: Version) -> Record:
    """The record with the versions in which the option came, was deprecated and went, and what replaced it."""
    for field, found in (("since", introduced(option, flavour, series)), ("gone", removed(option, flavour, series))):
        if found:
            record.setdefault(field, Fact(dotted(found), "documented"))
    if flavour == "mysql":
        said = documented(option, "deprecated")
        if said:
            record.setdefault("deprecated", Fact(dotted(said[0]), "documented"))
        if new := replacement(option):
            record.setdefault("replaced_by", Fact(new, "documented"))
    return record
