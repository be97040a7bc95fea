"""Two sides for tickets and merge requests: a table for each area, in Markdown of every forge."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from advisor.compare.values import Lot
from advisor.report.diffwords import about, members_of, name_of, source_of, value_of, values_of
from advisor.report.mdtext import code, prose
from advisor.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.compare.values import Alone, Comparison, Pair, Side

LONGEST = 80  # characters of a value that a table has room for
HEAD = "| Setting | A | B |\n|---|---|---|"


def report(found: Comparison, *, every: bool = False) -> str:
    """The whole page; `every` also tells, one by one, the defaults that only one side knows."""
    differing = found.of(Lot.DIFFERS)
    counted = sum(one.counts for one in (*found.only_a, *found.only_b))
    total = len(differing) + counted
    blocks = [
        f"## mycnf diff: {plural(total, 'difference') if total else 'no difference'}",
        "\n".join(
            f"- {letter}: {code(side.name)}, {prose(about(side))}"
            for letter, side in zip("AB", (found.a, found.b), strict=True)
        ),
    ]
    for area, pairs in groupby(differing, key=lambda pair: pair.area):
        blocks += [f"### {area.value}", _table(pairs, found)]
    blocks += list(_lone(found, every))
    blocks += list(_aside(found))
    return "\n\n".join(blocks) + "\n"


def _table(pairs: Iterable[Pair], found: Comparison) -> str:
    return "\n".join([HEAD, *(_row(pair, found) for pair in pairs)])


def _row(pair: Pair, found: Comparison) -> str:
    members = members_of(pair)
    texts = values_of(pair) if members is None else [", ".join(of) for of in members]
    cells = [
        _cell(text, source_of(*one)) for text, one in zip(texts, ((pair.a, found.a), (pair.b, found.b)), strict=True)
    ]
    return f"| {code(name_of(pair))} | {' | '.join(cells)} |"


def _cell(text: str, source: str) -> str:
    """The value, of a list what the other side has not, and where it came from."""
    if not text:
        return f"nothing more ({prose(source)})" if source else "nothing more"
    return code(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…") + (f" ({prose(source)})" if source else "")


def _lone(found: Comparison, every: bool) -> Iterator[str]:
    for letter, part, side in (("A", found.only_a, found.a), ("B", found.only_b, found.b)):
        shown = [one for one in part if one.counts or every]
        if shown:
            yield f"### Only {letter} knows"
            yield "\n".join(["| Setting | Value |", "|---|---|", *(_alone(one, side) for one in shown)])
        if len(part) > len(shown):
            yield f"Only {letter} knows {plural(len(part) - len(shown), 'default')} more."


def _alone(one: Alone, side: Side) -> str:
    return f"| {code(one.held.name)} | {_cell(value_of(one.held), source_of(one.held, side))} |"


def _aside(found: Comparison) -> Iterator[str]:
    for title, lot in (("Differs by nature", Lot.BY_NATURE), ("Left to the host", Lot.BY_HOST)):
        pairs = found.of(lot)
        if pairs:
            yield f"### {title}"
            yield _table(pairs, found)
    untold = [f"- {code(name_of(pair))}: {prose(pair.reason)}" for pair in found.of(Lot.NOT_TOLD)]
    untold += [f"- {code(held.name)}: no server shows it" for held in found.not_shown]
    if untold:
        yield "### Can't be told"
        yield "\n".join(untold)
