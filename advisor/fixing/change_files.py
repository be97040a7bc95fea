"""The files of a change set: apply.sql, rollback.sql and a diff of the option files; mycnf runs none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.fixing.change_set import LIMITED_BY, SET
from advisor.fixing.diff import unified_diff
from advisor.redaction.secrets import escape_text
from rules.core.statements import set_statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.analysis.audited import Audited
    from advisor.fixing.change_set import Change, ChangeSet

APPLY, ROLLBACK, DIFF, TICKET = "apply.sql", "rollback.sql", "options.diff", "ticket.md"
NO_STATEMENT = "No statement: nothing that is selected can be changed while the server runs"
LIMITS = {limit: name for name, limit in LIMITED_BY.items()}


def apply_sql(audited: Audited, changes: ChangeSet) -> str:
    """The statements of all changes, each with its findings and its risk as comments."""
    lines = [*_head(audited, "applies the changes", f"{ROLLBACK} restores the previous values"), ""]
    for change in changes.changes:
        if change.statement:
            lines += [*_comments(change), *_sorted_statements(change.statement), ""]
    lines += [] if any(change.statement for change in changes.changes) else [_comment(NO_STATEMENT), ""]
    lines += _comment_list("Needs a restart: the value is in the option file only", _restarts(changes))
    lines += _comment_list("To do by hand", _by_hand(changes))
    lines += _comment_list("Left out", changes.refused)
    return "\n".join(lines).rstrip("\n") + "\n"


def rollback_sql(audited: Audited, changes: ChangeSet) -> str:
    """The statements that restore the values of the snapshot, in reverse order."""
    lines = [*_head(audited, "restores the values that ran when the audit was read", f"it undoes {APPLY}"), ""]
    restored = {name for change in changes.changes for _, name, _ in SET.findall(change.statement)}
    for change in reversed(changes.changes):
        if not change.statement:
            continue
        undo = change.action.undo if change.action else None
        statements = _sorted_statements(undo) if undo else [_comment(f"no statement undoes: {change.statement}")]
        lines += [_comment(change.codes), *statements, *_companion(audited, change.option, restored), ""]
    lines += [_comment(f"The option files: patch -R -p1 -d / < {DIFF}")] if changes.files else []
    return "\n".join(lines).rstrip("\n") + "\n"


def option_diff(changes: ChangeSet) -> str:
    """The changes of the option files for `patch -p1 -d /`; empty if no file changes."""
    if not changes.files:
        return ""
    head = f"# patch -p1 -d / < {DIFF} applies it, patch -R -p1 -d / < {DIFF} undoes it. mycnf runs neither.\n"
    return head + unified_diff(changes.files, below_root=True).decode("utf-8", "backslashreplace")


def _companion(audited: Audited, option: str, restored: set[str]) -> Iterator[str]:
    """The statement that restores a coupled variable, which some versions change together with this one."""
    name = LIMITED_BY.get(option) or LIMITS.get(option)
    running = audited.known.settings.text(name) if name else None
    known = audited.known.catalog.find_variable(name) if name else None
    if name and name not in restored and running is not None and known is not None:
        yield set_statement(known, running)


def _sorted_statements(text: str) -> list[str]:
    """One statement a line where a replica is stopped and started around the change; values may hold semicolons."""
    if not text.startswith("STOP "):
        return [text]
    stop, _, rest = text.partition("; ")
    change, _, start = rest.rpartition("; START ")
    return [f"{stop};", f"{change};", f"START {start}"]


def _head(audited: Audited, does: str, other: str) -> Iterator[str]:
    host = audited.facts.server.variables.get("hostname", "")
    server = f"{host} ({audited.known.target.label})" if host else audited.known.target.label
    yield _comment(f"{server}, audit of {audited.facts.taken_at}")
    yield _comment(f"This file {does}; {other}.")
    yield _comment("mycnf runs neither.")


def _comments(change: Change) -> Iterator[str]:
    yield _comment("; ".join(dict.fromkeys(f"{f.code} {f.name}" for f in change.findings)))
    if change.action and change.action.risk:
        yield _comment(f"risk: {change.action.risk}")


def _restarts(changes: ChangeSet) -> Iterator[str]:
    for change in changes.changes:
        if change.action is not None and change.action.restart and not change.by_hand:
            yield f"{change.codes}: {change.action.option_line or change.option}"


def _by_hand(changes: ChangeSet) -> Iterator[str]:
    """What neither a statement nor an edit of a file does."""
    yield from (f"{change.codes}: {change.by_hand}" for change in changes.changes if change.by_hand)
    yield from (f"{finding.code}: {finding.help}" for finding in changes.without_advice if finding.help)


def _comment_list(title: str, lines: Iterable[str]) -> list[str]:
    comments = [_comment(f"  {line}") for line in lines]
    return [_comment(f"{title}:"), *comments, ""] if comments else []


def _comment(text: str) -> str:
    """A comment on one line, whatever the text contains."""
    return f"-- {escape_text(text)}"
