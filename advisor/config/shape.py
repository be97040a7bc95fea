"""The shape of a configuration, checked by hand: the very documents that schemas/mycnf.schema.json allows.

Checking by hand spares lint the import of a validator; a test holds both equal.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from advisor.core.suggestions import did_you_mean
from advisor.report.formats import names

SEVERITIES = ("error", "warning", "note")
FAIL_ON = (*SEVERITIES, "never")
DISKS = ("hdd", "ssd", "nvme")
TARGET = r"^(mysql|mariadb)-[0-9]{1,4}\.[0-9]{1,4}(\.[0-9]{1,4})?$"
SPAN = r"^(mysql|mariadb)(-[0-9]{1,4}\.[0-9]{1,4}(\.[0-9]{1,4})?)?$"
RAM = r"^[0-9]+(\.[0-9]+)?[KMGTkmgt]?(i?[Bb])?$"
BOUND = r"^-?[0-9]+(\.[0-9]+|[KMGTPEkmgtpe])?$"
ASKS = ("required", "forbidden", "minimum", "maximum", "allowed")

Keys = tuple[str, ...]


class Fault(NamedTuple):
    """What is wrong with a configuration: the nested keys that lead there, and a sentence without its end."""

    keys: Keys
    message: str


Check = Callable[[Any, Keys], Iterator[Fault]]


def faults(document: Any) -> Iterator[Fault]:
    """Everything about a document that the schema forbids."""
    yield from _table(TOP)(document, ())


def _table(known: dict[str, Check]) -> Check:
    def check(value: Any, keys: Keys) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield Fault(keys, f"a table is needed, not {_kind(value)}")
            return
        for key, inner in value.items():
            if key in known:
                yield from known[key](inner, (*keys, key))
            else:
                hint = did_you_mean(key, known, f"known are {', '.join(known)}")
                yield Fault((*keys, key), f"unknown key{hint}")

    return check


def _tables_by_name(of: Check) -> Check:
    def check(value: Any, keys: Keys) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield Fault(keys, f"a table is needed, not {_kind(value)}")
            return
        for key, inner in value.items():
            yield from of(inner, (*keys, key))

    return check


def _one_of(choices: tuple[str, ...]) -> Check:
    def check(value: Any, keys: Keys) -> Iterator[Fault]:
        if not isinstance(value, str) or value not in choices:
            hint = did_you_mean(value, choices) if isinstance(value, str) else ""
            yield Fault(keys, f"{_shown(value)} is none of {', '.join(choices)}{hint}")

    return check


def _text(pattern: str, sample: str) -> Check:
    def check(value: Any, keys: Keys) -> Iterator[Fault]:
        if not isinstance(value, str):
            yield Fault(keys, f"a text is needed, not {_kind(value)}; write it as {sample}")
        elif not re.search(pattern, value):
            yield Fault(keys, f"{_shown(value)} can't be used here; write it as {sample}")

    return check


def _several(of: Check, *, least: int = 0) -> Check:
    def check(value: Any, keys: Keys) -> Iterator[Fault]:
        if not isinstance(value, list):
            yield Fault(keys, f"a list is needed, not {_kind(value)}")
            return
        if len(value) < least:
            yield Fault(keys, "the list is empty; name something, or take the key out")
        for inner in value:
            yield from of(inner, keys)

    return check


def _one_or_several(of: Check, *, least: int = 0) -> Check:
    several = _several(of, least=least)

    def check(value: Any, keys: Keys) -> Iterator[Fault]:
        yield from (several if isinstance(value, list) else of)(value, keys)

    return check


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any, keys: Keys) -> Iterator[Fault]:
    whole = _number(value) and (isinstance(value, int) or value.is_integer())
    if not whole or value < 1:
        yield Fault(keys, f"a whole number from 1 up is needed, not {_shown(value)}")


def _switch(value: Any, keys: Keys) -> Iterator[Fault]:
    if not isinstance(value, bool):
        yield Fault(keys, f"true or false is needed, not {_kind(value)}")


def _bound(value: Any, keys: Keys) -> Iterator[Fault]:
    if not _number(value):
        yield from _text(BOUND, 'a number or a size such as 500, 0.75 or "128K"')(value, keys)


def _value(value: Any, keys: Keys) -> Iterator[Fault]:
    if not isinstance(value, str | bool) and not _number(value):
        yield Fault(keys, f"a text, a number, true or false is needed, not {_kind(value)}")


def _house_rule(value: Any, keys: Keys) -> Iterator[Fault]:
    yield from _table(HOUSE)(value, keys)
    if isinstance(value, dict) and not any(key in value for key in ASKS):
        yield Fault(keys, f"it asks for nothing; write one of {', '.join(ASKS)}")


def _kind(value: Any) -> str:
    names = {bool: "true or false", str: "a text", int: "a number", float: "a number", list: "a list", dict: "a table"}
    return names.get(type(value), "a date or a time")


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float) else _kind(value)


def _format(value: Any, keys: Keys) -> Iterator[Fault]:
    return _one_of(names("lint"))(value, keys)


WORD = _text(r"[A-Za-z]", 'a code, name or family such as "BUF001"')
WORDS = _one_or_several(WORD)
TOP: dict[str, Check] = {
    "target": _one_or_several(_text(TARGET, '"mysql-8.4" or "mariadb-10.11"'), least=1),
    "select": _one_or_several(WORD, least=1),
    "ignore": WORDS,
    "fail-on": _one_of(FAIL_ON),
    "baseline": _text(r".", "a path"),
    "root": _text(r".", "a path"),
    "format": _format,
    "ram": _text(RAM, '"64G" or "512M"'),
    "cpus": _count,
    "disk": _one_of(DISKS),
    "per-file-ignores": _tables_by_name(WORDS),
    "house": _tables_by_name(_one_or_several(_house_rule, least=1)),
}
HOUSE: dict[str, Check] = {
    "required": _switch,
    "forbidden": _switch,
    "minimum": _bound,
    "maximum": _bound,
    "allowed": _several(_value, least=1),
    "message": _text(r".", "a sentence"),
    "severity": _one_of(SEVERITIES),
    "targets": _one_or_several(_text(SPAN, '"mysql", "mariadb-10.11" or "mysql-8.0.36"'), least=1),
}
