"""The facts about one build, option by option, each with its source.

A build is one server version. `asked` facts were reported by the running binary, `declared` ones are in source code,
`documented` ones in a list of changes, `inferred` ones were concluded.
"""

from __future__ import annotations

import re
import struct

import kinds
import running
from fact import Fact
from tables import Row, Version, canonical, read, version

Record = dict[str, Fact]
Build = dict[str, Record]

# The maximum of these is limited by the queried host, or follows another option.
LIMITED = {"back_log", "port", "max_connections", "table_open_cache", "open_files_limit", "lower_case_table_names",
           "query_cache_size", "table_definition_cache", "table_cache", "host_cache_size", "thread_cache_size", "thread_pool_size"}  # fmt: skip
# … and for these only the maximum is.
LIMITED_ABOVE = {"table_definition_cache"}
# Above this, the limit of a decimal is not a number but the bits of one.
BITS_OF_ONE, LARGEST_EXACT = 1 << 61, 1 << 53
REPLACED = {row["name"] for row in read("changes", "events.tsv") if row["event"] == "replaced"}
# The first is not a variable, so its range is unknown.
SPELLINGS = {"table_cache": "table_open_cache"}
# How variables of plugins and InnoDB declare their arguments; the server's own have an optional one.
PLUGIN_ARGUMENTS = {"NOCMDARG": "none", "RQCMDARG": "required"}
# Declared like variables, but only options: no queried MySQL has variables of these names.
OPTIONS_ALONE = ("performance_schema_consumer_", "performance_schema_instrument", "validate_user_plugins")
# Sources that declare the kinds for a queried server without such tables, nearest first.
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
    """Add the facts that are not known yet: earlier sources take precedence."""
    for field, value in facts.items():
        record.setdefault(field, Fact(value, source))


def help_build(folder: str, name: str) -> Build:
    """Facts from `--verbose --help`: options, their arguments and, without an option file, their values."""
    values = {canonical(r["option"]): r["value"] for r in read(folder, name, "help-values.tsv")}
    build: Build = {}
    for row in read(folder, name, "options.tsv"):
        option = canonical(row["option"])
        facts: dict[str, object] = {"arg": row["argument"], "default": values.get(option), "shown": option in values}
        put(build.setdefault(option, {}), facts, "asked")
    return build


def add_probes(build: Build, name: str) -> None:
    """Add the results of setting values, which show how the server parses the option itself."""
    for row in read("servers", name, "probes.tsv"):
        record = build[row["option"]]
        if row["kind"]:
            record["kind"] = Fact(row["kind"], "asked")
        if row["arg"] and record["arg"].value == "none":
            record["arg"] = Fact(row["arg"], "asked")
        elif row["kind"] not in ("", "bool") and record["arg"].value == "none":
            record["arg"] = Fact("optional", "asked")  # listed without an argument, but accepts one
        if row["kind"] == "double":  # MySQL 8.0 reports the range of a decimal as the bits of an integer
            record |= {f: Fact(n, "asked") for f in ("min", "max") if (n := number(row[f])) is not None}
            record |= {f: Fact(decimal(record[f].value), record[f].source) for f in ("min", "max") if f in record}
        put(record, probed_facts(row), "asked")


def decimal(limit: object) -> object:
    """Convert a limit reported as the bits of a decimal number; numbers of ordinary size are returned unchanged."""
    if not isinstance(limit, int) or limit <= BITS_OF_ONE:
        return limit
    number = float(struct.unpack("<d", struct.pack("<q", limit))[0])
    return int(number) if number.is_integer() and number < LARGEST_EXACT else number


def probed_facts(row: Row) -> dict[str, object]:
    """The remaining facts in a row of probes.tsv."""
    facts: dict[str, object] = {}
    if row["kind"] in ("int", "uint", "double") and row["option"] not in LIMITED:
        facts |= {f: n for f in ("min", "max") if (n := number(row[f])) is not None}
        facts |= {"bits": int(row["bits"])} if row.get("bits") else {}
    elif row["option"] in LIMITED_ABOVE and (least := number(row["min"])) is not None:
        facts["min"] = least
    if row["kind"] in ("int", "uint") and row["block"] not in ("", "1"):
        facts["block"] = number(row["block"])
    if row["values"]:
        facts["values"] = row["values"].split("|")
    return facts | remarks(row)


def remarks(row: Row) -> dict[str, object]:
    """Facts from warnings: ignored, deprecated, replaced; and whether the value depends on the host."""
    facts: dict[str, object] = {f: True for f in ("ignored", "host") if row.get(f)}
    if row["deprecated"]:
        facts["warned"] = True
    return facts | ({"replaced_by": row["replaced_by"]} if row["replaced_by"] else {})


