"""Query real servers about their options, and rewrite facts/servers/<name>/ with the answers.

usage: ask.py [--servers FOLDER] [NAME…]     FOLDER has one folder per server with its manifest.json

For every option of a server this finds the kind, range, block size and members, by passing values to it and reading
what it prints with `--verbose --help`; the other options that change with it; its warnings; accepted options that are
not listed; the options of its plugins; and the values that depend on the host.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Callable

import builds
import kinds
import numbers_of as numbers
from asking import HELP, UNASKED, VALIDATE, Server, ask, mentions, run
from tables import Row, canonical, read, write

FOLDER = os.environ.get("MYCNF_SERVERS") or os.path.expanduser("~/.cache/mycnf/servers")
GONE = re.compile(
    r"was removed|does nothing|is ignored|no longer|has no effect|obsolete|compatible option", re.IGNORECASE
)
PREFIX = re.compile(r"^(skip|disable|enable|maximum|loose)_")
DEPRECATED = re.compile(r"deprecated", re.IGNORECASE)
UNBOUNDED = re.compile("Maximum value of|unknown (variable|option)|cannot take")
NUMBERS = ("int", "uint")
GIVEN = ("log_error_verbosity", "log_warnings")  # on the command line of every query
LOCALES = {"lc_messages": "de_DE", "lc_time_names": "de_DE"}  # with an invalid locale they fall back to another one
# These end the query at once, or are on its command line.
UNBOUNDABLE = frozenset(
    ["help", "verbose", "version", "version_with_update", "daemonize", "gdb", "debug_gdb", "console", "user", "datadir", "tmpdir",
     "lc_messages_dir", "language", "plugin_dir", "log_error_verbosity"])  # fmt: skip


def servers(folder: str) -> list[Server]:
    """The servers in a folder, found by their manifests."""
    programs = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name, "manifest.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                manifest = json.load(f)
            command, share, plugins = (
                os.path.join(folder, name, manifest[key]) if manifest[key] else ""
                for key in ("server", "share", "plugins")
            )
            version = re.match(r"[\d.]+", manifest["version"])
            assert version, path
            label = f"{name.split('-')[0]}-{version[0]}"
            programs.append(Server(label, command, share, plugins))
    return programs


class OptionAnswers:
    """The collected answers for one option."""

    def __init__(self) -> None:
        self.printed: numbers.Printed = {}
        self.messages: list[str] = []


def put(server: Server, values: dict[str, str | None], into: dict[str, OptionAnswers]) -> None:
    """Set each option to one value, and collect the answers."""
    for name, printed, messages in ask(server, values):
        into[name].printed[values[name] or ""] = printed
        into[name].messages += messages


def probe(server: Server, names: list[str]) -> dict[str, Row]:
    """Kind, range, block size and members of each option."""
    asked = {n: OptionAnswers() for n in names}
    for value in (*numbers.SMALL, numbers.PADDED):
        put(server, dict.fromkeys(names, value), asked)
    put(server, dict.fromkeys((n for n in names if not numbers.is_number(asked[n].printed["1"])), "zzz"), asked)
    for value in numbers.ENDS:
        # MariaDB rejects a negative value for each unsigned number, each with a new start of the server; it reports
        # signs itself
        may = [n for n in names if is_plain_number(asked[n]) and not (server.is_mariadb and value.startswith("-"))]
        put(server, dict.fromkeys(may, value), asked)
    rows: dict[str, Row] = {}
    for name, answers in asked.items():
        row = rows[name] = {"option": name, "kind": numbers.kind(answers.printed, answers.messages)}
        first_word = is_plain_number(answers)
        if row["kind"] in (*NUMBERS, "double") or first_word:
            row["min"], row["max"] = numbers.span(answers.printed, row["kind"] or "uint")
    find_widths(rows, asked)
    find_blocks(server, rows)
    find_members(server, rows, asked)
    return rows


def is_plain_number(answers: OptionAnswers) -> bool:
    """Whether an option prints and parses numbers; a string prints 01 unchanged."""
    if "zzz" in answers.printed or answers.printed.get(numbers.PADDED) == numbers.PADDED:
        return False
    return all(numbers.is_number(answers.printed.get(v)) for v in ("0", "1"))


def is_whole(row: Row) -> bool:
    """Whether both ends of a range of integers are known."""
    return row["kind"] != "double" and all(re.fullmatch(r"-?\d+", row.get(end, "")) for end in ("min", "max"))


def find_widths(rows: dict[str, Row], asked: dict[str, OptionAnswers]) -> None:
    """If the server prints 32-bit values as signed numbers, the largest one shows which options have how many bits."""
    narrow = {n for n, answers in asked.items() if numbers.wraps(answers.printed)}
    for name, row in rows.items():
        if narrow and row.get("max") == "4294967295":
            row["bits"] = "32" if name in narrow else "64"


def find_blocks(server: Server, rows: dict[str, Row]) -> None:
    """Try odd numbers in each range, and record how they are rounded."""
    values = {n: numbers.trials(int(r["min"]), int(r["max"])) for n, r in rows.items() if is_whole(r)}
    asked = {n: OptionAnswers() for n in values}
    for i in range(max(map(len, values.values()), default=0)):
        put(server, {n: v[i] for n, v in values.items() if i < len(v)}, asked)
    for name, answers in asked.items():
        if size := numbers.block(answers.printed):
            rows[name]["block"] = str(size)


def find_members(server: Server, rows: dict[str, Row], asked: dict[str, OptionAnswers]) -> None:
    """Query the members of enumerations and sets by number, until the server rejects one."""
    steps: dict[str, Callable[[int], int]] = {"enum": lambda i: i, "set": lambda i: 1 << i}
    members: dict[str, list[str]] = {n: [] for n, r in rows.items() if r["kind"] in steps}
    open_names = set(members)
    for i in range(64):
        values = {n: str(steps[rows[n]["kind"]](i)) for n in sorted(open_names)}
        put(server, {n: v for n, v in values.items() if v not in asked[n].printed}, asked)
        for name, value in values.items():
            printed = asked[name].printed.get(value)
            if not printed or printed in members[name] or (printed.isdigit()):
                open_names.discard(name)
            else:
                members[name].append(printed)
    for name, found in members.items():
        rows[name]["values"] = "|".join(numbers.members(found))


def find_bool_arguments(server: Server, rows: dict[str, Row]) -> None:
    """Find the booleans that accept an argument and those that require one; the help prints the same for all.

    Those that accept none keep their value if the argument is invalid; the others become FALSE or are rejected.
    """
    names = [n for n, r in rows.items() if r["kind"] == "bool"]
    for name, printed, _ in ask(server, {n: f"1\n{n}=maybe" for n in names}):
        rows[name]["arg"] = "none" if printed == "TRUE" else "optional"
    for name, _, messages in ask(server, dict.fromkeys(names)):
        if any("requires an argument" in m for m in messages):
            rows[name]["arg"] = "required"


def find_plugin_options(server: Server, base: dict[str, str]) -> list[Row]:
    """The options of each plugin in the server's folder, with the server's answers."""
    options: list[Row] = []
    if not server.plugins:
        return options
    for file in sorted(f for f in os.listdir(server.plugins) if f.endswith(".so") and not f.startswith("component_")):
        loading = server._replace(load=file)
        answer = run(loading, [])
        brought = sorted(answer.values.keys() - base.keys())
        if answer.status or not brought:
            continue
        arguments = {canonical(n): a for n, a in listed_options(loading)}
        rows = probe(loading, brought)
        find_bool_arguments(loading, rows)
        for name, row in rows.items():
            record = {"plugin": file.removesuffix(".so"), "default": answer.values[name]}
            options.append({"argument": arguments[name], **row, **record})
    return options


def listed_options(server: Server) -> list[tuple[str, str]]:
    """Every option listed in the help, and whether it takes an argument: none, optional or required."""
    matches = [re.match(r"  (?:-\S, )?--([\w.-]+)(\[=\S+\]|=\S+)?", line) for line in run(server, []).text]
    return [(m[1], "none" if not m[2] else "optional" if m[2].startswith("[") else "required") for m in matches if m]


def other_value(row: Row, default: str) -> str | None:
    """A value in range that is not the default."""
    if row["kind"] == "bool":
        return "0" if default == "TRUE" else "1"
    if row["kind"] in NUMBERS and is_whole(row):
        low, high = int(row["min"]), int(row["max"])
        size = int(row.get("block") or 1)
        tries = (low + (high - low) * p // 1000 // size * size for p in (3, 7, 1, 500))
        return next((str(t) for t in tries if str(t) != default and low <= t <= high), None)
    if row["kind"] == "double" and row.get("min") and row.get("max"):
        return next((v for v in ("2.5", "0.5", "50.5") if float(row["min"]) <= float(v) <= float(row["max"])), None)
    if row["kind"] in ("enum", "set"):
        return next((m for m in row.get("values", "").split("|") if m and m != default), None)
    return "zzz" if row["kind"] == "string" else None


def find_effects(server: Server, rows: dict[str, Row], base: dict[str, str]) -> list[Row]:
    """Set each option alone, list every option whose printed value changes, and record warnings."""
    effects: list[Row] = []
    for name, row in rows.items():
        value = other_value(row, base.get(name, ""))
        if value is None:
            value = base.get(name, "1")
            value = "1" if value.startswith("(No default") or not value else value
        answer = run(server, [f"{name}={value}"])
        note(row, [m for m in answer.messages if mentions(m, name)])
        if answer.status == 0:
            for other, printed in answer.values.items():
                if other != name and base.get(other) != printed and not scratch(printed):
                    effects.append(
                        {"option": name, "value": value, "other": other, "from": base.get(other, ""), "to": printed}
                    )
    return effects


def find_maximum(server: Server, names: list[str], rows: dict[str, Row], base: dict[str, str]) -> list[Row]:
    """The effect of the prefix maximum- on each value; options for which the server rejects it are left out."""
    found = {name: bounded(server, name, rows.get(name, {}), base) for name in names}
    return [{"option": name, "maximum": done} for name, done in found.items() if done]


def bounded(server: Server, name: str, row: Row, base: dict[str, str]) -> str:
    """Whether maximum- sets the option, leaves it, or lowers a higher value; empty if it is rejected."""
    other = LOCALES.get(name) or (other_value(row, base.get(name, "")) if row.get("kind") else None)
    low, high = two_values(row) or (other or ("0" if base.get(name) in ("TRUE", "ON") else "1"), "")
    answer = run(server, [f"maximum_{name}={low}"])
    if any("cannot take an argument" in m for m in answer.messages):
        answer = run(server, [f"maximum_{name}"])
    if any(UNBOUNDED.search(m) for m in answer.messages):
        return ""
    if not high:
        kept = answer.status == 0 and name in base and answer.values.get(name) == base[name]
        return "keeps" if kept else "sets"
    lows, highs, above, below = (
        run(server, lines).values.get(name)
        for lines in (
            [f"{name}={low}"],
            [f"{name}={high}"],
            [f"{name}={high}", f"maximum_{name}={low}"],
            [f"{name}={low}", f"maximum_{name}={high}"],
        )
    )
    return "keeps" if above == highs else "bounds" if below == lows else "sets"


def two_values(row: Row) -> tuple[str, str] | None:
    """A lower and a higher value in the range of a number; None for other kinds."""
    if row.get("kind") not in NUMBERS or not is_whole(row):
        return None
    low, high, size = int(row["min"]), int(row["max"]), int(row.get("block") or 1)
    inside = [low + (high - low) * p // 1000 // size * size for p in (3, 500)]
    lower, higher = inside if inside[0] < inside[1] else (low, high)
    return (str(lower), str(higher)) if lower < higher else None


def scratch(value: str) -> bool:
    """Whether a value contains the scratch folder of the query."""
    return "/ask" in value


def note(row: Row, messages: list[str]) -> None:
    """Record whether the server reports the option as removed or deprecated, and the replacement that it names."""
    for message in messages:
        if GONE.search(message) and server_says_gone(message, row["option"]):
            row["ignored"] = "yes"
        if DEPRECATED.search(message):
            row["deprecated"] = "yes"
            use = re.search(r"(?:[Pp]lease use|[Uu]se) '?(?:--)?([A-Za-z][\w-]+)'? (?:instead|or)?", message)
            if use and "_" in canonical(use[1]) and canonical(use[1]) != row["option"]:
                row["replaced_by"] = canonical(use[1])


def server_says_gone(message: str, name: str) -> bool:
    """Whether the message says that this option has no effect."""
    words = re.findall(r"[a-z][a-z0-9_]+", message.lower().replace("-", "_").split("[warning]")[-1])
    return name in words[:4]


def find_hidden(server: Server, listed: set[str]) -> list[Row]:
    """Try every name that any release had: some are accepted without being listed, most of them without effect."""
    known = {r["option"] for r in read("changes", "presence.tsv")} | {r["name"] for r in read("changes", "events.tsv")}
    known |= {r["name"] for r in read("changes", "mariadb-events.tsv")}
    names = sorted(
        n
        for n in known - listed - UNASKED
        if re.fullmatch(r"\w+", n)
        and PREFIX.sub("", n) not in listed
        and not any(o.startswith(n) for o in listed)  # MariaDB accepts abbreviations
    )
    valued, bare = accepted_names(server, names, "=1"), accepted_names(server, names, "")
    rows: list[Row] = []
    for name in sorted(valued | bare):
        row: Row = {
            "option": name,
            "arg": "optional" if name in valued & bare else "required" if name in valued else "none",
        }
        answer = run(server, [f"{name}=1" if name in valued else name])
        note(row, [m for m in answer.messages if mentions(m, name)])
        rows.append(row)
    return rows


def accepted_names(server: Server, names: list[str], value: str) -> set[str]:
    """The names that the server accepts with this suffix: with the prefix loose_ it warns about each unknown one."""
    task = VALIDATE if server.name.startswith("mysql-9") else HELP
    accepted: set[str] = set()
    for start in range(0, len(names), 200):
        batch = names[start : start + 200]
        answer = run(server, [f"loose_{n}{value}" for n in batch], task=task)
        unknown = " ".join(m for m in answer.messages if "unknown" in m.lower()).lower().replace("-", "_")
        may = set(batch) - {w.removeprefix("loose_") for w in re.findall(r"\w+", unknown)}
        accepted |= {n for n in may if run(server, [n + value], task=task).status == 0}
    return accepted


def find_host_dependent(server: Server, base: dict[str, str]) -> set[str]:
    """Options whose printed value depends on the host: processors, open files limit, folders, host name."""
    moved: set[str] = set()
    for shape in (["taskset", "-c", "0"], ["sh", "-c", 'ulimit -n 1024; exec "$@"', "-"], ["sh", "-c", 'ulimit -n 65536; exec "$@"', "-"],
                  ["unshare", "--uts", "sh", "-c", 'hostname elsewhere; exec "$@"', "-"]):  # fmt: skip
        values = run(server, [], before=shape).values
        moved |= {n for n, v in values.items() if base.get(n) != v}
    return moved


def main() -> None:
    """Query the named servers, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", default=FOLDER)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    for server in servers(args.servers):
        if not args.names or server.name in args.names:
            ask_one(server)


