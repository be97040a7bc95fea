"""Combine builds to series, and infer the series without a server from their neighbors."""

from __future__ import annotations

from collections.abc import Callable

import builds
import history
import kinds
import manuals
from builds import Build
from fact import Fact
from tables import Row, Version, canonical, read

SUCCESSORS = {e["value"] for events in history.EVENTS.values() for e in events if e["event"] == "replaced"}
Merged = dict[str, tuple[builds.Record, list[tuple[Version, builds.Record]]]]

RUNNING_97 = {canonical(r["option"]) for r in read("servers", "mysql-9.7.4", "options.tsv")}
# Defaults that depend on the number of errors or statements in a version, so that they change with every patch.
COUNTED = ("performance_schema_error_size", "performance_schema_max_statement_classes")
# Facts of 9.7 that are used for options of 8.0 if they are unknown there: those that came after 8.0.15, the only
# server of the series that was asked.
LENT = ("values", "scope", "alias_of", "variable", "dynamic")
# By the manual, the variables of the TLS context can be set at run time since 8.0.16 (ALTER INSTANCE RELOAD TLS).
RELOADED = ("ssl_ca", "ssl_capath", "ssl_cert", "ssl_cipher", "ssl_crl", "ssl_crlpath", "ssl_key", "tls_version")
# On the command line of the test that records the help, or derived from its folders.
GIVEN_BY_TESTS = {"lower_case_table_names", "relay_log", "symbolic_links", "log_error", "log_error_verbosity", "initialize",
                  "initialize_insecure", "skip_grant_tables", "log_bin", "log_replica_updates", "log_slave_updates"}  # fmt: skip
# What the help of 10.6.0 and of 10.9 print alike, so that 10.6 printed it too.
RECORDED_106 = "mariadb-10.6.0-10.9"
# Options that only exist in the servers' own test plugins.
TEST_PLUGINS = ("example", "null_audit", "simple_parser", "test_", "mock", "rewrite_example", "replication_observers")


def mysql_57() -> Merged:
    """5.7.22 queried, 5.7.33 from its printed help; documented changes up to the last patch."""
    return history.merge(
        {
            (5, 7, 22): builds.asked_build("mysql-5.7.22"),
            (5, 7, 33): builds.printed_build("mysql-5.7.33", "mysql-5.7.33"),
        }
    )


def mysql_80() -> Merged:
    """8.0.15 queried, 8.0.11 and 8.0.23 from printed help, 8.0.43 from recorded help and declarations.

    The help of 8.0.43 was recorded by its tests, which print only part of it.
    """
    full = builds.printed_build("mysql-8.0.23", "mysql-8.0.23")
    merged = history.merge(
        {
            (8, 0, 11): builds.printed_build("mysql-8.0.11", "mysql-8.0.11"),
            (8, 0, 15): builds.asked_build("mysql-8.0.15"),
            (8, 0, 23): full,
            (8, 0, 43): after_full(
                full,
                with_declared(builds.printed_build("mysql-8.0.43", "mysql-8.0.43"), "mysql-8.0.43"),
                (8, 0, 23),
                (8, 0, 43),
            ),
        }
    )
    no_variable = dict.fromkeys(("dynamic", "scope", "variable"), Fact(None, "documented"))
    # Options alone until then, by the manual and 8.0.15.
    merged["log_raw"][1].append(((8, 0, 19), no_variable))
    merged["skip_slave_start"][1].append(((8, 0, 24), no_variable))
    for option in RELOADED:
        record, before = merged[option]
        changed = before.pop()[1] if before and before[-1][0] == (8, 0, 16) else {}
        before.append(((8, 0, 16), changed | {"dynamic": record["dynamic"]}))
        record["dynamic"] = Fact(True, "documented")
    newer = mysql_97()
    for option, (record, before) in merged.items():
        if option in newer:
            lacking = LENT if "default" in record else (*LENT, "default")
            if not history.had(option, "mysql", (8, 0, 15)) and history.same_default(record, newer[option][0]):
                lacking = (*lacking, "running")
            lent = {f: v for f, v in weaken(newer[option][0]).items() if "arg" not in record or f in lacking}
            merged[option] = (history.complete([lent | record]), before)
    for option in newer.keys() - merged.keys():
        came = history.documented_versions(option, "introduced")
        if came and (8, 0, 23) < came[0] <= (8, 0, 43):
            record = history.with_documented_default(option, weaken(newer[option][0]), (8, 0, 23), (8, 0, 43))
            merged[option] = (record, [])
    return {o: (r, b) for o, (r, b) in merged.items() if "arg" in r}


