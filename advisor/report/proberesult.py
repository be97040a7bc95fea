"""A result in each of the formats that a probe can be printed in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.exits import MycnfError

if TYPE_CHECKING:
    from advisor.facts.probes import ProbeResult
    from advisor.report.probepage import Page


def render(result: ProbeResult, form: str, page: Page) -> str:
    """The result as text, json, markdown or svg. MycnfError for a drawing of what has no two points to draw."""
    if form == "json":
        from advisor.report import probejson

        return probejson.report(result)
    if form == "markdown":
        from advisor.report import probemarkdown

        return probemarkdown.report(result)
    if form == "svg":
        return _drawing(result)
    from advisor.report import probetext

    return probetext.report(result, page)


def _drawing(result: ProbeResult) -> str:
    from advisor.report import probesvg
    from advisor.report.probenames import axis_name, numeric
    from advisor.report.probepublished import curves
    from advisor.report.probewords import answer, headline, relation

    shown = curves(result)
    if not shown:
        raise MycnfError(f"{result.probe} has no two variants to draw a curve of; take --format markdown or json")
    words = (axis_name(result), relation(result))
    return probesvg.draw(shown, headline(result), answer(result), words, joined=numeric(result))
