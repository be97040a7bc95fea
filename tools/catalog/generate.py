"""Generate the catalog, advisor/catalog/data/*.json, only from the raw facts in facts/.

usage: generate.py [--out DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import elsewhere
import history
import vendor_builds
from builds import Record
from fact import Fact
from listed import BUILT_IN, STANDS_FOR, owner
from series import SERIES, test_plugin
from tables import Version, dotted_version, read, version

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "advisor", "catalog", "data")
ORDER = ("arg", "kind", "bits", "min", "max", "block", "values", "default", "running", "shown", "variable", "scope",
         "dynamic", "since", "gone", "deprecated", "replaced_by", "ignored", "plugin", "maximum", "alias_of")  # fmt: skip
# Defaults of the reader, which are left out.
IMPLIED = {"shown": True, "ignored": False, "block": 1}
SECRET = re.compile(r"password$|_token$|secret|sst_auth$")
UNPRINTED = "(No default value)"
ATTRIBUTES = read("attributes.tsv")


def attributes(option: str, name: str) -> list[str]:
    """The attributes of the option in a series: secret, durability, security, host."""
    attributes_now = {
        row["attribute"] for row in ATTRIBUTES if row["option"] == option and has_reached(row["since"], name)
    }
    if SECRET.search(option) and not re.search(
        r"^(validate|generated|old|max|default|disconnect|skip|password|strict)", option
    ):
        attributes_now.add("secret")
    return sorted(attributes_now)


def has_reached(since: str, name: str) -> bool:
    """Whether a series is `since` or a later one of its flavour; True for an empty `since`."""
    flavour, _, number = since.partition("-")
    return not since or (name.startswith(flavour) and SERIES[name][0] >= version(number))


def plain_record(record: Record) -> dict[str, object]:
    """The record as written: values in a fixed order, without unknown and default values."""
    return {
        f: record[f].value for f in ORDER
        if f in record and record[f].value is not None and IMPLIED.get(f) != record[f].value
    }  # fmt: skip


def told_by(record: Record) -> dict[str, str]:
    """The facts that are not a server's own answer, by source."""
    by: dict[str, list[str]] = {}
    for field in ORDER:
        if field in record and record[field].source != "asked" and record[field].value is not None:
            by.setdefault(record[field].source, []).append(field)
    written = {source: " ".join(fields) for source, fields in sorted(by.items())}
    if "inferred" in by and not any(f.source == "asked" and f.value is not None for f in record.values()):
        written["inferred"] = "*"
    return written


def entry(option: str, record: Record, before: list[tuple[Version, Record]], name: str) -> dict[str, object]:
    """One option of the catalog of a series."""
    default = record["default"].value if "default" in record else None
    if record["kind"].value == "bool" and default not in (None, "TRUE", "FALSE", UNPRINTED):
        record = record | {"kind": Fact("string", "inferred")}  # declared as a boolean, but parsed by its own handler
    marks = attributes(option, name)
    if "host" in record and "host" not in marks:
        marks = sorted([*marks, "host"])
    if "host" in marks:
        record = {f: v for f, v in record.items() if f not in ("default", "running")}
    written = plain_record(record)
    if marks:
        written["marks"] = marks
    if by := told_by(record):
        written["by"] = by
    was = [[dotted_version(v), former(r, marks)] for v, r in before]
    was = [[v, facts] for v, facts in was if facts]
    return written | ({"was": was} if was else {})


def new_entry(name: str, option: str, record: Record) -> dict[str, object]:
    """An option of a build of that series, the same in each of its patches."""
    return entry(option, record, [], name)


def former(record: Record, marks: list[str]) -> dict[str, object]:
    """The facts before a change; here unknown ones are written too, because they replace later ones."""
    hidden = ("default", "running") if "host" in marks else ()
    return {f: v.value for f, v in sorted(record.items()) if f not in hidden}


def with_plugin(option: str, record: Record, flavour: str, series: str) -> Record:
    """The record with the plugin that has the option, if the queried server had not loaded it.

    Of a built-in plugin, as the X Plugin of MySQL 8.0 and later, options of later patches are built in too.
    """
    plugin = owner(option, flavour)
    if plugin is None or not BUILT_IN[series].isdisjoint((option, plugin)) or "plugin" in record:
        return record
    return record | {"plugin": Fact(plugin, "inferred")}


def catalog(name: str) -> dict[str, dict[str, object]]:
    """All options of a series."""
    number, merged = SERIES[name]
    flavour = name.split("-", maxsplit=1)[0]
    options = {}
    for option, (facts, before) in sorted(merged().items()):
        if test_plugin(option):
            continue
        record = history.with_lifecycle(option, facts, flavour, number)
        if "warned" in record and "deprecated" not in record:
            record = record | {"deprecated": Fact(STANDS_FOR[name].split("-")[1], record["warned"].source)}
        options[option] = entry(option, with_plugin(option, record, flavour, name), before, name)
    for written in options.values():
        part_alias(written, options, number)
    return options


def part_alias(record: dict[str, Any], options: dict[str, dict[str, Any]], number: Version) -> None:
    """Limit an alias to the patches that have the other name; remove it if the other name is unknown."""
    other = options.get(record.get("alias_of", ""))
    if other is None:
        record.pop("alias_of", None)
    elif "since" in other and version(other["since"])[:2] == number:
        changes = [*record.get("was", []), [other["since"], {"alias_of": None}]]
        record["was"] = sorted(changes, key=lambda change: version(change[0]), reverse=True)


def dump(value: object) -> str:
    """A value in the notation of the catalog files."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def text(name: str, number: Version, options: Mapping[str, dict[str, object] | None]) -> str:
    """The text of the catalog file: one option per line, sorted."""
    lines = ",\n".join(f"{dump(option)}:{dump(record)}" for option, record in sorted(options.items()))
    moving = [option for option, record in sorted(options.items()) if record and moves(record, number)]
    return f'{{"series":{dump(name)},"moving":{dump(moving)},"options":{{\n{lines}\n}}}}\n'


def moves(record: dict[str, Any], number: Version) -> bool:
    """Whether patches of the series may differ in the option; the reader checks only those options."""
    came, went = version(record.get("since", "0")), version(record.get("gone", "9999"))
    return "was" in record or came[:2] >= number or went[:2] <= number


def main() -> None:
    """Write every file of the catalog."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=DATA)
    out = parser.parse_args().out
    os.makedirs(out, exist_ok=True)
    made = {name: catalog(name) for name in SERIES}
    files = {f"{name}.json": text(name, SERIES[name][0], options) for name, options in made.items()}
    for name, (base, number, rows) in vendor_builds.catalogs().items():
        options = vendor_builds.differences(rows, made[base], partial(new_entry, base))
        files[f"{name}.json"] = text(name, number, options)
    files["elsewhere.json"] = elsewhere.text(made)
    files["vendors.json"] = elsewhere.vendors()
    files["windows.json"] = elsewhere.windows()
    for file, content in files.items():
        with open(os.path.join(out, file), "w", encoding="utf-8", newline="") as f:
            f.write(content)
        print(f"{file}: {len(content):,} bytes, {content.count(chr(10)) - 2} options")


if __name__ == "__main__":
    main()
