"""What a probe's report says and draws: local numbers and published ones on one scale, and nothing that misleads."""

from __future__ import annotations

import math

import pytest
from audit_samples import audited, recorded
from lxml import etree
from msgspec.structs import replace

from advisor.core.errors import MycnfError
from advisor.core.model import Confidence, Finding, Severity
from advisor.facts.probes import OTHER_PROCESSES, PROBE_SCHEMA, Arm, Block, Metric, ProbeResult, RunPlace
from advisor.report import Page
from advisor.report.document import Paragraph, Table, plain_text, value
from advisor.report.formats import render_audit
from advisor.report.output import Paper
from advisor.report.probe.figures import (
    axis_name,
    change,
    curve_of,
    curves,
    labels,
    number,
    numeric,
    own_marks,
    rows,
    short_name,
    span,
)
from advisor.report.probe.result import render, sheets
from advisor.report.probe.words import answer, claims, end_words, fact_words
from advisor.report.render import terminal_chart
from advisor.report.render.curves import Curve, Point, axes, most
from rules.core.areas import find_evidence

SIZES = {"16K": 16384.0, "128K": 131072.0, "2M": 2097152.0}
RATE, TIME = Metric("scanned", "MB/s"), Metric("time", "s", "less")


def arm(name: str, values: tuple[float, ...], point: float | None = None, metric: str = "scanned") -> Arm:
    """A variant with a block a value."""
    blocks = tuple(Block(n, float(n), 1.0, {metric: value}) for n, value in enumerate(values, 1))
    return Arm(name, {}, blocks, point)


def result(*arms: Arm, metric: Metric = RATE, baseline: str = "128K", **more: object) -> ProbeResult:
    """A result of these variants."""
    made = ProbeResult(
        PROBE_SCHEMA, "0", "read-buffer", "2026-11-21T04:00:00Z", 9.0, "finished", RunPlace("here"), (metric,), arms,
        baseline, axis="read_buffer_size", evidence=("RBS-01",),
    )  # fmt: skip
    return replace(made, **more)


def scan(metric: Metric = RATE, **more: object) -> ProbeResult:
    """Three read buffers, the largest of them slower by a fifth."""
    levels = {"16K": 99.0, "128K": 100.0, "2M": 80.0}
    if metric is TIME:
        levels = {name: 1000 / level for name, level in levels.items()}
    near = (0.98, 1.0, 1.02, 1.01, 0.99, 0.985, 1.015)
    turns = enumerate(levels.items())  # noise of its own for each variant, around the level as its median
    arms = (
        arm(n, tuple(v * near[(i * 2 + k * k) % 7] for k in range(7)), SIZES[n], metric.name) for i, (n, v) in turns
    )
    return result(*arms, metric=metric, **more)


def test_published_times_are_turned_beside_a_rate() -> None:
    """RBS-01 took 65.2 s at 2M and 43.0 s at 128K: two thirds of the speed, all of its points drawn."""
    here, published = curves(scan())
    assert here.here
    assert [p.value for p in here.points] == pytest.approx([0.99, 1.0, 0.8], abs=0.01)
    by_label = {p.label: p.value for p in published.points}
    assert by_label["2M"] == pytest.approx(43.0 / 65.2)
    assert len(published.points) == 10
    assert "are inverted" in render(scan(), "text", Paper())


def test_published_times_stay_beside_times() -> None:
    """Where the local metric is a time too, both curves rise together and nothing is turned."""
    _, published = curves(scan(TIME))
    assert {p.label: p.value for p in published.points}["2M"] == pytest.approx(65.2 / 43.0)
    assert "are inverted" not in render(scan(TIME), "text", Paper())


