"""mysqld-auto.cnf: the variables saved by SET PERSIST, in both of its formats, with their positions in the JSON.

Tested on MySQL 8.0.15 and 9.7.4: static variables reach the server as `--loose_NAME=VALUE`; the others as with SET, so
numbers have no suffix and booleans are ON or OFF. Unknown names cause a warning in the log.
"""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # the json module's own reader of strings
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.carriers.document import Carrier, CarrierError, Document, NonOption, OptionSet, SetReading
from advisor.catalog.targets import newest_target
from advisor.core.model import Location, Origin
from advisor.optionfile.lines import Line, LineKind
from advisor.redaction import STATEMENTS, is_secret, quote_value
from advisor.verdict import REFUSED, LineVerdict, Outcome, judge_value

if TYPE_CHECKING:
    from advisor.carriers.document import Document
    from advisor.catalog import Catalog


class JsonMember(NamedTuple):
    """A name and its value; `key` is the offset of the name's opening quote, `start` and `end` enclose the value."""

    name: str
    value: Any
    key: int
    start: int
    end: int


def check_json(document: Document) -> None:
    """Raise CarrierError if the text is not a JSON object."""
    try:
        value = json.loads(document.text)
    except json.JSONDecodeError as error:
        raise CarrierError(
            f"{document.path}:{error.lineno}: invalid JSON: {error.msg} at column {error.colno}; correct the line"
        ) from error
    except RecursionError as error:
        raise CarrierError(f"{document.path}: nested too deep for a file of settings; name another file") from error
    except ValueError as error:  # a number of thousands of digits
        raise CarrierError(f"{document.path}: it contains a number that no setting has; name another file") from error
    if not isinstance(value, dict):
        raise CarrierError(f"{document.path}:1: JSON, but not an object in braces; name another file")


def members(document: Document, at: int) -> list[JsonMember]:
    """Return the members of the object at an offset of valid JSON; empty if there is no object.

    Of a duplicate name the last one is used.
    """
    text = document.text
    decoder = json.JSONDecoder()
    at = _skip(text, at)
    if text[at : at + 1] != "{":
        return []
    by_name: dict[str, JsonMember] = {}
    at = _skip(text, at + 1)
    while text[at] == '"':
        key = at
        name, at = scanstring(text, at + 1, True)
        start = _skip(text, _skip(text, at) + 1)
        value, end = decoder.raw_decode(text, start)
        by_name[name] = JsonMember(name, value, key, start, end)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return list(by_name.values())


def _skip(text: str, at: int) -> int:
    blank = re.compile(r"[ \t\r\n]*").match(text, at)
    return blank.end() if blank else at


STATIC_1 = "mysql_server_static_options"
SECTION_1 = "mysql_server"
NUMBERS = ("int", "uint")
VERSIONS = (1, 2)
# 9.7.4 logs an error, sets no variable with a later Timestamp, and starts; 8.0.15 does not start; versions between were
# not tested.
STARTS_ANYWAY = (9, 7)
STOPS = (8, 0, 15)


class PersistedVariable(NamedTuple):
    """One persisted variable; `static` means that the server gets it with its options, before it starts."""

    name: str
    member: JsonMember
    value: JsonMember
    static: bool


def read_persisted(document: Document) -> Carrier:
    """Return the persisted variables as one set; raises CarrierError if the file is not a mysqld-auto.cnf."""
    entries = list(_entries(document))
    document.count(len(entries))
    for entry in entries:
        if is_secret(entry.name) or entry.name in STATEMENTS:  # a statement may contain a secret too
            document.hide(entry.value.start, entry.value.end)

    def read(catalog: Catalog) -> SetReading:
        return _read(document, entries, catalog)

    why = "only MySQL persists variables"
    one = OptionSet("persisted variables", read, newest_target("mysql"), why, "The file", Origin.PERSISTED)
    return Carrier(document, (one,))


def _entries(document: Document) -> list[PersistedVariable]:
    top = {m.name: m for m in members(document, 0)}
    version = top.get("Version")
    if version is None or version.value not in VERSIONS:
        raise CarrierError(
            f"{document.path}:1: the Version is not 1 or 2, so it is not a mysqld-auto.cnf and MySQL stops at it; let "
            "SET PERSIST write the file"
        )
    variables: list[PersistedVariable] = []
    for section in top.values():
        if section.name == SECTION_1:
            parts = members(document, section.start)
            variables += [_entry(document, m, static=False) for m in parts if m.name != STATIC_1]
            statics = [s for m in parts if m.name == STATIC_1 for s in members(document, m.start)]
            variables += [_entry(document, m, static=True) for m in statics]
        elif section.name != "Version":
            static = "static" in section.name
            variables += [_entry(document, m, static=static) for m in members(document, section.start)]
    return variables


