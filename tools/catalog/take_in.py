"""Import facts from a folder with the layout of the shared material into facts/: names, kinds and numbers, no prose.

usage: take_in.py FOLDER      FOLDER has servers/, others/, declared/ and changes/
"""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from typing import Any

from tables import Row, Version, canonical, dotted_version, version, write

SERVER_TABLES = ("options", "help-values", "variable-metadata", "global-variables")
OTHERS = (
    "mariadb-10.11.19-allplugins",
    "mariadb-10.4.12",
    "mysql-5.7.33",
    "mysql-8.0.11",
    "mysql-8.0.23",
    "mysql-8.0.43",
    "mysql-8.4.8-shannon",
)
DECLARED = {"mariadb-10.4.12": ("sys_vars.cc", "ha_innodb.cc", "ha_maria.cc")}
DECLARED_DEFAULT = ("sys_vars.cc", "ha_innodb.cc", "validate_password.cc")
# Source trees, forks of an older base, and forks with own names say nothing about the history of releases.
UPSTREAM = re.compile(r"(mysql|mariadb) (\d+\.\d+\.\d+)$")


def rows_of(path: str) -> list[Row]:
    """The rows of a table in FOLDER; line ends inside a cell become blanks."""
    with open(path, encoding="utf-8", newline="") as f:
        header, *rows = csv.reader(f, delimiter="\t")
    cells = [[" ".join(cell.split("\n")) if "\n" in cell else cell for cell in row] for row in rows]
    return [dict(zip(header, row, strict=True)) for row in cells if len(row) == len(header)]


def take_tables(folder: str) -> None:
    """Import the option tables, the effective values and the metadata of running servers."""
    for kind, names in (("servers", sorted(os.listdir(f"{folder}/servers"))), ("others", OTHERS)):
        for name in names:
            for table in SERVER_TABLES:
                path = f"{folder}/{kind}/{name}/{table}.tsv"
                if not os.path.exists(path):
                    continue
                rows = rows_of(path)
                if table == "help-values":  # part of the help's heading, not an option
                    rows = [r for r in rows if r["option"] != "and"]
                write(rows, list(rows[0]), kind, name, f"{table}.tsv")


def take_declared(folder: str) -> None:
    """Import the variables declared in sources, only those of the server itself and of InnoDB."""
    for file in sorted(os.listdir(f"{folder}/declared")):
        name = file.removesuffix(".tsv")
        keep = DECLARED.get(name, DECLARED_DEFAULT)
        rows = [r for r in rows_of(f"{folder}/declared/{file}") if r["file"] in keep]
        rows = [r for r in rows if re.fullmatch(r"\w+", r["name"])]
        for row in rows:
            row["name"] = declared_name(row)
            row["flags"] = " ".join(row["flags"].split())
        write(rows, list(rows[0]), "declared", file)


def declared_name(row: Row) -> str:
    """The full name: plugins declare their variables without the prefix that the server adds."""
    prefix = {"ha_innodb.cc": "innodb_", "ha_maria.cc": "aria_", "validate_password.cc": "validate_password_"}
    before = prefix.get(row["file"], "")
    return row["name"] if row["name"].startswith(before) else before + row["name"]


def take_presence(folder: str) -> None:
    """Import which upstream releases had an option: for each flavour the consecutive releases, from first to last."""
    rows = rows_of(f"{folder}/changes/option_presence.tsv")
    builds = [(m[1], version(m[2]), c) for c in rows[0] if (m := UPSTREAM.fullmatch(c))]
    out: list[Row] = []
    for row in rows:
        for flavour in ("mysql", "mariadb"):
            seen = sorted((v, c) for f, v, c in builds if f == flavour)
            had = [v for v, c in seen if row[c]]
            if had:
                out.append(
                    {"option": canonical(row["option"]), "flavour": flavour, "runs": runs(had, [v for v, _ in seen])}
                )
    write(
        sorted(out, key=lambda r: (r["option"], r["flavour"])), ["option", "flavour", "runs"], "changes", "presence.tsv"
    )
    columns = [{"flavour": f, "version": dotted_version(v)} for f, v, _ in sorted(builds)]
    write(columns, ["flavour", "version"], "changes", "presence-builds.tsv")


def runs(had: list[Version], builds: list[Version]) -> str:
    """Consecutive builds as first..last, joined by commas."""
    groups: list[list[Version]] = []
    for build in builds:
        if build not in had:
            groups.append([])
        elif groups and groups[-1]:
            groups[-1].append(build)
        else:
            groups.append([build])
    return ",".join(f"{dotted_version(r[0])}..{dotted_version(r[-1])}" for r in groups if r)


def take_changes(folder: str) -> None:
    """Import documented introductions, deprecations, removals and replacements, and changed defaults."""
    events: list[Row] = []
    with open(f"{folder}/changes/sysvars-9.6.json", encoding="utf-8") as f:
        known: list[dict[str, Any]] = json.load(f)
    for entry in known:
        name = canonical(entry["name"])
        for key, event in (
            ("version", "introduced"),
            ("deprecation", "deprecated"),
            ("removal", "removed"),
            ("replacement", "replaced"),
        ):
            if key in entry and canonical(str(entry[key])) != name:  # one entry names an option as its own successor
                events.append(event_of(name, event, str(entry[key])))
        for change in [{**entry.get("initial", {}), "version": entry.get("version")}, *entry.get("changes", [])]:
            default = change.get("all", {}).get("default", {})
            widths = [w for w in ("all", "64") if isinstance(default, dict) and w in default and change["version"]]
            events += [event_of(name, "default", change["version"], plain_default(str(default[w]))) for w in widths]
    events += [
        event_of(canonical(r["name"]), r["event"], r["version"], source="version-reference")
        for r in rows_of(f"{folder}/changes/optvar-changes.tsv")
    ]
    unique = {tuple(e.values()): e for e in events if "." not in e["name"]}
    write([unique[k] for k in sorted(unique)], ["name", "event", "value", "to", "source"], "changes", "events.tsv")


def plain_default(default: str) -> str:
    """A default as a value; a default in words is calculated by the server."""
    value = default.split(" (", maxsplit=1)[0].strip()
    if re.fullmatch(r"[A-Z_]+( [A-Z_]+)+", value):
        return value.replace(" ", ",")
    return value if re.fullmatch(r"[\w.,+/-]*", value) and value != "MIN" else "autosized"


def event_of(name: str, event: str, value: str, to: str = "", source: str = "upgrade-checker-9.6") -> Row:
    """One row of events.tsv; `to` is the new default if the event is a changed default."""
    return {"name": name, "event": event, "value": value, "to": to, "source": source}


if __name__ == "__main__":
    source = sys.argv[1]
    take_tables(source)
    take_declared(source)
    take_presence(source)
    take_changes(source)
