"""A finding laid out for each kind of report: on one line, what to do, then why, and how sure it is."""

from __future__ import annotations

from collections import Counter
from enum import IntEnum

from advisor.core import NamedTuple
from advisor.core.model import Confidence
from advisor.redaction import MASK, redact_value
from advisor.report import WIDTH
from advisor.report.document import (
    Code,
    Copy,
    Entry,
    Facts,
    Items,
    OwnText,
    Paragraph,
    Section,
    list_words,
    shorten_text,
)
from rules.core.advice import value_of_actions
from rules.core.areas import area_of
from rules.core.statements import action_place, permanent_setting, replaced_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.core.model import Action, Finding, Location
    from advisor.report.document import Block, Words
    from advisor.report.evidence import PageEvidence


SHORT = 60  # characters of a value or of advice on a line
MOST_NAMED = 1  # pieces of evidence that a ticket names


class Detail(IntEnum):
    """How much of a finding a page shows: its rule and all numbers of its evidence, their names, or a single line."""

    EVERYTHING = 0
    NAMED = 1
    BRIEF = 2


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
    """`/etc/mysql/my.cnf:31`; empty for what is in no file."""
    if at is None:
        return ""
    return f"{at.path}:{at.line}" if at.line else at.path


def confidence_words(f: Finding) -> str:
    """How sure the finding is: `measured here` where an experiment on this host stands behind it."""
    here = f.local is not None and f.confidence is Confidence.MEASURED
    return f"{f.confidence.value} here" if here else f.confidence.value


def headline(f: Finding, longest: int = SHORT) -> Words:
    """The finding on one line: `sort_buffer_size 256M → 2M`; where no option is named, its first sentence or its name.

    The advice is the value that actions set for the option, else their first setting, else what to do in words: `user
    root: write user = mysql`.
    """
    if not f.option:
        first, stop, _ = f.message.partition(". ")
        sentence = first + stop.rstrip()
        return sentence if 0 < len(sentence) <= 2 * longest else shorten_text(f.name, 2 * longest)
    value = redact_value(f.option, f.value) or "(empty)" if f.value is not None else ""
    written = (Code(f.canonical or f.option), *((f" {shorten_text(value, longest)}",) if value else ()))
    return (*written, *_advice_words(f, longest))


def _advice_words(f: Finding, longest: int) -> tuple[str, ...]:
    change = value_of_actions(f)
    if change is not None and change.option in (f.canonical, f.option):
        return (" → ", Code(shorten_text(change.after, longest)))
    if settings := [kept for action in f.actions if (kept := permanent_setting(action))]:
        return (" → ", Code(shorten_text(settings[0], longest)))
    return (": ", shorten_text(f.help, longest)) if f.help else ()


def _beyond(title: Words, message: str) -> str:
    """What the message says beyond a title that begins it."""
    return message.removeprefix(title).lstrip() if isinstance(title, str) else message


def restart(f: Finding) -> str:
    """Whether the advice needs a restart, in words; empty if there is nothing to carry out."""
    if any(action.restart for action in f.actions):
        return "needs a restart"
    return "no restart" if any(action.statement for action in f.actions) else ""


def for_terminal(f: Finding) -> Entry:
    """The finding for a terminal: what to do in brief, then the names of its evidence."""
    here = (("" if f.evidence else "evidence", f.local.words),) if f.local else ()
    help_line = (("help", shown_help(f)),) if shown_help(f) else ()
    actions = tuple(row for action in f.actions for row in in_brief(action))
    where = place(f.location) if f.location and f.location.line else ""
    rows = (*help_line, *actions, ("evidence", names_of_evidence(f)), *here)
    return _entry(f, (*subject(setting(f), where), Paragraph(f.set_by), Paragraph(f.message), Facts(rows)))