@pytest.mark.parametrize(
    ("metric", "evidence", "drawn"),
    [
        (Metric("tps", "transactions/s"), "BPI-03", 0),  # how much the seconds vary, no throughput
        (Metric("tps", "transactions/s"), "IOC-01", 0),  # pages that an idle server flushes
        (Metric("p99", "ms", "less"), "IOC-04", 0),  # throughput, which is no inverse of a p99
        (Metric("tps", "transactions/s"), "IOC-04", 1),
        (Metric("time", "s/scan", "less"), "RBS-01", 1),
        (Metric("read", "MB/s"), "RBS-01", 1),
    ],
)
def test_published_numbers_of_something_else_are_not_drawn(metric: Metric, evidence: str, drawn: int) -> None:
    """A published variation is no column of transactions: 0.16 times as many would be a false reading."""
    table = find_evidence(evidence).table
    arms = [
        arm(label, (100.0, 101.0, 99.0), place, metric.name)
        for label, place in zip(table.labels, table.values, strict=True)
    ]
    made = result(*arms, metric=metric, baseline=table.labels[0], axis=table.x, evidence=(evidence,))
    assert sum(not curve.here for curve in curves(made)) == drawn * len(table.series)
    assert (evidence in str([plain_text(head) for head in columns_of(made)])) is bool(drawn)


def columns_of(made: ProbeResult) -> tuple[object, ...]:
    """The heads of the first table."""
    return next(block.heads for block in sheets(made)[0].blocks if isinstance(block, Table))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(98.4, "98 s"), (599.7, "10 min"), (659.2, "11 min"), (1799.0, "30 min"), (7140.0, "119 min"), (9000, "2.5 h")],
)
def test_the_time_of_a_run_is_rounded(seconds: float, text: str) -> None:
    """A run of 1,799 s took 30 minutes and not 29, and one of two hours and a half not two."""
    assert end_words(scan(seconds=seconds)).startswith(f"7 rounds in {text}")


def test_facts_have_units() -> None:
    """A latency is in µs and a size in bytes as people write it; text stays."""
    found = {"one_read": 119.9, "file size": float(192 << 20), "enough_direct_1": 131072.0, "sort": "no moving parts"}
    assert fact_words(scan(facts=found)) == [
        "one read: 119.9 µs",
        "file size: 192M",
        "enough direct 1: 128K",
        "kind of device: no moving parts",
    ]


def test_a_table_without_the_baseline_is_not_drawn() -> None:
    """Shares of an unpublished baseline don't exist; the evidence is still named."""
    other = result(arm("12K", (1.0, 1.0), 12288.0), arm("16K", (2.0, 2.1), 16384.0), baseline="12K")
    assert [c.here for c in curves(other)] == [True]
    assert "RBS-01" in render(other, "text", Paper())


def test_words_match_published_labels() -> None:
    """Variants without numbers stand beside published rows of the same name, in any case."""
    table = find_evidence("DUR-01")
    assert table is not None
    assert table.table is not None
    names = table.table.labels[:2]
    arms = (arm(name.upper(), (1.0, 2.0, 1.5)) for name in names)
    found = curves(result(*arms, baseline=names[0].upper(), evidence=(table.id,)))
    assert any(not c.here for c in found)
    assert all({p.place for p in c.points} <= {0.0, 1.0} for c in found)


def test_a_size_published_in_round_numbers_leaves_the_axis_unchanged() -> None:
    """8200 beside 8192 is the same point: sizes that double stand as far from each other as ever."""
    sizes = [float(1 << n) for n in range(13, 26)]
    for published in (sizes, [8200.0, *sizes[1:]]):
        along, _ = axes([Curve("here", points_at(sizes), here=True), Curve("there", points_at(published), here=False)])
        assert along.logarithmic
    along, _ = axes([Curve("here", points_at([100.0, 110.0, 4000.0]), here=True)])
    assert not along.logarithmic


def points_at(places: list[float]) -> tuple[Point, ...]:
    """Points that differ in their place alone."""
    return tuple(Point(f"{place:.0f}", place, 1.0, 1.0, 1.0) for place in places)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("metric", [RATE, TIME])