def add_hidden(build: Build, name: str) -> None:
    """Add options that the server accepts without listing them."""
    for row in read("servers", name, "hidden.tsv"):
        record = build.setdefault(row["option"], {})
        put(record, {"arg": row["arg"], "default": None, "shown": False, **remarks(row)}, "asked")
        put(record, {"kind": "flag" if row["arg"] == "none" else "string"}, "inferred")


def add_plugins(build: Build, name: str) -> None:
    """Add options of plugins, queried with each plugin loaded."""
    for row in read("servers", name, "plugin-options.tsv"):
        record = build.setdefault(row["option"], {})
        arg = row["arg"] if row["kind"] == "bool" and row["argument"] == "none" and row["arg"] else row["argument"]
        put(record, {"arg": arg, "default": row["default"], "shown": True, "plugin": row["plugin"]}, "asked")
        put(record, ({"kind": row["kind"]} if row["kind"] else {}) | probed_facts(row), "asked")
        shape = {"argument": row["argument"], "placeholder": "#" if row["min"] else "name"}
        put(record, {f: v for f, v in kinds.printed_kind(shape, row["default"]).items() if f not in record}, "inferred")


def add_variables(build: Build, name: str) -> None:
    """Add facts that the running server reported about its variables: kind, range, members, scope, dynamic."""
    rows = {canonical(r["variable_name"]): r for r in read("servers", name, "variable-metadata.tsv")}
    settable = {canonical(r["variable_name"]): r for r in read("servers", name, "dynamic.tsv")}
    running = {canonical(r["variable_name"]) for r in read("servers", name, "global-variables.tsv")} | rows.keys()
    running |= settable.keys()  # those of X Plugin, which the list of values was taken without
    for option, record in build.items():
        if option in running:
            put(record, {"variable": option}, "asked")
        row = rows.get(option)
        if option in settable:  # first: MariaDB reports tcp_nodelay as if it were global too
            put(record, told_scope(settable[option]), "asked")
        if row:
            put(record, kinds.reported_kind(row) | told_range(row) | told_scope(row), "asked")


def told_range(row: Row) -> dict[str, object]:
    """Minimum, maximum and block size of a number, members of an enumeration or set, as the server reports them."""
    low, high = (
        row.get("min_value") or row.get("numeric_min_value"),
        row.get("max_value") or row.get("numeric_max_value"),
    )
    facts: dict[str, object] = {}
    if low and high and low != "NULL" and (low, high) != ("0", "0"):
        facts |= {"min": number(low), "max": number(high)}
    if (block := row.get("numeric_block_size", "NULL")) not in ("NULL", "0", "1"):
        facts["block"] = number(block)
    if (members := row.get("enum_value_list", "NULL")) != "NULL" and row["variable_type"] != "BOOLEAN":
        facts["values"] = members.split(",")
    return facts


def told_scope(row: Row) -> dict[str, object]:
    """Scope and whether the variable is dynamic, if the server reports it (MariaDB both, MySQL 9.7 the scope)."""
    scope = {"GLOBAL": "global", "SESSION": "both", "SESSION ONLY": "session"}.get(row.get("variable_scope", ""))
    found: dict[str, object] = {"scope": scope} if scope else {}
    return found | ({"dynamic": row["read_only"] == "NO"} if row.get("read_only") else {})


