"""List where the catalogs of series without a queried server contradict the manuals and recorded help.

usage: contradictions.py     prints a line for each, with * if no reason is given, and the number of compared facts

MySQL 8.4 is compared with the help recorded by its own tests, its source, and the changes in MySQL's version
reference; MariaDB 10.6 with the variable reference of its documentation, and with what the recorded help of 10.6.0 and
10.9 print alike. facts/explained.tsv has the reasons for known
contradictions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP]

import history
import kinds
import manuals
from builds import number
from series import GIVEN_BY_TESTS, RECORDED_106
from tables import Version, canonical, read

from advisor.catalog import Catalog, Option, load
from advisor.core.model import Target

MYSQL, MARIADB, ASKED_MARIADB = (
    Target("mysql", (8, 4, 8)),
    Target("mariadb", (10, 6, 24)),
    Target("mariadb", (10, 11, 19)),
)
MARIADB_123, ASKED_118 = Target("mariadb", (12, 3, 2)), Target("mariadb", (11, 8, 9))
FORK = "mysql-8.4.8-shannon"
AUTOSIZED = ("autosized", "")


class Contradiction(NamedTuple):
    """An option of a target for which the catalog and a source differ."""

    target: str
    option: str
    fact: str
    catalog: str
    source: str


def plain_value(value: object, *, boolean: bool) -> str:
    """One notation for values from help, SHOW, sources and manuals."""
    text = {"NULL": "", "(No default value)": "", "empty": ""}.get(str(value), str(value)).rstrip("/").lower()
    if text[-1:] == "m" and text[:-1].isdigit():
        text = str(int(text[:-1]) << 20)
    if boolean:
        return {"1": "true", "0": "false", "on": "true", "off": "false"}.get(text, text)
    try:
        return str(float(text))
    except ValueError:
        return {"true": "on", "false": "off"}.get(text, text)


def catalog_values(option: Option, fact: str) -> list[str]:
    """The catalog's values of a fact: none if unknown, two if a started server has another default."""
    if fact == "default":
        return [value for value in (option.default, option.running) if value is not None]
    value = getattr(option, fact)
    if fact == "dynamic":
        return [] if value is None else ["Yes" if value else "No"]
    return [] if value is None else [str(value)]


def find_contradictions(catalog: Catalog, documented: dict[tuple[str, str], str]) -> Iterator[Contradiction]:
    """The facts that differ from the catalog."""
    for (name, fact), value in sorted(documented.items()):
        option = catalog.get(name)
        if option is None or fact not in ("default", "min", "max", "dynamic"):
            continue
        boolean = option.kind == "bool" and fact == "default"
        have = catalog_values(option, fact)
        if have and plain_value(value, boolean=boolean) not in [plain_value(v, boolean=boolean) for v in have]:
            yield Contradiction(str(catalog.target), name, fact, " / ".join(have), value)


def recorded_defaults() -> dict[tuple[str, str], str]:
    """The defaults in the recorded help of 8.4.8, except those that the recording masks or the test sets."""
    rows = {canonical(row["option"]): row["value"] for row in read("others", FORK, "help-values.tsv")}
    return {(n, "default"): v for n, v in rows.items() if "#" not in v and n not in GIVEN_BY_TESTS}


def recorded_mariadb() -> dict[tuple[str, str], str]:
    """The defaults that the recorded help of MariaDB 10.6.0 and 10.9 print alike."""
    return {
        (canonical(row["option"]), "default"): row["value"] for row in read("others", RECORDED_106, "help-values.tsv")
    }


def missing(catalog: Catalog, recorded: dict[tuple[str, str], str]) -> Iterator[Contradiction]:
    """Options that a recorded help lists and the catalog lacks."""
    for name, _ in sorted(recorded):
        if name not in catalog.options:
            yield Contradiction(str(catalog.target), name, "listed", "no such option", "recorded help")