def for_ticket(f: Finding, lengths: Lengths) -> Entry:
    """The finding for a ticket: a line, what is wrong, then a line for each thing to do. Files have their own names.

    Nothing is repeated: the line shows the old value and short advice.
    """
    title, at = headline(f, lengths.value), place(f.location)
    shown = bool(at) and not any(a.place for a in f.actions)
    here = f" Measured here on {f.local.began_at[:10]}: {f.local.words}" if f.local else ""
    message = _beyond(title, f.message)
    where = ("In ", Code(_file_name(at)), ": " if message else ".") if shown else ()
    set_by = f" {f.set_by}" if f.set_by else ""
    words = tuple(part for part in (*where, message, set_by, here, *_named_in_short(f)) if part)
    does = tuple(row for action in f.actions for row in _ticket_rows(action, f))
    if f.help and f.help not in title and (shown_help(f) or not any(map(_is_carried_out, f.actions))):
        does = (("Do: ", f.help), *does)
    return _entry(f, (Paragraph(words), Items(does)))._replace(title=title, sure=f"{f.code}, {confidence_words(f)}")


def _named_in_short(f: Finding) -> tuple[str, ...]:
    """The first pieces of evidence by name, and how many more there are."""
    named = list_words(map(Code, f.evidence[:MOST_NAMED]))
    more = f" and {len(f.evidence) - MOST_NAMED} more" if len(f.evidence) > MOST_NAMED else ""
    return (" Evidence: " if f.message else "Evidence: ", *named, more) if named else ()


def _ticket_rows(a: Action, f: Finding) -> Iterator[Words]:
    """An action in up to three lines: now with the risk, the setting to keep, the way back and what to watch."""
    kept, risk = permanent_setting(a), risk_of(a)
    if a.statement:
        yield Copy(a.statement), f" Risk: {risk}" if risk else ""
    if kept:
        at = _file_name(action_place(a)) or "option file"
        tail = f". Risk: {risk}" if risk and not a.statement else ""
        yield Copy(kept), f" {'in place of' if a.replaces else 'in'} ", Code(at), tail
    back: list[str] = [Copy(a.undo)] if a.undo else []
    if kept and (a.replaces or not a.undo):
        old = a.replaces == f"{f.canonical} = {f.value}" and len(f.value or "") <= SHORT  # as the title shows it
        back += [*([", "] if back else []), *(("restore the line",) if old else _back(a))]
    watch = (*([". "] if back else []), "Watch ", Code(a.watch)) if a.watch else ()
    if back or watch:
        yield (*(("Undo: ", *back) if back else ()), *watch)


def _file_name(at: str) -> str:
    return at.rpartition("/")[2]


def on_page(f: Finding, name: str, detail: Detail, lengths: Lengths, page: PageEvidence) -> Entry:
    """The finding for a page, folded under its line; `name` is its place there.

    `page.cited` are the evidence and the rules that earlier entries show in full; this entry's are added.
    """
    about = Code(f.code), f" {f.name}"
    entry = _entry(f, ())._replace(name=name, keys=_keys(f), title=headline(f))
    if detail is Detail.BRIEF:
        words = Paragraph((*about, ": ", shorten_text(f.message, lengths.brief)))
        return entry._replace(blocks=(words,), brief=True, sure="")
    rows = to_do(f)
    rows += [(f"Measured here on {f.local.began_at[:10]}", f.local.words)] if f.local else []
    rows += [("Evidence", names_of_evidence(f))] if detail is Detail.NAMED else []
    why = _why(f, page) if detail is Detail.EVERYTHING else ()
    remarks = " · ".join(part for part in (f"{f.code} {f.name}", restart(f), confidence_words(f)) if part)
    blocks: tuple[Block, ...] = (
        Paragraph(_beyond(entry.title, f.message)),
        *subject(shorten_text(setting(f), lengths.value), shorten_text(place(f.location), 2 * lengths.value)),
        Paragraph(f.set_by),
        Facts(tuple(rows)),
        *why,
    )
    return entry._replace(blocks=blocks, sure=remarks, folded=True)


def as_step(f: Finding, name: str) -> Entry:
    """The finding as a step to be taken, in brief; `name` is its place in the report."""
    rows = tuple(row for row in to_do(f) if row[0].partition(" (")[0] in ("Do", "Now", "Keep", "Risk"))
    remarks = " · ".join(part for part in (f.code, restart(f)) if part)
    title = headline(f)
    why = Paragraph(_beyond(title, f.message))
    return _entry(f, (why, Facts(rows)))._replace(leads=name, title=title, sure=remarks)