def test_the_chart_fits(width: int, plain: bool, metric: Metric) -> None:
    """No line is wider than the page, both curves have their mark, intervals are drawn, ASCII is ASCII."""
    drawn = terminal_chart.draw(curves(scan(metric)), Paper(width, plain=plain))
    lines = drawn.splitlines()
    assert max(map(len, lines)) <= width
    assert lines[-1].split()[0] == ("o" if plain else "●")
    assert drawn.count("o" if plain else "●") >= 4 - (width == 40)
    assert "\x1b" not in drawn
    assert not plain or drawn.isascii()


@pytest.mark.parametrize("plain", [True, False])
def test_intervals_are_bars(plain: bool) -> None:
    """The same curve with wide intervals has more bars in it, and reaches as far as they do."""
    bar, page = "|" if plain else "│", Paper(plain=plain)
    points = [(f"{n}K", float(n), 1.0 + n / 100) for n in (1, 2, 4, 8)]
    sure = terminal_chart.draw([Curve("here", tuple(Point(*p, p[2], p[2]) for p in points), here=True)], page)
    wide = terminal_chart.draw([Curve("here", tuple(Point(*p, 0.5, 1.5) for p in points), here=True)], page)
    assert wide.count(bar) > sure.count(bar) + 4
    assert "1.4" in wide
    assert "1.4" not in sure


def test_colour_is_for_terminals_that_want_it() -> None:
    """With colour the local curve is painted."""
    assert "\x1b[" in terminal_chart.draw(curves(scan()), Paper(80, colour=True))


def test_an_interval_without_end_is_not_drawn() -> None:
    """Of one round nothing is sure: the points are drawn, no bar, and no number is infinite in any format."""
    one = result(arm("16K", (99.0,), 16384.0), arm("128K", (100.0,), 131072.0))
    for form in ("text", "markdown", "svg", "json"):
        made = render(one, form, Paper())
        assert "inf" not in made.lower().replace("info", "")
        assert "nan" not in made.lower()


def test_the_drawing_is_whole_and_harmless() -> None:
    """The SVG is well-formed, holds every point and interval, no script, and text of servers as text."""
    evil = scan(server='mysql-8.0"<script>alert(1)</script>&\x1b')
    top = etree.fromstring(render(evil, "svg", Paper()).encode())
    names = [etree.QName(e).localname for e in top.iter()]
    assert set(names) <= {"svg", "title", "desc", "rect", "text", "line", "polyline", "path", "circle"}
    assert names.count("circle") == 3 + 10 + 2
    assert names.count("path") == 2
    assert names.count("polyline") == 2
    width, height = float(top.get("width")), float(top.get("height"))
    places = [(float(e.get("cx")), float(e.get("cy"))) for e in top.iter("{*}circle")]
    assert all(0 < x < width and 0 < y < height for x, y in places)


def test_a_single_variant_has_no_drawing() -> None:
    """One point is no curve: the format says what to take instead, and the text does without."""
    one = result(arm("128K", (1.0, 2.0, 3.0), 131072.0))
    with pytest.raises(MycnfError, match="--format markdown"):
        render(one, "svg", Paper())
    assert "scanned is 1.82 MB/s (128K)." in render(one, "text", Paper())


def tables(made: ProbeResult) -> list[Table]:
    """The tables of a result."""
    return [block for sheet in sheets(made) for block in sheet.blocks if isinstance(block, Table)]


def texts(table: Table) -> list[list[str]]:
    """The cells of a table, without what colours or explains them."""
    return [[plain_text(value(cell).words) for cell in row] for row in table.rows]


def test_options_in_names_become_the_axis() -> None:
    """Where every variant is a value of one option, its name is said once."""
    pair = result(arm("flush=1", (1.0, 2.0)), arm("flush=0", (2.0, 3.0)), baseline="flush=1", axis="")
    assert axis_name(pair) == "flush"
    assert [short_name(pair, a.name) for a in pair.arms] == ["1", "0"]
    assert tables(pair)[0].heads[:3] == ("flush", "MB/s", "to 1")
    mixed = result(arm("a=1", (1.0,)), arm("b=1", (1.0,)), baseline="a=1", axis="")
    assert axis_name(mixed) == "variant"
    assert short_name(mixed, "a=1") == "a=1"