def _entry(document: Document, member: JsonMember, *, static: bool) -> PersistedVariable:
    inside = {m.name: m for m in members(document, member.start)}
    value = inside.get("Value")
    if value is None or not isinstance(value.value, str):
        line, _ = document.place(member.start)
        raise CarrierError(
            f"{document.path}:{line}: {member.name} has no Value in quotes, which MySQL calls corrupt; "
            "let SET PERSIST write the file"
        )
    return PersistedVariable(member.name, member, value, static)


def _read(document: Document, entries: list[PersistedVariable], catalog: Catalog) -> SetReading:
    if not catalog.target.since("mysql", 8):
        raise CarrierError(f"{document.path}: {catalog.target.label} has no persisted variables; name MySQL 8 or later")
    lines: list[Line] = []
    strays: list[NonOption] = []
    for entry in entries:
        option = catalog.find_variable(entry.name) or catalog.get(entry.name.lower())
        if "." in entry.name or (option is not None and option.plugin):
            continue  # of a component, plugin or key cache: unknown until that exists
        text = entry.value.value
        given = text if option is None or entry.static or option.kind not in NUMBERS else _leading(text)
        verdict = judge_value(option.name if option else entry.name, given, catalog)
        stray = _stray(document, entry, verdict, catalog, given)
        if stray is not None:
            strays.append(stray)
        if stray is None or stray.name == "adjusted-value":
            lines.append(_line(document, entry, verdict, given))
    head = [Line(LineKind.GROUP, line.number, line.text, name=line.group) for line in lines[:1]]
    return SetReading((*head, *lines), tuple(lines), (), tuple(strays))


def _leading(text: str) -> str:
    """Return the number that SET reads from a text: its digits only."""
    digits = re.match(r"\s*[+-]?\d+", text)
    return digits[0].strip() if digits else "0"


def _line(document: Document, entry: PersistedVariable, verdict: LineVerdict, given: str) -> Line:
    place = _place(document, entry)
    value_line, value_column = document.place(entry.value.start + 1)
    _, value_end = document.place(entry.value.end - 1)
    if value_line != place.line:
        value_column = value_end = place.end_column
    return Line(
        LineKind.OPTION, place.line, document.whole_line(place.line), "mysqld", verdict.canonical or entry.name,
        entry.value.value, given, place.column, place.end_column, value_column, value_end,
    )  # fmt: skip


def _place(document: Document, entry: PersistedVariable) -> Location:
    """Return the location of the name, without its quotes."""
    number, column = document.place(entry.member.key + 1)
    return Location(document.path, number, column, number, column + len(json.dumps(entry.name)) - 2)


def _stray(
    document: Document, entry: PersistedVariable, verdict: LineVerdict, catalog: Catalog, given: str
) -> NonOption | None:
    place = _place(document, entry)
    label = catalog.target.label
    reset = f"RESET PERSIST {entry.name}"
    if verdict.outcome in (Outcome.UNKNOWN, Outcome.REMOVED):
        name = "unknown-option" if verdict.outcome is Outcome.UNKNOWN else "removed-option"
        message = f"{verdict.reason} {label} logs a warning and starts without it."
        return NonOption(name, message, reset, place, fatal=False, option=entry.name)
    wrong_word = not entry.static and verdict.option is not None and verdict.option.kind == "bool"
    if verdict.outcome in REFUSED or (wrong_word and given.upper() not in ("ON", "OFF")):
        return _invalid(entry, verdict, catalog, place)
    if given != entry.value.value:
        message = f"{label} takes {given} of {quote_value(entry.value.value)}: persisted numbers have no suffix."
        return NonOption("adjusted-value", message, f"SET PERSIST {entry.name} = the number", place, False, entry.name)
    return None


def _invalid(entry: PersistedVariable, verdict: LineVerdict, catalog: Catalog, place: Location) -> NonOption:
    target = catalog.target
    starts = not entry.static and target.since("mysql", *STARTS_ANYWAY)
    reason = verdict.reason if verdict.outcome in REFUSED else f"{entry.name} is ON or OFF when it is persisted."
    end = "starts, but sets neither it nor what was persisted later" if starts else "will not start with it"
    message = f"{reason} {target.label} {end}."
    return NonOption(
        "invalid-value", message, f"RESET PERSIST {entry.name}", place, fatal=not starts, option=entry.name
    )
