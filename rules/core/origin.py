"""Find which place sets a variable at the next start, and adapt a finding's help to that place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Origin
from rules.core.value_source import REMOVE_LINE, ValueSource, removal_step, source_of_line, source_place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.catalog.load import Option
    from advisor.core.model import Finding
    from advisor.verdict import FileVerdict
    from rules.core.context import FindSource, RuleContext

OUTRANKING = frozenset({Origin.PERSISTED, Origin.COMMAND_LINE})
# Options that set the same thing in different units; the later line wins.
LINKED = {
    "binlog_expire_logs_seconds": ("expire_logs_days",),
    "expire_logs_days": ("binlog_expire_logs_seconds",),
}


def find_value_source(context: RuleContext, option: Option) -> ValueSource | None:
    """The source of the option's value at the next start; None if nothing sets it."""
    names = (*context.catalog.spellings(option.name), *LINKED.get(option.name, ()))
    find_source = context.find_source or find_source_in_lines(context.file_verdict, Origin.FILE)
    return find_source(option.variable or option.name, names)


def find_source_in_lines(verdict: FileVerdict, origin: Origin) -> FindSource:
    """A function that finds the source among the option lines of one document; the last line wins.

    All lines of the document have the same origin.
    """

    def find(_variable: str, names: tuple[str, ...]) -> ValueSource | None:
        lines = [line for name in names if (line := verdict.effective.get(name))]
        last = max(lines, key=verdict.lines.index) if len(lines) > 1 else next(iter(lines), None)
        return None if last is None else source_of_line(origin, last)

    return find


def adapt_help_to_source(context: RuleContext, findings: Iterable[Finding]) -> list[Finding]:
    """The findings with help that matches the source of each value.

    Rules write their help for option files. If a persisted value or the command line decides, the help says what to do
    there.
    """
    return [_adapt_finding(context, finding) for finding in findings]


def _adapt_finding(context: RuleContext, finding: Finding) -> Finding:
    option = context.catalog.get(finding.canonical) if finding.canonical else None
    if option is None or finding.actions or not finding.help:
        return finding
    decided = find_value_source(context, option)
    if decided is None or decided.origin not in OUTRANKING:
        return finding
    if finding.location is not None and finding.location != decided.place:
        return finding  # the finding is about a line, whatever overrides that line
    return finding._replace(help=_adapt_help(finding.help, decided, option))


def _adapt_help(text: str, decided: ValueSource, option: Option) -> str:
    """The help text adapted to this origin.

    It says how to remove the setting there, or gets a sentence on where the value is set.
    """
    taken = removal_step(decided, option)
    if REMOVE_LINE in text:
        return text.replace(REMOVE_LINE, taken, 1)
    if decided.origin is Origin.PERSISTED:
        how = "SET PERSIST" if option.dynamic else "SET PERSIST_ONLY"
        return f"{text}; the value is persisted: change it by {how}, or {taken}"
    return f"{text}; the value is set by {source_place(decided)}: change {decided.text or 'it'} there"