@pytest.mark.parametrize("points", [(1.0, 2.0), (1.0, 1.0)], ids=["a row a variant", "a column a variant"])
def test_metrics_with_the_same_values_have_the_same_mean(points: tuple[float, float]) -> None:
    """A query a transaction: tps and qps agree in the table, as the ratio of two variants does with each of them."""
    values = {"flush 1": (100.0, 400.0, 200.0), "flush 0": (300.0, 900.0, 500.0)}
    pair = [arm(name, row, point) for (name, row), point in zip(values.items(), points, strict=True)]
    both = [
        replace(a, blocks=tuple(replace(b, metrics={**b.metrics, "qps": b.metrics["scanned"]}) for b in a.blocks))
        for a in pair
    ]
    made = result(*both, baseline="flush 1", evidence=(), metrics=(RATE, Metric("qps", "queries/s")))
    shown = {cell.rstrip("† ") for table in tables(made) for row in texts(table) for cell in row[1:]}
    assert {"200.0", "513.0"} <= shown
    assert not shown & {"500.0", "233.3"}


def test_the_best_variant_is_named_once_with_its_change() -> None:
    """The first sentence holds what the table does; a list of claims has the other variants alone."""
    row = (1.0, 1.01, 0.99, 1.005)
    three = result(
        *(arm(name, tuple(level * x for x in row)) for name, level in (("a", 100.0), ("b", 150.0), ("c", 80.0))),
        baseline="a",
        evidence=(),
    )
    assert answer(three).startswith("b has the best scanned: +50 % against a (95 %: +50 to +50 %).")
    assert claims(three) == ["c: scanned -20 % against a (95 %: -20 to -20 %)."]


def test_variants_at_one_point_are_curves_of_their_own() -> None:
    """What a name has besides its point is the curve; all are over one axis."""
    grid = [("flush 1", 1.0), ("flush 0", 1.0), ("flush 1", 8.0), ("flush 0", 8.0)]
    arms = [arm(f"{kind}, {point:g} at once", (1.0, 2.0, 1.5), point) for kind, point in grid]
    many = result(*arms, baseline="flush 1, 1 at once", evidence=())
    assert set(curve_of(many).values()) == {"flush 1", "flush 0"}
    assert [c.name for c in curves(many)] == ["here, flush 1", "here, flush 0"]
    assert [p.label for p in curves(many)[0].points] == ["1 at once", "8 at once"]
    assert numeric(many)
    whole = tables(many)[0]
    assert whole.heads == ("read_buffer_size", "flush 1", "flush 0")
    assert [row[0] for row in texts(whole)] == ["1 at once", "8 at once"]
    etree.fromstring(render(many, "svg", Paper()).encode())


def test_groups_are_drawn_beside_their_own_baselines() -> None:
    """The baseline is no curve but a name at the same threads; the best of many curves is never the one left out."""
    kinds = [f"flush={flush} sync={sync}" for flush in (1, 2, 0) for sync in (1, 0)]
    arms = [
        replace(
            arm(f"{kind} threads={threads}", tuple(threads * (1 + n) * x for x in (1.0, 1.01, 0.99)), float(threads)),
            group=f"{threads} threads",
        )
        for threads in (1, 8)
        for n, kind in enumerate(kinds)
    ]
    many = result(*arms, baseline=arms[0].name, axis="threads")
    assert [c.name for c in curves(many)] == [f"here, {kind}" for kind in kinds[1:]]
    page = render(many, "text", Paper(80))
    assert "relative to flush=1 sync=1 at the same threads" in page
    assert "here, flush=0 sync=0" in page
    first, changes = tables(many)[:2]
    assert [row[1] for row in texts(first)] == ["1.00 ", "8.00 "]
    assert sheets(many)[1].blocks[0] == Paragraph("to flush=1 sync=1 at the same threads (95 %)", indent=2)
    assert [row[-1].partition(" (")[0] for row in texts(changes)] == ["6.0 times†", "6.0 times†"]


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_what_other_processes_used_is_reported(form: str) -> None:
    """The share of the processors, in the median block and at most."""
    whole = scan()
    arms = tuple(
        replace(
            a, blocks=tuple(replace(b, counters={OTHER_PROCESSES: 0.02 if n else 0.11}) for n, b in enumerate(a.blocks))
        )
        for a in whole.arms
    )
    made = " ".join(render(replace(whole, arms=arms), form, Paper(80)).split())
    expected = {"json": f'"{OTHER_PROCESSES}": 0.11'}.get(
        form, "other processes used 2% of the processors in the median block, 11% at most"
    )
    assert expected in made
    assert "other processes" not in render(whole, form, Paper(80))


