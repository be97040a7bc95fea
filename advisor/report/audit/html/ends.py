"""The parts of a page behind its findings: what was measured here, what is fine, what was skipped, and the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor import __version__
from advisor.core.sizes import format_size
from advisor.report.audit import fact_lines, grant_advice
from advisor.report.audit.document import skipped_by_reason
from advisor.report.render.markup import Html, code, joined, listed, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from advisor.analysis.audited import Audited
    from advisor.facts.probes import ProbeResult
    from rules.core.context import RuleContext

MOST = 100  # rows of a list
FILES = 40
WIDTH, LEFT, RIGHT, ROW, TOP = 760, 90, 80, 28, 8
RESULTS = 12  # results, the newest first


def since(audited: Audited) -> Html:
    """What came of an earlier audit."""
    if audited.since is None:
        return Html("")
    from advisor.analysis.since import rows, title

    told = [(name, words) for name, words in rows(audited.since)]
    return joined(
        [tag("p", title(audited.since, audited.facts.taken_at)), _pairs(told) or tag("p", "Nothing has changed.")]
    )


def fine(audited: Audited) -> Html:
    """What was looked at and is as it should be, with the numbers."""
    return _pairs((one.part, one.words) for one in audited.fine)


def unlooked(audited: Audited) -> Html:
    """What could not be looked at, by what it would need."""
    rows = _cut([joined([", ".join(what), ": ", why]) for why, what in skipped_by_reason(audited).items()])
    grants = [joined([code(sql), " ", why]) for sql, why in grant_advice.helping(audited)]
    return joined([rows, tag("p", f"{grant_advice.HEADING}:"), listed("ul", grants)]) if grants else rows


def aside(audited: Audited) -> Html:
    """What somebody put aside, each with the reason."""
    return _cut([joined([code(f.code), " ", code(f.canonical or f.name), f": {why}"]) for f, why in audited.aside])


def facts(audited: Audited) -> Html:
    """Server, host, memory, storage and workload."""
    server = audited.facts.server
    managed = f"managed by {server.managed}" if server.managed else ""
    format_size = ", ".join(part for part in (server.version, server.version_comment, server.vendor, managed) if part)
    files = audited.facts.files
    paths = [copy.path for copy in files.files] if files else []
    more = " and more" if len(paths) > FILES else ""
    named = [("Option files", joined([joined(map(code, paths[:FILES]), ", "), more]))] if paths else []
    return joined([_pairs([("Server", format_size), *fact_lines.rows(audited), *named]), bars(audited.known)])


def version(audited: Audited) -> str:
    """Who says all this: the version, and how many rules were asked."""
    asked = f"{len(audited.asked):,} rules asked for {audited.known.target.label}" if audited.asked else "no rule asked"
    return f"mycnf {__version__} · {asked} · secrets are masked"


def _pairs(rows: Iterable[tuple[str, str]]) -> Html:
    told = [tag("div", tag("dt", name), tag("dd", words)) for name, words in rows]
    return tag("dl", *told, class_="facts") if told else Html("")


def _cut(rows: list[Html]) -> Html:
    more = [joined([f"{len(rows) - MOST:,} more"])] if len(rows) > MOST else []
    return listed("ul", [*rows[:MOST], *more])


def bars(known: RuleContext) -> Html:
    """Bars for what is measured, likely and allowed, with a line where memory ends; nothing where it isn't known."""
    from rules.sizing.memory import memory_budget, usable_memory

    estimate = memory_budget(known)
    room = usable_memory(known) if known.has("host") else None
    if estimate is None:
        return Html("")
    sizes = {"measured": estimate.measured, "likely": estimate.likely, "ceiling": estimate.ceiling}
    known_sizes = {name: size for name, size in sizes.items() if size}
    most = max([*known_sizes.values(), room[0] if room else 0]) or 1
    height = TOP + ROW * len(known_sizes) + (24 if room else 0)
    told = ", ".join(f"{format_size(size)} {name}" for name, size in known_sizes.items())
    words = f"Memory of the server: {told}" + (f"; it may use {room[1]}" if room else "")
    drawn = [_bar(name, size, most, order) for order, (name, size) in enumerate(known_sizes.items())]
    line = list(_limit(room, most, height)) if room else []
    inside = [tag("title", words), *(part for bar in drawn for part in bar), *line]
    shape = tag("svg", *inside, viewBox=f"0 0 {WIDTH} {height}", width=str(WIDTH), height=str(height), role="img")
    return tag("figure", shape, class_="bars")


def _along(size: int, most: int) -> float:
    return size / most * (WIDTH - LEFT - RIGHT)


def _bar(name: str, size: int, most: int, order: int) -> Iterator[Html]:
    y = TOP + ROW * order
    width = max(1.0, _along(size, most))
    yield tag("text", name, x=str(LEFT - 8), y=str(y + 15), class_="name")
    yield tag("rect", x=str(LEFT), y=str(y), width=f"{width:.1f}", height=str(ROW - 8), class_=name)
    yield tag("text", format_size(size), x=f"{LEFT + width + 6:.1f}", y=str(y + 15))


def _limit(room: tuple[int, str], most: int, height: int) -> Iterator[Html]:
    x = LEFT + _along(room[0], most)
    side = "end" if x > WIDTH / 2 else "start"
    yield tag("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1="2", y2=str(height - 18), class_="limit")
    yield tag("text", room[1], x=f"{x:.1f}", y=str(height - 5), class_=side)


def measured(results: Sequence[ProbeResult]) -> Html:
    """The newest results; nothing where none was kept."""
    whole = [result for result in results if result.metrics and result.arms]
    newest = sorted(whole, key=lambda result: result.began_at, reverse=True)
    more = [tag("p", f"{len(newest) - RESULTS:,} older results are in the snapshot.")] if len(newest) > RESULTS else []
    return joined([*map(_one, newest[:RESULTS]), *more])


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