def place_names(findings: Sequence[Finding]) -> list[str]:
    """The name of each finding's place in a report, to which a link leads: its code, from the second on with a number.

    `BUF003`, `OPT006`, `OPT006-2`.
    """
    counts: Counter[str] = Counter()
    names = []
    for f in findings:
        counts[f.code] += 1
        names.append(f.code if counts[f.code] == 1 else f"{f.code}-{counts[f.code]}")
    return names


def _keys(f: Finding) -> tuple[tuple[str, str], ...]:
    confidence = str(list(Confidence).index(f.confidence))
    option = f.canonical or f.option or ""
    return ("code", f.code), ("confidence", confidence), ("option", option), ("area", area_of(f.code).value)


def _why(f: Finding, page: PageEvidence) -> tuple[Section, ...]:
    """The evidence with its numbers, and what the rule says, folded."""
    from advisor.report.evidence import passages
    from rules import find_rule

    blocks = passages(f.evidence, page, f)
    rule = find_rule(f.code) if f.code not in page.cited else None
    page.cited.add(f.code)
    if rule is not None:
        docs = rule.docs
        rows = (
            ("What happens", OwnText(docs.why)),
            ("Exceptions", OwnText(docs.exceptions)),
            ("Sources disagree", OwnText(docs.disagree)),
            ("Reconsider when", OwnText(docs.reconsider_when)),
            ("Measure it here", f"mycnf probe {rule.probe}" if rule.probe else ""),
        )
        blocks += (Section(f"rule {rule.code}", (Paragraph(OwnText(rule.summary)), Facts(rows))),)
    return (Section(f"why: {', '.join((*f.evidence, f.code))}", blocks, folded=True),) if blocks else ()


def subject(written: str, where: str) -> tuple[Paragraph, ...]:
    """A setting and its place on one line, or on a line each where they are long."""
    lines = [Code(part) for part in (written, where) if part]
    if len(", ".join(lines)) > WIDTH - 2:
        return tuple(Paragraph((part,)) for part in lines)
    return (Paragraph((lines[0], ", ", lines[1]) if lines[1:] else (lines[0],)),) if lines else ()


def names_of_evidence(f: Finding) -> Words:
    """`RBS-01, RBS-06 · mycnf explain BUF001`; empty where there is no evidence."""
    return (*list_words(map(Code, f.evidence)), " · ", Code(f"mycnf explain {f.code}")) if f.evidence else ""


def _entry(f: Finding, blocks: tuple[Block, ...]) -> Entry:
    return Entry(f.severity.value, f.severity, (Code(f.code), f" {f.name}"), blocks, confidence_words(f))


def to_do(f: Finding) -> list[tuple[str, Words]]:
    """What to do, as names with words: Now, Keep, Risk, Undo and Watch of each action, Do where there is none.

    The first row of each of several actions is numbered.
    """
    steps: list[tuple[str, Words]] = []
    for number, action in enumerate(f.actions, 1):
        rows = list(_rows(action))
        if rows and len(f.actions) > 1:
            rows[0] = (f"{rows[0][0]} ({number} of {len(f.actions)})", rows[0][1])
        steps += rows
    if f.help and not any(map(_is_carried_out, f.actions)):
        steps.insert(0, ("Do", f.help))
    elif text := shown_help(f):
        steps.append(("Keep", text))
    return steps


def shown_help(f: Finding) -> str:
    """The help where no action has it; beside statements alone, that the line which they leave has to be removed."""
    lasting = any(permanent_setting(a) or "SET PERSIST" in (a.statement or "") for a in f.actions)
    return f.help if not f.actions or (not lasting and f.help.startswith("remove ")) else ""


def _is_carried_out(a: Action) -> bool:
    return bool(a.statement or permanent_setting(a))


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
        return ("remove the line again",)
    return ("restore the line",) if MASK in a.replaces else ("put ", Copy(a.replaces), " back")


def in_brief(a: Action) -> Iterator[tuple[str, str]]:
    """An action for a terminal: rows whose words but those of risk and watch are to be copied."""
    kept, at = permanent_setting(a), action_place(a)
    yield "do now", Code(a.statement or "")
    yield "keep", Code(f"{at}  {kept}" if kept and at else kept)
    yield "", Code(f"in place of {a.replaces}" if kept and a.replaces and (a.argument or replaced_name(a)) else "")
    yield "risk", risk_of(a)
    yield "undo", Code(a.undo or "")
    yield "watch", a.watch or ""
