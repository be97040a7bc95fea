"""A finding laid out once for every format: its setting and place, how sure it is, and what to do."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Confidence
from advisor.redaction.secrets import MASK, redact_value
from advisor.report.document import Code, Copy, Entry, Facts, Own, Paragraph, Section, shortened
from advisor.report.words import WIDTH
from rules.core.statements import action_place, permanent_setting, replaced_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding, Location
    from advisor.report.document import Block, Value, Words


class Detail(IntEnum):
    """How much of a finding is shown: its rule and all numbers of its evidence, or less and less of it."""

    EVERYTHING = 0
    CITED = 1
    NAMED = 2
    BRIEF = 3


class Lengths(NamedTuple):
    """How many characters a format shows of a value, twice as many of a path, and of a finding on one line."""

    value: int
    brief: int


def setting(f: Finding) -> str:
    """`read_buffer_size = 8M`, secrets masked; empty for a finding of no option."""
    if not f.option or f.value is None:
        return f.option or ""
    return f"{f.option} = {redact_value(f.option, f.value) or '(empty)'}"


def place(at: Location | None) -> str:
    """`/etc/mysql/my.cnf:31`; empty for what stands in no file."""
    if at is None:
        return ""
    return f"{at.path}:{at.line}" if at.line else at.path


def sure(f: Finding) -> str:
    """How sure the finding is: `measured here` where an experiment on this host stands behind it."""
    here = f.local is not None and f.confidence is Confidence.MEASURED
    return f"{f.confidence.value} here" if here else f.confidence.value


def for_terminal(f: Finding) -> Entry:
    """The finding for a terminal: the names of its evidence, and actions in brief."""
    here = (("" if f.evidence else "evidence", f.local.words),) if f.local else ()
    help_line = (("help", f.help),) if f.help and not f.actions else ()
    actions = tuple(row for action in f.actions for row in in_brief(action))
    where = place(f.location) if f.location and f.location.line else ""
    rows = (*help_line, ("evidence", names_of_evidence(f)), *here, *actions)
    return _entry(f, (*subject(setting(f), where), Paragraph(f.message), Facts(rows)))


def in_detail(
    f: Finding, order: int, detail: Detail, lengths: Lengths, *, cited: set[str], step: int | None = None
) -> Entry:
    """The finding for a report of many readers, `order` its number in it, `step` that of its step if it has one.

    `cited` are the evidence and the rules that earlier entries show in full; this entry's are added.
    """
    above = f" (step {step} above)" if step else ""
    if detail is Detail.BRIEF:
        about = Code(shortened(setting(f), lengths.value) or shortened(place(f.location), 2 * lengths.value))
        title = (Code(f.code), *((" ", about) if about else ()))
        words = Paragraph(f"{shortened(f.message, lengths.brief)}{above}")
        return _entry(f, (words,))._replace(title=title, brief=True, name=name_of(order), keys=_keys(f))
    rows: list[tuple[str, Words | Value]] = list(_evidence(f, detail, cited))
    rows += [(f"Measured here on {f.local.began_at[:10]}", f.local.words)] if f.local else []
    rows += [("To do", f"step {step} above")] if step else to_do(f)
    why = _why(f, cited) if detail is Detail.EVERYTHING else ()
    about_it = _about(f, lengths)
    message = Paragraph((*about_it, ": ", f.message) if about_it else f.message)
    return _entry(f, (message, Facts(tuple(rows)), *why))._replace(name=name_of(order), keys=_keys(f))


def as_step(f: Finding, order: int, lengths: Lengths) -> Entry:
    """The finding as a step to be taken; `order` is its number in the report."""
    rows: tuple[tuple[str, Words], ...] = (("At", _about(f, lengths)), *to_do(f))
    return _entry(f, (Paragraph(f.message), Facts(rows)))._replace(leads=name_of(order))


def name_of(order: int) -> str:
    """The name of a finding's place in a report, by its number from 1."""
    return f"finding-{order}"


def _keys(f: Finding) -> tuple[tuple[str, str], ...]:
    confidence = str(list(Confidence).index(f.confidence))
    return ("code", f.code), ("confidence", confidence), ("option", f.canonical or f.option or "")


def _about(f: Finding, lengths: Lengths) -> tuple[str, ...]:
    """The setting and its place."""
    parts = (shortened(setting(f), lengths.value), shortened(place(f.location), 2 * lengths.value))
    told = [piece for part in parts if part for piece in (", ", Code(part))]
    return tuple(told[1:])


def _evidence(f: Finding, detail: Detail, cited: set[str]) -> Iterator[tuple[str, Words | Value]]:
    if detail is Detail.CITED:
        from advisor.report.evidence import citation

        yield from (("Evidence", citation(identity, cited)) for identity in f.evidence)
    elif detail is Detail.NAMED:
        yield "Evidence", names_of_evidence(f)


