"""A result for people: the answer first, then the numbers, what they can't show, and what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redact import clean
from advisor.report import probechart
from advisor.report.probenames import numeric
from advisor.report.probepublished import curves
from advisor.report.probetable import CLAIMED, aligned, parted, sheets
from advisor.report.probewords import answer, beside, claims, ended, found, headline, published, relation, unseen, where
from advisor.report.words import bold, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.facts.probes import ProbeResult
    from advisor.report.paper import Paper
    from advisor.report.probetable import Sheet
    from advisor.report.proof import Proof


def report(result: ProbeResult, page: Paper, proof: Proof | None = None) -> str:
    """The whole page; what it proves of a rule stands before the answer."""
    proved = (proof.answer, proof.words) if proof else ()
    blocks = [
        f"{bold(clean(headline(result)), page.colour)}\n{wrap(clean(ended(result)), width=page.width)}",
        "\n".join(wrap(clean(line), width=page.width) for line in proved if line),
        "\n".join(wrap(clean(line), width=page.width) for line in (answer(result), *claims(result))),
        _numbers(result, page),
        _chart(result, page),
        _list("Found besides", found(result), page),
        _list("What this run can't show", unseen(result), page),
        _list("Notes", result.notes, page),
        _list("Where", where(result), page),
        _list("Published", published(result), page),
    ]
    return page.fitted("\n\n".join(block for block in blocks if block) + "\n")


def _numbers(result: ProbeResult, page: Paper) -> str:
    whole = sheets(result)
    blocks = ["\n\n".join(_sheet(part, page)) for part in whole]
    if any(cell.endswith(CLAIMED) for row in whole[0].rows for cell in row):
        words = f"{CLAIMED} differs from {beside(result)} by more than noise of this run's size does"
        blocks[0] += "\n" + wrap(clean(words), "  ", "    ", page.width)
    return "\n\n".join(blocks)


def _sheet(whole: Sheet, page: Paper) -> Iterator[str]:
    for piece in parted(whole, page.width):
        lines = [f"  {piece.title}"] if piece.title else []
        yield "\n".join(clean(line) for line in [*lines, *aligned(piece)])


def _chart(result: ProbeResult, page: Paper) -> str:
    shown = curves(result)
    if not shown:
        return ""
    drawn = probechart.draw(shown, page, joined=numeric(result))
    return f"{wrap(clean(relation(result)), '  ', width=page.width)}\n{drawn}"


def _list(title: str, entries: Iterable[str], page: Paper) -> str:
    lines = [wrap(clean(entry), "  ", "    ", page.width) for entry in entries if entry]
    return "\n".join([bold(title, page.colour), *lines]) if lines else ""
