"""Which place decides a variable's value at the next start, and how a value or a removal is carried out there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Location, Origin
from advisor.redaction.secrets import redact_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.catalog.load import Option
    from advisor.core.model import Finding
    from advisor.verdict import FileVerdict, LineVerdict
    from rules.core.context import Decide, RuleContext

COMMAND = "the server's command line"
OUTRANKING = frozenset({Origin.PERSISTED, Origin.COMMAND_LINE})
# Two options that set one thing in different units: the later line decides.
LINKED = {
    "binlog_expire_logs_seconds": ("expire_logs_days",),
    "expire_logs_days": ("binlog_expire_logs_seconds",),
}
REMOVALS = ("remove the line", "take the line out")


class Decider(NamedTuple):
    """What gives a variable its value: an option line, an argument of the command line, a persisted value.

    `place` is None for a command line that stands in no file that was read. `name` is the option's as written there,
    `text` the whole line or argument with secrets masked, `value` what the server makes of it, None if unknown.
    """

    origin: Origin
    place: Location | None
    name: str = ""
    text: str = ""
    value: str | None = None


def of_line(origin: Origin, line: LineVerdict) -> Decider:
    """The decider that an option line is."""
    at = line.placed.line
    name, value = (at.name or "").strip(), at.value
    shown = None if value is None else redact_value(line.canonical or name, redact_value(name, value))
    place = Location(line.placed.path, at.number, at.column, at.number, at.end_column) if at.number else None
    if origin is Origin.COMMAND_LINE:
        text = f"--{name}" if shown is None else f"--{name}={shown}"
    else:
        text = name if shown is None else f"{name} = {shown}"
    return Decider(origin, place, name, text, line.value)


def decider(known: RuleContext, option: Option) -> Decider | None:
    """What decides the option's value at the next start; None where nothing sets it."""
    names = (*known.catalog.spellings(option.name), *LINKED.get(option.name, ()))
    decide = known.decide or decide_by_lines(known.file_verdict, Origin.FILE)
    return decide(option.variable or option.name, names)


def decide_by_lines(verdict: FileVerdict, origin: Origin) -> Decide:
    """Decides by the option lines of one document alone, all of which have this origin: the last line wins."""

    def decide(_variable: str, names: tuple[str, ...]) -> Decider | None:
        lines = [line for name in names if (line := verdict.effective.get(name))]
        last = max(lines, key=verdict.lines.index) if len(lines) > 1 else next(iter(lines), None)
        return None if last is None else of_line(origin, last)

    return decide


def follow(known: RuleContext, findings: Iterable[Finding]) -> list[Finding]:
    """The findings, with help that fits where the value comes from.

    What a rule says of a line holds for an option file. Where a persisted value or the command line decides, the
    finding's help says what to do there.
    """
    return [_followed(known, finding) for finding in findings]


def _followed(known: RuleContext, finding: Finding) -> Finding:
    option = known.catalog.get(finding.canonical) if finding.canonical else None
    if option is None or finding.actions or not finding.help:
        return finding
    decided = decider(known, option)
    if decided is None or decided.origin not in OUTRANKING:
        return finding
    if finding.location is not None and finding.location != decided.place:
        return finding  # it is about a line, whatever outranks that
    return finding._replace(help=_words(finding.help, decided, option))


def _words(text: str, decided: Decider, option: Option) -> str:
    """The help with the removal that this origin needs, or with a sentence on where the value is set."""
    taken = removal(decided, option)
    for words in REMOVALS:
        if words in text:
            return text.replace(words, taken, 1)
    if decided.origin is Origin.PERSISTED:
        how = "SET PERSIST" if option.dynamic else "SET PERSIST_ONLY"
        return f"{text}; the value is persisted: change it by {how}, or {taken}"
    return f"{text}; the value is set by {where(decided)}: change {decided.text or 'it'} there"


def removal(decided: Decider | None, option: Option) -> str:
    """How the setting is taken away."""
    if decided is not None and decided.origin is Origin.PERSISTED:
        return f"run RESET PERSIST {option.variable or option.name}"
    if decided is not None and decided.origin is Origin.COMMAND_LINE:
        return f"remove {decided.text or 'the option'} from {where(decided)}"
    return REMOVALS[0]


def where(decided: Decider) -> str:
    """`/etc/systemd/system/mysql.service.d/a.conf:3`, or the command line."""
    return f"{decided.place.path}:{decided.place.line}" if decided.place else COMMAND
