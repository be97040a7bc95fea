"""Which releases and builds have, or had, each option: two small files that are read for unknown options."""

from __future__ import annotations

import json
import re

import history
from listed import never_built_in, owner
from tables import Version, dotted_version, read, version

PATCH = 3  # numbers in a version with a patch
Catalogs = dict[str, dict[str, dict[str, object]]]


def spans(made: Catalogs) -> dict[str, dict[str, list[Version]]]:
    """For each option and flavour the first and last version that are known to have it."""
    ranges: dict[str, dict[str, list[Version]]] = {}
    for (option, flavour), runs in history.PRESENCE.items():
        ranges.setdefault(option, {})[flavour] = [runs[0][0], runs[-1][1]]
    for series, options in made.items():
        flavour, number = series.split("-")
        for option, record in options.items():
            if not record.get("shown", True) and record.get("ignored"):
                continue  # accepted only for old option files
            at = version(number)
            first, last = ranges.setdefault(option, {}).setdefault(flavour, [at, at])
            gone = version(str(record["gone"])) if "gone" in record else None
            ends = at if gone is None or gone[:2] != at else last
            ranges[option][flavour] = [min(first, at), max(last, ends, key=lambda v: (v[:2], v))]
    newest = max(version(series.split("-")[1]) for series in made if series.startswith("mariadb"))
    for option in history.MARIADB_EVENTS:
        came = min(history.documented_versions(option, "introduced", "mariadb"), default=newest)
        if came[:2] > newest and "mariadb" not in ranges.get(option, {}):
            ranges.setdefault(option, {})["mariadb"] = [came, came]  # newer than every catalog
    return ranges


def removal_version(option: str, flavour: str, last: Version) -> str | None:
    """The documented version of its removal, after the last version known to have it."""
    return next((dotted_version(v) for v in history.in_manuals(option, "removed", flavour) if v > last), None)


def introductions(option: str, flavour: str, first: Version) -> list[str]:
    """The documented versions that introduced it, one per series; empty if an earlier build had it already.

    A series is left out if one of its patches is listed.
    """
    versions = history.in_manuals(option, "introduced", flavour)
    versions = [v for v in versions if len(v) > PATCH - 1 or not any(w[:2] == v for w in versions if len(w) == PATCH)]
    return [] if versions and versions[0][: len(first)] > first else [dotted_version(v) for v in versions]


def replacements() -> dict[str, str]:
    """Documented successors, and those that the servers' messages name for renamed and removed options."""
    successors = {row["option"]: row["replaced_by"] for row in read("replaced.tsv")}
    for option in history.EVENTS:
        if new := history.replacement(option):
            successors.setdefault(option, new)
    return successors


def span(option: str, flavour: str, first: Version, last: Version) -> list[object]:
    """First and last version known to have it, then from the manuals: its removal, its introduction, its owner."""
    fields: list[object] = [
        dotted_version(first),
        dotted_version(last),
        removal_version(option, flavour, last),
    ]
    plugin = owner(option, flavour) if never_built_in(option, flavour) else None
    fields += [introductions(option, flavour, first) or None, plugin]
    while fields[-1] is None:
        fields.pop()
    return fields


def text(made: Catalogs) -> str:
    """The text of the file: one option per line, with the versions per flavour and the replacement."""
    successors, lines = replacements(), []
    known = spans(made)
    built = {row["option"]: row["needs"] for row in read("builds.tsv")}
    for option in sorted(o for o in known.keys() | successors.keys() if re.fullmatch(r"\w+", o)):
        flavours = known.get(option, {})
        entry: dict[str, object] = {f: span(option, f, *ends) for f, ends in sorted(flavours.items())}
        if option in successors:
            entry["replaced_by"] = successors[option]
        if option in built:
            entry["built"] = built[option]
        lines.append(f"{json.dumps(option)}:{json.dumps(entry, separators=(',', ':'))}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def vendors() -> str:
    """The text of the file of options documented by other vendors: one per line, with the build and its series."""
    rows = {row["option"]: [row["build"], *(s for s in row["series"].split(",") if s)] for row in read("vendors.tsv")}
    lines = [f"{json.dumps(option)}:{json.dumps(row, separators=(',', ':'))}" for option, row in sorted(rows.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def windows() -> str:
    """The text of the file of options that only servers on Windows have, in the form of a catalog."""
    lines = []
    for row in read("windows.tsv"):
        facts: dict[str, object] = {"arg": row["arg"], "kind": row["kind"]}
        facts |= {"bits": 64} if row["kind"] == "uint" else {}
        facts |= {"default": row["default"]} if row["default"] else {}
        facts |= {"shown": False} if row["kind"] == "flag" else {}
        if row["variable"]:
            facts |= {"variable": row["variable"], "scope": "global", "dynamic": row["dynamic"] == "yes"}
        lines.append(
            f"{json.dumps(row['option'])}:{json.dumps(facts | {'by': {'documented': '*'}}, separators=(',', ':'))}"
        )
    return '{"series":"windows","moving":[],"options":{\n' + ",\n".join(lines) + "\n}}\n"
