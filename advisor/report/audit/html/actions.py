"""What to do about a finding, with its risk and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redaction.secrets import redact_text
from advisor.report.document import Code, Copy, parts
from advisor.report.finding import to_do
from advisor.report.render.markup import Html, code, joined, tag
from advisor.report.words import plural

if TYPE_CHECKING:
    from advisor.core.model import Finding
    from advisor.report.document import Words

STATEMENT = 4_000  # characters of a statement or line to copy, which is whole or not there


def actions(f: Finding) -> Html:
    """The finding's actions in their order; its help where there is none to carry out."""
    rows = [tag("div", tag("dt", name), tag("dd", _mixed(words))) for name, words in to_do(f)]
    return tag("dl", *rows, class_="actions") if rows else Html("")


def _mixed(words: Words) -> Html:
    """Words of which some are names or to be copied."""
    return joined(_part(part) for part in parts(words))


def _part(part: str) -> str:
    if not isinstance(part, Copy):
        return code(part) if isinstance(part, Code) else part
    if len(part) > STATEMENT:
        return f"{plural(len(part), 'character')}, too long for a page: mycnf audit --format json has them"
    return tag("code", redact_text(part).text, class_="copy")
