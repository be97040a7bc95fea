"""The shape of a configuration, checked by hand: exactly the documents that schemas/mycnf.schema.json allows.

Checking by hand spares lint the import of a validator. tools/configschema.py writes the schema from a model that takes
its words and patterns from here, and a test holds both to the same documents.
"""

from __future__ import annotations

import re

from advisor.catalog.targets import NAMES
from advisor.core import NamedTuple
from advisor.core.errors import did_you_mean
from advisor.report.formats import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Check = Callable[[Any, "Keys"], Iterator["Fault"]]

SEVERITIES = ("error", "warning", "note")
FAIL_ON = (*SEVERITIES, "never")
DISKS = ("hdd", "ssd", "nvme")
# As --target takes them: builds and services too. Aurora counts its own releases: aurora-mysql-3.
_SERVERS = "|".join(name for name in NAMES if name != "aurora-mysql")
TARGET = rf"^(({_SERVERS})-[0-9]{{1,4}}\.[0-9]{{1,4}}|aurora-mysql-[0-9]{{1,4}}(\.[0-9]{{1,4}})?)(\.[0-9]{{1,4}})?$"
TARGET_SPAN = r"^(mysql|mariadb)(-[0-9]{1,4}\.[0-9]{1,4}(\.[0-9]{1,4})?)?$"
RAM = r"^[0-9]+(\.[0-9]+)?[KMGTkmgt]?(i?[Bb])?$"
BOUND = r"^-?[0-9]+(\.[0-9]+|[KMGTPEkmgtpe])?$"
RULE = r"[A-Za-z]"
TEXT = r"."
HOUSE_CHECKS = ("required", "forbidden", "minimum", "maximum", "allowed")

Keys = tuple[str, ...]


class Fault(NamedTuple):
    """What is wrong with a configuration: the nested keys that lead there, and a sentence without its end."""

    keys: Keys
    message: str


def find_faults(document: Any) -> Iterator[Fault]:
    """Everything about a document that the schema forbids."""
    yield from _table_check(TOP)(document, ())


def _table_check(known: dict[str, Check]) -> Check:
    def check(value: Any, keys: Keys) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield Fault(keys, f"a table is needed, not {_type_name(value)}")
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
            yield Fault(keys, f"a table is needed, not {_type_name(value)}")
            return
        for key, inner in value.items():
            yield from of(inner, (*keys, key))

    return check


def _one_of(choices: tuple[str, ...]) -> Check:
    def check(value: Any, keys: Keys) -> Iterator[Fault]:
        if not isinstance(value, str) or value not in choices:
            hint = did_you_mean(value, choices) if isinstance(value, str) else ""
            yield Fault(keys, f"{_format_value(value)} is none of {', '.join(choices)}{hint}")

    return check


def _text_matching(pattern: str, sample: str) -> Check:
    def check(value: Any, keys: Keys) -> Iterator[Fault]:
        if not isinstance(value, str):
            yield Fault(keys, f"a text is needed, not {_type_name(value)}; write it as {sample}")
        elif not re.search(pattern, value):
            yield Fault(keys, f"{_format_value(value)} can't be used here; write it as {sample}")

    return check


def _list_of(of: Check, *, least: int = 0) -> Check:
    def check(value: Any, keys: Keys) -> Iterator[Fault]:
        if not isinstance(value, list):
            yield Fault(keys, f"a list is needed, not {_type_name(value)}")
            return
        if len(value) < least:
            yield Fault(keys, "the list is empty; add an entry, or remove the key")
        for inner in value:
            yield from of(inner, keys)

    return check


def _one_or_list_of(of: Check, *, least: int = 0) -> Check:
    several = _list_of(of, least=least)

    def check(value: Any, keys: Keys) -> Iterator[Fault]:
        yield from (several if isinstance(value, list) else of)(value, keys)

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_count(value: Any, keys: Keys) -> Iterator[Fault]:
    whole = _is_number(value) and (isinstance(value, int) or value.is_integer())
    if not whole or value < 1:
        yield Fault(keys, f"an integer of 1 or more is needed, not {_format_value(value)}")


def _check_boolean(value: Any, keys: Keys) -> Iterator[Fault]:
    if not isinstance(value, bool):
        yield Fault(keys, f"true or false is needed, not {_type_name(value)}")


def _check_bound(value: Any, keys: Keys) -> Iterator[Fault]:
    if not _is_number(value):
        yield from _text_matching(BOUND, 'a number or a size such as 500, 0.75 or "128K"')(value, keys)


def _check_value(value: Any, keys: Keys) -> Iterator[Fault]:
    if not isinstance(value, str | bool) and not _is_number(value):
        yield Fault(keys, f"a text, a number, true or false is needed, not {_type_name(value)}")


def _check_house_rule(value: Any, keys: Keys) -> Iterator[Fault]:
    yield from _table_check(HOUSE)(value, keys)
    if isinstance(value, dict) and not any(key in value for key in HOUSE_CHECKS):
        yield Fault(keys, f"it has no condition; write one of {', '.join(HOUSE_CHECKS)}")


def _type_name(value: Any) -> str:
    names = {bool: "true or false", str: "a text", int: "a number", float: "a number", list: "a list", dict: "a table"}
    return names.get(type(value), "a date or a time")


def _format_value(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float) else _type_name(value)


def _check_format(value: Any, keys: Keys) -> Iterator[Fault]:
    return _one_of(names("lint"))(value, keys)


RULE_NAME = _text_matching(RULE, 'a code, name or family such as "BUF001"')
RULE_NAMES = _one_or_list_of(RULE_NAME)
TOP: dict[str, Check] = {
    "target": _one_or_list_of(_text_matching(TARGET, '"mysql-8.4" or "mariadb-10.11"'), least=1),
    "select": _one_or_list_of(RULE_NAME, least=1),
    "ignore": RULE_NAMES,
    "fail-on": _one_of(FAIL_ON),
    "baseline": _text_matching(TEXT, "a path"),
    "root": _text_matching(TEXT, "a path"),
    "format": _check_format,
    "ram": _text_matching(RAM, '"64G" or "512M"'),
    "cpus": _check_count,
    "disk": _one_of(DISKS),
    "per-file-ignores": _tables_by_name(RULE_NAMES),
    "house": _tables_by_name(_one_or_list_of(_check_house_rule, least=1)),
}
HOUSE: dict[str, Check] = {
    "required": _check_boolean,
    "forbidden": _check_boolean,
    "minimum": _check_bound,
    "maximum": _check_bound,
    "allowed": _list_of(_check_value, least=1),
    "message": _text_matching(TEXT, "a sentence"),
    "severity": _one_of(SEVERITIES),
    "targets": _one_or_list_of(_text_matching(TARGET_SPAN, '"mysql", "mariadb-10.11" or "mysql-8.0.36"'), least=1),
}