def after_full(full: Build, build: Build, at: Version, upto: Version) -> Build:
    """A build printed by the servers' tests, completed from a full build.

    The tests mask values and set options, so known options keep the full build's facts. Documented changes since then
    are applied.
    """
    completed: Build = {}
    for option, record in build.items():
        if option in full:
            record = {f: v for f, v in record.items() if f not in ("default", "arg", "shown")} | {  # noqa: PLW2901
                f: full[option][f] for f in ("default", "arg", "shown")
            }
            if record["kind"].value == "enum" and full[option]["kind"].value == "bool" and option in RUNNING_97:
                record["arg"] = Fact("optional", "declared")  # a boolean that became an enumeration
            if option in COUNTED:
                record["default"] = Fact(None, "declared")
            completed[option] = history.with_documented_default(option, record, at, upto)
        elif option in RUNNING_97 or option in history.EVENTS or option in SUCCESSORS:
            masked = "#" in str(record["default"].value) if "default" in record else False
            completed[option] = record | ({"default": Fact(None, "inferred")} if masked else {})
            if option in GIVEN_BY_TESTS:
                completed[option] = {f: v for f, v in record.items() if f != "default"}
    for option in full.keys() - build.keys():
        completed[option] = history.with_documented_default(option, full[option], at, upto)
    return completed


def mysql_84() -> Merged:
    """No server available: from the help of a fork of 8.4.8 and its source, then from 9.7.4 and 8.0.43.

    The fork's own names are left out. The recording masks InnoDB and Performance Schema, for which the source is used.
    """
    older, newer = mysql_80(), mysql_97()
    fork = with_declared(recorded_build("mysql-8.4.8-shannon", "mysql-8.4.8"), "mysql-8.4.8-shannon")
    names = {o for o in fork if o in older or o in newer or o in history.EVENTS}
    names |= {o for o in older.keys() | newer.keys() if in_84(o, o in older, o in newer)}
    merged: Merged = {}
    for option in sorted(n for n in names if not test_plugin(n)):
        moved = history.documented_default(option, (8, 4, 8), (9, 7, 4))
        near = [m[option][0] for m in ((older, newer) if moved else (newer, older)) if option in m]
        own = fork.get(option, {})
        if near:  # a recorded help prints a boolean's argument as none
            own = {f: v for f, v in own.items() if v.source == "declared" or (f, v.source) == ("default", "recorded")}
        record = history.complete([own, *[weaken(r) for r in near]])
        if moved and "default" not in own:
            after = (8, 0, 43) if option in older else (0,)
            record = history.with_documented_default(option, record, after, (8, 4, 8))
        if "arg" in record:
            merged[option] = (record, [])
    return merged


def recorded_build(folder: str, name: str) -> Build:
    """A build whose help was recorded by the servers' own tests; values that they mask or set are not defaults."""
    build = builds.printed_build(folder, name)
    for option, record in build.items():
        build[option] = {f: Fact(v, "recorded" if s == "asked" else s) for f, (v, s) in record.items()}
        if option in GIVEN_BY_TESTS or "#" in str(record["default"].value) or option in COUNTED:
            del build[option]["default"]
    return build


def in_84(option: str, older: bool, newer: bool) -> bool:
    """Whether 8.4 has an option that the fork's tests do not print.

    It does if both neighbors have it, or documented changes say so.
    """
    if older and newer:
        return True
    if older:
        return any(v > (8, 4, 8) for v in history.documented_versions(option, "removed"))
    return any(v <= (8, 4, 8) for v in history.documented_versions(option, "introduced"))