def test_the_curves_that_differ_most_are_drawn() -> None:
    """Where there are more curves than marks, the best and the worst stay."""
    shown = [Curve(str(value), (Point("a", 0.0, value, value, value),), here=True) for value in (1.0, 1.1, 3.0, 0.2)]
    kept, words = most(shown, 2, 0)
    assert [curve.name for curve in kept] == ["3.0", "0.2"]
    assert words == "2 more curves are in the tables alone"


def test_names_without_a_curve_are_points_in_a_row() -> None:
    """Variants at one point that names don't part stand side by side, unjoined."""
    arms = (arm("x", (1.0, 2.0), 1.0), arm("y", (1.0, 2.0), 1.0), arm("z", (1.0, 2.0), 2.0))
    odd = result(*arms, baseline="x", evidence=())
    assert [p.place for c in curves(odd) for p in c.points] in ([0.0, 1.0, 2.0], [1.0, 2.0, 1.0])
    assert labels(odd)["x"] == "x"


@pytest.mark.parametrize("width", [40, 60, 80])
def test_tables_are_parted_to_fit(width: int) -> None:
    """Columns that have no room go below, each piece with the names first, none of them lost."""
    whole = tables(scan())[0]
    lines = render(scan(), "text", Paper(width)).splitlines()
    heads = [line for line in lines if line.startswith(f"  {whole.heads[0]}  ")]
    rows = [line for line in lines if line.startswith("  2M  ")]
    assert max(map(len, [*heads, *rows])) <= width
    assert [head for head in whole.heads[1:] if not any(head in line for line in heads)] == []
    assert len(rows) == len(heads)


def test_a_column_wider_than_the_page_is_printed_alone() -> None:
    """It is printed all the same."""
    long = scan(metric=Metric("scanned", "a very long unit of measurement that fits no narrow page"))
    lines = render(long, "text", Paper(40)).splitlines()
    assert len([line for line in lines if line.startswith("  2M  ")]) > 1
    assert any("a very long unit of measurement" in line for line in lines)


@pytest.mark.parametrize(("value", "text"), [
    (None, "-"), (0.0, "0"), (0.01234, "0.0123"), (1.0, "1.00"), (43.04, "43.0"), (123.45, "123.5"),
    (12345.6, "12,346"), (-2.5, "-2.50"),
])  # fmt: skip
def test_numbers(value: float | None, text: str) -> None:
    """Three digits that count, thousands apart."""
    assert number(value) == text


def test_changes() -> None:
    """Percent up to twice, times beyond, a dash for what is unknown."""
    assert [change(r) for r in (None, math.inf, math.nan, 1.0, 0.8, 5.0)] == [
        "-",
        "-",
        "-",
        "0 %",
        "-20 %",
        "5.0 times",
    ]


def test_a_claim_is_marked_and_the_rest_is_not() -> None:
    """A fifth less stands out of noise of two percent; one percent less does not."""
    by_name = {row.name: row for row in rows(scan())}
    assert by_name["2M"].claim == "less"
    assert by_name["16K"].claim == "none"
    assert span(by_name["128K"]) == ""
    text = render(scan(), "text", Paper())
    assert next(line for line in text.splitlines() if line.startswith("  2M")).count("†") == 1
    assert next(line for line in text.splitlines() if line.startswith("  16K")).count("†") == 0