def _why(f: Finding, cited: set[str]) -> tuple[Section, ...]:
    """The evidence with its numbers, and what the rule says, folded."""
    from advisor.report.evidence import passages
    from rules import find_rule

    blocks = passages(f.evidence, cited, f)
    rule = find_rule(f.code) if f.code not in cited else None
    cited.add(f.code)
    if rule is not None:
        docs = rule.docs
        rows = (
            ("What happens", Own(docs.why)),
            ("Exceptions", Own(docs.exceptions)),
            ("Sources disagree", Own(docs.disagree)),
            ("Reconsider when", Own(docs.reconsider_when)),
            ("Measure it here", f"mycnf probe {rule.probe}" if rule.probe else ""),
        )
        blocks += (Section(f"rule {rule.code}", (Paragraph(Own(rule.summary)), Facts(rows))),)
    return (Section(f"why: {', '.join((*f.evidence, f.code))}", blocks, folded=True),) if blocks else ()


def subject(written: str, where: str) -> tuple[Paragraph, ...]:
    """A setting and its place on one line, or on a line each where they are long."""
    told = [Code(part) for part in (written, where) if part]
    if len(", ".join(told)) > WIDTH - 2:
        return tuple(Paragraph((part,)) for part in told)
    return (Paragraph((told[0], ", ", told[1]) if told[1:] else (told[0],)),) if told else ()


def names_of_evidence(f: Finding) -> Words:
    """`RBS-01, RBS-06 · mycnf explain BUF001`; empty where there is no evidence."""
    names = [part for name in f.evidence for part in (", ", Code(name))]
    return (*names[1:], " · ", Code(f"mycnf explain {f.code}")) if names else ""


def _entry(f: Finding, blocks: tuple[Block, ...]) -> Entry:
    return Entry(f.severity.value, f.severity, (Code(f.code), f" {f.name}"), blocks, sure(f))


def to_do(f: Finding) -> list[tuple[str, Words]]:
    """What to do, as names with words: Now, Keep, Risk, Undo and Watch of each action, Do where there is none.

    The first row of each of several actions is numbered.
    """
    told: list[tuple[str, Words]] = []
    for number, action in enumerate(f.actions, 1):
        rows = list(_rows(action))
        if rows and len(f.actions) > 1:
            rows[0] = (f"{rows[0][0]} ({number} of {len(f.actions)})", rows[0][1])
        told += rows
    if f.help and not any(a.statement or permanent_setting(a) for a in f.actions):
        told.insert(0, ("Do", f.help))
    return told


def _rows(a: Action) -> Iterator[tuple[str, Words]]:
    kept = permanent_setting(a)
    if a.statement:
        yield "Now", (Copy(a.statement),)
    if kept:
        yield "Keep", (Copy(kept), *_into(a))
    if risk := risk_of(a):
        yield "Risk", risk
    undo: tuple[str, ...] = (Copy(a.undo),) if a.undo else ()
    if kept:
        undo += (*([", and "] if undo else []), *_back(a))
    if undo:
        yield "Undo", undo
    if a.watch:
        yield "Watch", a.watch


def risk_of(a: Action) -> str:
    """The risk of an action and whether it needs a restart; empty of what carries out nothing and has none."""
    restart = "needs a restart" if a.restart else "no restart" if a.statement else ""
    risk = a.risk or ("none known" if a.statement or permanent_setting(a) else "")
    return "; ".join(part for part in (risk, restart) if part)


def _into(a: Action) -> tuple[str, ...]:
    """Where the line belongs, and what it takes the place of."""
    if a.argument:
        return " in place of ", Code(a.replaces or "the option"), " in ", Code(action_place(a))
    if a.place is None:
        return (" in the server's option file",)
    if not a.replaces:
        return " in ", Code(action_place(a))
    other = replaced_name(a)
    return (" in place of ", Code(action_place(a)), *((", ", Code(other)) if other else ()))


def _back(a: Action) -> tuple[str, ...]:
    """How the option file, or the command line, was before."""
    if not a.replaces:
        return ("take the line out again",)
    return ("put the old line back",) if MASK in a.replaces else ("put ", Copy(a.replaces), " back")


def in_brief(a: Action) -> Iterator[tuple[str, str]]:
    """An action for a terminal: rows whose words but those of risk and watch are to be copied."""
    kept, at = permanent_setting(a), action_place(a)
    yield "do now", Code(a.statement or "")
    yield "keep", Code(f"{at}  {kept}" if kept and at else kept)
    yield "", Code(f"in place of {a.replaces}" if kept and a.replaces and (a.argument or replaced_name(a)) else "")
    yield "risk", risk_of(a)
    yield "undo", Code(a.undo or "")
    yield "watch", a.watch or ""
