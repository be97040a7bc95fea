"""Which releases of which flavour have, or had, each option: a small file that is read when an option is unknown."""

from __future__ import annotations

import json
import re

import history
from tables import Version, read, version

Catalogs = dict[str, dict[str, dict[str, object]]]


def spans(made: Catalogs) -> dict[str, dict[str, list[Version]]]:
    """For each option and flavour the first and the last version that are known to have it."""
    found: dict[str, dict[str, list[Version]]] = {}
    for (option, flavour), runs in history.PRESENCE.items():
        found.setdefault(option, {})[flavour] = [runs[0][0], runs[-1][1]]
    for series, options in made.items():
        flavour, number = series.split("-")
        for option, record in options.items():
            if not record.get("shown", True) and record.get("ignored"):
                continue  # taken for the sake of old option files only
            at = version(number)
            first, last = found.setdefault(option, {}).setdefault(flavour, [at, at])
            gone = version(str(record["gone"])) if "gone" in record else None
            ends = at if gone is None or gone[:2] != at else last
            found[option][flavour] = [min(first, at), max(last, ends, key=lambda v: (v[:2], v))]
    return found


def removed(option: str, flavour: str, last: Version) -> str | None:
    """The version that is documented to have removed it, after the last one known to have it."""
    return next((history.dotted(v) for v in history.documented(option, "removed", flavour) if v > last), None)


def replacements() -> dict[str, str]:
    """Successors that are documented, and those of renames and removals that the servers' own messages name."""
    found = {row["option"]: row["replaced_by"] for row in read("replaced.tsv")}
    for option in history.EVENTS:
        if new := history.replacement(option):
            found.setdefault(option, new)
    return found


def text(made: Catalogs) -> str:
    """The file: one option a line; a span is first and last version, and the one that removed it where that is documented."""
    successors, lines = replacements(), []
    known = spans(made)
    for option in sorted(o for o in known.keys() | successors.keys() if re.fullmatch(r"\w+", o)):
        flavours = known.get(option, {})
        entry: dict[str, object] = {}
        for flavour, (first, last) in sorted(flavours.items()):
            gone = removed(option, flavour, last)
            entry[flavour] = [history.dotted(first), history.dotted(last), *([gone] if gone else [])]
        if option in successors:
            entry["replaced_by"] = successors[option]
        lines.append(f"{json.dumps(option)}:{json.dumps(entry, separators=(',', ':'))}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
