"""Two sides, compared: what matters first, each value with where it comes from."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from advisor.compare.values import Category
from advisor.report.diff.words import about, members_of, name_of, source_of, value_of, values_of
from advisor.report.document import Code, Document, Facts, Items, Paragraph, Section, Table, Value
from advisor.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.compare.values import Comparison, OneSided, SettingPair
    from advisor.report.document import Block

NAMES, VALUES, ROOM = 32, 20, 22  # columns for a name, for the first of two values and for the second
LISTED = 12  # settings that one side alone knows, before only their number is said
NOTHING = "(nothing)"
HEADS = ("setting", "A", "B")


def document(found: Comparison, *, every: bool = False) -> Document:
    """The comparison; `every` tells whole what differs by nature and what only one side knows."""
    sides = tuple(
        (letter, (Code(side.name), f"  {about(side)}")) for letter, side in zip("AB", (found.a, found.b), strict=True)
    )
    blocks: list[Block] = [Facts(sides), Paragraph(_sentence(found, every)), *_areas(found)]
    blocks += [_alone(part, letter, every) for part, letter in ((found.only_a, "A"), (found.only_b, "B"))]
    blocks += [_aside(found, Category.BY_NATURE, every), _aside(found, Category.BY_HOST, every), _untold(found)]
    return Document(("mycnf diff", _total(found)), tuple(blocks))


def _total(found: Comparison) -> str:
    total = len(found.of(Category.DIFFERS)) + sum(one.counts for one in (*found.only_a, *found.only_b))
    return plural(total, "difference") if total else "no difference"


def _sentence(found: Comparison, every: bool) -> str:
    """How much differs, and what does not count, in one line."""
    count = {lot: len(found.of(lot)) for lot in Category}
    nature = f"{plural(count[Category.BY_NATURE], 'differs', 'differ')} by nature" if count[Category.BY_NATURE] else ""
    lone = [(sum(one.counts for one in part), letter) for part, letter in ((found.only_a, "A"), (found.only_b, "B"))]
    counted = [
        plural(count[Category.DIFFERS], "setting differs", "settings differ") if count[Category.DIFFERS] else "",
        *(f"{number:,} {letter} alone knows" for number, letter in lone if number),
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


def _areas(found: Comparison) -> Iterator[Section]:
    """A table for each area."""
    for at, (area, pairs) in enumerate(groupby(found.of(Category.DIFFERS), key=lambda pair: pair.area)):
        yield Section(area.value, (_table(pairs, found, headed=not at),))


def _table(pairs: Iterable[SettingPair], found: Comparison, *, sources: bool = True, headed: bool = False) -> Table:
    rows = tuple(_row(pair, found, sources) for pair in pairs)
    return Table(HEADS, rows, widths=(NAMES, VALUES), headed=headed)


def _row(pair: SettingPair, found: Comparison, sources: bool) -> tuple[Value, ...]:
    """The values of both sides; of long lists what the other side lacks."""
    texts = values_of(pair)
    short = len(texts[0]) <= VALUES and len(texts[1]) <= ROOM
    members = None if short else members_of(pair)
    if members is not None:
        texts = (", ".join(members.only_a) or NOTHING, ", ".join(members.only_b) or NOTHING)
    notes = _sources(pair, found) if sources else ("", "")
    lead = "only" if members is not None else ""
    cells = (Value(Code(text), note, lead) for text, note in zip(texts, notes, strict=True))
    return Value(Code(name_of(pair))), *cells


def _sources(pair: SettingPair, found: Comparison) -> tuple[str, str]:
    """Both sources, where one of them says more than that nobody set the value."""
    if pair.derived:
        return "not set, derived", ""
    if not pair.a.is_set and not pair.b.is_set:
        return "", ""
    return source_of(pair.a, found.a), source_of(pair.b, found.b)


def _alone(part: tuple[OneSided, ...], letter: str, every: bool) -> Section:
    """What one side alone knows: what is set there with its value, of the rest the names."""
    shown = [one.setting for one in part if one.counts or every]
    rest = [one.setting.name for one in part if not one.counts and not every]
    places = [held.location for held in shown]
    notes = (f"{at.path}:{at.line}" if at and at.line else "" for at in places)
    rows = tuple((Code(held.name), Value(Code(value_of(held)), note)) for held, note in zip(shown, notes, strict=True))
    names = ", ".join(rest[:LISTED]) + (f" and {len(rest) - LISTED} more" if len(rest) > LISTED else "")
    what = f"{plural(len(rest), 'default')} more" if shown else plural(len(rest), "default")
    more = Paragraph(f"{what}, not counted (--all lists them): {names}" if rest else "")
    return Section(f"only {letter} knows", (Table(("setting", "value"), rows, widths=(NAMES,), headed=False), more))


def _aside(found: Comparison, lot: Category, every: bool) -> Section:
    """What does not count; with where it comes from where all is wanted."""
    titles = {
        Category.BY_NATURE: "differs by nature" + ("" if every else " (--all counts it)"),
        Category.BY_HOST: "left to the host (by its memory, processors, limits or file system)",
    }
    pairs = found.of(lot)
    told = [pair for pair in pairs if every or lot is Category.BY_HOST or None not in (pair.a.value, pair.b.value)]
    untold = ", ".join(pair.name for pair in pairs if pair not in told)
    more = Paragraph(f"by host on one side: {untold}" if untold else "")
    return Section(titles[lot], (_table(told, found, sources=every), more))


def _untold(found: Comparison) -> Section:
    lines = [(Code(name_of(pair)), f": {pair.reason}") for pair in found.of(Category.UNDETERMINED)]
    names = ", ".join(held.name for held in found.not_shown)
    more = Paragraph(f"no server shows whether these are set: {names}" if names else "")
    return Section("unknown", (Items(tuple(lines)), more))
