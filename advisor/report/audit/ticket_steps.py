"""What a ticket asks to be done: each finding's statement, line, risk and way back, the most pressing first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.analysis.engine import RANK
from advisor.core.model import Confidence, Severity
from advisor.redaction.secrets import MASK
from advisor.report.audit.ticket_words import VALUE, place, said, setting, shown, to_copy
from rules.core.statements import kept_by, other_name, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.core.model import Action, Finding

MOST = 10  # steps that are still "first"; the rest stand with their findings
SURE = list(Confidence)
LONG = 2 * VALUE  # characters of a path


def first(findings: Sequence[Finding]) -> list[Finding]:
    """Errors, then warnings; of these what is ready to be carried out, then what is surest, then without a restart."""
    pressing = [f for f in findings if f.severity is not Severity.NOTE and (f.actions or f.help)]
    return sorted(pressing, key=_weight)[:MOST]


def _weight(f: Finding) -> tuple[int, bool, int, bool]:
    ready = any(a.statement or kept_by(a) for a in f.actions)
    return RANK[f.severity], not ready, SURE.index(f.confidence), any(a.restart for a in f.actions)


def numbered(number: int, f: Finding) -> str:
    """One step of the list: what is wrong, and what to do about it."""
    where = ", ".join(part for part in (setting(f), place(f.location)) if part)
    head = f"{number}. **{f.severity.value}** {shown(f.code)} {said(f.name)}: {said(f.message)}"
    # Four columns are within an item of one digit and of two alike.
    return "\n".join([head, *(f"    - {line}" for line in ([f"**At:** {where}"] if where else [])), *steps(f, "    ")])


def steps(f: Finding, margin: str = "") -> Iterator[str]:
    """The finding's actions as items of a list; its help where these are none to carry out."""
    told = [line for number in range(len(f.actions)) for line in _counted(f, number)]
    if f.help and not any(a.statement or kept_by(a) for a in f.actions):
        told.insert(0, f"**Do:** {said(f.help)}")
    return (f"{margin}- {line}" for line in told)


def _counted(f: Finding, number: int) -> list[str]:
    """One action, its first line numbered where there are several."""
    lines = list(_action(f.actions[number]))
    if lines and len(f.actions) > 1:
        lines[0] = lines[0].replace(":**", f" ({number + 1} of {len(f.actions)}):**", 1)
    return lines


def _action(a: Action) -> Iterator[str]:
    if a.statement:
        yield f"**Now:** {to_copy(a.statement)}"
    if kept_by(a):
        yield f"**Keep:** {to_copy(kept_by(a))}{_into(a)}"
    restart = "needs a restart" if a.restart else "no restart" if a.statement else ""
    risk = a.risk or ("none known" if a.statement or kept_by(a) else "")
    if risk or restart:
        yield f"**Risk:** {'; '.join(part for part in (said(risk), restart) if part)}"
    back = [to_copy(a.undo)] if a.undo else []
    back += [_back(a)] if kept_by(a) else []
    if any(back):
        yield f"**Undo:** {'; '.join(part for part in back if part)}"
    if a.watch:
        yield f"**Watch:** {said(a.watch)}"


def _into(a: Action) -> str:
    if a.argument:
        return f" in place of {shown(a.replaces or 'the option')} in {shown(place_of(a), LONG)}"
    if a.place is None:
        return " in the server's option file"
    if not a.replaces:
        return f" in {shown(place_of(a), LONG)}"
    other = other_name(a)
    return f" in place of {shown(place_of(a), LONG)}" + (f", {shown(other)}" if other else "")


def _back(a: Action) -> str:
    """How the option file, or the command line, was before."""
    if not a.replaces:
        return "take the line out again"
    return "put the old line back" if MASK in a.replaces else f"put {to_copy(a.replaces)} back"