def told_rows(server: Server, names: list[str]) -> dict[str, Row]:
    """Options whose facts MariaDB reports itself: kind, range, block size and members of every variable."""
    rows: dict[str, Row] = {}
    for row in read("servers", server.name, "variable-metadata.tsv") if server.is_mariadb else ():
        name, facts = canonical(row["variable_name"]), kinds.reported_kind(row) | builds.told_range(row)
        if name in names and "kind" in facts:
            rows[name] = {"option": name, "kind": str(facts["kind"])}
            rows[name] |= {f: str(facts[f]) for f in ("min", "max", "block") if f in facts}
            if isinstance(members := facts.get("values"), list):
                rows[name]["values"] = "|".join(map(str, members))
    return rows


def keep_values(server: Server, base: dict[str, str]) -> None:
    """Update the values printed without an option file, except those that contain a folder of the query."""
    rows = read("servers", server.name, "help-values.tsv")
    for row in rows:
        value = base.get(canonical(row["option"]), row["value"])
        if not scratch(value) and "/" not in value and canonical(row["option"]) not in GIVEN:
            row["value"] = value
    write(rows, ["option", "value"], "servers", server.name, "help-values.tsv")


def ask_one(server: Server) -> None:
    """Query everything about one server."""
    listed = {canonical(r["option"]): r for r in read("servers", server.name, "options.tsv")}
    base = run(server, []).values
    assert base.keys() <= listed.keys() | base.keys(), server
    keep_values(server, base)
    names = sorted(n for n in listed if n not in UNASKED)
    answers = told_rows(server, names)
    rows = answers | probe(server, [n for n in names if n not in answers])
    find_bool_arguments(server, rows)
    print(f"{server.name}: {len(rows)} options asked", flush=True)
    host = find_host_dependent(server, base)
    effects = find_effects(server, rows, base)
    for name in host & listed.keys():
        rows.setdefault(name, {"option": name})["host"] = "yes"
    hidden = (
        [] if server.name.startswith("mysql-8.0") else find_hidden(server, set(listed))
    )  # 8.0 reports no unknown options
    plugins = find_plugin_options(server, base)
    columns = [
        "option",
        "arg",
        "kind",
        "bits",
        "min",
        "max",
        "block",
        "values",
        "ignored",
        "deprecated",
        "replaced_by",
        "host",
    ]
    write(sorted(rows.values(), key=lambda r: r["option"]), columns, "servers", server.name, "probes.tsv")
    write(plugins, ["plugin", "argument", "default", *columns], "servers", server.name, "plugin-options.tsv")
    write(effects, ["option", "value", "other", "from", "to"], "servers", server.name, "effects.tsv")
    write(hidden, ["option", "arg", "ignored", "deprecated", "replaced_by"], "servers", server.name, "hidden.tsv")
    bounds = find_maximum(server, sorted(listed.keys() - UNBOUNDABLE), rows, base)
    write(bounds, ["option", "maximum"], "servers", server.name, "maximum.tsv")
    print(f"{server.name}: {len(effects)} effects, {len(hidden)} hidden, {len(host)} depend on the host", flush=True)


if __name__ == "__main__":
    main()