def weaken(record: builds.Record) -> builds.Record:
    """Mark a fork's printed facts as inferred, because they are not the server's own."""
    return {f: Fact(v, "inferred" if s == "asked" else s) for f, (v, s) in record.items()}


def mysql_97() -> Merged:
    """9.7.4 queried."""
    return history.merge({(9, 7, 4): builds.asked_build("mysql-9.7.4")})


def mariadb_106() -> Merged:
    """No server available: 10.11.19 without later additions, and 10.4.12 without options removed before 10.6.

    Documented facts of 10.6 replace those of 10.11; options known only from the documentation are added. Defaults that
    the recorded help of 10.6.0 and of 10.9 confirm are marked so.
    """
    others = facts_of_106()
    recorded = {canonical(r["option"]): r["value"] for r in read("others", RECORDED_106, "help-values.tsv")}
    older = builds.printed_build("mariadb-10.4.12", "mariadb-10.4.12")
    newer = mariadb("mariadb-10.11.19")
    merged: Merged = {}
    for option in sorted(older.keys() | newer.keys()):
        came = history.documented_versions(option, "introduced", "mariadb")
        went = history.documented_versions(option, "removed", "mariadb")
        late = bool(came) and min(came)[:2] > (10, 6)
        if option not in older and late:
            continue
        if option not in newer and went and went[0][:2] <= (10, 6):
            continue
        record = newer[option][0] if option in newer else older[option]
        record = with_recorded(weaken(record), recorded.get(option))
        merged[option] = (with_documented(record, others.get(option, {})), [])
    for option, record in only_documented().items():
        merged.setdefault(option, (record, []))
    return merged


def with_recorded(record: builds.Record, value: str | None) -> builds.Record:
    """The record with its default as recorded, if the recorded help prints the same one."""
    default = record.get("default")
    if value is None or default is None or default.value != value:
        return record
    return record | {"default": Fact(value, "recorded")}


def only_documented() -> Build:
    """Options removed between 10.6 and 10.11 according to the documentation; no queried build has them."""
    removed: Build = {}
    documented = manuals.mariadb((10, 6, 24))
    for option in sorted({name for name, fact in documented if fact == "arg"}):
        went = history.documented_versions(option, "removed", "mariadb")
        if went and (10, 6) < went[0][:2] <= (10, 11) and (option, "kind") in documented:
            facts = {f: documented[option, f] for f in ("arg", "kind", "default") if (option, f) in documented}
            if facts["kind"] == "bool":
                facts["default"] = {"ON": "TRUE", "OFF": "FALSE"}.get(facts.get("default", ""), "FALSE")
            record = {f: Fact(value, "documented") for f, value in facts.items()}
            removed |= builds.fill({option: record | {"variable": Fact(option, "documented")}})
    return removed


def facts_of_106() -> dict[str, builds.Record]:
    """Documented facts of 10.6 that differ from 10.11; None for unknown facts if 10.4.12 differs."""
    facts: dict[str, builds.Record] = {}
    for row in read("changes", "mariadb-10.6.tsv"):
        value = FACT_OF_TEXT.get(row["fact"], str)(row["value"]) if row["value"] else None
        facts.setdefault(row["option"], {})[row["fact"]] = Fact(value, "documented")
    return facts


def with_documented(record: builds.Record, others: builds.Record) -> builds.Record:
    """A record with documented facts; the running value of a server with another default is left out."""
    kept = {f: fact for f, fact in record.items() if f != "running" or "default" not in others}
    return {**kept, **others}


def mariadb(name: str) -> Merged:
    """A queried MariaDB server; missing facts about 24 plugins are taken from a 10.11 that had them loaded."""
    build = builds.asked_build(name)
    loaded = builds.printed_build("mariadb-10.11.19-allplugins", "mariadb-10.11.19")
    bare = {canonical(r["option"]) for r in read("servers", "mariadb-10.11.19", "options.tsv")}
    for option in loaded.keys() - bare - build.keys():
        build[option] = loaded[option] if name == "mariadb-10.11.19" else weaken(loaded[option])
    return history.merge({builds.of_version(name): build})


