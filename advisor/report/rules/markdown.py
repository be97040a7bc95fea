"""Rules as Markdown: the reference that `mycnf rules --format markdown` prints and docs/rules keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.render.markdown_text import code, prose
from advisor.report.rules.page import STRENGTHS, measure, number, targets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rules.core.evidence import Evidence, Table
    from rules.core.rule import Rule

TOP = "Each rule with its evidence. `mycnf explain CODE` shows the same with charts, `mycnf rules` the list."


def document(rules: Iterable[Rule], store: Mapping[str, Evidence], *, title: str = "Rules") -> str:
    """All of the rules on one page: a table of them, then each with its reasons and evidence."""
    listed = list(rules)
    return "\n\n".join([f"# {title}", TOP, table_of(listed), *(section(rule, store) for rule in listed)]) + "\n"


def table_of(rules: Iterable[Rule], folder: str = "") -> str:
    """Code, name, severity, confidence and needs, a row a rule; links lead to the page of the subject in `folder`."""
    head = ["| rule | | severity | confidence | besides option files |", "|---|---|---|---|---|"]
    rows = [
        f"| [{r.code}]({_page(r, folder)}#{anchor(r)}) {r.name} | {prose(r.summary)} | {r.severity.value} | "
        f"{r.confidence.value} | {', '.join(r.needs)} |"
        for r in rules
    ]
    return "\n".join([*head, *rows])


def anchor(rule: Rule) -> str:
    """What renderers make of the heading of a rule."""
    return f"{rule.code} {rule.name}".lower().replace(" ", "-")


def section(rule: Rule, store: Mapping[str, Evidence]) -> str:
    """One rule under a heading of its own."""
    docs = rule.docs
    known = [store[one] for one in rule.evidence if one in store]
    needs = f"; looks at the option files and the {', the '.join(rule.needs)}" if rule.needs else ""
    restart = " It needs a restart." if docs.restart else ""
    parts = [
        f"## {rule.code} {rule.name}",
        prose(rule.summary),
        f"{rule.severity.value}, {rule.confidence.value}; for {targets(rule)}{needs}.",
        _part("What happens", docs.why),
        *(_passage(one) for one in known),
        "" if known else "No measurement is known: this is an opinion.",
        _part("How to fix", docs.fix + restart),
        _part("Risk", docs.risk),
        _part("Exceptions", docs.exceptions),
        _part("Sources disagree", docs.disagree),
        _part("Reconsider when", docs.reconsider_when),
        _measured(rule),
        f"**Options:** {', '.join(map(code, rule.options))}" if rule.options else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _page(rule: Rule, folder: str) -> str:
    return f"{folder}{rule.subject}.md" if folder else ""


def _part(title: str, text: str) -> str:
    return f"**{title}:** {prose(text)}" if text else ""


def _measured(rule: Rule) -> str:
    told = measure(rule)
    return f"**Measure it here:** {', or '.join(map(code, told))}" if told else ""


def _passage(one: Evidence) -> str:
    when = ", ".join(part for part in (one.versions, one.date) if part)
    head = f"*{one.id}*, {STRENGTHS.get(one.strength, one.strength)}" + (f" ({prose(when)})" if when else "")
    lines = [f"{head}: {prose(one.conclusion)}"]
    if one.table is not None:
        lines += ["", *_table(one.table), ""]
    told = [f"{name}: {prose(text)}" for name, text in (("On", one.hardware), ("But", one.caveats)) if text]
    by = f", {prose(one.author)}" if one.author else ""
    source = f"From [{one.title}](<{one.url}>){by}." if one.url else f"From {prose(one.title)}{by}."
    return "\n".join([*lines, " ".join([*(f"{_ended(t)}" for t in told), source])])


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _table(t: Table) -> Iterator[str]:
    names = [f"{name}, {t.unit}" if len(t.series) == 1 else name for name in t.series]
    yield "| " + " | ".join(map(prose, [t.x, *names])) + " |"
    yield "|---" + "|---:" * len(names) + "|"
    for at, label in enumerate(t.labels):
        yield "| " + " | ".join([prose(label), *(number(values[at]) for values in t.series.values())]) + " |"
