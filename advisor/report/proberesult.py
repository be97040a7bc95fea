"""A result in each of the formats that a probe can be printed in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.exits import MycnfError

if TYPE_CHECKING:
    from advisor.facts.probes import ProbeResult
    from advisor.report.paper import Paper
    from advisor.report.proof import Proof


def render(result: ProbeResult, form: str, page: Paper, proof: Proof | None = None) -> str:
    """The result as text, json, markdown or svg, after what it proves of a rule if it was made for one.

    MycnfError for a drawing of what has no two points to draw.
    """
    if form == "json":
        from advisor.report import probejson

        return probejson.report(result, proof)
    if form == "markdown":
        from advisor.report import probemarkdown

        return probemarkdown.report(result, proof)
    if form == "svg":
        return _drawing(result)
    from advisor.report import probetext

    return probetext.report(result, page, proof)


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