def declared_defaults() -> dict[tuple[str, str], str]:
    """The plain numbers and booleans declared in the source of 8.4.8."""
    defaults: dict[tuple[str, str], str] = {}
    for row in read("declared", f"{FORK}.tsv"):
        name, kind = canonical(row["name"]), kinds.declared_kind(row).get("kind")
        if kind in ("int", "uint", "double"):
            limits = {end: row[end] for end in ("min", "max") if number(row[end]) is not None}
            defaults |= {(name, end): value for end, value in limits.items() if (end, value) != ("max", "0")}
        literal = row["default"].lower() in ("true", "false") if kind == "bool" else row["default"].isdigit()
        if literal and kind in ("bool", "int", "uint"):
            defaults[name, "default"] = row["default"].upper()
    return defaults


def changed_defaults() -> dict[tuple[str, str], str]:
    """The defaults of 8.4.8 in the version reference: changed ones, and the original ones of new options."""
    defaults = {}
    for name in history.EVENTS:
        default = history.documented_default(name, (0,), MYSQL.version)
        if default is not None and default[1] not in AUTOSIZED:
            defaults[name, "default"] = default[1]
    return defaults


def names(catalog: Catalog, flavour: str) -> Iterator[Contradiction]:
    """Options in the catalog that the manuals list as removed or newer; and options that it lacks."""
    at = catalog.target.version
    for name in sorted(history.MARIADB_EVENTS if flavour == "mariadb" else history.EVENTS):
        came, went = (history.in_manuals(name, event, flavour) for event in ("introduced", "removed"))
        gone = [v for v in went if v <= at]
        later = (
            bool(came) and not any(v <= at or v[:2] == at[:2] for v in came) and not listed_before(name, flavour, at)
        )
        option = catalog.get(name)
        if option is not None and not option.ignored and (gone or later):
            yield Contradiction(
                str(catalog.target), name, "removed" if gone else "introduced", "there", str(gone or came)
            )


def listed_before(name: str, flavour: str, at: Version) -> bool:
    """Whether the help of an older release lists it: an option may be older than the variable that the manual dates."""
    return any(first <= at for first, _ in history.PRESENCE.get((name, flavour), []))


def contradictions() -> list[Contradiction]:
    """All contradictions, including those with a reason in facts/explained.tsv."""
    mysql, mariadb, asked = load(MYSQL), load(MARIADB), load(ASKED_MARIADB)
    conflicts = [
        *find_contradictions(mysql, recorded_defaults()),
        *find_contradictions(mysql, declared_defaults()),
        *find_contradictions(mysql, changed_defaults()),
    ]
    # If the documentation names no version and a server of 10.11 contradicts it too, the error is a general one.
    general = {c[1:] for c in find_contradictions(asked, manuals.mariadb(ASKED_MARIADB.version))}
    conflicts += [c for c in find_contradictions(mariadb, manuals.mariadb(MARIADB.version)) if c[1:] not in general]
    # The same of 12.3, whose facts are those of 11.8.9 but for what the documentation and recorded help tell.
    general = {c[1:] for c in find_contradictions(load(ASKED_118), manuals.mariadb(ASKED_118.version))}
    conflicts += [
        c for c in find_contradictions(load(MARIADB_123), manuals.mariadb(MARIADB_123.version)) if c[1:] not in general
    ]
    conflicts += [*find_contradictions(mariadb, recorded_mariadb()), *missing(mariadb, recorded_mariadb())]
    return [*conflicts, *names(mysql, "mysql"), *names(mariadb, "mariadb")]


def explained_contradictions() -> set[tuple[str, str, str]]:
    """Target, option and fact of the contradictions that have a reason."""
    return {(row["target"], row["option"], row["fact"]) for row in read("explained.tsv")}


if __name__ == "__main__":
    reasons = explained_contradictions()
    for one in contradictions():
        mark = " " if one[:3] in reasons else "*"
        print(f"{mark} {one.target} {one.option} {one.fact}: the catalog says {one.catalog}, the source {one.source}")
    known = set(load(MYSQL).options)
    counts = [
        len({key for key in facts if key[0] in known})
        for facts in (recorded_defaults(), declared_defaults(), changed_defaults())
    ]
    counts += [len(manuals.mariadb(MARIADB.version)), len(recorded_mariadb())]
    print(
        "compared: {} recorded, {} declared, {} changed defaults; MariaDB: {} documented, {} recorded".format(*counts)
    )
