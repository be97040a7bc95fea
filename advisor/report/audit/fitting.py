"""What a ticket or page leaves out: secrets, literals of statements, and findings for which the format has no room."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from advisor.core.model import Severity
from advisor.redaction import MASK, STATEMENTS, is_secret
from advisor.report.document import Cards, Entry, Facts, Items, Listing, Section, holds
from advisor.report.evidence import PageEvidence
from advisor.report.finding import Detail, on_page, place_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from advisor.core.model import Finding
    from advisor.facts.probes import ProbeResult
    from advisor.report.document import Block, Words
    from advisor.report.finding import Lengths

    Measure = Callable[[Block], int]


Thing = TypeVar("Thing")
NOT_LAID_OUT = Entry("", Severity.NOTE, "", ())
_LITERAL = r"'(?:\\.|[^'\\])+'?|\"(?:\\.|[^\"\\])+\"?"


class Room(NamedTuple):
    """What a format has room for, in its own units: all blocks, and each list; `what` the report is called."""

    what: str
    size: Measure
    most: int
    items: int
    lengths: Lengths


class FittedFindings(NamedTuple):
    """The findings that are shown, of which `named` show their evidence by name and `brief` are one line each.

    The last `without` are not shown.
    """

    entries: tuple[Entry, ...]
    named: int
    brief: int
    without: int


def fit_findings(
    findings: Sequence[Finding], left: int, room: Room, probes: tuple[ProbeResult, ...] = ()
) -> FittedFindings:
    """The findings of a page in `left` units, with the curves of this host's probe results in their evidence.

    Evidence is left out first, from the last finding upwards, then all but one line.
    """
    page = PageEvidence(set(), probes)
    forms = [list(_forms(findings, detail, room, left, page)) for detail in Detail]
    sizes = [[size for _, size in form] for form in forms] + [[0] * len(findings)]
    levels = [0] * len(findings)
    total = sum(sizes[0])
    for level in (1, 2, 3):
        for at in reversed(range(len(findings))):
            if total <= left:
                break
            total += sizes[level][at] - sizes[level - 1][at]
            levels[at] = level
    shown = (forms[level][at][0] for at, level in enumerate(levels) if level < len(Detail))
    return FittedFindings(tuple(shown), levels.count(1), levels.count(2), levels.count(3))


def _forms(
    findings: Sequence[Finding], detail: Detail, room: Room, left: int, page: PageEvidence
) -> Iterator[tuple[Entry, int]]:
    """Each finding in this detail with its size; those behind the first ones that fill `left` are not laid out."""
    spent = 0
    for f, name in zip(findings, place_names(findings), strict=True):
        if spent > left:
            yield NOT_LAID_OUT, max(left, 0) + 1
            continue
        entry = on_page(f, name, detail, room.lengths, page)
        size = room.size(entry)
        spent += size
        yield entry, size


def fit_whole(items: Sequence[Thing], left: int, size: Callable[[Thing], int]) -> tuple[Thing, ...]:
    """As many of the first things as `left` takes, each of them whole."""
    kept = []
    for item in items:
        left -= size(item)
        if left < 0:
            break
        kept.append(item)
    return tuple(kept)


def fit_lists(block: Block, room: Room) -> Block:
    """A block whose lists have as many of their first rows as there is room for, and say how many more there are."""
    match block:
        case Section(blocks=blocks):
            return block._replace(blocks=tuple(fit_lists(inner, room) for inner in blocks))
        case Cards(sections=sections):
            fitted = (fit_lists(section, room) for section in sections)
            return Cards(tuple(section for section in fitted if isinstance(section, Section)))
        case Facts(rows=rows):
            kept = fit_whole(rows, room.items, lambda row: room.size(Facts((row,))))
            more = (("…", f"{len(rows) - len(kept):,} more"),) if len(kept) < len(rows) else ()
            return block._replace(rows=(*kept, *more))
        case Items(items=items):
            shown = fit_whole(items, room.items, lambda item: room.size(Items((item,))))
            left: tuple[Words, ...] = (f"{len(items) - len(shown):,} more",) if len(shown) < len(items) else ()
            return block._replace(items=(*shown, *left))
        case Listing() if holds(block) and room.size(block) > room.items:
            return Items(())
    return block


def mask_finding(f: Finding) -> Finding:
    """The finding fit for a page that strangers read: what is masked in its value is masked wherever it is quoted."""
    hidden = _parts_to_mask(f)
    if not hidden:
        return f

    def without(words: str) -> str:
        for part in hidden:
            words = words.replace(part, MASK)
        return words

    return f._replace(
        message=without(f.message),
        help=without(f.help),
        value=f.value and without(f.value),
        actions=tuple(a.with_texts(without) for a in f.actions),
        local=f.local and f.local._replace(words=without(f.local.words)),
    )


def _parts_to_mask(f: Finding) -> list[str]:
    """The parts of its value to be masked, the longest first."""
    value = (f.value or "").strip()
    names = {name.removeprefix("loose_") for name in (f.canonical, f.option) if name}
    if not value or value == MASK:
        return []
    if any(map(is_secret, names)):
        return sorted({value, value.strip("'\"")} - {""}, key=len, reverse=True)
    if names.isdisjoint(STATEMENTS):
        return []
    literals = {found.strip("'\"") for found in re.findall(_LITERAL, value)}
    return sorted(literals - {""}, key=len, reverse=True)
