"""Two sides for people: what matters first, each value with where it came from."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from advisor.compare.values import Lot
from advisor.redact import clean
from advisor.report.diffwords import about, members_of, name_of, source_of, value_of, values_of
from advisor.report.words import WIDTH, bold, plural, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.compare.values import Alone, Comparison, Held, Pair, Side

NAMES, VALUES = 34, 20  # columns for a name, and for the first of two values
ROOM = WIDTH - 2 - NAMES - VALUES - 2  # for the second value
LISTED = 12  # settings that one side alone knows, before only their names are told
MARGIN = "  "
NOTHING = "(nothing)"


def report(found: Comparison, *, every: bool = False, colour: bool = False) -> str:
    """The comparison; `every` prints whole what differs by nature and what only one side knows."""
    blocks = [_head(found, every), *_areas(found, colour)]
    blocks += [_lone(part, letter, every, colour) for part, letter in ((found.only_a, "A"), (found.only_b, "B"))]
    blocks += [_aside(found, Lot.BY_NATURE, every, colour), _aside(found, Lot.BY_HOST, every, colour)]
    blocks += [_untold(found, colour)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _head(found: Comparison, every: bool) -> str:
    lines = [
        wrap(f"{clean(side.name)}  {about(side)}", f"{letter}  ", "   ")
        for letter, side in (("A", found.a), ("B", found.b))
    ]
    return "\n".join([*lines, "", wrap(_sentence(found, every))])


def _sentence(found: Comparison, every: bool) -> str:
    """How much differs, and what does not count, in one line."""
    count = {lot: len(found.of(lot)) for lot in Lot}
    nature = f"{plural(count[Lot.BY_NATURE], 'differs', 'differ')} by nature" if count[Lot.BY_NATURE] else ""
    lone = [(sum(one.counts for one in part), letter) for part, letter in ((found.only_a, "A"), (found.only_b, "B"))]
    counted = [
        plural(count[Lot.DIFFERS], "setting differs", "settings differ") if count[Lot.DIFFERS] else "",
        *(f"{number:,} {letter} alone knows" for number, letter in lone if number),
        nature if every else "",
    ]
    aside = [
        f"{count[Lot.ALIKE]:,} alike",
        f"{nature}, not counted" if nature and not every else "",
        f"{count[Lot.BY_HOST]:,} left to the host" if count[Lot.BY_HOST] else "",
        f"{count[Lot.NOT_TOLD]:,} can't be told" if count[Lot.NOT_TOLD] else "",
    ]
    differences = ", ".join(part for part in counted if part) or "No difference"
    return f"{differences}; {'; '.join(part for part in aside if part)}."


def _areas(found: Comparison, colour: bool) -> Iterator[str]:
    """A block for each area, the first under the letters of the sides."""
    heading = f"{'':<{len(MARGIN) + NAMES}}{'A':<{VALUES + 2}}B"
    for number, (area, pairs) in enumerate(groupby(found.of(Lot.DIFFERS), key=lambda pair: pair.area)):
        title = bold(area.value, colour)
        first = title + heading[len(area.value) :] if not number else title
        yield "\n".join([first, *(line for pair in pairs for line in _pair(pair, found, colour))])


def _pair(pair: Pair, found: Comparison, colour: bool) -> Iterator[str]:
    name, values = name_of(pair), values_of(pair)
    sources = _sources(pair, found.a, found.b)
    if len(values[0]) <= VALUES and len(values[1]) <= ROOM:
        yield from _row(name, values, sources, colour)
        return
    yield f"{MARGIN}{bold(name, colour)}"
    members = members_of(pair)
    for side, letter in enumerate("AB"):
        if members is None:
            yield _tall(letter, values[side], sources[side])
        else:
            yield _tall(f"only {letter}", ", ".join(members[side]) or NOTHING, sources[side])


def _row(name: str, values: tuple[str, str], sources: tuple[str, str], colour: bool) -> Iterator[str]:
    """Name and both values on a line, where they came from on the next; a long name has a line of its own."""
    lead = f"{MARGIN}{bold(name, colour)}{' ' * max(0, NAMES - len(name))}"
    if len(name) >= NAMES:
        yield f"{MARGIN}{bold(name, colour)}"
        lead = " " * (len(MARGIN) + NAMES)
    yield f"{lead}{values[0]:<{VALUES}}  {values[1]}".rstrip()
    if any(sources):
        yield f"{'':<{len(MARGIN) + NAMES}}{_tail(sources[0], VALUES):<{VALUES}}  {_tail(sources[1], ROOM)}".rstrip()


def _tall(lead: str, text: str, source: str) -> str:
    """A long value on lines of its own, its source behind it or below."""
    lead = f"    {lead}  "
    told = wrap(_broken(text, len(lead)), lead)
    last = told.rpartition("\n")[2]
    if not source:
        return told
    if len(last) + 2 + len(source) <= WIDTH:
        return f"{told}  {source}"
    return f"{told}\n{'':<{len(lead)}}{_tail(source, WIDTH - len(lead))}"


def _broken(text: str, before: int) -> str:
    """The text with room behind its commas, so that a list which is too long for its line can be wrapped."""
    return text.replace(",", ", ") if before + len(text) > WIDTH and ", " not in text else text


def _sources(pair: Pair, a: Side, b: Side) -> tuple[str, str]:
    """Both sources, where one of them says more than that nobody set the value."""
    if pair.derived:
        return "not set, derived", ""
    if not pair.a.is_set and not pair.b.is_set:
        return "", ""
    return source_of(pair.a, a), source_of(pair.b, b)


def _tail(text: str, room: int) -> str:
    """The end of a path that is too long, which tells more than its beginning."""
    return text if len(text) <= room else f"…{text[len(text) - room + 1 :]}"


def _lone(part: tuple[Alone, ...], letter: str, every: bool, colour: bool) -> str:
    """What one side alone knows: what somebody set there with its value, of the rest the names."""
    if not part:
        return ""
    shown = [one for one in part if one.counts or every]
    rest = [one.held.name for one in part if not one.counts and not every]
    lines = [bold(f"only {letter} knows", colour), *(_setting(one.held) for one in shown)]
    if rest:
        what = f"{plural(len(rest), 'default')} more" if shown else plural(len(rest), "default")
        names = ", ".join(rest[:LISTED]) + (f" and {len(rest) - LISTED} more" if len(rest) > LISTED else "")
        lines.append(wrap(f"{what}, not counted (--all lists them): {names}", MARGIN, MARGIN))
    return "\n".join(lines)


def _setting(held: Held) -> str:
    lead = f"{MARGIN}{held.name:<{NAMES}}"
    return wrap(f"{_broken(value_of(held), len(lead))}{_place(held)}", lead)


def _place(held: Held) -> str:
    return f"  {held.location.path}:{held.location.line}" if held.location and held.location.line else ""


def _aside(found: Comparison, lot: Lot, every: bool, colour: bool) -> str:
    """What does not count, a line each; whole where all is wanted."""
    pairs = found.of(lot)
    if not pairs:
        return ""
    titles = {
        Lot.BY_NATURE: "differs by nature" + ("" if every else " (--all counts it)"),
        Lot.BY_HOST: "left to the host (by its memory, processors, limits or file system)",
    }
    title = bold(titles[lot], colour)
    if every:
        return "\n".join([title, *(line for pair in pairs for line in _pair(pair, found, colour))])
    told = [pair for pair in pairs if lot is Lot.BY_HOST or None not in (pair.a.value, pair.b.value)]
    untold = ", ".join(pair.name for pair in pairs if pair not in told)
    rest = [wrap(f"by host on one side: {untold}", MARGIN, MARGIN * 2)] if untold else []
    return "\n".join([title, *(_short(pair) for pair in told), *rest])


def _short(pair: Pair) -> str:
    """Both values on one line, cut where they are too long."""
    mine, other = values_of(pair)
    values = _tail(mine, VALUES), _tail(other, ROOM)
    return f"{MARGIN}{_tail(name_of(pair), NAMES - 1):<{NAMES}}{values[0]:<{VALUES}}  {values[1]}".rstrip()


def _untold(found: Comparison, colour: bool) -> str:
    lines = [wrap(f"{name_of(pair)}: {pair.reason}", MARGIN, MARGIN * 2) for pair in found.of(Lot.NOT_TOLD)]
    if found.not_shown:
        names = ", ".join(held.name for held in found.not_shown)
        lines.append(wrap(f"no server shows whether these are set: {names}", MARGIN, MARGIN * 2))
    return "\n".join([bold("can't be told", colour), *lines]) if lines else ""
