"""What to do about a finding, with its risk and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redact import is_secret, redact_text
from advisor.report.html.markup import Html, code, joined, tag
from advisor.report.ticketsteps import takes_its_place
from advisor.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Action, Finding

STATEMENT = 4_000  # characters of a statement or line to copy, which is whole or not there


def actions(f: Finding) -> Html:
    """The finding's actions in their order; its help where there is none to carry out."""
    rows = [row for number, a in enumerate(f.actions) for row in _action(a, f, _of(number, len(f.actions)))]
    if f.help and not any(a.statement or a.option_line for a in f.actions):
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


def _action(a: Action, f: Finding, number: str) -> Iterator[tuple[str, Html]]:
    if a.statement:
        yield f"Now{number}", _to_copy(a.statement)
    if a.option_line:
        yield f"Keep{number}", joined([_to_copy(a.option_line), _into(a.option_line, f)])
    restart = "needs a restart" if a.restart else "no restart" if a.statement else ""
    risk = a.risk or ("none known" if a.statement or a.option_line else "")
    if risk or restart:
        yield "Risk", joined(["; ".join(part for part in (risk, restart) if part)])
    back = [_to_copy(a.undo)] if a.undo else []
    back += [_back(a.option_line, f)] if a.option_line else []
    if back:
        yield "Undo", joined(back, ", and in the file ")
    if a.watch:
        yield "Watch", joined([a.watch])


def _to_copy(words: str) -> Html:
    if len(words) > STATEMENT:
        return joined([f"{plural(len(words), 'character')}, too long for a page: mycnf audit --format json has them"])
    return tag("code", redact_text(words).text, class_="copy")


def _into(option_line: str, f: Finding) -> Html:
    if f.location is None or not f.location.line:
        return joined([" in the server's option file"])
    if takes_its_place(option_line, f):
        return joined([" in place of ", code(place(f))])
    return joined([" in ", code(f.location.path)])


def _back(option_line: str, f: Finding) -> Html:
    """How the option file was before."""
    if f.location is None or not f.location.line or not takes_its_place(option_line, f):
        return joined(["take the line out again"])
    if f.value is None or not f.option or is_secret(f.option):
        return joined(["put the old line back"])
    return joined(["put ", _to_copy(f"{f.option} = {f.value}" if f.value else f"{f.option} ="), " back"])
