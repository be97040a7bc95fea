"""The facts of one build, option by option, each with its source.

A build is one server version. `asked` facts were told by the running binary, `declared` ones stand in a source,
`documented` ones in a list of changes, `inferred` ones were concluded.
"""

from __future__ import annotations

import re

import kinds
import running
from fact import Fact
from tables import Row, Version, canonical, read, version


Record = dict[str, Fact]
Build = dict[str, Record]

# Sources that tell the kinds of an asked server whose own tables don't, nearest first.
DECLARED_FOR = {
    "mysql-5.7.22": ("mysql-5.7.18", "mysql-5.7.36-stonedb"),
    "mysql-5.7.33": ("mysql-5.7.36-stonedb", "mysql-5.7.18"),
    "mysql-8.0.11": ("mysql-8.0.43",),
    "mysql-8.0.15": ("mysql-8.0.43", "mysql-5.7.36-stonedb"),
    "mysql-8.0.23": ("mysql-8.0.43",),
    "mysql-8.0.43": ("mysql-8.0.43",),
    "mysql-8.4.8": ("mysql-8.4.8-shannon", "mysql-8.0.43"),
    "mysql-9.7.4": ("mysql-8.4.8-shannon", "mysql-8.0.43"),
    "mariadb-10.4.12": ("mariadb-10.4.12",),
}


def put(record: Record, facts: dict[str, object], source: str) -> None:
    """Add the facts that are not there yet: who is asked first is believed."""
    for field, value in facts.items():
        record.setdefault(field, Fact(value, source))


def help_build(folder: str, name: str, asked_folder: str | None = None) -> Build:
    """What `--verbose --help` says: options, their arguments and, with no option file, their values."""
    values = {canonical(r["option"]): r["value"] for r in read(folder, name, "help-values.tsv")}
    build: Build = {}
    for row in read(folder, name, "options.tsv"):
        option = canonical(row["option"])
        record: Record = build.setdefault(option, {})
        put(record, {"arg": row["argument"], "default": values.get(option), "shown": option in values}, "asked")
        put(record, probed(asked_folder or name, option), "asked")
    return build


def probed(name: str, option: str) -> dict[str, object]:
    """What asking the server with values told of an option; empty where it was not asked."""
    return _PROBED.setdefault(name, _read_probes(name)).get(option, {})


_PROBED: dict[str, dict[str, dict[str, object]]] = {}


def _read_probes(name: str) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for row in read("servers", name, "probes.tsv"):
        found[row.pop("option")] = {f: _cell(f, v) for f, v in row.items() if v}
    return found


def _cell(field: str, text: str) -> object:
    if field in ("min", "max", "block", "bits"):
        return number(text)
    return text.split(",") if field == "values" else text == "yes" if field == "ignored" else text


def add_variables(build: Build, name: str) -> None:
    """What the running server told of its variables: kind, range, members, scope, whether it can be set while running."""
    rows = {canonical(r["variable_name"]): r for r in read("servers", name, "variable-metadata.tsv")}
    running = {canonical(r["variable_name"]) for r in read("servers", name, "global-variables.tsv")} | rows.keys()
    for option, record in build.items():
        if option in running:
            put(record, {"variable": option}, "asked")
        row = rows.get(option)
        if row:
            put(record, kinds.told(row) | told_range(row) | told_scope(row), "asked")


def told_range(row: Row) -> dict[str, object]:
    """Least, greatest and block size of a number, members of an enumeration or set, as the server tells them."""
    low, high = row.get("min_value") or row.get("numeric_min_value"), row.get("max_value") or row.get("numeric_max_value")
    found: dict[str, object] = {}
    if low and high and low != "NULL" and (low, high) != ("0", "0"):
        found |= {"min": number(low), "max": number(high)}
    if (block := row.get("numeric_block_size", "NULL")) not in ("NULL", "0", "1"):
        found["block"] = number(block)
    if (members := row.get("enum_value_list", "NULL")) != "NULL" and row["variable_type"] != "BOOLEAN":
        found["values"] = members.split(",")
    return found


def told_scope(row: Row) -> dict[str, object]:
    """Scope and whether the variable can be set while the server runs, where the server tells (MariaDB; MySQL 9.7 the scope)."""
    scope = {"GLOBAL": "global", "SESSION": "both", "SESSION ONLY": "session"}.get(row.get("variable_scope", ""))
    found: dict[str, object] = {"scope": scope} if scope else {}
    return found | ({"dynamic": row["read_only"] == "NO"} if row.get("read_only") else {})


def number(text: str) -> int | float | None:
    """A number of a table; None for an expression."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d+\.\d*(e[+-]?\d+)?", text) else None


def add_declared(build: Build, name: str) -> None:
    """What the nearest sources declare: kind, range, block size, whether it can be set while the server runs."""
    for declaration in DECLARED_FOR.get(name, ()):
        rows = {canonical(r["name"]): r for r in read("declared", f"{declaration}.tsv")}
        for option, record in build.items():
            if (row := rows.get(option)) and row["type"] != "var_deprecated_alias":
                put(record, declared_facts(row), "declared")


def declared_facts(row: Row) -> dict[str, object]:
    """The facts of one declaration; expressions that are no plain numbers are passed over."""
    found = kinds.declared(row) | {"variable": row["name"], "dynamic": row["change"] == "dynamic"}
    if found.get("kind") in ("int", "uint", "double"):
        found |= {f: n for f in ("min", "max") if (n := number(row[f])) is not None}
        if (block := number(row["block"])) not in (None, 0, 1):
            found["block"] = block
    return found


def add_printed(build: Build, folder: str, name: str) -> None:
    """What the help's columns let one conclude of the kind, last of all."""
    for row in read(folder, name, "options.tsv"):
        option = canonical(row["option"])
        default = build[option]["default"].value
        facts = kinds.printed(row, default if isinstance(default, str) else None)
        if "kind" not in build[option]:
            put(build[option], facts, "inferred")
        elif build[option]["kind"].value == facts["kind"]:
            put(build[option], facts, "inferred")


def fill(build: Build) -> Build:
    """The widths that a kind implies where nobody told them."""
    for record in build.values():
        if record["kind"].value in ("int", "uint", "double"):
            put(record, {"bits": 64}, "inferred")
    return build


def asked(name: str) -> Build:
    """A server that stood at hand to be asked."""
    build = help_build("servers", name)
    add_variables(build, name)
    running.add_running(build, name)
    add_declared(build, name)
    add_printed(build, "servers", name)
    return fill(build)


def printed(name: str, build_name: str) -> Build:
    """A build of which only the printed help is known."""
    build = help_build("others", name)
    add_declared(build, build_name)
    add_printed(build, "others", name)
    return fill(build)


def of_version(name: str) -> Version:
    """The version in a build's name."""
    return version(name.split("-")[1])
