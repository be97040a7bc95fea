"""What was measured on the server's own host: each kept result with its answer and its curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.render.markup import Html, joined, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.facts.probes import ProbeResult

MOST = 12  # results, the newest first


def measured(results: Sequence[ProbeResult]) -> Html:
    """The newest results; nothing where none was kept."""
    whole = [result for result in results if result.metrics and result.arms]
    newest = sorted(whole, key=lambda result: result.began_at, reverse=True)
    more = [tag("p", f"{len(newest) - MOST:,} older results are in the snapshot.")] if len(newest) > MOST else []
    return joined([*map(_one, newest[:MOST]), *more])


def _one(result: ProbeResult) -> Html:
    from advisor.report.probe.names import axis_name, numeric
    from advisor.report.probe.published import curves
    from advisor.report.probe.words import answer, headline, relation
    from advisor.report.render import svg_chart

    shown = curves(result)
    words = (axis_name(result), relation(result))
    told = [tag("h3", headline(result)), tag("p", answer(result))]
    if shown:
        drawn = Html(svg_chart.draw(shown, headline(result), answer(result), words, joined=numeric(result)))
        told.append(tag("figure", drawn, class_="chart"))
    return tag("article", *told)
