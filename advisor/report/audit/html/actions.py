"""What to do about a finding, with its risk and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redaction.secrets import MASK, redact_text
from advisor.report.render.markup import Html, code, joined, tag
from advisor.report.words import plural
from rules.core.statements import kept_by, other_name, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding

STATEMENT = 4_000  # characters of a statement or line to copy, which is whole or not there


def actions(f: Finding) -> Html:
    """The finding's actions in their order; its help where there is none to carry out."""
    rows = [row for number, a in enumerate(f.actions) for row in _action(a, _of(number, len(f.actions)))]
    if f.help and not any(a.statement or kept_by(a) for a in f.actions):
        rows.insert(0, ("Do", tag("span", f.help)))
    return tag("dl", *(_row(*row) for row in rows), class_="actions") if rows else Html("")


def place(f: Finding) -> str:
    """`/etc/mysql/my.cnf:31`; empty for what stands in no file."""
    at = f.location
    if at is None:
        return ""
    return f"{at.path}:{at.line}" if at.line else at.path


def _row(name: str, words: Html) -> Html:
    return tag("div", tag("dt", name), tag("dd", words))


def _of(number: int, count: int) -> str:
    return f" ({number + 1} of {count})" if count > 1 else ""


def _action(a: Action, number: str) -> Iterator[tuple[str, Html]]:
    if a.statement:
        yield f"Now{number}", _to_copy(a.statement)
    if kept_by(a):
        yield f"Keep{number}", joined([_to_copy(kept_by(a)), _into(a)])
    restart = "needs a restart" if a.restart else "no restart" if a.statement else ""
    risk = a.risk or ("none known" if a.statement or kept_by(a) else "")
    if risk or restart:
        yield "Risk", joined(["; ".join(part for part in (risk, restart) if part)])
    back = [_to_copy(a.undo)] if a.undo else []
    back += [_back(a)] if kept_by(a) else []
    if back:
        yield "Undo", joined(back, ", and in the file ")
    if a.watch:
        yield "Watch", joined([a.watch])


def _to_copy(words: str) -> Html:
    if len(words) > STATEMENT:
        return joined([f"{plural(len(words), 'character')}, too long for a page: mycnf audit --format json has them"])
    return tag("code", redact_text(words).text, class_="copy")


def _into(a: Action) -> Html:
    if a.argument:
        return joined([" in place of ", code(a.replaces or "the option"), f" in {place_of(a)}"])
    if a.place is None:
        return joined([" in the server's option file"])
    if not a.replaces:
        return joined([" in ", code(place_of(a))])
    return joined([" in place of ", code(place_of(a)), *([", ", code(other)] if (other := other_name(a)) else [])])


def _back(a: Action) -> Html:
    """How it was before."""
    if not a.replaces:
        return joined(["take the line out again"])
    if MASK in a.replaces:
        return joined(["put the old line back"])
    return joined(["put ", _to_copy(a.replaces), " back"])
