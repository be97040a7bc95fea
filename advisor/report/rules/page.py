"""A rule as a page for people: what it says, why, on what evidence, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.render.terminal_chart import chart
from advisor.report.words import wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.report.rules.nearness import Here
    from rules.core.evidence import Evidence, Table
    from rules.core.rule import Rule

CURVE_POINTS = 3
STRENGTHS = {
    "measured": "measured",
    "server": "real servers asked",
    "source-code": "server's source",
    "vendor-doc": "vendor's statement",
    "expert-opinion": "opinion",
}


def page(
    rule: Rule, evidence: Sequence[Evidence], *, width: int = 80, ascii_only: bool = False, near: Here | None = None
) -> str:
    """The whole page; `evidence` is that of the rule, in its order, `near` what it is held against."""
    docs = rule.docs
    blocks = [
        f"{rule.code} {rule.name}\n{wrap(rule.summary, width=width)}",
        wrap(f"{rule.severity.value}, {rule.confidence.value}; for {targets(rule)}", width=width) + _needs(rule, width),
        _part("What happens", docs.why, width),
        *(passage(e, width, ascii_only) for e in evidence),
        "" if evidence else wrap("No measurement is known: this is an opinion.", width=width),
        _nearness(evidence, near, width) if near else "",
        _part("How to fix", docs.fix + (" It needs a restart." if docs.restart else ""), width),
        _part("Risk", docs.risk, width),
        _part("Exceptions", docs.exceptions, width),
        _part("Sources disagree", docs.disagree, width),
        _part("Reconsider when", docs.reconsider_when, width),
        _part("Measure it here", ", or ".join(measure(rule)), width),
        _part("Options", ", ".join(rule.options), width),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _part(title: str, text: str, width: int) -> str:
    return f"{title}\n{wrap(text, '  ', width=width)}" if text else ""


def _nearness(evidence: Sequence[Evidence], near: Here, width: int) -> str:
    """How far the sources' machines are from this one."""
    from advisor.report.rules.nearness import measured, sentence

    lines = ["How near this is", wrap(f"Here: {near.words()}.", "  ", "    ", width)]
    lines += [wrap(sentence(e, near), "  ", "    ", width) for e in measured(evidence)]
    return "\n".join(lines)


def measure(rule: Rule) -> list[str]:
    """The commands that repeat the measurement, and that run what the rule claims; ab alone knows no option."""
    if rule.probe is None:
        return []
    from rules.measured.claims import CLAIMS

    repeat = [f"mycnf probe {rule.probe}"] if rule.probe != "ab" else []
    prove = [f"mycnf probe prove {rule.code}"] if rule.name in CLAIMS else []
    return [*repeat, *prove]


def targets(rule: Rule) -> str:
    """The flavours and versions that a rule is for, in words."""
    names = {"mysql": "MySQL", "mariadb": "MariaDB"}
    return " and ".join(str(s).replace(s.flavour, names.get(s.flavour, s.flavour), 1) for s in rule.targets)


def _needs(rule: Rule, width: int) -> str:
    return (
        "\n" + wrap(f"looks at the option files and the {', the '.join(rule.needs)}", width=width) if rule.needs else ""
    )


def passage(e: Evidence, width: int, ascii_only: bool) -> str:
    """One piece of evidence: what it says and shows, on what, with what doubts, and from where."""
    when = ", ".join(part for part in (e.versions, e.date) if part)
    lines = [wrap(f"{e.id} {STRENGTHS.get(e.strength, e.strength)}: {when}", "", "  ", width)]
    lines.append(wrap(e.conclusion, "  ", width=width))
    if e.table is not None:
        lines += ["", *table(e.table, width), ""]
        if len(e.table.values) >= CURVE_POINTS:
            lines += [_curve(e.table, width, ascii_only), ""]
    for name, text in (("on", e.hardware), ("but", e.caveats), ("from", _source(e))):
        if text:
            lines.append(wrap(text, f"  {name}: ", "    ", width))
    return "\n".join(lines)


def _source(e: Evidence) -> str:
    return ", ".join(part for part in (e.title, e.author, e.url) if part)


def _curve(t: Table, width: int, ascii_only: bool) -> str:
    return chart(t.labels, t.values, t.series, unit=t.unit, width=width - 2, ascii_only=ascii_only)


def table(t: Table, width: int = 80) -> Iterator[str]:
    """The numbers as rows, one point a row and one series a column; a number that wasn't published is a dash.

    Series whose names leave no room are headed by letters, which lines below spell out.
    """
    names = [f"{name}, {t.unit}" if len(t.series) == 1 else name for name in t.series]
    rows = [[label, *(number(ys[i]) for ys in t.series.values())] for i, label in enumerate(t.labels)]
    lines = _aligned([[t.x, *names], *rows])
    if max(map(len, lines)) <= width:
        yield from lines
        return
    letters = [chr(ord("a") + i) for i in range(len(names))]
    yield from _aligned([[t.x, *letters], *rows])
    yield from (f"  {letter}: {name}" for letter, name in zip(letters, names, strict=True))


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join([f"{row[0]:<{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]


def number(value: float | None) -> str:
    """A published number; a dash where none was published."""
    return "-" if value is None else f"{value:,g}" if abs(value) < 1e6 else f"{value:,.0f}"  # noqa: PLR2004
