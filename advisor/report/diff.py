"""A comparison of two sides as a document and as JSON: what matters first, each value with its source.

The field names of the JSON are a contract, published in schemas/diff.schema.json.
"""

from __future__ import annotations

from itertools import groupby

from advisor.compare.values import Category, SideKind
from advisor.core import NamedTuple
from advisor.core.model import Origin, exact_size
from advisor.preflight.item import BYTES
from advisor.preflight.next_values import parse_whole_number
from advisor.redaction import MASK, escape_text, redact_value
from advisor.report import plural
from advisor.report.document import Code, Document, Facts, Items, Paragraph, Section, Table, Value
from advisor.report.findings_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from advisor.compare.values import Comparison, OneSided, SettingPair, Side, SideSetting
    from advisor.report.document import Block


NAMES, VALUES, ROOM = 32, 20, 22  # columns for a name, for the first of two values and for the second
LISTED = 12  # settings that only one side has; above that, only their number is given
NOTHING = "(nothing)"
NOT_REPORTED = "source not reported"
HEADS = ("setting", "A", "B")

SOURCES = {
    Origin.PERSISTED: "persisted",
    Origin.COMMAND_LINE: "command line",
    Origin.RUNTIME: "SET GLOBAL",
    Origin.COMPILED: "default",
    Origin.UNKNOWN: "",
}

KINDS = {
    SideKind.FILE: "option file",
    SideKind.SERVER: "running server",
    SideKind.SNAPSHOT: "snapshot",
    SideKind.DEFAULTS: "defaults",
}
HOST, TEMPLATE, EMPTY = "(by host)", "(template)", "(empty)"
SIZES = (*BYTES, "_limit_bytes", "_max_ram", "_max_mmap")
VERSION = 1


def document(comparison: Comparison, *, every: bool = False) -> Document:
    """The comparison; `every` lists all that differs by nature, and all that only one side has."""
    sides = tuple(
        (letter, (Code(side.name), f"  {about(side)}"))
        for letter, side in zip("AB", (comparison.a, comparison.b), strict=True)
    )
    blocks: list[Block] = [Facts(sides), Paragraph(_sentence(comparison, every)), *_areas(comparison)]
    blocks.append(_only_in("A", comparison.only_a, _lacks("B", comparison.b, comparison.a), every))
    blocks.append(_only_in("B", comparison.only_b, _lacks("A", comparison.a, comparison.b), every))
    blocks += [
        _aside(comparison, Category.BY_NATURE, every),
        _aside(comparison, Category.BY_HOST, every),
        _unknown_section(comparison),
    ]
    return Document(("mycnf diff", _total(comparison)), tuple(blocks))


def _total(comparison: Comparison) -> str:
    total = len(comparison.of(Category.DIFFERS)) + sum(one.counts for one in (*comparison.only_a, *comparison.only_b))
    return plural(total, "difference") if total else "no difference"


def _sentence(comparison: Comparison, every: bool) -> str:
    """How much differs, and what does not count, in one line."""
    count = {lot: len(comparison.of(lot)) for lot in Category}
    nature = f"{plural(count[Category.BY_NATURE], 'differs', 'differ')} by nature" if count[Category.BY_NATURE] else ""
    lone = [
        (sum(one.counts for one in part), letter)
        for part, letter in ((comparison.only_a, "A"), (comparison.only_b, "B"))
    ]
    counted = [
        plural(count[Category.DIFFERS], "setting differs", "settings differ") if count[Category.DIFFERS] else "",
        *(f"{number:,} only in {letter}" for number, letter in lone if number),
        nature if every else "",
    ]
    aside = [
        f"{count[Category.ALIKE]:,} alike",
        f"{nature}, not counted" if nature and not every else "",
        f"{count[Category.BY_HOST]:,} left to the host" if count[Category.BY_HOST] else "",
        f"{count[Category.UNDETERMINED]:,} unknown" if count[Category.UNDETERMINED] else "",
    ]
    differences = ", ".join(part for part in counted if part) or "No difference"
    return f"{differences}; {'; '.join(part for part in aside if part)}."


def _areas(comparison: Comparison) -> Iterator[Section]:
    """A table for each area."""
    for at, (area, pairs) in enumerate(groupby(comparison.of(Category.DIFFERS), key=lambda pair: pair.area)):
        yield Section(area.value, (_table(pairs, comparison, headed=not at),))


def _table(
    pairs: Iterable[SettingPair], comparison: Comparison, *, sources: bool = True, headed: bool = False
) -> Table:
    rows = tuple(_row(pair, comparison, sources) for pair in pairs)
    return Table(HEADS, rows, widths=(NAMES, VALUES), headed=headed)


