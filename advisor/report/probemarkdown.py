"""A result as Markdown for a ticket: what the text says, with tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.mdtext import code, prose
from advisor.report.probetable import CLAIMED, sheets
from advisor.report.probewords import answer, beside, claims, ended, found, headline, published, unseen, where

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.facts.probes import ProbeResult
    from advisor.report.probetable import Sheet
    from advisor.report.proof import Proof


def report(result: ProbeResult, proof: Proof | None = None) -> str:
    """The whole result under a heading of the second level, what it proves of a rule first."""
    blocks = [f"## {prose(headline(result))}"]
    if proof:
        blocks += [f"**{prose(proof.answer)}**", *([prose(proof.words)] if proof.words else [])]
    blocks.append(f"**{prose(answer(result))}**")
    blocks += [*map(prose, claims(result)), prose(ended(result))]
    for whole in sheets(result):
        blocks += [prose(whole.title)] if whole.title else []
        blocks.append("\n".join(_table(whole)))
    if any(cell.endswith(CLAIMED) for row in sheets(result)[0].rows for cell in row):
        blocks.append(f"\\{CLAIMED} differs from {code(beside(result))} by more than noise of this run's size does")
    for title, entries in (
        ("Found besides", found(result)),
        ("What this run can't show", unseen(result)),
        ("Notes", result.notes),
        ("Where", where(result)),
        ("Published", published(result)),
    ):
        blocks += _list(title, entries)
    return "\n\n".join(blocks) + "\n"


def _table(whole: Sheet) -> Iterator[str]:
    yield f"| {' | '.join(code(head) for head in whole.heads)} |"
    yield "|" + "|".join([":--", *("--:" for _ in whole.heads[1:])]) + "|"
    for name, *cells in whole.rows:
        shown = (cell.strip().replace(CLAIMED, f"\\{CLAIMED}") for cell in cells)
        yield f"| {code(name)} | {' | '.join(shown)} |"


def _list(title: str, entries: Iterable[str]) -> list[str]:
    lines = [f"- {prose(entry)}" for entry in entries if entry]
    return [f"### {title}", "\n".join(lines)] if lines else []