def number(text: str) -> int | float | None:
    """A number in a table; None for an expression."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d+\.\d*(e[+-]?\d+)?", text) else None


def add_declared(build: Build, name: str) -> None:
    """Add facts that the nearest sources declare: kind, range, block size, dynamic."""
    for declaration in DECLARED_FOR.get(name, ()):
        rows = {canonical(r["name"]): r for r in read("declared", f"{declaration}.tsv")}
        for option, record in build.items():
            if (row := rows.get(option)) and row["type"] != "var_deprecated_alias":
                put(record, declared_facts(row), "declared")


def is_variable(row: Row) -> bool:
    """Whether the declaration is of a variable, not of an option alone."""
    return "NOSYSVAR" not in row["flags"] and not row["name"].startswith(OPTIONS_ALONE)


def declared_facts(row: Row) -> dict[str, object]:
    """The facts of one declaration; expressions that are not plain numbers are ignored."""
    facts = kinds.declared_kind(row)
    if is_variable(row):
        facts |= {"variable": row["name"], "dynamic": row["change"] == "dynamic"}
    if facts.get("kind") in ("int", "uint", "double"):
        facts |= {
            f: n for f in ("min", "max") if (n := number(row[f])) is not None and (f, n) != ("max", 0)
        }  # 0 means no limit
        if (block := number(row["block"])) not in (None, 0, 1):
            facts["block"] = block
    return facts


def add_printed(build: Build, folder: str, name: str) -> None:
    """Add the kinds that can be concluded from the columns of the help; used last."""
    for row in read(folder, name, "options.tsv"):
        option = canonical(row["option"])
        default = build[option]["default"].value
        facts = kinds.printed_kind(row, default if isinstance(default, str) else None)
        if facts["kind"] == "bool" and folder == "others" and row["argument"] == "none":
            build[option]["kind"] = Fact("bool", "asked")  # it takes no argument and prints TRUE or FALSE
        if "kind" not in build[option] or build[option]["kind"].value == facts["kind"]:
            put(build[option], facts, "inferred")


def fill(build: Build) -> Build:
    """Add what a kind implies if it is still unknown: the width, and the names in a list of switches."""
    for record in build.values():
        default = record["default"].value if "default" in record else None
        # A started server prints every switch, the help none after the last one that is on.
        switches = str(record["running"].value if "running" in record else default)
        if re.fullmatch(r"(\w+=(on|off|default),?)+", switches):
            names = [part.split("=")[0] for part in switches.strip(",").split(",")]
            record |= {"kind": Fact("flagset", "asked"), "values": Fact(names, "asked")}
        if record["kind"].value in ("int", "uint", "double"):
            put(record, {"bits": 64}, "inferred")
        if is_switch(record):
            record["kind"] = Fact("flag", record["kind"].source)
    return build


def is_switch(record: Record) -> bool:
    """Whether the option can only be present or absent, such as core-file.

    The help lists it without an argument and without a value.
    """
    lists = "shown" in record and not record["shown"].value and record["shown"].source == "asked"
    return lists and (record["arg"].value, record["kind"].value) == ("none", "bool")


def asked_build(name: str) -> Build:
    """The build of a server that was available for queries."""
    build = help_build("servers", name)
    add_variables(build, name)
    add_probes(build, name)
    add_hidden(build, name)
    add_plugins(build, name)
    add_maximum(build, name)
    add_spellings(build, name)
    running.add_running(build, name)
    add_declared(build, name)
    add_printed(build, "servers", name)
    return fill(build)


def add_maximum(build: Build, name: str) -> None:
    """Add the effect of the prefix maximum-: it sets the option, leaves it, or also limits it.

    Without a row it is rejected.
    """
    for row in read("servers", name, "maximum.tsv"):
        if row["option"] in build:
            put(build[row["option"]], {"maximum": row["maximum"]}, "asked")


def add_spellings(build: Build, name: str) -> None:
    """Add aliases: two options are names of one variable if each, set alone, changes the other."""
    rows = read("servers", name, "effects.tsv")
    moves = {(r["option"], r["other"]) for r in rows}
    for option, other in sorted(moves):
        same = (other, option) in moves and build[option]["kind"].value == build[other]["kind"].value
        if (same or SPELLINGS.get(option) == other) and lesser(build[option], option) > lesser(build[other], other):
            put(build[option], {"alias_of": other}, "asked")
            if SPELLINGS.get(option) == other:
                build[option] |= {f: build[other][f] for f in ("kind", "bits", "min", "max") if f in build[other]}


def lesser(record: Record, option: str) -> tuple[bool, bool, bool, str]:
    """Sort key for two names of one variable; the preferred name comes first."""
    return (
        "warned" in record or option in REPLACED,
        "variable" not in record,
        bool(re.search("slave|master", option)),
        option,
    )


def printed_build(name: str, build_name: str) -> Build:
    """A build of which only the printed help is known."""
    build = help_build("others", name)
    add_declared(build, build_name)
    add_printed(build, "others", name)
    add_bool_arguments(build, build_name)
    return fill(build)


def add_bool_arguments(build: Build, name: str) -> None:
    """Set whether booleans take an argument.

    The help lists all without one, so a queried build or the sources decide. Options printed without a value are
    switches. If the sources declare another kind, the option used to be a boolean.
    """
    takes: dict[str, str | None] = {}
    for source in DECLARED_FOR.get(name, ()):
        takes = declared_arguments(source) | takes
    for option, record in build.items():
        arg = takes.get(option, "none")
        if arg and record["kind"].value == "bool" and record["arg"].value == "none" and record["shown"].value:
            record["arg"] = Fact(arg, "inferred")


def declared_arguments(source: str) -> dict[str, str | None]:
    """The arguments of the booleans in a source, by option; None for options that are not booleans."""
    arguments: dict[str, str | None] = {}
    for row in read("declared", f"{source}.tsv"):
        words = row["flags"].split()
        argument = next((arg for word, arg in PLUGIN_ARGUMENTS.items() if word in words), "optional")
        arguments[canonical(row["name"])] = argument if kinds.declared_kind(row).get("kind", "bool") == "bool" else None
    return arguments


def of_version(name: str) -> Version:
    """The version in a build's name."""
    return version(name.split("-")[1])