def _row(pair: SettingPair, comparison: Comparison, sources: bool) -> tuple[Value, ...]:
    """The values of both sides; of long lists what the other side lacks."""
    texts = values_of(pair)
    short = len(texts[0]) <= VALUES and len(texts[1]) <= ROOM
    members = None if short else members_of(pair)
    if members is not None:
        texts = (", ".join(members.only_a) or NOTHING, ", ".join(members.only_b) or NOTHING)
    notes = _sources(pair, comparison) if sources else ("", "")
    lead = "only" if members is not None else ""
    cells = (Value(Code(text), note, lead) for text, note in zip(texts, notes, strict=True))
    return Value(Code(name_of(pair))), *cells


def _sources(pair: SettingPair, comparison: Comparison) -> tuple[str, str]:
    """Both sources; empty if the value is set on neither side."""
    if pair.derived:
        return "not set, derived", ""
    unknown = Origin.UNKNOWN in (pair.a.origin, pair.b.origin) and comparison.a.target == comparison.b.target
    if not pair.a.is_set and not pair.b.is_set and not unknown:
        return "", ""
    texts = source_of(pair.a, comparison.a), source_of(pair.b, comparison.b)
    if not unknown:
        return texts
    mine, other = (NOT_REPORTED if held.origin is Origin.UNKNOWN else text
                   for held, text in zip((pair.a, pair.b), texts, strict=True))  # fmt: skip
    return mine, other


def _only_in(letter: str, part: tuple[OneSided, ...], lacks: str, every: bool) -> Section:
    """The settings that only one side has: those that are set with their values, of the rest the names."""
    shown = [one.setting for one in part if one.counts or every]
    rest = [one.setting.name for one in part if not one.counts and not every]
    places = [held.location for held in shown]
    notes = (f"{at.path}:{at.line}" if at and at.line else "" for at in places)
    rows = tuple((Code(held.name), Value(Code(value_of(held)), note)) for held, note in zip(shown, notes, strict=True))
    names = ", ".join(rest[:LISTED]) + (f" and {len(rest) - LISTED} more" if len(rest) > LISTED else "")
    what = f"{plural(len(rest), 'default')} more" if shown else plural(len(rest), "default")
    more = Paragraph(f"{what}, not counted (--all lists them): {names}" if rest else "")
    table = Table(("setting", "value"), rows, widths=(NAMES,), headed=False)
    return Section(f"only in {letter}{lacks}", (table, more))


def _lacks(letter: str, side: Side, other: Side) -> str:
    """Why the side does not have them: its version, or a running server without the plugin; empty if unknown."""
    if side.runs:
        return f": {letter} has no such variable"
    return "" if side.target == other.target else f": not in {side.target.label}"


def _aside(comparison: Comparison, lot: Category, every: bool) -> Section:
    """What does not count; with where it comes from where all is wanted."""
    titles = {
        Category.BY_NATURE: "differs by nature" + ("" if every else " (--all counts it)"),
        Category.BY_HOST: "left to the host (by its memory, processors, limits or file system)",
    }
    pairs = comparison.of(lot)
    shown = [pair for pair in pairs if every or lot is Category.BY_HOST or None not in (pair.a.value, pair.b.value)]
    others = ", ".join(pair.name for pair in pairs if pair not in shown)
    more = Paragraph(f"by host on one side: {others}" if others else "")
    return Section(titles[lot], (_table(shown, comparison, sources=every), more))


def _unknown_section(comparison: Comparison) -> Section:
    lines = [(Code(name_of(pair)), f": {pair.reason}") for pair in comparison.of(Category.UNDETERMINED)]
    names = ", ".join(held.name for held in comparison.not_shown)
    more = Paragraph(f"no server shows whether these are set: {names}" if names else "")
    return Section("unknown", (Items(tuple(lines)), more))


class Members(NamedTuple):
    """A list's members that only one side has, or the switches that stand otherwise, by how they turn."""

    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def value_of(held: SideSetting) -> str:
    """The value for people: sizes in the unit in which they are written, secrets masked, harmless to a terminal."""
    if held.value is None:
        return TEMPLATE if held.is_set else HOST
    number = parse_whole_number(held.value) if held.name.endswith(SIZES) else None
    text = escape_text(redact_value(held.name, held.value)) if number is None else exact_size(number)
    text = f"at most {text}" if held.lower is not None else text
    there = held.converted_value
    return f"{text} (as {there})" if there is not None and there not in (text, held.value) else text or EMPTY


def values_of(pair: SettingPair) -> tuple[str, str]:
    """Both values for people; two secrets that differ look alike, and one of them says so."""
    mine, other = value_of(pair.a), value_of(pair.b)
    return (mine, f"{other} (differs)") if mine == other and MASK in mine else (mine, other)


