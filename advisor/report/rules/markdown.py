"""Rules as Markdown: the reference that `mycnf rules --format markdown` prints and docs/rules keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.document import Paragraph, Section, plain
from advisor.report.paper import Paper
from advisor.report.render.markdown import write
from advisor.report.render.markdown_text import prose
from advisor.report.rules.document import of_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from advisor.report.document import Block
    from rules.core.evidence import Evidence
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
    evidence = [store[identity] for identity in rule.evidence if identity in store]
    document = of_rule(rule, evidence)
    return write(document._replace(blocks=tuple(map(_unheaded, document.blocks))), Paper()).rstrip("\n")


def _unheaded(block: Block) -> Block:
    """A section with its title at the beginning of its first paragraph: a page of many rules has headings enough."""
    match block:
        case Section(title=title, blocks=(Paragraph(words=words), *rest)) if words:
            return Section("", (Paragraph(words, lead=f"{plain(title)}:"), *rest))
    return block


def _page(rule: Rule, folder: str) -> str:
    return f"{folder}{rule.subject}.md" if folder else ""