def mariadb_123() -> Merged:
    """No server available: 11.8.9 without what 12.0 to 12.3 removed, and with what they added or changed.

    The documentation tells the changes; the help that the tests of 13.1 recorded confirms them, and tells the
    arguments. The facts that it alone tells are inferred, because they are another series' own.
    """
    changes = facts_of_123()
    merged: Merged = {}
    for option, (record, _) in mariadb("mariadb-11.8.9").items():
        went = history.documented_versions(option, "removed", "mariadb")
        if not went or not (11, 8) < went[0][:2] <= (12, 3):
            merged[option] = (with_documented(weaken(record), changes.pop(option, {})), [])
    for option, record in changes.items():
        merged[option] = (builds.fill({option: record})[option], [])
    return merged


def facts_of_123() -> Build:
    """What MariaDB 12.0 to 12.3 added or changed since 11.8; None for an unknown fact that 11.8's does not stand for."""
    facts: Build = {}
    for row in read("changes", "mariadb-12.3.tsv"):
        value = FACT_OF_TEXT.get(row["fact"], str)(row["value"]) if row["value"] != "unknown" else None
        source = row["source"] if row["source"] == "documented" else "inferred"
        facts.setdefault(row["option"], {})[row["fact"]] = Fact(value, source)
    return facts


def with_declared(build: Build, source: str) -> Build:
    """A partly printed build with further options that its source declares."""
    for row in read("declared", f"{source}.tsv"):
        option = row["name"].lower()
        hidden = "cmdline" in row["flags"].split() or row["file"] == "ha_innodb.cc"
        unlisted = option.startswith(("innodb_", "performance_schema_", "ssl_", "admin_ssl_"))
        if option in build or not hidden or not unlisted or row["type"] == "var_deprecated_alias":
            continue
        facts = builds.declared_facts(row) | literal_default(row)
        if "kind" in facts and is_released(option):
            build[option] = {f: Fact(v, "declared") for f, v in facts.items()}
    return build


def literal_default(row: Row) -> dict[str, object]:
    """The default declared in a source, in the help's notation, if it is a literal boolean or number."""
    kind, value = kinds.declared_kind(row).get("kind"), row["default"]
    if kind == "bool" and value.upper() in ("TRUE", "FALSE"):
        return {"default": value.upper()}
    return {"default": value} if kind in ("int", "uint") and value.isdigit() else {}


def is_released(option: str) -> bool:
    """Whether a released build or the list of changes has it; sources also declare options of debug builds."""
    runs = history.PRESENCE.get((option, "mysql"), [])
    return any(last >= (8, 0, 23) for _, last in runs) or option in RUNNING_97 or option in history.EVENTS


def test_plugin(option: str) -> bool:
    """Whether only a plugin of the servers' own tests has it."""
    return option.startswith(TEST_PLUGINS)


FACT_OF_TEXT: dict[str, Callable[[str], object]] = {
    "min": int,
    "max": int,
    "bits": int,
    "block": int,
    "dynamic": "true".__eq__,
    "values": lambda text: text.split(","),
}
SERIES: dict[str, tuple[Version, Callable[[], Merged]]] = {
    "mysql-5.7": ((5, 7), mysql_57),
    "mysql-8.0": ((8, 0), mysql_80),
    "mysql-8.4": ((8, 4), mysql_84),
    "mysql-9.7": ((9, 7), mysql_97),
    "mariadb-10.6": ((10, 6), mariadb_106),
    "mariadb-10.11": ((10, 11), lambda: mariadb("mariadb-10.11.19")),
    "mariadb-11.4": ((11, 4), lambda: mariadb("mariadb-11.4.5")),
    "mariadb-11.8": ((11, 8), lambda: mariadb("mariadb-11.8.9")),
    "mariadb-12.3": ((12, 3), mariadb_123),
}