def test_many_published_curves_leave_room_for_the_local_one() -> None:
    """More curves than there are marks: the local one is always drawn."""
    point = (Point("a", 1.0, 1.0, 1.0, 1.0), Point("b", 2.0, 2.0, 1.5, 2.5))
    many = [Curve(f"p{n}", point, here=False) for n in range(9)] + [Curve("here", point, here=True)]
    drawn = terminal_chart.draw(many, Paper())
    assert "● here" in drawn
    assert "p3" in drawn
    assert "p4" not in drawn
    assert "5 more curves are in the tables alone" in drawn


@pytest.mark.parametrize(("value", "mark"), [
    ("2097152", ("you: 2M", 2097152.0)),  # measured
    ("65536", ("you: 64K", 65536.0)),  # between two measured values
    ("8388608", None),  # beyond them: the run says nothing about it
    ("0", None),
    ("", None),
])  # fmt: skip
def test_the_value_of_the_audited_server_is_marked(value: str, mark: tuple[str, float] | None) -> None:
    """The chart marks the server's own value, in text, Markdown, HTML and SVG, if it was among the measured ones."""
    variables = {"read_buffer_size": value, "sort_buffer_size": "131072"}
    assert [tuple(one) for one in own_marks(scan(), variables)] == ([mark] if mark else [])
    for form in ("text", "markdown", "html", "svg"):
        drawn = render(scan(), form, Paper(), variables=variables)
        assert (mark[0] in drawn) if mark else ("you:" not in drawn)
        assert "you:" not in render(scan(), form, Paper())


def test_the_value_of_the_audited_server_is_marked_among_words() -> None:
    """Variants that are words, or numbers that count, have the mark at the equal one in its own notation."""
    words = result(arm("x=OFF", (1.0, 2.0)), arm("x=ON", (1.0, 2.0)), baseline="x=OFF", axis="")
    assert [tuple(one) for one in own_marks(words, {"x": "1"})] == [("you: 1", 1.0)]
    assert own_marks(words, {"x": "3"}) == ()
    counted = result(
        arm("1000", (1.0, 2.0), 1000.0), arm("4000", (1.0, 2.0), 4000.0), baseline="1000", axis="innodb_io_capacity"
    )
    assert [tuple(one) for one in own_marks(counted, {"innodb_io_capacity": "2048"})] == [("you: 2048", 2048.0)]


def test_a_page_draws_the_curve_of_this_host_over_the_published_one() -> None:
    """The evidence of a finding has the newest local result in its chart, as in the app, with the finding's value."""
    finding = Finding(
        "BUF001", "x", Severity.WARNING, Confidence.LIKELY, "m", option="read_buffer_size",
        canonical="read_buffer_size", value="2M", evidence=("RBS-01",),
    )  # fmt: skip
    older = scan(began_at="2026-10-01T04:00:00Z")
    facts = replace(recorded(), probes=(older, scan()))
    page = render_audit("html", audited(finding, facts=facts), Page())
    assert "here, 2026-11-21, and as published" in page
    assert "here, 2026-10-01" not in page
    assert "here, 2026" not in render_audit("html", audited(finding, facts=replace(facts, probes=())), Page())


def test_a_long_caption_stands_on_two_lines() -> None:
    """What the numbers are, and that the axis does not start at zero, is whole in the drawing."""
    texts = [(one.get("y"), one.text or "") for one in etree.fromstring(render(scan(), "svg", Paper()).encode()).iter()
             if one.get("font-size") == "12"]  # fmt: skip
    lines = [text for _, text in sorted(texts, key=lambda pair: float(pair[0] or 0))]
    assert len(lines) == 2
    assert " ".join(lines).startswith("scanned relative to 128K")
    assert " ".join(lines).endswith("not at 0")
    assert max(map(len, lines)) < 110
