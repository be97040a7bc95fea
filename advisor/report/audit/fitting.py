"""An audit's findings and lists fitted to what a format has room for, each measured as the format writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from advisor.core.model import Severity
from advisor.report.document import Entries, Entry, Facts, Items, Listing, Section, holds
from advisor.report.finding import Detail, in_detail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from advisor.core.model import Finding
    from advisor.report.document import Block, Words
    from advisor.report.finding import Lengths

    Measure = Callable[[Block], int]

Thing = TypeVar("Thing")
NOT_LAID_OUT = Entry("", Severity.NOTE, "", ())


class Room(NamedTuple):
    """What a format has room for, in its own units: all blocks, the first steps, and each list.

    `what` the report is called, `detail` is how much of a finding it shows where there is room. A report for a
    `tracker` folds its facts, shows the actions of a first step once, and has no drawings.
    """

    what: str
    size: Measure
    most: int
    steps: int
    items: int
    lengths: Lengths
    detail: Detail
    tracker: bool = False


class Fitted(NamedTuple):
    """The findings that are shown, of which `named` show their evidence by name and `brief` are one line each.

    The last `without` are not shown.
    """

    entries: tuple[Entry, ...]
    named: int
    brief: int
    without: int


def fit_findings(findings: Sequence[Finding], step: Mapping[int, int], left: int, room: Room) -> Fitted:
    """The findings in `left` units; `step` has the numbers of the first steps by those of findings, from 1.

    Evidence is left out first, from the last finding upwards, then all but one line.
    """
    cited: set[str] = set()
    details = (room.detail, Detail.NAMED, Detail.BRIEF)
    forms = [list(_forms(findings, step, detail, room, left=left, cited=cited)) for detail in details]
    sizes = [[size for _, size in form] for form in forms] + [[0] * len(findings)]
    levels = [0] * len(findings)
    total = sum(sizes[0])
    for level in (1, 2, 3):
        for at in reversed(range(len(findings))):
            if total <= left:
                break
            total += sizes[level][at] - sizes[level - 1][at]
            levels[at] = level
    shown = (forms[level][at][0] for at, level in enumerate(levels) if level < len(details))
    return Fitted(tuple(shown), levels.count(1), levels.count(2), levels.count(3))


def _forms(
    findings: Sequence[Finding], step: Mapping[int, int], detail: Detail, room: Room, *, left: int, cited: set[str]
) -> Iterator[tuple[Entry, int]]:
    """Each finding in this detail with its size; those behind the first ones that fill `left` are not laid out."""
    spent = 0
    for order, f in enumerate(findings, 1):
        if spent > left:
            yield NOT_LAID_OUT, max(left, 0) + 1
            continue
        entry = in_detail(f, order, detail, room.lengths, cited=cited, step=step.get(order))
        size = room.size(entry)
        spent += size
        yield entry, size


def fit_steps(steps: Sequence[Entry], room: Room) -> tuple[Entry, ...]:
    """As many of the first steps as there is room for."""
    return _within(steps, room.steps, lambda step: room.size(Entries((step,), numbered=True)))


def _within(things: Sequence[Thing], left: int, size: Callable[[Thing], int]) -> tuple[Thing, ...]:
    """As many of the first things as `left` takes."""
    kept = []
    for thing in things:
        left -= size(thing)
        if left < 0:
            break
        kept.append(thing)
    return tuple(kept)


def fit_lists(block: Block, room: Room) -> Block:
    """A block whose lists have as many of their first rows as there is room for, and say how many more there are."""
    match block:
        case Section(blocks=blocks):
            return block._replace(blocks=tuple(fit_lists(inner, room) for inner in blocks))
        case Facts(rows=rows):
            kept = _within(rows, room.items, lambda row: room.size(Facts((row,))))
            more = (("…", f"{len(rows) - len(kept):,} more"),) if len(kept) < len(rows) else ()
            return block._replace(rows=(*kept, *more))
        case Items(items=items):
            shown = _within(items, room.items, lambda item: room.size(Items((item,))))
            left: tuple[Words, ...] = (f"{len(items) - len(shown):,} more",) if len(shown) < len(items) else ()
            return block._replace(items=(*shown, *left))
        case Listing() if holds(block) and room.size(block) > room.items:
            return Items(())
    return block