def source_of(held: SideSetting, side: Side) -> str:
    """Where the value came from: the place in a file, or who set it; empty if unknown."""
    place = held.location
    if held.origin is Origin.FILE:
        if place is None:
            return "a file"
        return escape_text(f"{place.path}:{place.line}" if place.line else place.path)
    return "" if side.kind is SideKind.DEFAULTS else SOURCES[held.origin]


def about(side: Side) -> str:
    """What a side is: its version, its kind, how a server calls itself and when it was read."""
    parts = [side.target.label, side.document or KINDS[side.kind]]
    if side.server_name:
        parts[1] += f" of {side.server_name}" if side.kind is SideKind.SNAPSHOT else f" {side.server_name}"
    if side.kind is SideKind.SNAPSHOT:
        parts.append(f"{side.taken_at[:16].replace('T', ' ')} UTC")
    return escape_text(", ".join(parts))


def name_of(pair: SettingPair) -> str:
    """The setting's name, with the other side's where that is another."""
    return pair.name if pair.a.name == pair.b.name else f"{pair.a.name} / {pair.b.name}"


def members_of(pair: SettingPair) -> Members | None:
    """What of two lists differs; None where they are no lists, or short enough to be read whole."""
    if pair.a.value is None or pair.b.value is None or "," not in pair.a.value + pair.b.value:
        return None
    mine, other = (
        [escape_text(part.strip()) for part in redact_value(held.name, held.value or "").split(",")]
        for held in (pair.a, pair.b)
    )
    if any(" " in part for part in (*mine, *other)) or "" in (
        *(mine if mine[1:] else ()),
        *(other if other[1:] else ()),
    ):
        return None  # a text with commas in it, such as a statement
    if all("=" in part for part in (*mine, *other)):
        return _switches(mine, other)
    theirs, ours = ({part.upper() for part in parts} for parts in (other, mine))
    members = Members(
        tuple(part for part in mine if part.upper() not in theirs),
        tuple(part for part in other if part.upper() not in ours),
    )
    return members if any(members) else None


def _switches(mine: list[str], other: list[str]) -> Members | None:
    """The switches that both have and that stand otherwise."""
    ours, theirs = (dict(part.split("=", 1) for part in parts) for parts in (mine, other))
    moved = [name for name in ours if name in theirs and ours[name] != theirs[name]]
    found = Members(tuple(f"{n}={ours[n]}" for n in moved), tuple(f"{n}={theirs[n]}" for n in moved))
    return found if moved else None


def as_json(comparison: Comparison, *, every: bool = False) -> str:
    """The whole comparison, what matters first; `every` says that what differs by nature counts."""
    return dumps(
        {
            "version": VERSION,
            "differs": comparison.differs(by_nature=every),
            "a": _side_fields(comparison.a),
            "b": _side_fields(comparison.b),
            "differences": [_pair_fields(pair) for pair in comparison.of(Category.DIFFERS)],
            "only_a": [_one_sided_fields(one) for one in comparison.only_a],
            "only_b": [_one_sided_fields(one) for one in comparison.only_b],
            "by_nature": [_pair_fields(pair) for pair in comparison.of(Category.BY_NATURE)],
            "by_host": [_pair_fields(pair) for pair in comparison.of(Category.BY_HOST)],
            "not_told": [
                {"variable": pair.name, "reason": pair.reason} for pair in comparison.of(Category.UNDETERMINED)
            ],
            "not_shown": [_setting_fields(held) for held in comparison.not_shown],
            "alike": len(comparison.of(Category.ALIKE)),
        }
    )


def _side_fields(side: Side) -> dict[str, Any]:
    return {
        "kind": side.kind.value,
        "name": side.name,
        "target": str(side.target),
        "hostname": side.server_name or None,
        "taken_at": side.taken_at or None,
    }


def _pair_fields(pair: SettingPair) -> dict[str, Any]:
    members = members_of(pair)
    return {
        "variable": pair.name,
        "also": list(pair.other_names),
        "area": pair.area.value,
        "a": _setting_fields(pair.a),
        "b": _setting_fields(pair.b),
        "members_a": None if members is None else list(members.only_a),
        "members_b": None if members is None else list(members.only_b),
        "derived": pair.derived,
        "reason": pair.reason or None,
    }


def _one_sided_fields(one: OneSided) -> dict[str, Any]:
    return {**_setting_fields(one.setting), "area": one.area.value, "counts": one.counts}


def _setting_fields(held: SideSetting) -> dict[str, Any]:
    place = held.location
    return {
        "name": held.name,
        "value": _mask_value(held, held.value),
        "raw": _mask_value(held, held.raw),
        "value_there": held.converted_value,
        "origin": held.origin.value,
        "path": place.path if place else None,
        "line": place.line if place and place.line else None,
    }


def _mask_value(held: SideSetting, value: str | None) -> str | None:
    return None if value is None else redact_value(held.name, value)
