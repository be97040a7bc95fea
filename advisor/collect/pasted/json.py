"""Parse rows in JSON: exports of MySQL Shell and GUI programs, and parameter lists of cloud providers."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from advisor.collect.pasted.classify import complete_answer, split_answers
from advisor.collect.pasted.facts import TextError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.collect.pasted.classify import Row, ServerAnswer

_JSON_START = re.compile(r"\s*(?:\[\s*)*\{\s*\"")
_GAP = re.compile(r"[\s,]*")
_OF_HOST = re.compile(r"^\S[^\n]*? => (?=\{)", re.MULTILINE)  # printed by Ansible before an object
DEEPEST = 8
# Keys that identify a cloud provider's list of parameters, with its name.
_CLOUDS = (
    (frozenset(("ParameterName", "ApplyType")), "a parameter group of Amazon RDS"),
    (frozenset(("ParameterName", "DataType")), "a parameter group of Amazon RDS"),
    (frozenset(("databaseFlags",)), "the settings of a Cloud SQL instance"),
    (frozenset(("allowedValues", "defaultValue")), "a list of Azure's server parameters"),
)
_SNAPSHOT = frozenset(("schema", "tool", "server"))
# Keys of an object whose keys are variables or counters.
_NAMED = (frozenset(("version", "datadir", "max_connections")), frozenset(("uptime", "questions", "threads_connected")))
FORMULA = "{DBInstanceClassMemory"
PARAMETER_GROUP_REMEDY = (
    "these are not the running values: connect to the server, or give the text of SHOW GLOBAL VARIABLES"
)


def is_json(text: str) -> bool:
    """Whether the text begins like rows in JSON."""
    return bool(_JSON_START.match(text))


def has_objects(text: str) -> bool:
    """Whether the text contains JSON objects among other text, as Ansible prints them."""
    return bool(_OF_HOST.search(text))


def no_rows_message(path: str) -> TextError:
    """The error for a JSON text without rows."""
    return TextError(
        f"{path} is JSON that is cut off, or has no rows with Variable_name and Value and none of a process list; give "
        "all rows of SHOW GLOBAL VARIABLES and SHOW GLOBAL STATUS, or the mysql client's output of them"
    )


def is_formula(value: str) -> bool:
    """Whether it is a formula from a parameter group of Amazon RDS, which servers never print."""
    return FORMULA in value


def cloud_document_message(path: str, what: str) -> TextError:
    """The error for a cloud provider's document."""
    return TextError(f"{path} is {what}; {PARAMETER_GROUP_REMEDY}")


def rows_in(path: str, values: Iterable[Any]) -> Iterator[ServerAnswer]:
    """The answers in the values of JSON texts; empty if there are none.

    Raises TextError for parameter lists of cloud providers.
    """
    loose: list[Row] = []  # MySQL Shell prints each row as a separate JSON text
    for value in values:
        row = _row(value)
        if row:
            loose.append(row)
        else:
            yield from _answers_in(path, value, 0)
    yield from split_answers(loose, headed=True)


def values_in(text: str) -> Iterator[Any]:
    """The values of consecutive JSON texts, each optionally preceded by the name of its host."""
    decoder = json.JSONDecoder()
    at = 0
    while (at := _after_gap(text, at)) < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            of_host = _OF_HOST.search(text, at)
            if of_host is None:
                return
            at = of_host.end()
            continue
        yield value


def _answers_in(path: str, value: Any, depth: int) -> Iterator[ServerAnswer]:
    """Each list of rows, and each object whose keys are variables or counters."""
    inner = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
    if isinstance(value, dict):
        if depth == 0 and value.keys() >= _SNAPSHOT:
            raise TextError(f"{path} is a snapshot of mycnf; mycnf audit --snapshot FILE reads it")
        cloud = next((what for signs, what in _CLOUDS if signs <= value.keys()), None)
        if cloud:
            raise cloud_document_message(path, cloud)
        if any(signs <= {name.lower() for name in value} for signs in _NAMED):
            plain = {name: as_text(one) for name, one in value.items() if not isinstance(one, (list, dict))}
            yield complete_answer(plain)
            return
    rows = [row for one in inner if (row := _row(one))] if isinstance(value, list) else []
    if rows:
        yield from split_answers(rows, headed=True)
    elif depth < DEEPEST:
        for one in inner:
            yield from _answers_in(path, one, depth + 1)


def _row(value: Any) -> Row | None:
    if not isinstance(value, dict):
        return None
    cells = {name.lower(): cell for name, cell in value.items()}
    name, value = cells.get("variable_name"), cells.get("value", cells.get("variable_value"))
    return (name, as_text(value)) if isinstance(name, str) and not isinstance(value, (list, dict)) else None


def as_text(value: Any) -> str:
    """A value as servers print it."""
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    return "" if value is None else str(value)


def _after_gap(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at
