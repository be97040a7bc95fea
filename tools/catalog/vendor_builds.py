"""The options of Percona Server, Percona XtraDB Cluster and MySQL Enterprise: differences from the series of MySQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from builds import Record, number
from fact import Fact
from tables import Row, Version, read, version

Options = dict[str, dict[str, Any]]
# Percona XtraDB Cluster is Percona Server with replication by Galera: it has all options of both tables.
TABLES = {"percona": ("percona.tsv",), "pxc": ("percona.tsv", "pxc.tsv"), "enterprise": ("enterprise.tsv",)}
LACKS = "-"  # instead of an argument: the build does not have this option of MySQL
TEXTS = ("arg", "kind", "scope", "plugin")
# The first source in a row is the one of the default, the last the one of the other facts.
BY_ONE_SOURCE = {"recorded": "inferred"}


def catalogs() -> dict[str, tuple[str, Version, dict[str, Row]]]:
    """For each catalog of a build its MySQL catalog, the number of the series, and the rows by option."""
    return {
        f"{build}-{series}": (f"mysql-{series}", version(series), rows(build, series))
        for build, tables in TABLES.items()
        for series in sorted({row["series"].rpartition("-")[2] for table in tables for row in read("builds", table)})
    }


def rows(build: str, series: str) -> dict[str, Row]:
    """The rows of a build's series, by option; a later table replaces the rows of an earlier one."""
    found = [row for table in TABLES[build] for row in read("builds", table)]
    return {row["option"]: row for row in found if row["series"].endswith(f"-{series}")}


def differences(
    rows_of_build: dict[str, Row], base: Options, entry: Callable[[str, Record], dict[str, Any]]
) -> dict[str, dict[str, Any] | None]:
    """The options that differ from `base`, as catalog records: None for an option that the build lacks."""
    records: dict[str, dict[str, Any] | None] = {}
    for option, row in rows_of_build.items():
        if row["arg"] == LACKS:
            records[option] = None
        elif not row["arg"]:
            records[option] = changed_record(base[option], record(row))
        else:
            records[option] = entry(option, record(row) | {"variable": Fact(variable(row), source(row))})
    return {
        option: value for option, value in records.items() if value != base.get(option) and (value or option in base)
    }


def record(row: Row) -> Record:
    """The facts in a row, each with its source; empty cells are unknown."""
    facts: dict[str, object] = {field: row[field] for field in TEXTS if row[field]}
    facts |= {field: limit for field in ("min", "max") if (limit := number(row[field])) is not None}
    facts |= {field: int(row[field]) for field in ("bits", "block") if row[field]}
    if row["values"]:
        facts["values"] = row["values"].split("|")
    if row["dynamic"]:
        facts["dynamic"] = row["dynamic"] == "yes"
    if row["kind"] == "flag":
        facts["shown"] = False
    sourced = {field: Fact(value, source(row)) for field, value in facts.items()}
    for field in ("since", "gone"):
        if row[field]:
            sourced[field] = Fact(row[field], "documented" if field == "gone" else "inferred")
    if row["default"] or (row["kind"] == "string" and not row["plugin"] and row["by"].startswith("recorded")):
        sourced["default"] = Fact(row["default"], row["by"].split()[0])
    return sourced


def source(row: Row) -> str:
    """The source of the facts in a row other than its default."""
    last = row["by"].split()[-1]
    return BY_ONE_SOURCE.get(last, last)


def variable(row: Row) -> str | None:
    """The system variable of the option; None for the states of plugins and for what is an option only."""
    only_option = row["option"].startswith("utility_user") or row["option"] == "coredumper" or row["kind"] == "flag"
    return None if only_option or row["plugin"].removeprefix("ha_") == row["option"] else row["option"]


def changed_record(was: dict[str, Any], facts: Record) -> dict[str, Any]:
    """A record of MySQL with some facts of the build."""
    by = {name: " ".join(f for f in fields.split() if f not in facts) for name, fields in was.get("by", {}).items()}
    for field, fact in facts.items():
        by[fact.source] = f"{by.get(fact.source, '')} {field}".strip()
    kept = {name: fields for name, fields in sorted(by.items()) if fields}
    return was | {field: fact.value for field, fact in facts.items()} | {"by": kept}
