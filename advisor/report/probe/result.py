"""A probe's result: the answer first, then the numbers, what they can't show, and what was published."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError
from advisor.report.document import Chart, Code, Document, Items, Paragraph, Section, Table
from advisor.report.formats import render as render_document
from advisor.report.probe import as_json
from advisor.report.probe.names import axis_name, numeric
from advisor.report.probe.published import curves
from advisor.report.probe.tables import CLAIMED, sheets
from advisor.report.probe.words import (
    answer,
    beside,
    claims,
    ended,
    found,
    headline,
    published,
    question,
    relation,
    unseen,
    where,
)
from advisor.report.render import svg_chart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.facts.probes import ProbeResult
    from advisor.report.document import Block
    from advisor.report.paper import Paper
    from advisor.report.probe.proof import Proof


def render(result: ProbeResult, form: str, paper: Paper, proof: Proof | None = None) -> str:
    """The result in the format of that name, after what it proves of a rule if it was made for one.

    MycnfError for a drawing of what has no two points to draw.
    """
    own = {"json": partial(as_json.report, result, proof), "svg": partial(_drawing, result)}
    return render_document("probe", form, paper, partial(document, result, proof), own)


def document(result: ProbeResult, proof: Proof | None = None) -> Document:
    """The whole report; what it proves of a rule stands before the answer."""
    proved = (Paragraph(proof.answer, strong=True), Paragraph(proof.words)) if proof else ()
    purpose, outcome = question(result), answer(result)
    answers = (Paragraph(purpose), Paragraph(outcome, strong=True), *map(Paragraph, claims(result)))
    chart = Chart(curves(result), relation(result), axis_name(result), numeric(result), purpose, outcome)
    blocks: list[Block] = [Section("", proved), Section("", answers), chart, *_numbers(result)]
    blocks += [
        _listed("Found besides", found(result)),
        _listed("What this run can't show", unseen(result)),
        _listed("Notes", result.notes),
        _listed("Where", where(result)),
        _listed("Published", published(result)),
    ]
    return Document((headline(result), ended(result)), tuple(blocks))


def _numbers(result: ProbeResult) -> Iterator[Section]:
    for at, sheet in enumerate(sheets(result)):
        numbers = tuple(range(1, len(sheet.heads)))
        rows = tuple((Code(name), *cells) for name, *cells in sheet.rows)
        starred = not at and any(cell.endswith(CLAIMED) for row in sheet.rows for cell in row)
        words = f"{CLAIMED} differs from {beside(result)} by more than noise of this run's size does"
        note = Items((words,) if starred else ())
        yield Section("", (Paragraph(sheet.title, indent=2), Table(sheet.heads, rows, numbers), note))


def _listed(title: str, entries: Iterable[str]) -> Section:
    return Section(title, (Items(tuple(entry for entry in entries if entry)),))


def _drawing(result: ProbeResult) -> str:
    shown = curves(result)
    if not shown:
        raise MycnfError(f"{result.probe} has no two variants to draw a curve of; take --format markdown or json")
    words = (axis_name(result), relation(result))
    title = question(result) or headline(result)
    return svg_chart.draw(shown, title, answer(result), words, joined=numeric(result))
