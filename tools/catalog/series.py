"""Which builds tell of which series, and how the two series that no server stands for are concluded from their neighbours."""

from __future__ import annotations

from collections.abc import Callable

import builds
import history
from builds import Build
from fact import Fact
from tables import Version, canonical, read

Merged = dict[str, tuple[builds.Record, list[tuple[Version, builds.Record]]]]

RUNNING_97 = {canonical(r["option"]) for r in read("servers", "mysql-9.7.4", "options.tsv")}
# Options that only the servers' own test plugins add.
TEST_PLUGINS = ("example", "null_audit", "simple_parser", "test_", "mock", "rewrite_example", "replication_observers")


def mysql_57() -> Merged:
    """5.7.22 asked, 5.7.33 printed."""
    return history.merge({
        (5, 7, 22): builds.asked("mysql-5.7.22"),
        (5, 7, 33): builds.printed("mysql-5.7.33", "mysql-5.7.33"),
    })


def mysql_80() -> Merged:
    """8.0.15 asked; 8.0.11 and 8.0.23 printed; 8.0.43 printed in part, and declared."""
    merged = history.merge({
        (8, 0, 11): builds.printed("mysql-8.0.11", "mysql-8.0.11"),
        (8, 0, 15): builds.asked("mysql-8.0.15"),
        (8, 0, 23): builds.printed("mysql-8.0.23", "mysql-8.0.23"),
        (8, 0, 43): with_declared(builds.printed("mysql-8.0.43", "mysql-8.0.43"), "mysql-8.0.43"),
    })
    newer = mysql_97()
    for option, (record, before) in merged.items():
        if "arg" not in record and option in newer:
            merged[option] = (history.complete([record, weaken(newer[option][0])]), before)
    return {o: (r, b) for o, (r, b) in merged.items() if "arg" in r}


def mysql_84() -> Merged:
    """No server at hand: a fork's printed options less its own, completed from 8.0.43 and 9.7.4."""
    older, newer = mysql_80(), mysql_97()
    fork = with_declared(builds.printed("mysql-8.4.8-shannon", "mysql-8.4.8"), "mysql-8.4.8-shannon")
    known = {o for o in fork if o in older or o in newer or o in history.EVENTS}
    base: Build = {o: fork[o] for o in known if not test_plugin(o)}
    for option in sorted(older.keys() | newer.keys()):
        if option not in base and in_84(option, option in older, option in newer):
            record = (older.get(option) or newer[option])[0]
            base[option] = {f: Fact(v, "inferred" if s == "asked" else s) for f, (v, s) in record.items()}
    for option, record in base.items():
        near = newer.get(option) or older.get(option)
        if near:
            weak = {f: Fact(v, "inferred" if s == "asked" else s) for f, (v, s) in near[0].items()}
            base[option] = history.complete([weaken(record), weak])
    return {o: (record, []) for o, record in sorted(base.items())}


def in_84(option: str, older: bool, newer: bool) -> bool:
    """Whether 8.4 has an option that the fork's tests don't print: both neighbours do, or the changes between them say so."""
    if older and newer:
        return True
    if older:
        return any(v > (8, 4, 8) for v in history.documented(option, "removed"))
    return any(v <= (8, 4, 8) for v in history.documented(option, "introduced"))


def weaken(record: builds.Record) -> builds.Record:
    """What a fork printed is not what the server itself was asked."""
    return {f: Fact(v, "inferred" if s == "asked" else s) for f, (v, s) in record.items()}


def mysql_97() -> Merged:
    """9.7.4 asked."""
    return history.merge({(9, 7, 4): builds.asked("mysql-9.7.4")})


def mariadb_106() -> Merged:
    """No server at hand: lies between 10.4.12, printed in part, and 10.11.19, asked."""
    older = builds.printed("mariadb-10.4.12", "mariadb-10.4.12")
    newer = mariadb("mariadb-10.11.19")
    found: Merged = {}
    for option in sorted(older.keys() | newer.keys()):
        if test_plugin(option):
            continue
        record = newer[option][0] if option in newer else older[option]
        found[option] = (weaken(record), [])
    return found


def mariadb(name: str) -> Merged:
    """A MariaDB server that was asked; 10.11 also knows the options of 24 plugins."""
    build = builds.asked(name)
    if name == "mariadb-10.11.19":
        build = builds.printed("mariadb-10.11.19-allplugins", name) | build
    return history.merge({builds.of_version(name): build})


def with_declared(build: Build, source: str) -> Build:
    """A build that was printed in part, with the options that its source declares beside."""
    for row in read("declared", f"{source}.tsv"):
        option = row["name"].lower()
        hidden = "cmdline" in row["flags"].split() or row["file"] == "ha_innodb.cc"
        unlisted = option.startswith(("innodb_", "performance_schema_", "ssl_", "admin_ssl_"))
        if option in build or not hidden or not unlisted or row["type"] == "var_deprecated_alias":
            continue
        facts = builds.declared_facts(row)
        if "kind" in facts and released(option):
            build[option] = {f: Fact(v, "declared") for f, v in facts.items()}
    return build


def released(option: str) -> bool:
    """Whether a released build or the list of changes knows it; sources also declare what only debug builds have."""
    runs = history.PRESENCE.get((option, "mysql"), [])
    return any(last >= (8, 0, 11) for _, last in runs) or option in RUNNING_97 or option in history.EVENTS


def test_plugin(option: str) -> bool:
    """Whether only a plugin of the servers' own tests has it."""
    return option.startswith(TEST_PLUGINS)


SERIES: dict[str, tuple[Version, Callable[[], Merged]]] = {
    "mysql-5.7": ((5, 7), mysql_57),
    "mysql-8.0": ((8, 0), mysql_80),
    "mysql-8.4": ((8, 4), mysql_84),
    "mysql-9.7": ((9, 7), mysql_97),
    "mariadb-10.6": ((10, 6), mariadb_106),
    "mariadb-10.11": ((10, 11), lambda: mariadb("mariadb-10.11.19")),
    "mariadb-11.4": ((11, 4), lambda: mariadb("mariadb-11.4.5")),
    "mariadb-11.8": ((11, 8), lambda: mariadb("mariadb-11.8.9")),
}
